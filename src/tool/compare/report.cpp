// SPDX-License-Identifier: Apache-2.0
#include "tool/compare/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tool/inspect/layer_kinds.hpp"

namespace eigen_rope::tool {
namespace {

constexpr std::size_t name_width = 28;

std::string shortened(const std::string& text, std::size_t room) {
  return text.size() <= room ? text : text.substr(0, room - 3) + "...";
}

std::string table_of(const std::vector<Difference>& rows, const TextOptions& options,
                     const Painter& painter) {
  const std::size_t room =
      std::max<std::size_t>(12, (static_cast<std::size_t>(options.width) - name_width - 4) / 2);
  std::size_t column_a = 1, column_b = 1;
  for (const Difference& row : rows) {
    column_a = std::max(column_a, std::min(room, row.a.size()));
    column_b = std::max(column_b, std::min(room, row.b.size()));
  }
  std::string text =
      painter.bold(fmt::format("{:<{}}  {:<{}}  {}", "", name_width, "a", column_a, "b")) + "\n";
  std::string layer_type;
  for (const Difference& row : rows) {
    if (row.layer_type != layer_type) text += painter.bold(row.layer_type) + "\n";
    layer_type = row.layer_type;
    std::string line =
        fmt::format("{:<{}}  {:<{}}  {:<{}}", "  " + row.name, name_width, shortened(row.a, room),
                    column_a, shortened(row.b, room), column_b);
    if (!row.note.empty() &&
        columns_of(line) + 2 + columns_of(row.note) <= static_cast<std::size_t>(options.width))
      line += "  " + row.note;
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (!row.note.empty() && line.find(row.note) == std::string::npos)
      text += wrapped(row.note, options.width, std::string(name_width + 2, ' '));
  }
  return text;
}

/// The pair that is furthest apart, of all kinds of layers.
std::string text_of_worst(const Comparison& comparison) {
  const LayerComparison* worst = nullptr;
  for (const LayerComparison& layer : comparison.layers) {
    if (worst == nullptr || layer.worst.radians > worst->worst.radians) worst = &layer;
  }
  if (worst == nullptr) return "no layer of either rotates";
  if (worst->worst.radians == 0) return "all rates are equal";
  return fmt::format("angles are at most {:.2g} rad apart (pair {} at position {})",
                     worst->worst.radians, worst->worst.pair, worst->worst.position);
}

std::string text_of_verdict(const Comparison& comparison, const TextOptions& options,
                            const Painter& painter) {
  const std::string bound = fmt::format("a tolerance of {:.6g} rad", comparison.tolerance);
  if (!comparison.equal()) {
    return wrapped(painter.bold("different") + fmt::format(" with {}:", bound), options.width, "") +
           table_of(comparison.differences, options, painter);
  }
  return wrapped(
      painter.bold("equal") +
          fmt::format(" with {}: {}; magnitude, sections, sizes and rotated layers agree", bound,
                      text_of_worst(comparison)),
      options.width, "");
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

std::string rates_text(const LayerComparison& layer, const Painter& painter) {
  std::string text = painter.bold(fmt::format("{:>8}  {:<13}{:<13}{}", "pair", "rad/token a",
                                              "rad/token b", "b / a")) +
                     "\n";
  for (const std::size_t k : telling_pairs(layer)) {
    text += fmt::format("{:>8}  {:<13.6g}{:<13.6g}{:.6g}\n", k, rate(layer.a.pairs[k]),
                        rate(layer.b.pairs[k]), layer.ratios[k]);
  }
  return text;
}

std::string angles_text(const LayerComparison& layer, const Painter& painter) {
  std::string text =
      painter.bold(fmt::format("{:>10}  {:>5}  {:<11}{}", "position", "pair", "radians", "turns")) +
      "\n";
  for (const AngleDifference& angle : layer.angles) {
    text += fmt::format("{:>10}  {:>5}  {:<11.4g}{:.4g}\n", angle.position, angle.pair,
                        angle.radians, angle.turns());
  }
  return text;
}

std::string text_of_layer(const LayerComparison& layer, eigen_rope::Index length, int width,
                          const Painter& painter) {
  std::string text;
  if (!layer.layer_type.empty()) text += painter.bold(layer.layer_type) + "\n";
  if (!layer.layers.empty()) text += wrapped(text_of_numbers(layer.layers), width, "layers ");
  const std::size_t pairs_a = layer.a.pairs.size(), pairs_b = layer.b.pairs.size(),
                    compared = layer.rate_differences.size();
  if (pairs_a != pairs_b)
    text += fmt::format("a has {} pairs, b has {}: the first {} are compared\n", pairs_a, pairs_b,
                        compared);
  const auto m_a = static_cast<double>(layer.a.attention_factor),
             m_b = static_cast<double>(layer.b.attention_factor);
  if (m_a != m_b)
    text += fmt::format("m differs by {:.6g}: b's q.k are {:.6g} times a's\n", m_b - m_a,
                        m_b * m_b / (m_a * m_a));
  if (layer.angles.empty() || layer.angles.back().radians == 0)
    return text + fmt::format("the rates of {} pairs are equal\n", compared);
  // Nobody reads tables of rounding.
  constexpr double nothing = 1e-9;
  if (layer.angles.back().radians < nothing) {
    return text +
           fmt::format(
               "the angles of {} pairs are at most {:.2g} rad apart (pair {} at position {})\n",
               compared, layer.angles.back().radians, layer.widest, layer.angles.back().position);
  }
  text += rates_text(layer, painter) + "\n" + angles_text(layer, painter);
  if (layer.first_apart) {
    return text + fmt::format("angles are more than {} rad apart from position {} on (pair {})\n",
                              apart_radians, *layer.first_apart, layer.widest);
  }
  return text + fmt::format("no angle is more than {} rad apart within {} tokens\n", apart_radians,
                            length);
}

Json json_of(const LayerComparison& layer) {
  const auto m_a = static_cast<double>(layer.a.attention_factor),
             m_b = static_cast<double>(layer.b.attention_factor);
  Json result{{"layer_type", layer.layer_type},
              {"layers", layer.layers},
              {"worst",
               {{"length", layer.worst_length},
                {"position", layer.worst.position},
                {"pair", layer.worst.pair},
                {"radians", layer.worst.radians}}},
              {"pairs",
               {{"a", layer.a.pairs.size()},
                {"b", layer.b.pairs.size()},
                {"compared", layer.rate_differences.size()}}},
              {"attention_factor", {{"a", m_a}, {"b", m_b}}},
              {"widest_pair", layer.widest},
              {"first_apart", layer.first_apart ? Json(*layer.first_apart) : Json()},
              {"apart_radians", apart_radians}};
  Json rates_a = Json::array(), rates_b = Json::array(), angles = Json::array();
  for (const PairInspection& pair : layer.a.pairs) rates_a.push_back(rate(pair));
  for (const PairInspection& pair : layer.b.pairs) rates_b.push_back(rate(pair));
  for (const AngleDifference& angle : layer.angles) {
    angles.push_back({{"position", angle.position},
                      {"pair", angle.pair},
                      {"radians", angle.radians},
                      {"turns", angle.turns()}});
  }
  result["rates"] = {{"a", std::move(rates_a)}, {"b", std::move(rates_b)}};
  result["ratios"] = layer.ratios;
  result["angle_differences"] = std::move(angles);
  return result;
}

Json json_of(const std::vector<Difference>& rows) {
  Json result = Json::array();
  for (const Difference& one : rows) {
    result.push_back({{"layer_type", one.layer_type},
                      {"name", one.name},
                      {"a", one.a},
                      {"b", one.b},
                      {"note", one.note}});
  }
  return result;
}

}  // namespace

std::string text_of(const Comparison& comparison, const TextOptions& options) {
  const Painter painter(options.colour);
  std::string text = wrapped(comparison.name_a, options.width, "a  ") +
                     wrapped(comparison.name_b, options.width, "b  ");
  text += fmt::format("at {} tokens\n\n", comparison.length);
  if (comparison.equal() && comparison.remarks.empty()) {
    text += "nothing differs\n";
  } else {
    text += text_of_verdict(comparison, options, painter);
    if (!comparison.remarks.empty()) {
      text += "\nremarks, which do not decide:\n" + table_of(comparison.remarks, options, painter);
    }
    for (const LayerComparison& layer : comparison.layers)
      text += "\n" + text_of_layer(layer, comparison.length, options.width, painter);
  }
  if (!comparison.notes.empty()) text += "\n" + painter.bold("Notes") + "\n";
  for (const std::string& note : comparison.notes) text += wrapped(note, options.width, "  ");
  if (!comparison.warnings.empty()) text += "\n" + painter.bold(painter.yellow("Warnings")) + "\n";
  for (const std::string& warning : comparison.warnings)
    text += wrapped(warning, options.width, "! ");
  return text;
}

Json json_of(const Comparison& comparison) {
  Json layers = Json::array();
  for (const LayerComparison& layer : comparison.layers) layers.push_back(json_of(layer));
  return {{"equal", comparison.equal()},
          {"tolerance", comparison.tolerance},
          {"a", comparison.name_a},
          {"b", comparison.name_b},
          {"length", comparison.length},
          {"differences", json_of(comparison.differences)},
          {"remarks", json_of(comparison.remarks)},
          {"layers", std::move(layers)},
          {"notes", comparison.notes},
          {"warnings", comparison.warnings}};
}

}  // namespace eigen_rope::tool
