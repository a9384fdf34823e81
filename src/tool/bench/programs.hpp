// SPDX-License-Identifier: Apache-2.0
//
// `eigen-rope bench`: the benchmark programs beside this one, run one after the other, and their
// report.
//
// They are programs of their own because each is compiled with one set of flags throughout
// (bench/README.md). Not the measuring.
#pragma once

#include <filesystem>
#include <string>

namespace eigen_rope::tool {

enum class BenchPace { full, quick };

struct BenchOptions {
  BenchPace pace = BenchPace::full;
  /// A regular expression that names must contain; empty for all.
  std::string filter{};
  /// Targets to measure for and to compare with; empty for none.
  std::filesystem::path targets{};
  /// Where the results go as JSON; empty for nowhere.
  std::filesystem::path json{};
};

enum class BenchOutcome {
  measured,
  /// A result differs from the reference's, or a target was missed.
  failed,
  /// Nothing has a name that was asked for; the programs have said so.
  nothing,
};

/// Where rotate_bench and rotate_report are: beside `tool`, or in libexec/eigen-rope beside its
/// folder. Throws FileError.
std::filesystem::path bench_folder(const std::filesystem::path& tool);

/// Prints what the programs print, on standard output. Throws FileError where they cannot run or
/// their results cannot be written.
BenchOutcome run_bench(const std::filesystem::path& folder, const BenchOptions& options);

}  // namespace eigen_rope::tool
