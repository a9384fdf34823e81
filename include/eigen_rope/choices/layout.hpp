// SPDX-License-Identifier: Apache-2.0
//
// Which axis of x is which: a name for the order of the axes outside the feature axis, nothing
// more.
//
// The letters of a name run from the slowest axis to the fastest and end with D, the feature axis:
// bsnd has tokens outside heads, so q[D, H, S, B] in ColMajor and q[B, S, H, D] in RowMajor. A
// cache made for a layout has x's extent on the axes that carry positions and 1 on the others. Not
// a memory order: Eigen's RowMajor and ColMajor are the tensor's own business.
#pragma once

#include <array>
#include <initializer_list>
#include <iosfwd>
#include <string>

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope {

/// What an axis outside the feature axis counts; other is heads and whatever else shares positions.
enum class AxisRole { token, batch, other };

/// The roles of the outer axes, fastest first, at most max_rank - 1 of them. Exactly one is the
/// token axis; at most one the batch axis.
class EIGEN_ROPE_API Layout {
 public:
  /// Throws eigen_rope::Error unless there is exactly one token axis and at most one batch axis.
  Layout(std::initializer_list<AxisRole> fastest_first);

  int axes() const { return axes_; }  ///< The number of outer axes.
  AxisRole operator[](int axis) const {
    return roles_[static_cast<std::size_t>(axis)];
  }                        ///< The role of an axis, 0 the fastest.
  bool has_batch() const;  ///< Whether one axis counts sequences.
  /// The roles, fastest first: `[other, token, batch]`.
  std::string text() const;

  static const Layout&
  bsnd();  ///< batch, token, head: the default; a tensor without batch axis (tnd) fits it too
  static const Layout& bnsd();  ///< batch, head, token
  static const Layout& sbnd();  ///< token, batch, head
  static const Layout& tnd();   ///< token, head
  static const Layout& bsd();   ///< batch, token; no heads
  static const Layout& sd();    ///< token only

  /// The same roles in the same order.
  friend EIGEN_ROPE_API bool operator==(const Layout& a, const Layout& b);
  friend bool operator!=(const Layout& a, const Layout& b) { return !(a == b); }
  /// Writes text().
  friend EIGEN_ROPE_API std::ostream& operator<<(std::ostream& stream, const Layout& layout);

 private:
  std::array<AxisRole, max_rank - 1> roles_{};
  int axes_ = 0;
};

}  // namespace eigen_rope
