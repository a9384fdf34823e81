// SPDX-License-Identifier: Apache-2.0
//
// What a reader let pass goes through `eigen-rope inspect`, which must neither fail nor hang on it.
#pragma once

#include "promise.hpp"
#include "tool/inspect/inspect.hpp"
#include "tool/inspect/report.hpp"

namespace eigen_rope::fuzz {

inline void require_report(const std::string& text, const tool::Json& json) {
  require(!text.empty(), "there is a report");
  const auto unwanted = [](char c) { return c != '\n' && is_control(c); };
  require(std::none_of(text.begin(), text.end(), unwanted),
          "a report has no control characters but line ends");
  const std::string written = json.dump();
  require(tool::Json::parse(written).dump() == written,
          "the report is JSON that reads back as it was written");
}

/// Time grows with the pairs; a hang is found with few.
inline bool is_small(const models::ModelRope& model) {
  return std::all_of(model.layers.begin(), model.layers.end(), [](const models::LayerRope& layer) {
    return layer.powers.rotary_dims <= 1024;
  });
}

inline void inspect_and_print(const models::ModelRope& model) {
  if (!is_small(model)) return;
  std::optional<tool::Inspection> inspection;
  if (attempt([&] { inspection = tool::inspect(model, {}); }) == Outcome::refused) return;
  require(inspection->length > 0, "a length is positive");
  for (const tool::LayerInspection& layer : inspection->layers) {
    require(layer.pairs.size() == static_cast<std::size_t>(layer.layer.powers.rotary_dims / 2),
            "every pair is inspected");
    for (const std::size_t pair : tool::shown_pairs(layer))
      require(pair < layer.pairs.size(), "pairs that are shown exist");
  }
  require_report(tool::text_of(*inspection, tool::Rows::shortened, {}), tool::json_of(*inspection));
}

}  // namespace eigen_rope::fuzz
