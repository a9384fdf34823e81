// SPDX-License-Identifier: Apache-2.0
//
// The table's fast paths, on every instruction set this machine has, give the bits of the
// double-double path: consecutive positions, single positions, a position for each pair, and whole
// tables of each kind. How exact that path is, is tested in cache_accuracy_test.cpp.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "eigen_rope/tables/cache.hpp"
#include "eigen_rope/tables/detail/row_filler.hpp"
#include "support/only_target.hpp"
#include "tables/table_kernels.hpp"
#include "tables/turns.hpp"

namespace eigen_rope::table_targets_tests {
namespace {

using test::OnlyTarget;

struct Case {
  std::string name;
  Frequencies frequencies;
};

/// What models have, what the fast path must leave alone, and widths that no vector divides.
std::vector<Case> cases() {
  return {
      {"64 pairs, base 5e5", Frequencies::powers({128, 5e5})},
      {"negative magnitude", Frequencies::powers({64, 1e4, 1, -1.4142})},
      {"150 pairs, base 1e8, linear, small magnitude", Frequencies::powers({300, 1e8, 0.1, 0.001})},
      {"3 pairs, half overflows", Frequencies::powers({6, 1e4, 1, 3e5})},
      {"subnormal in half", Frequencies::powers({34, 1e4, 1, 1.5e-5})},
      {"slow, fast, zero and near quarter turns",
       Frequencies::explicit_rates(
           {0.0, -1.0, 1e-17, 1e9, 1.5707963267948966, -6.283185307179586, 3.0, 0.1, 7.7, 1e12})},
      {"finer than double",
       Frequencies::explicit_rates({DoubleDouble(0.1, 6.1e-18), DoubleDouble(-2.5, 2.1e-16)},
                                   DoubleDouble(1.1, -1e-16))},
      {"slower than the kernels take", Frequencies::powers({64, 1e200})},
      {"slow enough for every integer a double holds",
       Frequencies::explicit_rates({1e-3, -2e-4, 1e-6})},
      {"magnitude 0", Frequencies::powers({10, 1e4, 1, 0})},
  };
}

template <class Scalar>
class TableTargets : public testing::Test {
 protected:
  /// Calls check(filler, expect) for every case on every target; expect(position, k, cos, sin)
  /// compares with the double-double path.
  template <class Check>
  static void on_every_target(const Check& check) {
    for (const std::string& target : kernel_targets()) {
      const OnlyTarget only(target);
      for (const Case& c : cases()) {
        SCOPED_TRACE(target + ", " + c.name);
        std::vector<DoubleDouble> turns;
        for (const DoubleDouble rate : c.frequencies.rates())
          turns.push_back(detail::rate_in_turns(rate));
        const DoubleDouble m = c.frequencies.attention_factor();
        check(c.frequencies, [&](DoubleDouble position, Index k, Scalar cos, Scalar sin) {
          Scalar exact_cos;
          Scalar exact_sin;
          detail::exact_entry(turns[static_cast<std::size_t>(k)], m, position, exact_cos,
                              exact_sin);
          const bool same = std::memcmp(&cos, &exact_cos, sizeof cos) == 0 &&
                            std::memcmp(&sin, &exact_sin, sizeof sin) == 0;
          EXPECT_TRUE(same) << "position " << position.high << " + " << position.low << ", pair "
                            << k << ": " << static_cast<double>(cos) << ", "
                            << static_cast<double>(sin) << " for " << static_cast<double>(exact_cos)
                            << ", " << static_cast<double>(exact_sin);
          return same;
        });
        if (testing::Test::HasFailure()) return;
      }
    }
  }
};

/// Guards that must stay as they are: a fill that writes past its rows is seen.
constexpr float guard = 77;

using Scalars = testing::Types<float, Eigen::half, Eigen::bfloat16>;
TYPED_TEST_SUITE(TableTargets, Scalars);

TYPED_TEST(TableTargets, ConsecutivePositions) {
  using Scalar = TypeParam;
  this->on_every_target([](const Frequencies& frequencies, const auto& same) {
    const detail::RowFiller filler(frequencies);
    const Index pairs = frequencies.pairs();
    for (const std::int64_t first :
         {std::int64_t{0}, std::int64_t{-70}, std::int64_t{131072}, -(std::int64_t{1} << 31),
          (std::int64_t{1} << 31) - 20, std::int64_t{1} << 45, (std::int64_t{1} << 53) - 30}) {
      for (const Index count : {Index{1}, Index{3}, Index{115}}) {
        const auto size = static_cast<std::size_t>(count * pairs);
        std::vector<Scalar> cos(size + 1, Scalar(guard));
        std::vector<Scalar> sin(size + 1, Scalar(guard));
        filler.fill_range(first, count, cos.data(), sin.data());
        ASSERT_EQ(cos.back(), Scalar(guard));
        ASSERT_EQ(sin.back(), Scalar(guard));
        for (Index i = 0; i < count; ++i) {
          for (Index k = 0; k < pairs; ++k) {
            const auto at = static_cast<std::size_t>(i * pairs + k);
            ASSERT_TRUE(same(DoubleDouble::from_integer(first + i), k, cos[at], sin[at]));
          }
        }
      }
    }
  });
}

TYPED_TEST(TableTargets, ConsecutivePositionsWithThePairsApart) {
  using Scalar = TypeParam;
  this->on_every_target([](const Frequencies& frequencies, const auto& same) {
    const detail::RowFiller filler(frequencies);
    const Index pairs = frequencies.pairs();
    for (const std::int64_t first :
         {std::int64_t{-70}, std::int64_t{131072}, std::int64_t{1} << 45}) {
      for (const Index count : {Index{1}, Index{3}, Index{16}, Index{130}, Index{301}}) {
        const Index step = count + 2;
        std::vector<Scalar> cos(static_cast<std::size_t>(step * pairs), Scalar(guard));
        std::vector<Scalar> sin(cos);
        const bool filled = filler.fill_columns(first, count, step, cos.data(), sin.data());
        for (Index k = 0; k < pairs; ++k) {
          for (Index i = 0; i < step; ++i) {
            const auto at = static_cast<std::size_t>(k * step + i);
            if (!filled || i >= count) {
              ASSERT_EQ(cos[at], Scalar(guard));
              ASSERT_EQ(sin[at], Scalar(guard));
            } else {
              ASSERT_TRUE(same(DoubleDouble::from_integer(first + i), k, cos[at], sin[at]));
            }
          }
        }
      }
    }
  });
}

/// Integers of every size and doubles down to 2^-27.
DoubleDouble any_position(std::mt19937_64& engine) {
  const auto integer = static_cast<std::int64_t>(engine()) >> (engine() % 64);
  if (engine() % 2 == 0) return DoubleDouble::from_integer(integer);
  return DoubleDouble(std::ldexp(static_cast<double>(static_cast<std::int64_t>(engine())),
                                 -static_cast<int>(engine() % 90)));
}

TYPED_TEST(TableTargets, SinglePositions) {
  using Scalar = TypeParam;
  this->on_every_target([](const Frequencies& frequencies, const auto& same) {
    const detail::RowFiller filler(frequencies);
    const auto pairs = static_cast<std::size_t>(frequencies.pairs());
    std::vector<Scalar> cos(pairs + 1, Scalar(guard));
    std::vector<Scalar> sin(pairs + 1, Scalar(guard));
    std::mt19937_64 engine(3);
    for (int i = 0; i < 400; ++i) {
      const DoubleDouble position = i == 0 ? DoubleDouble(0) : any_position(engine);
      filler.fill_one(position, cos.data(), sin.data());
      ASSERT_EQ(cos.back(), Scalar(guard));
      ASSERT_EQ(sin.back(), Scalar(guard));
      for (std::size_t k = 0; k < pairs; ++k)
        ASSERT_TRUE(same(position, static_cast<Index>(k), cos[k], sin[k]));
    }
  });
}

TYPED_TEST(TableTargets, APositionForEachPair) {
  using Scalar = TypeParam;
  this->on_every_target([](const Frequencies& frequencies, const auto& same) {
    const detail::RowFiller filler(frequencies);
    const auto pairs = static_cast<std::size_t>(frequencies.pairs());
    std::vector<Scalar> cos(pairs);
    std::vector<Scalar> sin(pairs);
    std::vector<DoubleDouble> positions(pairs);
    std::mt19937_64 engine(4);
    for (int i = 0; i < 200; ++i) {
      // Every other row lies within reach of the kernels.
      for (DoubleDouble& position : positions) {
        position = i % 2 == 0
                       ? DoubleDouble::from_integer(static_cast<std::int64_t>(engine()) >> 40)
                       : any_position(engine);
      }
      filler.fill_mixed(positions.data(), cos.data(), sin.data());
      for (std::size_t k = 0; k < pairs; ++k)
        ASSERT_TRUE(same(positions[k], static_cast<Index>(k), cos[k], sin[k]));
    }
  });
}

template <class Scalar, class Same>
void expect_table(const Frequencies& frequencies, const Positions& positions, const Same& same) {
  const Cache<Scalar> cache(frequencies, positions, Layout::sbnd());
  const Cache<Scalar> batch_fastest(frequencies, positions, Layout::dsb());
  const Cache<Scalar> token_fastest(frequencies, positions,
                                    Layout{AxisRole::token, AxisRole::feature, AxisRole::batch});
  const Index tokens = positions.tokens();
  const Index batches = positions.batches();
  for (Index s = 0; s < tokens; ++s) {
    for (Index b = 0; b < batches; ++b) {
      for (Index k = 0; k < cache.pairs(); ++k) {
        const auto expect = [&](const Cache<Scalar>& table, Index at) {
          return same(positions.at(positions.axis(k), b, s), k, table.cos()[at], table.sin()[at]);
        };
        ASSERT_TRUE(expect(cache, (s * batches + b) * cache.pairs() + k));
        ASSERT_TRUE(expect(batch_fastest, (k * tokens + s) * batches + b));
        ASSERT_TRUE(expect(token_fastest, (b * cache.pairs() + k) * tokens + s));
      }
    }
  }
}

TYPED_TEST(TableTargets, TablesOfRunsGapsFractionsBatchesAndAxes) {
  this->on_every_target([](const Frequencies& frequencies, const auto& same) {
    constexpr std::int64_t two_to_53 = std::int64_t{1} << 53;
    expect_table<TypeParam>(frequencies, Positions::range(-9, 60), same);
    expect_table<TypeParam>(frequencies,
                            Positions::ids(std::vector<std::int64_t>{
                                5, 6, 7, 8, 9, 3, 3, 4, -1, 0, 1, 2, two_to_53 - 1, two_to_53,
                                two_to_53 + 1, std::numeric_limits<std::int64_t>::max()}),
                            same);
    expect_table<TypeParam>(
        frequencies,
        Positions::ids(std::vector<double>{0.5, 1.5, 2.5, 3, 4, 5, 6, 6.25, -0.0, 1e-9}), same);
    expect_table<TypeParam>(
        frequencies, Positions::per_batch(std::vector<int>{0, 2, 4, 6, 1, 3, 5, 7}, Batches{2}),
        same);
    // Three tokens of text, one position on every axis, then three of an image.
    const Sections sections(SectionPattern::contiguous, {1, 1, 1});
    expect_table<TypeParam>(
        frequencies,
        Positions::multi_axis(
            std::vector<int>{1, 2, 3, 4, 4, 4, 1, 2, 3, 4, 4, 5, 1, 2, 3, 4, 5, 4}, sections),
        same);
  });
}

/// Magnitudes that bring an entry within 2^-62 of the midpoint of 1 and the next number, to either
/// side of it: closer than sums and products of doubles can tell, so an entry that were not seen to
/// be in doubt would be wrong every other time.
TYPED_TEST(TableTargets, EntriesBesideAMidpointAreSeenToBeInDoubt) {
  using Scalar = TypeParam;
  const double next = 1 + std::ldexp(1.0, std::is_same_v<Scalar, float>         ? -23
                                          : std::is_same_v<Scalar, Eigen::half> ? -10
                                                                                : -7);
  constexpr std::int64_t position = 37;
  constexpr Index run = 20;
  const auto expect = [&](Scalar actual, bool above, const std::string& way) {
    EXPECT_EQ(static_cast<double>(static_cast<float>(actual)), above ? next : 1) << way;
  };
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> rate(0.01, 3);
  for (const std::string& target : kernel_targets()) {
    const OnlyTarget only(target);
    for (int i = 0; i < 200; ++i) {
      const bool above = i % 2 == 0;
      const bool of_sin = i % 4 < 2;
      const DoubleDouble radians = rate(engine);
      const detail::CosSin v = detail::cos_sin_of_turns(DoubleDouble::from_integer(position),
                                                        detail::rate_in_turns(radians));
      const DoubleDouble beside = DoubleDouble((1 + next) / 2) *
                                  (DoubleDouble(1) + DoubleDouble(above ? 0x1p-62 : -0x1p-62));
      const DoubleDouble magnitude = beside / (of_sin ? v.sin : v.cos);
      SCOPED_TRACE(target + ", rate " + std::to_string(radians.high) + ", magnitude " +
                   std::to_string(magnitude.high));
      const detail::RowFiller filler(Frequencies::explicit_rates({radians}, magnitude));
      std::vector<Scalar> cos(run);
      std::vector<Scalar> sin(run);
      filler.fill_range(position - 7, run, cos.data(), sin.data());
      expect(of_sin ? sin[7] : cos[7], above, "consecutive");
      filler.fill_columns(position - 11, run, run, cos.data(), sin.data());
      expect(of_sin ? sin[11] : cos[11], above, "consecutive, pairs apart");
      filler.fill_one(DoubleDouble::from_integer(position), cos.data(), sin.data());
      expect(of_sin ? sin[0] : cos[0], above, "single");
      const DoubleDouble positions[] = {DoubleDouble::from_integer(position)};
      filler.fill_mixed(positions, cos.data(), sin.data());
      expect(of_sin ? sin[0] : cos[0], above, "mixed");
    }
  }
}

/// The error that rounding's bounds assume, relative to the entry; the exact one is off by half an
/// ulp itself.
constexpr double assumed_error = 0x1p-49 + 0x1p-53;

TEST(TableKernels, SinesAndCosinesInDoubleKeepTheErrorAssumedOfThem) {
  constexpr Index pairs = 4096;
  std::mt19937_64 engine(6);
  std::uniform_real_distribution<double> rate(-2.5, 2.5);
  std::vector<DoubleDouble> turns;
  detail::AlignedVector<double> high;
  detail::AlignedVector<double> low;
  for (Index k = 0; k < pairs; ++k) {
    turns.push_back(detail::rate_in_turns(rate(engine)));
    high.push_back(4 * turns.back().high);
    low.push_back(4 * turns.back().low);
  }
  const detail::QuarterTurnSeries series = detail::quarter_turn_series(1);
  const detail::TableRates rates{pairs,  high.data(),  low.data(),
                                 series, turns.data(), DoubleDouble(1)};
  detail::AlignedVector<double> offsets(2 * detail::table_offsets * pairs);
  for (const std::string& target : kernel_targets()) {
    SCOPED_TRACE(target);
    const OnlyTarget only(target);
    detail::fill_table_offsets(rates, offsets.data());
    for (Index i = 0; i < detail::table_offsets; ++i) {
      for (Index k = 0; k < pairs; ++k) {
        double cos;
        double sin;
        const auto pair = static_cast<std::size_t>(k);
        detail::exact_entry(turns[pair], DoubleDouble(1), DoubleDouble::from_integer(i), cos, sin);
        const auto at = static_cast<std::size_t>(i * pairs) + pair;
        ASSERT_LE(std::abs(offsets[at] - cos), assumed_error * std::abs(cos))
            << "position " << i << ", pair " << k;
        ASSERT_LE(
            std::abs(offsets[static_cast<std::size_t>(detail::table_offsets * pairs) + at] - sin),
            assumed_error * std::abs(sin))
            << "position " << i << ", pair " << k;
      }
    }
  }
}

}  // namespace
}  // namespace eigen_rope::table_targets_tests
