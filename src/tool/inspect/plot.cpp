// SPDX-License-Identifier: Apache-2.0
#include "tool/inspect/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tool/inspect/remarks.hpp"
#include "tool/inspect/scaling_fields.hpp"
#include "tool/io/panels.hpp"

namespace eigen_rope::tool {
namespace {

constexpr int cells = 320;  // positions in a row of the heat map

/// Both ends of cell c of a logarithmic axis from 1 to `length`.
std::pair<double, double> cell_ends(int c, double length) {
  const double step = std::log(length) / cells;
  return {std::exp(step * c), std::exp(step * (c + 1))};
}

/// Mean over pairs of the mean cosine of a cell.
double attention(const std::vector<double>& rates, double first, double last) {
  double sum = 0;
  for (const double rate : rates) sum += mean_cosine(rate, first, last);
  return sum / static_cast<double>(rates.size());
}

/// Tics at powers of ten of an axis of log10 values.
std::string decades(double length) {
  std::string text;
  for (int power = 0; power <= static_cast<int>(std::log10(length) + 1e-9); ++power) {
    text += fmt::format("{}\"10^{{{}}}\" {}", power == 0 ? "" : ", ", power, power);
  }
  return text;
}

std::string title_of(const Inspection& inspection, const LayerInspection& layer) {
  std::string text = inspection.model.architecture;
  if (!layer.layer.layer_type.empty()) text += ", " + layer.layer.layer_type;
  return text + fmt::format(": {}, {} pairs, base {:.6g}, m = {:.6g}",
                            type_name_of(layer.layer.scaling), layer.pairs.size(),
                            layer.layer.powers.base, static_cast<double>(layer.attention_factor));
}

class Row {
 public:
  Row(const Inspection& inspection, std::size_t number)
      : all_(inspection),
        layer_(inspection.layers[number]),
        number_(number),
        length_(static_cast<double>(std::max<eigen_rope::Index>(2, inspection.length))) {
    for (const PairInspection& pair : layer_.pairs) {
      before_.push_back(static_cast<double>(pair.unscaled));
      after_.push_back(pair.treatment == Treatment::stopped ? 0 : static_cast<double>(pair.rate));
    }
    same_ = before_ == after_;
  }

  std::string data() const {
    std::string rates, map, decay;
    for (std::size_t k = 0; k < after_.size(); ++k) {
      rates += fmt::format("{} {:.9g} {:.9g}\n", k, std::fabs(before_[k]), std::fabs(after_[k]));
      for (int c = 0; c < cells; ++c) {
        const auto [first, last] = cell_ends(c, length_);
        map += fmt::format("{:.3f}{}", mean_cosine(after_[k], first, last),
                           c + 1 < cells ? " " : "\n");
      }
    }
    for (int c = 0; c < cells; ++c) {
      const auto [first, last] = cell_ends(c, length_);
      decay += fmt::format("{:.6g} {:.5f} {:.5f}\n", std::sqrt(first * last),
                           attention(before_, first, last), attention(after_, first, last));
    }
    return fmt::format(
        "$rates{0} << EOD\n{1}EOD\n$map{0} << EOD\n{2}EOD\n$decay{0} << EOD\n{3}EOD\n", number_,
        rates, map, decay);
  }

  std::string script(const PanelRow& row) const {
    std::string text = row.title(title_of(all_, layer_));
    text += row.panel(0.075, 0.325, "rate of each pair") + rates_panel() + "unset label\n";
    text += row.panel(0.395, 0.63, same_ ? "cos of the angle" : "cos of the angle, after scaling") +
            map_panel();
    text += row.panel(0.755, 0.985, "q.k of equal vectors by distance") + decay_panel();
    return text;
  }

