// SPDX-License-Identifier: Apache-2.0
//
// Results to standard output, pipes and devices, and configurations from them, as a shell connects
// programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "support/model_files.hpp"
#include "support/run_tool.hpp"
#include "tool/io/byte_files.hpp"
#include "tool/io/file_error.hpp"
#include "tool/io/files.hpp"

namespace eigen_rope::tool::stream_tests {
namespace {

using test::file_bytes;
using test::Outcome;
using test::TemporaryFolder;
using testing::HasSubstr;
using testing::StartsWith;

const std::string tool = "'" EIGEN_ROPE_TOOL "' ";
const std::string words = "inspect default:dims=8,context=9 ";
const std::string config = "'" EIGEN_ROPE_TEST_DATA "/models/hugging_face/llama_3_1.json'";

/// Runs a line of bash in a folder.
Outcome bash(const TemporaryFolder& folder, const std::string& line) {
  test::write_bytes(folder / "line.sh", "cd '" + folder.path().string() + "' && " + line + "\n");
  const std::string files = (folder / "").string();
  const int status = std::system(
      ("bash '" + files + "line.sh' >'" + files + "out' 2>'" + files + "err' </dev/null").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, file_bytes(folder / "out"),
          file_bytes(folder / "err")};
}

/// Whether it is one JSON text and nothing else.
bool is_json(const std::string& text) { return nlohmann::json::accept(text); }

TEST(Streams, ADashIsStandardOutputWithoutTheReport) {
  const TemporaryFolder folder;
  const std::pair<std::string, int> commands[] = {
      {words, 0},
      {"compare default:dims=8,context=9 linear:dims=8,factor=2 ", 1},
      {"verify '" EIGEN_ROPE_TEST_DATA "/golden/scaling' ", 0},
      {"gradcheck --pairing split_half --scaling linear --scalar f64 --layout bsnd ", 0},
  };
  for (const auto& [command, code] : commands) {
    for (const char* name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
      const Outcome to_file = bash(folder, tool + command + "--json " + name);
      EXPECT_EQ(to_file.code, code) << command << name << to_file.err;
      EXPECT_TRUE(is_json(to_file.out)) << command << name;
      EXPECT_EQ(to_file.err, "");
      const Outcome to_pipe = bash(folder, tool + command + "--json " + name + " | cat");
      EXPECT_EQ(to_pipe.out, to_file.out);
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "-"));
  }
}

TEST(Streams, AConversionReportsToStandardOutputOnceItIsThere) {
  const TemporaryFolder folder;
  test::TestModel model;
  for (const char* name : {"q_proj", "k_proj"}) {
    model.push_back({std::string("model.layers.0.self_attn.") + name + ".weight",
                     {"F32", {8, 8}, std::string(256, '\0')}});
  }
  test::write_bytes(folder / "in.safetensors", test::file_of(model));
  const std::string convert =
      "convert in.safetensors new.safetensors --from split_half --to interleaved --heads 1 "
      "--head-dims 8 ";
  const Outcome planned = bash(folder, tool + convert + "--dry-run --json -");
  EXPECT_EQ(planned.code, 0) << planned.err;
  EXPECT_TRUE(is_json(planned.out)) << planned.out;
  const Outcome refused = bash(folder, tool + convert + "--json /dev/fd/9");
  EXPECT_EQ(refused.code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder / "new.safetensors"));
  const Outcome done = bash(folder, tool + convert + "--json -");
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(is_json(done.out)) << done.out;
  EXPECT_TRUE(std::filesystem::exists(folder / "new.safetensors"));
}

TEST(Streams, APipeGetsTheJsonAndStandardOutputTheReport) {
  const TemporaryFolder folder;
  const std::string expected = bash(folder, tool + words + "--json -").out;
  const std::string report = bash(folder, tool + words).out;
  const Outcome substituted =
      bash(folder, tool + words + "--json >(cat > got); wait $!; cat got >&2");
  EXPECT_EQ(substituted.out, report);
  EXPECT_EQ(substituted.err, expected);
  const Outcome fifo = bash(folder, "mkfifo p && { cat p > got & } && " + tool + words +
                                        "--json p && wait && cat got >&2");
  EXPECT_EQ(fifo.out, report);
  EXPECT_EQ(fifo.err, expected);
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "p"));
  const Outcome numbered = bash(folder, tool + words + "--json /dev/fd/7 7>got; cat got >&2");
  EXPECT_EQ(numbered.out, report);
  EXPECT_EQ(numbered.err, expected);
  EXPECT_EQ(bash(folder, tool + words + "--json /dev/null").out, report);
  EXPECT_TRUE(is_json(bash(folder, tool + words + "--json /dev/stderr").err));
}

TEST(Streams, ThatCannotBeWrittenAreRefusedWithTheReason) {
  const TemporaryFolder folder;
  EXPECT_EQ(bash(folder, tool + words + "--json /dev/full").err,
            "[rope] /dev/full: cannot be written: No space left on device\n");
  EXPECT_EQ(bash(folder, tool + words + "--json - >/dev/full").err,
            "[rope] -: cannot be written: No space left on device\n");
  EXPECT_EQ(bash(folder, tool + words + "--json - >&-").err,
            "[rope] -: cannot be written: Bad file descriptor\n");
  EXPECT_EQ(bash(folder, tool + words + "--json /dev/fd/9").err,
            "[rope] /dev/fd/9: cannot be written: Bad file descriptor\n");
  EXPECT_EQ(bash(folder, tool + words + "--json /dev/fd/8 8</dev/null").err,
            "[rope] /dev/fd/8: cannot be written: it is open for reading\n");
  EXPECT_EQ(bash(folder, tool + words + "--json /dev/full").code, 2);
}

