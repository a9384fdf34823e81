// SPDX-License-Identifier: Apache-2.0
//
// The choices are values: equal where they say the same, different where one member does, and
// printed for people.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/layout.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/choices/positions.hpp"
#include "eigen_rope/choices/scaling.hpp"
#include "eigen_rope/choices/sections.hpp"
#include "eigen_rope/numbers/double_double.hpp"
#include "eigen_rope/numbers/shape.hpp"
#include "eigen_rope/tables/xpos.hpp"

namespace eigen_rope::values_tests {
namespace {

template <class Value>
std::string printed(const Value& value) {
  std::ostringstream stream;
  stream << value;
  EXPECT_EQ(stream.str(), value.text());
  return stream.str();
}

/// Each equals itself and no other of them.
template <class Value>
void expect_all_different(const std::vector<Value>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < values.size(); ++j) {
      EXPECT_EQ(values[i] == values[j], i == j) << values[i] << " and " << values[j];
      EXPECT_EQ(values[i] != values[j], i != j) << values[i] << " and " << values[j];
    }
  }
}

TEST(Values, Pairings) {
  expect_all_different<Pairing>({split_half, interleaved, quarter, interleaved_to_split_half,
                                 split_half.with_offset(8), split_half.with_rotary_dims(32),
                                 split_half.with_rotary_dims(64),
                                 split_half.with_rotary_dims(32).with_offset(8)});
  static_assert(split_half == Pairing(PairKind::split_half) && split_half != interleaved);
  EXPECT_EQ(split_half.with_offset(8).with_rotary_dims(32),
            split_half.with_rotary_dims(32).with_offset(8));
  EXPECT_EQ(printed(interleaved_to_split_half), "interleaved_to_split_half");
  EXPECT_EQ(printed(quarter.with_offset(8)), "quarter, from 8");
  EXPECT_EQ(printed(interleaved.with_rotary_dims(32).with_offset(8)),
            "interleaved, 32 dims from 8");
}

TEST(Values, Powers) {
  Powers<> factors{4};
  factors.factors = {1.0, 2.5};
  Powers<> exponents{4};
  exponents.exponents = {0, 0};
  Powers<> exponent_dims{4};
  exponent_dims.exponent_dims = 8;
  expect_all_different<Powers<>>(
      {{4}, {6}, {4, 1e6}, {4, 1e4, 0.5}, {4, 1e4, 1, 0.5}, factors, exponents, exponent_dims});
  EXPECT_EQ(
      printed(Powers<>(128, 1e6)),
      "powers:rotary_dims=128,base=1000000,linear_scale=1,attention_factor=1,exponent_dims=0");
  EXPECT_EQ(printed(factors),
            "powers:rotary_dims=4,base=10000,linear_scale=1,attention_factor=1,factors=1/"
            "2.5,exponent_dims=0");
}

TEST(Values, Scalings) {
  Yarn<> yarn;
  Yarn<> with_mscale;
  with_mscale.mscale = 0;
  Yarn<> exact;
  exact.ends = RampEnds::exact;
  Yarn<> given;
  given.magnitude = YarnMagnitude::given;
  expect_all_different<Yarn<>>({yarn, with_mscale, exact, given});
  expect_all_different<Linear<>>({{}, {2.0}});
  expect_all_different<Proportional<>>({{}, {2.0}, {1.0, 3}});
  expect_all_different<DynamicNtkScaling<>>({{}, {2.0}, {1.0, 3}});
  expect_all_different<NtkScaling<>>({{}, {2.0}, {1.0, 0.5}});
  expect_all_different<GgmlYarn<>>({{},
                                    {0.5},
                                    {1.0, 1},
                                    {1.0, 0, 3.0},
                                    {1.0, 0, 32.0, 2.0},
                                    {1.0, 0, 32.0, 1.0, RampEnds::exact}});
  expect_all_different<Llama3<>>({{}, {2.0}, {8.0, 2.0}, {8.0, 1.0, 5.0}, {8.0, 1.0, 4.0, 1}});
  expect_all_different<LongRope<>>({{},
                                    {{1.0}, {}},
                                    {{}, {1.0}},
                                    {{}, {}, 1},
                                    {{}, {}, 4096, 2.0},
                                    {{}, {}, 4096, 1.0, LongRopeMagnitude::given}});
  EXPECT_EQ(Scaling(Linear<>{2.0}), Scaling(Linear<>{2.0}));
  EXPECT_NE(Scaling(Linear<>{2.0}), Scaling(NtkScaling<>{2.0}));
  EXPECT_EQ(Unscaled<>(), Unscaled<>());
  EXPECT_EQ(printed(Unscaled<>()), "default");
  EXPECT_EQ(printed(Llama3<>{8.0, 1.0, 4.0, 8192}),
            "llama3:factor=8,low_freq_factor=1,high_freq_factor=4,original_context=8192");
  EXPECT_EQ(printed(LongRope<>{{1.0, 1.5}, {2.0, 0.1}, 4096, 32.0}),
            "longrope:short_factor=1/1.5,long_factor=2/"
            "0.1,original_context=4096,factor=32,magnitude=from_factor");
  with_mscale.factor = 4;
  EXPECT_EQ(printed(with_mscale),
            "yarn:factor=4,original_context=0,beta_fast=32,beta_slow=1,ends=rounded,magnitude="
            "hugging_face,mscale=0,mscale_all_dim=0,"
            "extrapolation=1");
}

