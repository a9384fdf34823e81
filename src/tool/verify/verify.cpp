// SPDX-License-Identifier: Apache-2.0
#include "tool/verify/verify.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "tool/verify/aclnn.hpp"
#include "tool/verify/golden_files.hpp"
#include "tool/verify/onnx.hpp"
#include "tool/verify/scaling.hpp"

namespace eigen_rope::tool {
namespace fs = std::filesystem;
namespace {

// A folder and all below it, sorted so that the order of the report does not depend on the file
// system. Links to folders are not followed.
std::vector<fs::path> folders_below(const fs::path& root) {
  std::error_code error;
  if (!fs::is_directory(root, error)) refuse(root.string(), "must be a folder");
  std::vector<fs::path> folders{root};
  fs::recursive_directory_iterator entries(root, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    std::error_code ignored;
    if (entries->is_directory(ignored) && !entries->is_symlink(ignored))
      folders.push_back(entries->path());
  }
  if (error)
    refuse(root.string(), fmt::format("must be a folder that can be read: {}", error.message()));
  std::sort(folders.begin(), folders.end());
  return folders;
}

void verify_index(Report& report, const GoldenIndex& index, PrecisionChoice precision) {
  if (is_ggml(index)) return verify_ggml(report, index, precision);
  if (is_onnx(index)) return verify_onnx(report, index);
  if (is_aclnn(index)) return verify_aclnn(report, index);
  refuse(index.path.string(), "must hold cases of ggml, ONNX or Ascend's RotaryPositionEmbedding");
}

bool present(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

// Does the folder hold anything we know?
bool verify_folder(Report& report, const fs::path& folder, PrecisionChoice precision) {
  bool known = true;
  if (present(folder / "cases.json")) {
    verify_index(report, read_json_index(folder / "cases.json"), precision);
  } else if (present(folder / "cases.tsv")) {
    verify_index(report, read_tsv_index(folder / "cases.tsv"), precision);
  } else {
    known = false;
  }
  if (present(folder / "errors.json")) {
    known = true;
    report.remarks.push_back(fmt::format("{}: not checked: it holds calls without answers",
                                         (folder / "errors.json").string()));
  }
  return known;
}

bool is_json_file(const fs::path& path) {
  std::error_code error;
  return path.extension() == ".json" && fs::is_regular_file(path, error);
}

}  // namespace

Report verify(const std::vector<fs::path>& paths, PrecisionChoice precision) {
  Report report;
  std::set<fs::path> done;
  const auto verify_scalings = [&](const fs::path& file) {
    std::error_code error;
    if (done.insert(fs::weakly_canonical(file, error)).second)
      verify_scaling(report, read_scaling_index(file));
  };
  for (const fs::path& root : paths) {
    if (is_json_file(root)) {
      verify_scalings(root);
      continue;
    }
    bool known = false;
    for (const fs::path& folder : folders_below(root)) {
      const bool first = done.insert(fs::canonical(folder)).second;
      known = !first || verify_folder(report, folder, precision) || known;
      if (!present(folder / "inv_freq.json")) continue;
      known = true;
      verify_scalings(folder / "inv_freq.json");
    }
    if (!known)
      refuse(
          root.string(),
          "must hold a recording somewhere: cases.json, cases.tsv, inv_freq.json or errors.json");
  }
  report.apply_group_rules();
  return report;
}

}  // namespace eigen_rope::tool
