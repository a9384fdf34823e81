// SPDX-License-Identifier: Apache-2.0
//
// any::rotate_tokens() for tensors that are counted when the program runs.
//
//   Few<any::TokenRows> tensors(count);
//   rotate_tokens(tensors.begin(), count, table, ids, pairing, direction, device)
//
// A call of up to most_few tensors asks for no memory for them. Private to the library.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "eigen_rope/any/rotate_tokens.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

inline constexpr std::size_t most_few = 4;

/// Objects of which few lie in this one.
template <class T>
class Few {
 public:
  explicit Few(std::size_t count) : many_(count > most_few ? count : 0), count_(count) {}
  Few(const Few&) = delete;
  Few& operator=(const Few&) = delete;

  T* begin() { return many_.empty() ? few_.data() : many_.data(); }
  T* end() { return begin() + count_; }

 private:
  std::array<T, most_few> few_;
  std::vector<T> many_;
  std::size_t count_;
};

void rotate_tokens(const any::TokenRows* tensors, std::size_t count, const any::Table& table,
                   const IndexList& ids, const Pairing& pairing, Direction direction,
                   const Device& device);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
