// SPDX-License-Identifier: Apache-2.0
//
// Every refusal of the parts below the tensor expression, by its whole message: one line per argument and fault.
#include "rope/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "error_of.hpp"
#include "rope/cache.hpp"
#include "rope/detail/determinant.hpp"
#include "rope/detail/plan.hpp"
#include "rope/detail/walk.hpp"
#include "rope/frequencies.hpp"
#include "rope/layout.hpp"
#include "rope/positions.hpp"
#include "rope/reference.hpp"
#include "rope/sections.hpp"
#include "rope/shape.hpp"
#include "rope/strided_view.hpp"

namespace rope {
namespace {

using test::error_of;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t int64_min = std::numeric_limits<std::int64_t>::min();
constexpr Index huge = Index{1} << 62;

struct Fault {
  std::function<void()> call;
  /// Without the "[rope] " every message begins with.
  std::string message;
};

void expect_messages(const std::vector<Fault>& faults) {
  ASSERT_THAT(faults, testing::Not(testing::IsEmpty()));
  for (const Fault& fault : faults) EXPECT_EQ(error_of(fault.call), "[rope] " + fault.message);
}

/// Powers that are valid, with one thing changed.
template <class Change>
Fault bad_powers(Change change, const std::string& message) {
  return {[change] {
            Powers powers;
            powers.rotary_dims = 8;
            change(powers);
            (void)Frequencies::powers(powers);
          },
          message};
}

template <class Change>
Fault bad_yarn(Change change, const std::string& message) {
  return {[change] {
            Powers powers;
            powers.rotary_dims = 8;
            Yarn yarn;
            yarn.original_context = 4096;
            change(powers, yarn);
            (void)Frequencies::yarn(powers, yarn);
          },
          message};
}

TEST(Error, IsAnInvalidArgument) {
  static_assert(std::is_base_of_v<std::invalid_argument, Error>);
  EXPECT_THROW(Frequencies::powers({}), std::invalid_argument);
}

TEST(Error, SentencesNameTheRuleAndTheValue) {
  expect_messages({
      {[] { detail::fail("a rule"); }, "a rule"},
      {[] { detail::fail("a rule", std::int64_t{-7}); }, "a rule, got -7"},
      {[] { detail::fail("a rule", int64_min); }, "a rule, got -9223372036854775808"},
      {[] { detail::fail("a rule", 0.25); }, "a rule, got 0.25"},
      {[] { detail::fail("a rule", nan); }, "a rule, got nan"},
      {[] { detail::fail("a rule", -nan); }, "a rule, got nan"},
      {[] { detail::fail("a rule", "[1, 2]"); }, "a rule, got [1, 2]"},
      {[] { detail::fail("braces {} are not a format", "{}"); }, "braces {} are not a format, got {}"},
      {[] { detail::checked_product("it", huge, 2); }, "it must fit a 64-bit count, got 4611686018427387904 x 2"},
      {[] { detail::checked_product("it", 3, int64_max); }, "it must fit a 64-bit count, got 3 x 9223372036854775807"},
  });
}

TEST(Error, CheckedProductsThatFitAreReturned) {
  EXPECT_EQ(detail::checked_product("it", int64_max, 1), int64_max);
  EXPECT_EQ(detail::checked_product("it", 1, int64_max), int64_max);
  EXPECT_EQ(detail::checked_product("it", int64_max, 0), 0);
  EXPECT_EQ(detail::checked_product("it", 0, int64_max), 0);
  EXPECT_EQ(detail::checked_product("it", int64_max / 7, 7), int64_max / 7 * 7);
}

TEST(Error, Powers) {
  expect_messages({
      bad_powers([](Powers& p) { p.rotary_dims = 0; }, "rotary dims must be positive, got 0"),
      bad_powers([](Powers& p) { p.rotary_dims = -8; }, "rotary dims must be positive, got -8"),
      bad_powers([](Powers& p) { p.rotary_dims = 7; }, "rotary dims must be even, got 7"),
      bad_powers([](Powers& p) { p.base = 0; }, "base must be finite and greater than 0, got 0"),
      bad_powers([](Powers& p) { p.base = -10000; }, "base must be finite and greater than 0, got -10000"),
      bad_powers([](Powers& p) { p.base = infinity; }, "base must be finite and greater than 0, got inf"),
      bad_powers([](Powers& p) { p.base = nan; }, "base must be finite and greater than 0, got nan"),
      bad_powers([](Powers& p) { p.linear_scale = 0; }, "linear scale must be finite and greater than 0, got 0"),
      bad_powers([](Powers& p) { p.linear_scale = -0.25; }, "linear scale must be finite and greater than 0, got -0.25"),
      bad_powers([](Powers& p) { p.linear_scale = infinity; }, "linear scale must be finite and greater than 0, got inf"),
      bad_powers([](Powers& p) { p.linear_scale = nan; }, "linear scale must be finite and greater than 0, got nan"),
      bad_powers([](Powers& p) { p.attention_factor = -infinity; }, "attention factor must be finite, got -inf"),
      bad_powers([](Powers& p) { p.attention_factor = nan; }, "attention factor must be finite, got nan"),
      bad_powers(
          [](Powers& p) {
            p.factors = {1, 2, 3};
          },
          "frequency factors must be at least one per pair (4), got 3"),
      bad_powers(
          [](Powers& p) {
            p.factors = {1, 2, 0, 4};
          },
          "frequency factor 2 must be finite and not 0, got 0"),
      bad_powers(
          [](Powers& p) {
            p.factors = {1, nan, 1, 1};
          },
          "frequency factor 1 must be finite and not 0, got nan"),
      bad_powers(
          [](Powers& p) {
            p.factors = {1, 1, 1, infinity};
          },
          "frequency factor 3 must be finite and not 0, got inf"),
      bad_powers(
          [](Powers& p) {
            p.exponents = {0, 1, 2};
          },
          "exponents must be one per pair (4), got 3"),
      bad_powers(
          [](Powers& p) {
            p.exponents = {0, 1, 2, 3, 4};
          },
          "exponents must be one per pair (4), got 5"),
      bad_powers([](Powers& p) { p.exponent_dims = -2; }, "exponent dims must not be negative, got -2"),
      // 1e-300^(-2 * 3 / 2) is beyond double.
      bad_powers(
          [](Powers& p) {
            p.base = 1e-300;
            p.exponent_dims = 2;
          },
          "rate 2 must be finite, got inf"),
  });
}

TEST(Error, Yarn) {
  expect_messages({
      bad_yarn([](Powers&, Yarn& y) { y.ext_factor = nan; }, "ext factor must be finite, got nan"),
      bad_yarn([](Powers&, Yarn& y) { y.ext_factor = infinity; }, "ext factor must be finite, got inf"),
      bad_yarn([](Powers&, Yarn& y) { y.original_context = -1; }, "original context must not be negative, got -1"),
      bad_yarn([](Powers&, Yarn& y) { y.beta_fast = -1; }, "beta fast must be finite and not negative, got -1"),
      bad_yarn([](Powers&, Yarn& y) { y.beta_fast = infinity; }, "beta fast must be finite and not negative, got inf"),
      bad_yarn([](Powers&, Yarn& y) { y.beta_slow = -0.5; }, "beta slow must be finite and not negative, got -0.5"),
      bad_yarn([](Powers&, Yarn& y) { y.beta_slow = nan; }, "beta slow must be finite and not negative, got nan"),
      bad_yarn([](Powers& p, Yarn&) { p.base = 1; }, "base must not be 1 with YaRN, whose correction dims divide by its logarithm, got 1"),
      // What powers() refuses, yarn() refuses with the same words, ext_factor 0 or not.
      bad_yarn([](Powers& p, Yarn&) { p.rotary_dims = 7; }, "rotary dims must be even, got 7"),
      bad_yarn(
          [](Powers& p, Yarn& y) {
            y.ext_factor = 0;
            p.linear_scale = 0;
          },
          "linear scale must be finite and greater than 0, got 0"),
      {[] { (void)yarn_correction_dims(0, 10000, {}); }, "rotary dims must be positive, got 0"},
      {[] { (void)yarn_correction_dims(128, -1, {}); }, "base must be finite and greater than 0, got -1"},
      {[] { (void)yarn_correction_dims(128, 1, {}); },
       "base must not be 1 with YaRN, whose correction dims divide by its logarithm, got 1"},
  });
}

TEST(Error, NtkBase) {
  expect_messages({
      {[] { (void)ntk_base(2, 10000, 4); }, "rotary dims must be greater than 2 for NTK scaling, got 2"},
      {[] { (void)ntk_base(-4, 10000, 4); }, "rotary dims must be greater than 2 for NTK scaling, got -4"},
      {[] { (void)ntk_base(128, 0, 4); }, "base must be finite and greater than 0, got 0"},
      {[] { (void)ntk_base(128, 10000, 0); }, "factor must be finite and greater than 0, got 0"},
      {[] { (void)ntk_base(128, 10000, nan); }, "factor must be finite and greater than 0, got nan"},
  });
}

TEST(Error, ExplicitRates) {
  expect_messages({
      {[] { (void)Frequencies::explicit_rates(std::vector<double>{}); }, "the number of rates must be positive, got 0"},
      {[] { (void)Frequencies::explicit_rates(std::vector<DoubleDouble>{}, DoubleDouble(1)); },
       "the number of rates must be positive, got 0"},
      {[] {
         (void)Frequencies::explicit_rates(std::vector<double>{1, nan});
       },
       "rate 1 must be finite, got nan"},
      {[] { (void)Frequencies::explicit_rates(std::vector<double>{-infinity}); }, "rate 0 must be finite, got -inf"},
      {[] {
         (void)Frequencies::explicit_rates({DoubleDouble(1), DoubleDouble(1, nan)}, DoubleDouble(1));
       },
       "rate 1 must be finite, got nan"},
      {[] { (void)Frequencies::explicit_rates(std::vector<double>{1}, infinity); }, "attention factor must be finite, got inf"},
      {[] { (void)Frequencies::explicit_rates({DoubleDouble(1)}, DoubleDouble(1, nan)); }, "attention factor must be finite, got nan"},
  });
}

TEST(Error, Sections) {
  using Pattern = SectionPattern;
  const auto sections = [](Pattern pattern, const std::vector<Index>& lengths, const std::string& message) {
    return Fault{[=] { (void)Sections(pattern, lengths); }, message};
  };
  expect_messages({
      sections(Pattern::contiguous, {}, "sections must be 1 to 4, got 0"),
      sections(Pattern::contiguous, {1, 1, 1, 1, 1}, "sections must be 1 to 4, got 5"),
      sections(Pattern::vision, {1, 1, 1, 1, 1}, "sections must be 1 to 4, got 5"),
      sections(Pattern::interleaved_ggml, {24, 20, 20}, "interleaved_ggml sections must be 4 (t, h, w, e), got 3"),
      sections(Pattern::interleaved_hf, {24, 20, 20, 0}, "interleaved_hf sections must be 3 (t, h, w), got 4"),
      sections(Pattern::contiguous, {8, -1, 8}, "section lengths must not be negative, got -1"),
      sections(Pattern::vision, {0}, "sections must not be 0 on all of the first three axes, got [0]"),
      sections(Pattern::contiguous, {0, 0, 0, 8}, "sections must not be 0 on all of the first three axes, got [0, 0, 0, 8]"),
      sections(Pattern::interleaved_hf, {0, 0, 0}, "sections must not be 0 on all of the first three axes, got [0, 0, 0]"),
      sections(Pattern::contiguous, {Index{1} << 31}, "section lengths must sum to less than 2^31, got [2147483648]"),
      sections(Pattern::contiguous, {1, int64_max}, "section lengths must sum to less than 2^31, got [1, 9223372036854775807]"),
      sections(Pattern::contiguous, {Index{1} << 30, Index{1} << 30},
               "section lengths must sum to less than 2^31, got [1073741824, 1073741824]"),
  });
}

TEST(Error, Positions) {
  const std::vector<int> five{0, 1, 2, 3, 4};
  const Sections sections(SectionPattern::contiguous, {2, 2});
  expect_messages({
      {[] { (void)Positions::range(0, -1); }, "tokens must not be negative, got -1"},
      {[] { (void)Positions::range(int64_max, 2); }, "positions must fit 64 bits, got start 9223372036854775807 and 2 tokens"},
      {[] { (void)Positions::range(2, int64_max); }, "positions must fit 64 bits, got start 2 and 9223372036854775807 tokens"},
      {[] { (void)Positions::range(1, int64_max); },
       "the number of bytes of all positions must fit a 64-bit count, got 9223372036854775807 x 16"},
      {[] {
         (void)Positions::ids(std::vector<double>{0, nan});
       },
       "position must be finite, got nan"},
      {[] { (void)Positions::ids(std::vector<float>{-std::numeric_limits<float>::infinity()}); }, "position must be finite, got -inf"},
      {[&] { (void)Positions::per_batch(five, Batches{-1}); }, "batches must not be negative, got -1"},
      {[&] { (void)Positions::per_batch(five, Batches{2}); },
       "the number of positions must be a multiple of axes x batches (1 x 2), got 5"},
      {[&] { (void)Positions::per_batch(five, Batches{0}); },
       "the number of positions must be a multiple of axes x batches (1 x 0), got 5"},
      {[&] { (void)Positions::multi_axis(five, sections); }, "the number of positions must be a multiple of axes x batches (2 x 1), got 5"},
      {[&] { (void)Positions::multi_axis(std::vector<int>(6), sections, Batches{2}); },
       "the number of positions must be a multiple of axes x batches (2 x 2), got 6"},
      {[&] { (void)Positions::multi_axis(std::vector<int>{}, sections, Batches{huge}); },
       "axes x batches must fit a 64-bit count, got 2 x 4611686018427387904"},
  });
}

TEST(Error, Layout) {
  constexpr AxisRole token = AxisRole::token;
  constexpr AxisRole batch = AxisRole::batch;
  constexpr AxisRole other = AxisRole::other;
  expect_messages({
      {[] { (void)Layout({}); }, "a layout must have exactly one token axis, got 0"},
      {[] {
         (void)Layout({other, batch});
       },
       "a layout must have exactly one token axis, got 0"},
      {[] {
         (void)Layout({token, other, token});
       },
       "a layout must have exactly one token axis, got 2"},
      {[] {
         (void)Layout({token, batch, batch});
       },
       "a layout must have at most one batch axis, got 2"},
      {[] {
         (void)Layout({token, other, other, other, other, other, other, other});
       },
       "a layout must have at most 7 outer axes, got 8"},
  });
}

TEST(Error, CosSinCache) {
  const Frequencies frequencies = Frequencies::powers({8});
  const Positions two_batches = Positions::per_batch(std::vector<int>{0, 1, 5, 6}, Batches{2});
  // No tokens, but more batches than a table can have rows of four pairs.
  const Positions empty = Positions::per_batch(std::vector<int>{}, Batches{huge});
  const std::string no_batch_axis = "the layout must have a batch axis for positions of several batches, got 2";
  expect_messages({
      {[] {
         CosSinCache<float>(Frequencies::explicit_rates({1, -2e12}), Positions::range(0, 1));
       },
       "rate 1 must be at most 2^40 radians per token in size for a table, got -2000000000000"},
      {[&] {
         CosSinCache<float>(frequencies, Positions::ids(std::vector<double>{0.5, 1e300}));
       },
       "positions must be at most 2^63 in size for a table, got 1e+300"},
      {[&] { CosSinCache<float>(frequencies, two_batches, Layout::tnd()); }, no_batch_axis},
      {[&] { CosSinCache<Eigen::half>(frequencies, two_batches, Layout::sd()); }, no_batch_axis},
      {[&] { CosSinCache<double>::from_rates({1.0}, 1.0, two_batches, Layout::sd()); }, no_batch_axis},
      {[&] { CosSinCache<double>::from_rates({}, 1.0, two_batches); }, "the number of rates must be positive, got 0"},
      {[&] { CosSinCache<float>(frequencies, empty, Layout::sd()); },
       "the layout must have a batch axis for positions of several batches, got 4611686018427387904"},
  });
}

TEST(Error, Shape) {
  expect_messages({
      {[] {
         (void)Shape({8, -1, 2});
       },
       "extents must not be negative, got -1"},
      {[] {
         (void)Shape({1, 1, 1, 1, 1, 1, 1, 1, 1});
       },
       "rank must be at most 8, got 9"},
      {[] {
         (void)Shape({huge, 2});
       },
       "the number of elements must fit a 64-bit count, got 4611686018427387904 x 2"},
      {[] {
         (void)Shape({2, int64_max});
       },
       "the number of elements must fit a 64-bit count, got 2 x 9223372036854775807"},
      {[] {
         (void)Shape({Index{1} << 32, Index{1} << 31});
       },
       "the number of elements must fit a 64-bit count, got 4294967296 x 2147483648"},
  });
}

TEST(Error, Window) {
  const auto window = [](Pairing pairing, Index table_width, const std::string& message) {
    return Fault{[=] { (void)detail::make_row_plan(16, table_width, pairing, Direction::forward); }, message};
  };
  expect_messages({
      window(half.with_rotary_dims(7), 3, "rotary dims must be even, got 7"),
      window(half.with_offset(1), 7, "rotary dims must be even, got 15"),
      window(interleaved.with_rotary_dims(18), 9, "rotary dims must be at most 16 (head size 16 less window offset 0), got 18"),
      window(half.with_rotary_dims(10).with_offset(8), 5, "rotary dims must be at most 8 (head size 16 less window offset 8), got 10"),
      window(half.with_rotary_dims(int64_max - 1).with_offset(4), 5,
             "rotary dims must be at most 12 (head size 16 less window offset 4), got 9223372036854775806"),
      window(half.with_rotary_dims(0), 0, "rotary dims must be positive, got 0"),
      window(half.with_rotary_dims(-2), 1, "rotary dims must be positive, got -2"),
      window(half.with_offset(16), 0, "rotary dims must be positive, got 0"),
      window(quarter.with_rotary_dims(6), 3, "rotary dims must be divisible by 4 for quarter pairing, got 6"),
      window(quarter.with_offset(2), 7, "rotary dims must be divisible by 4 for quarter pairing, got 14"),
      window(half.with_offset(-1), 8, "window offset must not be negative, got -1"),
      window(half.with_offset(int64_min), 8, "window offset must not be negative, got -9223372036854775808"),
      window(half.with_offset(17), 8, "window offset must be at most the head size 16, got 17"),
      window(half, 4, "table width must be 8 (one entry per pair) or 16 (one per rotated element), got 4"),
      window(half, 0, "table width must be 8 (one entry per pair) or 16 (one per rotated element), got 0"),
      window(half.with_rotary_dims(8), 16, "table width must be 4 (one entry per pair) or 8 (one per rotated element), got 16"),
  });
}

TEST(Error, TableExtents) {
  const auto table = [](const Shape& x, const Shape& table_outer, const std::string& message) {
    return Fault{[=] { detail::check_table_broadcasts(x, table_outer); }, message};
  };
  expect_messages({
      table({4, 6}, {1, 5},
            "table must have 1 or 6 on axis 2 (counted outwards from the feature axis) for x with outer extents [4, 6], got 5"),
      table({4, 6}, {3, 6},
            "table must have 1 or 4 on axis 1 (counted outwards from the feature axis) for x with outer extents [4, 6], got 3"),
      table({4, 6}, {4, 6, 2},
            "table must have 1 on axis 3 (counted outwards from the feature axis) for x with outer extents [4, 6], got 2"),
      table({4, 6}, {0},
            "table must have 1 or 4 on axis 1 (counted outwards from the feature axis) for x with outer extents [4, 6], got 0"),
      table({}, {2}, "table must have 1 on axis 1 (counted outwards from the feature axis) for x with outer extents [], got 2"),
  });
}

TEST(Error, StridedViews) {
  const auto strides = [](const Shape& shape, const std::vector<Index>& list, const std::string& message) {
    return Fault{[=] { (void)detail::checked_strides(shape, list); }, message};
  };
  const std::string shared = "elements inside them, or rows share elements, got ";
  expect_messages({
      strides({8, 2, 3}, {8}, "a strided view must have one stride for each of its 2 outer axes, got 1"),
      strides({8}, {8}, "a strided view must have one stride for each of its 0 outer axes, got 1"),
      strides({}, {8}, "a strided view must have one stride for each of its 0 outer axes, got 1"),
      strides({8, 2}, {7}, "strides must step over the 8 " + shared + "7"),
      strides({8, 2}, {-7}, "strides must step over the 8 " + shared + "7"),
      strides({8, 2}, {0}, "strides must step over the 8 " + shared + "0"),
      // Two rows of 8 at a distance of 10 take 18 elements.
      strides({8, 2, 3}, {10, 17}, "strides must step over the 18 " + shared + "17"),
      strides({8, 3, 2}, {17, -10}, "strides must step over the 18 " + shared + "17"),
      strides({8, 2}, {int64_min}, "strides must fit 63 bits, got -9223372036854775808"),
      strides({8, 4}, {huge}, "the span of a strided view must fit a 64-bit count, got 4611686018427387904 x 3"),
      strides({8, 2}, {huge}, "the span of a strided view must fit 60 bits, got stride 4611686018427387904 over 2 rows"),
  });
}

TEST(Error, InverseOfASingularTable) {
  const std::vector<double> cos{1, 0};
  const std::vector<double> sin{0, 0};
  const TableView<double> table{cos.data(), sin.data(), 1, Shape{2}};
  const detail::RowPlan plan = detail::make_row_plan(2, 1, half, Direction::inverse);
  expect_messages({{[&] { detail::require_invertible(plan, table); },
                    "the table must have cos_A cos_B + sin_A sin_B != 0 everywhere to be inverted, got 0"}});
}

TEST(Error, Reference) {
  const CosSinCache<float> cache(Frequencies::powers({8}), Positions::range(0, 3), Layout::sd());
  const std::vector<float> x(24);
  std::vector<float> y(24, -1.0F);
  expect_messages({
      {[&] {
         reference::rotate(x.data(), y.data(), Shape{6, 3}, cache.view(), half);
       },
       "table width must be 3 (one entry per pair) or 6 (one per rotated element), got 4"},
      {[&] {
         reference::rotate(x.data(), y.data(), Shape{8, 2}, cache.view(), half);
       },
       "table must have 1 or 2 on axis 1 (counted outwards from the feature axis) for x with outer extents [2], got 3"},
  });
  EXPECT_THAT(y, testing::Each(-1.0F)) << "nothing may be written before an error";
}

}  // namespace
}  // namespace rope
