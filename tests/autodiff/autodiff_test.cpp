// SPDX-License-Identifier: Apache-2.0
//
// Derivatives by Eigen's AutoDiffScalar, through x and through the table's rates, against the
// closed forms.
#include <gtest/gtest.h>

#include "eigen_rope/rotation/rotate.hpp"
#include "eigen_rope/tables/cache.hpp"

// After the Tensor module: AutoDiff replaces functions of std that Eigen's packets use.
#include <unsupported/Eigen/AutoDiff>

#include "eigen_rope/rotation/rotate_to.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// The derivatives are one product and a sum each of what the plain rotation rounds as well; cos
/// and sin come from two libraries.
constexpr double kDerivativeUlps = 8;

constexpr Index kFeatures = 8;
constexpr Index kRows = 2;
constexpr Index kSize = kFeatures * kRows;

template <class AD>
void seed(AD& scalar, double value, Index count, Index which) {
  scalar.value() = value;
  scalar.derivatives() = Eigen::VectorXd::Unit(count, which);
}

/// d rotate(x)_i / d x_j by AutoDiffScalar against row i of R, which rotate_backward() gives for
/// the unit vector i. Exactly: the same entries.
template <class AD, class AnyTable>
void compare_jacobians(const AnyTable& table, const Case& c) {
  const Eigen::Tensor<double, 2> values = random_tensor<double, 2>(Shape{kFeatures, kRows}, 1);
  Eigen::Tensor<AD, 2> x(kFeatures, kRows);
  for (Index j = 0; j < kSize; ++j) seed(x.data()[j], values.data()[j], kSize, j);
  const Eigen::Tensor<AD, 2> y = rotation(x, table, c.pairing, c.direction);
  // Nested, by coefficients.
  const Eigen::Tensor<AD, 2> negated = -rotation(x, table, c.pairing, c.direction);
  const Eigen::Tensor<double, 2> plain = rotation(values, table, c.pairing, c.direction);
  for (Index i = 0; i < kSize; ++i) {
    EXPECT_NEAR(y.data()[i].value(), plain.data()[i], kStockUlps * kEpsilon * 2);
    ASSERT_EQ(y.data()[i].derivatives().size(), kSize);
    Eigen::Tensor<double, 2> unit(kFeatures, kRows);
    unit.setZero();
    unit.data()[i] = 1;
    // Rows of the transpose are columns of the rotation; the inverse's gradient has no name of its
    // own.
    Eigen::Tensor<double, 2> expected(kFeatures, kRows);
    if (c.direction == Direction::forward)
      expected = eigen_rope::rotate_backward(unit, table, c.pairing);
    if (c.direction == Direction::backward) expected = eigen_rope::rotate(unit, table, c.pairing);
    for (Index j = 0; j < kSize; ++j) {
      ASSERT_EQ(y.data()[i].derivatives()(j), expected.data()[j]) << "d y" << i << " / d x" << j;
      ASSERT_EQ(negated.data()[i].derivatives()(j), -expected.data()[j])
          << "d (-y)" << i << " / d x" << j;
    }
  }
}

constexpr std::array<Row, 2> rows{{{kFeatures, 0, kFeatures}, {kFeatures, 3, 4}}};

template <class AD>
void compare_every_jacobian() {
  for (const Case& c : cases_of(rows)) {
    if (c.direction == Direction::inverse) continue;
    SCOPED_TRACE(c.text());
    compare_jacobians<AD>(random_table<double>(c.width(), Shape{kRows}, 2), c);
  }
}

TEST(AutoDiff, JacobianOfFixedSize) {
  compare_every_jacobian<Eigen::AutoDiffScalar<Eigen::Matrix<double, kSize, 1>>>();
}
TEST(AutoDiff, JacobianOfDynamicSize) {
  compare_every_jacobian<Eigen::AutoDiffScalar<Eigen::VectorXd>>();
}

/// The inverse undoes values and derivatives alike: the Jacobian of rotate_inverse(rotate(x)) is
/// the identity.
TEST(AutoDiff, InverseUndoesDerivatives) {
  using AD = Eigen::AutoDiffScalar<Eigen::VectorXd>;
  for (const Case& c : cases_of(rows)) {
    if (c.direction != Direction::inverse) continue;
    SCOPED_TRACE(c.text());
    const auto table = random_table<double>(c.width(), Shape{kRows}, 3);
    Eigen::Tensor<AD, 2> x(kFeatures, kRows);
    const std::vector<double> values = random_values<double>(kSize, 4);
    for (Index j = 0; j < kSize; ++j)
      seed(x.data()[j], values[static_cast<std::size_t>(j)], kSize, j);
    Eigen::Tensor<AD, 2> y = eigen_rope::rotate(x, table, c.pairing);
    // Where it lies, too.
    rotate_inplace(y, table, c.pairing, Direction::inverse);
    for (Index i = 0; i < kSize; ++i) {
      EXPECT_NEAR(y.data()[i].value(), values[static_cast<std::size_t>(i)],
                  kDerivativeUlps * kEpsilon * 2);
      for (Index j = 0; j < kSize; ++j)
        EXPECT_NEAR(y.data()[i].derivatives()(j), i == j ? 1 : 0, kDerivativeUlps * kEpsilon * 2);
    }
  }
}

