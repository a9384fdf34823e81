// SPDX-License-Identifier: Apache-2.0
#include "tool/bench/programs.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include "tool/io/byte_files.hpp"
#include "tool/io/child_process.hpp"
#include "tool/io/files.hpp"

namespace eigen_rope::tool {
namespace fs = std::filesystem;
namespace {

/// A folder that is gone afterwards.
class WorkFolder {
 public:
  WorkFolder() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "rope_bench_XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr)
      refuse(name, "a folder for the results could not be made");
    path_ = name;
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

bool has_program(const fs::path& folder, const char* name) {
  return ::access((folder / name).c_str(), X_OK) == 0;
}

Prints prints_of(const BenchOptions& options) {
  return !options.json.empty() && is_standard_output(options.json) ? Prints::to_standard_error
                                                                   : Prints::to_standard_output;
}

/// The file of results, or nothing where the program had nothing to do; sets `differed` where a
/// result was not the reference's.
std::optional<fs::path> measure(const fs::path& program, const fs::path& out,
                                const BenchOptions& options, bool& differed) {
  std::vector<std::string> words{program.string(), "--out", out.string()};
  if (options.pace == BenchPace::quick) words.push_back("--quick");
  if (!options.filter.empty()) words.insert(words.end(), {"--filter", options.filter});
  if (!options.targets.empty()) words.insert(words.end(), {"--targets", options.targets.string()});
  const int code = run_program(words, prints_of(options)).exit_code;
  if (code == 1) differed = true;
  if (code < 0 || code > 2)
    refuse(program.string(),
           fmt::format("the benchmark must end by itself, got exit code {}", code));
  std::error_code ignored;
  return fs::exists(out, ignored) ? std::optional(out) : std::nullopt;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path.string(), "the results could not be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

fs::path bench_folder(const fs::path& tool) {
  const fs::path beside = tool.parent_path();
  const fs::path installed = beside.parent_path() / "libexec" / "eigen-rope";
  for (const fs::path& folder : {beside, installed}) {
    if (has_program(folder, "rotate_bench") && has_program(folder, "rotate_report")) return folder;
  }
  refuse(beside.string(),
         "rotate_bench and rotate_report must be beside this program or in ../libexec/eigen-rope "
         "(build with EIGEN_ROPE_BUILD_BENCH=ON)");
}

BenchOutcome run_bench(const fs::path& folder, const BenchOptions& options) {
  const WorkFolder work;
  bool differed = false;
  std::vector<std::string> report{(folder / "rotate_report").string(), "--out",
                                  work.path().string()};
  const std::size_t words_without_results = report.size();
  for (const char* program : {"rotate_bench", "rotate_bench_native"}) {
    if (!has_program(folder, program)) continue;
    const auto results =
        measure(folder / program, work.path() / fmt::format("{}.json", program), options, differed);
    if (results) report.push_back(results->string());
  }
  if (report.size() == words_without_results) return BenchOutcome::nothing;
  if (!options.targets.empty())
    report.insert(report.end(), {"--check", "--targets", options.targets.string()});
  const int code = run_program(report, prints_of(options)).exit_code;
  if (code != 0 && code != 1) refuse(report.front(), "the results could not be read");
  if (!options.json.empty()) write_whole(options.json, text_of(work.path() / "results.json"));
  return differed || code == 1 ? BenchOutcome::failed : BenchOutcome::measured;
}

}  // namespace eigen_rope::tool
