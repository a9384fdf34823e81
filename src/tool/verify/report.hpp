// SPDX-License-Identifier: Apache-2.0
//
// The outcome of a run: cases, the groups they form, the table and the machine-readable file made
// from them.
//
// A case passes if all its checks do. Where values are rounded to 16 bits once, a few elements of a
// group may differ from the exact result rounded once; how many is a rule on the group, so passing
// is known only after all cases are in (apply_group_rules). Compares nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tool/verify/comparison.hpp"
#include "tool/verify/golden_files.hpp"

namespace eigen_rope::tool {

struct CaseResult {
  std::string folder{};
  std::string name{};
  std::string group{};
  std::string parameters{};  ///< everything the index says of the case
  std::string refusal{};     ///< what the operator said, if it refused the case
  std::vector<Check> checks{};

  bool passed() const;
};

/// A case with folder and parameters filled in, and what `check` returns or the operator says if it
/// refuses.
CaseResult run_case(const GoldenIndex& index, const Entry& entry,
                    const std::function<std::vector<Check>()>& check);

struct Report {
  std::vector<CaseResult> cases{};
  std::vector<std::string> remarks{};  ///< files recognised but not checked

  /// Fails the cases with unequal elements of every group that has more than its share: max(1,
  /// rounded / share).
  void apply_group_rules();
  std::int64_t passed() const;
  std::int64_t failed() const;
};

enum class Detail { full, failures_only };

/// Remarks and one line per group (full only), failing cases with all their parameters, and `N
/// passed, N failed`.
std::string text_of(const Report& report, Detail detail);

/// Writes all cases as JSON: to a file beside `path` that is then renamed, so that `path` is never
/// half written. Throws FileError.
void write_json(const Report& report, const std::filesystem::path& path);

}  // namespace eigen_rope::tool
