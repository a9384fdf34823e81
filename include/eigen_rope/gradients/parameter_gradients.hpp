// SPDX-License-Identifier: Apache-2.0
//
// The gradients of rates, positions and the attention factor, which follow from those of the angles
// t = position * rate and of the magnitudes m:
//
//   rate_gradients:             dL/drate_k    = sum over tokens and batches of position dL/dt
//   position_gradients:         dL/dposition  = sum over the pairs of its axis of rate_k dL/dt
//   attention_factor_gradient:  dL/dm         = (sum of dL/dlog m) / m
//
// dL/dt and dL/dlog m come from gradients(), where they have been summed over heads. These sums are
// therefore cheap: they run over one number for each token and pair. The gradients of the rates
// lead on to those of a scaling's parameters, in scaling_gradients.hpp.
#pragma once

#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/layout.hpp"
#include "eigen_rope/choices/positions.hpp"
#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// Returns the gradient with respect to each rate: one number per pair, per radian per token.
///
///     dL/drate_k = sum over tokens and batches of position dL/dt_k
///
/// \code{.cpp}
/// const auto d = er::gradients(y, dy, cache, er::split_half);
/// const std::vector<double> of_rates = er::rate_gradients(d, positions);
/// \endcode
///
/// \param d          gradients with Wanted::angle, for a table of these positions and this layout
/// \param positions  those the table was made from
/// \param layout     that of the table
///
/// - Errors:   eigen_rope::Error if the angle's gradient was not asked for, the table had other
///             extents than these positions give, or a list of d is not as long as its table.
/// - Threads:  safe to call from several threads.
/// - Error:    the terms' own rounding and 2^-53 of the sum of their magnitudes.
/// - Cost:     O(tokens * batches * pairs).
///
/// \see powers_gradients(), scaling_gradients(), \ref cookbook "Cookbook"
EIGEN_ROPE_API std::vector<double> rate_gradients(const Gradients<double>& d,
                                                  const Positions& positions,
                                                  const Layout& layout = Layout::bsnd());

/// Returns the gradient with respect to each position: one number per axis, batch and token.
///
///     dL/dposition(axis, b, s) = sum over the pairs of that axis of rate_k dL/dt_k
///
/// The order is that of Positions::multi_axis(), `[axis][batch][token]`, and the unit is gradient
/// per token. This is the share of the angles. The magnitudes of an xpos_cache() depend on
/// positions too, and xpos_gradients() returns their share.
///
/// \code{.cpp}
/// const auto d = er::gradients(y, dy, cache, er::split_half);
/// const std::vector<double> of_positions = er::position_gradients(d, frequencies, positions);
/// \endcode
///
/// \param d            gradients with Wanted::angle, for a table of these positions and this layout
/// \param frequencies  those the table was made from, with as many pairs as d has
/// \param positions    those the table was made from
/// \param layout       that of the table
///
/// Errors, thread safety, accuracy and cost are those of rate_gradients(). Frequencies with another
/// number of pairs than d has are an eigen_rope::Error as well.
EIGEN_ROPE_API std::vector<double> position_gradients(const Gradients<double>& d,
                                                      const Frequencies& frequencies,
                                                      const Positions& positions,
                                                      const Layout& layout = Layout::bsnd());

/// Returns the gradient with respect to the attention factor m.
///
///     dL/dm = (sum of dL/dlog m) / m
///
/// For m != 0, d must have been made with Wanted::log_magnitude. An m of 0 leaves no trace in y, so
/// d must then come from GradientsFrom::input with Wanted::table and a half-width table.
///
/// \code{.cpp}
/// const auto d = er::gradients(y, dy, cache, er::split_half, {er::Wanted::log_magnitude});
/// const double of_m = er::attention_factor_gradient(d, frequencies, positions);
/// \endcode
///
/// \param d            gradients for a table of these frequencies, positions and this layout
/// \param frequencies  those the table was made from
/// \param positions    those the table was made from
/// \param layout       that of the table
///
/// - Errors:   eigen_rope::Error if what it needs was not asked for, if the table had other extents
///             than these positions give, or if a list of d is not as long as its table.
/// - Threads:  safe to call from several threads.
/// - Error:    that of rate_gradients().
/// - Cost:     O(tokens * batches * pairs).
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
}  // namespace eigen_rope::EIGEN_ROPE_ABI
