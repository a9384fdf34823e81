// SPDX-License-Identifier: Apache-2.0
//
// The table in stock tensor operations: every step against its formula, and the whole against
// Cache, at positions small enough for plain double.
#include "eigen_rope/forms/composed_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "eigen_rope/forms/reference.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "support/error_of.hpp"

namespace eigen_rope::composed_table_tests {
namespace {

using composed::TableSteps;

constexpr double epsilon = std::numeric_limits<double>::epsilon();
/// A power formed by exp(k log(theta_scale)), |k log(theta_scale)| < 14, and a few products after
/// it.
constexpr double rate_tolerance = 32 * epsilon;

const std::vector<double> positions{0, 1, 2, 7.5, -3, 63};
/// Angles reach 63: their own rounding, that of the rates, and the magnitude's.
constexpr double entry_tolerance = 2 * 63 * rate_tolerance;

struct Case {
  std::string name;
  Powers<> powers;
  std::optional<GgmlYarn<>> yarn;
};

std::vector<Case> cases() {
  std::vector<double> factors;
  factors.reserve(20);
  for (int k = 0; k < 20; ++k) factors.push_back(0.9 + 0.05 * k);
  Powers<> vision_dims{16, 10000.0};
  vision_dims.exponent_dims = 8;
  GgmlYarn<> yarn;
  yarn.original_context = 4096;
  GgmlYarn<> partial = yarn;
  partial.ext_factor = 0.7465;
  GgmlYarn<> off = yarn;
  off.ext_factor = 0;
  const Powers<> everything{32, 5e5, 0.25, 1.4245, factors, {}, 0};
  return {
      {"powers", {32, 10000.0}, std::nullopt},
      {"linear", {32, 10000.0, 0.25}, std::nullopt},
      {"attention factor", {32, 10000.0, 1, -1.5}, std::nullopt},
      {"factors, more than needed", {32, 10000.0, 1, 1, factors, {}, 0}, std::nullopt},
      {"exponent dims", vision_dims, std::nullopt},
      {"YaRN", {64, 10000.0, 0.1}, yarn},
      {"everything", everything, partial},
      {"YaRN switched off", everything, off},
      {"one pair, two for quarter", {4, 10000.0}, std::nullopt},
  };
}

const std::vector<PairKind> kinds{PairKind::split_half, PairKind::interleaved, PairKind::quarter,
                                  PairKind::interleaved_to_split_half};

Frequencies frequencies_of(const Case& c) {
  return c.yarn ? Frequencies(c.powers, *c.yarn) : Frequencies::powers(c.powers);
}

TEST(ComposedTable, RatesAreThoseOfFrequencies) {
  for (const Case& c : cases()) {
    const TableSteps steps =
        composed::table_steps(c.powers, c.yarn, positions, PairKind::split_half);
    const Frequencies frequencies = frequencies_of(c);
    ASSERT_EQ(steps.rates.size(), frequencies.pairs()) << c.name;
    for (Index k = 0; k < frequencies.pairs(); ++k) {
      const auto expected = static_cast<double>(frequencies.rates()[static_cast<std::size_t>(k)]);
      EXPECT_NEAR(steps.rates(k), expected, rate_tolerance * expected) << c.name << ", pair " << k;
    }
  }
}

TEST(ComposedTable, FullWidthEntriesStandAtTheOutputSlotsOfTheirPairs) {
  for (const Case& c : cases()) {
    const Cache<double> cache(frequencies_of(c), Positions::ids(positions), Layout::sd());
    const double magnitude = std::abs(static_cast<double>(frequencies_of(c).attention_factor()));
    for (const PairKind kind : kinds) {
      SCOPED_TRACE(testing::Message() << c.name << ", kind " << static_cast<int>(kind));
      const TableSteps steps = composed::table_steps(c.powers, c.yarn, positions, kind);
      ASSERT_EQ(steps.cos.dimension(0), c.powers.rotary_dims);
      ASSERT_EQ(steps.cos.dimension(1), static_cast<Index>(positions.size()));
      ASSERT_EQ(steps.sin.dimensions(), steps.cos.dimensions());
      for (Index s = 0; s < static_cast<Index>(positions.size()); ++s) {
        for (Index k = 0; k < cache.pairs(); ++k) {
          const PairSlots slots = pair_slots(kind, k, c.powers.rotary_dims);
          for (const Index slot : {slots.A, slots.B}) {
            EXPECT_NEAR(steps.cos(slot, s), cache.cos()[s * cache.pairs() + k],
                        entry_tolerance * magnitude)
                << "slot " << slot;
            EXPECT_NEAR(steps.sin(slot, s), cache.sin()[s * cache.pairs() + k],
                        entry_tolerance * magnitude)
                << "slot " << slot;
          }
        }
      }
    }
  }
}

TEST(ComposedTable, StepsFollowEachOther) {
  // 16^(-2k/4) = 1, 1/4; factors 1 and 2; scale 1/2.
  const Powers<> powers{4, 16.0, 0.5, 1, {1, 2}, {}, 0};
  const TableSteps steps =
      composed::table_steps(powers, std::nullopt, {0, 3}, PairKind::interleaved);
  const auto expect_vector = [](const composed::Vector& actual,
                                const std::vector<double>& expected) {
    ASSERT_EQ(actual.size(), static_cast<Index>(expected.size()));
    for (std::size_t k = 0; k < expected.size(); ++k)
      EXPECT_NEAR(actual(static_cast<Index>(k)), expected[k], rate_tolerance);
  };
  expect_vector(steps.arange, {0, 1});
  expect_vector(steps.powers, {1, 0.25});
  expect_vector(steps.divided, {1, 0.125});
  expect_vector(steps.scaled, {0.5, 0.0625});
  expect_vector(steps.rates, {0.5, 0.0625});
  ASSERT_EQ(steps.outer.dimension(0), 2);
  ASSERT_EQ(steps.outer.dimension(1), 2);
  ASSERT_EQ(steps.angles.dimension(0), 2);
  for (Index s = 0; s < 2; ++s) {
    for (Index k = 0; k < 2; ++k) {
      const double angle = 3.0 * static_cast<double>(s) * (k == 0 ? 0.5 : 0.0625);
      EXPECT_NEAR(steps.outer(s, k), angle, entry_tolerance);
      EXPECT_EQ(steps.angles(k, s), steps.outer(s, k));
      for (Index member = 0; member < 2; ++member) {
        EXPECT_NEAR(steps.cos(2 * k + member, s), std::cos(angle), entry_tolerance);
        EXPECT_NEAR(steps.sin(2 * k + member, s), std::sin(angle), entry_tolerance);
      }
    }
  }
}

TEST(ComposedTable, RotatesLikeTheHalfWidthTable) {
  const Powers<> powers{16, 10000.0};
  const Cache<double> cache(Frequencies::powers(powers), Positions::ids(positions), Layout::sd());
  const Shape shape{16, static_cast<Index>(positions.size())};
  std::vector<double> x(static_cast<std::size_t>(shape.size()));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::sin(static_cast<double>(i * i % 101));  // within [-1, 1]
  for (const PairKind kind : kinds) {
    const TableSteps steps = composed::table_steps(powers, std::nullopt, positions, kind);
    const TableView<double> full_width{steps.cos.data(), steps.sin.data(), 16,
                                       Shape{static_cast<Index>(positions.size())}};
    std::vector<double> by_full_width(x.size());
    std::vector<double> by_half_width(x.size());
    reference::rotate(x.data(), by_full_width.data(), shape, full_width, Pairing(kind));
    reference::rotate(x.data(), by_half_width.data(), shape, cache.view(), Pairing(kind));
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(by_full_width[i], by_half_width[i], 2 * entry_tolerance) << "element " << i;
  }
}

TEST(ComposedTable, MayHaveNoTokens) {
  const TableSteps steps = composed::table_steps({8}, std::nullopt, {}, PairKind::split_half);
  EXPECT_EQ(steps.cos.dimension(0), 8);
  EXPECT_EQ(steps.cos.dimension(1), 0);
}

TEST(ComposedTable, RefusesWhatFrequenciesRefuseAndWhatItCannotExpress) {
  const auto error = [](const Powers<>& powers, PairKind kind,
                        const std::optional<GgmlYarn<>>& yarn = std::nullopt) {
    return test::error_of([&] { (void)composed::table_steps(powers, yarn, positions, kind); });
  };
  Powers<> with_exponents{8};
  with_exponents.exponents = {0, 0, 1, 1};
  GgmlYarn<> bad_yarn;
  bad_yarn.beta_fast = -1;
  EXPECT_EQ(error(with_exponents, PairKind::split_half),
            "[rope] the composed table takes exponents 0, 1, 2, ... only, got a list of its own");
  EXPECT_EQ(error({6}, PairKind::quarter),
            "[rope] rotary dims must be divisible by 4 for quarter pairing, got 6");
  EXPECT_EQ(error({7}, PairKind::split_half), "[rope] rotary dims must be even, got 7");
  EXPECT_EQ(error({8}, PairKind::split_half, bad_yarn),
            "[rope] beta fast must be finite and not negative, got -1");
}

}  // namespace
}  // namespace eigen_rope::composed_table_tests
