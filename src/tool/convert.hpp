// SPDX-License-Identifier: Apache-2.0
//
// `rope convert`: a model for one pairing becomes the same model for another.
//
// plan (convert_plan.hpp) -> draft (convert_write.hpp) -> verification of the draft (convert_verify.hpp) -> its own name. Anything that
// goes wrong before the last step leaves the destination as it was and removes the draft; a program killed leaves it to the next to remove.
// What came of it is a value, printed or written as JSON.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "convert_plan.hpp"
#include "convert_verify.hpp"

namespace rope::tool {

struct ConvertReport {
  std::string from_path{}, to_path{};
  /// Names of the model's files, to which the tensors' shard numbers refer.
  std::vector<std::string> files{};
  ConvertPlan plan{};
  /// One for each layer of the plan; empty if nothing was written.
  std::vector<LayerCheck> checks{};
  /// Drafts of the destination that were there because a conversion was killed.
  std::vector<std::string> removed{};
};

enum class Writing { plan_only, whole };

/// Throws FileError or rope::Error for what cannot be used or shown to be safe. `json`: where the report goes, or empty; written
/// before the destination gets its name, and gets its own right afterwards.
ConvertReport convert(const std::filesystem::path& from, const std::filesystem::path& to, const ConvertOptions& options, Writing writing,
                      const std::filesystem::path& json = {});

/// A line for each layer.
std::string text_of(const ConvertReport& report);
void write_json(const ConvertReport& report, const std::filesystem::path& path);

}  // namespace rope::tool
