// SPDX-License-Identifier: Apache-2.0
//
// What a backward pass is asked for, and what it is given.
//
//   eigen_rope::GradientOptions options;
//   options.wanted = eigen_rope::Wanted::angle | eigen_rope::Wanted::log_magnitude;
//   options.from = eigen_rope::GradientsFrom::input;
//
// The pass itself is gradients.hpp.
#pragma once

#include "eigen_rope/machine/device.hpp"

namespace eigen_rope {

/// What to sum besides dx; combine with |.
enum class Wanted : unsigned { nothing = 0, angle = 1, log_magnitude = 2, table = 4 };

/// Both sets.
constexpr Wanted operator|(Wanted a, Wanted b) {
  return static_cast<Wanted>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// Which end of the rotation a backward pass is given besides g. Half-width tables need only the
/// output, so the input may be overwritten by the rotation; the sums of a full-width table, and the
/// gradient of a table with a zero magnitude, need the input.
enum class GradientsFrom { output, input };

/// How gradients() and its forms work.
struct GradientOptions {
  Wanted wanted = Wanted::angle;               ///< What to sum.
  GradientsFrom from = GradientsFrom::output;  ///< What the first tensor that is read is.
  /// Table rows are split among its threads; the bits are the same for any number. The Eigen device
  /// must outlive the call.
  Device device{};
};

}  // namespace eigen_rope
