// SPDX-License-Identifier: Apache-2.0
//
// Features on any axis: whichever axis a pairing goes along, the result has the bits of the
// transposed tensor's rotation. Tensors of every rank from 2 to 4 in both orders of storage, every
// axis of them, tables in both orders, and every way a rotation is evaluated.
#define EIGEN_USE_THREADS
#include <gtest/gtest.h>

#include <complex>

#include "eigen_rope/rotation/rotate_to.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "eigen_rope/tables/growing_cache.hpp"
#include "eigen_rope/tables/token_row.hpp"
#include "support/axis_cases.hpp"
#include "support/error_of.hpp"
#include "support/kernel_paths.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test::axis_tests {
namespace {

/// What is compared for one tensor: a rotation along an axis, and the same of the transposed one.
template <class Scalar, int rank, int layout, class Check>
void for_each_axis_and_table(const AxisCase& c, const Check& check) {
  using Tensor = Eigen::Tensor<Scalar, rank, layout>;
  const Tensor x = c.tensor<Scalar, rank, layout>(7);
  for (int axis = 0; axis < rank; ++axis) {
    SCOPED_TRACE("axis " + std::to_string(axis));
    const Index length = x.dimension(axis);
    for (const PairKind kind : every_kind) {
      if (kind == PairKind::quarter && c.dims_of(length) % 4 != 0) continue;
      for_each_table<rank, layout>(c, x, axis, c.pairing(kind, length), check);
      if (testing::Test::HasFailure()) return;
    }
  }
}

constexpr auto rotates_on_every_path = [](const auto& x, const auto& table, Pairing pairing,
                                          Direction direction, const auto& expected) {
  using Tensor = std::decay_t<decltype(x)>;
  on_every_path([&](Path) {
    Tensor y(x.dimensions());
    y = rotation(x, table, pairing, direction);
    ASSERT_TRUE(same_bits(expected, y));
    Tensor in_place = x;
    rotate_inplace(in_place, table, pairing, direction);
    ASSERT_TRUE(same_bits(expected, in_place));
  });
};

template <class Scalar, int rank, int layout>
void directly(const AxisCase& c) {
  for_each_axis_and_table<Scalar, rank, layout>(c, rotates_on_every_path);
}

TEST(Axis, FloatOfRank2) { for_each_case<2>(directly<float, 2, Eigen::ColMajor>); }
TEST(Axis, FloatOfRank3) { for_each_case<3>(directly<float, 3, Eigen::ColMajor>); }
TEST(Axis, FloatOfRank4) { for_each_case<4>(directly<float, 4, Eigen::ColMajor>); }
TEST(Axis, RowMajor) { for_each_case<3>(directly<float, 3, Eigen::RowMajor>); }
TEST(Axis, Double) { for_each_case<3>(directly<double, 3, Eigen::ColMajor>); }
TEST(Axis, Half) { for_each_case<3>(directly<Eigen::half, 3, Eigen::ColMajor>); }
TEST(Axis, Bfloat16) { for_each_case<3>(directly<Eigen::bfloat16, 3, Eigen::ColMajor>); }
TEST(Axis, LongDouble) { for_each_case<3>(directly<long double, 3, Eigen::ColMajor>); }

template <class Scalar, int layout>
void inside_expressions(const AxisCase& c) {
  static Eigen::ThreadPool pool(3);
  for_each_axis_and_table<Scalar, 3, layout>(
      c, [](const auto& x, const auto& table, Pairing pairing, Direction direction,
            const auto& expected) {
        using Tensor = std::decay_t<decltype(x)>;
        const auto node = rotation(x, table, pairing, direction);
        const Tensor twice = expected + expected;
        const Tensor reversed = expected.reverse(Eigen::array<bool, 3>{true, true, true});
        const Eigen::Tensor<Scalar, 2, layout> sums = expected.sum(Eigen::array<int, 1>{1});
        const Tensor doubled = x + x;
        const auto of_expression = rotation(x + x, table, pairing, direction);
        Tensor of_doubled(x.dimensions());
        of_doubled = rotation(doubled, table, pairing, direction);
        const auto on = [&](const auto& device) {
          Tensor y(x.dimensions());
          y.device(device) = node;
          ASSERT_TRUE(same_bits(expected, y));
          y.device(device) = node + node;
          ASSERT_TRUE(same_bits(twice, y));
          y.device(device) = node.reverse(Eigen::array<bool, 3>{true, true, true});
          ASSERT_TRUE(same_bits(reversed, y));
          Eigen::Tensor<Scalar, 2, layout> sum(sums.dimensions());
          sum.device(device) = node.sum(Eigen::array<int, 1>{1});
          ASSERT_TRUE(same_bits(sums, sum));
          y.device(device) = of_expression;
          ASSERT_TRUE(same_bits(of_doubled, y));
          y = x;
          y.device(device) =
              rotation(y, table, pairing, direction) + rotation(y, table, pairing, direction);
          ASSERT_TRUE(same_bits(twice, y));
        };
        for (const std::size_t threshold : {std::size_t{0}, ~std::size_t{0}}) {
          set_streaming_threshold(threshold);
          on(Eigen::DefaultDevice());
          on(Eigen::ThreadPoolDevice(&pool, 3));
        }
        reset_streaming_threshold();
      });
}

TEST(Axis, InsideExpressions) {
  for_each_case<3>(inside_expressions<float, Eigen::ColMajor>);
  for_each_case<3>(inside_expressions<double, Eigen::RowMajor>);
}

// More rows than coefficients are laid out for at once, and no multiple of them.
template <class Scalar>
void long_planes() {
  const AxisCase of_tokens{{2, 8200, 2, 4}, 0b010};
  const auto x = of_tokens.tensor<Scalar, 4, Eigen::ColMajor>(7);
  for_each_table<4, Eigen::ColMajor>(of_tokens, x, 3, split_half, rotates_on_every_path);
}

// Features between tokens and heads: the pairs of a head follow each other, and so do their
// coefficients, which all heads share.
template <class Scalar, class Check>
void planes_of_pairs(Index tokens, Index heads, Pairing pairing, const Check& check) {
  const AxisCase of_tokens{{tokens, 4, heads}, 0b001};
  const auto x = of_tokens.tensor<Scalar, 3, Eigen::ColMajor>(7);
  for_each_table<3, Eigen::ColMajor>(of_tokens, x, 1, pairing, check);
}
template <class Scalar, class Check>
void long_planes_of_pairs(Index tokens, Index heads, const Check& check) {
  planes_of_pairs<Scalar>(tokens, heads, split_half, check);
}

TEST(Axis, LongPlanesOfPairs) {
  long_planes_of_pairs<float>(1500, 3, rotates_on_every_path);
  long_planes_of_pairs<double>(1500, 3, rotates_on_every_path);
  long_planes_of_pairs<Eigen::half>(1500, 3, rotates_on_every_path);
  long_planes_of_pairs<Eigen::bfloat16>(1501, 3, rotates_on_every_path);
}

// One stretch of lanes for each pair of each head, which ends with a vector or does not.
template <class Scalar>
void short_planes_of_pairs() {
  for (const Index tokens : {32, 64, 72, 97, 160})
    planes_of_pairs<Scalar>(tokens, 3, interleaved, rotates_on_every_path);
}

TEST(Axis, ShortPlanesOfPairs) {
  short_planes_of_pairs<float>();
  short_planes_of_pairs<double>();
  short_planes_of_pairs<Eigen::half>();
  short_planes_of_pairs<Eigen::bfloat16>();
}

// Sequences of a batch, inside the tokens, share entries: bfloat16 lies apart by twos.
TEST(Axis, SequencesThatShareEntries) {
  for (const Index batch : {2, 3, 4, 5, 6, 8, 16}) {
    const AxisCase of_tokens{{batch, 37, 3, 4}, 0b010};
    const auto x = of_tokens.tensor<Eigen::bfloat16, 4, Eigen::ColMajor>(7);
    for_each_table<4, Eigen::ColMajor>(of_tokens, x, 3, split_half, rotates_on_every_path);
    for_each_table<4, Eigen::ColMajor>(of_tokens, x, 3, interleaved, rotates_on_every_path);
  }
}

TEST(Axis, PlanesOfMoreCoefficientsThanCachesHold) {
  const auto rotates = [](const auto& x, const auto& table, Pairing pairing, Direction direction,
                          const auto& expected) {
    std::decay_t<decltype(x)> y(x.dimensions());
    y = rotation(x, table, pairing, direction);
    ASSERT_TRUE(same_bits(expected, y));
  };
  long_planes_of_pairs<float>(262200, 2, rotates);
}

TEST(Axis, LongPlanesOfFloat) { long_planes<float>(); }
TEST(Axis, LongPlanesOfDouble) { long_planes<double>(); }
TEST(Axis, LongPlanesOfBfloat16) { long_planes<Eigen::bfloat16>(); }

TEST(Axis, ThreadsShareRowsOfLargeTensors) {
  Eigen::ThreadPool pool(4);
  const Eigen::ThreadPoolDevice device(&pool, 4);
  const Index tokens = 301;
  const Frequencies frequencies = Frequencies::powers({48});
  const Cache<float> table(frequencies, Positions::range(5, tokens), Layout::dns());
  const auto x = random_tensor<float, 3>({tokens, 33, 48}, 3);
  Eigen::Tensor<float, 3> once(x.dimensions()), shared(x.dimensions());
  once = rotate(x, table, split_half.along(2));
  shared.device(device) = rotate(x, table, split_half.along(2));
  EXPECT_TRUE(same_bits(once, shared));
}

// What a cache of a layout with features elsewhere holds is what the usual one holds.
TEST(Axis, CachesInBothOrdersAreTheSameTable) {
  const Frequencies frequencies = Frequencies::powers({20});
  const Index tokens = 150;
  const Positions positions = Positions::range(3, tokens);
  const auto x = random_tensor<float, 3>({tokens, 4, 20}, 9);
  Eigen::Tensor<float, 3> expected(x.dimensions()), y(x.dimensions());
  const Layout usual{AxisRole::token, AxisRole::other};
  expected = rotate(x, Cache<float>(frequencies, positions, usual), interleaved.along(2));
  const Cache<float> apart(frequencies, positions, Layout::dns());
  EXPECT_EQ(apart.view().feature_axis, 2);
  y = rotate(x, apart, interleaved.along(2));
  EXPECT_TRUE(same_bits(expected, y));
}

// A decoder's tables have the entries of a token next to each other, and serve every axis.
TEST(Axis, GrowingCachesAndSingleRowsServeEveryAxis) {
  const Frequencies frequencies = Frequencies::powers({20});
  const GrowingCache<float> growing(frequencies, Layout::dns());
  const auto x = random_tensor<float, 3>({9, 4, 20}, 9);
  Eigen::Tensor<float, 3> expected(x.dimensions()), y(x.dimensions());
  const Cache<float> cache(frequencies, Positions::range(3, 9), Layout::dns());
  expected = rotate(x, cache, interleaved.along(2));
  y = rotate(x, growing.rows(3, 9), interleaved.along(2));
  EXPECT_TRUE(same_bits(expected, y));

  TokenRow<float> row(frequencies);
  const auto token = random_tensor<float, 3>({1, 40, 20}, 9);
  Eigen::Tensor<float, 3> of_cache(token.dimensions()), of_row(token.dimensions());
  of_cache = rotate(token, Cache<float>(frequencies, Positions::range(7, 1), Layout::dns()),
                    split_half.along(2));
  of_row = rotate(token, row.at(7), split_half.along(2));
  EXPECT_TRUE(same_bits(of_cache, of_row));
}

// The complex step goes through every axis as it does through the fastest one.
TEST(Axis, DifferentiableScalars) {
  using Complex = std::complex<double>;
  const Frequencies frequencies = Frequencies::powers({6});
  const Layout usual{AxisRole::token, AxisRole::other};
  const Cache<double> table(frequencies, Positions::range(2, 5), usual);
  Eigen::Tensor<Complex, 3> x(5, 3, 6);
  for (Index i = 0; i < x.size(); ++i) {
    const auto at = static_cast<double>(i);
    x.data()[i] = {std::sin(at + 1), 1e-30 * std::cos(at + 2)};
  }
  const AlongAxis<3, Eigen::ColMajor> along(x.dimensions(), 2);
  for (const PairKind kind : {PairKind::split_half, PairKind::interleaved_to_split_half}) {
    for (const Direction direction : every_direction) {
      const Eigen::Tensor<Complex, 3> front = along.to_front(x);
      const Eigen::Tensor<Complex, 3> rotated = rotation(front, table, Pairing(kind), direction);
      const Eigen::Tensor<Complex, 3> expected = along.from_front(rotated);
      Eigen::Tensor<Complex, 3> y(x.dimensions());
      y = rotation(x, table, Pairing(kind).along(2), direction);
      Eigen::Tensor<Complex, 3> in_place = x;
      rotate_inplace(in_place, table, Pairing(kind).along(2), direction);
      const Eigen::Tensor<Complex, 3> twice =
          rotation(x, table, Pairing(kind).along(2), direction) +
          rotation(x, table, Pairing(kind).along(2), direction);
      for (Index i = 0; i < x.size(); ++i) {
        ASSERT_EQ(y.data()[i], expected.data()[i]);
        ASSERT_EQ(in_place.data()[i], expected.data()[i]);
        ASSERT_EQ(twice.data()[i], 2.0 * expected.data()[i]);
      }
    }
  }
}

TEST(Axis, AnAxisOutsideXIsRefused) {
  const Eigen::Tensor<float, 3> x = random_tensor<float, 3>({4, 3, 8}, 1);
  const Cache<float> table(Frequencies::powers({8}), Positions::range(0, 4), Layout::dns());
  const auto message = [&](int axis) {
    return error_of([&] { (void)rotate(x, table, split_half.along(axis)); });
  };
  const std::string rule =
      "[rope] the axis that a pairing goes along must be one of the 3 axes of x, counted from 0, "
      "got ";
  EXPECT_EQ(message(3), rule + "3");
  EXPECT_EQ(message(-1), rule + "-1");
}

TEST(Axis, AnotherAxisThatFitsIsNamed) {
  const Eigen::Tensor<float, 3> x = random_tensor<float, 3>({10, 2, 8}, 1);
  const Positions positions = Positions::range(0, 10);
  const Frequencies frequencies = Frequencies::powers({8});
  const auto message = [&](const Layout& layout) {
    return error_of(
        [&] { (void)rotate(x, Cache<float>(frequencies, positions, layout), split_half); });
  };
  const std::string width =
      "[rope] table width must be 5 (one entry per pair) or 10 (one per rotated element), got 4";
  EXPECT_EQ(message(Layout::dns()),
            width + " (along axis 2 this x fits the table: write .along(2) behind the pairing)");
  EXPECT_EQ(message(Layout::bsnd()), width +
                                         " (along axis 2 this x fits a cache made for "
                                         "Layout::dns(): write .along(2) behind the pairing)");
  // The last index of a RowMajor tensor is its fastest axis.
  const Eigen::Tensor<float, 3, Eigen::RowMajor> r =
      random_tensor<float, 3, Eigen::RowMajor>({10, 2, 8}, 1);
  EXPECT_EQ(error_of([&] {
              (void)rotate(r, Cache<float>(frequencies, positions, Layout::dns()), split_half);
            }),
            width + " (along axis 0 this x fits the table: write .along(0) behind the pairing)");
}

// A cache for another order of the axes is answered with the layout that has x's.
TEST(Axis, LayoutsAreNamedWithTheFeaturesWhereTheyAre) {
  const Frequencies frequencies = Frequencies::powers({8});
  const Positions positions = Positions::range(0, 5);
  const auto message = [&](const auto& x, const Layout& layout, int axis) {
    return error_of([&] {
      (void)rotate(x, Cache<float>(frequencies, positions, layout), split_half.along(axis));
    });
  };
  EXPECT_EQ(message(random_tensor<float, 4>({2, 5, 3, 8}, 1), Layout::dsnb(), 3),
            "[rope] table must have 1 or 3 on axis 3 (counted outwards from the feature axis) for "
            "x with outer extents [2, 5, 3], got 5 (a cache made for Layout::dnsb() instead of "
            "Layout::dsnb() fits this x)");
  EXPECT_EQ(message(random_tensor<float, 3>({5, 3, 8}, 1), Layout::bsnd(), 2),
            "[rope] table must have 1 or 3 on axis 2 (counted outwards from the feature axis) for "
            "x with outer extents [5, 3], got 5 (a cache made for Layout::dns() instead of "
            "Layout::bsnd() fits this x)");
}

TEST(Axis, ATableInAnotherOrderThanRowsIsRefused) {
  const Eigen::Tensor<float, 3> x = random_tensor<float, 3>({8, 2, 10}, 1);
  const Cache<float> table(Frequencies::powers({8}), Positions::range(0, 10),
                           Layout{AxisRole::other, AxisRole::token, AxisRole::feature});
  EXPECT_EQ(error_of([&] { (void)rotate(x, table, split_half); }),
            "[rope] the table must have the entries of a row next to each other, as x has its "
            "features on the fastest axis (make the cache for Layout::bsnd()), got entries 10 "
            "apart");
}

class DefaultAxisTest : public testing::Test {
 protected:
  ~DefaultAxisTest() override { set_default_axis(DefaultAxis::fastest); }
};

TEST_F(DefaultAxisTest, IsRefusedOnRequestWhereAnotherFits) {
  const std::string none = "no eigen_rope::Error";
  const Eigen::Tensor<float, 2> square = random_tensor<float, 2>({16, 16}, 1);
  const Eigen::Tensor<float, 2> plain = random_tensor<float, 2>({16, 12}, 1);
  const Frequencies frequencies = Frequencies::powers({16});
  const Cache<float> of_square(frequencies, Positions::range(0, 16), Layout::sd());
  const Cache<float> of_plain(frequencies, Positions::range(0, 12), Layout::sd());
  EXPECT_EQ(default_axis(), DefaultAxis::fastest);
  EXPECT_EQ(error_of([&] { (void)rotate(square, of_square, split_half); }), none);
  set_default_axis(DefaultAxis::fastest_if_no_other_fits);
  EXPECT_EQ(default_axis(), DefaultAxis::fastest_if_no_other_fits);
  EXPECT_EQ(error_of([&] { (void)rotate(square, of_square, split_half); }),
            "[rope] the feature axis must be named where x fits the table along axis 0 and along "
            "axis 1, too: write .along(axis) behind the pairing, got no axis");
  EXPECT_EQ(error_of([&] { (void)rotate(square, of_square, split_half.along(0)); }), none);
  EXPECT_EQ(error_of([&] { (void)rotate(square, of_square, split_half.along(1)); }), none);
  EXPECT_EQ(error_of([&] { (void)rotate(plain, of_plain, split_half); }), none);
}

}  // namespace
}  // namespace eigen_rope::test::axis_tests
