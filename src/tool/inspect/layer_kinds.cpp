// SPDX-License-Identifier: Apache-2.0
#include "tool/inspect/layer_kinds.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace eigen_rope::tool {

std::optional<std::vector<int>> kinds_of_layers(const models::ModelRope& model) {
  eigen_rope::Index count = model.layer_count;
  bool all_listed = true;
  for (const models::LayerRope& kind : model.layers) {
    all_listed = all_listed && !kind.layers.empty();
    if (!kind.layers.empty()) count = std::max(count, kind.layers.back() + 1);
  }
  if (count == 0 || (!all_listed && model.layers.size() > 1)) return {};
  std::vector<int> kinds(static_cast<std::size_t>(count), all_listed ? not_rotated : 0);
  for (std::size_t kind = 0; kind < model.layers.size(); ++kind) {
    for (const eigen_rope::Index layer : model.layers[kind].layers)
      kinds[static_cast<std::size_t>(layer)] = static_cast<int>(kind);
  }
  return kinds;
}

std::string text_of_numbers(const std::vector<eigen_rope::Index>& numbers) {
  constexpr int most = 12;
  std::string text;
  int parts = 0;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (++parts > most) return text + ", ...";
    // Two neighbours are no shorter as a range.
    if (last == i + 1) last = i;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[i]);
    if (last > i) text += fmt::format(" to {}", numbers[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace eigen_rope::tool
