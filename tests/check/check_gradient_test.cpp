// SPDX-License-Identifier: Apache-2.0
//
// Right gradients pass: by every method, for every kind of claim, argument, result, layout and
// scalar; and what is reported of them.
#include "eigen_rope/check/check_gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "support/gradient_functions.hpp"

namespace eigen_rope::test {
namespace {

// The bounds that the documentation names.
constexpr double kComplexStep = 1e-13;
constexpr double kCentralDifferences = 1e-7;

template <class F, class Vjp, class X>
void expect_right(const F& f, const Vjp& vjp, const X& x) {
  const GradientReport by_complex_step = check_gradient(f, vjp, x);
  EXPECT_EQ(by_complex_step.verdict, Verdict::passed) << by_complex_step;
  EXPECT_EQ(by_complex_step.method, NumericMethod::complex_step);
  EXPECT_LT(by_complex_step.worst->bound, kComplexStep) << by_complex_step;
  const GradientReport by_differences = check_gradient(typed(f, x), vjp, x);
  EXPECT_EQ(by_differences.verdict, Verdict::passed) << by_differences;
  EXPECT_EQ(by_differences.method, NumericMethod::central_differences);
  EXPECT_LT(by_differences.worst->bound, kCentralDifferences) << by_differences;
  EXPECT_EQ(by_differences.checked, by_complex_step.checked);
}

TEST(CheckGradient, EveryFunctionByBothMethodsInBothLayouts) {
  const auto columns = normal_tensor<double, 2, Eigen::ColMajor>({5, 3}, 1);
  const auto rows = normal_tensor<double, 2, Eigen::RowMajor>({5, 3}, 1);
  expect_right(cubic, cubic_vjp, columns);
  expect_right(cubic, cubic_vjp, rows);
  expect_right(hyperbolic, hyperbolic_vjp, columns);
  expect_right(hyperbolic, hyperbolic_vjp, rows);
  expect_right(soft, soft_vjp, columns);
  expect_right(soft, soft_vjp, rows);
}

TEST(CheckGradient, SeveralArguments) {
  const auto w = normal_tensor<double, 2>({4, 3}, 1);
  const auto x = normal_tensor<double, 2>({3, 5}, 2);
  const auto bias = normal_tensor<double, 2>({4, 1}, 3);
  const GradientReport exact = check_gradient(layer, layer_vjp, std::tie(w, x, bias));
  EXPECT_EQ(exact.verdict, Verdict::passed) << exact;
  EXPECT_EQ(exact.method, NumericMethod::complex_step);
  EXPECT_EQ(exact.checked, (12 + 15 + 4) * 20);
  const GradientReport differences =
      check_gradient(typed(layer, w, x, bias), layer_vjp, std::make_tuple(w, x, bias));
  EXPECT_EQ(differences.verdict, Verdict::passed) << differences;
  EXPECT_EQ(differences.method, NumericMethod::central_differences);
}

// L = sum_i exp(-rate p_i): a number and a tensor give a number, a rank-0 tensor is one too.
TEST(CheckGradient, NumbersAsArgumentAndResult) {
  const auto p = normal_tensor<double, 1>({6}, 1);
  const double rate = 0.75;
  const auto loss = [](double r, const Eigen::Tensor<double, 1>& positions) {
    double sum = 0;
    for (Eigen::Index i = 0; i < positions.size(); ++i) sum += std::exp(-r * positions(i));
    return sum;
  };
  const auto gradient = [](double r, const Eigen::Tensor<double, 1>& positions) {
    double d_rate = 0;
    Eigen::Tensor<double, 1> d_positions = positions;
    for (Eigen::Index i = 0; i < positions.size(); ++i) {
      d_rate -= positions(i) * std::exp(-r * positions(i));
      d_positions(i) = -r * std::exp(-r * positions(i));
    }
    return std::make_tuple(d_rate, d_positions);
  };
  const auto arguments = std::tie(rate, p);
  EXPECT_TRUE(check_gradient(loss, gradient, arguments));
  EXPECT_TRUE(check_gradient(loss, gradient(rate, p), arguments)) << "the gradient itself";
  const auto vjp = [&](double r, const Eigen::Tensor<double, 1>& positions, double g) {
    const auto [d_rate, d_positions] = gradient(r, positions);
    return std::make_tuple(d_rate * g, Eigen::Tensor<double, 1>(d_positions * g));
  };
  EXPECT_TRUE(check_gradient(loss, vjp, arguments));
  const auto rank_0 = [](const auto& x) { return (x * x).sum(); };
  const auto doubled = [](const auto& x) { return x + x; };
  EXPECT_TRUE(check_gradient(rank_0, doubled, p));
  EXPECT_EQ(check_gradient(rank_0, doubled, p).method, NumericMethod::complex_step);
  EXPECT_TRUE(check_gradient(rank_0, Eigen::Tensor<double, 1>(p + p), p));
  EXPECT_TRUE(check_gradient([](double x) { return std::sqrt(x); },
                             [](double x) { return 0.5 / std::sqrt(x); }, 2.0));
  EXPECT_FALSE(check_gradient([](double x) { return std::sqrt(x); },
                              [](double x) { return 0.4999 / std::sqrt(x); }, 2.0));
}

TEST(CheckGradient, FloatIsDifferencedInDoubleWhereFTakesIt) {
  const auto x = normal_tensor<float, 2>({4, 3}, 5);
  const GradientReport exact = check_gradient(soft, soft_vjp, x);
  EXPECT_EQ(exact.verdict, Verdict::passed) << exact;
  EXPECT_EQ(exact.method, NumericMethod::complex_step);
  EXPECT_LT(exact.worst->bound, 1e-5);

  const GradientReport in_float = check_gradient(typed(soft, x), soft_vjp, x);
  EXPECT_EQ(in_float.verdict, Verdict::passed) << in_float;
  EXPECT_EQ(in_float.method, NumericMethod::central_differences);
  EXPECT_GT(in_float.worst->bound, 1e-6) << "float differences cannot know better";
  EXPECT_LT(in_float.worst->bound, 1e-2);

  GradientCheckOptions own;
  own.precision = Precision::own;
  const GradientReport asked_for = check_gradient(soft, soft_vjp, x, own);
  EXPECT_EQ(asked_for.text(), in_float.text());
}

TEST(CheckGradient, AFunctionThatIsNotAnalyticIsDifferenced) {
  const auto x = normal_tensor<double, 1>({4}, 6);
  const auto squared_modulus = [](const auto& t) {
    std::decay_t<decltype(t)> y = t;
    for (Eigen::Index i = 0; i < y.size(); ++i) y(i) = Eigen::numext::abs2(t(i));
    return y;
  };
  const auto vjp = [](const auto& t, const auto& g) { return t * g * 2.0; };
  const GradientReport report = check_gradient(squared_modulus, vjp, x);
  EXPECT_EQ(report.verdict, Verdict::passed) << report;
  EXPECT_EQ(report.method, NumericMethod::central_differences);
  EXPECT_EQ(report.note,
            "f takes complex tensors but is not analytic there: central differences instead of the "
            "complex step");
  GradientCheckOptions forced;
  forced.method = NumericMethod::complex_step;
  EXPECT_FALSE(check_gradient(squared_modulus, vjp, x, forced));
}

TEST(CheckGradient, OptionsSayHow) {
  const auto x = normal_tensor<double, 2>({4, 3}, 5);
  GradientCheckOptions options;
  options.method = NumericMethod::central_differences;
  EXPECT_EQ(check_gradient(soft, soft_vjp, x, options).method, NumericMethod::central_differences);
  options.coverage = Coverage::projections;
  options.projections = 3;
  const GradientReport report = check_gradient(soft, soft_vjp, x, options);
  EXPECT_EQ(report.coverage, Coverage::projections);
  EXPECT_EQ(report.checked, 3);
  EXPECT_TRUE(report);

  // A step that is far too long shows in the bound, and not as a false alarm.
  options.coverage = Coverage::every_entry;
  options.step = 0.125;
  const GradientReport long_step = check_gradient(soft, soft_vjp, x, options);
  EXPECT_NE(long_step.verdict, Verdict::failed) << long_step;
  EXPECT_GT(long_step.worst->bound, 1e-5);

  // What is given is added to the measured bound.
  const auto nearly = [](const auto& t, const auto& g) {
    return Eigen::Tensor<double, 2>(soft_vjp(t, g) * 1.01);
  };
  options = {};
  EXPECT_FALSE(check_gradient(soft, nearly, x, options));
  options.relative = 0.02;
  EXPECT_TRUE(check_gradient(soft, nearly, x, options));
  options.relative = 0;
  options.absolute = 0.02;
  EXPECT_TRUE(check_gradient(soft, nearly, x, options));
}

TEST(CheckGradient, EmptyTensors) {
  const Eigen::Tensor<double, 2> none(0, 3);
  const GradientReport no_input = check_gradient(cubic, cubic_vjp, none);
  EXPECT_TRUE(no_input);
  EXPECT_EQ(no_input.checked, 0);
  EXPECT_EQ(no_input.text(),
            "gradient check passed: nothing to check (automatic, every entry)\n  cost: f evaluated "
            "1 time, the gradient 0 times");
  const auto x = normal_tensor<double, 2>({4, 3}, 5);
  const auto to_none = [](const Eigen::Tensor<double, 2>&) { return Eigen::Tensor<double, 1>(0); };
  const auto zeros = [](const Eigen::Tensor<double, 2>& t, const Eigen::Tensor<double, 1>&) {
    return t.constant(0);
  };
  EXPECT_TRUE(check_gradient(to_none, zeros, x));
  // One empty argument beside another.
  const auto sum = [](const auto& a, const auto& b) {
    std::decay_t<decltype(a)> y = a * a;
    (void)b;
    return y;
  };
  const auto sum_vjp = [](const auto& a, const auto& b, const auto& g) {
    return std::make_tuple(a * g * 2.0, b);
  };
  GradientCheckOptions options;
  EXPECT_EQ(check_gradient(sum, sum_vjp, std::tie(x, none), options).checked, 144);
  options.coverage = Coverage::projections;
  EXPECT_EQ(check_gradient(sum, sum_vjp, std::tie(x, none), options).checked, 8);
}

TEST(CheckGradient, ReportsReadable) {
  const Eigen::Tensor<double, 1> x = Eigen::Tensor<double, 1>(3).setConstant(0.5);
  const auto f = [](const Eigen::Tensor<double, 1>& t) { return Eigen::Tensor<double, 1>(t * t); };
  const auto wrong = [](const Eigen::Tensor<double, 1>& t, const Eigen::Tensor<double, 1>& g) {
    Eigen::Tensor<double, 1> dx = t * g * 2.0;
    dx(1) = -dx(1);
    return dx;
  };
  std::ostringstream stream;
  stream << check_gradient(f, wrong, x);
  EXPECT_EQ(stream.str().substr(0, stream.str().find("  difference")),
            "gradient check failed: 1 of 9 entries disagrees (central differences, every entry)\n"
            "  worst: d f[1] / d x[1]  claimed -1  numeric 1");
  GradientEntry entry{"bias", {}, {}, 0, 0, 0, 0};
  EXPECT_EQ(entry.text(), "d <w, f> / d bias along random signs");
  entry.place = std::vector<Index>{2, 0};
  entry.output_place = std::vector<Index>{};
  EXPECT_EQ(entry.text(), "d f / d bias[2, 0]");
}

}  // namespace
}  // namespace eigen_rope::test
