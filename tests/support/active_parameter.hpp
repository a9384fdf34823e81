// SPDX-License-Identifier: Apache-2.0
//
// The gradient of one parameter of a scaling by AutoDiffScalar.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <string>
#include <unsupported/Eigen/AutoDiff>

#include "eigen_rope/gradients/scaling_gradients.hpp"

namespace eigen_rope::test {

using Dynamic = Eigen::AutoDiffScalar<Eigen::VectorXd>;

/// dL/dp where p alone has a derivative; the others have none, not even zeros. `roundings` are
/// those of the chain, in units of the sum of the terms' magnitudes.
template <class RatesOf>
void expect_autodiff(double actual, const std::string& name, Dynamic& parameter,
                     const RateGradients& gradients, const RatesOf& rates, double roundings) {
  parameter.derivatives() = Eigen::VectorXd::Ones(1);
  const Rates<Dynamic> active = rates();
  parameter.derivatives().resize(0);
  const auto slope = [](const Dynamic& value) {
    return value.derivatives().size() == 0 ? 0 : value.derivatives()[0];
  };
  double expected = gradients.attention_factor * slope(active.attention_factor);
  double size = std::abs(expected);
  for (std::size_t k = 0; k < active.rates.size(); ++k) {
    expected += gradients.rates[k] * slope(active.rates[k]);
    size += std::abs(gradients.rates[k] * slope(active.rates[k]));
  }
  EXPECT_NEAR(actual, expected, roundings * std::numeric_limits<double>::epsilon() * size) << name;
}

}  // namespace eigen_rope::test
