// SPDX-License-Identifier: Apache-2.0
#include "models/notes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "eigen_rope/numbers/detail/sentence.hpp"
#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

void Notes::warn(std::string sentence) {
  constexpr std::size_t longest = 1000;
  sentence = detail::one_line(sentence, longest);
  if (std::find(warnings_.begin(), warnings_.end(), sentence) == warnings_.end())
    warnings_.push_back(std::move(sentence));
}

std::string printable(std::string_view name) {
  constexpr std::size_t longest = 100;
  return detail::one_line(name, longest);
}

std::string read_leniently(std::string_view instead) {
  return fmt::format("(read leniently, {})", instead);
}

void Notes::mind(std::string_view rule, std::string_view got, std::string_view instead) {
  if (strictness_ == Strictness::strict)
    detail::fail(fmt::format("{}, got {} {}", rule, got, read_leniently(instead)));
  warn(fmt::format("{}, got {}: {}", rule, got, instead));
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
