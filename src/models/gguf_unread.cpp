// SPDX-License-Identifier: Apache-2.0
#include "models/gguf_unread.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

/// Under the architecture's name. What they say is compared with what is done where they are read.
constexpr std::array<std::string_view, 17> kKnown{
    "rope.dimension_count",
    "rope.dimension_count_swa",
    "rope.dimension_sections",
    "rope.freq_base",
    "rope.freq_base_swa",
    "rope.scale_linear",
    "rope.scaling.alpha",
    "rope.scaling.attn_factor",
    "rope.scaling.factor",
    "rope.scaling.finetuned",
    "rope.scaling.original_context_length",
    "rope.scaling.type",
    "rope.scaling.yarn_attn_factor",
    "rope.scaling.yarn_beta_fast",
    "rope.scaling.yarn_beta_slow",
    "rope.scaling.yarn_ext_factor",
    "rope.scaling.yarn_log_multiplier",
};

bool begins_with(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

bool sounds_like_rotation(std::string_view key) {
  if (begins_with(key, "tokenizer.") || begins_with(key, "general.")) return false;
  for (const std::string_view part : {"rope", "rotary", "yarn", "theta", "nope"}) {
    if (key.find(part) != std::string_view::npos) return true;
  }
  return false;
}

bool is_read(const GgufKeys& keys, const GgufArchitecture& architecture, std::string_view key) {
  const std::string prefix = keys.key("");
  if (!begins_with(key, prefix)) return false;
  const std::string_view name = key.substr(prefix.size());
  if (name == "attention.rope_pattern")
    return architecture.rotated == RotatedLayers::by_rope_pattern;
  if (name == "attention.compress_rope_freq_base")
    return architecture.sliding == SlidingLayers::uncompressed;
  return std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end();
}

}  // namespace

void mend_unread_gguf_keys(GgufKeys& keys, const GgufArchitecture& architecture) {
  for (const auto& entry : keys.file.values()) {
    const std::string& key = entry.first;
    if (!sounds_like_rotation(key) || is_read(keys, architecture, key)) continue;
    keys.mend(fmt::format(
                  "metadata key \"{}\" must not be there: nothing reads it for architecture \"{}\"",
                  key, keys.architecture),
              "it is not applied");
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
