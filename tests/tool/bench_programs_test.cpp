// SPDX-License-Identifier: Apache-2.0
//
// `eigen-rope bench` calls the benchmarks and their report with the right words and understands how
// they ended. The programs here are scripts.
#include "tool/bench/programs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fstream>

#include "support/run_tool.hpp"
#include "tool/io/file_error.hpp"

namespace eigen_rope::tool::bench_programs_tests {
namespace {

namespace fs = std::filesystem;

class BenchPrograms : public testing::Test {
 protected:
  BenchPrograms() {
    fs::create_directories(root_ / "bin");
    fs::create_directories(root_ / "libexec/eigen-rope");
  }

  /// A program that notes its words in `name`.words and then does `action`.
  void program(const fs::path& folder, const std::string& name, const std::string& action) {
    const fs::path path = root_ / (folder / name);
    std::ofstream(path) << "#!/bin/sh\nprintf '%s ' \"$@\" > '" << (root_ / name).string()
                        << ".words'\n"
                        << action << "\n";
    fs::permissions(path, fs::perms::owner_all);
  }
  std::string text(const std::string& name) const { return test::file_bytes(root_ / name); }
  BenchOutcome run(const BenchOptions& options) const {
    return run_bench(bench_folder(root_ / "bin/eigen-rope"), options);
  }

  test::TemporaryFolder root_;
};

constexpr const char* measures = "echo '{}' > \"$2\"";
constexpr const char* reports = "echo '{\"results\": 1}' > \"$2/results.json\"";

TEST_F(BenchPrograms, AreSoughtBesideTheToolAndInLibexec) {
  EXPECT_THROW(bench_folder(root_ / "bin/eigen-rope"), FileError);
  program("libexec/eigen-rope", "rotate_bench", measures);
  EXPECT_THROW(bench_folder(root_ / "bin/eigen-rope"), FileError);
  program("libexec/eigen-rope", "rotate_report", reports);
  EXPECT_EQ(bench_folder(root_ / "bin/eigen-rope"), root_ / "libexec/eigen-rope");
  program("bin", "rotate_bench", measures);
  program("bin", "rotate_report", reports);
  EXPECT_EQ(bench_folder(root_ / "bin/eigen-rope"), root_ / "bin");
}

TEST_F(BenchPrograms, AreCalledWithTheOptions) {
  program("bin", "rotate_bench", measures);
  program("bin", "rotate_bench_native", measures);
  program("bin", "rotate_report", reports);
  EXPECT_EQ(run({BenchPace::quick, "half$", {}, root_ / "results.json"}), BenchOutcome::measured);
  EXPECT_THAT(text("rotate_bench.words"),
              testing::MatchesRegex("--out .*rotate_bench.json --quick --filter half\\$ "));
  EXPECT_THAT(text("rotate_report.words"),
              testing::MatchesRegex("--out .* .*/rotate_bench.json .*/rotate_bench_native.json "));
  EXPECT_EQ(text("results.json"), "{\"results\": 1}\n");
  EXPECT_EQ(run({BenchPace::full, "", "targets.json", {}}), BenchOutcome::measured);
  EXPECT_THAT(text("rotate_bench.words"),
              testing::MatchesRegex("--out .* --targets targets.json "));
  EXPECT_THAT(text("rotate_report.words"), testing::HasSubstr("--check --targets targets.json"));
}

TEST_F(BenchPrograms, PrintToStandardErrorWhereTheResultsGoToStandardOutput) {
  program("bin", "rotate_bench", std::string(measures) + "; echo measured");
  program("bin", "rotate_report", std::string(reports) + "; echo reported");
  fs::copy(EIGEN_ROPE_TOOL, root_ / "bin/eigen-rope");
  const std::string files = (root_ / "").string();
  ASSERT_EQ(std::system(("'" + files + "bin/eigen-rope' bench --json - >'" + files + "out' 2>'" +
                         files + "err'")
                            .c_str()),
            0);
  EXPECT_EQ(text("out"), "{\"results\": 1}\n");
  EXPECT_EQ(text("err"), "measured\nreported\n");
}

TEST_F(BenchPrograms, LeaveNothingBehind) {
  program("bin", "rotate_bench",
          std::string(measures) + "; dirname \"$2\" > '" + (root_ / "work").string() + "'");
  program("bin", "rotate_report", reports);
  EXPECT_EQ(run({}), BenchOutcome::measured);
  std::string work = text("work");
  work.pop_back();
  EXPECT_FALSE(work.empty());
  EXPECT_FALSE(fs::exists(work));
}

TEST_F(BenchPrograms, SayHowTheyEnded) {
  program("bin", "rotate_bench", std::string(measures) + "; exit 1");
  program("bin", "rotate_report", reports);
  EXPECT_EQ(run({}), BenchOutcome::failed) << "a result differed";
  program("bin", "rotate_bench", measures);
  program("bin", "rotate_report", std::string(reports) + "; exit 1");
  EXPECT_EQ(run({}), BenchOutcome::failed) << "a target was missed";
  program("bin", "rotate_bench", "exit 2");
  EXPECT_EQ(run({}), BenchOutcome::nothing);
  program("bin", "rotate_bench", "kill -9 $$");
  EXPECT_THROW(run({}), FileError);
  program("bin", "rotate_bench", measures);
  program("bin", "rotate_report", "exit 3");
  EXPECT_THROW(run({}), FileError);
}

}  // namespace
}  // namespace eigen_rope::tool::bench_programs_tests
