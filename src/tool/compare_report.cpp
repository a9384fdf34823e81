// SPDX-License-Identifier: Apache-2.0
#include "compare_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace rope::tool {
namespace {

constexpr std::size_t name_width = 28;

std::string shortened(const std::string& text, std::size_t room) { return text.size() <= room ? text : text.substr(0, room - 3) + "..."; }

std::string table_of(const Comparison& comparison, const TextOptions& options, const Painter& painter) {
  const std::size_t room = std::max<std::size_t>(12, (static_cast<std::size_t>(options.width) - name_width - 4) / 2);
  std::size_t column = 1;
  for (const Difference& difference : comparison.differences) column = std::max(column, std::min(room, difference.a.size()));
  std::string text = painter.bold(fmt::format("{:<{}}  {:<{}}  {}", "", name_width, "a", column, "b")) + "\n";
  std::string layer_type;
  for (const Difference& difference : comparison.differences) {
    if (difference.layer_type != layer_type) text += painter.bold(difference.layer_type) + "\n";
    layer_type = difference.layer_type;
    text += fmt::format("{:<{}}  {:<{}}  {}\n", "  " + difference.name, name_width, shortened(difference.a, room), column,
                        shortened(difference.b, room));
  }
  return text;
}

double rate(const PairInspection& pair) { return static_cast<double>(pair.rate); }

/// Both ends, the pair that differs most, and a dozen between them.
std::set<std::size_t> telling_pairs(const LayerComparison& layer) {
  const std::size_t count = layer.rate_differences.size();
  std::set<std::size_t> shown{0, count - 1, static_cast<std::size_t>(layer.widest)};
  const std::size_t step = std::max<std::size_t>(1, count / 12);
  for (std::size_t k = 0; k < count; k += step) shown.insert(k);
  return shown;
}

std::string rates_of(const LayerComparison& layer, const Painter& painter) {
  std::string text = painter.bold(fmt::format("{:>8}  {:<13}{:<13}{}", "pair", "rad/token a", "rad/token b", "b / a")) + "\n";
  for (const std::size_t k : telling_pairs(layer)) {
    text += fmt::format("{:>8}  {:<13.6g}{:<13.6g}{:.6g}\n", k, rate(layer.a.pairs[k]), rate(layer.b.pairs[k]), layer.ratios[k]);
  }
  return text;
}

std::string angles_of(const LayerComparison& layer, const Painter& painter) {
  std::string text = painter.bold(fmt::format("{:>10}  {:>5}  {:<11}{}", "position", "pair", "radians", "turns")) + "\n";
  for (const AngleDifference& angle : layer.angles) {
    text += fmt::format("{:>10}  {:>5}  {:<11.4g}{:.4g}\n", angle.position, angle.pair, angle.radians, angle.turns());
  }
  return text;
}

std::string text_of_layer(const LayerComparison& layer, rope::Index length, const Painter& painter) {
  std::string text;
  if (!layer.layer_type.empty()) text += painter.bold(layer.layer_type) + "\n";
  const std::size_t pairs_a = layer.a.pairs.size(), pairs_b = layer.b.pairs.size(), compared = layer.rate_differences.size();
  if (pairs_a != pairs_b) text += fmt::format("a has {} pairs, b has {}: the first {} are compared\n", pairs_a, pairs_b, compared);
  const auto m_a = static_cast<double>(layer.a.attention_factor), m_b = static_cast<double>(layer.b.attention_factor);
  if (m_a != m_b) text += fmt::format("m differs by {:.6g}: b's q.k are {:.6g} times a's\n", m_b - m_a, m_b * m_b / (m_a * m_a));
  if (layer.angles.empty() || layer.angles.back().radians == 0) return text + fmt::format("the rates of {} pairs are equal\n", compared);
  text += rates_of(layer, painter) + "\n" + angles_of(layer, painter);
  if (layer.first_apart) {
    return text + fmt::format("angles are more than {} rad apart from position {} on (pair {})\n", apart_radians, *layer.first_apart,
                              layer.widest);
  }
  return text + fmt::format("no angle is more than {} rad apart within {} tokens\n", apart_radians, length);
}

Json json_of(const LayerComparison& layer) {
  const auto m_a = static_cast<double>(layer.a.attention_factor), m_b = static_cast<double>(layer.b.attention_factor);
  Json result{{"layer_type", layer.layer_type},
              {"pairs", {{"a", layer.a.pairs.size()}, {"b", layer.b.pairs.size()}, {"compared", layer.rate_differences.size()}}},
              {"attention_factor", {{"a", m_a}, {"b", m_b}}},
              {"widest_pair", layer.widest},
              {"first_apart", layer.first_apart ? Json(*layer.first_apart) : Json()},
              {"apart_radians", apart_radians}};
  Json rates_a = Json::array(), rates_b = Json::array(), angles = Json::array();
  for (const PairInspection& pair : layer.a.pairs) rates_a.push_back(rate(pair));
  for (const PairInspection& pair : layer.b.pairs) rates_b.push_back(rate(pair));
  for (const AngleDifference& angle : layer.angles) {
    angles.push_back({{"position", angle.position}, {"pair", angle.pair}, {"radians", angle.radians}, {"turns", angle.turns()}});
  }
  result["rates"] = {{"a", std::move(rates_a)}, {"b", std::move(rates_b)}};
  result["ratios"] = layer.ratios;
  result["angle_differences"] = std::move(angles);
  return result;
}

}  // namespace

std::string text_of(const Comparison& comparison, const TextOptions& options) {
  const Painter painter(options.colour);
  std::string text = fmt::format("a  {}\nb  {}\nat {} tokens\n\n", comparison.name_a, comparison.name_b, comparison.length);
  if (comparison.equal()) {
    text += "nothing differs\n";
  } else {
    text += table_of(comparison, options, painter);
    for (const LayerComparison& layer : comparison.layers) text += "\n" + text_of_layer(layer, comparison.length, painter);
  }
  if (!comparison.warnings.empty()) text += "\n" + painter.bold(painter.yellow("Warnings")) + "\n";
  for (const std::string& warning : comparison.warnings) text += wrapped(warning, options.width, "! ");
  return text;
}

Json json_of(const Comparison& comparison) {
  Json differences = Json::array(), layers = Json::array();
  for (const Difference& one : comparison.differences) {
    differences.push_back({{"layer_type", one.layer_type}, {"name", one.name}, {"a", one.a}, {"b", one.b}});
  }
  for (const LayerComparison& layer : comparison.layers) layers.push_back(json_of(layer));
  return {{"equal", comparison.equal()},
          {"a", comparison.name_a},
          {"b", comparison.name_b},
          {"length", comparison.length},
          {"differences", std::move(differences)},
          {"layers", std::move(layers)},
          {"warnings", comparison.warnings}};
}

}  // namespace rope::tool
