// SPDX-License-Identifier: Apache-2.0
//
// Frequencies and positions of the C interface are those of the C++ one: every scaling, every
// parameter by its name, every form of positions.
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "c/problem.hpp"
#include "eigen_rope/choices/frequencies.hpp"

namespace eigen_rope::test::c_choices_tests {
namespace {

struct Destroy {
  void operator()(eigen_rope_frequencies* frequencies) const {
    eigen_rope_frequencies_destroy(frequencies);
  }
  void operator()(eigen_rope_positions* positions) const {
    eigen_rope_positions_destroy(positions);
  }
};
using CFrequencies = std::unique_ptr<eigen_rope_frequencies, Destroy>;
using CPositions = std::unique_ptr<eigen_rope_positions, Destroy>;

eigen_rope_parameter number(const char* name, double value) {
  return {name, value, nullptr, nullptr, 0};
}
eigen_rope_parameter word(const char* name, const char* value) {
  return {name, 0, value, nullptr, 0};
}
eigen_rope_parameter list(const char* name, const std::vector<double>& values) {
  return {name, 0, nullptr, values.data(), static_cast<std::int64_t>(values.size())};
}

/// Rates and the attention factor behind them, rounded to double.
std::vector<double> numbers_of(const Frequencies& frequencies) {
  std::vector<double> numbers;
  for (const DoubleDouble& rate : frequencies.rates()) numbers.push_back(rate.high);
  numbers.push_back(frequencies.attention_factor().high);
  return numbers;
}

std::vector<double> numbers_of(const eigen_rope_frequencies* frequencies) {
  std::int64_t pairs = 0;
  EXPECT_DONE(eigen_rope_frequencies_pairs(frequencies, &pairs));
  std::vector<double> numbers(static_cast<std::size_t>(pairs) + 1);
  EXPECT_DONE(eigen_rope_frequencies_rates(frequencies, numbers.data(), pairs,
                                           &numbers[static_cast<std::size_t>(pairs)]));
  return numbers;
}

std::vector<double> made(const char* scaling, std::vector<eigen_rope_parameter> parameters,
                         std::int64_t length = 0) {
  eigen_rope_frequencies* frequencies = nullptr;
  EXPECT_DONE(eigen_rope_frequencies_create(scaling, parameters.data(),
                                            static_cast<std::int64_t>(parameters.size()), length,
                                            &frequencies));
  return frequencies == nullptr ? std::vector<double>()
                                : numbers_of(CFrequencies(frequencies).get());
}

constexpr Index D = 16;

TEST(CChoices, EveryParameterOfPowersIsReadByItsName) {
  Powers<> powers{D, 500000.0};
  powers.linear_scale = 0.25;
  powers.attention_factor = 1.5;
  powers.factors = {1, 2, 3, 4, 5, 6, 7, 8};
  powers.exponents = {0, 1, 2, 3, 0, 1, 2, 3};
  powers.exponent_dims = 8;
  const std::vector<double> exponents(powers.exponents.begin(), powers.exponents.end());
  EXPECT_EQ(made("default",
                 {number("rotary_dims", D), number("base", 500000.0), number("linear_scale", 0.25),
                  number("attention_factor", 1.5), list("factors", powers.factors),
                  list("exponents", exponents), number("exponent_dims", 8)}),
            numbers_of(Frequencies::powers(powers)));
}

TEST(CChoices, EveryScalingIsMadeByItsName) {
  const Powers<> powers{D, 10000.0};
  const eigen_rope_parameter dims = number("rotary_dims", D);
  EXPECT_EQ(made("linear", {dims, number("factor", 4.0)}),
            numbers_of(Frequencies(powers, Linear{4.0})));
  Proportional<> proportional;
  proportional.factor = 2.0;
  proportional.rotated_pairs = 3;
  EXPECT_EQ(made("proportional", {dims, number("factor", 2.0), number("rotated_pairs", 3)}),
            numbers_of(Frequencies(powers, proportional)));
  EXPECT_EQ(made("dynamic", {dims, number("factor", 4.0), number("original_context", 64)}, 500),
            numbers_of(Frequencies(powers, DynamicNtkScaling{4.0, 64}, 500)));
  EXPECT_EQ(made("ntk", {dims, number("factor", 8.0), number("mixed_b", 0.625)}),
            numbers_of(Frequencies(powers, NtkScaling{8.0, 0.625})));
  Yarn<> yarn;
  yarn.factor = 4.0;
  yarn.original_context = 128;
  yarn.ends = RampEnds::exact;
  yarn.magnitude = YarnMagnitude::deepseek;
  yarn.mscale = 0.7;
  EXPECT_EQ(
      made("yarn", {dims, number("factor", 4.0), number("original_context", 128),
                    word("ends", "exact"), word("magnitude", "deepseek"), number("mscale", 0.7)}),
      numbers_of(Frequencies(powers, yarn)));
  GgmlYarn<> ggml;
  ggml.ext_factor = 1.0;
  ggml.original_context = 128;
  Powers<> scaled = powers;
  scaled.linear_scale = 0.25;
  EXPECT_EQ(made("ggml_yarn", {dims, number("linear_scale", 0.25), number("ext_factor", 1.0),
                               number("original_context", 128)}),
            numbers_of(Frequencies(scaled, ggml)));
  EXPECT_EQ(made("llama3", {dims, number("factor", 8.0), number("low_freq_factor", 1.0),
                            number("high_freq_factor", 4.0), number("original_context", 64)}),
            numbers_of(Frequencies(powers, Llama3{8.0, 1.0, 4.0, 64})));
  LongRope<> longrope;
  longrope.short_factor = {1, 1, 1, 1, 1, 1, 1, 1.5};
  longrope.long_factor = {1, 2, 3, 4, 5, 6, 7, 8};
  longrope.original_context = 64;
  longrope.factor = 4.0;
  const std::vector<eigen_rope_parameter> of_longrope{
      dims, list("short_factor", longrope.short_factor), list("long_factor", longrope.long_factor),
      number("original_context", 64), number("factor", 4.0)};
  for (const Index length : {10, 1000}) {
    EXPECT_EQ(made("longrope", of_longrope, length),
              numbers_of(Frequencies(powers, longrope, length)));
  }
}

TEST(CChoices, RatesMayBeGivenOneByOne) {
  const std::vector<double> rates{1.0, -0.25, 0.0625};
  eigen_rope_frequencies* frequencies = nullptr;
  EXPECT_DONE(eigen_rope_frequencies_from_rates(rates.data(), 3, 1.25, &frequencies));
  EXPECT_EQ(numbers_of(CFrequencies(frequencies).get()),
            (std::vector<double>{1.0, -0.25, 0.0625, 1.25}));
}

/// cos and sin of `positions`, 8 pairs wide.
std::vector<float> table_of(const eigen_rope_positions* positions) {
  const std::vector<double> rates{0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008};
  eigen_rope_frequencies* frequencies = nullptr;
  EXPECT_DONE(eigen_rope_frequencies_from_rates(rates.data(), 8, 1.0, &frequencies));
  const CFrequencies owner(frequencies);
  std::int64_t shape[EIGEN_ROPE_MAX_RANK];
  std::int32_t ndim = 0;
  EXPECT_DONE(eigen_rope_table_shape(frequencies, positions, "bsd", shape, &ndim));
  std::int64_t size = 1;
  for (std::int32_t axis = 0; axis < ndim; ++axis) size *= shape[axis];
  std::vector<float> memory(static_cast<std::size_t>(2 * size));
  const std::vector<std::int64_t> extents(shape, shape + ndim);
  const CTensor cos(ScalarType::f32, memory.data(), extents);
  const CTensor sin(ScalarType::f32, memory.data() + size, extents);
  EXPECT_DONE(eigen_rope_fill_table(cos.get(), sin.get(), frequencies, positions, "bsd"));
  return memory;
}

std::vector<float> table_of(const Positions& positions) {
  const Frequencies frequencies = Frequencies::explicit_rates(
      std::vector<double>{0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008});
  const Index size = 8 * positions.tokens() * positions.batches();
  std::vector<float> memory(static_cast<std::size_t>(2 * size));
  any::TableMemory table{ScalarType::f32,
                         memory.data(),
                         memory.data() + size,
                         {positions.batches(), positions.tokens(), 8}};
  any::fill_table(table, frequencies, positions, Layout::bsd());
  return memory;
}

template <class Number>
void expect_list(const std::vector<Number>& numbers, const eigen_rope_tensor_type& type,
                 std::int64_t batches) {
  const eigen_rope_position_list ids = c_positions(numbers, batches, type);
  eigen_rope_positions* positions = nullptr;
  EXPECT_DONE(eigen_rope_positions_of(&ids, &positions));
  EXPECT_EQ(table_of(CPositions(positions).get()),
            table_of(Positions::per_batch(numbers, Batches{batches == 0 ? 1 : batches})));
}

TEST(CChoices, NumbersOfEveryTypeAreThePositions) {
  expect_list<std::int32_t>({-7, 0, 2147483647}, {EIGEN_ROPE_INT, 32, 1}, 0);
  expect_list<std::int64_t>({7, 8, 9, 500, (std::int64_t{1} << 53) + 1, 502},
                            {EIGEN_ROPE_INT, 64, 1}, 2);
  expect_list<float>({0.5F, -3.25F}, {EIGEN_ROPE_FLOAT, 32, 1}, 1);
  expect_list<double>({0.1, -1e6}, {EIGEN_ROPE_FLOAT, 64, 1}, 2);
}

TEST(CChoices, RangesAndPackedSequencesAreThoseOfCpp) {
  eigen_rope_positions* positions = nullptr;
  EXPECT_DONE(eigen_rope_positions_range(-2, 5, &positions));
  EXPECT_EQ(table_of(CPositions(positions).get()), table_of(Positions::range(-2, 5)));
  const std::vector<std::int64_t> ends{0, 3, 3, 5}, starts{70, 0, -4};
  EXPECT_DONE(eigen_rope_positions_packed(ends.data(), 4, nullptr, &positions));
  EXPECT_EQ(table_of(CPositions(positions).get()), table_of(Positions::packed(ends)));
  EXPECT_DONE(eigen_rope_positions_packed(ends.data(), 4, starts.data(), &positions));
  EXPECT_EQ(table_of(CPositions(positions).get()), table_of(Positions::packed(ends, starts)));
}

TEST(CChoices, SectionsDealPairsToAxes) {
  struct Pattern {
    std::int32_t number;
    Sections sections;
  };
  const std::vector<Pattern> patterns{
      {EIGEN_ROPE_CONTIGUOUS, {SectionPattern::contiguous, {2, 3, 3}}},
      {EIGEN_ROPE_VISION, {SectionPattern::vision, {4, 4}}},
      {EIGEN_ROPE_INTERLEAVED_GGML, {SectionPattern::interleaved_ggml, {2, 2, 2, 2}}},
      {EIGEN_ROPE_INTERLEAVED_HF, {SectionPattern::interleaved_hf, {4, 2, 2}}}};
  const std::vector<std::int64_t> numbers{0, 1, 2, 3, 40, 50, 60, 70, 800, 900, 1000, 1100,
                                          9, 8, 7, 6, 5,  4,  3,  2,  1,   0,   -1,   -2};
  for (const Pattern& pattern : patterns) {
    SCOPED_TRACE(pattern.sections.text());
    const std::vector<std::int64_t> lengths(pattern.sections.lengths().begin(),
                                            pattern.sections.lengths().end());
    eigen_rope_position_list ids = c_positions(numbers, 2);
    ids.section_pattern = pattern.number;
    ids.sections = lengths.data();
    ids.section_count = static_cast<std::int64_t>(lengths.size());
    eigen_rope_positions* positions = nullptr;
    EXPECT_DONE(eigen_rope_positions_of(&ids, &positions));
    EXPECT_EQ(table_of(CPositions(positions).get()),
              table_of(Positions::multi_axis(numbers, pattern.sections, Batches{2})));
  }
}

TEST(CChoices, NamesAreThoseOfCpp) {
  const std::vector<std::string> pairings{"", "split_half", "interleaved", "quarter",
                                          "interleaved_to_split_half"};
  for (std::int32_t expected = EIGEN_ROPE_SPLIT_HALF;
       expected <= EIGEN_ROPE_INTERLEAVED_TO_SPLIT_HALF; ++expected) {
    std::int32_t pairing = 0;
    EXPECT_DONE(
        eigen_rope_pairing_of(pairings[static_cast<std::size_t>(expected)].c_str(), &pairing));
    EXPECT_EQ(pairing, expected);
  }
  const std::vector<std::string> directions{"forward", "backward", "inverse"};
  for (std::int32_t expected = EIGEN_ROPE_FORWARD; expected <= EIGEN_ROPE_INVERSE; ++expected) {
    std::int32_t direction = 9;
    EXPECT_DONE(eigen_rope_direction_of(directions[static_cast<std::size_t>(expected)].c_str(),
                                        &direction));
    EXPECT_EQ(direction, expected);
  }
}

}  // namespace
}  // namespace eigen_rope::test::c_choices_tests
