// SPDX-License-Identifier: Apache-2.0
//
// The header of safetensors files: what is read, what is written, and one sentence for every way a
// file can be wrong.
#include "tool/io/safetensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/model_files.hpp"
#include "tool/io/file_error.hpp"

namespace eigen_rope::tool::safetensors_tests {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the helpers of these tests
using testing::ElementsAre;
using testing::Pair;

SafetensorsHeader read(const std::string& bytes, const TemporaryFolder& folder) {
  // A file that is not replaced need not reach the disk.
  fs::remove(folder / "m.safetensors");
  write_bytes(folder / "m.safetensors", bytes);
  return read_safetensors_header(InputFile(folder / "m.safetensors"));
}

std::string sentence(const std::string& bytes) {
  const TemporaryFolder folder;
  try {
    read(bytes, folder);
  } catch (const FileError& error) {
    const std::string start = "[rope] " + (folder / "m.safetensors").string() + ": ",
                      words = error.what();
    return words.substr(0, start.size()) == start ? words.substr(start.size())
                                                  : "without the file's name: " + words;
  }
  return "not refused";
}

const std::string one = R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
const std::string eight(8, 'd');

TEST(Safetensors, ReadsNamesInTheOrderOfTheFile) {
  const TemporaryFolder folder;
  const SafetensorsHeader header = read(
      safetensors_bytes(
          R"({"__metadata__":{"b":"2","a":"1"},"z":{"dtype":"BF16","shape":[1,2],"data_offsets":[4,8]},)"
          R"("y":{"dtype":"F4","shape":[8],"data_offsets":[0,4]}}   )",
          eight),
      folder);
  EXPECT_THAT(header.metadata, ElementsAre(Pair("b", "2"), Pair("a", "1")));
  ASSERT_EQ(header.tensors.size(), 2U);
  EXPECT_EQ(header.tensors[0].name, "z");
  EXPECT_EQ(header.tensors[0].dtype, "BF16");
  EXPECT_THAT(header.tensors[0].shape, ElementsAre(1U, 2U));
  EXPECT_EQ(header.tensors[0].begin, 4U);
  EXPECT_EQ(header.tensors[0].bytes(), 4U);
  EXPECT_EQ(header.metadata_value("a"), "1");
  EXPECT_EQ(header.metadata_value("c"), std::nullopt);
}

TEST(Safetensors, ScalarsEmptyTensorsAndEmptyFilesAreFiles) {
  EXPECT_EQ(sentence(safetensors_bytes("{}", "")), "not refused");
  EXPECT_EQ(sentence(safetensors_bytes(R"({"x":{"dtype":"F64","shape":[],"data_offsets":[0,8]}})",
                                       eight)),
            "not refused");
  // Extents beside a zero are not multiplied: 2^64 - 1 of nothing is nothing.
  EXPECT_EQ(
      sentence(safetensors_bytes(
          R"({"e":{"dtype":"F64","shape":[18446744073709551615,18446744073709551615,0],"data_offsets":[8,8]},)"
          R"("x":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})",
          eight)),
      "not refused");
}

TEST(Safetensors, EncodeIsReadBack) {
  SafetensorsHeader header;
  header.set_metadata("format", "pt");
  header.set_metadata("quote \" and \u00e9", "line\nbreak");
  header.set_metadata("format", "np");
  header.tensors = {{"b", "F16", {2, 2}, 0, 8}, {"a\"", "I64", {}, 8, 16}};
  const TemporaryFolder folder;
  const std::string bytes = encode(header);
  EXPECT_EQ(bytes.size() % 8, 0U);
  const SafetensorsHeader again = read(bytes + eight + eight, folder);
  EXPECT_EQ(again.metadata, header.metadata);
  EXPECT_EQ(again.metadata_value("format"), "np");
  ASSERT_EQ(again.tensors.size(), 2U);
  EXPECT_EQ(again.tensors[1].name, "a\"");
  EXPECT_EQ(again.tensors[1].shape, header.tensors[1].shape);
  EXPECT_EQ(again.tensors[1].end, 16U);
  EXPECT_EQ(again.data_begin, bytes.size());
}

TEST(Safetensors, OneSentenceForEveryMalformedFile) {
  const auto tensor = [](const std::string& fields, const std::string& data = eight) {
    return safetensors_bytes(R"({"x":{)" + fields + "}}", data);
  };
  const std::string long_length = std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "must have at least 8 bytes, got 0"},
      {"1234567", "must have at least 8 bytes, got 7"},
      {long_length + one,
       "the header must fit the 54 bytes after its length, got 18446744073709551615"},
      {safetensors_bytes(one, eight).substr(0, 40),
       "the header must fit the 32 bytes after its length, got 54"},
      {safetensors_bytes("", ""), "the header must be JSON, got an error at its byte 1"},
      {safetensors_bytes("{", ""), "the header must be JSON, got an error at its byte 2"},
      {safetensors_bytes(one + "x", eight), "the header must be JSON, got an error at its byte 55"},
      {safetensors_bytes("{\"\xff\":1}", ""),
       "the header must be JSON, got an error at its byte 3"},
      {safetensors_bytes("[]", ""), "the header must be an object, got a list"},
      {safetensors_bytes("7", ""), "the header must be an object, got 7"},
      {safetensors_bytes(R"({"x":[]})", ""), "tensor \"x\" must be an object, got a list"},
      {safetensors_bytes(R"({"x":null})", ""), "tensor \"x\" must be an object, got null"},
      {safetensors_bytes(R"({"x\u0007":1})", ""), "tensor \"x\\u0007\" must be an object, got 1"},
      {safetensors_bytes(R"({"__metadata__":3})", ""), "__metadata__ must be an object, got 3"},
      {safetensors_bytes(R"({"__metadata__":{"a":3}})", ""),
       "__metadata__ must hold strings only, got 3 for \"a\""},
      {safetensors_bytes(R"({"__metadata__":{"a":{}}})", ""),
       "__metadata__ must hold strings only, got an object for \"a\""},
      {safetensors_bytes(R"({"__metadata__":{"a":"1","a":"2"}})", ""),
       "__metadata__ must have \"a\" once"},
      {safetensors_bytes(R"({"__metadata__":{},"__metadata__":{}})", ""),
       "the name \"__metadata__\" must occur once"},
      {safetensors_bytes(
           R"({"x":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"x":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
           eight),
       "the name \"x\" must occur once"},
      {tensor(R"("dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8])"),
       "tensor \"x\" must have dtype once"},
      {tensor(R"("dtype":"F32","shape":[2])"), "tensor \"x\" must have data_offsets"},
      {tensor(R"("shape":[2],"data_offsets":[0,8])"), "tensor \"x\" must have dtype"},
      {tensor(R"("dtype":"F32","data_offsets":[0,8])"), "tensor \"x\" must have shape"},
      {tensor(R"("dtype":"F32","strides":[1])"),
       "tensor \"x\" must have dtype, shape and data_offsets only, got \"strides\""},
      {tensor(R"("dtype":"F33","shape":[2],"data_offsets":[0,8])"),
       "tensor \"x\" must have a known dtype, got \"F33\""},
      {tensor(R"("dtype":32,"shape":[2],"data_offsets":[0,8])"),
       "tensor \"x\" must have a string as its dtype, got 32"},
      {tensor(R"("dtype":["F32"],"shape":[2],"data_offsets":[0,8])"),
       "tensor \"x\" must have a string as its dtype, got a list"},
      {tensor(R"("dtype":"F32","shape":2,"data_offsets":[0,8])"),
       "tensor \"x\" must have a list as its shape, got 2"},
      {tensor(R"("dtype":"F32","shape":"2","data_offsets":[0,8])"),
       "tensor \"x\" must have a list as its shape, got \"2\""},
      {tensor(R"("dtype":"F32","shape":{"a":1},"data_offsets":[0,8])"),
       "tensor \"x\" must have a list as its shape, got an object"},
      {tensor(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"),
       "tensor \"x\" must have counts in its shape, got -2"},
      {tensor(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"),
       "tensor \"x\" must have counts in its shape, got 2.0"},
      {tensor(R"("dtype":"F32","shape":[[2]],"data_offsets":[0,8])"),
       "tensor \"x\" must have counts in its shape, got a list"},
      {tensor(R"("dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,8])"),
       "tensor \"x\" must have counts in its shape, got 18446744073709551616"},
      {tensor(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8])"),
       "tensor \"x\" must have a shape whose bits can be counted, got [4294967296, 4294967296]"},
      {tensor(R"("dtype":"F4","shape":[15],"data_offsets":[0,8])"),
       "tensor \"x\" must fill whole bytes, got 60 bits"},
      {tensor(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"),
       "tensor \"x\" must have 12 bytes, got 8"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,7])"),
       "tensor \"x\" must have 8 bytes, got 7"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0])"),
       "tensor \"x\" must have 2 data_offsets, got 1"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,8])"),
       "tensor \"x\" must have 2 data_offsets, got 3"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[-8,0])"),
       "tensor \"x\" must have counts in its data_offsets, got -8"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"),
       "tensor \"x\" must begin before it ends, got [8, 0]"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[8,16])"),
       "tensor \"x\" must end within the 8 bytes of data, got 16"},
      {tensor(
           R"("dtype":"F32","shape":[2],"data_offsets":[18446744073709551608,18446744073709551615])"),
       "tensor \"x\" must end within the 8 bytes of data, got 18446744073709551615"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[8,16])", eight + eight),
       "tensor \"x\" must begin where the one before it ends, at 0, got 8"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])", eight + "d"),
       "the data must end with the last tensor, at 8, got 1 bytes more"},
      {safetensors_bytes("{}", "d"),
       "the data must end with the last tensor, at 0, got 1 bytes more"},
      {safetensors_bytes(
           R"({"x":{"dtype":"U8","shape":[5],"data_offsets":[0,5]},"y":{"dtype":"U8","shape":[5],"data_offsets":[3,8]}})",
           eight),
       "tensor \"y\" must begin where the one before it ends, at 5, got 3"},
      {safetensors_bytes(
           R"({"x":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"y":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
           eight),
       "tensor \"y\" must begin where the one before it ends, at 3, got 4"},
  };
  for (const auto& [bytes, expected] : cases) EXPECT_EQ(sentence(bytes), expected);
  EXPECT_GE(cases.size(), 40U);
}

TEST(Safetensors, AnyDamageIsRefusedOrHarmless) {
  const TemporaryFolder folder;
  const std::string whole = safetensors_bytes(
      R"({"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},)"
      R"("y":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
      eight);
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = whole;
    for (unsigned change = 0; change <= random() % 3; ++change)
      bytes[random() % (bytes.size() - 8)] = static_cast<char>(random() % 256);
    try {
      const SafetensorsHeader header = read(bytes, folder);
      for (const SafetensorsEntry& tensor : header.tensors)
        EXPECT_LE(header.data_begin + tensor.end, bytes.size());
    } catch (const FileError&) {
      ++refused;
    }
  }
  // A few changes are to names and texts.
  EXPECT_GT(refused, 2000);
}

TEST(Safetensors, NestingCostsNoStack) {
  EXPECT_EQ(sentence(safetensors_bytes(std::string(1'000'000, '['), "")),
            "the header must be an object, got a list");
  EXPECT_EQ(sentence(safetensors_bytes(R"({"x":{"shape":)" + std::string(1'000'000, '['), "")),
            "tensor \"x\" must have counts in its shape, got a list");
}

TEST(Safetensors, LongNamesAreCutInASentence) {
  const std::string words =
      sentence(safetensors_bytes("{\"" + std::string(100'000, 'n') + "\":1}", ""));
  EXPECT_LT(words.size(), 200U);
}

TEST(Safetensors, LargeHeadersAreRefusedBeforeTheyAreRead) {
  const TemporaryFolder folder;
  const fs::path path = folder / "large.safetensors";
  // 100,000,001 bytes of header, which are not there to be read: the file is sparse.
  write_bytes(path, std::string("\x01\xe1\xf5\x05\0\0\0\0", 8));
  fs::resize_file(path, 100'000'009);
  EXPECT_THAT([&] { read_safetensors_header(InputFile(path)); },
              testing::ThrowsMessage<FileError>(
                  "[rope] " + path.string() +
                  ": the header must have at most 100000000 bytes, got 100000001"));
}

TEST(Safetensors, WhatIsNoFileIsRefused) {
  const TemporaryFolder folder;
  EXPECT_THAT([&] { InputFile file(folder / "none"); },
              testing::ThrowsMessage<FileError>("[rope] " + (folder / "none").string() +
                                                ": cannot be opened: No such file or directory"));
  EXPECT_THAT(
      [&] { InputFile file(folder.path()); },
      testing::ThrowsMessage<FileError>("[rope] " + folder.path().string() + ": must be a file"));
}

}  // namespace
}  // namespace eigen_rope::tool::safetensors_tests
