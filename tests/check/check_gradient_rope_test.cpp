// SPDX-License-Identifier: Apache-2.0
//
// The checker on our own rotation: rotate_backward() is its gradient for every pairing, window,
// layout, axis and scalar, and with m = 1.25 the inverse is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "eigen_rope/check/check_gradient.hpp"
#include "eigen_rope/gradients/table_gradient.hpp"
#include "eigen_rope/rotation/rotate.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "support/gradient_functions.hpp"

namespace eigen_rope::test {
namespace {

constexpr Index kHeadSize = 12;
constexpr Index kHeads = 2;
constexpr Index kTokens = 3;

const Pairing every_pairing[] = {split_half,
                                 interleaved,
                                 quarter,
                                 interleaved_to_split_half,
                                 split_half.with_rotary_dims(8).with_offset(2),
                                 interleaved_to_split_half.with_rotary_dims(4)};

/// Where the features of a tensor of heads and tokens are: behind `place` of these axes.
template <int layout>
struct FeaturePlace {
  int place;

  int axis() const { return layout == static_cast<int>(Eigen::ColMajor) ? place : 2 - place; }
  std::array<Index, 3> extents() const {
    std::vector<Index> fastest_first{kHeads, kTokens};
    fastest_first.insert(fastest_first.begin() + place, kHeadSize);
    if (layout == static_cast<int>(Eigen::RowMajor))
      std::reverse(fastest_first.begin(), fastest_first.end());
    return {fastest_first[0], fastest_first[1], fastest_first[2]};
  }
  Layout cache_layout() const {
    using Role = AxisRole;
    if (place == 0) return Layout::bsnd();
    return place == 1 ? Layout{Role::other, Role::feature, Role::token}
                      : Layout{Role::other, Role::token, Role::feature};
  }
};

template <class Scalar>
Cache<Scalar> cache_for(Pairing pairing, double attention_factor, const Layout& layout) {
  Powers<> powers{pairing.rotary_dims(kHeadSize)};
  powers.attention_factor = attention_factor;
  return Cache<Scalar>(Frequencies::powers(powers), Positions::range(5, kTokens), layout);
}

template <class Scalar, int layout>
void expect_transpose_is_the_gradient(int place = 0) {
  using X = Eigen::Tensor<Scalar, 3, layout>;
  const FeaturePlace<layout> features{place};
  const X x = normal_tensor<Scalar, 3, layout>(features.extents(), 1);
  for (const Pairing& fastest : every_pairing) {
    const Pairing pairing = place == 0 ? fastest : fastest.along(features.axis());
    const auto cache = cache_for<Scalar>(pairing, 1.25, features.cache_layout());
    const auto rotated = [&](const auto& t) { return rotate(t, cache, pairing); };
    const auto in_its_scalar = [&](const X& t) { return X(rotate(t, cache, pairing)); };
    const auto gradient = [&](const X&, const X& g) { return rotate_backward(g, cache, pairing); };
    const auto forgotten_m2 = [&](const X&, const X& g) {
      return rotate_inverse(g, cache, pairing);
    };
    for (const Coverage coverage : {Coverage::every_entry, Coverage::projections}) {
      GradientCheckOptions options;
      options.coverage = coverage;
      const GradientReport exact = check_gradient(rotated, gradient, x, options);
      EXPECT_EQ(exact.verdict, Verdict::passed) << exact;
      EXPECT_EQ(exact.method, NumericMethod::complex_step) << exact;
      const GradientReport differences = check_gradient(in_its_scalar, gradient, x, options);
      EXPECT_EQ(differences.verdict, Verdict::passed) << differences;
      EXPECT_EQ(check_gradient(rotated, forgotten_m2, x, options).verdict, Verdict::failed);
      EXPECT_EQ(check_gradient(in_its_scalar, forgotten_m2, x, options).verdict, Verdict::failed);

      const auto adjoint = [&](const X& g) { return rotate_backward(g, cache, pairing); };
      const auto inverted = [&](const X& g) { return rotate_inverse(g, cache, pairing); };
      EXPECT_TRUE(check_adjoint(in_its_scalar, adjoint, x, options));
      EXPECT_EQ(check_adjoint(in_its_scalar, inverted, x, options).verdict, Verdict::failed);
    }
  }
}

TEST(CheckGradientRope, TransposeIsTheGradientAndInverseIsNot) {
  expect_transpose_is_the_gradient<double, Eigen::ColMajor>();
  expect_transpose_is_the_gradient<double, Eigen::RowMajor>();
  expect_transpose_is_the_gradient<float, Eigen::ColMajor>();
  expect_transpose_is_the_gradient<float, Eigen::RowMajor>();
}

TEST(CheckGradientRope, TransposeIsTheGradientAlongSlowerAxes) {
  for (const int place : {1, 2}) {
    SCOPED_TRACE(place);
    expect_transpose_is_the_gradient<double, Eigen::ColMajor>(place);
    expect_transpose_is_the_gradient<double, Eigen::RowMajor>(place);
    expect_transpose_is_the_gradient<float, Eigen::ColMajor>(place);
  }
}

// The table's gradient is a sum over heads; here of cos and sin as arguments of f.
TEST(CheckGradientRope, TableGradient) {
  using Matrix = Eigen::Tensor<double, 2>;
  using X = Eigen::Tensor<double, 3>;
  const X x = normal_tensor<double, 3>({kHeadSize, kHeads, kTokens}, 1);
  const Matrix cos = normal_tensor<double, 2>({kHeadSize / 2, kTokens}, 2);
  const Matrix sin = normal_tensor<double, 2>({kHeadSize / 2, kTokens}, 3);
  const Shape outer{1, kTokens};
  const auto view = [&](const Matrix& c, const Matrix& s) {
    return TableView<double>{c.data(), s.data(), kHeadSize / 2, outer};
  };
  const auto rotated = [&](const X& t, const Matrix& c, const Matrix& s) {
    return X(rotate(t, view(c, s), split_half));
  };
  const auto strided = [&](const X& t) {
    return StridedView<const double>{
        t.data(), Shape{kHeadSize, kHeads, kTokens}, {kHeadSize, kHeadSize * kHeads}};
  };
  const auto vjp = [&](const X& t, const Matrix& c, const Matrix& s, const X& g) {
    Matrix dcos(c.dimensions()), dsin(s.dimensions());
    table_gradient(TableGradient<double>{dcos.data(), dsin.data(), kHeadSize / 2, outer},
                   strided(t), strided(g), split_half);
    return std::make_tuple(X(rotate_backward(g, view(c, s), split_half)), dcos, dsin);
  };
  GradientCheckOptions options;
  options.names = {"x", "cos", "sin"};
  const GradientReport report = check_gradient(rotated, vjp, std::tie(x, cos, sin), options);
  EXPECT_EQ(report.verdict, Verdict::passed) << report;

  const auto sign_of_sin = [&](const X& t, const Matrix& c, const Matrix& s, const X& g) {
    auto [dx, dcos, dsin] = vjp(t, c, s, g);
    return std::make_tuple(X(dx), Matrix(dcos), Matrix(-dsin));
  };
  const GradientReport wrong = check_gradient(rotated, sign_of_sin, std::tie(x, cos, sin), options);
  EXPECT_EQ(wrong.verdict, Verdict::failed);
  EXPECT_EQ(wrong.worst->argument, "sin") << wrong;

  const auto one_head_only = [&](const X& t, const Matrix& c, const Matrix& s, const X& g) {
    auto [dx, dcos, dsin] = vjp(t, c, s, g);
    X first_head = g;
    first_head.chip(1, 1).setZero();
    auto [unused, dcos_of_one, dsin_of_one] = vjp(t, c, s, first_head);
    return std::make_tuple(X(dx), Matrix(dcos_of_one), Matrix(dsin));
  };
  const GradientReport unsummed =
      check_gradient(rotated, one_head_only, std::tie(x, cos, sin), options);
  EXPECT_EQ(unsummed.verdict, Verdict::failed);
  EXPECT_EQ(unsummed.worst->argument, "cos") << unsummed;
  EXPECT_EQ((*unsummed.worst->output_place)[1], 1) << "the head that was left out";
}

}  // namespace
}  // namespace eigen_rope::test
