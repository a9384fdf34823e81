// SPDX-License-Identifier: Apache-2.0
#include "tool/inspect/plot.hpp"

#include <fmt/core.h>

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

double turning_once_in(double length) { return eigen_rope::detail::two_pi.high / length; }

/// Tics at powers of ten of an axis of log10 values.
std::string decades(double length) {
  std::string text;
  for (int power = 0; power <= static_cast<int>(std::log10(length) + 1e-9); ++power) {
    text += fmt::format("{}\"10^{{{}}}\" {}", power == 0 ? "" : ", ", power, power);
  }
  return text;
}

std::string title_of(const Inspection& inspection, const LayerInspection& layer) {
  std::string rest = layer.layer.layer_type.empty() ? "" : ", " + layer.layer.layer_type;
  rest += fmt::format(": {}, {} pairs, base {:.6g}, m = {:.6g}", type_name_of(layer.layer.scaling),
                      layer.pairs.size(), layer.layer.powers.base,
                      static_cast<double>(layer.attention_factor));
  return short_name(inspection.model.architecture,
                    title_length - std::min(title_length, rest.size())) +
         rest;
}

class InspectionRow {
 public:
  InspectionRow(const Inspection& inspection, std::size_t number)
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
    text +=
        row.panel(rates_left, rates_right, "rate of each pair") + rates_panel() + "unset label\n";
    text += row.panel(0.395, 0.63, same_ ? "cos of the angle" : "cos of the angle, after scaling") +
            map_panel();
    text += row.panel(0.755, 0.985, "q.k of equal vectors by distance") + decay_panel();
    return text;
  }

 private:
  /// What the panel of rates draws, on such an axis.
  PanelRoom room_of_rates(const AxisRange& range, double place_of_stopped) const {
    PanelRoom room(rates_left, rates_right);
    for (const std::vector<double>* rates : {&before_, &after_}) {
      std::vector<PanelPoint> points;
      bool stopped = false;
      for (std::size_t k = 0; k < rates->size(); ++k) {
        const double rate = std::fabs((*rates)[k]);
        if (stopped != (rate == 0)) {
          room.curve(points);
          points.clear();
        }
        stopped = rate == 0;
        points.push_back({static_cast<double>(k + 1) / static_cast<double>(rates->size() + 1),
                          range.share(stopped ? place_of_stopped : rate)});
      }
      room.curve(points);
    }
    return room;
  }

  std::string rates_panel() const {
    std::vector<double> marks{length_};
    const eigen_rope::Index original = original_context(layer_.layer.scaling).value_or(0);
    if (original > 0 && original != all_.length) marks.push_back(static_cast<double>(original));
    double least = turning_once_in(length_), most = least;
    const auto include = [&](double rate) {
      if (rate == 0) return;
      least = std::min(least, rate);
      most = std::max(most, rate);
    };
    for (const double mark : marks) include(turning_once_in(mark));
    std::size_t stopped = 0, first_stopped = 0;
    for (std::size_t k = 0; k < after_.size(); ++k) {
      include(std::fabs(before_[k]));
      include(std::fabs(after_[k]));
      if (after_[k] == 0 && stopped++ == 0) first_stopped = k;
    }
    std::vector<std::string> key{same_ ? "rate" : "before"};
    if (!same_) key.emplace_back("after scaling");
    if (stopped > 0)
      key.push_back(text_of_pairs(static_cast<eigen_rope::Index>(first_stopped),
                                  static_cast<eigen_rope::Index>(first_stopped + stopped - 1)) +
                    " stopped");
    // What is stopped has no place on a logarithmic axis and is drawn below all others.
    const double place_of_stopped = least / 2.5;
    if (stopped > 0) least /= 4;
    const AxisRange range = range_below_key(least, most, key, [&](const AxisRange& axis) {
      return room_of_rates(axis, place_of_stopped);
    });
    std::string text = fmt::format(
        "set xlabel 'pair'\nset ylabel 'rad per token' offset 0.5,0\nset logscale y\nset format y "
        "'10^{{%T}}'\nset xrange [-1:{}]\n"
        "set yrange [{:.6g}:{:.6g}]\nset ytics auto\nset key top right opaque "
        "samplen 1.5 spacing 1.1 reverse Left\n",
        after_.size(), range.first, range.last);
    text += pair_tics('x', after_.size());
    PanelRoom room = room_of_rates(range, place_of_stopped);
    for (const double mark : marks) room.level(range.share(turning_once_in(mark)));
    room.words(room.key(key, KeySide::right));
    for (std::size_t i = 0; i < marks.size(); ++i) {
      const double rate = turning_once_in(marks[i]);
      text += room.label(static_cast<int>(i) + 2, fmt::format("1 turn in {:.10g} tokens", marks[i]),
                         range.share(rate), rate);
    }
    text += fmt::format("plot $rates{} using 1:2 with lines lc rgb '{}' lw 2.5 title '{}'", number_,
                        panel_blue, key.front());
    if (!same_)
      text += fmt::format(
          ", $rates{} using 1:($3 > 0 ? $3 : 1/0) with points pt 7 ps 0.5 lc rgb '{}' title 'after "
          "scaling'",
          number_, panel_orange);
    if (stopped > 0) {
      text += fmt::format(
          ", $rates{} using 1:($3 == 0 ? {:.6g} : 1/0) with points pt 9 ps 0.5 lc rgb '{}' title "
          "'{}'",
          number_, place_of_stopped, panel_orange, key.back());
    }
    for (const double mark : marks)
      text += fmt::format(", {:.9g} with lines lc rgb '{}' dt '-' lw 1.2 notitle",
                          turning_once_in(mark), panel_grey);
    return text + "\nunset logscale y\nset format y '%g'\n";
  }

  std::string map_panel() const {
    const double width = std::log10(length_);
    std::string text = fmt::format(
        "set xlabel 'position, tokens'\nset ylabel 'pair' offset -0.8,0\nunset key\nset xrange "
        "[0:{0:.6f}]\nset yrange [{1}:-0.5]\n"
        "set xtics ({2})\n{5}set cbrange [-1:1]\nset cbtics 1\nset colorbox user origin screen "
        "0.64, "
        "graph 0 size screen 0.009, graph 1\n"
        "set palette defined (-1 '{3}', 0 '#f7f7f7', 1 '{4}')\n",
        width, static_cast<double>(after_.size()) - 0.5, decades(length_), panel_orange, panel_blue,
        pair_tics('y', after_.size()));
    text += fmt::format("plot $map{} matrix using (({} + 0.5) * {:.9g}):2:3 with image\n", number_,
                        "$1", width / cells);
    return text;
  }

  std::string decay_panel() const {
    // Nothing exceeds 1: the key stands above.
    const double room = key_height(same_ ? 1 : 2);
    std::string text = fmt::format(
        "set xlabel 'distance, tokens'\nset ylabel 'over its value at 0' offset 1.5,0\nset "
        "logscale x\nset xrange [1:{:.9g}]\n"
        "set format x '10^{{%T}}'\nset xtics auto\nset yrange [*<-0.25:{:.3f}]\nset ytics "
        "-1,0.25,1\nset key top right samplen 1.5 spacing 1.1\n",
        length_, 1 + 1.25 * room / (1 - room));
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
  std::vector<InspectionRow> rows;
  rows.reserve(inspection.layers.size());
  for (std::size_t number = 0; number < inspection.layers.size(); ++number)
    rows.emplace_back(inspection, number);
  for (const InspectionRow& row : rows) data += row.data();
  draw_panels(path, rows.size(), data,
              [&](std::size_t number, const PanelRow& row) { return rows[number].script(row); });
}

}  // namespace eigen_rope::tool
