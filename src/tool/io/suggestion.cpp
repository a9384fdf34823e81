// SPDX-License-Identifier: Apache-2.0
#include "tool/io/suggestion.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace eigen_rope::tool {
namespace {

/// Insertions, deletions, replacements and swaps of neighbours that make `b` of `a`. O(size of a *
/// size of b).
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last, row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::move(last);
    last = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t other = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + other});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  // Nobody's typing error; the table of edits would be as large as the word.
  constexpr std::size_t longest = 64;
  if (word.empty() || word.size() > longest) return "";
  const std::string* nearest = nullptr;
  std::size_t fewest = 0;
  const std::string* longer = nullptr;
  int longer_ones = 0;
  for (const std::string& candidate : known) {
    const std::size_t edits = edits_between(word, candidate);
    const std::size_t allowed = std::max<std::size_t>(1, candidate.size() / 3);
    if (edits <= allowed && (nearest == nullptr || edits < fewest)) {
      nearest = &candidate;
      fewest = edits;
    }
    if (word.size() >= 3 && candidate.compare(0, word.size(), word) == 0) {
      longer = &candidate;
      ++longer_ones;
    }
  }
  if (nearest == nullptr && longer_ones == 1) nearest = longer;
  return nearest == nullptr ? "" : fmt::format(" (did you mean {}?)", *nearest);
}

}  // namespace eigen_rope::tool
