// SPDX-License-Identifier: Apache-2.0
//
// The format: every type, both versions and byte orders, and files far larger than their header.
#include "models/gguf_file.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>

#include "support/gguf_writer.hpp"
#include "support/temporary_folder.hpp"

namespace eigen_rope::test {
namespace {

using models::GgufFile;
using models::GgufType;
using models::GgufValue;
using ::testing::ElementsAre;
using ::testing::Optional;
using ::testing::SizeIs;

using Order = GgufWriter::Order;

/// A value of every type.
GgufWriter every_type(std::uint32_t version, Order order) {
  GgufWriter w(version, order);
  w.key("a.uint8", 0, w.number(200, 1)).key("a.int8", 1, w.number(0x9C, 1));
  w.key("a.uint16", 2, w.number(60000, 2)).key("a.int16", 3, w.number(0x8AD0, 2));
  w.key("a.uint32", 4, w.number(4000000000U, 4)).key("a.int32", 5, w.number(0x88CA6C00U, 4));
  w.key("a.float32", 6, w.real(0.1F))
      .key("a.true", 7, w.number(1, 1))
      .key("a.false", 7, w.number(0, 1));
  w.text("a.text", "naïve")
      .key("a.array", 9, w.array(3, 3, w.number(1, 2) + w.number(20, 2) + w.number(300, 2)));
  w.key("a.uint64", 10, w.number(std::uint64_t{1} << 40, 8))
      .key("a.int64", 11, w.number(~std::uint64_t{0}, 8));
  w.key("a.float64", 12, w.real(0.1));
  const std::string inner = w.array(4, 2, w.number(7, 4) + w.number(8, 4));
  w.key("a.nested", 9, w.array(9, 2, inner + w.array(8, 1, w.string("x"))))
      .text("a.last", "behind the nested array");
  return w;
}

class GgufFormat : public ::testing::TestWithParam<std::tuple<std::uint32_t, Order>> {
 protected:
  GgufWriter writer() const { return every_type(std::get<0>(GetParam()), std::get<1>(GetParam())); }
};

INSTANTIATE_TEST_SUITE_P(VersionsAndOrders, GgufFormat,
                         ::testing::Combine(::testing::Values(2U, 3U),
                                            ::testing::Values(Order::little, Order::big)));

TEST_P(GgufFormat, EveryTypeIsReadBack) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "every.gguf";
  writer().save(path);
  GgufFile file(path);
  EXPECT_EQ(file.version(), std::get<0>(GetParam()));
  EXPECT_EQ(file.name(), "every.gguf");
  EXPECT_EQ(file.alignment(), 32U);
  EXPECT_THAT(file.values(), SizeIs(16));
  EXPECT_THAT(file.integer("a.uint8"), Optional(200));
  EXPECT_THAT(file.number("a.int8"), Optional(-100.0));
  EXPECT_THAT(file.integer("a.uint16"), Optional(60000));
  EXPECT_THAT(file.number("a.int16"), Optional(-30000.0));
  EXPECT_THAT(file.integer("a.uint32"), Optional(4000000000));
  EXPECT_THAT(file.number("a.int32"), Optional(-2000000000.0));
  EXPECT_THAT(file.number("a.float32"), Optional(static_cast<double>(0.1F)));
  EXPECT_THAT(file.flag("a.true"), Optional(true));
  EXPECT_THAT(file.flag("a.false"), Optional(false));
  EXPECT_THAT(file.text("a.text"), Optional(std::string("naïve")));
  EXPECT_THAT(file.integers("a.array"), Optional(ElementsAre(1, 20, 300)));
  EXPECT_THAT(file.integer("a.uint64"), Optional(Index{1} << 40));
  EXPECT_THAT(file.number("a.int64"), Optional(-1.0));
  EXPECT_THAT(file.number("a.float64"), Optional(0.1));
  EXPECT_THAT(file.text("a.last"), Optional(std::string("behind the nested array")));
  const GgufValue* nested = file.find("a.nested");
  ASSERT_NE(nested, nullptr);
  EXPECT_EQ(nested->type, GgufType::array);
  EXPECT_EQ(nested->element, GgufType::array);
  EXPECT_EQ(nested->count, 2U);
  EXPECT_EQ(file.find("a.missing"), nullptr);
  EXPECT_EQ(file.number("a.missing"), std::nullopt);
}

TEST_P(GgufFormat, TensorsAreReadWhereTheirOffsetSays) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "tensors.gguf";
  GgufWriter w = writer();
  w.tensor("first", {32, 2}, 2, std::string(36, '\1'))
      .tensor("singles", {3}, 0, w.floats({1.0F, 0.25F, 1e30F}));
  w.tensor("halves", {4, 1}, 1, w.halves({0x3C00, 0xC000, 0x0001, 0x7BFF}));
  w.save(path);
  GgufFile file(path);
  EXPECT_THAT(file.tensor_values("singles"),
              Optional(ElementsAre(1.0, 0.25, static_cast<double>(1e30F))));
  EXPECT_THAT(file.tensor_values("halves"),
              Optional(ElementsAre(1.0, -2.0, std::ldexp(1.0, -24), 65504.0)));
  EXPECT_EQ(file.tensor_values("missing"), std::nullopt);
  EXPECT_THAT(file.tensors().at("first").extents, ElementsAre(32U, 2U));
}

TEST(GgufFileTest, AlignmentMovesTheData) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "aligned.gguf";
  GgufWriter w;
  w.alignment = 256;
  w.uint32("general.alignment", 256)
      .tensor("a", {1}, 0, w.floats({3.0F}))
      .tensor("b", {1}, 0, w.floats({5.0F}));
  w.save(path);
  GgufFile file(path);
  EXPECT_EQ(file.alignment(), 256U);
  EXPECT_EQ(file.tensors().at("a").place % 256, 0U);
  EXPECT_EQ(file.tensors().at("b").place - file.tensors().at("a").place, 256U);
  EXPECT_THAT(file.tensor_values("b"), Optional(ElementsAre(5.0)));
}

TEST(GgufFileTest, AFileWithoutTensorsNeedsNoPadding) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "keys.gguf";
  GgufWriter w;
  w.text("a", "b");
  write_bytes(path, w.header());
  EXPECT_THAT(GgufFile(path).values(), SizeIs(1));
}

TEST(GgufFileTest, TensorsOfUnknownTypesAreNoReasonToRefuseTheFile) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "later.gguf";
  GgufWriter w;
  w.tensor("later", {7}, 1000, "data of a type to come").tensor("known", {1}, 0, w.floats({2.0F}));
  w.save(path);
  GgufFile file(path);
  EXPECT_THAT(file.tensor_values("known"), Optional(ElementsAre(2.0)));
}

TEST(GgufFileTest, OnlyTheHeaderOfALargeFileIsRead) {
  constexpr std::uint64_t weights = std::uint64_t{10} << 30;
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "large.gguf";
  GgufWriter w;
  w.text("general.architecture", "llama").tensor("factors", {2}, 0, w.floats({1.0F, 8.0F}));
  std::string vocabulary;
  for (int i = 0; i < 100000; ++i) vocabulary += w.string("token");
  w.key("tokenizer.ggml.tokens", 9, w.array(8, 100000, vocabulary));
  w.tensor("weights", {weights / 4}, 0, "");
  w.save(path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + weights);

  const auto begin = std::chrono::steady_clock::now();
  GgufFile file(path);
  EXPECT_THAT(file.tensor_values("factors"), Optional(ElementsAre(1.0, 8.0)));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  // Reading the weights takes seconds; the header some 10 ms.
  constexpr double least_time_to_read_the_weights = 1.0;
  EXPECT_LT(elapsed.count(), least_time_to_read_the_weights);
  RecordProperty("milliseconds", std::to_string(elapsed.count() * 1e3));
}

}  // namespace
}  // namespace eigen_rope::test