 private:
  std::string rates_panel() const {
    double least = eigen_rope::detail::two_pi.high / length_, most = 1e-300;
    std::size_t stopped = 0, first_stopped = 0;
    for (std::size_t k = 0; k < after_.size(); ++k) {
      for (const double rate : {std::fabs(before_[k]), std::fabs(after_[k])}) {
        if (rate == 0) continue;
        least = std::min(least, rate);
        most = std::max(most, rate);
      }
      if (after_[k] == 0 && stopped++ == 0) first_stopped = k;
    }
    std::string text = fmt::format(
        "set xlabel 'pair'\nset ylabel 'rad per token' offset 1,0\nset logscale y\nset format y "
        "'10^{{%T}}'\nset xrange [-1:{}]\n"
        "set yrange [{:.6g}:{:.6g}]\nset xtics auto\nset ytics auto\nset key top right opaque "
        "samplen 1.5 spacing 1.1 reverse Left\n",
        after_.size(), least / 4, most * 2);
    std::vector<double> marks{length_};
    const eigen_rope::Index original = original_context(layer_.layer.scaling).value_or(0);
    if (original > 0 && original != all_.length) marks.push_back(static_cast<double>(original));
    for (std::size_t i = 0; i < marks.size(); ++i) {
      text += fmt::format(
          "set label {} '1 turn in {:.10g} tokens' at graph 0.02, first {:.9g} offset 0,0.5 tc rgb "
          "'{}' font ',9'\n",
          i + 2, marks[i], eigen_rope::detail::two_pi.high / marks[i], panel_grey);
    }
    text += fmt::format("plot $rates{} using 1:2 with lines lc rgb '{}' lw 2.5 title '{}'", number_,
                        panel_blue, same_ ? "rate" : "before");
    if (!same_)
      text += fmt::format(
          ", $rates{} using 1:($3 > 0 ? $3 : 1/0) with points pt 7 ps 0.5 lc rgb '{}' title 'after "
          "scaling'",
          number_, panel_orange);
    if (stopped > 0) {
      text += fmt::format(
          ", $rates{} using 1:($3 == 0 ? {:.6g} : 1/0) with points pt 9 ps 0.5 lc rgb '{}' title "
          "'{} stopped'",
          number_, least / 2.5, panel_orange,
          text_of_pairs(static_cast<eigen_rope::Index>(first_stopped),
                        static_cast<eigen_rope::Index>(first_stopped + stopped - 1)));
    }
    for (const double mark : marks)
      text += fmt::format(", {:.9g} with lines lc rgb '{}' dt '-' lw 1.2 notitle",
                          eigen_rope::detail::two_pi.high / mark, panel_grey);
    return text + "\nunset logscale y\nset format y '%g'\n";
  }

  std::string map_panel() const {
    const double width = std::log10(length_);
    std::string text = fmt::format(
        "set xlabel 'position, tokens'\nset ylabel 'pair' offset -0.8,0\nunset key\nset xrange "
        "[0:{0:.6f}]\nset yrange [{1}:-0.5]\n"
        "set xtics ({2})\nset cbrange [-1:1]\nset cbtics 1\nset colorbox user origin screen 0.64, "
        "graph 0 size screen 0.009, graph 1\n"
        "set palette defined (-1 '{3}', 0 '#f7f7f7', 1 '{4}')\n",
        width, static_cast<double>(after_.size()) - 0.5, decades(length_), panel_orange,
        panel_blue);
    text += fmt::format("plot $map{} matrix using (({} + 0.5) * {:.9g}):2:3 with image\n", number_,
                        "$1", width / cells);
    return text;
  }

  std::string decay_panel() const {
    std::string text = fmt::format(
        "set xlabel 'distance, tokens'\nset ylabel 'over its value at 0' offset 1.5,0\nset "
        "logscale x\nset xrange [1:{:.9g}]\n"
        "set format x '10^{{%T}}'\nset xtics auto\nset yrange [*<-0.25:1.02]\nset ytics 0.25\nset "
        "key top right samplen 1.5 spacing 1.1\n",
        length_);
    text += fmt::format(
        "plot 0 with lines lc rgb '{}' lw 1 notitle, $decay{} using 1:2 with lines lc rgb '{}' lw "
        "2 title '{}'",
        panel_grey, number_, panel_blue, same_ ? "all pairs" : "before");
    if (!same_)
      text += fmt::format(", $decay{} using 1:3 with lines lc rgb '{}' lw 2 title 'after scaling'",
                          number_, panel_orange);
    return text + "\nunset logscale x\nset format x '%g'\n";
  }

  const Inspection& all_;
  const LayerInspection& layer_;
  std::size_t number_;
  double length_;
  std::vector<double> before_{}, after_{};
  bool same_ = false;
};

}  // namespace

double mean_cosine(double rate, double first, double last) {
  // sin a - sin b, without cancelling.
  const double half = 0.5 * rate * (last - first);
  const double middle = std::cos(0.5 * rate * (first + last));
  return std::fabs(half) < 1e-8 ? middle : middle * std::sin(half) / half;
}

void draw(const Inspection& inspection, const std::filesystem::path& path) {
  std::string data;
  std::vector<Row> rows;
  rows.reserve(inspection.layers.size());
  for (std::size_t number = 0; number < inspection.layers.size(); ++number)
    rows.emplace_back(inspection, number);
  for (const Row& row : rows) data += row.data();
  draw_panels(path, rows.size(), data,
              [&](std::size_t number, const PanelRow& row) { return rows[number].script(row); });
}

}  // namespace eigen_rope::tool
