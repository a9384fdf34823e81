// SPDX-License-Identifier: Apache-2.0
//
// From the gradient of xPos's magnitudes to the parameters and positions they are made of.
//
//   ln M = ln m +- (position - center) / scale_base ln zeta_k          + for queries, - for keys
//
//   dL/dp = sum over table entries of dL/dln M  dln M/dp   p: scale base, gamma, center, and each
//                                                          position
//
// dL/dln M is Gradients::log_magnitude, of this very table. A position also moves its angles, as
// everywhere: position_gradients() has that share, and the sum of the two is the gradient. Rates
// and m know nothing of xPos: rate_gradients() and attention_factor_gradient() hold as they are.
// Not the table (xpos.hpp).
#pragma once

#include <vector>

#include "eigen_rope/choices/layout.hpp"
#include "eigen_rope/choices/positions.hpp"
#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/tables/xpos.hpp"

namespace eigen_rope {

/// The gradient with respect to each member of Xpos.
struct XposGradients {
  double scale_base = 0;  ///< With respect to Xpos::scale_base.
  double gamma = 0;       ///< With respect to Xpos::gamma.
  double center = 0;      ///< With respect to Xpos::center.
  /// The magnitudes' share, in the order of position_gradients(): [axis][batch][token].
  std::vector<double> positions;
};

/// \param d  with Wanted::log_magnitude, for the xpos_cache of these arguments. A parameter both
///           tables use has the sum of what their two calls give
///
/// - Errors:   eigen_rope::Error if the magnitudes' gradient was not asked for, or the table had
///             other extents than these positions give, and for parameters xpos_cache refuses.
/// - Threads:  safe to call from several threads.
/// - Error:    the terms' own rounding, 2^-50 relative, and 2^-53 of the sum of their magnitudes.
/// - Cost:     O(tokens * batches * pairs).
EIGEN_ROPE_API XposGradients xpos_gradients(const Gradients<double>& d, const Positions& positions,
                                            const Xpos& xpos, XposSide side,
                                            const Layout& layout = Layout::bsnd());

}  // namespace eigen_rope