TEST(Values, DoubleDoubles) {
  expect_all_different<DoubleDouble>({{}, {1.0}, {1.0, 0x1p-60}, {1.0, -0x1p-60}, {2.0}});
  EXPECT_TRUE(DoubleDouble(1.0) < DoubleDouble(1.0, 0x1p-60) &&
              !(DoubleDouble(1.0) < DoubleDouble(1.0, -0x1p-60)));
  EXPECT_EQ(printed(DoubleDouble(0.1)), "0.1");
  EXPECT_EQ(printed(DoubleDouble(0.5, -0.25e-18)), "0.5 + -2.5e-19");
}

TEST(Values, Xpos) {
  expect_all_different<Xpos>({{}, {256}, {512, 0.5}, {512, 0.4, 1}});
  EXPECT_EQ(printed(Xpos{}), "xpos:scale_base=512,gamma=0.4,center=0");
}

TEST(Values, Shapes) {
  expect_all_different<Shape>({Shape{}, Shape{4}, Shape{4, 1}, Shape{4, 2}, Shape{2, 4}});
  EXPECT_EQ(printed(Shape{128, 32, 512}), "[128, 32, 512]");
}

TEST(Values, Layouts) {
  expect_all_different<Layout>(
      {Layout::bsnd(), Layout::bnsd(), Layout::sbnd(), Layout::tnd(), Layout::bsd(), Layout::sd()});
  EXPECT_EQ(Layout::tnd(), (Layout{AxisRole::other, AxisRole::token}));
  EXPECT_EQ(printed(Layout::bsnd()), "[other, token, batch]");
}

TEST(Values, SectionsOfPositions) {
  expect_all_different<Sections>({Sections(SectionPattern::contiguous, {16, 24, 24}),
                                  Sections(SectionPattern::contiguous, {24, 20, 20}),
                                  Sections(SectionPattern::interleaved_hf, {24, 20, 20}),
                                  Sections(SectionPattern::vision, {16, 24, 24})});
  EXPECT_EQ(printed(Sections(SectionPattern::contiguous, {16, 24, 24})), "contiguous [16, 24, 24]");
}

TEST(Values, PositionsOfTokens) {
  const std::vector<int> ids{0, 1, 2, 3, 4, 5};
  const Sections two(SectionPattern::contiguous, {1, 1});
  expect_all_different<Positions>({Positions::range(0, 6), Positions::range(1, 6),
                                   Positions::range(0, 5), Positions::per_batch(ids, {2}),
                                   Positions::per_batch(ids, {3}),
                                   Positions::multi_axis(ids, two)});
  EXPECT_EQ(Positions::range(0, 6), Positions::ids(ids));
  EXPECT_EQ(printed(Positions::range(7, 512)), "512 tokens");
  EXPECT_EQ(printed(Positions::per_batch(ids, {2})), "2 batches of 3 tokens");
  EXPECT_EQ(printed(Positions::multi_axis(ids, two)), "3 tokens on 2 axes");
}

TEST(Values, FrequenciesOfPairs) {
  expect_all_different<Frequencies>({Frequencies::powers({8}), Frequencies::powers({8, 500.0}),
                                     Frequencies::powers({16}), Frequencies({8}, Linear<>{2.0}),
                                     Frequencies::explicit_rates({1.0, 0.5}),
                                     Frequencies::explicit_rates({1.0, 0.5}, 2.0)});
  EXPECT_EQ(Frequencies::powers({8}), Frequencies::powers({8, 10000.0}));
  EXPECT_EQ(printed(Frequencies::explicit_rates({1.0, 0.5, 0.125}, 1.25)),
            "3 pairs, 1 to 0.125 rad a token, m = 1.25");
}

}  // namespace
}  // namespace eigen_rope::values_tests
