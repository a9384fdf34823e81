// SPDX-License-Identifier: Apache-2.0
//
// Memory for a tensor that begins so many elements behind a line of the cache. Every element is 77
// at first, those around the tensor, too, which must stay so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::test {

template <class Scalar>
class MemoryOnLines {
 public:
  MemoryOnLines(Index size, Index offset)
      : all_(static_cast<std::size_t>(64 + 2 * room + offset + size), Scalar(77)) {
    const auto address = reinterpret_cast<std::uintptr_t>(all_.data());
    begin_ = static_cast<Index>((64 - address % 64) % 64 / sizeof(Scalar)) + room + offset;
  }

  Scalar* tensor() { return all_.data() + begin_; }

  /// The tensor and what lies around it.
  const std::vector<Scalar>& all() const { return all_; }

  /// Where in all() the tensor begins.
  Index begin() const { return begin_; }

 private:
  /// Elements before and behind the tensor: some lines of each scalar.
  static constexpr Index room = 128;

  std::vector<Scalar> all_;
  Index begin_;
};

}  // namespace eigen_rope::test
