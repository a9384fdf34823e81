// SPDX-License-Identifier: Apache-2.0
#include "models/gguf_parts.hpp"

#include <fmt/core.h>

#include <string>
#include <system_error>
#include <utility>

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

/// llama.cpp writes five digits.
constexpr Index kMostParts = 99999;

std::string ending(Index part, Index parts) {
  return fmt::format("-{:05}-of-{:05}.gguf", part, parts);
}

std::string part_name(const std::string& prefix, Index part, Index parts) {
  return prefix + ending(part, parts);
}

void require_part(GgufFile& file, Index part, Index parts) {
  const Index number = file.integer("split.no").value_or(-1);
  const Index count = file.integer("split.count").value_or(0);
  if (number != part - 1)
    file.refuse_key("split.no", fmt::format("be {}, as the file's name says", part - 1),
                    fmt::format("{}", number));
  if (count != parts)
    file.refuse_key("split.count", fmt::format("be {}, as in part 1", parts),
                    fmt::format("{}", count));
}

/// Whether a part has tensors that are looked up: others are closed again, since a model may have
/// more parts than a process may have files.
bool concerns_rotation(const GgufFile& file) {
  for (const auto& entry : file.tensors()) {
    const std::string& name = entry.first;
    if (name.rfind("rope_", 0) == 0 || name.find(".nextn.") != std::string::npos) return true;
  }
  return false;
}

}  // namespace

void add_gguf_parts(GgufKeys& keys, const std::filesystem::path& path) {
  const Index number = keys.file.integer("split.no").value_or(0);
  const Index parts = keys.file.integer("split.count").value_or(1);
  if (parts > kMostParts)
    keys.file.refuse_key("split.count", fmt::format("be at most {}", kMostParts),
                         fmt::format("{}", parts));
  const std::string& name = keys.file.name();
  if (number > 0) {
    const std::string own = ending(number + 1, parts);
    const bool named =
        name.size() > own.size() && name.compare(name.size() - own.size(), own.size(), own) == 0;
    const std::string hint =
        named ? fmt::format(", {}", part_name(name.substr(0, name.size() - own.size()), 1, parts))
              : std::string();
    keys.file.refuse(
        fmt::format("is part {} of {}, and the metadata are in part 1{}", number + 1, parts, hint));
  }
  if (parts < 2) return;
  const std::string own = ending(1, parts);
  if (name.size() <= own.size() || name.compare(name.size() - own.size(), own.size(), own) != 0) {
    keys.mend(
        fmt::format("is part 1 of {}, and its name must end in \"{}\" for the others to be found",
                    parts, own),
        "divisors are looked for in this part only");
    return;
  }
  const std::string prefix = name.substr(0, name.size() - own.size());
  Index missing = 0;
  for (Index part = 2; part <= parts; ++part) {
    const std::string other = part_name(prefix, part, parts);
    const std::filesystem::path beside = path.parent_path() / other;
    std::error_code error;
    if (!std::filesystem::exists(beside, error)) {
      if (++missing == 1) {
        keys.mend(fmt::format("is part 1 of {}, and \"{}\" must be beside it", parts, other),
                  "divisors in it are not seen");
      }
      continue;
    }
    GgufFile file(beside);
    require_part(file, part, parts);
    if (concerns_rotation(file)) keys.file.add_part(std::move(file));
  }
  if (missing > 1) keys.warn(fmt::format("{} of the {} parts are missing", missing, parts));
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
