// SPDX-License-Identifier: Apache-2.0
//
// Keys and tensors of GGUF files that llama.cpp does not read, models that do not rotate, and
// models in several files.
#include <gmock/gmock.h>

#include <cmath>

#include "eigen_rope/models/gguf.hpp"
#include "support/error_of.hpp"
#include "support/gguf_writer.hpp"
#include "support/temporary_folder.hpp"

namespace eigen_rope::test::gguf_keys_tests {
namespace {

using models::ModelRope;
using models::Strictness;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ModelRope read(const GgufWriter& writer, Strictness strictness = Strictness::strict) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "m.gguf";
  writer.save(path);
  return models::read_gguf(path, strictness);
}

std::string refusal(const GgufWriter& writer, Strictness strictness = Strictness::strict) {
  return error_of([&] { (void)read(writer, strictness); });
}

/// 8 layers, rows of 64 that rotate whole.
GgufWriter model(const std::string& architecture) {
  GgufWriter w;
  w.text("general.architecture", architecture)
      .uint32(architecture + ".context_length", 4096)
      .uint32(architecture + ".block_count", 8);
  w.uint32(architecture + ".attention.head_count", 4)
      .uint32(architecture + ".attention.key_length", 64);
  w.uint32(architecture + ".rope.dimension_count", 64)
      .float32(architecture + ".rope.freq_base", 10000.0F);
  return w;
}

GgufWriter with_yarn(const std::string& architecture) {
  GgufWriter w = model(architecture);
  w.text(architecture + ".rope.scaling.type", "yarn")
      .float32(architecture + ".rope.scaling.factor", 4.0F);
  w.uint32(architecture + ".rope.scaling.original_context_length", 1024);
  return w;
}

std::vector<double> rates(const ModelRope& model) {
  std::vector<double> result;
  const Frequencies frequencies = model.layers[0].frequencies();
  for (const DoubleDouble& rate : frequencies.rates()) result.push_back(rate.high);
  return result;
}

TEST(GgufKeys, ModelsThatDoNotRotateAreRefusedInWordsThatSaySo) {
  for (const char* name :
       {"bert", "starcoder", "gpt2", "bloom", "mamba", "t5", "nemotron_h", "kimi-linear"}) {
    for (const Strictness strictness : {Strictness::strict, Strictness::lenient}) {
      EXPECT_THAT(refusal(model(name), strictness),
                  HasSubstr("this model does not rotate queries and keys"))
          << name;
    }
  }
  for (const char* name : {"granite", "granitehybrid"}) {
    GgufWriter w = model(name);
    w.boolean(std::string(name) + ".rope.scaling.finetuned", false);
    const std::string sentence =
        "[rope] m.gguf: metadata key \"" + std::string(name) +
        ".rope.scaling.finetuned\" is false: this model does not rotate queries and keys";
    EXPECT_EQ(refusal(w), sentence);
    EXPECT_EQ(refusal(w, Strictness::lenient), sentence);
  }
  GgufWriter llama = model("llama");
  llama.boolean("llama.rope.scaling.finetuned", false);
  EXPECT_THAT(read(llama).layers[0].layers, IsEmpty());
}

TEST(GgufKeys, LayersOfLinearAttentionDoNotRotate) {
  const ModelRope got = read(model("qwen3next"));
  EXPECT_THAT(got.layers[0].layers, ElementsAre(3, 7));
  EXPECT_THAT(got.warnings, ElementsAre("layers 0, 1, 2, 4, 5, 6 do not rotate"));
  GgufWriter every_other = model("qwen3next");
  every_other.uint32("qwen3next.full_attention_interval", 2);
  EXPECT_THAT(read(every_other).layers[0].layers, ElementsAre(1, 3, 5, 7));
  GgufWriter none = model("qwen3next");
  none.uint32("qwen3next.full_attention_interval", 0);
  EXPECT_EQ(refusal(none),
            "[rope] m.gguf: metadata key \"qwen3next.full_attention_interval\" must be at least 1, "
            "got 0");
}

TEST(GgufKeys, LayersThatPredictFurtherTokensAreNotDescribed) {
  GgufWriter w = model("exaone-moe");
  w.uint32("exaone-moe.attention.sliding_window", 128).uint32("exaone-moe.nextn_predict_layers", 1);
  const ModelRope got = read(w);
  EXPECT_THAT(got.layers[0].layers, ElementsAre(0, 1, 2, 4, 5, 6));
  EXPECT_THAT(got.warnings, Contains(HasSubstr("layers 7 predict further tokens")));
  GgufWriter most = model("llama");
  most.uint32("llama.nextn_predict_layers", 9);
  EXPECT_EQ(refusal(most),
            "[rope] m.gguf: metadata key \"llama.nextn_predict_layers\" must be at most the 8 "
            "layers, got 9");
}

TEST(GgufKeys, YarnsOtherKeysAreAppliedWhereLlamaCppReadsThem) {
  GgufWriter unread = with_yarn("qwen2");
  unread.float32("qwen2.rope.scaling.yarn_beta_fast", 16.0F);
  EXPECT_EQ(refusal(unread),
            "[rope] m.gguf: metadata key \"qwen2.rope.scaling.yarn_beta_fast\" must be 32: "
            "llama.cpp does not read it for architecture "
            "\"qwen2\", got 16 (read leniently, 32 is taken)");
  const ModelRope lenient = read(unread, Strictness::lenient);
  EXPECT_THAT(lenient.warnings, Contains(HasSubstr("got 16: 32 is taken")));
  EXPECT_EQ(rates(lenient), rates(read(with_yarn("qwen2"))));
  // What converters write for all models is no reason to refuse one.
  GgufWriter usual = with_yarn("qwen2");
  usual.float32("qwen2.rope.scaling.yarn_beta_fast", 32.0F)
      .float32("qwen2.rope.scaling.yarn_beta_slow", 1.0F);
  usual.float32("qwen2.rope.scaling.yarn_ext_factor", 1.0F)
      .float32("qwen2.rope.scaling.yarn_attn_factor", 1.0F);
  EXPECT_THAT(read(usual).warnings, IsEmpty());
  // As Olmo 3's converter writes its attention_factor.
  GgufWriter magnitude = with_yarn("olmo2");
  magnitude.float32("olmo2.rope.scaling.yarn_attn_factor",
                    static_cast<float>(1 + std::log(4.0) / 10));
  EXPECT_THAT(read(magnitude).warnings, IsEmpty());
  GgufWriter other = with_yarn("olmo2");
  other.float32("olmo2.rope.scaling.yarn_attn_factor", 1.25F);
  EXPECT_THAT(refusal(other),
              HasSubstr("yarn_attn_factor\" must be 1: llama.cpp does not read it"));
  GgufWriter log = with_yarn("qwen2");
  log.float32("qwen2.rope.scaling.yarn_log_multiplier", 0.1F);
  EXPECT_THAT(refusal(log),
              HasSubstr("yarn_log_multiplier\" must be 0: llama.cpp does not read it"));
}

TEST(GgufKeys, KeysThatNothingReadsAreRefused) {
  for (const char* name :
       {"llama.attention.rope_pattern", "llama.attention.compress_rope_freq_base",
        "llama.rope.freq_base_global", "llama.rope_theta", "llama.rotary.percent",
        "gemma3.rope.freq_base", "llama.attention.nope_layers"}) {
    GgufWriter w = model("llama");
    w.float32(name, 1.0F);
    EXPECT_EQ(refusal(w), "[rope] m.gguf: metadata key \"" + std::string(name) +
                              "\" must not be there: nothing reads it for architecture \"llama\" "
                              "(read leniently, it is not applied)");
    EXPECT_THAT(read(w, Strictness::lenient).warnings, ElementsAre(HasSubstr(name)));
  }
  GgufWriter others = model("llama");
  others.text("general.name", "europe by rope")
      .text("tokenizer.ggml.rope", "a word")
      .text("general.rope", "about");
  EXPECT_THAT(read(others).warnings, IsEmpty());
  GgufWriter base = model("llama");
  base.float32("llama.rope.freq_base_swa", 20000.0F);
  EXPECT_EQ(refusal(base),
            "[rope] m.gguf: metadata key \"llama.rope.freq_base_swa\" must be 10000: llama.cpp "
            "does not apply it to this model, got 20000 "
            "(read leniently, it is not applied)");
}

TEST(GgufKeys, RopePatternSaysWhichLayersOfGraniteSwaRotate) {
  GgufWriter w = model("granite_swa");
  w.uint32("granite_swa.attention.sliding_window", 128)
      .booleans("granite_swa.attention.sliding_window_pattern", {1, 1, 1, 0, 1, 1, 1, 0});
  w.int32s("granite_swa.attention.rope_pattern", {1, 1, 1, 0, 1, 1, 1, 0});
  EXPECT_THAT(read(w).layers[0].layers, ElementsAre(0, 1, 2, 4, 5, 6));
}

TEST(GgufKeys, DivisorsThatLlamaCppHasNoPlaceForAreRefused) {
  GgufWriter w = model("gemma2");
  w.uint32("gemma2.attention.sliding_window", 128)
      .tensor("rope_freqs.weight", {32}, 0, w.floats(std::vector<float>(32, 2.0F)));
  EXPECT_EQ(refusal(w),
            "[rope] m.gguf: tensor \"rope_freqs.weight\" must not be there: llama.cpp has no place "
            "for it in architecture \"gemma2\" (read "
            "leniently, it is not applied)");
  EXPECT_THAT(read(w, Strictness::lenient).warnings, ElementsAre(HasSubstr("it is not applied")));
}

TEST(GgufKeys, HunyuansAlphaScalesTheBase) {
  GgufWriter w;
  w.text("general.architecture", "hunyuan_vl")
      .uint32("hunyuan_vl.context_length", 4096)
      .uint32("hunyuan_vl.block_count", 2);
  w.uint32("hunyuan_vl.attention.head_count", 4).uint32("hunyuan_vl.attention.key_length", 128);
  w.uint32("hunyuan_vl.rope.dimension_count", 128).float32("hunyuan_vl.rope.freq_base", 10000.0F);
  w.float32("hunyuan_vl.rope.scaling.alpha", 1000.0F);
  // The value that HunyuanOCR's own configuration gives as its base.
  EXPECT_NEAR(read(w).layers[0].powers.base, 11158840.0, 1.0);
}

// ---- split models
// -----------------------------------------------------------------------------------------

GgufWriter& part(GgufWriter& w, int number, int count) {
  w.key("split.no", 2, w.number(static_cast<std::uint64_t>(number), 2));
  return w.key("split.count", 2, w.number(static_cast<std::uint64_t>(count), 2));
}

TEST(GgufSplits, DivisorsAreFoundInAnyPart) {
  const TemporaryFolder folder;
  GgufWriter head = model("llama");
  part(head, 0, 3).save(folder / "big-00001-of-00003.gguf");
  GgufWriter second;
  part(second, 1, 3)
      .tensor("rope_freqs.weight", {32}, 0, second.floats(std::vector<float>(32, 4.0F)));
  second.save(folder / "big-00002-of-00003.gguf");
  GgufWriter third;
  part(third, 2, 3).save(folder / "big-00003-of-00003.gguf");
  const ModelRope got = models::read_gguf(folder / "big-00001-of-00003.gguf");
  EXPECT_THAT(got.warnings, IsEmpty());
  EXPECT_THAT(got.layers[0].powers.factors, SizeIs(32));
  EXPECT_EQ(got.layers[0].powers.factors[0], 4.0);
  EXPECT_EQ(error_of([&] { (void)models::read_gguf(folder / "big-00002-of-00003.gguf"); }),
            "[rope] big-00002-of-00003.gguf: is part 2 of 3, and the metadata are in part 1, "
            "big-00001-of-00003.gguf");
}

TEST(GgufSplits, AMissingPartIsNamed) {
  const TemporaryFolder folder;
  GgufWriter head = model("llama");
  part(head, 0, 2).save(folder / "big-00001-of-00002.gguf");
  EXPECT_EQ(error_of([&] { (void)models::read_gguf(folder / "big-00001-of-00002.gguf"); }),
            "[rope] big-00001-of-00002.gguf: is part 1 of 2, and \"big-00002-of-00002.gguf\" must "
            "be beside it (read leniently, divisors "
            "in it are not seen)");
  EXPECT_THAT(models::read_gguf(folder / "big-00001-of-00002.gguf", Strictness::lenient).warnings,
              ElementsAre(HasSubstr(
                  "\"big-00002-of-00002.gguf\" must be beside it: divisors in it are not seen")));
}

TEST(GgufSplits, OfManyMissingPartsOneIsNamed) {
  const TemporaryFolder folder;
  GgufWriter head = model("llama");
  part(head, 0, 60000).save(folder / "big-00001-of-60000.gguf");
  EXPECT_THAT(models::read_gguf(folder / "big-00001-of-60000.gguf", Strictness::lenient).warnings,
              ElementsAre(HasSubstr("\"big-00002-of-60000.gguf\" must be beside it"),
                          "59999 of the 60000 parts are missing"));
}

TEST(GgufSplits, PartsMustBeOfTheModel) {
  const TemporaryFolder folder;
  GgufWriter head = model("llama");
  part(head, 0, 2).save(folder / "big-00001-of-00002.gguf");
  GgufWriter other;
  part(other, 0, 2).save(folder / "big-00002-of-00002.gguf");
  const auto refused = [&] {
    return error_of([&] { (void)models::read_gguf(folder / "big-00001-of-00002.gguf"); });
  };
  EXPECT_EQ(refused(),
            "[rope] big-00002-of-00002.gguf: metadata key \"split.no\" must be 1, as the file's "
            "name says, got 0");
  GgufWriter of_three;
  part(of_three, 1, 3).save(folder / "big-00002-of-00002.gguf");
  EXPECT_EQ(refused(),
            "[rope] big-00002-of-00002.gguf: metadata key \"split.count\" must be 2, as in part 1, "
            "got 3");
  GgufWriter renamed = model("llama");
  part(renamed, 0, 2).save(folder / "renamed.gguf");
  EXPECT_EQ(error_of([&] { (void)models::read_gguf(folder / "renamed.gguf"); }),
            "[rope] renamed.gguf: is part 1 of 2, and its name must end in "
            "\"-00001-of-00002.gguf\" for the others to be found (read "
            "leniently, divisors are looked for in this part only)");
}

}  // namespace
}  // namespace eigen_rope::test::gguf_keys_tests
