// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/rotation/detail/temporary.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstdint>

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

void prefer_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef __linux__
  constexpr std::size_t large = std::size_t{16} << 20;
  constexpr std::uintptr_t page = 4096;
  if (bytes < large) return;
  const std::uintptr_t to_page = (page - reinterpret_cast<std::uintptr_t>(memory) % page) % page;
  // Advice: a system with other pages refuses it, and nothing is lost.
  static_cast<void>(madvise(static_cast<char*>(memory) + to_page, (bytes - to_page) / page * page,
                            MADV_HUGEPAGE));
#endif
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
