// SPDX-License-Identifier: Apache-2.0
//
// `eigen-rope convert`: a model for one pairing becomes the same model for another.
//
// plan (plan.hpp) -> draft (write.hpp) -> verification of the draft (verify.hpp) -> its own name.
// Anything that goes wrong before the last step leaves the destination as it was and removes the
// draft; a program killed leaves it to the next to remove. What came of it is a value, printed or
// written as JSON.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tool/convert/carry.hpp"
#include "tool/convert/plan.hpp"
#include "tool/convert/progress.hpp"
#include "tool/convert/verify.hpp"

namespace eigen_rope::tool {

struct ConvertReport {
  std::string from_path{}, to_path{};
  /// Names of the model's files, to which the tensors' shard numbers refer.
  std::vector<std::string> files{};
  ConvertPlan plan{};
  /// One for each layer of the plan; empty if nothing was written.
  std::vector<LayerCheck> checks{};
  /// Drafts of the destination that were there because a conversion was killed.
  std::vector<std::string> removed{};
  Carried carried{};
  /// What config.json was read; empty if none was.
  std::string config{};
  /// What the user should know of the source and of the options, a sentence each.
  std::vector<std::string> warnings{};
  /// What the user should know of the result, a sentence each.
  std::vector<std::string> notes{};
};

enum class Writing { plan_only, whole };

/// Throws FileError or eigen_rope::Error for what cannot be used or shown to be safe. `json`: where
/// the report goes, or empty; written before the destination gets its name, and gets its own right
/// afterwards. Progress goes to `terminal` unless it is nullptr.
ConvertReport convert(const std::filesystem::path& from, const std::filesystem::path& to,
                      const ConvertOptions& options, Writing writing,
                      const std::filesystem::path& json = {}, std::FILE* terminal = nullptr);

/// llama.cpp's converter makes interleaved rows itself: a sentence for --help and the report.
inline constexpr const char* llama_cpp_note =
    "llama.cpp's convert_hf_to_gguf.py permutes the q and k of Llama-like models itself: give it "
    "the original model, not a converted one.";

/// A line for each layer, then what was carried along, warnings and notes.
std::string text_of(const ConvertReport& report);
void write_json(const ConvertReport& report, const std::filesystem::path& path);

}  // namespace eigen_rope::tool