TEST(Streams, AConfigurationComesFromStandardInputAndFromPipes) {
  const TemporaryFolder folder;
  const std::string expected = bash(folder, tool + "inspect " + config).out;
  EXPECT_THAT(expected, StartsWith("llama\n"));
  EXPECT_EQ(bash(folder, tool + "inspect - <" + config).out, expected);
  EXPECT_EQ(bash(folder, "cat " + config + " | " + tool + "inspect -").out, expected);
  EXPECT_EQ(bash(folder, "cat " + config + " | " + tool + "inspect /dev/stdin").out, expected);
  EXPECT_EQ(bash(folder, tool + "inspect <(cat " + config + ")").out, expected);
  EXPECT_EQ(bash(folder, tool + "compare - " + config + " <" + config).code, 0);
  EXPECT_THAT(bash(folder, tool + "compare - " + config + " <" + config).out,
              StartsWith("a  standard input\n"));
  EXPECT_EQ(bash(folder, tool + "compare <(cat " + config + ") <(cat " + config + ")").code, 0);
}

TEST(Streams, WhatComesFromThemAndCannotBeUsedIsRefused) {
  const TemporaryFolder folder;
  EXPECT_EQ(bash(folder, tool + "compare - - <" + config).err,
            "[rope] -: standard input can be one of the two, not both\n");
  EXPECT_EQ(bash(folder, "echo '{\"model_type\": 1}' | " + tool + "inspect -").code, 2);
  EXPECT_THAT(bash(folder, "echo '{\"model_type\": 1}' | " + tool + "inspect -").err,
              StartsWith("[rope] standard input: model_type "));
  EXPECT_THAT(bash(folder, tool + "inspect - </dev/null").err,
              StartsWith("[rope] standard input: the text must be JSON"));
  EXPECT_THAT(
      bash(folder, tool + "inspect - <'" EIGEN_ROPE_TEST_DATA "/models/gguf/llama_linear.gguf'")
          .err,
      StartsWith("[rope] standard input: a GGUF file must be given by its name"));
  EXPECT_THAT(bash(folder, "echo '<html>' | " + tool + "inspect -").err,
              StartsWith("[rope] standard input is an HTML page"));
  EXPECT_THAT(bash(folder, "head -c 80000000 /dev/zero | " + tool + "inspect -").err,
              StartsWith("[rope] standard input: a configuration must have at most 64 MiB"));
}

TEST(Writable, SaysWhyNot) {
  const TemporaryFolder folder;
  const auto message = [](const std::filesystem::path& path) {
    try {
      require_writable(path);
    } catch (const FileError& error) {
      return std::string(error.what());
    }
    return std::string("writable");
  };
  test::write_bytes(folder / "file", "x");
  const std::string root = (folder / "").string();
  EXPECT_EQ(message(root + "new"), "writable");
  EXPECT_EQ(message(root + "file"), "writable");
  EXPECT_EQ(message("-"), "writable");
  EXPECT_EQ(message(root + "none/new"),
            "[rope] " + root + "none/new: cannot be written: there is no folder " + root + "none");
  EXPECT_EQ(message(root + "file/new"),
            "[rope] " + root + "file/new: cannot be written: " + root + "file is no folder");
  EXPECT_EQ(message(root + "none/"),
            "[rope] " + root + "none/: cannot be written: the name of a file must be given");
  EXPECT_THAT(message(folder.path()), HasSubstr(": cannot be written: it is a folder"));
}

TEST(Plots, SayWhyTheyFailedBeforeAnyWork) {
  const TemporaryFolder folder;
  const Outcome without_gnuplot = bash(folder, "PATH=/nowhere " + tool + words + "--plot x.png");
  EXPECT_EQ(without_gnuplot.code, 2);
  EXPECT_EQ(without_gnuplot.out, "");
  EXPECT_EQ(without_gnuplot.err,
            "[rope] x.png: gnuplot must be installed to draw it, and is in no folder of PATH\n");
  for (const std::string& command :
       {words, std::string("compare default:dims=8,context=9 linear:dims=8,factor=2 "),
        std::string("gradcheck ")}) {
    const Outcome outcome = bash(folder, tool + command + "--plot nodir/x.png");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err, "[rope] nodir/x.png: cannot be written: there is no folder nodir\n");
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_EQ(bash(folder, tool + words + "--plot -").err,
            "[rope] -: a picture's name must end in .svg or .png\n");
}

TEST(Plots, AreWrittenIntoAFolderNamedRelatively) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "pictures");
  EXPECT_EQ(bash(folder, tool + words + "--plot pictures/x.svg").err, "");
  EXPECT_TRUE(std::filesystem::exists(folder / "pictures/x.svg"));
}

}  // namespace
}  // namespace eigen_rope::tool::stream_tests
