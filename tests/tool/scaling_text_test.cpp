// SPDX-License-Identifier: Apache-2.0
//
// Scalings written on a command line, against the same values built by hand.
#include "tool/inspect/scaling_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.hpp"
#include "support/yarn.hpp"
#include "tool/inspect/scaling_fields.hpp"
#include "tool/io/file_error.hpp"

namespace eigen_rope::tool::scaling_text_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

models::LayerRope layer_from(const char* text) { return parse_scaling(text).layers.at(0); }

template <class Type>
Type scaling_from(const char* text) {
  return std::get<Type>(layer_from(text).scaling);
}

/// A scaling's printed form is what the program reads.
TEST(ScalingText, ReadsWhatScalingsPrint) {
  const std::vector<Scaling> scalings{
      Linear{2.5},
      Proportional{2.0, 3},
      DynamicNtkScaling{3.0, 100},
      NtkScaling{4.0, 0.1},
      eigen_rope::test::yarn_of(4.0, 64, 31.0, 1.5, RampEnds::exact, YarnMagnitude::deepseek, {0.7},
                                0.3, 0.9),
      Llama3{8.0, 1.0, 4.5, 64},
      LongRope{{1.0, 1.5, 1.25, 2.0}, {2.0, 0.1, 3.0, 1e-3}, 64, 32.0, LongRopeMagnitude::given}};
  for (const Scaling& scaling : scalings) {
    const std::string text = std::visit([](const auto& one) { return one.text(); }, scaling);
    EXPECT_EQ(parse_scaling(text + ",dims=8").layers.at(0).scaling, scaling) << text;
  }
  EXPECT_EQ(
      parse_scaling(GgmlYarn{0.5, 64}.text() + ",dims=8,linear_scale=0.5").layers.at(0).scaling,
      Scaling(GgmlYarn{0.5, 64}));
  EXPECT_EQ(parse_scaling(Unscaled().text() + ":dims=8").layers.at(0).scaling, Scaling(Unscaled()));
}

TEST(ScalingText, EveryFieldOfYarnIsReadByItsName) {
  const models::LayerRope layer = layer_from(
      "yarn:rotary_dims=64,base=150000,linear_scale=0.5,attention_factor=1.25,factor=32,original_"
      "context=4096,beta_fast=16,beta_slow=2,"
      "ends=exact,magnitude=deepseek,mscale=0.7,mscale_all_dim=0.8,extrapolation=0.9,head_dims=80");
  EXPECT_EQ(layer.powers.rotary_dims, 64);
  EXPECT_EQ(layer.head_dims, 80);
  EXPECT_EQ(layer.powers.base, 150000);
  EXPECT_EQ(layer.powers.linear_scale, 0.5);
  EXPECT_EQ(layer.powers.attention_factor, 1.25);
  const auto yarn = std::get<Yarn<>>(layer.scaling);
  EXPECT_EQ(yarn.factor, 32);
  EXPECT_EQ(yarn.original_context, 4096);
  EXPECT_EQ(yarn.beta_fast, 16);
  EXPECT_EQ(yarn.beta_slow, 2);
  EXPECT_EQ(yarn.ends, RampEnds::exact);
  EXPECT_EQ(yarn.magnitude, YarnMagnitude::deepseek);
  EXPECT_EQ(yarn.mscale, 0.7);
  EXPECT_EQ(yarn.mscale_all_dim, 0.8);
  EXPECT_EQ(yarn.extrapolation, 0.9);
}

TEST(ScalingText, EveryTypeIsKnownAndKeepsTheLibrarysDefaults) {
  const std::pair<const char*, const char*> cases[] = {
      {"default:dims=8,context=64", "default"},
      {"linear:dims=8,factor=2", "linear"},
      {"proportional:dims=8,pairs=2", "proportional"},
      {"dynamic:dims=8,factor=2,original=64", "dynamic"},
      {"ntk:dims=8,factor=2", "ntk"},
      {"yarn:dims=8,factor=2,original=64", "yarn"},
      {"ggml_yarn:dims=8,freq_scale=0.5,original=64", "ggml_yarn"},
      {"llama3:dims=8,factor=2,original=64", "llama3"},
      {"longrope:dims=4,short=1/2,long=3/4,original=64", "longrope"}};
  for (const auto& [text, name] : cases) {
    const models::LayerRope layer = layer_from(text);
    EXPECT_EQ(type_name_of(layer.scaling), name);
    EXPECT_EQ(layer.powers.base, 10000) << name;
    EXPECT_EQ(layer.head_dims, layer.powers.rotary_dims) << name;
    EXPECT_FALSE(layer.pairing) << name;
  }
  EXPECT_EQ(scaling_from<Yarn<>>("yarn:dims=8,factor=2,original=64").beta_fast, 32);
  EXPECT_EQ(scaling_from<Yarn<>>("yarn:dims=8,factor=2,original=64").mscale, std::nullopt);
  EXPECT_EQ(scaling_from<Llama3<>>("llama3:dims=8,factor=2,original=64").high_freq_factor, 4);
  EXPECT_EQ(scaling_from<Proportional<>>("proportional:dims=8,pairs=2").rotated_pairs, 2);
}

TEST(ScalingText, SynonymsMeanTheMember) {
  const models::LayerRope shorter = layer_from(
      "llama3:dims=128,rope_theta=500000,head_dim=130,factor=8,low=1.5,high=3,original=8192");
  const models::LayerRope full = layer_from(
      "llama3:rotary_dims=128,base=500000,head_dims=130,factor=8,low_freq_factor=1.5,high_freq_"
      "factor=3,original_context=8192");
  EXPECT_EQ(shorter.head_dims, full.head_dims);
  const Frequencies a = shorter.frequencies(), b = full.frequencies();
  for (std::size_t k = 0; k < 64; ++k) EXPECT_EQ(a.rates()[k].high, b.rates()[k].high);
  EXPECT_EQ(std::get<Llama3<>>(shorter.scaling).low_freq_factor, 1.5);
  EXPECT_EQ(std::get<Llama3<>>(shorter.scaling).high_freq_factor, 3);
}

TEST(ScalingText, ListsAreSeparatedBySlashes) {
  const auto longrope = scaling_from<LongRope<>>(
      "longrope:dims=6,original=4096,short=1/1.05/2e0,long=3.5/4/5,factor=4");
  EXPECT_THAT(longrope.short_factor, ElementsAre(1, 1.05, 2));
  EXPECT_THAT(longrope.long_factor, ElementsAre(3.5, 4, 5));
  EXPECT_THAT(layer_from("default:dims=4,factors=2/4,exponents=0/0").powers.factors,
              ElementsAre(2, 4));
  EXPECT_THAT(layer_from("default:dims=4,factors=2/4,exponents=0/1").powers.exponents,
              ElementsAre(0, 1));
}

TEST(ScalingText, TheContextIsGivenOrWhatTheScalingStretchesTo) {
  EXPECT_EQ(parse_scaling("yarn:dims=8,factor=4,original=4096").context, 16384);
  EXPECT_EQ(parse_scaling("ggml_yarn:dims=8,linear_scale=0.25,original=4096").context, 16384);
  EXPECT_EQ(parse_scaling("yarn:dims=8,factor=4,original=4096,context=100").context, 100);
  EXPECT_EQ(parse_scaling("default:dims=8").context, 0);
  EXPECT_EQ(parse_scaling("default:dims=8").architecture, "default:dims=8");
}

TEST(ScalingText, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"",
       "[rope] a scaling must be one of default, linear, proportional, dynamic, ntk, yarn, "
       "ggml_yarn, llama3, longrope, got "},
      {"yern:dims=8",
       "[rope] a scaling must be one of default, linear, proportional, dynamic, ntk, yarn, "
       "ggml_yarn, llama3, longrope, got yern (did you "
       "mean yarn?)"},
      {"default", "[rope] default: rotary_dims must be given"},
      {"yarn:dims=8", "[rope] yarn: factor must be given"},
      {"yarn:dims=8,factor=2", "[rope] yarn: original_context must be given"},
      {"ggml_yarn:dims=8,original=8", "[rope] ggml_yarn: linear_scale must be given"},
      {"longrope:dims=4,short=1/1,original=8", "[rope] longrope: long_factor must be given"},
      {"linear:dims=8,factor", "[rope] linear: parameters must be key=value, got factor"},
      {"linear:dims=8,=2", "[rope] linear: parameters must be key=value, got =2"},
      {"linear:dims=8,,factor=2", "[rope] linear: parameters must be key=value, got "},
      {"linear:dims=8,factor=", "[rope] linear: factor must be a finite number, got "},
      {"linear:dims=8,factor=2x", "[rope] linear: factor must be a finite number, got 2x"},
      {"linear:dims=8,factor=inf", "[rope] linear: factor must be a finite number, got inf"},
      {"linear:dims=8,factor=1e999", "[rope] linear: factor must be a finite number, got 1e999"},
      {"linear:dims=8.5,factor=2", "[rope] linear: rotary_dims must be a whole number, got 8.5"},
      {"linear:dims=99999999999999999999,factor=2",
       "[rope] linear: rotary_dims must be a whole number, got 99999999999999999999"},
      {"linear:dims=2000000,factor=2",
       "[rope] linear: rotary_dims must be at most 1048576, got 2000000"},
      {"linear:dims=8,rotary_dims=8,factor=2", "[rope] linear: rotary_dims must be given once"},
      {"linear:dims=8,factor=2,beta_fast=3",
       "[rope] linear: a key must be one of head_dims, context, rotary_dims, base, linear_scale, "
       "attention_factor, factors, exponents, "
       "exponent_dims, factor, got beta_fast"},
      {"yarn:dims=8,factor=2,original=64,ends=round",
       "[rope] yarn: ends must be rounded or exact, got round (did you mean rounded?)"},
      {"yarn:dims=8,factor=2,original=64,magnitude=mine",
       "[rope] yarn: magnitude must be hugging_face or deepseek or given, got mine"},
      {"longrope:dims=4,short=1/,long=1/1,original=8",
       "[rope] longrope: short_factor must be a finite number, got "},
      {"longrope:dims=4,short=1/1,long=1,original=8",
       "[rope] long factor must be one per pair (2), got 1"},
      {"linear:dims=8,factor=0", "[rope] factor must be finite and greater than 0, got 0"},
      {"linear:dims=7,factor=2", "[rope] rotary dims must be even, got 7"},
      {"linear:dims=8,factor=2,context=0", "[rope] linear: context must be greater than 0, got 0"},
      {"linear:dims=8,factor=2,head_dims=4",
       "[rope] linear: head_dims must be at least rotary_dims, 8, got 4"}};
  for (const auto& [text, sentence] : cases)
    EXPECT_EQ(eigen_rope::test::error_of([&, t = text] { parse_scaling(t); }), sentence) << text;
}

TEST(ScalingText, WhatIsNeitherAFileNorAScalingIsRefused) {
  try {
    read_model_or_scaling("no/such/config.json", models::Strictness::strict);
    FAIL();
  } catch (const FileError& error) {
    EXPECT_STREQ(error.what(),
                 "[rope] no/such/config.json: must be a config.json, a folder with one, a GGUF "
                 "file, or a scaling such as "
                 "yarn:dims=128,factor=4,original=4096");
  }
  EXPECT_THROW(read_model("linear:dims=8,factor=2", models::Strictness::strict), FileError);
}

TEST(ScalingText, HelpNamesEveryTypeAndItsFields) {
  const std::string help = scaling_text_help();
  for (const char* word : {"ggml_yarn", "high_freq_factor", "extrapolation", "short_factor*",
                           "rotated_pairs*", "mixed_b"}) {
    EXPECT_THAT(help, HasSubstr(word));
  }
}

}  // namespace
}  // namespace eigen_rope::tool::scaling_text_tests
