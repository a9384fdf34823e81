// SPDX-License-Identifier: Apache-2.0
//
// `eigen-rope compare`: what differs, how far the angles are apart, and what the program prints,
// writes and returns.
#include "tool/compare/compare.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "support/error_of.hpp"
#include "support/published_models.hpp"
#include "support/run_tool.hpp"
#include "tool/compare/plot.hpp"
#include "tool/compare/report.hpp"
#include "tool/inspect/scaling_text.hpp"
#include "tool/io/panels.hpp"

namespace eigen_rope::tool::compare_tests {
namespace {

using eigen_rope::test::error_of;
using test::file_bytes;
using test::run_tool;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr double pi = 3.14159265358979323846;

Operand operand(const models::ModelRope& model) { return {model.architecture + ".json", model}; }
Operand operand(const char* text) { return {text, parse_scaling(text)}; }

Comparison compared(const char* a, const char* b, eigen_rope::Index length = 0) {
  return compare(operand(a), operand(b), {length, ""});
}

std::set<std::string> names_in(const std::vector<Difference>& rows) {
  std::set<std::string> names;
  for (const Difference& row : rows) names.insert(row.name);
  return names;
}

std::set<std::string> deciding(const Comparison& comparison) {
  return names_in(comparison.differences);
}
std::set<std::string> remarks(const Comparison& comparison) { return names_in(comparison.remarks); }

TEST(Compare, AModelEqualsItself) {
  for (const models::ModelRope& model :
       {test::llama31(), test::gpt_oss(RampEnds::exact), test::longrope(), test::proportional(),
        test::two_kinds()}) {
    const Comparison comparison = compare(operand(model), operand(model), {});
    EXPECT_TRUE(comparison.equal()) << model.architecture;
    EXPECT_EQ(comparison.layers.size(), model.layers.size());
    for (const LayerComparison& layer : comparison.layers)
      EXPECT_EQ(layer.angles.back().radians, 0);
    EXPECT_THAT(text_of(comparison, {}), EndsWith("\nnothing differs\n"));
  }
}

TEST(Compare, OnlyWhatDiffersIsListed) {
  const Comparison ends = compare(operand(test::gpt_oss(RampEnds::exact)),
                                  operand(test::gpt_oss(RampEnds::rounded)), {});
  EXPECT_EQ(remarks(ends), (std::set<std::string>{"scaling.ends"}));
  EXPECT_EQ(deciding(ends).size(), 1U) << "a rate";
  EXPECT_EQ(remarks(compare(operand(test::llama2()), operand(test::llama31()), {})),
            (std::set<std::string>{"context", "base", "scaling", "scaling.factor",
                                   "scaling.low_freq_factor", "scaling.high_freq_factor",
                                   "scaling.original_context"}));
}

TEST(Compare, ThePairingsWordIsARemarkAndWhatIsNotKnownIsNone) {
  models::ModelRope other = test::llama2();
  other.layers[0].pairing = interleaved;
  Comparison comparison = compare(operand(test::llama2()), operand(other), {});
  EXPECT_TRUE(comparison.equal());
  EXPECT_EQ(remarks(comparison), (std::set<std::string>{"pairing"}));
  other.layers[0].pairing.reset();
  comparison = compare(operand(test::llama2()), operand(other), {});
  EXPECT_TRUE(comparison.equal());
  EXPECT_THAT(comparison.remarks, IsEmpty());
}

TEST(Compare, NamesAndCountsAreRemarks) {
  models::ModelRope other = test::llama2();
  other.architecture = "mistral";
  other.context = 2048;
  models::ModelRope one = test::llama2();
  one.heads = 32;
  other.heads = 8;
  const Comparison comparison = compare(operand(one), operand(other), {});
  EXPECT_TRUE(comparison.equal());
  EXPECT_EQ(remarks(comparison), (std::set<std::string>{"architecture", "context", "heads"}));
  EXPECT_THAT(text_of(comparison, {}), HasSubstr("equal with a tolerance of 0.01 rad: all rates "
                                                 "are equal; magnitude, sections, sizes and"));
}

TEST(Compare, ValuesThatDifferLookDifferent) {
  const Comparison comparison =
      compared("linear:dims=8,factor=2,context=9", "linear:dims=8,factor=2.0000000000000004");
  EXPECT_TRUE(comparison.equal());
  ASSERT_EQ(comparison.remarks.size(), 1U);
  EXPECT_EQ(comparison.remarks[0].a, "2");
  EXPECT_EQ(comparison.remarks[0].b, "2.0000000000000004");
  EXPECT_NEAR(comparison.layers.at(0).angles.back().radians, 8 * 0x1p-53, 1e-20);
}

TEST(Compare, AnglesAreApartByPositionTimesTheRatesDifference) {
  const Comparison comparison = compared("default:dims=64,context=1000", "linear:dims=64,factor=4");
  const LayerComparison& layer = comparison.layers.at(0);
  EXPECT_EQ(layer.widest, 0);
  std::vector<eigen_rope::Index> positions;
  for (const AngleDifference& angle : layer.angles) {
    positions.push_back(angle.position);
    EXPECT_EQ(angle.pair, 0);
    EXPECT_DOUBLE_EQ(angle.radians, 0.75 * static_cast<double>(angle.position));
    EXPECT_DOUBLE_EQ(angle.turns(), angle.radians / (2 * pi));
  }
  EXPECT_THAT(positions, ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 999));
  for (const double ratio : layer.ratios) EXPECT_DOUBLE_EQ(ratio, 0.25);
  EXPECT_EQ(layer.first_apart, 1);
}

TEST(Compare, TheWidestPairIsNotAlwaysTheFirst) {
  const LayerComparison layer =
      compared("default:dims=128,context=100", "default:dims=128,base=500000").layers.at(0);
  double widest = 0;
  eigen_rope::Index pair = 0;
  for (int k = 0; k < 64; ++k) {
    const double difference = std::fabs(std::pow(1e4, -k / 64.0) - std::pow(5e5, -k / 64.0));
    if (difference > widest) {
      widest = difference;
      pair = k;
    }
  }
  EXPECT_GT(pair, 0);
  EXPECT_EQ(layer.widest, pair);
  EXPECT_NEAR(layer.angles.back().radians, 99 * widest, 1e-12);
}

TEST(Compare, TheFirstPositionApartIsTheFirst) {
  for (const char* factor : {"1.0001", "1.001", "1.01", "1.0333", "1.1", "1.2"}) {
    const std::string b = std::string("linear:dims=8,factor=") + factor;
    const LayerComparison layer = compared("default:dims=8,context=100000", b.c_str()).layers.at(0);
    ASSERT_TRUE(layer.first_apart) << factor;
    const double difference = 1 - 1 / std::stod(factor);
    EXPECT_GT(static_cast<double>(*layer.first_apart) * difference, 0.1) << factor;
    EXPECT_LE(static_cast<double>(*layer.first_apart - 1) * difference, 0.1 * (1 + 1e-12))
        << factor;
  }
  EXPECT_EQ(compared("default:dims=8,context=1001", "linear:dims=8,factor=1.0001")
                .layers.at(0)
                .first_apart,
            std::nullopt);
  EXPECT_EQ(compared("default:dims=8,context=1002", "linear:dims=8,factor=1.0001")
                .layers.at(0)
                .first_apart,
            1001);
}

TEST(Compare, EqualRatesUnderTwoNamesAreSaidToBeEqual) {
  const Comparison comparison = compared("yarn:dims=128,factor=4,original=4096",
                                         "ggml_yarn:dims=128,linear_scale=0.25,original=4096");
  EXPECT_TRUE(comparison.equal());
  EXPECT_EQ(comparison.layers.at(0).angles.back().radians, 0);
  EXPECT_EQ(remarks(comparison).count("m"), 0U);
  EXPECT_THAT(text_of(comparison, {}), EndsWith("the rates of 64 pairs are equal\n"));
}

TEST(Compare, MagnitudesAreCompared) {
  const Comparison comparison = compared("yarn:dims=128,factor=4,original=4096",
                                         "yarn:dims=128,factor=4,original=4096,magnitude=given");
  EXPECT_EQ(deciding(comparison), (std::set<std::string>{"m"}));
  EXPECT_EQ(remarks(comparison), (std::set<std::string>{"scaling.magnitude"}));
  const double m = 1 + std::log(4) / 10;
  EXPECT_THAT(text_of(comparison, {}),
              HasSubstr(fmt::format("m differs by {:.6g}: b's q.k are {:.6g} times a's\n", 1 - m,
                                    1 / (m * m))));
}

TEST(Compare, DifferentNumbersOfPairsAreComparedAsFarAsBothGo) {
  const Comparison comparison = compared("default:dims=128,context=64", "default:dims=64");
  EXPECT_EQ(comparison.layers.at(0).rate_differences.size(), 32U);
  EXPECT_THAT(text_of(comparison, {}),
              HasSubstr("a has 64 pairs, b has 32: the first 32 are compared\n"));
}

TEST(Compare, StoppedPairsHaveARatio) {
  const LayerComparison layer =
      compared("proportional:dims=8,pairs=2,context=9", "proportional:dims=8,pairs=3").layers.at(0);
  EXPECT_EQ(layer.ratios[1], 1);
  EXPECT_TRUE(std::isinf(layer.ratios[2]));
  EXPECT_EQ(layer.ratios[3], 1);
  EXPECT_EQ(layer.widest, 2);
}

TEST(Compare, KindsOfLayersAreMatchedByNameWhereTheyAreNotListed) {
  models::ModelRope listless = test::two_kinds();
  for (models::LayerRope& kind : listless.layers) kind.layers.clear();
  models::ModelRope turned = listless;
  std::swap(turned.layers[0], turned.layers[1]);
  EXPECT_TRUE(compare(operand(listless), operand(turned), {}).equal());
  const Comparison half_listed = compare(operand(test::two_kinds()), operand(turned), {});
  EXPECT_TRUE(half_listed.equal());
  EXPECT_THAT(
      half_listed.notes,
      ElementsAre(
          "b does not say which of its layers rotate: kinds of layers are compared, not layers"));
  turned.layers[0].layer_type = "chunked_attention";
  const Comparison other = compare(operand(listless), operand(turned), {});
  EXPECT_EQ(other.layers.size(), 1U);
  EXPECT_EQ(other.layers[0].layer_type, "full_attention");
  ASSERT_EQ(other.differences.size(), 2U);
  EXPECT_EQ(other.differences[0].layer_type, "sliding_attention");
  EXPECT_EQ(other.differences[0].b, "-");
  EXPECT_EQ(other.differences[1].layer_type, "chunked_attention");
  EXPECT_EQ(other.differences[1].a, "-");
}

TEST(Compare, OneKindIsComparedWithEveryKind) {
  const Operand plain = operand("default:dims=256");
  const Comparison both = compare(operand(test::two_kinds()), plain, {});
  ASSERT_EQ(both.layers.size(), 2U);
  EXPECT_GT(both.layers[0].angles.back().radians, 0);
  EXPECT_EQ(both.layers[1].angles.back().radians, 0);
  const Comparison one = compare(operand(test::two_kinds()), plain, {0, "sliding_attention"});
  EXPECT_EQ(one.layers.size(), 1U);
  EXPECT_TRUE(one.equal());
  EXPECT_EQ(error_of([&] {
              compare(operand(test::two_kinds()), plain, {0, "x"});
            }),
            "[rope] --layer must be a type of layer that one of the two has, got x");
}

TEST(Compare, TheLengthIsTheLongerContextOrGiven) {
  EXPECT_EQ(compared("default:dims=8,context=10", "default:dims=8,context=30").length, 30);
  EXPECT_EQ(compared("default:dims=8,context=10", "default:dims=8,context=30", 7).length, 7);
  EXPECT_EQ(error_of([] { compared("default:dims=8", "default:dims=8"); }),
            "[rope] neither says for how many tokens it is: give --context");
  EXPECT_EQ(
      compared("default:dims=8,context=1", "linear:dims=8,factor=2").layers.at(0).angles.size(),
      0U);
}

TEST(Compare, WhatTheReadersWarnedOfIsPassedOn) {
  models::ModelRope doubtful = test::llama2();
  doubtful.warnings = {"the file says so"};
  const Comparison comparison = compare(operand(test::llama2()), operand(doubtful), {});
  EXPECT_TRUE(comparison.equal());
  EXPECT_THAT(text_of(comparison, {}),
              EndsWith("\nnothing differs\n\nWarnings\n! b: the file says so\n"));
  EXPECT_EQ(json_of(comparison)["warnings"], Json({"b: the file says so"}));
}

// Which layers rotate.

models::ModelRope with_layers(models::ModelRope model, eigen_rope::Index count,
                              std::vector<eigen_rope::Index> rotated) {
  model.layer_count = count;
  model.layers.at(0).layers = std::move(rotated);
  return model;
}

TEST(CompareLayers, AnEmptyListIsEveryLayer) {
  const models::ModelRope all = with_layers(test::llama2(), 8, {}),
                          listed = with_layers(test::llama2(), 8, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_TRUE(compare(operand(all), operand(listed), {}).equal());
  EXPECT_THAT(compare(operand(all), operand(listed), {}).notes, IsEmpty());
  const models::ModelRope some = with_layers(test::llama2(), 8, {0, 1, 2, 4, 5, 6});
  for (const bool turned : {false, true}) {
    const Comparison comparison =
        compare(operand(turned ? some : all), operand(turned ? all : some), {});
    ASSERT_EQ(comparison.differences.size(), 1U);
    EXPECT_EQ(comparison.differences[0].name, "layers rotated in one only");
    EXPECT_EQ(turned ? comparison.differences[0].b : comparison.differences[0].a, "3, 7");
    EXPECT_EQ(turned ? comparison.differences[0].a : comparison.differences[0].b, "-");
    EXPECT_THAT(comparison.layers.at(0).layers, ElementsAre(0, 1, 2, 4, 5, 6));
  }
}

TEST(CompareLayers, LayersThatOneDoesNotHaveAreRotatedInTheOtherOnly) {
  const Comparison comparison = compare(operand(with_layers(test::llama2(), 8, {})),
                                        operand(with_layers(test::llama2(), 10, {})), {});
  EXPECT_EQ(deciding(comparison), (std::set<std::string>{"layers rotated in one only"}));
  EXPECT_EQ(comparison.differences.at(0).b, "8, 9");
  // A layer more that rests rotates in neither.
  EXPECT_TRUE(compare(operand(with_layers(test::llama2(), 3, {})),
                      operand(with_layers(test::llama2(), 4, {0, 1, 2})), {})
                  .equal());
}

TEST(CompareLayers, AreComparedOneByOneWhateverTheirKindsAreCalled) {
  models::ModelRope renamed = test::two_kinds();
  std::swap(renamed.layers[0], renamed.layers[1]);
  renamed.layers[0].layer_type = "local";
  renamed.layers[1].layer_type = "global";
  const Comparison same = compare(operand(test::two_kinds()), operand(renamed), {});
  EXPECT_TRUE(same.equal());
  EXPECT_EQ(same.layers.size(), 2U);
  EXPECT_EQ(same.layers[0].layer_type, "full_attention / global");
  // Layer 4 slides in one and not in the other.
  renamed.layers[1].layers = {4, 5, 11};
  renamed.layers[0].layers = {0, 1, 2, 3, 6, 7, 8, 9, 10};
  const Comparison moved = compare(operand(test::two_kinds()), operand(renamed), {});
  ASSERT_EQ(moved.layers.size(), 3U);
  EXPECT_EQ(moved.differences.size(), 1U);
  EXPECT_EQ(moved.differences[0].layer_type, "sliding_attention / global");
  EXPECT_THAT(moved.layers[2].layers, ElementsAre(4));
  // Two kinds where the rates are the same are one kind.
  models::ModelRope halves = test::llama2();
  halves.layers.push_back(halves.layers[0]);
  halves.layers[0].layers = {0, 2};
  halves.layers[1].layers = {1, 3};
  EXPECT_TRUE(compare(operand(halves), operand(with_layers(test::llama2(), 4, {})), {}).equal());
  EXPECT_FALSE(compare(operand(halves), operand(with_layers(test::llama2(), 5, {})), {}).equal());
}

TEST(CompareLayers, OnlyThoseAskedForAreCompared) {
  models::ModelRope plain = with_layers(test::two_kinds(), 12, {});
  plain.layers.pop_back();
  plain.layers[0].layer_type.clear();
  const Operand two = operand(test::two_kinds()), one = operand(plain);
  EXPECT_FALSE(compare(two, one, {}).equal());
  EXPECT_TRUE(compare(two, one, {0, "full_attention"}).equal());
  EXPECT_FALSE(compare(two, one, {0, "sliding_attention"}).equal());
}

TEST(CompareLayers, AModelThatDoesNotRotateDiffersFromOneThatDoes) {
  models::ModelRope still = test::llama2();
  still.layers.clear();
  for (const eigen_rope::Index count : {0, 8}) {
    still.layer_count = count;
    EXPECT_TRUE(compare(operand(still), operand(still), {}).equal());
    EXPECT_FALSE(
        compare(operand(still), operand(with_layers(test::llama2(), count, {})), {}).equal())
        << count;
    EXPECT_FALSE(
        compare(operand(with_layers(test::llama2(), count, {})), operand(still), {}).equal())
        << count;
    EXPECT_FALSE(compare(operand(test::two_kinds()), operand(still), {}).equal()) << count;
    EXPECT_FALSE(compare(operand("default:dims=8"), operand(still), {}).equal()) << count;
  }
}

// The tolerance.

TEST(CompareTolerance, IsTheLargestAngleAtTheLastPosition) {
  const Operand a = operand("default:dims=8,context=1001"),
                b = operand("linear:dims=8,factor=1.00001");
  const double apart = 1000 * (1 - 1 / 1.00001);
  EXPECT_NEAR(compare(a, b, {}).layers.at(0).worst.radians, apart, 1e-12);
  EXPECT_TRUE(compare(a, b, {}, apart * (1 + 1e-9)).equal());
  EXPECT_FALSE(compare(a, b, {}, apart * (1 - 1e-9)).equal());
  EXPECT_TRUE(compare(a, b, {500, ""}, apart / 2).equal());
  EXPECT_FALSE(compare(a, b, {502, ""}, apart / 2).equal());
  EXPECT_EQ(compare(a, b, {}).equal(), apart <= 0.01);
  for (const double wrong : {-1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THAT(error_of([&] { compare(a, b, {}, wrong); }),
                testing::StartsWith("[rope] --tolerance must be a number from 0, got "));
  }
}

TEST(CompareTolerance, RoundingToFloatIsARemark) {
  models::ModelRope rounded = test::longrope();
  auto& scaling = std::get<LongRope<>>(rounded.layers[0].scaling);
  for (std::vector<double>* list : {&scaling.short_factor, &scaling.long_factor}) {
    for (double& factor : *list) factor = static_cast<float>(factor);
  }
  const Comparison comparison = compare(operand(test::longrope()), operand(rounded), {});
  EXPECT_TRUE(comparison.equal());
  EXPECT_EQ(remarks(comparison),
            (std::set<std::string>{"scaling.short_factor", "scaling.long_factor"}));
  EXPECT_FALSE(compare(operand(test::longrope()), operand(rounded), {}, 1e-6).equal());
}

TEST(CompareTolerance, HoldsForTheMagnitudeAsARatio) {
  models::ModelRope louder = test::llama2();
  louder.layers[0].powers.attention_factor = 1.002;
  EXPECT_FALSE(compare(operand(test::llama2()), operand(louder), {}, 0.00199).equal());
  EXPECT_TRUE(compare(operand(test::llama2()), operand(louder), {}, 0.00201).equal());
  models::ModelRope softer = test::llama2();
  softer.layers[0].softmax_multiplier = 2;
  EXPECT_EQ(deciding(compare(operand(test::llama2()), operand(softer), {})),
            (std::set<std::string>{"softmax_multiplier"}));
}

TEST(CompareTolerance, RatesOfShorterSequencesCount) {
  models::ModelRope other = test::longrope();
  std::get<LongRope<>>(other.layers[0].scaling).short_factor[1] *= 1.001;
  const Comparison comparison = compare(operand(test::longrope()), operand(other), {});
  EXPECT_EQ(comparison.layers.at(0).angles.back().radians, 0);
  EXPECT_EQ(deciding(comparison), (std::set<std::string>{"rate of pair 1"}));
  EXPECT_EQ(comparison.layers.at(0).worst_length, 4096);
  EXPECT_THAT(comparison.differences.at(0).note,
              EndsWith(" rad apart at position 4095 of 4096 tokens"));
}

TEST(CompareSizes, CountAndTheRotatedPartOfLatentAttentionIsTheSameAlone) {
  models::ModelRope wide = test::llama2();
  wide.layers[0].head_dims = 192;
  wide.layers[0].pairing = split_half.with_rotary_dims(128);
  EXPECT_EQ(deciding(compare(operand(test::llama2()), operand(wide), {})),
            (std::set<std::string>{"head_dims"}));
  wide.layers[0].pairing = split_half.with_rotary_dims(128).with_offset(64);
  const Comparison part = compare(operand(test::llama2()), operand(wide), {});
  EXPECT_TRUE(part.equal());
  EXPECT_EQ(remarks(part), (std::set<std::string>{"head_dims", "pairing"}));
  models::ModelRope front = wide;
  front.layers[0].pairing = split_half.with_rotary_dims(128).with_offset(32);
  EXPECT_EQ(deciding(compare(operand(wide), operand(front), {})),
            (std::set<std::string>{"first rotated element"}));
  EXPECT_EQ(deciding(compared("default:dims=128,head_dims=256,context=64",
                              "default:dims=64,head_dims=256"))
                .count("rotary_dims"),
            1U);
}

TEST(CompareSections, TheAxisOfEachPairDecides) {
  const auto with_sections = [](SectionPattern pattern, std::vector<eigen_rope::Index> lengths) {
    models::ModelRope model = test::llama2();
    model.layers[0].sections = Sections(pattern, std::move(lengths));
    return operand(model);
  };
  const Operand hugging_face = with_sections(SectionPattern::interleaved_hf, {24, 20, 20});
  const Operand ggml = with_sections(SectionPattern::interleaved_ggml, {24, 20, 20, 0});
  const Operand contiguous = with_sections(SectionPattern::contiguous, {24, 20, 20});
  EXPECT_TRUE(
      compare(with_sections(SectionPattern::contiguous, {24, 20, 20, 0}), contiguous, {}).equal());
  EXPECT_EQ(deciding(compare(hugging_face, contiguous, {})), (std::set<std::string>{"sections"}));
  EXPECT_EQ(deciding(compare(operand(test::llama2()), contiguous, {})),
            (std::set<std::string>{"sections"}));
  // ggml's fourth axis takes what the other three leave over: pairs past 3 * 20 that are not t's.
  bool same = true;
  for (eigen_rope::Index pair = 0; pair < 64; ++pair) {
    same = same && hugging_face.model.layers[0].sections->axis(pair) ==
                       ggml.model.layers[0].sections->axis(pair);
  }
  EXPECT_EQ(compare(hugging_face, ggml, {}).equal(), same);
}

TEST(CompareJson, NumbersRoundTrip) {
  const Comparison comparison =
      compared("default:dims=128,context=4096", "proportional:dims=128,pairs=32");
  const Json json = Json::parse(json_of(comparison).dump());
  EXPECT_EQ(json["equal"], false);
  const Json& layer = json["layers"][0];
  EXPECT_EQ(layer["rates"]["a"].size(), 64U);
  EXPECT_EQ(layer["ratios"][40], 0);
  EXPECT_EQ(layer["first_apart"], *comparison.layers[0].first_apart);
  for (std::size_t i = 0; i < comparison.layers[0].angles.size(); ++i) {
    EXPECT_EQ(layer["angle_differences"][i]["radians"], comparison.layers[0].angles[i].radians);
  }
}

struct Converted {
  const char* gguf;
  const char* config;
};

std::ostream& operator<<(std::ostream& out, const Converted& converted) {
  return out << converted.gguf;
}

/// A configuration and what llama.cpp's files say of the same model: pairing words, names and
/// roundings differ.
class ComparePublished : public testing::TestWithParam<Converted> {
 protected:
  ComparePublished() : config_((folder_ / "config.json").string()) {
    test::write_bytes(config_, GetParam().config);
  }
  int compared_with(const std::string& config, const std::string& options) const {
    return run_tool("compare '" + config + "' '" EIGEN_ROPE_TEST_DATA "/models/gguf/" +
                    GetParam().gguf + ".gguf' " + options)
        .code;
  }

  TemporaryFolder folder_;
  std::string config_;
};

TEST_P(ComparePublished, AConfigurationAndItsGgufAreEqual) {
  const std::string output =
      run_tool("compare '" + config_ + "' '" EIGEN_ROPE_TEST_DATA "/models/gguf/" +
               GetParam().gguf + ".gguf'")
          .out;
  EXPECT_EQ(compared_with(config_, ""), 0) << output;
  EXPECT_EQ(compared_with(config_, "--tolerance 0.005"), 0) << output;
}

TEST_P(ComparePublished, AnotherBaseIsADifference) {
  Json other = Json::parse(GetParam().config);
  other["rope_theta"] = other["rope_theta"].get<double>() * 1.01;
  test::write_bytes(folder_ / "other.json", other.dump());
  EXPECT_EQ(compared_with((folder_ / "other.json").string(), ""), 1);
  // A layer more that rotates.
  other = Json::parse(GetParam().config);
  other["num_hidden_layers"] = other["num_hidden_layers"].get<int>() + 1;
  test::write_bytes(folder_ / "other.json", other.dump());
  EXPECT_EQ(compared_with((folder_ / "other.json").string(), ""), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Models, ComparePublished,
    testing::Values(
        Converted{
            "llama_factors",
            R"({"model_type": "llama", "hidden_size": 128, "num_attention_heads": 8, "num_key_value_heads": 2,
          "num_hidden_layers": 4, "max_position_embeddings": 131072, "rope_theta": 500000.0, "rope_scaling": {"rope_type": "llama3",
          "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}})"},
        Converted{
            "gemma3_sliding",
            R"({"model_type": "gemma3_text", "hidden_size": 256, "head_dim": 32, "num_attention_heads": 8,
          "num_key_value_heads": 2, "num_hidden_layers": 7, "max_position_embeddings": 131072, "rope_theta": 1000000.0,
          "rope_local_base_freq": 10000.0, "sliding_window_pattern": 6, "sliding_window": 512,
          "rope_scaling": {"rope_type": "linear", "factor": 8.0}})"},
        Converted{
            "phi3_longrope",
            R"({"model_type": "phi3", "hidden_size": 128, "num_attention_heads": 8, "num_key_value_heads": 2,
          "num_hidden_layers": 4, "partial_rotary_factor": 0.75, "max_position_embeddings": 131072,
          "original_max_position_embeddings": 4096, "rope_theta": 10000.0, "rope_scaling": {"type": "longrope",
          "short_factor": [1.0, 1.02, 1.1, 1.25, 1.9, 2.8], "long_factor": [1.0, 1.1, 1.9, 5.3, 21.7, 64.1]}})"},
        Converted{"deepseek2_yarn",
                  R"({"model_type": "deepseek_v2", "hidden_size": 2048, "num_attention_heads": 16,
          "num_key_value_heads": 16, "num_hidden_layers": 3, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
          "max_position_embeddings": 163840, "rope_theta": 10000.0, "rope_scaling": {"type": "yarn", "factor": 40, "mscale": 0.707,
          "mscale_all_dim": 0.707, "beta_fast": 32, "beta_slow": 1, "original_max_position_embeddings": 4096}})"}),
    [](const auto& test) { return std::string(test.param.gguf); });

TEST(PanelRoom, WordsAtALevelAvoidCurvesAndOtherWords) {
  const auto label_beside = [](const std::vector<PanelPoint>& curve, const PanelArea& taken) {
    PanelRoom room(0.1, 0.35);
    room.curve(curve);
    room.level(0.5);
    room.words(taken);
    return room.label(2, "half a turn", 0.5, 3);
  };
  const PanelArea nowhere{2, 3, 2, 3};
  EXPECT_THAT(label_beside({{0, 0.9}, {1, 0.9}}, nowhere), HasSubstr("right offset 0,0.5 "));
  EXPECT_THAT(label_beside({{0.8, 0.53}, {1, 0.53}}, nowhere), HasSubstr("right offset 0,-0.5 "));
  EXPECT_THAT(label_beside({{0, 0}, {1, 0.55}}, nowhere),
              HasSubstr("at graph 0.0200, first 3 left offset 0,0.5 "));
  // A curve between its ends, and words at both.
  EXPECT_THAT(label_beside({{0.85, 0}, {0.85, 1}}, {0, 0.4, 0, 1}),
              HasSubstr("first 3 left offset 0,0.5 "));
  // Without any room it stands where it would stand alone.
  EXPECT_THAT(label_beside({{0, 0.5}, {1, 0.5}}, {0, 1, 0, 1}), HasSubstr("right offset 0,0.5 "));
  // The second of two labels at one level.
  PanelRoom room(0.1, 0.35);
  EXPECT_THAT(room.label(2, "words", 0.5, 3), HasSubstr("right offset 0,0.5 "));
  EXPECT_THAT(room.label(3, "words", 0.5, 3), HasSubstr("right offset 0,-0.5 "));
  EXPECT_THAT(room.label(4, "words", 0, 3), HasSubstr("right offset 0,0.5 "));
}

TEST(PanelRoom, AnAxisGoesOnAboveCurvesThatWouldPassUnderTheKey) {
  const auto range_of = [](double first, double last) {
    return range_below_key(1e-4, 1, {"a", "b"}, [&](const AxisRange& axis) {
      PanelRoom room(0.1, 0.35);
      room.curve({{0, axis.share(first)}, {1, axis.share(last)}});
      return room;
    });
  };
  EXPECT_LT(range_of(1, 1e-4).last, 2);
  EXPECT_GT(range_of(1e-4, 1).last, 5);
  EXPECT_NEAR(range_of(1e-4, 1).share(1.5), 1 - key_height(2), 1e-12);
  // One value: still a power of ten on the axis.
  const AxisRange one = AxisRange::logarithmic(0.3, 0.3, 0);
  EXPECT_NEAR(one.last / one.first, 20, 1e-12);
}

TEST(PanelRoom, LongNamesLoseTheirBeginning) {
  EXPECT_EQ(short_name("model.json", 10), "model.json");
  EXPECT_EQ(short_name("a/model.json", 10), "...el.json");
  EXPECT_EQ(short_name("a/model.json", 0), "...");
}

TEST(CompareProgram, TheExitCodeIsThatOfDiff) {
  const TemporaryFolder folder;
  const std::string json = (folder / "all.json").string(), plot = (folder / "all.png").string();
  EXPECT_EQ(run_tool("compare default:dims=8,context=9 default:rotary_dims=8,base=10000").code, 0);
  const test::Outcome differ =
      run_tool("compare default:dims=8,context=9 linear:dims=8,factor=2 --json '" + json +
               "' --plot '" + plot + "'");
  EXPECT_EQ(differ.code, 1);
  EXPECT_EQ(differ.err, "");
  EXPECT_THAT(differ.out,
              HasSubstr("angles are more than 0.1 rad apart from position 1 on (pair 0)\n"));
  EXPECT_EQ(Json::parse(file_bytes(json))["length"], 9);
  EXPECT_THAT(file_bytes(plot), EndsWith("IEND\xae\x42\x60\x82"));
  EXPECT_EQ(run_tool("compare default:dims=8").code, 2);
  EXPECT_EQ(
      run_tool("compare default:dims=8,context=9 linear:dims=8,factor=1.0001 --tolerance 1e-4")
          .code,
      1);
  EXPECT_EQ(
      run_tool("compare default:dims=8,context=9 linear:dims=8,factor=1.0001 --tolerance 1e-3")
          .code,
      0);
  EXPECT_EQ(run_tool("compare default:dims=8,context=9 interleaved.json --tolerance 1e-3").code, 2);
  EXPECT_EQ(run_tool("compare default:dims=8,context=9 linear:dims=8,factor=2 --tolerance").code,
            2);
  EXPECT_EQ(run_tool("compare default:dims=8,context=9 linear:dims=8,factor=2 --tolerance=-1").code,
            2);
  const test::Outcome unusable =
      run_tool("compare default:dims=8,context=9 linear:dims=8 --json '" +
               (folder / "none.json").string() + "'");
  EXPECT_EQ(unusable.code, 2);
  EXPECT_EQ(unusable.err, "[rope] linear: factor must be given\n");
  EXPECT_FALSE(std::filesystem::exists(folder / "none.json"));
}

TEST(ComparePlot, DrawsWholePicturesWithoutComplaint) {
  const TemporaryFolder folder;
  draw(compare(operand(test::two_kinds()), operand("default:dims=64"), {}), folder / "two.svg");
  EXPECT_THAT(file_bytes(folder / "two.svg"), HasSubstr("how far apart the angles are"));
  for (const char* other :
       {"default:dims=128", "proportional:dims=128,pairs=0", "linear:dims=128,factor=8"}) {
    draw(compared("default:dims=128,context=4096", other), folder / "one.png");
    EXPECT_THAT(file_bytes(folder / "one.png"), EndsWith("IEND\xae\x42\x60\x82")) << other;
  }
}

}  // namespace
}  // namespace eigen_rope::tool::compare_tests
