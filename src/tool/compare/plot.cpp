// SPDX-License-Identifier: Apache-2.0
#include "tool/compare/plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tool/inspect/scaling_fields.hpp"
#include "tool/io/gnuplot.hpp"
#include "tool/io/panels.hpp"

namespace eigen_rope::tool {
namespace {

constexpr double pi = 3.14159265358979323846;
// Where the panel of angles stands in the picture's width.
constexpr double angles_left = 0.745, angles_right = 0.985;

std::string title_of(const Comparison& comparison, const LayerComparison& layer) {
  const std::string between = "  and  ";
  const std::string type = layer.layer_type.empty() ? "" : ", " + layer.layer_type;
  const std::size_t rest = std::min(title_length, between.size() + type.size());
  const std::size_t longest = (title_length - rest) / 2;
  return short_name(comparison.name_a, longest) + between + short_name(comparison.name_b, longest) +
         type;
}

class ComparisonRow {
 public:
  ComparisonRow(const Comparison& comparison, std::size_t number)
      : all_(comparison), layer_(comparison.layers[number]), number_(number) {}

  std::string data() const {
    std::string rates;
    const auto rate_or_gap = [](const LayerInspection& layer, std::size_t k) {
      const double rate =
          k < layer.pairs.size() ? std::fabs(static_cast<double>(layer.pairs[k].rate)) : 0;
      return rate > 0 ? fmt::format("{:.9g}", rate) : std::string("NaN");
    };
    for (std::size_t k = 0; k < std::max(layer_.a.pairs.size(), layer_.b.pairs.size()); ++k) {
      const double ratio = k < layer_.ratios.size() ? layer_.ratios[k] : NAN;
      rates += fmt::format("{} {} {} {}\n", k, rate_or_gap(layer_.a, k), rate_or_gap(layer_.b, k),
                           std::isfinite(ratio) ? fmt::format("{:.9g}", ratio) : "NaN");
    }
    return fmt::format("$rates{} << EOD\n{}EOD\n", number_, rates);
  }

  std::string script(const PanelRow& row) const {
    std::string text = row.title(title_of(all_, layer_));
    text += row.panel(rates_left, rates_right, "rate of each pair") + axis_of_pairs() +
            rates_panel() + "unset label\n";
    text += row.panel(0.41, 0.655, "rate of b over rate of a") + axis_of_pairs() + ratio_range() +
            fmt::format(
                "set ylabel 'ratio' offset -0.5,0\nunset key\nplot 1 with lines lc rgb '{1}' lw 1, "
                "$rates{0} using 1:4 with linespoints pt 7 ps "
                "0.4 lw 1.5 lc rgb '{2}'\n",
                number_, panel_grey, panel_blue);
    text += row.panel(angles_left, angles_right, "how far apart the angles are") + angle_panel();
    return text;
  }

 private:
  std::size_t pairs() const { return std::max(layer_.a.pairs.size(), layer_.b.pairs.size()); }

  std::string axis_of_pairs() const {
    return fmt::format("set xlabel 'pair'\nset xrange [-1:{}]\nset ytics auto\n", pairs()) +
           pair_tics('x', pairs());
  }

  /// What the panel of rates draws, on such an axis.
  PanelRoom room_of_rates(const AxisRange& range) const {
    PanelRoom room(rates_left, rates_right);
    for (const LayerInspection* layer : {&layer_.a, &layer_.b}) {
      std::vector<PanelPoint> points;
      for (std::size_t k = 0; k < layer->pairs.size(); ++k) {
        const double rate = std::fabs(static_cast<double>(layer->pairs[k].rate));
        if (rate > 0)
          points.push_back(
              {static_cast<double>(k + 1) / static_cast<double>(pairs() + 1), range.share(rate)});
      }
      room.curve(points);
    }
    return room;
  }

  std::string rates_panel() const {
    double least = 1, most = 1e-300;
    for (const LayerInspection* layer : {&layer_.a, &layer_.b}) {
      for (const PairInspection& pair : layer->pairs) {
        const double rate = std::fabs(static_cast<double>(pair.rate));
        if (rate == 0) continue;
        least = std::min(least, rate);
        most = std::max(most, rate);
      }
    }
    most = std::max(least, most);
    const AxisRange range = range_below_key(
        least, most, {"a", "b"}, [&](const AxisRange& axis) { return room_of_rates(axis); });
    return fmt::format(
        "set ylabel 'rad per token' offset 0.5,0\nset logscale y\nset format y '10^{{%T}}'\n"
        "set yrange [{3:.6g}:{4:.6g}]\nset key top right samplen 1.5 spacing 1.1\n"
        "plot $rates{0} using 1:2 with lines lc rgb '{1}' lw 2.5 title 'a', $rates{0} "
        "using 1:3 with points pt 7 ps 0.5 lc rgb '{2}' title 'b'\n"
        "unset logscale y\nset format y '%g'\n",
        number_, panel_blue, panel_orange, range.first, range.last);
  }

