// SPDX-License-Identifier: Apache-2.0
//
// Wrong gradients fail, and the report names the place; what cannot be judged is said, and what
// cannot be checked is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "eigen_rope/check/check_gradient.hpp"
#include "support/error_of.hpp"
#include "support/gradient_functions.hpp"

namespace eigen_rope::test::check_gradient_faults_tests {
namespace {

using Vector = Eigen::Tensor<double, 1>;
using Matrix = Eigen::Tensor<double, 2>;
using RowMatrix = Eigen::Tensor<double, 2, Eigen::RowMajor>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Vector zeros(Eigen::Index size) {
  Vector vector(size);
  vector.setZero();
  return vector;
}

/// What the worst entry is a derivative of.
std::string place_in(const GradientReport& report) {
  return report.worst ? report.worst->text() : "nothing";
}

template <class M>
void expect_sign_flip_found(const M& x) {
  const auto flipped = [](const M& t, const M& g) {
    M dx = cubic_vjp(t, g);
    dx(1, 2) = -dx(1, 2);
    return dx;
  };
  for (const NumericMethod method :
       {NumericMethod::complex_step, NumericMethod::central_differences}) {
    for (const Coverage coverage : {Coverage::every_entry, Coverage::projections}) {
      GradientCheckOptions options;
      options.method = method;
      options.coverage = coverage;
      const GradientReport report = check_gradient(cubic, flipped, x, options);
      EXPECT_EQ(report.verdict, Verdict::failed);
      EXPECT_EQ(place_in(report), "d f[1, 2] / d x[1, 2]") << report;
      EXPECT_DOUBLE_EQ(report.worst->claimed, -(3 * x(1, 2) * x(1, 2) - 2)) << report;
      EXPECT_NEAR(report.worst->numeric, 3 * x(1, 2) * x(1, 2) - 2, report.worst->bound);
      EXPECT_EQ(report.disagreeing, coverage == Coverage::every_entry ? 1 : options.projections)
          << report;
    }
  }
}

TEST(CheckGradientFaults, SignFlipInOneEntry) {
  expect_sign_flip_found(normal_tensor<double, 2, Eigen::ColMajor>({3, 4}, 1));
  expect_sign_flip_found(normal_tensor<double, 2, Eigen::RowMajor>({3, 4}, 1));
}

TEST(CheckGradientFaults, MissingBroadcastSum) {
  const auto w = normal_tensor<double, 2>({4, 3}, 1);
  const auto x = normal_tensor<double, 2>({3, 5}, 2);
  const auto bias = normal_tensor<double, 2>({4, 1}, 3);
  const auto first_column_only = [](const Matrix& a, const Matrix& b, const Matrix& c,
                                    const Matrix& g) {
    auto gradients = layer_vjp(a, b, c, g);
    std::get<2>(gradients) = g.chip(0, 1).reshape(c.dimensions());
    return gradients;
  };
  GradientCheckOptions options;
  options.names = {"w", "x", "bias"};
  for (const Coverage coverage : {Coverage::every_entry, Coverage::projections}) {
    options.coverage = coverage;
    const GradientReport report =
        check_gradient(layer, first_column_only, std::tie(w, x, bias), options);
    EXPECT_EQ(report.verdict, Verdict::failed);
    EXPECT_EQ(report.worst->argument, "bias") << report;
    ASSERT_TRUE(report.worst->place && report.worst->output_place) << report;
    EXPECT_EQ((*report.worst->place)[0], (*report.worst->output_place)[0]);
    EXPECT_GT((*report.worst->output_place)[1], 0) << "the first column is right";
    EXPECT_EQ(report.worst->claimed, 0);
    EXPECT_NEAR(report.worst->numeric, 1, report.worst->bound);
    if (coverage == Coverage::every_entry) {
      EXPECT_EQ(report.disagreeing, 16) << report;
    }
  }
}

TEST(CheckGradientFaults, TransposeOfAnotherMapIsNamed) {
  const auto a = normal_tensor<double, 2>({4, 3}, 1);
  const auto x = normal_tensor<double, 1>({3}, 2);
  using Contraction = Eigen::array<Eigen::IndexPair<int>, 1>;
  const auto forward = [&](const Vector& v) {
    return Vector(a.contract(v, Contraction{Eigen::IndexPair<int>(1, 0)}));
  };
  const auto backward = [&](const Vector& w) {
    return Vector(a.contract(w, Contraction{Eigen::IndexPair<int>(0, 0)}));
  };
  const GradientReport right = check_adjoint(forward, backward, x);
  EXPECT_TRUE(right) << right;
  EXPECT_EQ(right.method, NumericMethod::linear_map);
  EXPECT_LT(right.worst->bound, 1e-12);
  const auto wrong = [&](const Vector& w) {
    Vector v = backward(w);
    v(2) += 1e-10 * w(3);
    return v;
  };
  for (const Coverage coverage : {Coverage::every_entry, Coverage::projections}) {
    GradientCheckOptions options;
    options.coverage = coverage;
    const GradientReport report = check_adjoint(forward, wrong, x, options);
    EXPECT_EQ(report.verdict, Verdict::failed);
    EXPECT_EQ(place_in(report), "d f[3] / d x[2]") << report;
    EXPECT_EQ(report.text().substr(0, 21), "adjoint check failed:");
  }
  const auto nan = [&](const Vector& v) { return Vector(forward(v) * kNaN); };
  EXPECT_EQ(check_adjoint(nan, backward, x).verdict, Verdict::non_finite);
  // The identity is its own transpose, but this is not the identity between the unit vectors.
  const auto cube = [](const Vector& v) { return Vector(v * v * v); };
  EXPECT_FALSE(check_adjoint(
      cube, [](const Vector& w) { return w; }, x));
}

TEST(CheckGradientFaults, NotFiniteIsReported) {
  auto x = normal_tensor<double, 2>({3, 4}, 1);
  const auto nan_gradient = [](const Matrix& t, const Matrix& g) {
    Matrix dx = cubic_vjp(t, g);
    dx(2, 1) = kNaN;
    return dx;
  };
  for (const Coverage coverage : {Coverage::every_entry, Coverage::projections}) {
    GradientCheckOptions options;
    options.coverage = coverage;
    const GradientReport report = check_gradient(cubic, nan_gradient, x, options);
    EXPECT_EQ(report.verdict, Verdict::non_finite) << report;
    EXPECT_FALSE(report);
    ASSERT_TRUE(report.worst->place);
    EXPECT_EQ(*report.worst->place, (std::vector<Index>{2, 1})) << report;

    // log(0), and a gradient that is right where f is finite.
    x(0, 3) = 0;
    const auto logarithm = [](const Matrix& t) { return Matrix(t.square().log()); };
    const auto logarithm_vjp = [](const Matrix& t, const Matrix& g) { return Matrix(g * 2.0 / t); };
    const GradientReport at_pole = check_gradient(logarithm, logarithm_vjp, x, options);
    EXPECT_EQ(at_pole.verdict, Verdict::non_finite) << at_pole;
    EXPECT_EQ(at_pole.disagreeing, 0) << at_pole;

    x(0, 3) = kInfinity;
    EXPECT_EQ(check_gradient(typed(cubic, x), cubic_vjp, x, options).verdict, Verdict::non_finite);
    EXPECT_EQ(check_gradient(cubic, cubic_vjp, x, options).verdict, Verdict::non_finite);
    x(0, 3) = 1;
  }
}

TEST(CheckGradientFaults, AFaultOutweighsWhatIsNotFinite) {
  Vector x(3);
  x.setValues({1, 2, 3});
  const auto wrong = [](const Vector& t, const Vector& g) {
    Vector dx = cubic_vjp(t, g);
    dx(0) = kNaN;
    dx(2) = 0;
    return dx;
  };
  const GradientReport report = check_gradient(cubic, wrong, x);
  EXPECT_EQ(report.verdict, Verdict::failed);
  EXPECT_EQ(place_in(report), "d f[2] / d x[2]");
  EXPECT_EQ(report.non_finite, 3);
}

TEST(CheckGradientFaults, KinksAndJumpsAreNotJudged) {
  Vector x(4);
  x.setValues({-1, 0, 2, 0.5});
  const auto relu = [](const Vector& t) { return Vector(t.cwiseMax(0.0)); };
  for (const double at_kink : {0.0, 0.3, 1.0}) {
    const auto vjp = [&](const Vector& t, const Vector& g) {
      Vector dx = g;
      for (Eigen::Index i = 0; i < t.size(); ++i) dx(i) *= t(i) > 0 ? 1 : t(i) < 0 ? 0 : at_kink;
      return dx;
    };
    const GradientReport report = check_gradient(relu, vjp, x);
    EXPECT_EQ(report.verdict, Verdict::inconclusive) << report;
    EXPECT_EQ(report.undetermined, 1) << report;
    EXPECT_EQ(place_in(report), "d f[1] / d x[1]");
    EXPECT_FALSE(report);
    EXPECT_NE(report.text().find("not judged: 1 entry"), std::string::npos) << report;
  }
  // No subgradient: outside the one-sided derivatives.
  const auto outside = [](const Vector& t, const Vector& g) {
    Vector dx = g;
    for (Eigen::Index i = 0; i < t.size(); ++i) dx(i) *= t(i) > 0 ? 1 : t(i) < 0 ? 0 : 1.1;
    return dx;
  };
  EXPECT_EQ(check_gradient(relu, outside, x).verdict, Verdict::failed);
  // A step function, at its step.
  const auto sign = [](const Vector& t) { return Vector(t.sign()); };
  const auto zero = [](const Vector& t, const Vector&) { return Vector(t.constant(0)); };
  const GradientReport jump = check_gradient(sign, zero, x);
  EXPECT_EQ(jump.verdict, Verdict::inconclusive) << jump;
  EXPECT_EQ(jump.undetermined, 1) << jump;
  // The edge of a domain.
  x(0) = 0;
  const auto root = [](const Vector& t) { return Vector(t.sqrt()); };
  const auto root_vjp = [](const Vector& t, const Vector& g) {
    return Vector(g * 0.5 / (t.sqrt() + t.constant(1e-300)));
  };
  EXPECT_EQ(check_gradient(root, root_vjp, x).verdict, Verdict::inconclusive);
}

TEST(CheckGradientFaults, AKinkInReachIsNoFalseAlarm) {
  const auto absolute = [](double t) { return std::abs(t); };
  const auto sign = [](double t) { return t > 0 ? 1.0 : t < 0 ? -1.0 : 0.0; };
  GradientCheckOptions options;
  options.step = 0x1p-10;
  for (double distance = -2.5; distance < 2.5; distance += 0.01) {
    EXPECT_NE(check_gradient(absolute, sign, distance * options.step, options).verdict,
              Verdict::failed)
        << distance;
  }
}

TEST(CheckGradientFaults, AStationaryPointIsJudged) {
  const auto cube = [](double t) { return t * t * t; };
  const GradientReport report = check_gradient(
      cube, [](double t) { return 3 * t * t; }, 0.0);
  EXPECT_TRUE(report) << report;
  EXPECT_FALSE(check_gradient(
      cube, [](double) { return 1e-6; }, 0.0));
}

TEST(CheckGradientFaults, AnOscillationFinerThanTheStepIsNoFalseAlarm) {
  const auto fast = [](double x) { return std::sin(3e5 * x); };
  for (double x = 0; x < 1; x += 0.01) {
    const GradientReport report = check_gradient(
        fast, [](double t) { return 3e5 * std::cos(3e5 * t); }, x);
    EXPECT_NE(report.verdict, Verdict::failed) << x << "\n" << report;
  }
}

TEST(CheckGradientFaults, WrongShapesAreRefused) {
  const auto x = normal_tensor<double, 2>({3, 4}, 1);
  const auto bias = normal_tensor<double, 1>({4}, 1);
  EXPECT_EQ(error_of([&] {
              check_gradient(
                  cubic, [](const Matrix&, const Matrix&) { return Matrix(4, 3); }, x);
            }),
            "[rope] the gradient of x must have shape [3, 4], got [4, 3]");
  const auto add = [](const Matrix& a, const Vector&) { return a; };
  const auto unreduced = [](const Matrix&, const Vector&, const Matrix& g) {
    return std::make_tuple(g, zeros(3));
  };
  GradientCheckOptions options;
  options.names = {"x", "bias"};
  EXPECT_EQ(error_of([&] { check_gradient(add, unreduced, std::tie(x, bias), options); }),
            "[rope] the gradient of bias must have shape [4], got [3]");
  int calls = 0;
  const auto growing = [&](const Vector&) { return zeros(++calls); };
  EXPECT_EQ(error_of([&] {
              check_gradient(
                  growing, [](const Vector& t, const Vector&) { return t; }, bias);
            }),
            "[rope] every result of f must have shape [1], got [2]");
  EXPECT_EQ(error_of([&] { check_gradient(cubic, x, x); }),
            "[rope] a gradient without a cotangent g needs f to return one value, got 12");
  EXPECT_EQ(error_of([&] {
              check_adjoint([](const Vector& v) { return v; },
                            [](const Vector&) { return zeros(2); }, bias);
            }),
            "[rope] the gradient of x must have shape [4], got [2]");
}

TEST(CheckGradientFaults, OptionsOutsideTheirRangeAreRefused) {
  const auto x = normal_tensor<double, 1>({4}, 1);
  const auto error_with = [&](const auto& change) {
    GradientCheckOptions options;
    change(options);
    return error_of([&] { check_gradient(typed(cubic, x), cubic_vjp, x, options); });
  };
  EXPECT_EQ(error_with([](auto& o) { o.absolute = -1; }),
            "[rope] the absolute tolerance must be finite and not negative, got -1");
  EXPECT_EQ(error_with([](auto& o) { o.relative = kNaN; }),
            "[rope] the relative tolerance must be finite and not negative, got nan");
  EXPECT_EQ(error_with([](auto& o) { o.step = -1; }),
            "[rope] the step of central differences must be finite and greater than 0, got -1");
  EXPECT_EQ(error_with([](auto& o) { o.typical_x = 0; }),
            "[rope] typical_x must be finite and greater than 0, got 0");
  EXPECT_EQ(error_with([](auto& o) { o.projections = 0; }),
            "[rope] the number of projections must be at least 1, got 0");
  EXPECT_EQ(error_with([](auto& o) {
              o.names = {"a", "b"};
            }),
            "[rope] there must be one name for each of the 1 arguments, got 2");
  EXPECT_EQ(error_with([](auto& o) { o.method = NumericMethod::linear_map; }),
            "[rope] a linear map is checked by check_adjoint()");
  EXPECT_EQ(error_with([](auto& o) { o.method = NumericMethod::complex_step; }),
            "[rope] the complex step needs an f that takes and returns tensors of "
            "std::complex<double>, and Precision::widest");
}

}  // namespace
}  // namespace eigen_rope::test::check_gradient_faults_tests
