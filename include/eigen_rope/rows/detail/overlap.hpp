// SPDX-License-Identifier: Apache-2.0
//
// Aliasing that cannot work, refused before anything is written.
#pragma once

#include <cstdint>

#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// Whether two stretches of memory, given as addresses, share a byte. No end is formed, so none can
/// overflow.
inline bool overlap(std::uintptr_t a, std::size_t a_bytes, std::uintptr_t b, std::size_t b_bytes) {
  return a_bytes > 0 && b_bytes > 0 && (a <= b ? b - a < a_bytes : a - b < b_bytes);
}
inline bool overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) {
  return overlap(reinterpret_cast<std::uintptr_t>(a), a_bytes, reinterpret_cast<std::uintptr_t>(b),
                 b_bytes);
}

/// x may be null (no raw data): then nothing can be seen.
template <class XScalar, class YScalar>
void refuse_partial_overlap(const XScalar* x, const YScalar* y, Index size) {
  if (x == nullptr || static_cast<const void*>(x) == static_cast<const void*>(y)) return;
  const auto count = static_cast<std::size_t>(size);
  if (overlap(x, count * sizeof(XScalar), y, count * sizeof(YScalar))) {
    fail("x and the destination must be the same memory or not overlap at all (distance in bytes)",
         static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(y) -
                                   reinterpret_cast<std::uintptr_t>(x)));
  }
}

template <class TableScalar, class YScalar>
void refuse_table_overlap(const TableScalar* table, Index table_size, const YScalar* y,
                          Index size) {
  if (overlap(table, static_cast<std::size_t>(table_size) * sizeof(TableScalar), y,
              static_cast<std::size_t>(size) * sizeof(YScalar))) {
    fail("the destination must not overlap the table");
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
