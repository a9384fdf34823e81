// SPDX-License-Identifier: Apache-2.0
//
// Second derivatives of L(g, x, t) = sum g y, y = eigen_rope::rotate(x, table(t)): what a library
// of nested derivatives has to find.
//
// The gradient in (x, t) is the vector-Jacobian product that training needs. Its own product with
// cotangents (v, w) is the gradient in (g, x, t) of <v, dL/dx> + <w, dL/dt>, which is the Hessian
// of L times the direction (0, v, w). By hand: closed_form::second_order().
#pragma once

#include "support/whole_way.hpp"

namespace eigen_rope::test::autodiff {

struct SecondOrderSetting {
  Extents extents;
  double m = 0;
  /// g, x and t one after another, and the direction (0, v, w).
  std::vector<double> inputs;
  std::vector<double> direction;
  /// That holds the features.
  int axis = 0;

  std::size_t size() const { return static_cast<std::size_t>(extents.size()); }
};

/// One setting for each pairing and axis. Two heads share their angles; two elements of a row do
/// not turn.
inline std::vector<SecondOrderSetting> every_second_order_setting() {
  std::vector<SecondOrderSetting> settings;
  for (const PairKind kind : every_kind) {
    SecondOrderSetting s{{kind, 6, 1, 4, 2, 3, 1}, 1.3, {}, {}};
    const Index angles = s.extents.pairs() * s.extents.rows();
    s.inputs = random_values<double>(2 * s.extents.size() + angles, 11, -2, 2);
    s.direction = random_values<double>(2 * s.extents.size() + angles, 12);
    std::fill(s.direction.begin(), s.direction.begin() + s.extents.size(), 0.0);
    for (; s.axis < 4; ++s.axis) settings.push_back(s);
  }
  return settings;
}

/// `m` is the setting's, as a constant: not every nested scalar converts from a double.
template <class S>
S bilinear_loss(const SecondOrderSetting& s, const std::vector<S>& inputs, const S& m) {
  Reader<S> reader(inputs);
  const std::vector<S> g = reader.many(s.size());
  const Eigen::Tensor<S, 4> x = tensor_of(s.extents, reader.many(s.size()), s.axis);
  const std::vector<S> angles = reader.many(inputs.size() - 2 * s.size());
  const auto table = Cache<S>::from_angles(angles, m, s.extents.pairs(),
                                           Shape{1, s.extents.tokens, s.extents.batches});
  const Eigen::Tensor<S, 4> rotated = eigen_rope::rotate(x, table, pairing_of(s.extents, s.axis));
  const std::vector<S> y = values_in_front(s.extents, rotated, s.axis);
  S loss = g[0] * y[0];
  for (std::size_t i = 1; i < s.size(); ++i) loss += g[i] * y[i];
  return loss;
}

/// `actual`: the Hessian times the direction, for all of g, x and t.
inline void expect_second_order(const SecondOrderSetting& s, const std::vector<double>& actual) {
  const auto part = [](const std::vector<double>& from, std::size_t begin, std::size_t end) {
    return closed_form::exactly(
        std::vector<double>(from.begin() + static_cast<std::ptrdiff_t>(begin),
                            from.begin() + static_cast<std::ptrdiff_t>(end)));
  };
  const std::size_t n = s.size();
  const std::size_t all = s.inputs.size();
  const closed_form::SecondOrder expected = closed_form::second_order(
      s.extents, part(s.inputs, n, 2 * n), part(s.inputs, 0, n), part(s.inputs, 2 * n, all), s.m,
      part(s.direction, n, 2 * n), part(s.direction, 2 * n, all));
  ASSERT_EQ(actual.size(), all);
  for (std::size_t i = 0; i < all; ++i) {
    const Tracked& by_hand = i < n       ? expected.g[i]
                             : i < 2 * n ? expected.x[i - n]
                                         : expected.angles[i - 2 * n];
    ASSERT_LE(distance(actual[i], by_hand), 1)
        << (i < n       ? "d/dg, element "
            : i < 2 * n ? "d/dx, element "
                        : "d/dt, element ")
        << i << ": " << actual[i] << ", by hand " << static_cast<double>(by_hand.value);
  }
}

template <class HessianVector>
void expect_every_second_order(const HessianVector& hessian_vector) {
  for (const SecondOrderSetting& s : every_second_order_setting()) {
    SCOPED_TRACE(testing::Message() << "pairing " << static_cast<int>(s.extents.kind)
                                    << ", features on axis " << s.axis);
    expect_second_order(s, hessian_vector(s));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace eigen_rope::test::autodiff
