// SPDX-License-Identifier: Apache-2.0
//
// What must hold whatever the function: right gradients of a thousand random points pass, any
// single wrong entry is found, and neither the size of f nor a repetition changes the verdict.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "eigen_rope/check/check_gradient.hpp"
#include "support/gradient_functions.hpp"

namespace eigen_rope::test {
namespace {

using Matrix = Eigen::Tensor<double, 2>;
using FloatMatrix = Eigen::Tensor<float, 2>;

constexpr int kPoints = 1000;
constexpr int kFaults = 300;

/// y_ij = sum_k w_ik x_kj in a hidden layer, tanh, softmax: everything at once.
const auto network = [](const auto& w, const auto& x, const auto& bias) {
  std::decay_t<decltype(x)> hidden = layer(w, x, bias).tanh();
  return softmax(hidden);
};
const auto network_vjp = [](const auto& w, const auto& x, const auto& bias, const auto& g) {
  using M = std::decay_t<decltype(x)>;
  const M sums = layer(w, x, bias);
  const M hidden = sums.tanh();
  return layer_vjp(w, x, bias, hyperbolic_vjp(sums, softmax_vjp(hidden, g)));
};

template <class Scalar>
struct Point {
  explicit Point(unsigned seed)
      : w(normal_tensor<Scalar, 2>({3, 2}, seed)),
        x(normal_tensor<Scalar, 2>({2, 4}, seed + 1000000)),
        bias(normal_tensor<Scalar, 2>({3, 1}, seed + 2000000)) {}
  Eigen::Tensor<Scalar, 2> w, x, bias;
  auto all() const { return std::tie(w, x, bias); }
};

template <class Scalar, class F, class Vjp>
void expect_no_alarm(const F& f, const Vjp& vjp, GradientCheckOptions options) {
  int alarms = 0;
  double worst = 0;
  for (unsigned seed = 0; seed < kPoints; ++seed) {
    options.seed = seed;
    const Point<Scalar> point(seed);
    const GradientReport report = check_gradient(f, vjp, point.all(), options);
    if (report.verdict != Verdict::passed) {
      ++alarms;
      ADD_FAILURE() << "seed " << seed << ": " << report;
    }
    worst = std::max(worst, report.worst->difference / report.worst->bound);
    if (alarms > 3) break;
  }
  EXPECT_EQ(alarms, 0);
  EXPECT_GT(worst, 0.01) << "the bound must not be out of proportion";
}

TEST(CheckGradientRandom, NoFalseAlarmByComplexStep) {
  for (const Coverage coverage : {Coverage::every_entry, Coverage::projections}) {
    GradientCheckOptions options;
    options.coverage = coverage;
    expect_no_alarm<double>(network, network_vjp, options);
    expect_no_alarm<float>(network, network_vjp, options);
  }
}

TEST(CheckGradientRandom, NoFalseAlarmByDifferences) {
  for (const Coverage coverage : {Coverage::every_entry, Coverage::projections}) {
    GradientCheckOptions options;
    options.coverage = coverage;
    options.method = NumericMethod::central_differences;
    expect_no_alarm<double>(network, network_vjp, options);
    expect_no_alarm<float>(network, network_vjp, options);
    options.precision = Precision::own;
    expect_no_alarm<float>(network, network_vjp, options);
  }
}

TEST(CheckGradientRandom, NoFalseAlarmOfAdjoints) {
  double worst = 0;
  for (unsigned seed = 0; seed < kPoints; ++seed) {
    const auto w = normal_tensor<float, 2>({7, 30}, seed);
    const auto x = normal_tensor<float, 2>({30, 2}, seed);
    const auto forward = [&](const FloatMatrix& v) { return contracted(w, 1, v, 0); };
    const auto transpose = [&](const FloatMatrix& g) { return contracted(w, 0, g, 0); };
    GradientCheckOptions options;
    options.seed = seed;
    const GradientReport report = check_adjoint(forward, transpose, x, options);
    ASSERT_TRUE(report) << "seed " << seed << ": " << report;
    worst = std::max(worst, report.worst->difference / report.worst->bound);
  }
  EXPECT_GT(worst, 0.001) << "the bound must not be out of proportion";
}

/// One entry of one gradient is off by a part of itself.
template <class Scalar>
void expect_every_fault_found(Scalar part, GradientCheckOptions options) {
  std::mt19937_64 random(7);
  int found = 0, named = 0;
  for (int fault = 0; fault < kFaults; ++fault) {
    const Point<Scalar> point(static_cast<unsigned>(fault));
    const auto entry = static_cast<Eigen::Index>(random() % 8);
    const auto output = static_cast<Eigen::Index>(random() % 12);
    const auto wrong = [&](const auto& w, const auto& x, const auto& bias, const auto& g) {
      auto gradients = network_vjp(w, x, bias, g);
      Eigen::Tensor<Scalar, 2> dx = std::get<1>(gradients);
      dx.data()[entry] += part * g.data()[output];  // d f_output / d x_entry
      std::get<1>(gradients) = dx;
      return std::make_tuple(std::get<0>(gradients), dx, std::get<2>(gradients));
    };
    options.seed = static_cast<std::uint64_t>(fault);
    const GradientReport report = check_gradient(network, wrong, point.all(), options);
    if (report.verdict == Verdict::failed) ++found;
    const std::vector<Index> place{entry % 2, entry / 2};
    const std::vector<Index> output_place{output % 3, output / 3};
    if (report.worst->argument == "x1" && report.worst->place == place &&
        report.worst->output_place == output_place)
      ++named;
  }
  EXPECT_EQ(found, kFaults);
  EXPECT_EQ(named, kFaults);
}

TEST(CheckGradientRandom, EveryFaultIsFoundAndNamed) {
  for (const Coverage coverage : {Coverage::every_entry, Coverage::projections}) {
    GradientCheckOptions options;
    options.coverage = coverage;
    expect_every_fault_found<double>(1e-12, options);
    expect_every_fault_found<float>(1e-3f, options);
    options.method = NumericMethod::central_differences;
    expect_every_fault_found<double>(1e-6, options);
    options.precision = Precision::own;
    expect_every_fault_found<float>(0.1f, options);
  }
}

// f and its gradient times a power of 2: the same comparisons, with every number scaled.
TEST(CheckGradientRandom, SizeOfFChangesNoVerdict) {
  const Point<double> point(3);
  for (const bool right : {true, false}) {
    for (const NumericMethod method :
         {NumericMethod::complex_step, NumericMethod::central_differences}) {
      for (const double factor : {0x1p-200, 0x1p-20, 0x1p40, 0x1p300}) {
        const auto scaled = [&](const auto& w, const auto& x, const auto& bias) {
          using M = std::decay_t<decltype(x)>;
          return M(network(w, x, bias) * typename M::Scalar(factor));
        };
        const auto vjp = [&](const Matrix& w, const Matrix& x, const Matrix& bias,
                             const Matrix& g) {
          auto [dw, dx, dbias] = network_vjp(w, x, bias, g);
          Matrix scaled_dx = dx * factor;
          if (!right) scaled_dx(1, 1) *= 1.001;
          return std::make_tuple(Matrix(dw * factor), scaled_dx, Matrix(dbias * factor));
        };
        const auto unscaled = [&](const Matrix& w, const Matrix& x, const Matrix& bias,
                                  const Matrix& g) {
          auto [dw, dx, dbias] = network_vjp(w, x, bias, g);
          Matrix changed = dx;
          if (!right) changed(1, 1) *= 1.001;
          return std::make_tuple(Matrix(dw), changed, Matrix(dbias));
        };
        GradientCheckOptions options;
        options.method = method;
        const GradientReport expected = check_gradient(network, unscaled, point.all(), options);
        const GradientReport report = check_gradient(scaled, vjp, point.all(), options);
        EXPECT_EQ(report.verdict, right ? Verdict::passed : Verdict::failed)
            << factor << ": " << report;
        EXPECT_EQ(report.disagreeing, expected.disagreeing);
        EXPECT_EQ(report.worst->text(), expected.worst->text());
        EXPECT_EQ(report.worst->claimed, expected.worst->claimed * factor);
        EXPECT_EQ(report.worst->numeric, expected.worst->numeric * factor);
        EXPECT_EQ(report.worst->bound, expected.worst->bound * factor);
      }
    }
  }
}

// Arguments of very different size, f fast in one of them.
TEST(CheckGradientRandom, PositionsAndRates) {
  int passed = 0;
  for (int k = 0; k < 300; ++k) {
    const double rate = 0.01 + 0.001 * k;
    const double position = 100000 + 7 * k;
    const auto f = [](double a, double b) { return std::cos(a * b); };
    const auto gradient = [](double a, double b) {
      return std::make_tuple(-b * std::sin(a * b), -a * std::sin(a * b));
    };
    const GradientReport report = check_gradient(f, gradient, std::tie(rate, position));
    ASSERT_NE(report.verdict, Verdict::failed) << rate << " " << position << "\n" << report;
    passed += report ? 1 : 0;
    const auto wrong = [](double a, double b) {
      return std::make_tuple(-b * std::sin(a * b), 0.5 - a * std::sin(a * b));
    };
    ASSERT_EQ(check_gradient(f, wrong, std::tie(rate, position)).verdict, Verdict::failed)
        << rate << " " << position;
  }
  EXPECT_GE(passed, 270) << "inconclusive is for the few where the gradient vanishes";
}

TEST(CheckGradientRandom, SameSeedSameReport) {
  const Point<double> point(3);
  GradientCheckOptions options;
  options.coverage = Coverage::projections;
  options.method = NumericMethod::central_differences;
  const std::string first = check_gradient(network, network_vjp, point.all(), options).text();
  EXPECT_EQ(check_gradient(network, network_vjp, point.all(), options).text(), first);
  options.seed = 2;
  EXPECT_NE(check_gradient(network, network_vjp, point.all(), options).text(), first);
}

// 120000 elements: projections without being asked, and still the one wrong entry.
TEST(CheckGradientRandom, LargeTensors) {
  const auto x = normal_tensor<double, 2, Eigen::RowMajor>({300, 400}, 1);
  for (const bool right : {true, false}) {
    const auto vjp = [&](const auto& t, const auto& g) {
      auto dx = cubic_vjp(t, g);
      if (!right) dx(211, 17) += 1e-4 * g(3, 399);
      return dx;
    };
    for (const NumericMethod method :
         {NumericMethod::complex_step, NumericMethod::central_differences}) {
      GradientCheckOptions options;
      options.method = method;
      const GradientReport report = check_gradient(cubic, vjp, x, options);
      EXPECT_EQ(report.coverage, Coverage::projections);
      EXPECT_EQ(report.verdict, right ? Verdict::passed : Verdict::failed) << report;
      EXPECT_EQ(report.worst->text(),
                right ? "d <w, f> / d x along random signs" : "d f[3, 399] / d x[211, 17]")
          << report;
      EXPECT_LT(report.evaluations, 250);
      EXPECT_LT(report.gradient_evaluations, 100);
    }
  }
}

}  // namespace
}  // namespace eigen_rope::test