/// y_A = m (cos x_a - sin x_b), so dy_A/drate = -pos y_B and dy_B/drate = pos y_A; and y / m for
/// the attention factor.
template <class AD, class XScalar>
void compare_rate_derivatives() {
  constexpr Index pairs = kFeatures / 2;
  constexpr Index parameters = pairs + 1;  // the rates, and m
  const std::vector<double> rate_values{1.0, 0.31, 0.052, 0.0017};
  constexpr double m_value = 1.3;
  std::vector<AD> rates(static_cast<std::size_t>(pairs));
  for (Index k = 0; k < pairs; ++k)
    seed(rates[static_cast<std::size_t>(k)], rate_values[static_cast<std::size_t>(k)], parameters,
         k);
  AD m;
  seed(m, m_value, parameters, pairs);
  const std::vector<double> positions{0, 3, -17.5};
  const auto cache = Cache<AD>::from_rates(rates, m, Positions::ids(positions), Layout::sd());

  Eigen::Tensor<XScalar, 2> x(kFeatures, 3);
  const std::vector<double> values = random_values<double>(x.size(), 5);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = XScalar(values[static_cast<std::size_t>(i)]);
  const Eigen::Tensor<AD, 2> y = eigen_rope::rotate(x, cache, split_half);
  const Eigen::Tensor<AD, 2> nested = eigen_rope::rotate(x, cache, split_half) * AD(2.0);
  for (Index s = 0; s < 3; ++s) {
    const double position = positions[static_cast<std::size_t>(s)];
    for (Index k = 0; k < pairs; ++k) {
      const auto a = values[static_cast<std::size_t>(s * kFeatures + k)];
      const auto b = values[static_cast<std::size_t>(s * kFeatures + k + pairs)];
      const double angle = position * rate_values[static_cast<std::size_t>(k)];
      const double A = m_value * (std::cos(angle) * a - std::sin(angle) * b);
      const double B = m_value * (std::cos(angle) * b + std::sin(angle) * a);
      const double bound = kDerivativeUlps * kEpsilon * m_value * std::hypot(a, b);
      EXPECT_NEAR(y(k, s).value(), A, bound);
      EXPECT_NEAR(y(k + pairs, s).value(), B, bound);
      for (Index p = 0; p < parameters; ++p) {
        const double dA = p == k ? -position * B : p == pairs ? A / m_value : 0.0;
        const double dB = p == k ? position * A : p == pairs ? B / m_value : 0.0;
        const double derivative_bound = bound * std::max(1.0, std::abs(position));
        ASSERT_NEAR(y(k, s).derivatives()(p), dA, derivative_bound)
            << "pair " << k << ", parameter " << p;
        ASSERT_NEAR(y(k + pairs, s).derivatives()(p), dB, derivative_bound)
            << "pair " << k << ", parameter " << p;
        ASSERT_NEAR(nested(k, s).derivatives()(p), 2 * dA, 2 * derivative_bound);
      }
    }
  }
}

using FixedAD = Eigen::AutoDiffScalar<Eigen::Matrix<double, kFeatures / 2 + 1, 1>>;
using DynamicAD = Eigen::AutoDiffScalar<Eigen::VectorXd>;

TEST(AutoDiff, RatesWithDifferentiableX) { compare_rate_derivatives<FixedAD, FixedAD>(); }
TEST(AutoDiff, RatesWithPlainX) { compare_rate_derivatives<FixedAD, double>(); }
TEST(AutoDiff, RatesOfDynamicSizeWithPlainX) { compare_rate_derivatives<DynamicAD, double>(); }

/// Raw memory and rounding are not for scalars with constructors.
TEST(AutoDiff, HasNeitherPacketsNorBlocks) {
  using Node = RotateOp<const Eigen::Tensor<DynamicAD, 2>, double>;
  using Evaluator = Eigen::TensorEvaluator<const Node, Eigen::DefaultDevice>;
  EXPECT_FALSE(Evaluator::PacketAccess);
  EXPECT_FALSE(Evaluator::BlockAccess);
  EXPECT_FALSE(Evaluator::PreferBlockAccess);
  using WithTable = RotateOp<const Eigen::Tensor<double, 2>, DynamicAD>;
  using TableEvaluator = Eigen::TensorEvaluator<const WithTable, Eigen::DefaultDevice>;
  EXPECT_FALSE(TableEvaluator::PacketAccess);
  EXPECT_FALSE(TableEvaluator::BlockAccess);
}

}  // namespace
}  // namespace eigen_rope::test
