// SPDX-License-Identifier: Apache-2.0
//
// The distances between neighbours along the axes of an array, the feature axis left out.
//
// Elements of a row lie one behind the other, so a row needs none. Stride i belongs to axis i + 1
// of a Shape: element (d, i_1, i_2, ...) is at d + i_1 * strides[0] + i_2 * strides[1] + ...
// They lie in the object itself: a view of one token is made and rotated without an allocation.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <vector>

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The distances between neighbours along the axes outside the feature axis, in elements.
///
/// There are at most max_rank of them, the fastest axis first, and each may have any sign.
///
/// \code{.cpp}
/// er::Strides strides{D, 3 * heads * D};  // of the heads, of the tokens
/// \endcode
///
/// - Cost:     copies are 72 bytes; nothing is allocated.
///
/// \see StridedView
class EIGEN_ROPE_API Strides {
 public:
  /// Makes no strides, those of a single row.
  Strides() = default;
  /// Makes these strides, the fastest axis first.
  ///
  /// - Errors:   eigen_rope::Error for more than max_rank strides.
  Strides(std::initializer_list<Index> strides) { append(strides.begin(), strides.size()); }
  /// Makes the strides that a vector holds, the fastest axis first.
  ///
  /// - Errors:   eigen_rope::Error for more than max_rank strides.
  // NOLINTNEXTLINE(google-explicit-constructor): the same numbers
  Strides(const std::vector<Index>& strides) { append(strides.data(), strides.size()); }

  std::size_t size() const { return size_; }  ///< Returns how many there are.
  /// Returns the stride of axis `i` + 1, and 0 from size() on.
  ///
  /// \param i  0 for the fastest axis outside the feature axis; less than max_rank
  Index operator[](std::size_t i) const { return values_[i]; }
  /// Returns the stride of axis `i` + 1, which may be assigned to; `i` is less than size().
  Index& operator[](std::size_t i) { return values_[i]; }
  /// Appends the stride of an axis outside all others.
  ///
  /// - Errors:   eigen_rope::Error if there are max_rank strides.
  void push_back(Index stride) { append(&stride, 1); }
  /// Removes the stride of the outermost axis; there must be one.
  void pop_back() { values_[--size_] = 0; }
  const Index* begin() const { return values_.data(); }        ///< Returns where they begin.
  const Index* end() const { return values_.data() + size_; }  ///< Returns where they end.

  /// Returns whether both are the same numbers.
  friend bool operator==(const Strides& a, const Strides& b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }
  /// Returns whether they differ in number or in one of them.
  friend bool operator!=(const Strides& a, const Strides& b) { return !(a == b); }

 private:
  void append(const Index* strides, std::size_t count) {
    if (count > values_.size() - size_) fail_too_many(size_ + count);
    std::copy_n(strides, count, values_.data() + size_);
    size_ += count;
  }
  [[noreturn]] static void fail_too_many(std::size_t count);

  std::array<Index, max_rank> values_{};
  std::size_t size_ = 0;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI
