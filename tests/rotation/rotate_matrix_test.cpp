// SPDX-License-Identifier: Apache-2.0
//
// The rotation equals the definition: x times the block-diagonal matrix R_p, built here from m
// cos(p rate) and m sin(p rate) in long double, with nothing of the library but the class that
// turns rates and positions into a table.
#include <gtest/gtest.h>

#include "eigen_rope/forms/reference.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test::rotate_matrix_tests {
namespace {

/// Each coefficient is rounded (0.5 ulp of m), and so are both products (0.5 each) and the sum
/// (0.5), of members whose absolute values add up to at most sqrt(2) of the magnitude: 0.71 + 0.71
/// + 0.5.
constexpr double kMatrixUlps = 2;

constexpr double kAttentionFactor = 1.3;
constexpr double kBase = 10000;

using Dense = std::vector<std::vector<long double>>;

/// R_p of one row: the identity but for its pairs.
Dense rotation_matrix(const Row& row, PairKind kind, long double position) {
  Dense matrix(static_cast<std::size_t>(row.length),
               std::vector<long double>(static_cast<std::size_t>(row.length), 0.0L));
  const auto at = [&](Index i, Index j) -> long double& {
    return matrix[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  };
  for (Index d = 0; d < row.length; ++d) at(d, d) = 1;
  for (Index d = row.offset; d < row.offset + row.dims; ++d) at(d, d) = 0;
  for (Index k = 0; k < row.dims / 2; ++k) {
    const long double rate =
        std::pow(static_cast<long double>(kBase),
                 -2.0L * static_cast<long double>(k) / static_cast<long double>(row.dims));
    const long double cos = static_cast<long double>(kAttentionFactor) * std::cos(position * rate);
    const long double sin = static_cast<long double>(kAttentionFactor) * std::sin(position * rate);
    const Members m = members_of(kind, k, row.dims);
    at(row.offset + m.A, row.offset + m.a) = cos;
    at(row.offset + m.A, row.offset + m.b) = -sin;
    at(row.offset + m.B, row.offset + m.b) = cos;
    at(row.offset + m.B, row.offset + m.a) = sin;
  }
  return matrix;
}

/// M x, or its transpose times x.
std::vector<long double> product(const Dense& matrix, bool transposed,
                                 const std::vector<long double>& x) {
  std::vector<long double> y(x.size(), 0.0L);
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j)
      y[i] += (transposed ? matrix[j][i] : matrix[i][j]) * x[j];
  }
  return y;
}

template <class Scalar>
std::vector<long double> widened(const Scalar* x, Index count) {
  return std::vector<long double>(x, x + count);
}

const std::vector<std::int64_t> kPositions{0, 1, 5, 1000, -3, 4095};

/// x [D, S] by the node and by the reference against R_p x, for forward and transpose; for the
/// inverse, R_p times it against x.
template <class XScalar, class TableScalar>
void compare_with_matrix() {
  std::uint64_t seed = 1;
  for (const Case& c : cases_of(every_row)) {
    if (c.full_width) continue;
    SCOPED_TRACE(c.text());
    const auto tokens = static_cast<Index>(kPositions.size());
    const Shape shape{c.row.length, tokens};
    const auto x = random_tensor<XScalar, 2>(shape, ++seed);
    const auto frequencies = Frequencies::powers({c.row.dims, kBase, 1.0, kAttentionFactor});
    const Cache<TableScalar> cache(frequencies, Positions::ids(kPositions), Layout::sd());
    const Eigen::Tensor<XScalar, 2> by_node = rotation(x, cache, c.pairing, c.direction);
    Eigen::Tensor<XScalar, 2> by_reference(x.dimensions());
    reference::rotate(x.data(), by_reference.data(), shape, cache.view(), c.pairing, c.direction);

    std::vector<long double> expected;
    std::vector<long double> magnitudes = pair_magnitudes(x.data(), shape, c);
    std::vector<long double> returned;
    for (Index s = 0; s < tokens; ++s) {
      const Dense matrix =
          rotation_matrix(c.row, c.pairing.kind(),
                          static_cast<long double>(kPositions[static_cast<std::size_t>(s)]));
      const auto row = widened(x.data() + s * c.row.length, c.row.length);
      // The inverse of R_p, whose square is m^2 on the pairs, is its transpose over m^2.
      auto y = product(matrix, c.direction != Direction::forward, row);
      if (c.direction == Direction::inverse) {
        for (Index d = c.row.offset; d < c.row.offset + c.row.dims; ++d) {
          y[static_cast<std::size_t>(d)] /= static_cast<long double>(kAttentionFactor) *
                                            static_cast<long double>(kAttentionFactor);
        }
      }
      expected.insert(expected.end(), y.begin(), y.end());
    }
    const long double gain = c.direction == Direction::inverse
                                 ? 1 / static_cast<long double>(kAttentionFactor)
                                 : kAttentionFactor;
    for (long double& magnitude : magnitudes) magnitude *= gain;
    // The inverse's quotient and determinant add a rounding each, and the determinant's
    // coefficients one and a half.
    const double ulps = c.direction == Direction::inverse ? kMatrixUlps + 2.5 : kMatrixUlps;
    ASSERT_TRUE(within_ulps(expected.data(), by_node.data(), magnitudes, ulps));
    ASSERT_TRUE(within_ulps(expected.data(), by_reference.data(), magnitudes, ulps));
  }
}

TEST(RotateEqualsMatrix, Float) { compare_with_matrix<float, float>(); }
TEST(RotateEqualsMatrix, Double) { compare_with_matrix<double, double>(); }
TEST(RotateEqualsMatrix, HalfWithFloatTable) { compare_with_matrix<Eigen::half, float>(); }
TEST(RotateEqualsMatrix, HalfWithHalfTable) { compare_with_matrix<Eigen::half, Eigen::half>(); }
TEST(RotateEqualsMatrix, Bfloat16WithFloatTable) { compare_with_matrix<Eigen::bfloat16, float>(); }

/// By hand: one token at position 1, one pair that turns by pi/2 a token, and one that stands
/// still.
TEST(RotateEqualsMatrix, AQuarterTurnByHand) {
  const auto frequencies =
      Frequencies::explicit_rates(std::vector<double>{1.5707963267948966, 0.0});
  const Cache<double> cache(frequencies, Positions::range(1, 1), Layout::sd());
  Eigen::Tensor<double, 2> x(4, 1);
  x.setValues({{1}, {2}, {3}, {4}});
  const auto expect = [&](Pairing pairing, std::array<double, 4> values) {
    const Eigen::Tensor<double, 2> y = rotate(x, cache, pairing);
    for (Eigen::Index d = 0; d < 4; ++d)
      EXPECT_NEAR(y(d, 0), values[static_cast<std::size_t>(d)], 1e-15);
  };
  expect(eigen_rope::split_half, {-3, 2, 1, 4});
  expect(eigen_rope::interleaved, {-2, 1, 3, 4});
  expect(eigen_rope::quarter, {-2, 1, 3, 4});
  expect(eigen_rope::interleaved_to_split_half, {-2, 3, 1, 4});
}

}  // namespace
}  // namespace eigen_rope::test::rotate_matrix_tests
