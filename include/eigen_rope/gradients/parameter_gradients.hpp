// SPDX-License-Identifier: Apache-2.0
//
// From the gradient of the angles to what the angles are made of: t = position * rate.
//
//   dL/drate_k                 = sum over tokens and batches of position * dL/dt   rate_gradients
//   dL/dposition(axis, b, s)   = sum over the pairs of that axis of rate_k dL/dt
//                       position_gradients
//   dL/dm                      = sum of dL/dlog m, over m
//                       attention_factor_gradient
//
// dL/dt and dL/dlog m come from gradients(), summed over heads already. Rates go on to the
// parameters of a scaling in scaling_gradients.hpp. Nothing here is as large as a tensor; these
// sums run over one number per token and pair.
#pragma once

#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/layout.hpp"
#include "eigen_rope/choices/positions.hpp"
#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope {

/// One number per pair, in gradient of the loss per (radian per token).
///
/// \param d  with Wanted::angle, for a table of these positions and this layout
///
/// - Errors:   eigen_rope::Error if the angle's gradient was not asked for, the table had other
///             extents than these positions give, or a list of d is not as long as its table.
/// - Threads:  safe to call from several threads.
/// - Error:    the terms' own rounding and 2^-53 of the sum of their magnitudes.
/// - Cost:     O(tokens * batches * pairs).
EIGEN_ROPE_API std::vector<double> rate_gradients(const Gradients<double>& d,
                                                  const Positions& positions,
                                                  const Layout& layout = Layout::bsnd());

/// One number per axis, batch and token, in the order of Positions::multi_axis:
/// [axis][batch][token], in gradient per token. As rate_gradients() otherwise; d must have as many
/// pairs as there are frequencies. Through the angles: the magnitudes of an xpos_cache depend on
/// positions too, and xpos_gradients() has their share.
EIGEN_ROPE_API std::vector<double> position_gradients(const Gradients<double>& d,
                                                      const Frequencies& frequencies,
                                                      const Positions& positions,
                                                      const Layout& layout = Layout::bsnd());

/// dL/dm. With m != 0 it needs d with Wanted::log_magnitude; m = 0 leaves no trace in y, so d must
/// then come from GradientsFrom::input with Wanted::table and a half-width table of these
/// positions.
///
/// - Errors:   eigen_rope::Error if what it needs was not asked for.
/// - Error:    as rate_gradients().
EIGEN_ROPE_API double attention_factor_gradient(const Gradients<double>& d,
                                                const Frequencies& frequencies,
                                                const Positions& positions,
                                                const Layout& layout = Layout::bsnd());

namespace detail {

/// Throws unless d's table is one of these positions.
EIGEN_ROPE_API void require_table_of(const Gradients<double>& d, const Positions& positions,
                                     const Layout& layout);

/// A sum of doubles that carries what it rounds off.
class CompensatedSum {
 public:
  void add(double term) { add_compensated(value_, rest_, term); }
  double value() const { return value_ + rest_; }

 private:
  double value_ = 0;
  double rest_ = 0;
};

}  // namespace detail
}  // namespace eigen_rope
