// SPDX-License-Identifier: Apache-2.0
//
// The numbers of `eigen-rope inspect` against formulas and published values, and what it prints,
// writes and draws.
#include "tool/inspect/inspect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "support/error_of.hpp"
#include "support/published_models.hpp"
#include "support/run_tool.hpp"
#include "tool/inspect/plot.hpp"
#include "tool/inspect/report.hpp"
#include "tool/inspect/scaling_text.hpp"

namespace eigen_rope::tool::inspect_tests {
namespace {

using eigen_rope::test::error_of;
using test::file_bytes;
using test::run_tool;
using test::TemporaryFolder;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr double pi = 3.14159265358979323846;
/// Numbers made by a few operations in double.
constexpr double few_roundings = 8 * 0x1p-53;

double fact_of(const LayerInspection& layer, const std::string& name) {
  for (const Derived& fact : layer.derived) {
    if (fact.name == name) return std::get<double>(fact.value);
  }
  ADD_FAILURE() << name;
  return 0;
}

LayerInspection layer_at(const models::ModelRope& model, eigen_rope::Index length = 0) {
  return inspect(model, {length, ""}).layers.at(0);
}

/// Pairs with this treatment: first, last, and how many.
std::vector<std::size_t> treated(const LayerInspection& layer, Treatment treatment) {
  std::vector<std::size_t> pairs;
  for (std::size_t k = 0; k < layer.pairs.size(); ++k) {
    if (layer.pairs[k].treatment == treatment) pairs.push_back(k);
  }
  if (pairs.empty()) return {};
  return {pairs.front(), pairs.back(), pairs.size()};
}

// Derived numbers.

TEST(Inspect, Llama31HasItsPublishedBands) {
  const LayerInspection layer = layer_at(test::llama31());
  EXPECT_EQ(fact_of(layer, "high_freq_wavelength"), 2048);
  EXPECT_EQ(fact_of(layer, "low_freq_wavelength"), 8192);
  EXPECT_EQ(fact_of(layer, "effective_context"), 65536);
  for (std::size_t k = 0; k < 64; ++k) {
    const double wavelength = 2 * pi * std::pow(5e5, static_cast<double>(k) / 64);
    const Treatment expected = wavelength < 2048   ? Treatment::kept
                               : wavelength > 8192 ? Treatment::interpolated
                                                   : Treatment::blended;
    EXPECT_EQ(layer.pairs[k].treatment, expected) << k;
  }
  EXPECT_THAT(treated(layer, Treatment::blended), ElementsAre(29, 34, 6));
  // 50-digit arithmetic, 12 digits kept.
  EXPECT_NEAR(static_cast<double>(layer.pairs[29].rate), 0.0021665707635,
              0.5e-11 * 0.0021665707635);
  EXPECT_NEAR(static_cast<double>(layer.pairs[63].rate), 3.06892598891e-7,
              0.5e-11 * 3.06892598891e-7);
}

TEST(Inspect, GptOssHasTheRampThatVllmPublished) {
  const LayerInspection exact = layer_at(test::gpt_oss(RampEnds::exact));
  EXPECT_NEAR(fact_of(exact, "ramp_low"), 8.092779115512402, 8.1 * few_roundings);
  EXPECT_NEAR(fact_of(exact, "ramp_high"), 17.39802450158856, 17.4 * few_roundings);
  EXPECT_NEAR(fact_of(exact, "attention_factor"), 1.3465735902799727, few_roundings);
  EXPECT_NEAR(fact_of(exact, "qk_gain"), 1.3465735902799727 * 1.3465735902799727,
              2 * few_roundings);
  EXPECT_EQ(fact_of(exact, "effective_context"), 131072);
  EXPECT_THAT(treated(exact, Treatment::blended), ElementsAre(9, 17, 9));
  EXPECT_THAT(treated(exact, Treatment::interpolated), ElementsAre(18, 31, 14));
  const LayerInspection rounded = layer_at(test::gpt_oss(RampEnds::rounded));
  EXPECT_EQ(fact_of(rounded, "ramp_low"), 8);
  EXPECT_EQ(fact_of(rounded, "ramp_high"), 18);
  EXPECT_NEAR(fact_of(rounded, "ramp_high_exact"), 17.39802450158856, 17.4 * few_roundings);
}

TEST(Inspect, GgmlsYarnHasTheSameRamp) {
  models::LayerRope layer =
      test::layer_of(64, 150000, GgmlYarn<>{1.0, 4096, 32.0, 1.0, RampEnds::rounded});
  layer.powers.linear_scale = 1.0 / 32;
  const LayerInspection inspected = layer_at(test::model_of("gpt-oss", 131072, layer));
  EXPECT_EQ(fact_of(inspected, "ramp_low"), 8);
  EXPECT_EQ(fact_of(inspected, "ramp_high"), 18);
  EXPECT_EQ(fact_of(inspected, "effective_context"), 131072);
  EXPECT_NEAR(fact_of(inspected, "attention_factor"), 1.3465735902799727, few_roundings);
  EXPECT_THAT(treated(inspected, Treatment::interpolated), ElementsAre(18, 31, 14));
}

TEST(Inspect, DeepSeeksSoftmaxMultiplierIsNoPartOfM) {
  const LayerInspection layer = layer_at(test::deepseek_v3());
  EXPECT_EQ(fact_of(layer, "softmax_multiplier"), 1.8738542070926266);
  EXPECT_EQ(fact_of(layer, "attention_factor"), 1);
  EXPECT_THAT(inspect(test::deepseek_v3(), {}).notes,
              Contains(HasSubstr("multiplied by 1.873854207 besides 1 / sqrt(d)")));
}

TEST(Inspect, DynamicNtkHasTheBaseOfItsLength) {
  EXPECT_NEAR(fact_of(layer_at(test::dynamic(), 16384), "base_at_length"), 759702.231148009,
              1e-9 * 759702);
  EXPECT_EQ(fact_of(layer_at(test::dynamic(), 2048), "base_at_length"), 10000);
  EXPECT_THAT(treated(layer_at(test::dynamic(), 2048), Treatment::kept), ElementsAre(0, 63, 64));
  EXPECT_THAT(treated(layer_at(test::dynamic(), 16384), Treatment::interpolated),
              ElementsAre(63, 63, 1));
}

TEST(Inspect, LongRopeSaysWhichListIsInForce) {
  const auto list_at = [](eigen_rope::Index length) {
    const LayerInspection layer = layer_at(test::longrope(), length);
    for (const Derived& fact : layer.derived) {
      if (fact.name == "list_in_force") return std::get<std::string>(fact.value);
    }
    return std::string("none");
  };
  EXPECT_EQ(list_at(4096), "short");
  EXPECT_EQ(list_at(4097), "long");
  EXPECT_NEAR(fact_of(layer_at(test::longrope()), "attention_factor"), 1.1902380714238083,
              few_roundings);
  EXPECT_DOUBLE_EQ(layer_at(test::longrope(), 4096).pairs[2].ratio, 1 / 1.11);
  EXPECT_DOUBLE_EQ(layer_at(test::longrope(), 4097).pairs[2].ratio, 1 / 3.57);
}

TEST(Inspect, ProportionalPairsAreStopped) {
  const LayerInspection layer = layer_at(test::proportional());
  EXPECT_THAT(treated(layer, Treatment::kept), ElementsAre(0, 63, 64));
  EXPECT_THAT(treated(layer, Treatment::stopped), ElementsAre(64, 255, 192));
  EXPECT_TRUE(std::isinf(layer.pairs[64].wavelength()));
  EXPECT_EQ(layer.pairs[64].turns, 0);
}

TEST(Inspect, HugeFactorsStopTheirPairs) {
  models::LayerRope layer = test::layer_of(8, 1e4, Unscaled<>{});
  layer.powers.factors = {1, 2, 1e30, 1e30};
  const LayerInspection inspected = layer_at(test::model_of("gemma4", 100, layer));
  EXPECT_THAT(treated(inspected, Treatment::stopped), ElementsAre(2, 3, 2));
  EXPECT_THAT(treated(inspected, Treatment::interpolated), ElementsAre(1, 1, 1));
}

TEST(Inspect, LinearAndFactorsAreInterpolation) {
  models::LayerRope factors = test::layer_of(8, 1e4, Unscaled<>{});
  factors.powers.factors = {1, 2, 4, 4};
  const LayerInspection inspected = layer_at(test::model_of("llama", 100, factors));
  EXPECT_EQ(inspected.pairs[1].treatment, Treatment::blended);
  EXPECT_THAT(treated(inspected, Treatment::interpolated), ElementsAre(2, 3, 2));
  EXPECT_THAT(treated(layer_at(test::model_of("llama", 100, test::layer_of(8, 1e4, Linear<>{4.0}))),
                      Treatment::interpolated),
              ElementsAre(0, 3, 4));
}

// Pairs.

TEST(Inspect, RatiosTurnsAndWavelengthsFollowFromTheRates) {
  for (const models::ModelRope& model :
       {test::llama2(), test::llama31(), test::gpt_oss(RampEnds::rounded), test::dynamic()}) {
    for (const eigen_rope::Index length :
         {eigen_rope::Index{1}, eigen_rope::Index{1000}, model.context}) {
      const LayerInspection layer = layer_at(model, length);
      const Frequencies frequencies = model.layers[0].frequencies(length);
      for (std::size_t k = 0; k < layer.pairs.size(); ++k) {
        const PairInspection& pair = layer.pairs[k];
        const auto rate = static_cast<double>(frequencies.rates()[k]);
        const double unscaled =
            std::pow(model.layers[0].powers.base,
                     -2.0 * static_cast<double>(k) /
                         static_cast<double>(model.layers[0].powers.rotary_dims));
        EXPECT_EQ(static_cast<double>(pair.rate), rate);
        EXPECT_NEAR(static_cast<double>(pair.unscaled) / unscaled, 1, 8 * few_roundings);
        EXPECT_NEAR(pair.ratio, rate / unscaled, 8 * few_roundings);
        EXPECT_NEAR(pair.turns * 2 * pi, rate * static_cast<double>(length),
                    rate * static_cast<double>(length) * few_roundings);
        EXPECT_NEAR(pair.wavelength() * rate / (2 * pi), 1, few_roundings);
      }
    }
  }
}

TEST(Inspect, SlotsAreThoseOfThePairingInTheRow) {
  models::LayerRope layer = test::layer_of(8, 1e4, Unscaled<>{});
  layer.head_dims = 20;
  layer.pairing = interleaved_to_split_half.with_rotary_dims(8).with_offset(12);
  const LayerInspection inspected = layer_at(test::model_of("deepseek", 10, layer));
  EXPECT_EQ(inspected.pairs[3].slots->a, 18);
  EXPECT_EQ(inspected.pairs[3].slots->b, 19);
  EXPECT_EQ(inspected.pairs[3].slots->A, 15);
  EXPECT_EQ(inspected.pairs[3].slots->B, 19);
  layer.pairing.reset();
  EXPECT_FALSE(layer_at(test::model_of("unknown", 10, layer)).pairs[3].slots);
  EXPECT_THAT(inspect(test::model_of("unknown", 10, layer), {}).notes,
              Contains(HasSubstr("how its rows pair")));
}

TEST(Inspect, SectionsGiveEachPairItsAxis) {
  models::LayerRope layer = test::layer_of(16, 1e4, Unscaled<>{});
  layer.sections = Sections(SectionPattern::contiguous, {4, 2, 2});
  const Inspection inspection = inspect(test::model_of("qwen2_vl", 100, layer), {});
  EXPECT_EQ(inspection.layers[0].pairs[3].axis, 0);
  EXPECT_EQ(inspection.layers[0].pairs[5].axis, 1);
  EXPECT_EQ(inspection.layers[0].pairs[7].axis, 2);
  EXPECT_THAT(text_of(inspection, Rows::all, {}), HasSubstr("    7  7 15 w"));
  EXPECT_EQ(json_of(inspection)["layers"][0]["sections"]["lengths"], Json({4, 2, 2}));
}

// Float.

TEST(FloatAngleError, IsTheWorstOfAllPositionsAndPairs) {
  for (const models::ModelRope& model : {test::llama2(), test::gpt_oss(RampEnds::exact)}) {
    const std::vector<DoubleDouble> rates = model.layers[0].frequencies(4096).rates();
    for (const eigen_rope::Index length : {2, 3, 100, 4096}) {
      AngleError worst;
      for (std::size_t k = 0; k < rates.size(); ++k) {
        for (eigen_rope::Index p = 0; p < length; ++p) {
          const float angle = static_cast<float>(p) * static_cast<float>(rates[k].high);
          const long double exact = static_cast<long double>(p) *
                                    (static_cast<long double>(rates[k].high) + rates[k].low);
          const auto error =
              static_cast<double>(std::fabs(exact - static_cast<long double>(angle)));
          if (error > worst.radians) worst = {error, p, static_cast<eigen_rope::Index>(k)};
        }
      }
      const AngleError found = float_angle_error(rates, length);
      EXPECT_NEAR(found.radians, worst.radians, worst.radians * 1e-9) << length;
      EXPECT_EQ(found.position, worst.position);
      EXPECT_EQ(found.pair, worst.pair);
    }
  }
}

TEST(FloatAngleError, IsNothingWhereFloatIsExact) {
  EXPECT_EQ(float_angle_error({1.0, 0.5, 0.0, -0.25}, 1 << 20).radians, 0);
  EXPECT_EQ(float_angle_error({0.3}, 1).radians, 0);
  EXPECT_GT(float_angle_error({1.0}, (1 << 24) + 2).radians, 0);
}

// Four million positions of each would take an hour.
TEST(FloatAngleError, IsFoundAtOnceWhereManyRatesAreExact) {
  EXPECT_EQ(float_angle_error(std::vector<DoubleDouble>(200000, 0.75), 1 << 22).radians, 0);
  EXPECT_GT(
      float_angle_error(std::vector<DoubleDouble>(200000, 0.75), (1 << 23) + (1 << 22)).radians, 0);
  // A rate that float rounds to a power of two is wrong, its products are not.
  const AngleError near =
      float_angle_error(std::vector<DoubleDouble>(200000, 0.5 + 0x1p-40), 1 << 22);
  EXPECT_DOUBLE_EQ(near.radians, ((1 << 22) - 1) * 0x1p-40);
  EXPECT_EQ(near.position, (1 << 22) - 1);
  EXPECT_GT(
      float_angle_error(std::vector<DoubleDouble>(20, 0.5 + 0x1p-40), eigen_rope::Index{1} << 30)
          .radians,
      0);
}

TEST(Inspect, OwnErrorIsTheTablesBound) {
  EXPECT_EQ(layer_at(test::llama31()).own_error, std::ldexp(131072, -63));
}

// Remarks.

TEST(InspectRemarks, ASaneModelIsNotAlarming) {
  const Inspection inspection = inspect(test::llama2(), {});
  EXPECT_THAT(inspection.warnings, IsEmpty());
  EXPECT_THAT(inspection.notes, Contains("18 of 64 pairs (pairs 46 to 63) complete no turn within "
                                         "4096 tokens before scaling; the slowest "
                                         "makes 0.0753 of one"));
  EXPECT_THAT(inspection.notes,
              Contains(StartsWith("angles computed in float are wrong by up to 0.00024 rad")));
}

TEST(InspectRemarks, BeyondTheContextIsAWarning) {
  const Inspection inspection = inspect(test::llama2(), {16384, ""});
  EXPECT_THAT(inspection.warnings,
              Contains("16384 tokens are asked for, the model is meant for 4096"));
  EXPECT_THAT(inspection.warnings, Contains("pairs 46 to 63 reach angles that no position of the "
                                            "first 4096 tokens has, up to 4 times as far"));
  // Slowed four times nothing goes further than before.
  models::ModelRope slowed = test::llama2();
  slowed.layers[0].scaling = Linear<>{4.0};
  EXPECT_THAT(inspect(slowed, {16384, ""}).warnings, Not(Contains(HasSubstr("reach angles"))));
  EXPECT_THAT(inspect(slowed, {16388, ""}).warnings, Contains(HasSubstr("reach angles")));
}

TEST(InspectRemarks, WithinWhatTheScalingStretchesToIsNotBeyondTheContext) {
  Yarn<> yarn;
  yarn.factor = 4;
  yarn.original_context = 32768;
  const models::ModelRope recipe = test::model_of("qwen2", 32768, test::layer_of(128, 1e6, yarn));
  EXPECT_THAT(inspect(recipe, {131072, ""}).warnings, Not(Contains(HasSubstr("asked for"))));
  EXPECT_THAT(inspect(recipe, {131073, ""}).warnings,
              Contains("131073 tokens are asked for, the model is meant for 131072"));
}

TEST(InspectRemarks, FloatIsAWarningWhereItIsWorseThanBfloat16) {
  EXPECT_THAT(inspect(test::llama31(), {}).warnings,
              Contains(HasSubstr("more than rounding cos and sin to bfloat16")));
  EXPECT_THAT(inspect(test::llama31(), {8192, ""}).warnings, Not(Contains(HasSubstr("float"))));
}

TEST(InspectRemarks, AMagnitudeIsAWarning) {
  EXPECT_THAT(inspect(test::gpt_oss(RampEnds::exact), {}).warnings,
              Contains(StartsWith("m = 1.34657359 is not 1: the backward rotation")));
  EXPECT_THAT(inspect(test::deepseek_v3(), {}).warnings, Not(Contains(StartsWith("m = "))));
}

TEST(InspectRemarks, RatesThatChangeWithTheLengthAreAWarningPastTheOriginalContext) {
  for (const models::ModelRope& model : {test::longrope(), test::dynamic()}) {
    const eigen_rope::Index original = *original_context(model.layers[0].scaling);
    EXPECT_THAT(inspect(model, {original, ""}).warnings,
                Not(Contains(HasSubstr("must be rerotated"))));
    EXPECT_THAT(inspect(model, {original, ""}).notes,
                Contains(StartsWith("the rates change when a sequence passes")));
    EXPECT_THAT(inspect(model, {original + 1, ""}).warnings,
                Contains(HasSubstr("must be rerotated")));
  }
}

TEST(InspectRemarks, MoreThanTheScalingStretchesToIsAWarning) {
  EXPECT_THAT(inspect(test::gpt_oss(RampEnds::exact), {131073, ""}).warnings,
              Contains("131073 tokens are more than the scaling stretches to: factor times "
                       "original context is 131072"));
}

TEST(InspectRemarks, ARampTurnedRoundIsAWarningAndOnePastTheEndANote) {
  Yarn<> yarn;
  yarn.factor = 4;
  yarn.original_context = 131072;
  EXPECT_THAT(
      inspect(test::model_of("x", 1000, test::layer_of(64, 1e4, yarn)), {}).notes,
      Contains("no pair is interpolated fully: the ramp ends at 35, behind the last pair 31"));
  std::swap(yarn.beta_fast, yarn.beta_slow);
  EXPECT_THAT(inspect(test::model_of("x", 1000, test::layer_of(64, 1e4, yarn)), {}).warnings,
              Contains(StartsWith("the ramp is turned round")));
}

TEST(InspectRemarks, TheReadersWarningsComeFirstAndKindsAreNamed) {
  models::ModelRope model = test::two_kinds();
  model.warnings = {"the file says so"};
  const Inspection inspection = inspect(model, {});
  EXPECT_EQ(inspection.warnings.at(0), "the file says so");
  EXPECT_THAT(inspection.notes, Contains(StartsWith("full_attention: 35 of 128 pairs")));
}

// What is refused.

TEST(Inspect, UnknownLayersAndContextsAreRefused) {
  EXPECT_EQ(error_of([] {
              inspect(test::two_kinds(), {0, "global"});
            }),
            "[rope] --layer must be one of full_attention, sliding_attention, got global");
  EXPECT_EQ(error_of([] {
              inspect(test::llama2(), {0, "global"});
            }),
            "[rope] --layer needs a model that names kinds of layers, got global");
  EXPECT_EQ(inspect(test::two_kinds(), {0, "sliding_attention"}).layers.size(), 1U);
  models::ModelRope unsaid = test::llama2();
  unsaid.context = 0;
  EXPECT_EQ(error_of([&] { inspect(unsaid, {}); }),
            "[rope] the model does not say for how many tokens it is: give --context");
  EXPECT_EQ(error_of([&] {
              inspect(unsaid, {-1, ""});
            }),
            "[rope] --context must be at least 1, got -1");
  EXPECT_EQ(inspect(unsaid, {77, ""}).length, 77);
  unsaid.layers[0].scaling = Llama3<>{8.0, 1.0, 4.0, 8192};
  EXPECT_EQ(inspect(unsaid, {}).length, 65536);
}

// Text and JSON.

TEST(InspectText, TablesFitEightyColumnsAndAreShortened) {
  for (const models::ModelRope& model :
       {test::llama31(), test::proportional(), test::gpt_oss(RampEnds::exact), test::two_kinds()}) {
    const Inspection inspection = inspect(model, {});
    for (const Rows rows : {Rows::shortened, Rows::all}) {
      std::istringstream lines(text_of(inspection, rows, {80, Colour::none}));
      std::size_t longest = 0;
      for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
      EXPECT_LE(longest, 80U) << model.architecture;
    }
    const std::vector<std::size_t> shown = shown_pairs(inspection.layers[0]);
    EXPECT_LT(2 * shown.size(), 3 * inspection.layers[0].pairs.size());
    EXPECT_EQ(shown.front(), 0U);
    EXPECT_EQ(shown.back(), inspection.layers[0].pairs.size() - 1);
  }
}

TEST(InspectText, ShowsTheEndsOfTheRampAndAllRowsIfAsked) {
  const Inspection inspection = inspect(test::llama31(), {});
  EXPECT_THAT(
      shown_pairs(inspection.layers[0]),
      testing::IsSupersetOf({0U, 1U, 2U, 27U, 28U, 29U, 30U, 33U, 34U, 35U, 36U, 61U, 62U, 63U}));
  const std::string brief = text_of(inspection, Rows::shortened, {}),
                    whole = text_of(inspection, Rows::all, {});
  EXPECT_THAT(brief, HasSubstr("  ...\n"));
  EXPECT_THAT(
      brief,
      HasSubstr("   29  29 93     0.0026161 2401.7     0.0021666 0.82817   blended      45.196\n"));
  EXPECT_THAT(whole, Not(HasSubstr("  ...\n")));
  EXPECT_THAT(whole, HasSubstr("\n   15  15 79 "));
  EXPECT_THAT(brief, Not(HasSubstr("\033")));
  EXPECT_THAT(text_of(inspection, Rows::all, {80, Colour::ansi}), HasSubstr("\033[1m"));
}

TEST(InspectJson, NumbersRoundTrip) {
  for (const models::ModelRope& model :
       {test::llama31(), test::longrope(), test::two_kinds(), test::proportional()}) {
    const Inspection inspection = inspect(model, {});
    const Json json = Json::parse(json_of(inspection).dump());
    EXPECT_EQ(json["architecture"], model.architecture);
    EXPECT_EQ(json["context"], model.context);
    ASSERT_EQ(json["layers"].size(), model.layers.size());
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
      const Json& layer = json["layers"][i];
      const LayerInspection& expected = inspection.layers[i];
      EXPECT_EQ(layer["layer_type"], model.layers[i].layer_type);
      EXPECT_EQ(layer["layers"].size(), model.layers[i].layers.size());
      EXPECT_EQ(layer["head_dims"], model.layers[i].head_dims);
      EXPECT_EQ(layer["rotary_dims"], model.layers[i].powers.rotary_dims);
      EXPECT_EQ(layer["base"], model.layers[i].powers.base);
      EXPECT_EQ(layer["pairing"], "split_half");
      EXPECT_EQ(layer["scaling"]["type"], scaling_name(model.layers[i].scaling));
      EXPECT_EQ(layer["attention_factor"], static_cast<double>(expected.attention_factor));
      ASSERT_EQ(layer["rates"].size(), expected.pairs.size());
      for (std::size_t k = 0; k < expected.pairs.size(); ++k) {
        EXPECT_EQ(layer["rates"][k], static_cast<double>(expected.pairs[k].rate));
        EXPECT_EQ(layer["unscaled_rates"][k], static_cast<double>(expected.pairs[k].unscaled));
        EXPECT_EQ(layer["turns"][k], expected.pairs[k].turns);
      }
    }
  }
}

TEST(InspectJson, ScalingsHaveTheirMembersAndWhatIsNotFiniteIsNull) {
  Yarn<> yarn;
  yarn.mscale = 0.707;
  EXPECT_EQ(json_of(Scaling(yarn))["mscale"], 0.707);
  EXPECT_EQ(json_of(Scaling(yarn))["ends"], "rounded");
  EXPECT_EQ(json_of(Scaling(yarn))["rule"], "hugging_face");
  EXPECT_TRUE(json_of(Scaling(Yarn<>{}))["mscale"].is_null());
  EXPECT_EQ(json_of(Scaling(Llama3<>{}))["high_freq_factor"], 4);
  const Json json = Json::parse(json_of(inspect(test::proportional(), {})).dump());
  EXPECT_TRUE(json["layers"][0]["wavelengths"][64].is_null());
  EXPECT_EQ(json["layers"][0]["treatments"][64], "stopped");
}

// The picture.

TEST(InspectPlot, ACellIsTheMeanOfItsCosines) {
  for (const double rate : {0.0, 1e-9, 0.3, 1.0, -2.0}) {
    for (const auto& [first, last] : {std::pair{1.0, 1.5}, std::pair{100.0, 130.0}}) {
      constexpr int steps = 20000;
      double sum = 0;
      for (int i = 0; i < steps; ++i)
        sum += std::cos(rate * (first + (last - first) * (i + 0.5) / steps));
      EXPECT_NEAR(mean_cosine(rate, first, last), sum / steps, 1e-6);
    }
  }
}

TEST(InspectPlot, DrawsWholePictures) {
  const TemporaryFolder folder;
  draw(inspect(test::two_kinds(), {}), folder / "two.svg");
  const std::string svg = file_bytes(folder / "two.svg");
  EXPECT_THAT(svg, HasSubstr("gemma3, full_attention: linear, 128 pairs"));
  EXPECT_THAT(svg, HasSubstr("gemma3, sliding_attention: default, 128 pairs"));
  EXPECT_THAT(svg, HasSubstr("position, tokens"));
  EXPECT_THAT(svg, EndsWith("</svg>\n\n"));
  for (const models::ModelRope& model : {test::llama31(), test::longrope(), test::proportional()}) {
    draw(inspect(model, {}), folder / "one.png");
    EXPECT_THAT(file_bytes(folder / "one.png"), EndsWith("IEND\xae\x42\x60\x82"));
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()),
                          std::filesystem::directory_iterator()),
            2);
}

