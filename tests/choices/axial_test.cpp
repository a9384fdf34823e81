// SPDX-License-Identifier: Apache-2.0
//
// Axial RoPE two ways: a window and positions for each axis, or one rotation whose sections restart
// their exponents. They are the same thing, bit for bit, where the pairs of an axis fill its
// window. And the one way against Hugging Face's axial formula, whose pairs do not.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "eigen_rope/rotation/rotate_strided.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "support/dense_view.hpp"

namespace eigen_rope::axial_tests {
namespace {

using test::dense;

constexpr Index features = 48, heads = 2, tokens = 7;
const Shape shape{features, heads, tokens};

template <class Scalar>
std::vector<Scalar> sample() {
  std::vector<Scalar> x;
  for (int i = 0; i < features * heads * tokens; ++i)
    x.push_back(static_cast<Scalar>(std::sin(1.7F * static_cast<float>(i))));
  return x;
}

/// Where a token stands on an axis: negative, repeated and far positions among them.
std::vector<int> positions_on(Index axis) {
  std::vector<int> ids;
  for (int token = 0; token < tokens; ++token)
    ids.push_back((token - 2) * (axis == 0 ? 3 : axis == 1 ? -1 : 1000) + static_cast<int>(axis));
  return ids;
}

/// Each axis rotates the next `features / axes` elements by its own positions.
template <class Scalar>
std::vector<Scalar> by_windows(Index axes, Pairing pairing) {
  const Index width = features / axes;
  const Frequencies frequencies = Frequencies::powers({width, 100.0});
  std::vector<Scalar> y = sample<Scalar>();
  for (Index axis = 0; axis < axes; ++axis) {
    const Cache<Scalar> cache(frequencies, Positions::ids(positions_on(axis)));
    rotate_inplace(dense(y, shape), cache,
                   pairing.with_offset(axis * width).with_rotary_dims(width));
  }
  return y;
}

/// One table for all axes, each with the powers of its own width.
template <class Scalar>
Cache<Scalar> axial_table(Index axes) {
  const Index width = features / axes;
  const Sections sections(SectionPattern::vision,
                          std::vector<Index>(static_cast<std::size_t>(axes), width / 2));
  Powers<> powers{features, 100.0};
  powers.exponent_dims = width;
  powers.exponents = sections.exponents(features / 2);
  std::vector<int> ids;
  for (Index axis = 0; axis < axes; ++axis) {
    const std::vector<int> own = positions_on(axis);
    ids.insert(ids.end(), own.begin(), own.end());
  }
  return Cache<Scalar>(Frequencies::powers(powers), Positions::multi_axis(ids, sections));
}

template <class Scalar>
std::vector<Scalar> by_sections(Index axes, Pairing pairing) {
  std::vector<Scalar> y = sample<Scalar>();
  rotate_inplace(dense(y, shape), axial_table<Scalar>(axes), pairing);
  return y;
}

template <class Scalar>
class AxialWindows : public testing::Test {};

using Scalars = testing::Types<float, double, Eigen::half, Eigen::bfloat16>;
TYPED_TEST_SUITE(AxialWindows, Scalars, );

TYPED_TEST(AxialWindows, AreOneRotationWithInterleavedPairs) {
  for (const Index axes : {1, 2, 3, 4})
    EXPECT_EQ(by_windows<TypeParam>(axes, interleaved), by_sections<TypeParam>(axes, interleaved))
        << axes;
}

TYPED_TEST(AxialWindows, OfHalfPairsAreTheQuarterPairsOfTheRow) {
  EXPECT_EQ(by_windows<TypeParam>(2, split_half), by_sections<TypeParam>(2, quarter));
  // Half pairs of the whole row reach across the windows.
  EXPECT_NE(by_windows<TypeParam>(2, split_half), by_sections<TypeParam>(2, split_half));
}

TEST(AxialTable, IsHuggingFacesAxialType) {
  // sd = D/2, inv_freq = base^(-arange(0, sd, 2) / sd) for both axes; the first axis's angles, then
  // the second's, twice over; rotate_half.
  const std::vector<double> x = sample<double>();
  const std::vector<double> y = by_sections<double>(2, split_half);
  constexpr Index P = features / 2;
  for (Index row = 0; row < heads * tokens; ++row) {
    const auto token = static_cast<std::size_t>(row / heads);
    for (Index k = 0; k < P; ++k) {
      const Index axis = k / (P / 2);
      const long double rate = std::pow(100.0L, -2.0L * static_cast<long double>(k % (P / 2)) / P);
      const long double angle = positions_on(axis)[token] * rate;
      const auto a = static_cast<std::size_t>(row * features + k);
      const auto b = a + static_cast<std::size_t>(P);
      // One rotation of 1.5 ulp of a pair below sqrt(2), and the table's half.
      constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
      EXPECT_NEAR(y[a], static_cast<double>(std::cos(angle) * x[a] - std::sin(angle) * x[b]),
                  rounding);
      EXPECT_NEAR(y[b], static_cast<double>(std::cos(angle) * x[b] + std::sin(angle) * x[a]),
                  rounding);
    }
  }
}

}  // namespace
}  // namespace eigen_rope::axial_tests
