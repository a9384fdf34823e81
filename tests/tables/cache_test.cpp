// SPDX-License-Identifier: Apache-2.0
//
// What a table holds: one row for each token, pairs by their axis, the magnitude in both halves,
// and derivatives where the scalar has them. How exact its entries are is tested in
// cache_accuracy_test.cpp.
#include "eigen_rope/tables/cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Core>
// Needs Eigen/Core before it.
#include <unsupported/Eigen/AutoDiff>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/error_of.hpp"
#include "support/real_number.hpp"

namespace eigen_rope::cache_tests {
namespace {

using test::exactly;
using test::Real;
using testing::ElementsAre;

/// A few roundings of a value of size 1.
constexpr double double_rounding = 8 * std::numeric_limits<double>::epsilon();

template <class Scalar>
std::vector<Scalar> entries(const Scalar* values, const Cache<Scalar>& cache) {
  return std::vector<Scalar>(values, values + cache.pairs() * cache.outer().size());
}

template <class Scalar>
void expect_same_table(const Cache<Scalar>& a, const Cache<Scalar>& b) {
  ASSERT_EQ(a.pairs(), b.pairs());
  ASSERT_EQ(a.outer(), b.outer());
  EXPECT_EQ(entries(a.cos(), a), entries(b.cos(), b));
  EXPECT_EQ(entries(a.sin(), a), entries(b.sin(), b));
}

template <class Scalar>
class CacheOf : public testing::Test {};
using Scalars = testing::Types<float, double, long double, Eigen::half, Eigen::bfloat16>;
TYPED_TEST_SUITE(CacheOf, Scalars);

TYPED_TEST(CacheOf, PositionZeroHoldsTheMagnitudeAndZero) {
  const Cache<TypeParam> cache(Frequencies::powers({64, 10000.0, 1, -1.5}),
                               Positions::ids(std::vector<int>{0, 0}), Layout::sd());
  EXPECT_THAT(entries(cache.cos(), cache), testing::Each(TypeParam(-1.5F)));
  EXPECT_THAT(entries(cache.sin(), cache), testing::Each(TypeParam(0.0F)));
}

TYPED_TEST(CacheOf, MagnitudeZeroMakesEveryEntryZero) {
  const Cache<TypeParam> cache(Frequencies::powers({64, 10000.0, 1, 0}), Positions::range(-3, 7),
                               Layout::sd());
  EXPECT_THAT(entries(cache.cos(), cache), testing::Each(TypeParam(0.0F)));
  EXPECT_THAT(entries(cache.sin(), cache), testing::Each(TypeParam(0.0F)));
}

TYPED_TEST(CacheOf, NegativePositionsAndNegativeRatesMirrorSin) {
  const std::vector<double> rates{1.0, 0.3, 2.5};
  const std::vector<double> opposite{-1.0, -0.3, -2.5};
  const Positions forwards = Positions::ids(std::vector<int>{1, 17, 1000003});
  const Positions backwards = Positions::ids(std::vector<int>{-1, -17, -1000003});
  const Cache<TypeParam> cache(Frequencies::explicit_rates(rates, 1.2), forwards, Layout::sd());
  const Cache<TypeParam> by_position(Frequencies::explicit_rates(rates, 1.2), backwards,
                                     Layout::sd());
  const Cache<TypeParam> by_rate(Frequencies::explicit_rates(opposite, 1.2), forwards,
                                 Layout::sd());
  expect_same_table(by_position, by_rate);
  EXPECT_EQ(entries(by_position.cos(), cache), entries(cache.cos(), cache));
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(by_position.sin()[i], -cache.sin()[i]);
}

TYPED_TEST(CacheOf, EveryKindOfPositionsGivesTheSameRows) {
  const Frequencies frequencies = Frequencies::powers({16});
  const Cache<TypeParam> range(frequencies, Positions::range(5, 3), Layout::sd());
  expect_same_table(
      range, Cache<TypeParam>(frequencies, Positions::ids(std::vector<std::int64_t>{5, 6, 7}),
                              Layout::sd()));
  expect_same_table(
      range,
      Cache<TypeParam>(frequencies, Positions::ids(std::vector<double>{5, 6, 7}), Layout::sd()));
  const Sections sections(SectionPattern::contiguous, {4, 4});
  const Positions alike = Positions::multi_axis(std::vector<int>{5, 6, 7, 5, 6, 7}, sections);
  expect_same_table(range, Cache<TypeParam>(frequencies, alike, Layout::sd()));
}

TEST(Cache, EntriesAreThoseOfTheFormula) {
  // One pair, one radian per token, m = 2.
  const Cache<double> cache(Frequencies::explicit_rates(std::vector<double>{1}, 2),
                            Positions::range(0, 4), Layout::sd());
  for (std::size_t s = 0; s < 4; ++s) {
    EXPECT_NEAR(cache.cos()[s], 2 * std::cos(static_cast<double>(s)), double_rounding);
    EXPECT_NEAR(cache.sin()[s], 2 * std::sin(static_cast<double>(s)), double_rounding);
  }
}

TEST(Cache, PairsAreTheFastestAxis) {
  const Cache<float> cache(Frequencies::explicit_rates(std::vector<double>{0, 1}),
                           Positions::ids(std::vector<int>{0, 1}), Layout::sd());
  EXPECT_THAT(entries(cache.cos(), cache), ElementsAre(1, 1, 1, std::cos(1.0F)));
  EXPECT_THAT(entries(cache.sin(), cache), ElementsAre(0, 0, 0, std::sin(1.0F)));
}

TEST(Cache, ViewPointsAtTheTable) {
  const Cache<float> cache(Frequencies::powers({8}), Positions::range(0, 3), Layout::tnd());
  const TableView<float> view = cache.view();
  EXPECT_EQ(view.cos, cache.cos());
  EXPECT_EQ(view.sin, cache.sin());
  EXPECT_EQ(view.width, 4);
  EXPECT_EQ(view.outer, (Shape{1, 3}));
}

TEST(Cache, CopiesOwnTheirTable) {
  Cache<float> cache(Frequencies::powers({8}), Positions::range(0, 3));
  const Cache<float> copy = cache;
  EXPECT_NE(copy.cos(), cache.cos());
  expect_same_table(copy, cache);
  cache = Cache<float>(Frequencies::powers({4}), Positions::range(7, 1));
  EXPECT_EQ(copy.pairs(), 4);
  EXPECT_EQ(cache.pairs(), 2);
}

TEST(Cache, EachPairTurnsByThePositionOfItsAxis) {
  const Frequencies frequencies = Frequencies::powers({16});
  const Sections sections(SectionPattern::interleaved_ggml, {2, 3, 1, 4});
  const std::vector<int> ids{3, 4, 30, 40, 300, 400, 3000, 4000};
  const Cache<double> cache(frequencies, Positions::multi_axis(ids, sections), Layout::sd());
  for (Index token = 0; token < 2; ++token) {
    for (Index pair = 0; pair < 8; ++pair) {
      const int id = ids[static_cast<std::size_t>(Index{sections.axis(pair)} * 2 + token)];
      const Cache<double> alone(frequencies, Positions::range(id, 1), Layout::sd());
      EXPECT_EQ(cache.cos()[token * 8 + pair], alone.cos()[pair]);
      EXPECT_EQ(cache.sin()[token * 8 + pair], alone.sin()[pair]);
    }
  }
}

TEST(Cache, ATokenMayLeaveOneAxisAlone) {
  const Frequencies frequencies = Frequencies::powers({8});
  const Cache<double> here(frequencies, Positions::range(5, 1), Layout::sd());
  const Cache<double> there(frequencies, Positions::range(7, 1), Layout::sd());
  for (std::size_t axes = 2; axes <= 4; ++axes) {
    for (std::size_t moved = 0; moved < axes; ++moved) {
      const Sections sections(SectionPattern::contiguous, std::vector<Index>(axes, 1));
      std::vector<int> ids(axes, 5);
      ids[moved] = 7;
      const Cache<double> cache(frequencies, Positions::multi_axis(ids, sections), Layout::sd());
      for (Index pair = 0; pair < 4; ++pair) {
        const bool is_moved = sections.axis(pair) == static_cast<int>(moved);
        EXPECT_EQ(cache.cos()[pair], (is_moved ? there : here).cos()[pair])
            << "axis " << moved << " of " << axes << ", pair " << pair;
      }
    }
  }
}

TEST(Cache, LayoutsPlaceTheRowOfEveryBatchAndToken) {
  const Frequencies frequencies = Frequencies::powers({4});
  const std::vector<int> ids{0, 1, 2, 70, 80, 90};
  const Positions positions = Positions::per_batch(ids, Batches{2});
  const Cache<float> gathered(frequencies, Positions::ids(ids), Layout::sd());
  for (const Layout& layout : {Layout::bsnd(), Layout::bnsd(), Layout::bsd()}) {
    const Cache<float> cache(frequencies, positions, layout);
    EXPECT_EQ(entries(cache.cos(), cache), entries(gathered.cos(), gathered));
    EXPECT_EQ(entries(cache.sin(), cache), entries(gathered.sin(), gathered));
  }
  const Cache<float> token_outside(frequencies, positions, Layout::sbnd());
  for (Index s = 0; s < 3; ++s) {
    for (Index b = 0; b < 2; ++b) {
      for (Index k = 0; k < 2; ++k) {
        EXPECT_EQ(token_outside.cos()[(s * 2 + b) * 2 + k], gathered.cos()[(b * 3 + s) * 2 + k]);
        EXPECT_EQ(token_outside.sin()[(s * 2 + b) * 2 + k], gathered.sin()[(b * 3 + s) * 2 + k]);
      }
    }
  }
}

TEST(Cache, MayBeEmpty) {
  const Cache<float> no_tokens(Frequencies::powers({8}), Positions::range(0, 0));
  EXPECT_EQ(no_tokens.outer(), (Shape{1, 0, 1}));
  EXPECT_EQ(no_tokens.pairs(), 4);
  const Cache<float> no_batches(Frequencies::powers({8}),
                                Positions::per_batch(std::vector<int>{}, Batches{0}));
  EXPECT_EQ(no_batches.outer(), (Shape{1, 0, 0}));
}

TEST(Cache, FromRatesAgreesWithExplicitRates) {
  const std::vector<double> rates{1, 0.5, -0.125};
  const Positions positions = Positions::per_batch(std::vector<int>{0, 1, -2, 7}, Batches{2});
  const Cache<double> exact(Frequencies::explicit_rates(rates, 1.5), positions, Layout::sbnd());
  const Cache<double> plain = Cache<double>::from_rates(rates, 1.5, positions, Layout::sbnd());
  ASSERT_EQ(plain.outer(), exact.outer());
  ASSERT_EQ(plain.pairs(), exact.pairs());
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_NEAR(plain.cos()[i], exact.cos()[i], double_rounding);
    EXPECT_NEAR(plain.sin()[i], exact.sin()[i], double_rounding);
  }
}

TEST(Cache, DerivativesFlowThroughFromRates) {
  // The derivatives of m cos(p r) and m sin(p r): by r, -m p sin(p r) and m p cos(p r); by m, cos(p
  // r) and sin(p r).
  using Active = Eigen::AutoDiffScalar<Eigen::Vector3d>;
  const Active slow(0.25, 3, 0);
  const Active fast(1.5, 3, 1);
  const Active magnitude(1.25, 3, 2);
  const std::vector<int> ids{0, 1, -4, 9};
  const auto cache =
      Cache<Active>::from_rates({slow, fast}, magnitude, Positions::ids(ids), Layout::sd());
  constexpr double derivative_rounding = 16 * double_rounding;  // positions up to 9
  for (std::size_t s = 0; s < ids.size(); ++s) {
    for (Index k = 0; k < 2; ++k) {
      const double p = ids[s];
      const double rate = k == 0 ? 0.25 : 1.5;
      const Active& cos = cache.cos()[static_cast<Index>(s) * 2 + k];
      const Active& sin = cache.sin()[static_cast<Index>(s) * 2 + k];
      EXPECT_NEAR(cos.value(), 1.25 * std::cos(p * rate), double_rounding);
      EXPECT_NEAR(sin.value(), 1.25 * std::sin(p * rate), double_rounding);
      EXPECT_NEAR(cos.derivatives()[k], -1.25 * p * std::sin(p * rate), derivative_rounding);
      EXPECT_NEAR(sin.derivatives()[k], 1.25 * p * std::cos(p * rate), derivative_rounding);
      EXPECT_EQ(cos.derivatives()[1 - k], 0);
      EXPECT_EQ(sin.derivatives()[1 - k], 0);
      EXPECT_NEAR(cos.derivatives()[2], std::cos(p * rate), double_rounding);
      EXPECT_NEAR(sin.derivatives()[2], std::sin(p * rate), double_rounding);
    }
  }
}

TEST(Cache, FromAnglesIsFromRatesWhereAnglesArePositionsTimesRates) {
  const std::vector<double> rates{1, 0.5, -0.125};
  const std::vector<int> ids{0, 1, -2, 7};
  const auto expected =
      Cache<double>::from_rates(rates, 1.5, Positions::per_batch(ids, Batches{2}), Layout::bsnd());
  std::vector<double> angles;
  for (const int id : ids)
    for (const double rate : rates) angles.push_back(id * rate);
  expect_same_table(Cache<double>::from_angles(angles, 1.5, 3, Shape{1, 2, 2}), expected);
}

TEST(Cache, FromAnglesTakesAnyOuterShape) {
  const auto cache =
      Cache<float>::from_angles({0.0F, 1.0F, 2.0F, 3.0F, 4.0F, 5.0F}, -2, 2, Shape{3});
  EXPECT_EQ(cache.pairs(), 2);
  EXPECT_EQ(cache.outer(), (Shape{3}));
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(cache.cos()[i], -2 * std::cos(static_cast<float>(i)));
    EXPECT_EQ(cache.sin()[i], -2 * std::sin(static_cast<float>(i)));
  }
  EXPECT_EQ(Cache<float>::from_angles({}, 1, 2, Shape{1, 0, 1}).outer(), (Shape{1, 0, 1}));
  EXPECT_EQ(Cache<float>::from_angles({1.0F}, 1, 1, Shape{}).pairs(), 1);
}

TEST(Cache, FromAnglesRefusesOtherCounts) {
  using test::error_of;
  EXPECT_EQ(error_of([] {
              (void)Cache<double>::from_angles({1, 2, 3}, 1, 2, Shape{2});
            }),
            "[rope] angles must be one per pair and row of the table (4), got 3");
  EXPECT_EQ(error_of([] { (void)Cache<double>::from_angles({}, 1, 0, Shape{2}); }),
            "[rope] the number of pairs must be positive, got 0");
  EXPECT_EQ(error_of([] {
              (void)Cache<double>::from_angles({}, 1, Index{1} << 32, Shape{Index{1} << 32});
            }),
            "[rope] the number of entries in the table must fit a 64-bit count, got 4294967296 x "
            "4294967296");
}

TEST(Cache, DerivativesByPositionsFlowThroughFromAngles) {
  // One position that moves, two rates: the derivatives of m cos(p r) and m sin(p r) by p.
  using Active = Eigen::AutoDiffScalar<Eigen::VectorXd>;
  const Active position(3.5, 1, 0);
  const double rates[] = {0.25, 1.5};
  std::vector<Active> angles;
  for (const double rate : rates) angles.push_back(position * rate);
  const auto cache = Cache<Active>::from_angles(angles, Active(1.25), 2, Shape{1});
  for (std::size_t k = 0; k < 2; ++k) {
    ASSERT_EQ(cache.cos()[k].derivatives().size(), 1);
    ASSERT_EQ(cache.sin()[k].derivatives().size(), 1);
    EXPECT_NEAR(cache.cos()[k].derivatives()[0], -1.25 * rates[k] * std::sin(3.5 * rates[k]),
                double_rounding);
    EXPECT_NEAR(cache.sin()[k].derivatives()[0], 1.25 * rates[k] * std::cos(3.5 * rates[k]),
                double_rounding);
  }
}

TEST(Cache, FromAnglesOfMagnitudeZeroDoesNotPromiseAnInverse) {
  EXPECT_EQ(Cache<double>::from_angles({1}, 0, 1, Shape{1}).view().determinants,
            detail::Determinants::unknown);
}

/// The magnitude alone, which position 0 puts into the table: a way to any double-double.
template <class Scalar>
Scalar rounded(DoubleDouble value) {
  const Frequencies frequencies = Frequencies::explicit_rates({DoubleDouble(1)}, value);
  return Cache<Scalar>(frequencies, Positions::range(0, 1), Layout::sd()).cos()[0];
}

/// A value just beside the midpoint of two neighbours must round to the nearer one, though as a
/// double, or as a float, it is the midpoint.
template <class Scalar>
void expect_single_rounding(double below, double above) {
  const double middle = below + (above - below) / 2;
  const double tiny = std::ldexp(middle, -60);
  EXPECT_EQ(exactly(rounded<Scalar>(DoubleDouble(middle, tiny))), Real(above));
  EXPECT_EQ(exactly(rounded<Scalar>(DoubleDouble(middle, -tiny))), Real(below));
  EXPECT_EQ(exactly(rounded<Scalar>(DoubleDouble(-middle, -tiny))), -Real(above));
  EXPECT_EQ(exactly(rounded<Scalar>(DoubleDouble(-middle, tiny))), -Real(below));
}

TEST(Cache, EntriesAreRoundedOnce) {
  const auto two_to = [](int exponent) { return std::ldexp(1.0, exponent); };
  // An even and an odd neighbour each, so that ties to even cannot help; then subnormal numbers.
  expect_single_rounding<float>(1, 1 + two_to(-23));
  expect_single_rounding<float>(1 + two_to(-23), 1 + two_to(-22));
  expect_single_rounding<float>(two_to(-149), two_to(-148));
  expect_single_rounding<Eigen::half>(1, 1 + two_to(-10));
  expect_single_rounding<Eigen::half>(1 + two_to(-10), 1 + two_to(-9));
  expect_single_rounding<Eigen::half>(two_to(-24), two_to(-23));
  expect_single_rounding<Eigen::bfloat16>(1, 1 + two_to(-7));
  expect_single_rounding<Eigen::bfloat16>(1 + two_to(-7), 1 + two_to(-6));
  // long double keeps what a double would lose.
  const Real finer = exactly(rounded<long double>(DoubleDouble(1, two_to(-60))));
  EXPECT_EQ(finer,
            std::numeric_limits<long double>::digits > 60 ? Real(1) + test::two_to(-60) : Real(1));
}

}  // namespace
}  // namespace eigen_rope::cache_tests
