// SPDX-License-Identifier: Apache-2.0
//
// The order of the axes of x in memory, and what each of them counts.
//
// A layout says which axis of x counts tokens, which counts sequences, and which count something
// else, such as heads. The letters of a layout's name run from the slowest axis to the fastest.
// Those that end with D have the features on the fastest axis: bsnd has its tokens outside its
// heads, so it is q[D, H, S, B] in ColMajor and q[B, S, H, D] in RowMajor. Those that begin with D
// have the features on the slowest axis: dnsb is q[B, S, H, D] in ColMajor. The indices of the last
// two are the same, and their memory is not, so one of them is not the other.
//
// A cache that is made for a layout has x's extent on the axes that carry positions and extent 1 on
// the others, and its entries lie in the layout's order. Whether a tensor is RowMajor or ColMajor
// is known from its type.
#pragma once

#include <array>
#include <initializer_list>
#include <iosfwd>
#include <string>

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// What an axis of x counts.
enum class AxisRole {
  token,   ///< The tokens of a sequence; every token has a position of its own.
  batch,   ///< Sequences, which may have positions of their own.
  other,   ///< Heads, and whatever else shares the positions.
  feature  ///< The elements of a row, which form pairs; the fastest axis where no axis says so.
};

/// The roles of the axes of x, from the fastest to the slowest.
///
/// There are at most max_rank - 1 outer axes, which is all but the feature axis. Exactly one of
/// them is the token axis, and at most one is the batch axis. The common orders have names; any
/// other order is a list of roles.
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
  /// \param fastest_first  the roles of the axes, the fastest axis first. Without a feature axis
  ///                       the features are faster than all of them
  ///
  /// - Errors:   eigen_rope::Error unless there are at most max_rank - 1 outer axes, exactly one
  ///             token axis, at most one batch axis and at most one feature axis.
  Layout(std::initializer_list<AxisRole> fastest_first);

  int axes() const { return axes_; }  ///< The number of outer axes, at least 1.
  /// Returns how many axes are faster than the feature axis; 0 where it is the fastest.
  int feature_axis() const { return feature_axis_; }
  /// Returns the role of an outer axis.
  ///
  /// \param axis  0 for the fastest outer axis, at most axes() - 1; it is not checked
  AxisRole operator[](int axis) const { return roles_[static_cast<std::size_t>(axis)]; }
  bool has_batch() const;  ///< Returns whether one of the axes counts sequences.
  /// Returns the roles as text, the fastest axis first: `[other, token, batch]`. A feature axis is
  /// named where it is not the fastest: `[batch, token, other, feature]`.
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

  /// Returns the layout feature, head, token, batch: a ColMajor tensor with the indices
  /// (batch, token, head, d).
  ///
  /// \code{.cpp}
  /// Eigen::Tensor<float, 4> z(batch, tokens, heads, D);
  /// z.setRandom();
  /// const er::Cache<float> table(frequencies, positions, er::Layout::dnsb());
  /// z = er::rotate(z, table, er::split_half.along(3));
  /// \endcode
  static const Layout& dnsb();
  static const Layout& dsnb();  ///< Returns the layout feature, token, head, batch.
  static const Layout& dns();   ///< Returns the layout feature, head, token; it has no batch axis.
  static const Layout& dsb();   ///< Returns the layout feature, token, batch; it has no heads.
  static const Layout& ds();    ///< Returns the layout feature, token.

  /// Returns whether both have the same roles in the same order.
  friend EIGEN_ROPE_API bool operator==(const Layout& a, const Layout& b);
  /// Returns whether the roles or their order differ.
  friend bool operator!=(const Layout& a, const Layout& b) { return !(a == b); }
  /// Writes text() to a stream.
  friend EIGEN_ROPE_API std::ostream& operator<<(std::ostream& stream, const Layout& layout);

 private:
  std::array<AxisRole, max_rank - 1> roles_{};
  int axes_ = 0;
  int feature_axis_ = 0;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI
