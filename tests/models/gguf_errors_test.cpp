// SPDX-License-Identifier: Apache-2.0
//
// Files that are wrong: the whole sentence of every refusal.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "eigen_rope/models/gguf.hpp"
#include "support/error_of.hpp"
#include "support/gguf_writer.hpp"
#include "support/temporary_folder.hpp"

namespace eigen_rope::test {
namespace {

using models::Strictness;

std::string refusal_of_bytes(std::string_view bytes, Strictness strictness = Strictness::strict) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "m.gguf";
  write_bytes(path, bytes);
  return error_of([&] { (void)models::read_gguf(path, strictness); });
}

std::string refusal(const GgufWriter& writer, Strictness strictness = Strictness::strict) {
  return refusal_of_bytes(writer.bytes(), strictness);
}

/// A whole model of architecture `name`, to be spoilt.
GgufWriter valid(const std::string& name = "llama") {
  GgufWriter w;
  w.text("general.architecture", name)
      .uint32(name + ".context_length", 4096)
      .uint32(name + ".block_count", 4);
  w.uint32(name + ".attention.key_length", 8).float32(name + ".rope.freq_base", 10000.0F);
  return w;
}

GgufWriter with_dims(const std::string& name = "llama", std::uint32_t dims = 8) {
  GgufWriter w = valid(name);
  w.uint32(name + ".rope.dimension_count", dims);
  return w;
}

GgufWriter yarn() {
  GgufWriter w = with_dims();
  w.text("llama.rope.scaling.type", "yarn");
  return w;
}

TEST(GgufErrors, TheModelsToSpoilAreRight) {
  EXPECT_EQ(refusal(with_dims()), "no eigen_rope::Error");
  EXPECT_EQ(refusal(valid()), "no eigen_rope::Error");
}

TEST(GgufErrors, Files) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { (void)models::read_gguf(folder / "no_such.gguf"); }),
            "[rope] no_such.gguf: there is no such file");
  std::filesystem::create_directory(folder / "m.gguf");
  EXPECT_EQ(error_of([&] { (void)models::read_gguf(folder / "m.gguf"); }),
            "[rope] m.gguf: must be a file");
}

TEST(GgufErrors, Headers) {
  EXPECT_EQ(refusal_of_bytes(""), "[rope] m.gguf: must begin with GGUF and a version, got 0 bytes");
  EXPECT_EQ(refusal_of_bytes("GGML and more"),
            "[rope] m.gguf: must begin with the bytes 47 47 55 46 (GGUF), got 47 47 4d 4c");
  EXPECT_EQ(refusal(GgufWriter(1)),
            "[rope] m.gguf: the version of the format must be 2 or 3, got 1");
  EXPECT_EQ(refusal(GgufWriter(4)),
            "[rope] m.gguf: the version of the format must be 2 or 3, got 4");
  EXPECT_EQ(refusal(GgufWriter(1, GgufWriter::Order::big)),
            "[rope] m.gguf: the version of the format must be 2 or 3, got 1");
  EXPECT_EQ(refusal_of_bytes(GgufWriter().header().substr(0, 20)),
            "[rope] m.gguf: the header must have 24 bytes, got 20");
  GgufWriter keys = valid();
  keys.key_count = std::uint64_t{1} << 60;
  EXPECT_EQ(
      refusal_of_bytes(keys.header()),
      "[rope] m.gguf: 1152921504606846976 metadata keys need 14 bytes each, and 192 are left");
  GgufWriter tensors = valid();
  tensors.tensor_count = 1000;
  EXPECT_EQ(refusal_of_bytes(tensors.header()),
            "[rope] m.gguf: 1000 tensors need 33 bytes each, and 192 are left");
  GgufWriter more = valid();
  ++more.key_count;
  EXPECT_EQ(refusal_of_bytes(more.header()),
            "[rope] m.gguf: must go on after byte 216, got 216 bytes");
}

TEST(GgufErrors, Keys) {
  GgufWriter twice = valid();
  twice.uint32("llama.block_count", 5);
  EXPECT_EQ(refusal(twice),
            "[rope] m.gguf: metadata key \"llama.block_count\" must be there once, got it twice");
  GgufWriter empty;
  empty.uint32("", 1).uint32("a", 1);
  EXPECT_EQ(refusal(empty),
            "[rope] m.gguf: the name of metadata key 0 must have 1 to 65535 bytes, got 0");
  GgufWriter long_name;
  long_name.uint32(std::string(65536, 'k'), 1);
  EXPECT_EQ(refusal(long_name),
            "[rope] m.gguf: the name of metadata key 0 must have 1 to 65535 bytes, got 65536");
  GgufWriter bad_name;
  bad_name.uint32("key\xFF", 1);
  EXPECT_EQ(refusal(bad_name),
            "[rope] m.gguf: the name of metadata key 0 must be UTF-8 without control characters, "
            "got byte ff at 3");
  GgufWriter line;
  line.uint32("two\nlines", 1);
  EXPECT_EQ(refusal(line),
            "[rope] m.gguf: the name of metadata key 0 must be UTF-8 without control characters, "
            "got byte 0a at 3");
  GgufWriter cut;
  cut.key("a", 4, "").key_count = 2;
  EXPECT_EQ(refusal_of_bytes(cut.header() + "0123" + std::string("\x40\0\0\0\0\0\0\0cut off", 15)),
            "[rope] m.gguf: the name of metadata key 1 must end within the file, got 64 bytes");
}

TEST(GgufErrors, TextThatIsNoUtf8) {
  const auto read_name = [](const std::string& name) {
    GgufWriter w = with_dims();
    w.uint32(name, 1);
    return refusal(w);
  };
  // A lone continuation, cut off, longer than need be (2, 3 and 4 bytes), a surrogate, past
  // U+10FFFF (by the second byte, by the first).
  for (const char* name : {"\x80", "\xE2\x82", "\xC0\xAF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF",
                           "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3("}) {
    EXPECT_THAT(read_name(name),
                ::testing::HasSubstr("must be UTF-8 without control characters, got byte "));
  }
  // The ends of what is allowed.
  for (const char* name : {"\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(read_name(name), "no eigen_rope::Error");
  }
}

TEST(GgufErrors, Values) {
  GgufWriter type;
  type.key("a", 13, "0123");
  EXPECT_EQ(refusal(type),
            "[rope] m.gguf: metadata key \"a\" must have a type from 0 to 12, got 13");
  GgufWriter element;
  element.key("a", 9, element.array(99, 1, "0123"));
  EXPECT_EQ(refusal(element),
            "[rope] m.gguf: metadata key \"a\" must have a type from 0 to 12, got 99");
  GgufWriter boolean;
  boolean.key("a", 7, "\x02");
  EXPECT_EQ(refusal(boolean), "[rope] m.gguf: metadata key \"a\" must be 0 or 1, got 2");
  GgufWriter text;
  text.key("a", 8, text.number(1000, 8));
  EXPECT_EQ(refusal(text),
            "[rope] m.gguf: metadata key \"a\" must end within the file, got a length of 1000");
  GgufWriter numbers;
  numbers.key("a", 9, numbers.array(10, ~std::uint64_t{0}, ""));
  EXPECT_EQ(refusal(numbers),
            "[rope] m.gguf: metadata key \"a\" must end within the file, got 18446744073709551615 "
            "elements");
  GgufWriter texts;
  texts.key("a", 9, texts.array(8, 2, texts.string("x") + texts.number(1U << 31U, 8)));
  EXPECT_EQ(
      refusal(texts),
      "[rope] m.gguf: metadata key \"a\" must end within the file, got a length of 2147483648");
  GgufWriter nested;
  std::string inner = nested.array(0, 1, "x");
  for (int i = 0; i < 100; ++i) inner = nested.array(9, 1, inner);
  nested.key("a", 9, inner);
  EXPECT_EQ(refusal(nested),
            "[rope] m.gguf: metadata key \"a\" must be nested at most 4 deep, got a deeper array");
}

TEST(GgufErrors, HeadersThatGoOnAndOn) {
  constexpr std::uint64_t bytes = std::uint64_t{1} << 29;
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "m.gguf";
  GgufWriter w;
  w.key("a", 9, w.array(0, bytes, ""));
  write_bytes(path, w.header());
  const std::uint64_t before = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, before + bytes);
  EXPECT_EQ(error_of([&] { (void)models::read_gguf(path); }),
            "[rope] m.gguf: the header must have at most 268435456 bytes, got 536870961");
}

