// SPDX-License-Identifier: Apache-2.0
//
// The row formed on the fly has Cache's bits at every kind of position, and its refusals leave it
// as it was.
#include "eigen_rope/tables/token_row.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "eigen_rope/rotation/rotate_to.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "support/bits.hpp"
#include "support/error_of.hpp"

namespace eigen_rope::token_row_tests {
namespace {

using test::bits_of;
using test::error_of;

Frequencies yarn() {
  Powers<> powers{64};
  powers.linear_scale = 0.25;
  return Frequencies(powers, GgmlYarn<>{1.0, 4096});
}

template <class Scalar>
void expect_row(const TokenRow<Scalar>& row, const Frequencies& frequencies,
                const Positions& positions) {
  const Cache<Scalar> expected(frequencies, positions, Layout::sd());
  ASSERT_EQ(row.pairs(), expected.pairs());
  EXPECT_EQ(bits_of(row.cos(), row.pairs()), bits_of(expected.cos(), row.pairs()));
  EXPECT_EQ(bits_of(row.sin(), row.pairs()), bits_of(expected.sin(), row.pairs()));
}

template <class Scalar>
class TokenRowOf : public testing::Test {};
using Scalars = testing::Types<float, double, long double, Eigen::half, Eigen::bfloat16>;
TYPED_TEST_SUITE(TokenRowOf, Scalars);

TYPED_TEST(TokenRowOf, HasTheBitsOfCosSinCacheAtEveryInteger) {
  const Frequencies frequencies = yarn();
  TokenRow<TypeParam> row(frequencies);
  expect_row(row, frequencies, Positions::range(0, 1));
  constexpr std::int64_t two_31 = std::int64_t{1} << 31;
  constexpr std::int64_t two_53 = std::int64_t{1} << 53;
  for (const std::int64_t position :
       {std::int64_t{1}, std::int64_t{-1}, std::int64_t{4095}, two_31 - 1, two_31, two_31 + 1,
        -two_31, two_53 + 1, std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min(), std::int64_t{0}}) {
    SCOPED_TRACE(position);
    expect_row(row.at(position), frequencies, Positions::ids(std::vector<std::int64_t>{position}));
  }
  for (int position = 0; position < 300; ++position)
    expect_row(row.at(position), frequencies, Positions::range(position, 1));
}

TYPED_TEST(TokenRowOf, HasTheBitsOfCosSinCacheAtFractions) {
  const Frequencies frequencies = yarn();
  TokenRow<TypeParam> row(frequencies);
  for (const double position : {0.5, -3.25, 1e6 + 1 / 3.0, 2147483648.5, std::ldexp(1, 63),
                                -std::ldexp(1, 63), 1e-300, 0.0, -0.0}) {
    SCOPED_TRACE(position);
    expect_row(row.at(position), frequencies, Positions::ids(std::vector<double>{position}));
  }
  expect_row(row.at(0.1F), frequencies, Positions::ids(std::vector<float>{0.1F}));
}

TYPED_TEST(TokenRowOf, TakesOnePositionForEachAxis) {
  const Frequencies frequencies = yarn();
  for (const Sections& sections : {Sections(SectionPattern::contiguous, {16, 8, 8}),
                                   Sections(SectionPattern::interleaved_hf, {11, 11, 10})}) {
    TokenRow<TypeParam> row(frequencies, sections);
    const std::vector<std::int64_t> ids{1000, 7, -3};
    expect_row(row.at(ids), frequencies, Positions::multi_axis(ids, sections));
    const std::vector<double> fractions{0.25, 7.5, 3};
    expect_row(row.at(fractions), frequencies, Positions::multi_axis(fractions, sections));
    expect_row(row.at(0), frequencies, Positions::range(0, 1));
    expect_row(row.at(ids), frequencies, Positions::multi_axis(ids, sections));
    // The position it stood at before the axes had their own.
    expect_row(row.at(0), frequencies, Positions::range(0, 1));
  }
}

TEST(TokenRow, StaysWhereItIsInMemory) {
  TokenRow<float> row(yarn());
  const TableView<float> view = row.view();
  EXPECT_EQ(row.at(12).view().cos, view.cos);
  EXPECT_EQ(row.at(12.5).view().sin, view.sin);
  EXPECT_EQ(view.outer, Shape());
}

TEST(TokenRow, CopiesAreIndependent) {
  const Frequencies frequencies = yarn();
  TokenRow<float> row(frequencies);
  row.at(3);
  TokenRow<float> copy = row;
  row.at(4);
  expect_row(copy, frequencies, Positions::range(3, 1));
  copy.at(5);
  expect_row(row, frequencies, Positions::range(4, 1));
  expect_row(copy, frequencies, Positions::range(5, 1));
}

TEST(TokenRow, RefusalsLeaveTheRow) {
  const Frequencies frequencies = yarn();
  TokenRow<float> row(frequencies, Sections(SectionPattern::contiguous, {16, 8, 8}));
  row.at(9);
  EXPECT_EQ(error_of([&] { row.at(std::numeric_limits<double>::infinity()); }),
            "[rope] position must be finite, got inf");
  EXPECT_EQ(error_of([&] { row.at(std::numeric_limits<float>::quiet_NaN()); }),
            "[rope] position must be finite, got nan");
  EXPECT_EQ(error_of([&] { row.at(1e19); }),
            "[rope] positions must be at most 2^63 in size for a table, got 1e+19");
  EXPECT_EQ(error_of([&] {
              row.at(std::vector<double>{1, 2, 1e19});
            }),
            "[rope] positions must be at most 2^63 in size for a table, got 1e+19");
  EXPECT_EQ(error_of([&] {
              row.at(std::vector<int>{1, 2});
            }),
            "[rope] positions must be one per axis (3), got 2");
  expect_row(row, frequencies, Positions::range(9, 1));
  TokenRow<float> flat(frequencies, Sections(SectionPattern::contiguous, {16, 16, 0}));
  EXPECT_EQ(error_of([&] {
              flat.at(std::vector<double>{1, 2, std::numeric_limits<double>::infinity()});
            }),
            "[rope] position must be finite, got inf");  // on an axis that turns no pair
  EXPECT_NE(
      error_of([&] { TokenRow<float>(Frequencies::explicit_rates(std::vector<double>{1e13})); }),
      "no eigen_rope::Error");
}

TEST(TokenRow, RotatesAsCosSinCacheDoes) {
  const Frequencies frequencies = yarn();
  TokenRow<float> row(frequencies);
  const Cache<float> table(frequencies, Positions::range(777, 1));
  Eigen::Tensor<float, 1> head(64), head_expected(64);
  Eigen::Tensor<float, 4> x(64, 3, 1, 2), y(64, 3, 1, 2), expected(64, 3, 1, 2);
  head.setRandom();
  x.setRandom();
  const auto expect_same = [&] {
    EXPECT_EQ(bits_of(y.data(), y.size()), bits_of(expected.data(), expected.size()));
  };
  y = rotate(x, row.at(777), split_half);
  expected = rotate(x, table, split_half);
  expect_same();
  y = rotate_backward(x, row, interleaved) + x;
  expected = rotate_backward(x, table, interleaved) + x;
  expect_same();
  y = rotate_inverse(x, row, quarter);
  expected = rotate_inverse(x, table, quarter);
  expect_same();
  rotate_inplace(y, row, split_half);
  rotate_inplace(expected, table, split_half);
  expect_same();
  const Cache<float> one(frequencies, Positions::range(777, 1), Layout::sd());
  head_expected = rotate(head, one, split_half);
  head = rotate(head, row, split_half).eval();
  EXPECT_EQ(bits_of(head.data(), 64), bits_of(head_expected.data(), 64));
}

}  // namespace
}  // namespace eigen_rope::token_row_tests
