// SPDX-License-Identifier: Apache-2.0
//
// Moved keys against the promises of eigen_rope/rotation/rerotate.hpp: every entry of the table
// against 200-bit arithmetic; keys moved once, there and back, by way of a third place, and a
// thousand times, against keys rotated once.
#include "eigen_rope/rotation/rerotate.hpp"

#include <gtest/gtest.h>

#include <boost/math/constants/constants.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "eigen_rope/tables/detail/row_filler.hpp"
#include "support/bits.hpp"
#include "support/error_of.hpp"
#include "support/only_target.hpp"
#include "support/real_formula.hpp"
#include "support/real_number.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test {
namespace {

constexpr Index kDims = 32;
constexpr Index kPairs = kDims / 2;
constexpr std::int64_t kFar = std::int64_t{1} << 31;

/// Frequencies and what they are by the formula.
struct Turning {
  Frequencies frequencies;
  RealFrequencies real;
};

Turning turning(const Powers<>& powers, const std::optional<GgmlYarn<>>& yarn = std::nullopt) {
  return {yarn ? Frequencies(powers, *yarn) : Frequencies::powers(powers),
          real_frequencies(powers, yarn)};
}

Turning trained() { return turning({kDims, 1e4}); }
Turning trained_louder() { return turning({kDims, 1e4, 1, 1.3}); }
Turning ntk() { return turning({kDims, 37000.5, 1, -0.7}); }
/// YaRN for four times the context, with a magnitude m of 1.2.
Turning yarn() {
  GgmlYarn<> yarn;
  yarn.original_context = 2048;
  return turning({kDims, 1e4, 0.25, 1.2 / (1 + 0.1 * std::log(4.0))}, yarn);
}

Sections thirds() { return Sections(SectionPattern::contiguous, {6, 5, 5}); }
Sections striped() { return Sections(SectionPattern::interleaved_hf, {6, 5, 5}); }

// -----------------------------------------------------------------------------------------
// the table's entries

template <class Scalar>
void expect_entries(const Turning& before, const Turning& after, const Positions& from,
                    const Positions& to) {
  const Layout layout{AxisRole::token, AxisRole::batch};
  const auto table =
      rerotation_cache<Scalar>({before.frequencies, from}, {after.frequencies, to}, layout);
  const Real m = after.real.magnitude / before.real.magnitude;
  const auto row_of = [&](Index batch, Index token) {
    const Index b = table.outer()[1] == 1 ? 0 : batch;
    const Index s = table.outer()[0] == 1 ? 0 : token;
    return (b * table.outer()[0] + s) * table.pairs();
  };
  for (Index b = 0; b < to.batches(); ++b) {
    for (Index s = 0; s < to.tokens(); ++s) {
      for (Index k = 0; k < table.pairs(); ++k) {
        const auto pair = static_cast<std::size_t>(k);
        const Real p_from = exactly(from.at(from.axis(k), b, s));
        const Real p_to = exactly(to.at(to.axis(k), b, s));
        const Real angle = p_to * after.real.rates[pair] - p_from * before.real.rates[pair];
        const Real beyond =
            (abs(p_from) + abs(p_to)) * two_to(-63) * std::max(Real(1), Real(abs(m)));
        const Scalar cos_entry = table.cos()[row_of(b, s) + k];
        const Scalar sin_entry = table.sin()[row_of(b, s) + k];
        ASSERT_LE(abs(exactly(cos_entry) - m * cos(angle)), ulp(cos_entry) / 2 + beyond)
            << p_from << " to " << p_to << ", pair " << k;
        ASSERT_LE(abs(exactly(sin_entry) - m * sin(angle)), ulp(sin_entry) / 2 + beyond)
            << p_from << " to " << p_to << ", pair " << k;
      }
    }
  }
}

std::vector<Positions> places() {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> far{
      0, kFar, -kFar, 4095, least, most, (std::int64_t{1} << 53) + 1, 7, 8, 9, 131071, -1};
  const std::vector<std::int64_t> other{5, -kFar, -kFar, 4096, most,   least,
                                        3, 8,     9,     10,   131071, 1000000};
  const std::vector<double> fractions{
      0.5, -0.1, 1e6 + 1 / 3.0, 1e-9, 3, -1e-300, 2147483647.9999998, 1, 0.1, 0.2, 0.3, 4096.25};
  return {Positions::range(0, 12), Positions::range(-512, 12), Positions::ids(far),
          Positions::ids(other), Positions::ids(fractions)};
}

template <class Scalar>
class RerotationCacheOf : public testing::Test {};
using Scalars = testing::Types<float, double, long double, Eigen::half, Eigen::bfloat16>;
TYPED_TEST_SUITE(RerotationCacheOf, Scalars);

TYPED_TEST(RerotationCacheOf, EntriesAreWithinTheBoundForEveryMove) {
  const std::vector<Turning> turnings{trained(), trained_louder(), ntk(), yarn()};
  for (const Turning& before : turnings) {
    for (const Turning& after : turnings) {
      for (const Positions& from : places()) {
        for (const Positions& to : places())
          ASSERT_NO_FATAL_FAILURE(expect_entries<TypeParam>(before, after, from, to));
      }
    }
  }
}

TYPED_TEST(RerotationCacheOf, EntriesAreWithinTheBoundForSeveralAxesAndBatches) {
  const std::vector<int> ids{0, 1, 2, 3, 9, 9, 9, 9, 5, 4, 3, -2};
  const std::vector<int> moved{7, 8, 9, 10, 9, 9, 9, 9, 5, 4, 3, 131071};
  const std::vector<Positions> axes{
      Positions::multi_axis(ids, thirds(), Batches{2}),
      Positions::multi_axis(moved, thirds(), Batches{2}),
      Positions::multi_axis(moved, striped(), Batches{2}),
      Positions::per_batch(std::vector<int>{1, 2, 30, 40}, Batches{2})};
  for (const Turning& after : {trained(), yarn()}) {
    for (const Positions& from : axes) {
      for (const Positions& to : axes)
        ASSERT_NO_FATAL_FAILURE(expect_entries<TypeParam>(trained(), after, from, to));
    }
  }
}

TYPED_TEST(RerotationCacheOf, EntriesAreWithinTheBoundForExtremeRatesAndMagnitudes) {
  const auto explicit_rates = [](const std::vector<double>& rates, double m) {
    Turning result{Frequencies::explicit_rates(rates, m), {{}, exactly(m)}};
    for (const double rate : rates) result.real.rates.push_back(exactly(rate));
    return result;
  };
  const Turning fast = explicit_rates({1099511627775.7, -1099511627775.7, 0}, 1e-3);
  const Turning opposite = explicit_rates({-1099511627775.7, 1099511627775.7, 1e-300}, 20);
  for (const auto& [from, to] :
       {std::pair(places()[2], places()[3]), std::pair(places()[2], places()[2])}) {
    expect_entries<TypeParam>(fast, opposite, from, to);
    expect_entries<TypeParam>(opposite, fast, from, to);
    expect_entries<TypeParam>(fast, fast, from, to);
  }
  const Turning silent = explicit_rates({1, 0.5, 0.25}, 0);
  expect_entries<TypeParam>(fast, silent, places()[0], places()[1]);
  expect_entries<TypeParam>(explicit_rates({1, 2}, 1e-310), explicit_rates({1, 3}, 3e-310),
                            places()[0], places()[1]);
}

TYPED_TEST(RerotationCacheOf, FromTheOriginIsCosSinCache) {
  const Positions zero = Positions::ids(std::vector<int>(6));
  const Positions there = Positions::range(100, 6);
  for (const Turning& after : {trained(), yarn()}) {
    const auto table =
        rerotation_cache<TypeParam>({trained().frequencies, zero}, {after.frequencies, there});
    const Cache<TypeParam> expected(after.frequencies, there);
    ASSERT_EQ(table.outer(), expected.outer());
    EXPECT_EQ(bits_of(table.cos(), 6 * kPairs), bits_of(expected.cos(), 6 * kPairs));
    EXPECT_EQ(bits_of(table.sin(), 6 * kPairs), bits_of(expected.sin(), 6 * kPairs));
  }
}

/// Angles as they are after a difference: of any size up to 3 turns, with low parts, near and at
/// quarter turns; `least` besides.
std::vector<DoubleDouble> angles(double least) {
  std::vector<DoubleDouble> turns{0.0,
                                  least,
                                  {1, 1e-18},
                                  {-0.75, 3e-20},
                                  {0.25, -1e-17},
                                  {2.5, 1e-16},
                                  {-3 + 0x1p-45, 1e-16},
                                  {0.25 - 0x1p-40, 1e-17}};
  Random random(11);
  while (turns.size() < 203)
    turns.push_back(DoubleDouble(random(-3, 3)) + DoubleDouble(random(-1e-17, 1e-17)));
  return turns;
}

TYPED_TEST(RerotationCacheOf, RowsOfAnglesAreRoundedOnceOnEveryTarget) {
  const DoubleDouble m{1.2, 1e-17};
  // With the smaller of the two, pairs beside it leave the kernels as well.
  for (const double least : {1e-17, 1e-30}) {
    const std::vector<DoubleDouble> turns = angles(least);
    const detail::RowFiller rows(
        Frequencies::explicit_rates(std::vector<DoubleDouble>(turns.size()), m));
    for (const std::string& target : kernel_targets()) {
      const OnlyTarget only(target);
      std::vector<TypeParam> cos_row(turns.size()), sin_row(turns.size());
      rows.fill_turns(turns.data(), cos_row.data(), sin_row.data());
      for (std::size_t k = 0; k < turns.size(); ++k) {
        const Real angle = 2 * boost::math::constants::pi<Real>() * exactly(turns[k]);
        ASSERT_LE(abs(exactly(cos_row[k]) - exactly(m) * cos(angle)),
                  ulp(cos_row[k]) / 2 + two_to(-80))
            << target << ", pair " << k;
        ASSERT_LE(abs(exactly(sin_row[k]) - exactly(m) * sin(angle)),
                  ulp(sin_row[k]) / 2 + two_to(-80))
            << target << ", pair " << k;
      }
    }
  }
}

TEST(RerotationCache, HasOneRowForWhatMovesTogether) {
  const Frequencies f = trained().frequencies;
  const auto outer = [&](const Positions& from, const Positions& to,
                         const Layout& layout = Layout::bsnd()) {
    return rerotation_cache<float>({f, from}, {f, to}, layout).outer();
  };
  const Positions range = Positions::range(512, 4);
  EXPECT_EQ(outer(range, Positions::range(0, 4)), (Shape{1, 1, 1}));
  EXPECT_EQ(outer(range, Positions::range(0, 4), Layout::bnsd()), (Shape{1, 1, 1}));
  EXPECT_EQ(outer(range, range), (Shape{1, 1, 1}));
  EXPECT_EQ(outer(range, Positions::ids(std::vector<int>{0, 1, 2, 4})), (Shape{1, 4, 1}));
  EXPECT_EQ(outer(range, Positions::ids(std::vector<double>{0, 1, 2, 3 + 1e-9})), (Shape{1, 4, 1}));

  const auto batched = [](const std::vector<int>& ids) {
    return Positions::per_batch(ids, Batches{2});
  };
  const Positions pair = batched({10, 11, 12, 20, 21, 22});
  EXPECT_EQ(outer(pair, batched({11, 12, 13, 21, 22, 23})), (Shape{1, 1, 1}));
  EXPECT_EQ(outer(pair, batched({0, 1, 2, 0, 1, 2})), (Shape{1, 1, 2}));
  EXPECT_EQ(outer(pair, batched({0, 1, 2, 0, 1, 2}), Layout::sbnd()), (Shape{1, 2, 1}));
  EXPECT_EQ(outer(pair, batched({10, 11, 13, 20, 21, 23})), (Shape{1, 3, 1}));
  EXPECT_EQ(outer(pair, batched({10, 11, 13, 20, 21, 22})), (Shape{1, 3, 2}));

  const Positions image = Positions::multi_axis(std::vector<int>{0, 1, 5, 6, 9, 9}, thirds());
  EXPECT_EQ(outer(image, Positions::multi_axis(std::vector<int>{3, 4, 4, 5, 9, 9}, thirds())),
            (Shape{1, 1, 1}));
  EXPECT_EQ(outer(image, Positions::multi_axis(std::vector<int>{3, 4, 4, 4, 9, 9}, thirds())),
            (Shape{1, 2, 1}));

  const Positions none = Positions::range(0, 0);
  EXPECT_EQ(outer(none, none), (Shape{1, 0, 1}));
}

// -----------------------------------------------------------------------------------------
// keys, moved

/// What one move may be off by, in eps = 2u of a pair's norm, times m. Both entries of a table are
/// within u of their values: u. Of y_A = c x_a - s x_b the products make u (|c x_a| + |s x_b|) and
/// the sum u |y_A|, and y_B likewise: together at most sqrt(2) u and u. The sum, 3.41 u, is 1.71
/// eps. 16-bit keys are computed in float, of which 0.01 eps is left, and rounded once: u.
template <class Scalar>
constexpr long double kMoveError = detail::is_16_bit<Scalar> ? 0.51L : 1.75L;

/// The phase error of positions that sum to this in size, where rates are at most 1: less than is
/// promised for the largest rates.
long double phase(double positions) { return std::ldexp(static_cast<long double>(positions), -90); }

/// Every pair of `actual` is within `moves` moves of `expected`'s, in norm.
template <class Scalar, int rank>
::testing::AssertionResult within_moves(const Eigen::Tensor<Scalar, rank>& actual,
                                        const Eigen::Tensor<Scalar, rank>& expected,
                                        Pairing pairing, long double moves,
                                        double positions_per_move) {
  const Index D = expected.dimension(0);
  const Index dims = pairing.rotary_dims(D);
  const long double allowed =
      std::expm1(moves * (kMoveError<Scalar> * epsilon<Scalar>() + phase(positions_per_move)));
  for (Index row = 0; row < expected.size() / D; ++row) {
    const auto at = [&](const Eigen::Tensor<Scalar, rank>& x, Index slot) {
      return static_cast<long double>(x.data()[row * D + pairing.offset() + slot]);
    };
    for (Index k = 0; k < dims / 2; ++k) {
      const PairSlots slots = pair_slots(pairing.kind(), k, dims);
      const long double error = std::hypot(at(actual, slots.A) - at(expected, slots.A),
                                           at(actual, slots.B) - at(expected, slots.B));
      const long double norm = std::hypot(at(expected, slots.A), at(expected, slots.B));
      if (!(error <= allowed * norm)) {
        return ::testing::AssertionFailure()
               << "row " << row << ", pair " << k << ": " << error / norm / epsilon<Scalar>()
               << " eps of its norm, allowed " << allowed / epsilon<Scalar>();
      }
    }
  }
  return ::testing::AssertionSuccess();
}

/// One length for all pairs, well above what is subnormal: errors are counted relative to it.
template <class Scalar>
Eigen::Tensor<Scalar, 3> some_keys(Index D, Index tokens, std::uint64_t seed) {
  Eigen::Tensor<Scalar, 3> k(D, 2, tokens);
  Random random(seed);
  for (Index i = 0; i < k.size(); ++i)
    k.data()[i] = static_cast<Scalar>((i % 2 == 0 ? 1 : -1) * random(0.25, 1.5));
  return k;
}

template <class Scalar>
class RerotateOf : public testing::Test {};
TYPED_TEST_SUITE(RerotateOf, Scalars);

TYPED_TEST(RerotateOf, KeysMovedAreKeysRecomputedForEveryPairing) {
  using Tensor = Eigen::Tensor<TypeParam, 3>;
  using Table = Cache<detail::Widened<TypeParam>>;
  constexpr Index tokens = 5;
  const Positions near = Positions::range(700, tokens);
  const std::vector<Placement> targets{
      {trained().frequencies, Positions::range(188, tokens)},
      {trained().frequencies, Positions::ids(std::vector<double>{1, 2, 70.5, 800, 801})},
      {yarn().frequencies, near},
      {ntk().frequencies, Positions::range(0, tokens)}};
  std::uint64_t seed = 1;
  for (const Pairing whole : {split_half, interleaved, quarter, interleaved_to_split_half}) {
    for (const Pairing& pairing : {whole, whole.with_offset(6).with_rotary_dims(kDims)}) {
      const Placement from{trained_louder().frequencies, near};
      for (const Placement& to : targets) {
        const Tensor x =
            some_keys<TypeParam>(pairing.offset() == 0 ? kDims : kDims + 8, tokens, ++seed);
        Tensor k = rotate(x, Table(from.frequencies, from.positions), pairing);
        const Tensor expected = rotate(x, Table(to.frequencies, to.positions), pairing);
        rerotate(k, from, to, pairing);
        ASSERT_TRUE(within_moves(k, expected, pairing, 3, 1600))
            << "kind " << static_cast<int>(pairing.kind());
        for (Index row = 0; row < 2 * tokens; ++row) {
          for (Index d = 0; d < pairing.offset(); ++d)
            ASSERT_EQ(k.data()[row * k.dimension(0) + d], x.data()[row * k.dimension(0) + d]);
        }
      }
    }
  }
}

TYPED_TEST(RerotateOf, ThereAndBackAndByWayOfAThirdPlace) {
  using Tensor = Eigen::Tensor<TypeParam, 3>;
  using Table = Cache<detail::Widened<TypeParam>>;
  constexpr Index tokens = 6;
  const Placement a{trained().frequencies, Positions::range(1000, tokens)};
  const Placement b{yarn().frequencies, Positions::range(1000, tokens)};
  const Placement c{ntk().frequencies, Positions::ids(std::vector<int>{0, 1, 2, 3, 300, 301})};
  const Tensor x = some_keys<TypeParam>(kDims, tokens, 7);
  const Tensor at_a = rotate(x, Table(a.frequencies, a.positions), split_half);
  const Tensor at_b = rotate(x, Table(b.frequencies, b.positions), split_half);

  Tensor k = at_a;
  rerotate(k, a, b, split_half);
  EXPECT_TRUE(within_moves(k, at_b, split_half, 3, 2010));
  EXPECT_FALSE(within_moves(k, at_a, split_half, 30, 2010));
  Tensor by_way = k;
  rerotate(k, b, a, split_half);
  EXPECT_TRUE(within_moves(k, at_a, split_half, 2, 2010));

  rerotate(by_way, b, c, split_half);
  Tensor straight = at_a;
  rerotate(straight, a, c, split_half);
  EXPECT_TRUE(within_moves(by_way, straight, split_half, 3, 2010));
}

TYPED_TEST(RerotateOf, AThousandMovesStayWithinTheBound) {
  using Tensor = Eigen::Tensor<TypeParam, 3>;
  using Table = Cache<detail::Widened<TypeParam>>;
  constexpr Index tokens = 3;
  constexpr int moves = 1000;
  const std::vector<Frequencies> frequencies{trained().frequencies, yarn().frequencies,
                                             ntk().frequencies};
  std::mt19937_64 engine(20250611);
  // One token forward each time, which reuses one row; anywhere each time; another scaling each
  // time as well.
  const std::vector<std::function<Placement(int)>> walks{
      [&](int i) -> Placement {
        return {frequencies[0], Positions::range(i, tokens)};
      },
      [&](int) -> Placement {
        return {frequencies[0],
                Positions::range(static_cast<std::int64_t>(engine() >> 44), tokens)};
      },
      [&](int i) -> Placement {
        return {frequencies[static_cast<std::size_t>(i % 3)], Positions::range(5000 - i, tokens)};
      }};
  std::uint64_t seed = 40;
  for (const auto& place : walks) {
    const Tensor x = some_keys<TypeParam>(kDims, tokens, ++seed);
    Placement at = place(0);
    Tensor k = rotate(x, Table(at.frequencies, at.positions), interleaved);
    for (int i = 1; i <= moves; ++i) {
      const Placement next = place(i);
      rerotate(k, at, next, interleaved);
      at = next;
      // For bfloat16 a thousand times the error of a move is no bound any more; a hundred times is.
      if (i == 1 || i == 10 || i == 100 || i == moves) {
        const Tensor expected = rotate(x, Table(at.frequencies, at.positions), interleaved);
        EXPECT_TRUE(within_moves(k, expected, interleaved, i + 2, 2 * 0x1p20)) << i << " moves";
      }
    }
  }
}

TEST(Rerotate, AWiderTableLeavesOnlyTheRoundingOfKeys) {
  constexpr int moves = 1000;
  const Frequencies f = trained().frequencies;
  const Eigen::Tensor<float, 3> x = some_keys<float>(kDims, 4, 3);
  const auto step =
      rerotation_cache<double>({f, Positions::range(0, 4)}, {f, Positions::range(1, 4)});
  Eigen::Tensor<float, 3> k = rotate(x, Cache<double>(f, Positions::range(0, 4)), split_half);
  for (int i = 0; i < moves; ++i) rotate_inplace(k, step, split_half);
  const Eigen::Tensor<float, 3> expected =
      rotate(x, Cache<double>(f, Positions::range(moves, 4)), split_half);
  // Half an eps a move instead of 1.75.
  EXPECT_TRUE(within_moves(k, expected, split_half, (moves + 2) * 0.51L / 1.75L, 1));
}

// -----------------------------------------------------------------------------------------
// layouts, views and devices

/// Moves keys in one layout as k[D, ...] in another order of axes, token by token.
TEST(Rerotate, EveryLayoutMovesTheSameTokens) {
  constexpr Index tokens = 4, batches = 2, heads = 3;
  const Positions from =
      Positions::per_batch(std::vector<int>{5, 6, 7, 8, 50, 51, 52, 53}, Batches{batches});
  const Positions to =
      Positions::per_batch(std::vector<int>{1, 2, 3, 4, 40, 41, 42, 44}, Batches{batches});
  const Placement a{trained().frequencies, from}, b{yarn().frequencies, to};
  Eigen::Tensor<float, 4> bsnd(kDims, heads, tokens, batches);
  bsnd.setRandom();
  const auto shuffled = [](const Eigen::Tensor<float, 4>& x, const std::array<int, 4>& order) {
    return Eigen::Tensor<float, 4>(x.shuffle(order));
  };
  Eigen::Tensor<float, 4> bnsd = shuffled(bsnd, {0, 2, 1, 3});
  Eigen::Tensor<float, 4> sbnd = shuffled(bsnd, {0, 1, 3, 2});
  Eigen::Tensor<float, 4, Eigen::RowMajor> row_major(batches, tokens, heads, kDims);
  std::copy(bsnd.data(), bsnd.data() + bsnd.size(), row_major.data());

  // The definition, one token at a time.
  Eigen::Tensor<float, 4> expected = bsnd;
  for (Index batch = 0; batch < batches; ++batch) {
    for (Index token = 0; token < tokens; ++token) {
      const auto one = [&](const Positions& p) {
        return Positions::ids(std::vector<double>{static_cast<double>(p.at(0, batch, token))});
      };
      Eigen::TensorMap<Eigen::Tensor<float, 2>> k(&expected(0, 0, token, batch), kDims, heads);
      rerotate(k, {a.frequencies, one(from)}, {b.frequencies, one(to)}, split_half, Layout::tnd());
    }
  }
  const auto expect_same = [&](const float* actual) {
    EXPECT_EQ(bits_of(actual, bsnd.size()), bits_of(expected.data(), bsnd.size()));
  };
  rerotate(bsnd, a, b, split_half);
  expect_same(bsnd.data());
  rerotate(row_major, a, b, split_half);
  expect_same(row_major.data());
  rerotate(bnsd, a, b, split_half, Layout::bnsd());
  expect_same(shuffled(bnsd, {0, 2, 1, 3}).data());
  rerotate(sbnd, a, b, split_half, Layout::sbnd());
  expect_same(shuffled(sbnd, {0, 1, 3, 2}).data());
}

TEST(Rerotate, OnePositionServesAllTokens) {
  const Frequencies f = trained().frequencies;
  Eigen::Tensor<float, 3> k = some_keys<float>(kDims, 9, 5);
  Eigen::Tensor<float, 3> expected = k;
  rerotate(k, {f, Positions::range(512, 1)}, {f, Positions::range(0, 1)}, split_half);
  rerotate(expected, {f, Positions::range(700, 9)}, {f, Positions::range(188, 9)}, split_half);
  EXPECT_EQ(bits_of(k.data(), k.size()), bits_of(expected.data(), k.size()));
}

// -----------------------------------------------------------------------------------------
// refusals

TEST(Rerotate, Refusals) {
  const Frequencies f = trained().frequencies;
  const Placement four{f, Positions::range(0, 4)};
  Eigen::Tensor<float, 4> k(kDims, 2, 4, 2);
  k.setRandom();
  const Eigen::Tensor<float, 4> before = k;
  const auto error = [&](const Placement& from, const Placement& to,
                         const Layout& layout = Layout::bsnd()) {
    return error_of([&] { rerotate(k, from, to, split_half, layout); });
  };
  EXPECT_EQ(error(four, {Frequencies::powers({64}), Positions::range(0, 4)}),
            "[rope] from and to must have the same number of pairs, got 16 and 32");
  EXPECT_EQ(error(four, {f, Positions::range(0, 5)}),
            "[rope] from and to must have the same number of tokens, got 4 and 5");
  EXPECT_EQ(error(four, {f, Positions::per_batch(std::vector<int>(8), Batches{2})}),
            "[rope] from and to must have the same number of batches, got 1 and 2");
  EXPECT_EQ(
      error({Frequencies::powers({kDims, 1e4, 1, 0}), Positions::range(0, 4)}, four),
      "[rope] the attention factor of from must not be 0 (it leaves nothing of the keys), got 0");
  EXPECT_EQ(error({Frequencies::powers({kDims, 1e4, 1, 1e-300}), Positions::range(0, 4)},
                  {Frequencies::powers({kDims, 1e4, 1, 1e300}), Positions::range(0, 4)}),
            "[rope] the quotient of the attention factors of to and from must be finite, got "
            "1e+300 / 1e-300");
  const Placement three{f, Positions::range(0, 3)};
  EXPECT_EQ(error(three, three),
            "[rope] axis 2 of k, its token axis, must have one place for each of the positions' "
            "(3), got [32, 2, 4, 2]");
  const Placement batches{f, Positions::per_batch(std::vector<int>(12), Batches{3})};
  EXPECT_EQ(error(batches, batches),
            "[rope] axis 3 of k, its batch axis, must have one place for each of the positions' "
            "(3), got [32, 2, 4, 2]");
  const Placement two{f, Positions::per_batch(std::vector<int>(8), Batches{2})};
  EXPECT_EQ(error_of([&] { rerotation_cache<float>(two, two, Layout::tnd()); }),
            "[rope] the layout must have a batch axis for positions of several batches, got 2");
  const Placement too_far{f, Positions::ids(std::vector<double>{1e19, 0, 0, 0})};
  EXPECT_EQ(error(too_far, four),
            "[rope] positions must be at most 2^63 in size for a table, got 1e+19");
  EXPECT_EQ(error(four, too_far),
            "[rope] positions must be at most 2^63 in size for a table, got 1e+19");
  EXPECT_EQ(bits_of(k.data(), k.size()), bits_of(before.data(), k.size()));
}

}  // namespace
}  // namespace eigen_rope::test
