// SPDX-License-Identifier: Apache-2.0
//
// xPos against its formula in 200 bits, and what a rotation whose magnitude differs from entry to
// entry must still do: be undone, be differentiated, be moved, and make scores that know the
// distance alone.
#include "eigen_rope/tables/xpos.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/gradients/parameter_gradients.hpp"
#include "eigen_rope/gradients/xpos_gradients.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "support/dense_view.hpp"
#include "support/error_of.hpp"
#include "support/real_number.hpp"

namespace eigen_rope::xpos_tests {
namespace {

using test::dense;
using test::error_of;
using test::exactly;
using test::Real;
using test::two_to;
using test::ulp;

constexpr double double_epsilon = std::numeric_limits<double>::epsilon();
const Powers<> powers{16, 1e4, 1, -1.3};
const Xpos choices[] = {{512, 0.4, 0}, {512, 0.4, 100},  {35, 0.4, -3.5},
                        {512, 7, 0},   {1000, 1e-9, 10}, {64, 1e6, 0}};

/// As flash-attention writes it: zeta = (2k + gamma d) / ((1 + gamma) d).
Real real_zeta(Index k, Index dims, const Real& gamma) {
  return (2 * Real(k) + gamma * dims) / ((1 + gamma) * dims);
}

struct RealPair {
  Real power;
  Real zeta;
  Real magnitude;
};

RealPair real_pair(Index k, Index dims, const Real& position, const Xpos& xpos, XposSide side,
                   const Real& m) {
  const Real power = (position - xpos.center) / Real(xpos.scale_base);
  const Real zeta = real_zeta(k, dims, xpos.gamma);
  return {power, zeta, m * pow(zeta, side == XposSide::query ? power : Real(-power))};
}

/// The pair of a window that reads this slot.
Index pair_of(PairKind kind, Index slot, Index rotary_dims) {
  const auto reads = [&](Index pair) {
    const PairSlots slots = pair_slots(kind, pair, rotary_dims);
    return slots.a == slot || slots.b == slot;
  };
  Index pair = 0;
  while (!reads(pair)) ++pair;
  return pair;
}

std::vector<double> random_values(std::size_t count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(uniform(engine));
  return values;
}

template <class Scalar>
class XposTable : public testing::Test {};

using Scalars = testing::Types<float, double, long double, Eigen::half, Eigen::bfloat16>;
TYPED_TEST_SUITE(XposTable, Scalars, );

TYPED_TEST(XposTable, EntriesAreTheFormulaRoundedOnce) {
  const Frequencies frequencies = Frequencies::powers(powers);
  const std::vector<double> ids{0, 1, 2, 63, 64, 65, 127, 128, 100, -1, -64, -65, 0.5, -17.25, 200};
  for (const Xpos& xpos : choices) {
    for (const XposSide side : {XposSide::query, XposSide::key}) {
      const auto cache =
          xpos_cache<TypeParam>(frequencies, Positions::ids(ids), xpos, side, Layout::sd());
      ASSERT_EQ(cache.outer(), Shape({static_cast<Index>(ids.size())}));
      for (std::size_t i = 0; i < ids.size() * 8; ++i) {
        const std::size_t k = i % 8;
        const Real position = ids[i / 8];
        const RealPair pair =
            real_pair(static_cast<Index>(k), 16, position, xpos, side, Real(-1.3));
        const Real angle = position * exactly(frequencies.rates()[k]);
        const Real size = abs(pair.magnitude);
        const Real steepness = abs(log(pair.zeta));
        const Real allowed =
            abs(position) * two_to(-63) * (size > 1 ? size : Real(1)) +
            (1 + abs(pair.power) * (steepness > 1 ? steepness : Real(1))) * two_to(-95) * size;
        SCOPED_TRACE(testing::Message() << "position " << position << ", pair " << k
                                        << ", scale base " << xpos.scale_base);
        EXPECT_LE(abs(exactly(cache.cos()[i]) - pair.magnitude * cos(angle)),
                  ulp(cache.cos()[i]) / 2 + allowed);
        EXPECT_LE(abs(exactly(cache.sin()[i]) - pair.magnitude * sin(angle)),
                  ulp(cache.sin()[i]) / 2 + allowed);
      }
    }
  }
}

TYPED_TEST(XposTable, AnEntryIsTheSameInEveryTable) {
  const Frequencies frequencies = Frequencies::powers(powers);
  const Positions range = Positions::range(-150, 300);
  const auto all = xpos_cache<TypeParam>(frequencies, range, {300}, XposSide::key, Layout::sd());
  for (Index token = 0; token < 300; token += 7) {
    const auto one = xpos_cache<TypeParam>(frequencies, Positions::range(token - 150, 1), {300},
                                           XposSide::key, Layout::sd());
    for (Index k = 0; k < 8; ++k) {
      EXPECT_EQ(one.cos()[k], all.cos()[token * 8 + k]) << token;
      EXPECT_EQ(one.sin()[k], all.sin()[token * 8 + k]) << token;
    }
  }
}

TEST(Xpos, EveryPairTakesThePositionOfItsAxis) {
  const Frequencies frequencies = Frequencies::powers(powers);
  const Sections sections(SectionPattern::interleaved_hf, {4, 2, 2});
  const std::vector<int> ids{5, 90, -7, 33, 2, 1};  // [axis][token]
  const auto mixed = xpos_cache<float>(frequencies, Positions::multi_axis(ids, sections), {},
                                       XposSide::query, Layout::sd());
  for (Index token = 0; token < 2; ++token) {
    for (Index k = 0; k < 8; ++k) {
      const int position = ids[static_cast<std::size_t>(2 * sections.axis(k) + token)];
      const auto own = xpos_cache<float>(frequencies, Positions::range(position, 1), {},
                                         XposSide::query, Layout::sd());
      EXPECT_EQ(mixed.cos()[token * 8 + k], own.cos()[k]);
      EXPECT_EQ(mixed.sin()[token * 8 + k], own.sin()[k]);
    }
  }
}

TEST(Xpos, BatchesAndLayoutsAreThoseOfCosSinCache) {
  const Frequencies frequencies = Frequencies::powers(powers);
  const Positions positions = Positions::per_batch(std::vector<int>{1, 2, 3, 7, 8, 9}, {2});
  for (const Layout& layout : {Layout::bsnd(), Layout::bnsd(), Layout::sbnd()}) {
    // A scale that hardly changes anything: what is left is the plain table.
    const auto flat = xpos_cache<double>(frequencies, positions, {1e30}, XposSide::key, layout);
    const Cache<double> plain(frequencies, positions, layout);
    EXPECT_EQ(flat.outer(), plain.outer());
    EXPECT_EQ(std::memcmp(flat.cos(), plain.cos(), 6 * 8 * sizeof(double)), 0);
    EXPECT_EQ(std::memcmp(flat.sin(), plain.sin(), 6 * 8 * sizeof(double)), 0);
  }
}

/// q.k of each pair, for q and k of one token each.
std::vector<double> scores(const Xpos& xpos, double query_position, double key_position) {
  const Frequencies frequencies = Frequencies::powers({16});
  const auto of_q = xpos_cache<double>(
      frequencies, Positions::ids(std::vector<double>{query_position}), xpos, XposSide::query);
  const auto of_k = xpos_cache<double>(
      frequencies, Positions::ids(std::vector<double>{key_position}), xpos, XposSide::key);
  std::vector<double> q = random_values(16, 1);
  std::vector<double> k = q;
  rotate_inplace(dense(q, {16, 1, 1}), of_q, split_half);
  rotate_inplace(dense(k, {16, 1, 1}), of_k, split_half);
  std::vector<double> result;
  for (std::size_t pair = 0; pair < 8; ++pair)
    result.push_back(q[pair] * k[pair] + q[pair + 8] * k[pair + 8]);
  return result;
}

TEST(Xpos, ScoresDependOnTheDistanceAloneAndFade) {
  const std::vector<double> unrotated = random_values(16, 1);
  for (const double distance : {0.0, 1.0, 12.5, 300.0, -40.0}) {
    for (const double center : {0.0, 1000.0, -77.5}) {
      for (const double start : {0.0, 5.0, 900.0, -200.0}) {
        const std::vector<double> actual = scores({512, 0.4, center}, start + distance, start);
        for (std::size_t k = 0; k < 8; ++k) {
          // The same vector twice: only the turn between them and the fading are left.
          const double size = unrotated[k] * unrotated[k] + unrotated[k + 8] * unrotated[k + 8];
          const double fading = std::pow((static_cast<double>(2 * k) + 6.4) / 22.4, distance / 512);
          const double expected =
              fading * std::cos(distance * std::pow(1e4, -static_cast<double>(k) / 8)) * size;
          // Two rotations of 1.5 ulp, a sum, and what the formula here loses in its angle.
          const double rounding = (12 + std::abs(distance)) * double_epsilon;
          EXPECT_NEAR(actual[k], expected, rounding * fading * size)
              << "distance " << distance << ", start " << start;
        }
      }
    }
  }
}

TEST(Xpos, IsUndoneByTheInverseAndNotByTheTranspose) {
  const Frequencies frequencies = Frequencies::powers(powers);
  for (const XposSide side : {XposSide::query, XposSide::key}) {
    for (const Pairing pairing : {split_half, interleaved, quarter}) {
      const auto cache = xpos_cache<float>(frequencies, Positions::range(1000, 50), {100}, side);
      std::vector<float> x;
      for (const double value : random_values(16 * 3 * 50, 2))
        x.push_back(static_cast<float>(value));
      std::vector<float> y(x.size()), back(x.size()), transposed(x.size());
      const Shape shape{16, 3, 50};
      rotate_to(dense(y, shape), dense(std::as_const(x), shape), cache, pairing);
      rotate_to(dense(back, shape), dense(std::as_const(y), shape), cache, pairing,
                Direction::inverse);
      rotate_to(dense(transposed, shape), dense(std::as_const(y), shape), cache, pairing,
                Direction::backward);
      for (std::size_t i = 0; i < x.size(); ++i) {
        // Two rotations of 1.5 ulp of a pair below sqrt(2), and five roundings of coefficients.
        constexpr float rounding = 12 * std::numeric_limits<float>::epsilon();
        EXPECT_NEAR(back[i], x[i], rounding);
        const auto slot = static_cast<Index>(i % 16);
        const Index k = pair_of(pairing.kind(), slot, 16);
        const auto token = static_cast<double>(i / 48);
        const RealPair pair = real_pair(k, 16, 1000 + token, {100}, side, Real(-1.3));
        const auto square = static_cast<float>(Real(pair.magnitude * pair.magnitude));
        EXPECT_NEAR(transposed[i], square * x[i], rounding * square);
        EXPECT_GT(std::abs(square - 1), 0.1F);
      }
    }
  }
}

TEST(Xpos, AtTheEndsOfTheRangeTheInverseStillHolds) {
  const Frequencies frequencies = Frequencies::powers({16});
  const auto there_and_back = [&](auto scalar, std::int64_t position, XposSide side) {
    using Scalar = decltype(scalar);
    const auto cache = xpos_cache<Scalar>(frequencies, Positions::range(position, 1), {}, side);
    std::vector<Scalar> x, y(16);
    for (int i = 0; i < 16; ++i)
      x.push_back(static_cast<Scalar>(0.5F + 0.03125F * static_cast<float>(i)));
    rotate_to(dense(y, {16, 1, 1}), dense(std::as_const(x), {16, 1, 1}), cache, split_half);
    rotate_inplace(dense(y, {16, 1, 1}), cache, split_half, Direction::inverse);
    double worst = 0;
    for (std::size_t i = 0; i < 16; ++i)
      worst = std::max(worst, std::abs(static_cast<double>(y[i]) - static_cast<double>(x[i])));
    return worst;
  };
  for (const int sign : {-1, 1}) {
    for (const XposSide side : {XposSide::query, XposSide::key}) {
      EXPECT_LE(there_and_back(0.0F, sign * 17500, side), 0x1p-20);
      EXPECT_LE(there_and_back(0.0, sign * 141000, side), 0x1p-49);
      EXPECT_LE(there_and_back(Eigen::bfloat16(0), sign * 17500, side), 0x1p-5);
    }
  }
  // Far out half loses digits to subnormal numbers where entries are small; where magnitudes are
  // large it does not.
  EXPECT_LE(there_and_back(Eigen::half(0), 3900, XposSide::key), 0x1p-8);
}

/// y by the definition, L = sum of g y, in 200 bits.
struct RealLoss {
  std::vector<double> x, g;
  std::vector<double> positions;
  XposSide side;

