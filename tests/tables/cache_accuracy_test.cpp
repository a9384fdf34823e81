// SPDX-License-Identifier: Apache-2.0
//
// The promise of eigen_rope/tables/cache.hpp: every entry lies within half an ulp of the stored
// value + |position| * 2^-63 * max(1, |m|) of the real-number formula, in every scalar, for every
// kind of frequencies and positions. Checked against 200-bit arithmetic.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "eigen_rope/tables/cache.hpp"
#include "support/real_formula.hpp"
#include "support/real_number.hpp"

namespace eigen_rope::cache_accuracy_tests {
namespace {

using test::exactly;
using test::Real;
using test::RealFrequencies;
using test::two_to;
using test::ulp;

struct Case {
  std::string name;
  Frequencies frequencies;
  RealFrequencies real;
};

Case powers_case(const std::string& name, const Powers<>& powers,
                 const std::optional<GgmlYarn<>>& yarn = std::nullopt) {
  return {name, yarn ? Frequencies(powers, *yarn) : Frequencies::powers(powers),
          test::real_frequencies(powers, yarn)};
}

Case explicit_case(const std::string& name, const std::vector<double>& rates, double m = 1) {
  Case result{name, Frequencies::explicit_rates(rates, m), {{}, exactly(m)}};
  for (const double rate : rates) result.real.rates.push_back(exactly(rate));
  return result;
}

/// m cos(t) and m sin(t) by the formula, [token][pair].
struct RealTable {
  std::vector<Real> cos;
  std::vector<Real> sin;
};

RealTable real_table(const RealFrequencies& frequencies, const Positions& positions) {
  RealTable table;
  for (Index token = 0; token < positions.tokens(); ++token) {
    for (std::size_t k = 0; k < frequencies.rates.size(); ++k) {
      const Real angle = exactly(positions.at(positions.axis(static_cast<Index>(k)), 0, token)) *
                         frequencies.rates[k];
      table.cos.push_back(frequencies.magnitude * cos(angle));
      table.sin.push_back(frequencies.magnitude * sin(angle));
    }
  }
  return table;
}

template <class Scalar>
void expect_entry(const Scalar& actual, const Real& expected, const Real& allowed_beyond_rounding) {
  ASSERT_TRUE((std::numeric_limits<double>::infinity() > static_cast<double>(abs(exactly(actual)))))
      << "not finite";
  EXPECT_LE(abs(exactly(actual) - expected), ulp(actual) / 2 + allowed_beyond_rounding);
}

template <class Scalar>
void expect_table(const Case& c, const Positions& positions, const RealTable& real) {
  const Cache<Scalar> cache(c.frequencies, positions, Layout::sd());
  const Index pairs = c.frequencies.pairs();
  ASSERT_EQ(static_cast<std::size_t>(pairs * positions.tokens()), real.cos.size());
  const Real magnitude = abs(c.real.magnitude);
  constexpr int bits = std::numeric_limits<Scalar>::digits;
  for (Index token = 0; token < positions.tokens(); ++token) {
    for (Index k = 0; k < pairs; ++k) {
      const Real position = exactly(positions.at(positions.axis(k), 0, token));
      SCOPED_TRACE(testing::Message() << c.name << ", position " << position << ", pair " << k
                                      << ", " << bits << " bits");
      const Real at_rounding = abs(position) * two_to(-63) + (bits > 64 ? two_to(-83) : Real(0));
      const Real allowed = at_rounding * (magnitude > 1 ? magnitude : Real(1));
      const auto i = static_cast<std::size_t>(token * pairs + k);
      expect_entry(cache.cos()[i], real.cos[i], allowed);
      expect_entry(cache.sin()[i], real.sin[i], allowed);
    }
  }
}

/// All five scalars.
void expect_tables(const Case& c, const Positions& positions) {
  const RealTable real = real_table(c.real, positions);
  expect_table<float>(c, positions, real);
  expect_table<double>(c, positions, real);
  expect_table<long double>(c, positions, real);
  expect_table<Eigen::half>(c, positions, real);
  expect_table<Eigen::bfloat16>(c, positions, real);
}

constexpr std::int64_t two_to_31 = std::int64_t{1} << 31;

/// Both signs, from 0 to 2^31: the ends, the lengths models have, integers that float cannot hold,
/// and arbitrary ones.
Positions integer_positions() {
  std::vector<std::int64_t> ids{
      0,         1,  2,     3,         63, 4095, 131071, 1000000, (1 << 24) + 1, two_to_31 - 1,
      two_to_31, -1, -4095, -two_to_31};
  std::mt19937_64 engine(20250611);
  for (const int bits : {5, 10, 15, 20, 25, 31})
    ids.push_back(static_cast<std::int64_t>(engine() >> (64 - bits)));
  return Positions::ids(ids);
}

Positions fractional_positions() {
  return Positions::ids(std::vector<double>{0.5, 0.1, -0.1, 1e-9, -1e-300, 3.141592653589793,
                                            1234.5678, -99999.999, 1048576.03125,
                                            2147483647.9999998});
}

GgmlYarn<> yarn_for(Index original_context, double ext_factor = 1) {
  GgmlYarn<> yarn;
  yarn.original_context = original_context;
  yarn.ext_factor = ext_factor;
  return yarn;
}

std::vector<Case> cases() {
  std::vector<double> factors;
  factors.reserve(32);
  for (int k = 0; k < 32; ++k) factors.push_back(1 + 0.71 * k);
  Powers<> with_factors{64, 1e4};
  with_factors.factors = factors;
  Powers<> yarn_with_factors{64, 5e5, 0.1, -1.4245};
  yarn_with_factors.factors = std::move(factors);
  Powers<> vision{32, 1e4};
  vision.exponent_dims = 16;
  vision.exponents = Sections(SectionPattern::vision, {8, 8}).exponents(16);
  return {
      powers_case("base 1e4", {128, 1e4}),
      powers_case("base 5e5", {64, 5e5}),
      powers_case("base below 1", {16, 0.01}),
      powers_case("linear", {64, 1e4, 0.1}),
      powers_case("attention factor", {64, 1e4, 1, 1.4245}),
      powers_case("factors", with_factors),
      powers_case("vision exponents", vision),
      powers_case("YaRN", {128, 1e4, 0.1}, yarn_for(4096)),
      powers_case("YaRN with factors", yarn_with_factors, yarn_for(8192, 0.7465)),
      explicit_case("explicit",
                    {0.1, -0.1, 1.5, -7.25, 1e-5, 3.141592653589793, 1e4 + 0.1, -123456.789}, -0.3),
  };
}

/// Rates and magnitudes nobody trains with.
std::vector<Case> degenerate_cases() {
  return {
      powers_case("two dims", {2, 1e4}),
      powers_case("base 1", {8, 1.0}),
      powers_case("slowest rates", {8, 1e200}),
      powers_case("magnitude 0", {8, 1e4, 1, 0}),
      // Subnormal in half, in half and float, and everywhere but in long double.
      powers_case("magnitude 1e-6", {8, 1e4, 1, 1e-6}),
      powers_case("magnitude 1e-40", {8, 1e4, 1, -1e-40}),
      powers_case("magnitude 1e-310", {8, 1e4, 1, 1e-310}),
      powers_case("magnitude 3e4", {8, 1e4, 1, 3e4}),
      explicit_case("rate 0", {0, 0}),
      explicit_case("subnormal rate", {std::numeric_limits<double>::denorm_min(), -1e-310}),
      explicit_case("quarter turns", {1.5707963267948966, -1.5707963267948966, 6.283185307179586}),
      explicit_case("fast rates", {1e9, -4294967296.5, 1099511627775.7}),
  };
}

TEST(CacheAccuracy, IntegerPositions) {
  for (const Case& c : cases()) expect_tables(c, integer_positions());
}

TEST(CacheAccuracy, FractionalPositions) {
  for (const Case& c : cases()) expect_tables(c, fractional_positions());
}

TEST(CacheAccuracy, DegenerateFrequencies) {
  for (const Case& c : degenerate_cases()) {
    expect_tables(c, integer_positions());
    expect_tables(c, fractional_positions());
  }
}

TEST(CacheAccuracy, RatesAndMagnitudesFinerThanDouble) {
  const std::vector<DoubleDouble> rates{{0.1, 6.1e-18}, {-2.5, 2.1e-16}};
  const DoubleDouble magnitude{1.1, -1e-16};
  const Case c{"double-doubles",
               Frequencies::explicit_rates(rates, magnitude),
               {{exactly(rates[0]), exactly(rates[1])}, exactly(magnitude)}};
  expect_tables(c, integer_positions());
}

TEST(CacheAccuracy, SectionsWithPositionsOnEveryAxis) {
  const std::vector<std::int64_t> axes{0, 4095, -two_to_31, 131071, 17, two_to_31,
                                       1, -3,   1000000,    2,      99, (1 << 24) + 1};
  for (const SectionPattern pattern :
       {SectionPattern::contiguous, SectionPattern::vision, SectionPattern::interleaved_ggml}) {
    const Sections sections(pattern, {6, 5, 4, 1});
    Powers<> powers{32, 1e4};
    powers.exponents = sections.exponents(16);
    expect_tables(powers_case("four axes", powers), Positions::multi_axis(axes, sections));
  }
  const Sections hf(SectionPattern::interleaved_hf, {6, 5, 5});
  expect_tables(powers_case("three axes", {32, 5e5}), Positions::multi_axis(axes, hf));
}

TEST(CacheAccuracy, PositionsBeyond2To31LoseNoMoreThanTheTermThatGrowsWithThem) {
  constexpr std::int64_t one = 1;
  const Positions positions = Positions::ids(
      std::vector<std::int64_t>{(one << 32) + 1, (one << 40) - 1, -(one << 48) - 1, (one << 53) + 1,
                                std::numeric_limits<std::int64_t>::min()});
  expect_tables(powers_case("base 1e4", {64, 1e4}), positions);
  expect_tables(powers_case("YaRN", {64, 5e5, 0.1}, yarn_for(4096)), positions);
}

}  // namespace
}  // namespace eigen_rope::cache_accuracy_tests
