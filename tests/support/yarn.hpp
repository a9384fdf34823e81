// SPDX-License-Identifier: Apache-2.0
//
// Yarn in one expression, for tests that need many: the members in their order.
#pragma once

#include <optional>

#include "eigen_rope/choices/scaling.hpp"

namespace eigen_rope::test {

inline Yarn<> yarn_of(double factor, Index original_context, double beta_fast = 32,
                      double beta_slow = 1, RampEnds ends = RampEnds::rounded,
                      YarnMagnitude magnitude = YarnMagnitude::hugging_face,
                      const std::optional<double>& mscale = {}, double mscale_all_dim = 0,
                      double extrapolation = 1) {
  Yarn<> yarn;
  yarn.factor = factor;
  yarn.original_context = original_context;
  yarn.beta_fast = beta_fast;
  yarn.beta_slow = beta_slow;
  yarn.ends = ends;
  yarn.magnitude = magnitude;
  yarn.mscale = mscale;
  yarn.mscale_all_dim = mscale_all_dim;
  yarn.extrapolation = extrapolation;
  return yarn;
}

}  // namespace eigen_rope::test
