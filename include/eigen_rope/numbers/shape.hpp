// SPDX-License-Identifier: Apache-2.0
//
// The extents of an array, counted from the fastest-varying axis outwards.
//
// Axis 0 of x is always the feature axis: the last index of a RowMajor tensor, the first of a
// ColMajor one. Both have the same bytes in memory, so everything below the Eigen expression is
// written once, for this order: element (d, h, s, b) of x[D, H, S, B] is at
// ((b*S + s)*H + h)*D + d. A Shape owns no data and knows no strides.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <string>

#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The type of extents, counts and strides, in elements.
using Index = std::ptrdiff_t;

/// The largest number of axes that an array may have.
inline constexpr int max_rank = 8;

/// The extents of an array, at most max_rank of them, the fastest axis first.
///
/// \code{.cpp}
/// er::Shape shape{D, heads, tokens, batch};
/// er::Index elements = shape.size();
/// er::Shape outer = shape.outer();  // [heads, tokens, batch]
/// \endcode
class EIGEN_ROPE_API Shape {
 public:
  /// Makes a shape without axes, that of a single element.
  Shape() {}  // NOLINT(modernize-use-equals-default): extents beyond the rank stay unset, shapes
              // are made for every expression
  /// Makes a shape of these extents, the fastest axis first.
  ///
  /// - Errors:   eigen_rope::Error for a negative extent, for more than max_rank axes, or if the
  ///             number of elements does not fit Index.
  Shape(std::initializer_list<Index> extents) {
    append(extents.begin(), static_cast<int>(extents.size()));
  }

  int rank() const { return rank_; }  ///< Returns the number of axes.
  /// Returns the extent of `axis`, and 1 for every axis from rank() on, so that shapes of different
  /// ranks can be compared axis by axis.
  ///
  /// \param axis  0 for the fastest; not negative
  Index operator[](int axis) const {
    return axis < rank_ ? extents_[static_cast<std::size_t>(axis)] : 1;
  }
  const Index* begin() const { return extents_.data(); }  ///< Returns where the extents begin.
  /// Appends an axis outside all others.
  ///
  /// - Errors:   eigen_rope::Error under the conditions of the constructor.
  void push_back(Index extent) { append(&extent, 1); }
  /// Returns the number of elements; 1 for rank 0.
  Index size() const { return size_; }
  /// Returns the extents of all axes but axis 0, the feature axis.
  Shape outer() const {
    Shape result;
    for (int axis = 1; axis < rank_; ++axis) result.push_back((*this)[axis]);
    return result;
  }
  /// Returns the extents as text, such as `[128, 32, 512]`.
  std::string text() const;

  /// Returns whether both shapes have the same rank and the same extents.
  friend EIGEN_ROPE_API bool operator==(const Shape& a, const Shape& b);
  /// Returns whether two shapes differ in rank or in an extent.
  friend bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }
  /// Writes text() to a stream.
  friend EIGEN_ROPE_API std::ostream& operator<<(std::ostream& stream, const Shape& shape);

 private:
  /// With rank and size in registers as long as nothing is unusual.
  void append(const Index* extents, int count) {
    constexpr Index safe = Index{1} << 31;  // the product of two fits
    int rank = rank_;
    Index size = size_;
    const Index* const end = extents + count;
    for (; extents != end && rank < max_rank && *extents >= 0 && *extents < safe && size < safe;
         ++extents) {
      size *= *extents;
      extents_[static_cast<std::size_t>(rank++)] = *extents;
    }
    rank_ = rank;
    size_ = size;
    for (; extents != end; ++extents) push_back_checked(*extents);
  }
  void push_back_checked(Index extent);

  std::array<Index, max_rank> extents_;
  int rank_ = 0;
  Index size_ = 1;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI
