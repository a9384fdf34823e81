// SPDX-License-Identifier: Apache-2.0
//
// A list of integers that is read where it lies: which row of a table, or which slot of a cache,
// each token has.
//
//   std::vector<std::int32_t> ids     arrays, and whatever has data() and size()
//   Eigen::VectorXi, Tensor<int, 1>   the same, if their elements are neighbours in memory
//   {pointer, count}                  integers anywhere
//
// Nobody writes this type: what is passed becomes one. NumberList is the type of lists that are
// copied.
#pragma once

#include <cstdint>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "eigen_rope/choices/detail/listed.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// A list of 32-bit or 64-bit signed integers in the caller's memory.
///
/// It is made implicitly of an array, a `std::vector` or `std::array`, an Eigen vector or Map, an
/// Eigen Tensor or TensorMap of one axis, any other object whose data() and size() give neighbours
/// in memory, or of a pointer and a count. Nothing is copied, so these must outlive it.
///
/// \code{.cpp}
/// const std::vector<std::int32_t> ids{7, 0, 7};
/// const er::IndexList rows = ids;
/// const std::int64_t last = rows[rows.size() - 1];
/// \endcode
///
/// \see rotate_tokens()
class IndexList {
 public:
  /// Makes a list of no integers.
  IndexList() = default;
  /// Makes a list of the `count` integers at a place in memory.
  ///
  /// - Errors:   eigen_rope::Error for a null pointer to integers, or for a negative count.
  template <class Integer>
  IndexList(const Integer* integers, Index count)
      : data_(integers), count_(count), wide_(sizeof(Integer) == sizeof(std::int64_t)) {
    static_assert(
        std::is_integral_v<Integer> && std::is_signed_v<Integer> &&
            (sizeof(Integer) == sizeof(std::int32_t) || sizeof(Integer) == sizeof(std::int64_t)),
        "[rope] a list of rows or slots must hold signed integers of 32 or 64 bits");
    detail::require_list(integers, count);
  }
  /// Makes a list of the integers of an array, or of an object with data() and size().
  template <class List, std::enable_if_t<!std::is_same_v<std::decay_t<List>, IndexList>, int> = 0>
  // NOLINTNEXTLINE(google-explicit-constructor): the same integers
  IndexList(const List& list) {
    if constexpr (!detail::has_data<List>) {
      static_assert(detail::has_data<List>,
                    "[rope] a list must have data() and size(), as std::vector, std::array and "
                    "Eigen's vectors have: copy the integers into one of these");
    } else if constexpr (!detail::are_neighbours<List>) {
      static_assert(detail::are_neighbours<List>,
                    "[rope] the integers of a list must be neighbours in memory: copy a strided "
                    "map, reference or row into a vector");
    } else if constexpr (!detail::has_one_axis<List>) {
      static_assert(detail::has_one_axis<List>,
                    "[rope] a list must have one axis: if a matrix or tensor lies in memory in the "
                    "order of the list, pass {data(), size()}");
    } else {
      *this = IndexList(std::data(list), static_cast<Index>(std::size(list)));
    }
  }

  Index size() const { return count_; }       ///< Returns how many integers there are.
  bool empty() const { return count_ == 0; }  ///< Returns whether there are none.
  /// Returns integer `i`; the index is not checked.
  std::int64_t operator[](Index i) const {
    if (wide_) return at<std::int64_t>(i);
    return at<std::int32_t>(i);
  }

 private:
  // By bytes: long and long long are different types of the same size.
  template <class Integer>
  Integer at(Index i) const {
    Integer value;
    std::memcpy(&value, static_cast<const char*>(data_) + i * Index{sizeof(Integer)}, sizeof value);
    return value;
  }

  const void* data_ = nullptr;
  Index count_ = 0;
  bool wide_ = false;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI
