// SPDX-License-Identifier: Apache-2.0
//
// Files that are not what their name says are named as what they are, by every command that reads
// models.
#include "tool/io/file_kind.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_tool.hpp"

namespace eigen_rope::tool::file_kind_tests {
namespace {

using test::Outcome;
using test::run_tool;
using test::TemporaryFolder;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* pointer =
    "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 4920739232\n";
constexpr const char* pointer_words =
    " is a Git LFS pointer, not the file itself: run git lfs pull\n";

std::string quoted_path(const std::filesystem::path& path) { return "'" + path.string() + "'"; }

TEST(FileKind, APointerIsNamedWhateverItIsCalled) {
  const TemporaryFolder folder;
  for (const char* name : {"model.gguf", "config.json", "model.safetensors"}) {
    const std::filesystem::path file = folder / name;
    test::write_bytes(file, pointer);
    for (const std::string& words :
         {"inspect " + quoted_path(file), "compare default:dims=8 " + quoted_path(file)}) {
      const Outcome outcome = run_tool(words);
      EXPECT_EQ(outcome.code, 2) << words;
      EXPECT_EQ(outcome.err, "[rope] " + file.string() + pointer_words);
    }
  }
  EXPECT_EQ(run_tool("inspect " + quoted_path(folder.path())).err,
            "[rope] " + (folder / "config.json").string() + pointer_words);
  const Outcome converted = run_tool("convert " + quoted_path(folder / "model.safetensors") + " " +
                                     quoted_path(folder / "out.safetensors") +
                                     " --from split_half --to interleaved --heads 1 --head-dims 8");
  EXPECT_EQ(converted.code, 2);
  EXPECT_EQ(converted.err, "[rope] " + (folder / "model.safetensors").string() + pointer_words);
}

TEST(FileKind, APageIsNamed) {
  const TemporaryFolder folder;
  for (const char* page : {"<!DOCTYPE html>\n<html>", "\n\n<!doctype HTML>", "<html lang=\"en\">",
                           "\xef\xbb\xbf<html>", "<head><title>"}) {
    test::write_bytes(folder / "model.gguf", page);
    EXPECT_THAT(run_tool("inspect " + quoted_path(folder / "model.gguf")).err,
                StartsWith("[rope] " + (folder / "model.gguf").string() +
                           " is an HTML page, not the file itself: "))
        << page;
  }
}

TEST(FileKind, ArchivesAndWeightsAreNamed) {
  const TemporaryFolder folder;
  test::write_bytes(folder / "model.json", "\x1f\x8b\x08 more");
  EXPECT_THAT(run_tool("inspect " + quoted_path(folder / "model.json")).err,
              HasSubstr(" is a gzip archive, not the file itself: unpack it\n"));
  test::write_bytes(folder / "pytorch_model.bin", "PK\x03\x04 more");
  EXPECT_THAT(run_tool("inspect " + quoted_path(folder / "pytorch_model.bin")).err,
              HasSubstr(" is a zip archive "));
  test::write_bytes(folder / "model.safetensors", std::string("\x02\0\0\0\0\0\0\0{}", 10));
  EXPECT_THAT(run_tool("inspect " + quoted_path(folder / "model.safetensors")).err,
              HasSubstr(": holds weights: give the config.json beside it"));
}

TEST(FileKind, WhatIsCalledGgufAndIsNoneIsToldWhatAGgufFileIs) {
  const TemporaryFolder folder;
  for (const char* content : {"", "no", "   ", "[1, 2]", "Entry not found"}) {
    test::write_bytes(folder / "model.gguf", content);
    EXPECT_THAT(run_tool("inspect " + quoted_path(folder / "model.gguf")).err,
                testing::ContainsRegex("model.gguf: must begin with .*GGUF"))
        << content;
  }
}

}  // namespace
}  // namespace eigen_rope::tool::file_kind_tests
