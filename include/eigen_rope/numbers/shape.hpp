// SPDX-License-Identifier: Apache-2.0
//
// Extents of an array, counted from the fastest-varying axis outwards.
//
// Axis 0 of x is always the feature axis: the last index of a RowMajor tensor, the first of a
// ColMajor one. Both have the same bytes in memory, so everything below the Eigen expression is
// written once, for this order: x[D, H, S, B] has element (d, h, s, b) at
// ((b*S + s)*H + h)*D + d. Not a tensor: it owns no data and knows no strides.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <string>

#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope {

using Index = std::ptrdiff_t;  ///< Counts and strides, in elements.

/// The largest number of axes an array may have.
inline constexpr int max_rank = 8;

/// A list of at most max_rank extents, fastest axis first.
class EIGEN_ROPE_API Shape {
 public:
  Shape() {}  // NOLINT(modernize-use-equals-default): extents beyond the rank stay unset, shapes
              // are made for every expression
  /// Throws eigen_rope::Error for a negative extent, more than max_rank axes, or a product that
  /// does not fit Index.
  Shape(std::initializer_list<Index> extents);

  int rank() const { return rank_; }  ///< The number of axes.
  /// The extent of `axis`; 1 for every axis from rank() on, so that shapes of different rank can be
  /// compared.
  Index operator[](int axis) const {
    return axis < rank_ ? extents_[static_cast<std::size_t>(axis)] : 1;
  }
  /// Appends an axis outside all others.
  void push_back(Index extent) {
    constexpr Index small = Index{1} << 31;
    if (rank_ < max_rank && extent >= 0 && extent < small && size_ < small) {
      size_ *= extent;
      extents_[static_cast<std::size_t>(rank_++)] = extent;
    } else {
      push_back_checked(extent);
    }
  }
  /// The number of elements; 1 for rank 0.
  Index size() const { return size_; }
  /// All axes but the feature axis.
  Shape outer() const {
    Shape result;
    for (int axis = 1; axis < rank_; ++axis) result.push_back((*this)[axis]);
    return result;
  }
  /// `[128, 32, 512]`
  std::string text() const;

  friend EIGEN_ROPE_API bool operator==(const Shape& a, const Shape& b);
  friend bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }
  /// Writes text().
  friend EIGEN_ROPE_API std::ostream& operator<<(std::ostream& stream, const Shape& shape);

 private:
  void push_back_checked(Index extent);

  std::array<Index, max_rank> extents_;
  int rank_ = 0;
  Index size_ = 1;
};

}  // namespace eigen_rope
