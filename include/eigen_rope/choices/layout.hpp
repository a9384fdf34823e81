// SPDX-License-Identifier: Apache-2.0
//
// The order of the axes of x outside the feature axis.
//
// A layout says which axis of x counts tokens, which counts sequences, and which count something
// else, such as heads. The letters of a layout's name run from the slowest axis to the fastest and
// end with D, the feature axis: bsnd has its tokens outside its heads, so it is q[D, H, S, B] in
// ColMajor and q[B, S, H, D] in RowMajor. A cache that is made for a layout has x's extent on the
// axes that carry positions and extent 1 on the others. A layout is no memory order: whether a
// tensor is RowMajor or ColMajor is known from its type.
#pragma once

#include <array>
#include <initializer_list>
#include <iosfwd>
#include <string>

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope {

/// What an axis of x outside the feature axis counts.
enum class AxisRole {
  token,  ///< The tokens of a sequence; every token has a position of its own.
  batch,  ///< Sequences, which may have positions of their own.
  other   ///< Heads, and whatever else shares the positions.
};

/// The roles of the outer axes of x, from the fastest to the slowest.
///
/// There are at most max_rank - 1 outer axes. Exactly one of them is the token axis, and at most
/// one is the batch axis. The common orders have names; any other order is a list of roles.
///
/// \code{.cpp}
/// Eigen::Tensor<float, 4> z(D, tokens, heads, batch);  // heads outside tokens
/// z.setRandom();
/// const er::Cache<float> table(frequencies, positions, er::Layout::bnsd());
/// z = er::rotate(z, table, er::split_half);
/// \endcode
///
/// - Threads:  immutable but for assignment; safe to share between threads.
///
/// \see Cache, Positions
class EIGEN_ROPE_API Layout {
 public:
  /// Makes a layout from a list of roles.
  ///
  /// \code{.cpp}
  /// using Role = er::AxisRole;
  /// const er::Layout views{Role::other, Role::token, Role::other, Role::batch};
  /// \endcode
  ///
  /// \param fastest_first  the roles of the axes outside the feature axis, the fastest axis first
  ///
  /// - Errors:   eigen_rope::Error unless there are at most max_rank - 1 axes, exactly one token
  ///             axis and at most one batch axis.
  Layout(std::initializer_list<AxisRole> fastest_first);

  int axes() const { return axes_; }  ///< The number of outer axes, at least 1.
  /// Returns the role of an axis.
  ///
  /// \param axis  0 for the fastest outer axis, at most axes() - 1; it is not checked
  AxisRole operator[](int axis) const { return roles_[static_cast<std::size_t>(axis)]; }
  bool has_batch() const;  ///< Returns whether one of the axes counts sequences.
  /// Returns the roles as text, the fastest axis first: `[other, token, batch]`.
  std::string text() const;

  /// Returns the layout batch, token, head, from the slowest axis to the fastest.
  ///
  /// It is the default of every function that takes a layout. A tensor without a batch axis (tnd)
  /// fits it too.
  static const Layout& bsnd();
  static const Layout& bnsd();  ///< Returns the layout batch, head, token.
  static const Layout& sbnd();  ///< Returns the layout token, batch, head.
  static const Layout& tnd();   ///< Returns the layout token, head; it has no batch axis.
  static const Layout& bsd();   ///< Returns the layout batch, token; it has no heads.
  static const Layout& sd();    ///< Returns the layout with a token axis only.

  /// Returns whether both have the same roles in the same order.
  friend EIGEN_ROPE_API bool operator==(const Layout& a, const Layout& b);
  /// Returns whether the roles or their order differ.
  friend bool operator!=(const Layout& a, const Layout& b) { return !(a == b); }
  /// Writes text() to a stream.
  friend EIGEN_ROPE_API std::ostream& operator<<(std::ostream& stream, const Layout& layout);

 private:
  std::array<AxisRole, max_rank - 1> roles_{};
  int axes_ = 0;
};

}  // namespace eigen_rope