// Files of published models and of other people's software.

std::vector<std::filesystem::path> files_in(const char* folder) {
  const std::filesystem::path root =
      std::filesystem::path(EIGEN_ROPE_TEST_DATA) / "models" / folder;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(root)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

TEST(InspectFiles, EveryModelHasAReportOfAllItsPairs) {
  std::vector<std::filesystem::path> files = files_in("hugging_face");
  for (const std::filesystem::path& path : files_in("gguf")) {
    if (path.extension() == ".gguf") files.push_back(path);
  }
  EXPECT_GT(files.size(), 30U);
  for (const std::filesystem::path& path : files) {
    SCOPED_TRACE(path.filename());
    const models::ModelRope model = read_model(path, models::Strictness::lenient);
    const Inspection inspection = inspect(model, {});
    EXPECT_EQ(inspection.layers.size(), model.layers.size());
    for (const LayerInspection& layer : inspection.layers) {
      EXPECT_EQ(2 * layer.pairs.size(), static_cast<std::size_t>(layer.layer.powers.rotary_dims));
      EXPECT_EQ(layer.pairs[0].treatment == Treatment::stopped, false);
    }
    const Json json = Json::parse(json_of(inspection).dump());
    EXPECT_EQ(json["layers"].size(), model.layers.size());
    const std::string text = text_of(inspection, Rows::shortened, {80, Colour::none});
    EXPECT_THAT(text, StartsWith(model.architecture));
    EXPECT_THAT(text, HasSubstr("turns within"));
  }
}

TEST(InspectFiles, TheFormatIsToldByTheContentAndAFolderHoldsAConfiguration) {
  const TemporaryFolder folder;
  const std::filesystem::path data = std::filesystem::path(EIGEN_ROPE_TEST_DATA) / "models";
  std::filesystem::copy_file(data / "hugging_face" / "llama_3_1.json", folder / "config.json");
  std::filesystem::copy_file(data / "gguf" / "gpt_oss_yarn.gguf", folder / "model.json");
  const models::ModelRope of_folder = read_model(folder.path(), models::Strictness::strict);
  EXPECT_EQ(of_folder.architecture, "llama");
  EXPECT_TRUE(std::holds_alternative<Llama3<>>(of_folder.layers.at(0).scaling));
  EXPECT_EQ(of_folder.context,
            read_model(folder / "config.json", models::Strictness::strict).context);
  EXPECT_TRUE(std::holds_alternative<GgmlYarn<>>(
      read_model(folder / "model.json", models::Strictness::strict).layers.at(0).scaling));
}

// The program.

constexpr const char* yarn_words = "yarn:dims=64,base=150000,factor=32,original=4096,ends=exact";

TEST(InspectProgram, PrintsWritesAndDraws) {
  const TemporaryFolder folder;
  const test::Outcome outcome =
      run_tool(std::string("inspect ") + yarn_words + " --json '" + (folder / "all.json").string() +
               "' --plot '" + (folder / "all.svg").string() + "'");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, HasSubstr("  ramp_low                  8.092779116 pairs\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\nWarnings\n! "));
  const Json json = Json::parse(file_bytes(folder / "all.json"));
  EXPECT_EQ(json["context"], 131072);
  EXPECT_EQ(json["layers"][0]["rates"].size(), 32U);
  EXPECT_FALSE(file_bytes(folder / "all.svg").empty());
}

TEST(InspectProgram, UnusableIsTwoAndNothingIsWritten) {
  const TemporaryFolder folder;
  const TemporaryFolder other;
  const std::filesystem::path pipe = other / "pipe.svg";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string json = "--json '" + (folder / "all.json").string() + "' ";
  const std::pair<std::string, std::string> cases[] = {
      {json + "yarn:dims=64", "[rope] yarn: factor must be given\n"},
      {json + "/nowhere/config.json",
       "[rope] /nowhere/config.json: must be a config.json, a folder with one, a GGUF file, or a "
       "scaling such as "
       "yarn:dims=128,factor=4,original=4096\n"},
      {json + "default:dims=8",
       "[rope] the model does not say for how many tokens it is: give --context\n"},
      {json + "--layer x default:dims=8,context=9",
       "[rope] --layer needs a model that names kinds of layers, got x\n"},
      {json + "--plot picture.jpg default:dims=8,context=9",
       "[rope] picture.jpg: a picture's name must end in .svg or .png\n"},
      {"--json /nowhere/all.json default:dims=8,context=9",
       "[rope] /nowhere/all.json: cannot be written: there is no folder /nowhere\n"},
      {"--plot /nowhere/all.png default:dims=8,context=9",
       "[rope] /nowhere/all.png: cannot be written: there is no folder /nowhere\n"},
      {"--plot '" + pipe.string() + "' default:dims=8,context=9",
       "[rope] " + pipe.string() + ": a picture must be a file\n"},
      {"--json '" + folder.path().string() + "' default:dims=8,context=9",
       "[rope] " + folder.path().string() + ": cannot be written: it is a folder\n"}};
  for (const auto& [words, sentence] : cases) {
    const test::Outcome outcome = run_tool("inspect " + words);
    EXPECT_EQ(outcome.code, 2) << words;
    EXPECT_EQ(outcome.err, sentence);
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_EQ(run_tool("inspect").code, 2);
  for (const char* context : {"0", "-1", "x", "1.5", "99999999999999999999"}) {
    const test::Outcome outcome =
        run_tool(std::string("inspect default:dims=8 --context=") + context);
    EXPECT_EQ(outcome.code, 2) << context;
    EXPECT_EQ(outcome.err, std::string("[rope] --context must be a whole number from 1, got ") +
                               context + "; see eigen-rope inspect --help\n");
  }
}

}  // namespace
}  // namespace eigen_rope::tool::inspect_tests
