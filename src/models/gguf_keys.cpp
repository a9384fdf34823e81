// SPDX-License-Identifier: Apache-2.0
#include "models/gguf_keys.hpp"

#include <fmt/core.h>

#include "models/gguf_architectures.hpp"
#include "models/notes.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

std::string GgufKeys::key(std::string_view name) const {
  return fmt::format("{}.{}", architecture, name);
}

void GgufKeys::mend(std::string_view full_key, std::string_view rule, std::string_view got,
                    std::string_view instead) {
  if (strict()) file.refuse_key(full_key, rule, fmt::format("{} {}", got, read_leniently(instead)));
  warn(fmt::format("metadata key \"{}\" must {}, got {}: {}", full_key, rule, got, instead));
}

void GgufKeys::mend(std::string_view sentence, std::string_view instead) {
  if (strict()) file.refuse(fmt::format("{} {}", sentence, read_leniently(instead)));
  warn(fmt::format("{}: {}", sentence, instead));
}

std::string GgufKeys::not_read() const {
  const GgufArchitecture* found = find_architecture(architecture);
  if (found == nullptr || found->rope == GgufRope::unrecorded) {
    return fmt::format("it is not known what reads it for architecture \"{}\"", architecture);
  }
  return fmt::format("llama.cpp does not read it for architecture \"{}\"", architecture);
}

double GgufKeys::positive(std::string_view full_key, double value) const {
  if (!(value > 0)) file.refuse_key(full_key, "be greater than 0", fmt::format("{}", value));
  return value;
}

std::optional<Index> GgufKeys::integer_up_to(Index most, std::string_view name) {
  const std::optional<Index> value = file.integer(key(name));
  if (value && (*value < 1 || *value > most)) {
    file.refuse_key(key(name), fmt::format("be from 1 to {}", most), fmt::format("{}", *value));
  }
  return value;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
