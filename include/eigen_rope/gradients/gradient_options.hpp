// SPDX-License-Identifier: Apache-2.0
//
// The options of a backward pass: which gradients it computes besides dx, what it is given besides
// dL/dy, and where it runs. The backward pass itself is in gradients.hpp.
//
//   eigen_rope::GradientOptions options;
//   options.wanted = eigen_rope::Wanted::angle | eigen_rope::Wanted::log_magnitude;
//   options.from = eigen_rope::GradientsFrom::input;
#pragma once

#include "eigen_rope/machine/device.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// Which gradients a backward pass computes besides dx. Values are combined with |.
enum class Wanted : unsigned {
  nothing = 0,        ///< No gradient besides dx.
  angle = 1,          ///< The gradient of each angle, for Gradients::angle.
  log_magnitude = 2,  ///< The gradient of each magnitude's logarithm, for Gradients::log_magnitude.
  table = 4           ///< The gradient of the table's entries, for Gradients::cos and sin.
};

/// Returns all gradients that are in either set.
///
/// \code{.cpp}
/// const er::Wanted both = er::Wanted::angle | er::Wanted::log_magnitude;
/// const auto d = er::gradients(y, dy, cache, er::split_half, {both});
/// \endcode
constexpr Wanted operator|(Wanted a, Wanted b) {
  return static_cast<Wanted>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// Which end of the rotation a backward pass is given besides dL/dy.
///
/// With a half-width table the output is enough, so the rotation may overwrite its input. The sums
/// of a full-width table, and the gradient of a table that has a zero magnitude, need the input.
enum class GradientsFrom {
  output,  ///< The rotation's output y.
  input    ///< The rotation's input x.
};

/// What gradients(), gradients_to() and gradients_inplace() compute, from what, and where.
///
/// \code{.cpp}
/// er::GradientOptions options;
/// options.wanted = er::Wanted::angle | er::Wanted::table;
/// options.from = er::GradientsFrom::input;
/// options.device = pool;
/// const auto d = er::gradients_to(dx, x, dy, cache, er::split_half, options);
/// \endcode
struct GradientOptions {
  Wanted wanted = Wanted::angle;               ///< The gradients to compute besides dx.
  GradientsFrom from = GradientsFrom::output;  ///< Whether y or x is given besides dL/dy.
  /// The threads the pass runs on; the calling one by default. The rows of the table are split
  /// among them, and the bits are the same for any number. The Eigen device must outlive the call.
  Device device{};
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI
