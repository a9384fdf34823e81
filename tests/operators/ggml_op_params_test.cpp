// SPDX-License-Identifier: Apache-2.0
//
// ggml's 16 words of parameters: the published dump, a round trip, yarn_corr_dims, and how far a
// window may reach.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "eigen_rope/operators/ggml.hpp"
#include "support/error_of.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::ggml::ggml_op_params_tests {
namespace {

// A dump of a Llama graph's ROPE node: n_dims 128, normal, context 4096, base 10000, scale 1, no
// YaRN, magnitude 1, betas 32 and 0.
constexpr OpParams published{0,          128,        0, 0, 4096, 1176256512, 1065353216, 0,
                             1065353216, 1107296256, 0, 0, 0,    0,          0,          0};

TEST(GgmlOpParams, DecodesThePublishedDump) {
  const RopeParams params = decode_op_params(published);
  EXPECT_EQ(params.n_dims, 128);
  EXPECT_EQ(params.mode, mode_normal);
  EXPECT_EQ(params.n_ctx_orig, 4096);
  EXPECT_EQ(params.freq_base, 10000.0F);
  EXPECT_EQ(params.freq_scale, 1.0F);
  EXPECT_EQ(params.ext_factor, 0.0F);
  EXPECT_EQ(params.attn_factor, 1.0F);
  EXPECT_EQ(params.beta_fast, 32.0F);
  EXPECT_EQ(params.beta_slow, 0.0F);
  EXPECT_EQ(params.sections, (std::array<std::int32_t, 4>{}));
  EXPECT_EQ(params.n_offs, 0);
  EXPECT_TRUE(params.freq_factors.empty());
}

TEST(GgmlOpParams, EncodesThePublishedDump) {
  RopeParams params;
  params.n_dims = 128;
  params.n_ctx_orig = 4096;
  params.beta_fast = 32;
  EXPECT_EQ(encode_op_params(params), published);
}

TEST(GgmlOpParams, EveryWordHasItsPlace) {
  OpParams words{0, 20, 40, 0, 32768, 0, 0, 0, 0, 0, 0, 11, 12, 13, 14, 6};
  for (std::size_t i = 5; i <= 10; ++i) words[i] = 1065353216 + static_cast<std::int32_t>(i);
  EXPECT_EQ(encode_op_params(decode_op_params(words)), words);
  const RopeParams params = decode_op_params(words);
  EXPECT_EQ(params.n_dims, 20);
  EXPECT_EQ(params.mode, mode_imrope);
  EXPECT_EQ(params.n_ctx_orig, 32768);
  EXPECT_LT(params.freq_base, params.freq_scale);
  EXPECT_LT(params.freq_scale, params.ext_factor);
  EXPECT_LT(params.ext_factor, params.attn_factor);
  EXPECT_LT(params.attn_factor, params.beta_fast);
  EXPECT_LT(params.beta_fast, params.beta_slow);
  EXPECT_EQ(params.sections, (std::array<std::int32_t, 4>{11, 12, 13, 14}));
  EXPECT_EQ(params.n_offs, 6);
}

TEST(GgmlOpParams, UnusedWordsAreNotRead) {
  OpParams words = published;
  words[0] = -1;
  words[3] = 77;
  EXPECT_EQ(encode_op_params(decode_op_params(words)), published);
}

TEST(GgmlOpParams, FloatsKeepTheirBitsEvenWhereTheyAreNoNumbers) {
  RopeParams params;
  params.freq_scale = -0.0F;
  params.attn_factor = std::numeric_limits<float>::quiet_NaN();
  params.beta_slow = std::numeric_limits<float>::denorm_min();
  const RopeParams back = decode_op_params(encode_op_params(params));
  EXPECT_TRUE(std::signbit(back.freq_scale));
  EXPECT_TRUE(std::isnan(back.attn_factor));
  EXPECT_EQ(back.beta_slow, std::numeric_limits<float>::denorm_min());
}

TEST(GgmlYarnCorrDims, PublishedRange) {
  RopeParams params;
  params.n_dims = 128;
  params.n_ctx_orig = 4096;
  params.beta_fast = 32;
  params.beta_slow = 1;
  const CorrectionDims<> dims = yarn_corr_dims(params);
  EXPECT_EQ(dims.low, 20);
  EXPECT_EQ(dims.high, 46);
}

TEST(GgmlYarnCorrDims, BaseOneHasNoLogarithm) {
  RopeParams params;
  params.n_dims = 128;
  params.freq_base = 1;
  EXPECT_EQ(test::error_of([&] { (void)yarn_corr_dims(params); }),
            "[rope] freq_base must not be 1 (its logarithm divides), got 1");
}

TEST(GgmlPairing, AWindowEndsAtTheLatestWithItsRow) {
  RopeParams params;
  params.n_dims = 8;
  params.n_offs = 8;
  EXPECT_EQ(pairing(params, 16).offset(), 8);
  params.n_offs = 9;
  EXPECT_EQ(test::error_of([&] { (void)pairing(params, 16); }),
            "[rope] n_offs must be at most ne0 - n_dims = 8, got 9");
}

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::ggml::ggml_op_params_tests
