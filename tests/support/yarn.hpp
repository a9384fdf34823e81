// SPDX-License-Identifier: Apache-2.0
//
// Yarn in one expression, for tests that need many: the members in their order.
#pragma once

#include <optional>

#include "eigen_rope/choices/scaling.hpp"

namespace eigen_rope::test {

template <class S = double>
Yarn<S> yarn_of(const S& factor, Index original_context, const S& beta_fast = S(32.0), const S& beta_slow = S(1.0),
                RampEnds ends = RampEnds::rounded, YarnMagnitude magnitude = YarnMagnitude::hugging_face,
                const std::optional<S>& mscale = {}, const S& mscale_all_dim = S(0.0), const S& extrapolation = S(1.0)) {
  Yarn<S> yarn;
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
