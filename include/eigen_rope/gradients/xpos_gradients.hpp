// SPDX-License-Identifier: Apache-2.0
//
// The gradients of xPos's parameters, which follow from those of the magnitudes M in its tables.
// xpos.hpp makes the tables.
//
//   queries:  ln M = ln m + (position - center) / scale_base ln zeta_k
//   keys:     ln M = ln m - (position - center) / scale_base ln zeta_k
//   dL/dp = sum over table entries of dL/dln M dln M/dp
//
// Here p is the scale base, gamma, the center or a position, and dL/dln M is the list
// Gradients::log_magnitude of the same table. A position also moves its angles: its whole gradient
// is the sum of what this header and position_gradients() give. The gradients of rates and of m do
// not change with xPos: rate_gradients() and attention_factor_gradient() return them.
#pragma once

#include <vector>

#include "eigen_rope/choices/layout.hpp"
#include "eigen_rope/choices/positions.hpp"
#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/tables/xpos.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The gradients of a loss with respect to the members of Xpos and to positions, from one table.
///
/// \code{.cpp}
/// const er::Xpos xpos;
/// const auto table = er::xpos_cache<float>(frequencies, positions, xpos, er::XposSide::key);
/// const auto d = er::gradients(y, dy, table, er::split_half, {er::Wanted::log_magnitude});
/// const er::XposGradients of_keys = er::xpos_gradients(d, positions, xpos, er::XposSide::key);
/// const double of_gamma = of_keys.gamma;
/// \endcode
struct XposGradients {
  double scale_base = 0;  ///< The gradient with respect to Xpos::scale_base.
  double gamma = 0;       ///< The gradient with respect to Xpos::gamma.
  double center = 0;      ///< The gradient with respect to Xpos::center.
  /// The magnitudes' share in the gradient of each position, in the order of position_gradients():
  /// `[axis][batch][token]`.
  std::vector<double> positions;
};

/// Returns the gradients of xPos's parameters, and its share in those of the positions, from the
/// gradients of one table.
///
/// Queries and keys have a table each. A parameter that both tables use has the sum of what the two
/// calls return.
///
/// \code{.cpp}
/// const er::Xpos xpos;
/// const auto table = er::xpos_cache<float>(frequencies, positions, xpos, er::XposSide::query);
/// const auto d = er::gradients(y, dy, table, er::split_half, {er::Wanted::log_magnitude});
/// const er::XposGradients of_queries =
///     er::xpos_gradients(d, positions, xpos, er::XposSide::query);
/// \endcode
///
/// \param d          gradients with Wanted::log_magnitude, for the xpos_cache() of these arguments
/// \param positions  those the table was made from
/// \param xpos       the parameters the table was made from
/// \param side       whether the table is for queries or for keys
/// \param layout     that of the table
///
/// - Errors:   eigen_rope::Error if the magnitudes' gradient was not asked for, if the table had
///             other extents than these positions give, if a list of d is not as long as its table,
///             and for parameters that xpos_cache() refuses.
/// - Threads:  safe to call from several threads.
/// - Error:    the terms' own rounding, 2^-50 relative, and 2^-53 of the sum of their magnitudes.
/// - Cost:     O(tokens * batches * pairs).
///
/// \see xpos_cache(), position_gradients(), \ref gradients "Gradients"
EIGEN_ROPE_API XposGradients xpos_gradients(const Gradients<double>& d, const Positions& positions,
                                            const Xpos& xpos, XposSide side,
                                            const Layout& layout = Layout::bsnd());

}  // namespace eigen_rope::EIGEN_ROPE_ABI
