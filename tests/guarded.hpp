// SPDX-License-Identifier: Apache-2.0
//
// Memory whose end, or beginning, lies against a page that cannot be touched.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <stdexcept>
#include <vector>

namespace rope::test {

enum class Against { end, beginning };

/// Memory between two pages that cannot be touched, filled as far as one of them.
template <class T>
class Guarded {
 public:
  Guarded(const std::vector<T>& values, Against against) {
    const std::size_t bytes = values.size() * sizeof(T);
    size_ = (bytes + page - 1) / page * page + 2 * page;
    void* const memory = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
    memory_ = static_cast<char*>(memory);
    if (mprotect(memory_ + page, size_ - 2 * page, PROT_READ | PROT_WRITE) != 0) throw std::runtime_error("mprotect failed");
    char* const begin = against == Against::beginning ? memory_ + page : memory_ + size_ - page - bytes;
    data_ = reinterpret_cast<T*>(begin);
    std::memcpy(begin, static_cast<const void*>(values.data()), bytes);
  }
  ~Guarded() { munmap(memory_, size_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  T* data() const { return data_; }

 private:
  static constexpr std::size_t page = 4096;
  char* memory_ = nullptr;
  std::size_t size_ = 0;
  T* data_ = nullptr;
};

}  // namespace rope::test