  Real operator()(const std::vector<Real>& moved, const Real& scale_base, const Real& gamma,
                  const Real& center) const {
    const Frequencies frequencies = Frequencies::powers(powers);
    Real sum = 0;
    for (std::size_t token = 0; token < moved.size(); ++token) {
      for (std::size_t k = 0; k < 8; ++k) {
        const Real power = (moved[token] - center) / scale_base;
        const Real magnitude = Real(-1.3) * pow(real_zeta(static_cast<Index>(k), 16, gamma),
                                                side == XposSide::query ? power : Real(-power));
        const Real angle = moved[token] * exactly(frequencies.rates()[k]);
        for (std::size_t head = 0; head < 2; ++head) {
          const std::size_t a = (token * 2 + head) * 16 + k;
          sum += magnitude * (Real(g[a]) * (cos(angle) * x[a] - sin(angle) * x[a + 8]) +
                              Real(g[a + 8]) * (cos(angle) * x[a + 8] + sin(angle) * x[a]));
        }
      }
    }
    return sum;
  }
};

TEST(XposGradient, OfEveryParameterIsTheSlopeOfTheLoss) {
  const Frequencies frequencies = Frequencies::powers(powers);
  const std::vector<double> ids{3, -20, 77.5};
  const Positions positions = Positions::ids(ids);
  const Shape shape{16, 2, 3};
  for (const XposSide side : {XposSide::query, XposSide::key}) {
    const Xpos xpos{50, 0.4, 11};
    const auto cache = xpos_cache<double>(frequencies, positions, xpos, side);
    const RealLoss loss{random_values(96, 3), random_values(96, 4), ids, side};
    std::vector<double> y(96);
    rotate_to(dense(y, shape), dense(loss.x, shape), cache, split_half);
    const Wanted wanted = Wanted::angle | Wanted::log_magnitude;
    for (const Gradients<double>& d :
         {gradients(dense(y, shape), dense(loss.g, shape), cache, split_half, {wanted}),
          gradients(dense(loss.x, shape), dense(loss.g, shape), cache, split_half,
                    {wanted, GradientsFrom::input})}) {
      const XposGradients actual = xpos_gradients(d, positions, xpos, side);
      const std::vector<double> turning = position_gradients(d, frequencies, positions);
      const std::vector<Real> at(ids.begin(), ids.end());
      const Real h = two_to(-40);
      const auto slope = [&](const auto& moved) {
        return static_cast<double>(Real((moved(h) - moved(Real(-h))) / (2 * h)));
      };
      // Some 100 terms of |x| |g| |M| below 10, times slopes below 1, each off by a few units.
      constexpr double rounding = 4096 * double_epsilon;
      EXPECT_NEAR(actual.scale_base, slope([&](const Real& s) {
                    return loss(at, xpos.scale_base + s, xpos.gamma, xpos.center);
                  }),
                  rounding);
      EXPECT_NEAR(actual.gamma, slope([&](const Real& s) {
                    return loss(at, xpos.scale_base, xpos.gamma + s, xpos.center);
                  }),
                  rounding);
      EXPECT_NEAR(actual.center, slope([&](const Real& s) {
                    return loss(at, xpos.scale_base, xpos.gamma, xpos.center + s);
                  }),
                  rounding);
      ASSERT_EQ(actual.positions.size(), ids.size());
      for (std::size_t token = 0; token < ids.size(); ++token) {
        const auto moved = [&](const Real& s) {
          std::vector<Real> other = at;
          other[token] += s;
          return loss(other, xpos.scale_base, xpos.gamma, xpos.center);
        };
        EXPECT_NEAR(actual.positions[token] + turning[token], slope(moved), rounding);
        EXPECT_GT(std::abs(actual.positions[token]), rounding);
      }
      // m's own gradient holds although entries have magnitudes of their own: the loss is linear in
      // m.
      const auto of_m = static_cast<double>(
          Real(loss(at, xpos.scale_base, xpos.gamma, xpos.center) / Real(-1.3)));
      EXPECT_NEAR(attention_factor_gradient(d, frequencies, positions), of_m, rounding);
    }
  }
}

TEST(XposGradient, TheTablesFromTheOutputIsThatFromTheInput) {
  const auto cache = xpos_cache<double>(Frequencies::powers(powers), Positions::range(200, 3),
                                        {100}, XposSide::key);
  const Shape shape{16, 2, 3};
  const std::vector<double> x = random_values(96, 5), g = random_values(96, 6);
  std::vector<double> y(96);
  rotate_to(dense(y, shape), dense(x, shape), cache, split_half);
  const auto from_y =
      gradients(dense(y, shape), dense(g, shape), cache, split_half, {Wanted::table});
  const auto from_x = gradients(dense(x, shape), dense(g, shape), cache, split_half,
                                {Wanted::table, GradientsFrom::input});
  for (std::size_t i = 0; i < from_x.cos.size(); ++i) {
    EXPECT_NEAR(from_y.cos[i], from_x.cos[i], 32 * double_epsilon);
    EXPECT_NEAR(from_y.sin[i], from_x.sin[i], 32 * double_epsilon);
  }
}

TEST(Xpos, KeysMoveByTheTableOfTheirDistance) {
  const Frequencies frequencies = Frequencies::powers(powers);
  const Frequencies unit = Frequencies::explicit_rates(frequencies.rates(), 1);
  const Xpos xpos{100, 0.4, 25};
  const Shape shape{16, 1, 3};
  const std::vector<double> x = random_values(48, 7);
  std::vector<double> moved(48), anew(48);
  rotate_to(dense(moved, shape), dense(x, shape),
            xpos_cache<double>(frequencies, Positions::range(300, 3), xpos, XposSide::key),
            split_half);
  rotate_to(dense(anew, shape), dense(x, shape),
            xpos_cache<double>(frequencies, Positions::range(10, 3), xpos, XposSide::key),
            split_half);
  rotate_inplace(dense(moved, shape),
                 xpos_cache<double>(unit, Positions::range(-290, 1), {100}, XposSide::key),
                 split_half);
  for (std::size_t i = 0; i < 48; ++i) {
    const RealPair pair = real_pair(static_cast<Index>(i % 8), 16, 10 + static_cast<int>(i / 16),
                                    xpos, XposSide::key, Real(-1.3));
    EXPECT_NEAR(moved[i], anew[i], 8 * double_epsilon * static_cast<double>(abs(pair.magnitude)));
  }
}

TEST(Xpos, RefusesWhatHasNoMeaningOrNoInverse) {
  const Frequencies frequencies = Frequencies::powers({16});
  const auto refusal = [&](const Xpos& xpos, std::int64_t position = 0) {
    return error_of([&] {
      (void)xpos_cache<float>(frequencies, Positions::range(position, 1), xpos, XposSide::query);
    });
  };
  EXPECT_EQ(refusal({}), "no eigen_rope::Error");
  EXPECT_EQ(refusal({0}), "[rope] scale base must be finite and greater than 0, got 0");
  EXPECT_EQ(refusal({512, 0}), "[rope] gamma must be finite and greater than 0, got 0");
  EXPECT_EQ(refusal({512, 0.4, std::numeric_limits<double>::infinity()}),
            "[rope] center must be finite, got inf");
  EXPECT_EQ(refusal({}, 18000),
            "[rope] xPos's magnitude of pair 0 at position 18000 must be from 2^-62 to 2^62 (a "
            "nearer center helps), got 2^-63.5");
  EXPECT_EQ(refusal({512, 0.4, 18000}, 18000), "no eigen_rope::Error");
  EXPECT_EQ(refusal({512, 0.4, 9000}, 18000), "no eigen_rope::Error");
  EXPECT_EQ(refusal({}, std::int64_t{1} << 60).substr(0, 36),
            "[rope] xPos's magnitude of pair 0 at");
  EXPECT_EQ(refusal({1e-308}, -5),
            "[rope] xPos's magnitude of pair 0 at position -5 must be from 2^-62 to 2^62 (a nearer "
            "center helps), got 2^inf");
  EXPECT_EQ(error_of([&] {
              (void)xpos_cache<Eigen::half>(frequencies, Positions::range(4000, 1), {},
                                            XposSide::key);
            }),
            "[rope] xPos's magnitude of pair 0 at position 4000 must be from 2^-14 to 2^14 (a "
            "nearer center helps), got 2^14.1");
  EXPECT_EQ(error_of([&] {
              (void)xpos_cache<float>(Frequencies::explicit_rates({1.0}, 0), Positions::range(0, 1),
                                      {}, XposSide::key);
            }),
            "[rope] the attention factor must not be 0 with xPos, got 0");
  EXPECT_EQ(error_of([&] {
              (void)xpos_cache<float>(frequencies,
                                      Positions::per_batch(std::vector<int>{1, 2}, {2}), {},
                                      XposSide::key, Layout::tnd());
            }),
            "[rope] the layout must have a batch axis for positions of several batches, got 2");
}

TEST(XposGradient, RefusesOtherTables) {
  Gradients<double> d;
  d.pairs = 8;
  d.outer = {1, 3};
  const Positions positions = Positions::range(0, 3);
  EXPECT_EQ(error_of([&] { (void)xpos_gradients(d, positions, {}, XposSide::key); }),
            "[rope] the gradients must be made with Wanted::log_magnitude, got none of magnitudes");
  d.log_magnitude.resize(24);
  EXPECT_EQ(error_of([&] { (void)xpos_gradients(d, positions, {}, XposSide::key); }),
            "no eigen_rope::Error");
  EXPECT_EQ(error_of([&] { (void)xpos_gradients(d, Positions::range(0, 4), {}, XposSide::key); }),
            "[rope] the gradients must be of a table with the outer extents these positions give "
            "[1, 4, 1], got [1, 3]");
  EXPECT_EQ(error_of([&] { (void)xpos_gradients(d, positions, {-1}, XposSide::key); }),
            "[rope] scale base must be finite and greater than 0, got -1");
}

}  // namespace
}  // namespace eigen_rope::xpos_tests