  /// Where everything is equal gnuplot would complain of an empty range.
  std::string ratio_range() const {
    double least = 1, most = 1;
    for (const double ratio : layer_.ratios) {
      if (!std::isfinite(ratio)) continue;
      least = std::min(least, ratio);
      most = std::max(most, ratio);
    }
    const double margin = most > least ? 0.05 * (most - least) : 0.1;
    return fmt::format("set yrange [{:.9g}:{:.9g}]\n", least - margin, most + margin);
  }

  std::string angle_panel() const {
    std::vector<double> differences;
    differences.reserve(layer_.rate_differences.size());
    for (const DoubleDouble& one : layer_.rate_differences)
      differences.push_back(static_cast<double>(one));
    std::sort(differences.begin(), differences.end());
    const double widest = differences.back(), median = differences[differences.size() / 2];
    const double last = static_cast<double>(std::max<eigen_rope::Index>(2, all_.length)) - 1;
    if (widest == 0) {
      return "set label 1 'the rates are equal' at graph 0.5, graph 0.5 center\nset xrange "
             "[0:1]\nset yrange [0:1]\nunset xtics\nunset "
             "ytics\n"
             "unset xlabel\nunset ylabel\nunset key\nplot -1\nunset label 1\n";
    }
    const double end = std::max(2.0, last);
    const AxisRange range = AxisRange::logarithmic(std::min(0.04, median > 0 ? median : widest),
                                                   std::max(pi, widest * end), key_height(2));
    std::string text = fmt::format(
        "set xlabel 'position, tokens'\nset ylabel 'radians' offset 0.5,0\nset logscale xy\nset "
        "format xy '10^{{%T}}'\nset xrange [1:{:.9g}]\nset yrange [{:.6g}:{:.6g}]\n"
        "set xtics auto\nset ytics auto\nset key top left samplen 1.5 spacing 1.1 reverse Left\n",
        end, range.first, range.last);
    const std::string widest_words = fmt::format("pair {}, the widest", layer_.widest);
    const std::pair<double, std::string> marks[] = {
        {apart_radians, fmt::format("{} rad", apart_radians)}, {pi, "half a turn"}};
    PanelRoom room(angles_left, angles_right);
    for (const double rate : {widest, median})
      if (rate > 0) room.curve({{0, range.share(rate)}, {1, range.share(rate * end)}});
    for (const auto& [height, name] : marks) room.level(range.share(height));
    room.words(room.key({widest_words, "median pair"}, KeySide::left));
    int label = 2;
    for (const auto& [height, name] : marks)
      text += room.label(label++, name, range.share(height), height);
    text += fmt::format("plot {:.9g} * x with lines lc rgb '{}' lw 2 title '{}'", widest,
                        panel_orange, widest_words);
    if (median > 0)
      text += fmt::format(", {:.9g} * x with lines lc rgb '{}' lw 2 title 'median pair'", median,
                          panel_blue);
    for (const auto& [height, name] : marks)
      text +=
          fmt::format(", {:.9g} with lines lc rgb '{}' dt '-' lw 1.2 notitle", height, panel_grey);
    return text + "\nunset logscale xy\nset format xy '%g'\nunset label\n";
  }

  const Comparison& all_;
  const LayerComparison& layer_;
  std::size_t number_;
};

}  // namespace

void draw(const Comparison& comparison, const std::filesystem::path& path) {
  std::string data;
  std::vector<ComparisonRow> rows;
  rows.reserve(comparison.layers.size());
  for (std::size_t number = 0; number < comparison.layers.size(); ++number)
    rows.emplace_back(comparison, number);
  for (const ComparisonRow& row : rows) data += row.data();
  draw_panels(path, rows.size(), data,
              [&](std::size_t number, const PanelRow& row) { return rows[number].script(row); });
}

}  // namespace eigen_rope::tool