TEST(GgufErrors, Tensors) {
  const auto with = [](const std::function<void(GgufWriter&)>& spoil) {
    GgufWriter w = with_dims();
    spoil(w);
    return refusal(w);
  };
  const std::string data(64, '\0');
  EXPECT_EQ(with([&](GgufWriter& w) { w.uint32("general.alignment", 48); }),
            "[rope] m.gguf: metadata key \"general.alignment\" must be a power of two, got 48");
  EXPECT_EQ(with([&](GgufWriter& w) { w.uint32("general.alignment", 0); }),
            "[rope] m.gguf: metadata key \"general.alignment\" must be a power of two, got 0");
  EXPECT_EQ(with([&](GgufWriter& w) { w.text("general.alignment", "32"); }),
            "[rope] m.gguf: metadata key \"general.alignment\" must be an integer, got string");
  EXPECT_EQ(with([&](GgufWriter& w) {
              w.tensor("t", {1, 1, 1, 1, 1}, 0, data);
            }),
            "[rope] m.gguf: tensor \"t\" must have 1 to 4 extents, got 5");
  EXPECT_EQ(with([&](GgufWriter& w) { w.tensor("t", {}, 0, data).tensor("u", {1}, 0, data); }),
            "[rope] m.gguf: tensor \"t\" must have 1 to 4 extents, got 0");
  EXPECT_EQ(with([&](GgufWriter& w) {
              w.tensor("t", {4, 0}, 0, data);
            }),
            "[rope] m.gguf: the extents of tensor \"t\" must be greater than 0, got 0");
  EXPECT_EQ(with([&](GgufWriter& w) {
              w.tensor("t", {std::uint64_t{1} << 40, std::uint64_t{1} << 40}, 0, data);
            }),
            "[rope] m.gguf: tensor \"t\" must have at most 2^48 elements, got an extent of "
            "1099511627776");
  EXPECT_EQ(with([&](GgufWriter& w) { w.tensor("t", {31}, 2, data); }),
            "[rope] m.gguf: the first extent of tensor \"t\" must be a multiple of its type's 32, "
            "got 31");
  EXPECT_EQ(with([&](GgufWriter& w) { w.tensor("t", {1}, 0, data, 8); }),
            "[rope] m.gguf: the offset of tensor \"t\" must be a multiple of 32, got 8");
  EXPECT_EQ(with([&](GgufWriter& w) { w.tensor("t", {17}, 0, data); }),
            "[rope] m.gguf: tensor \"t\" must end within the file's 384 bytes, got 68 bytes from 0 "
            "after byte 320");
  EXPECT_EQ(with([&](GgufWriter& w) { w.tensor("t", {1}, 0, data, std::uint64_t{1} << 63U); }),
            "[rope] m.gguf: tensor \"t\" must end within the file's 384 bytes, got 4 bytes from "
            "9223372036854775808 after byte 320");
  EXPECT_EQ(with([&](GgufWriter& w) { w.tensor("t", {1}, 0, data).tensor("t", {1}, 0, data); }),
            "[rope] m.gguf: tensor \"t\" must be there once, got it twice");
  EXPECT_EQ(with([&](GgufWriter& w) { w.tensor(std::string(65, 't'), {1}, 0, data); }),
            "[rope] m.gguf: the name of tensor 0 must have 1 to 64 bytes, got 65");
}

TEST(GgufErrors, FrequencyFactors) {
  const auto with = [](const std::vector<std::uint64_t>& extents, std::uint32_t type,
                       const std::string& data) {
    GgufWriter w = with_dims();
    w.tensor("rope_freqs.weight", extents, type, data);
    return refusal(w);
  };
  const GgufWriter w;
  EXPECT_EQ(with({3}, 0, w.floats({1, 2, 3})),
            "[rope] m.gguf: tensor \"rope_freqs.weight\" must have one value per pair, 4, got 3");
  EXPECT_EQ(with({4}, 0, w.floats({1, 2, 0, 4})),
            "[rope] m.gguf: value 2 of tensor \"rope_freqs.weight\" must be finite and greater "
            "than 0, got 0");
  EXPECT_EQ(with({4}, 0, w.floats({1, 2, 3, std::nanf("")})),
            "[rope] m.gguf: value 3 of tensor \"rope_freqs.weight\" must be finite and greater "
            "than 0, got nan");
  EXPECT_EQ(with({2, 2}, 0, w.floats({1, 2, 3, 4})),
            "[rope] m.gguf: tensor \"rope_freqs.weight\" must have one extent, got 2 x 2");
  EXPECT_EQ(
      with({32}, 8, std::string(34, '\0')),
      "[rope] m.gguf: tensor \"rope_freqs.weight\" must be of type 0 (f32) or 1 (f16), got 8");
  GgufWriter half_longrope = with_dims("phi3");
  half_longrope.tensor("rope_factors_long.weight", {4}, 0, w.floats({1, 2, 3, 4}));
  EXPECT_EQ(refusal(half_longrope),
            "[rope] m.gguf: tensor \"rope_factors_short.weight\" must be there, as the other list "
            "of LongRoPE is");
  GgufWriter both = with_dims();
  both.text("llama.rope.scaling.type", "longrope")
      .tensor("rope_factors_long.weight", {4}, 0, w.floats({1, 2, 3, 4}));
  both.tensor("rope_factors_short.weight", {4}, 0, w.floats({1, 2, 3, 4}))
      .tensor("rope_freqs.weight", {4}, 0, w.floats({1, 1, 1, 1}));
  EXPECT_EQ(refusal(both),
            "[rope] m.gguf: tensors \"rope_freqs.weight\" and \"rope_factors_long.weight\" must "
            "not both be there (read leniently, the "
            "former is used)");
  GgufWriter none = with_dims("phi3");
  none.text("phi3.rope.scaling.type", "longrope");
  EXPECT_EQ(refusal(none),
            "[rope] m.gguf: tensor \"rope_factors_long.weight\" must be there for scaling "
            "\"longrope\" (read leniently, nothing is divided)");
  GgufWriter with_yarn = yarn();
  with_yarn.float32("llama.rope.scaling.factor", 2.0F)
      .tensor("rope_factors_short.weight", {4}, 0, w.floats({1, 2, 3, 4}));
  with_yarn.tensor("rope_factors_long.weight", {4}, 0, w.floats({1, 2, 3, 4}));
  EXPECT_EQ(refusal(with_yarn),
            "[rope] m.gguf: tensor \"rope_factors_long.weight\" must not be there beside YaRN");
}

TEST(GgufErrors, Architectures) {
  EXPECT_EQ(refusal(GgufWriter()),
            "[rope] m.gguf: metadata key \"general.architecture\" must be there");
  GgufWriter number;
  number.uint32("general.architecture", 7);
  EXPECT_EQ(refusal(number),
            "[rope] m.gguf: metadata key \"general.architecture\" must be a string, got uint32");
  GgufWriter garbage;
  garbage.text("general.architecture", "ll\xC3(ma");
  EXPECT_EQ(refusal(garbage),
            "[rope] m.gguf: metadata key \"general.architecture\" must be UTF-8 without control "
            "characters, got byte c3 at 2");
  EXPECT_EQ(
      refusal(valid(std::string(300, 'a'))),
      "[rope] m.gguf: metadata key \"general.architecture\" must have at most 256 bytes, got 300");
  EXPECT_EQ(refusal(with_dims("mamba")),
            "[rope] m.gguf: metadata key \"general.architecture\" is \"mamba\": this model does "
            "not rotate queries and keys");
  EXPECT_EQ(refusal(with_dims("tomorrow")),
            "[rope] m.gguf: metadata key \"general.architecture\" must be an architecture whose "
            "rotation is known, got \"tomorrow\" (read "
            "leniently, the pairing is empty, and all layers are taken to be alike)");
  EXPECT_EQ(refusal(with_dims("clip")),
            "[rope] m.gguf: is the vision tower of a model (architecture \"clip\", an mmproj "
            "file), and rotates positions of an image: give "
            "the language model's file");
  GgufWriter part;
  part.key("split.no", 2, part.number(1, 2)).key("split.count", 2, part.number(3, 2));
  EXPECT_EQ(refusal(part), "[rope] m.gguf: is part 2 of 3, and the metadata are in part 1");
}

TEST(GgufErrors, Dims) {
  const auto dims = [](std::uint32_t count) { return refusal(with_dims("llama", count)); };
  EXPECT_EQ(dims(7),
            "[rope] m.gguf: metadata key \"llama.rope.dimension_count\" must be even, got 7");
  EXPECT_EQ(dims(0),
            "[rope] m.gguf: metadata key \"llama.rope.dimension_count\" must be from 1 to the "
            "row's 8, got 0");
  EXPECT_EQ(dims(10),
            "[rope] m.gguf: metadata key \"llama.rope.dimension_count\" must be from 1 to the "
            "row's 8, got 10");
  GgufWriter real = valid();
  real.float32("llama.rope.dimension_count", 8.0F);
  EXPECT_EQ(
      refusal(real),
      "[rope] m.gguf: metadata key \"llama.rope.dimension_count\" must be an integer, got float32");
  GgufWriter negative = valid();
  negative.key("llama.rope.dimension_count", 5, negative.number(0xFFFFFFFEU, 4));
  EXPECT_EQ(refusal(negative),
            "[rope] m.gguf: metadata key \"llama.rope.dimension_count\" must be an integer from 0 "
            "to 2^53, got -2");
  GgufWriter no_rows;
  no_rows.text("general.architecture", "llama").uint32("llama.context_length", 4096);
  EXPECT_EQ(refusal(no_rows),
            "[rope] m.gguf: metadata key \"llama.attention.key_length\" must be there, or "
            "\"llama.embedding_length\" and "
            "\"llama.attention.head_count\"");
  GgufWriter uneven = no_rows;
  uneven.uint32("llama.embedding_length", 1000).uint32("llama.attention.head_count", 7);
  EXPECT_EQ(refusal(uneven),
            "[rope] m.gguf: metadata key \"llama.embedding_length\" must be a multiple of "
            "\"llama.attention.head_count\", from 1 to 65536 "
            "times it, got 1000 and 7");
  GgufWriter wide;
  wide.text("general.architecture", "llama")
      .uint32("llama.context_length", 1)
      .uint32("llama.attention.key_length", 1U << 30U);
  EXPECT_EQ(refusal(wide),
            "[rope] m.gguf: metadata key \"llama.attention.key_length\" must be from 1 to 65536, "
            "got 1073741824");
  GgufWriter heads = with_dims();
  heads.int32s("llama.attention.head_count", {8, 8});
  EXPECT_EQ(refusal(heads),
            "[rope] m.gguf: metadata key \"llama.attention.head_count\" must have one element per "
            "layer, 4, got 2");
}

TEST(GgufErrors, Numbers) {
  const auto base = [](const std::function<void(GgufWriter&)>& add) {
    GgufWriter w;
    w.text("general.architecture", "llama")
        .uint32("llama.context_length", 4096)
        .uint32("llama.attention.key_length", 8);
    w.uint32("llama.rope.dimension_count", 8);
    add(w);
    return refusal(w);
  };
  EXPECT_EQ(base([](GgufWriter& w) { w.text("llama.rope.freq_base", "10000"); }),
            "[rope] m.gguf: metadata key \"llama.rope.freq_base\" must be a number, got string");
  EXPECT_EQ(base([](GgufWriter& w) { w.float32("llama.rope.freq_base", -1.0F); }),
            "[rope] m.gguf: metadata key \"llama.rope.freq_base\" must be greater than 0, got -1");
  EXPECT_EQ(base([](GgufWriter& w) { w.float32("llama.rope.freq_base", INFINITY); }),
            "[rope] m.gguf: metadata key \"llama.rope.freq_base\" must be finite, got inf");
  GgufWriter no_context;
  no_context.text("general.architecture", "llama");
  EXPECT_EQ(refusal(no_context),
            "[rope] m.gguf: metadata key \"llama.context_length\" must be there");
}

TEST(GgufErrors, Scalings) {
  GgufWriter unknown = with_dims();
  unknown.text("llama.rope.scaling.type", "ntk");
  EXPECT_EQ(refusal(unknown),
            "[rope] m.gguf: metadata key \"llama.rope.scaling.type\" must be none, linear, yarn or "
            "longrope, got \"ntk\"");
  EXPECT_EQ(refusal(yarn()),
            "[rope] m.gguf: metadata key \"llama.rope.scaling.factor\" must be there for scaling "
            "\"yarn\"");
  GgufWriter no_original = yarn();
  no_original.float32("llama.rope.scaling.factor", 4.0F);
  EXPECT_EQ(refusal(no_original),
            "[rope] m.gguf: metadata key \"llama.rope.scaling.original_context_length\" must be "
            "there for YaRN");
  GgufWriter small = with_dims();
  small.float32("llama.rope.scaling.factor", 0.25F);
  EXPECT_EQ(refusal(small),
            "[rope] m.gguf: metadata key \"llama.rope.scaling.factor\" must be at least 1, got "
            "0.25 (read leniently, rates grow)");
  GgufWriter negative = with_dims();
  negative.float32("llama.rope.scaling.factor", -4.0F);
  EXPECT_EQ(
      refusal(negative, Strictness::lenient),
      "[rope] m.gguf: metadata key \"llama.rope.scaling.factor\" must be greater than 0, got -4");
  GgufWriter attention = with_dims();
  attention.float32("llama.rope.scaling.attn_factor", 0.0F);
  EXPECT_EQ(refusal(attention),
            "[rope] m.gguf: metadata key \"llama.rope.scaling.attn_factor\" must be greater than "
            "0, got 0");
  GgufWriter finetuned = with_dims();
  finetuned.uint32("llama.rope.scaling.finetuned", 1);
  EXPECT_EQ(
      refusal(finetuned),
      "[rope] m.gguf: metadata key \"llama.rope.scaling.finetuned\" must be a bool, got uint32");
  GgufWriter alpha = with_dims();
  alpha.float32("llama.rope.scaling.alpha", 1000.0F);
  EXPECT_EQ(refusal(alpha),
            "[rope] m.gguf: metadata key \"llama.rope.scaling.alpha\" must be 0: llama.cpp does "
            "not read it for architecture \"llama\", "
            "got 1000 (read leniently, it is not applied)");
  GgufWriter betas = with_dims("mistral3");
  betas.text("mistral3.rope.scaling.type", "yarn").float32("mistral3.rope.scaling.factor", 4.0F);
  betas.uint32("mistral3.rope.scaling.original_context_length", 1024)
      .float32("mistral3.rope.scaling.yarn_beta_fast", -1.0F);
  EXPECT_EQ(refusal(betas), "[rope] m.gguf: beta fast must be finite and not negative, got -1");
}

TEST(GgufErrors, SectionsAndLayers) {
  EXPECT_EQ(refusal(with_dims("qwen2vl")),
            "[rope] m.gguf: metadata key \"qwen2vl.rope.dimension_sections\" must be there for "
            "architecture \"qwen2vl\"");
  const auto sections = [](const std::vector<std::int32_t>& lengths) {
    GgufWriter w = with_dims("qwen2vl");
    w.int32s("qwen2vl.rope.dimension_sections", lengths);
    return refusal(w);
  };
  EXPECT_EQ(sections({1, 2, 1}),
            "[rope] m.gguf: metadata key \"qwen2vl.rope.dimension_sections\" must have 4 elements, "
            "got 3");
  EXPECT_EQ(sections({0, 0, 0, 4}),
            "[rope] m.gguf: metadata key \"qwen2vl.rope.dimension_sections\" must have a first, "
            "second or third element above 0, got 0, 0, 0, 4");
  EXPECT_EQ(sections({-1, 2, 2, 0}),
            "[rope] m.gguf: metadata key \"qwen2vl.rope.dimension_sections\" must have integers "
            "from 0 to 2^53, got -1");
  GgufWriter text = with_dims("qwen2vl");
  text.key("qwen2vl.rope.dimension_sections", 9, text.array(8, 1, text.string("1")));
  EXPECT_EQ(refusal(text),
            "[rope] m.gguf: metadata key \"qwen2vl.rope.dimension_sections\" must be an array of "
            "integers, got an array of string");
  GgufWriter pattern = with_dims("gemma4");
  pattern.booleans("gemma4.attention.sliding_window_pattern", {1, 0})
      .uint32("gemma4.attention.sliding_window", 512);
  EXPECT_EQ(refusal(pattern),
            "[rope] m.gguf: metadata key \"gemma4.attention.sliding_window_pattern\" must have one "
            "element per layer, 4, got 2");
  GgufWriter at_rest = with_dims("lfm2");
  at_rest.int32s("lfm2.attention.head_count_kv", {0, 0, 0, 0});
  EXPECT_EQ(refusal(at_rest),
            "[rope] m.gguf: no layer rotates: this model does not rotate queries and keys");
  GgufWriter uncounted;
  uncounted.text("general.architecture", "gemma3")
      .uint32("gemma3.context_length", 4096)
      .uint32("gemma3.attention.key_length", 8);
  uncounted.uint32("gemma3.attention.sliding_window", 512);
  EXPECT_EQ(refusal(uncounted),
            "[rope] m.gguf: metadata key \"gemma3.block_count\" must be there for architecture "
            "\"gemma3\"");
}

}  // namespace
}  // namespace eigen_rope::test
