// SPDX-License-Identifier: Apache-2.0
#include "tool/io/panels.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tool/io/file_error.hpp"
#include "tool/io/gnuplot.hpp"

namespace eigen_rope::tool {
namespace {

constexpr int picture_width = 1200, row_height = 430;
// Parts of a row's height that are below and above its panels.
constexpr double below_panels = 0.16, above_panels = 0.17;
constexpr double panel_height = row_height * (1 - below_panels - above_panels);
// Pixels: of a character and a line of a label, of a key, and what is left between words and
// curves.
constexpr double label_character = 6.4, label_line = 14, key_character = 7.2, key_line = 20;
constexpr double key_margin = 12, key_sample = 45, gap = 4;

/// Whether the straight line between two points passes through an area.
bool crosses(PanelPoint from, PanelPoint to, const PanelArea& area) {
  double begin = 0, end = 1;
  const auto clip = [&](double start, double step, double low, double high) {
    if (step == 0) {
      if (start < low || start > high) end = -1;
      return;
    }
    const double one = (low - start) / step, other = (high - start) / step;
    begin = std::max(begin, std::min(one, other));
    end = std::min(end, std::max(one, other));
  };
  clip(from.x, to.x - from.x, area.left, area.right);
  clip(from.y, to.y - from.y, area.bottom, area.top);
  return begin <= end;
}

bool overlap(const PanelArea& one, const PanelArea& other) {
  return one.left < other.right && other.left < one.right && one.bottom < other.top &&
         other.bottom < one.top;
}

}  // namespace

double AxisRange::share(double value) const {
  return std::log(value / first) / std::log(last / first);
}

AxisRange AxisRange::logarithmic(double least, double most, double headroom) {
  const double missing = std::max(1.0, 20 * least / (1.5 * 1.5 * most));
  const double low = least / (1.5 * std::sqrt(missing)), high = 1.5 * most * std::sqrt(missing);
  return {low, low * std::pow(high / low, 1 / (1 - headroom))};
}

PanelRoom::PanelRoom(double left, double right) : width_((right - left) * picture_width) {}

void PanelRoom::curve(const std::vector<PanelPoint>& points) { curves_.push_back(points); }

bool PanelRoom::is_free(const PanelArea& area) const {
  const double across = gap / width_;
  const PanelArea wide{area.left - across, area.right + across, area.bottom, area.top};
  for (const PanelArea& words : words_)
    if (overlap(wide, words)) return false;
  for (const std::vector<PanelPoint>& points : curves_)
    for (std::size_t i = 0; i + 1 < points.size(); ++i)
      if (crosses(points[i], points[i + 1], wide)) return false;
  return true;
}

double key_height(std::size_t lines) {
  return (key_margin + key_line * static_cast<double>(lines)) / panel_height;
}

PanelArea PanelRoom::key(const std::vector<std::string>& lines, KeySide side) const {
  std::size_t longest = 0;
  for (const std::string& line : lines) longest = std::max(longest, line.size());
  const double across =
      (key_margin + key_sample + key_character * static_cast<double>(longest)) / width_;
  const double bottom = 1 - key_height(lines.size());
  return side == KeySide::left ? PanelArea{0, across, bottom, 1}
                               : PanelArea{1 - across, 1, bottom, 1};
}

AxisRange range_below_key(double least, double most, const std::vector<std::string>& key,
                          const std::function<PanelRoom(const AxisRange&)>& room) {
  const AxisRange whole = AxisRange::logarithmic(least, most, 0);
  const PanelRoom drawn = room(whole);
  if (drawn.is_free(drawn.key(key, KeySide::right))) return whole;
  return AxisRange::logarithmic(least, most, key_height(key.size()));
}

std::string short_name(const std::string& name, std::size_t longest) {
  const std::string dots = "...";
  longest = std::max(longest, dots.size());
  return name.size() <= longest ? name : dots + name.substr(name.size() - longest + dots.size());
}

std::string PanelRoom::label(int number, const std::string& words, double height, double value) {
  const double across = label_character * static_cast<double>(words.size()) / width_;
  const double near = 1 / panel_height, far = label_line / panel_height;
  const double margin = 1.5 * gap / width_, rightmost = 1 - margin - across;
  std::vector<double> lefts{rightmost, margin};
  constexpr int steps = 40;
  for (int i = 1; i < steps; ++i) lefts.push_back(rightmost - (rightmost - margin) * i / steps);
  const auto area = [&](double left, bool above) {
    return above ? PanelArea{left, left + across, height + near, height + far}
                 : PanelArea{left, left + across, height - far, height - near};
  };
  double left = rightmost;
  bool above = true, found = false;
  for (std::size_t i = 0; i < lefts.size() && !found; ++i) {
    for (const bool side : {true, false}) {
      const PanelArea here = area(lefts[i], side);
      if (found || here.bottom < 0 || here.top > 1 || !is_free(here)) continue;
      left = lefts[i];
      above = side;
      found = true;
    }
  }
  words_.push_back(area(left, above));
  const bool at_right = left == rightmost;
  return fmt::format(
      "set label {} {} at graph {:.4f}, first {:.9g} {} offset 0,{} tc rgb '{}' font ',9'\n",
      number, quoted(words), at_right ? 1 - margin : left, value, at_right ? "right" : "left",
      above ? "0.5" : "-0.5", panel_grey);
}

std::string pair_tics(char axis, std::size_t pairs) {
  return pairs < 8 ? fmt::format("set {}tics 0,1\n", axis) : fmt::format("set {}tics auto\n", axis);
}

PanelRow::PanelRow(std::size_t number, std::size_t count)
    : bottom_(1 - static_cast<double>(number + 1) / static_cast<double>(count)),
      top_(1 - static_cast<double>(number) / static_cast<double>(count)) {}

std::string PanelRow::title(const std::string& text) const {
  return fmt::format("set label 1 {} at screen 0.5, screen {:.4f} center noenhanced font ',14'\n",
                     quoted(text), top_ - 0.045 * (top_ - bottom_));
}

std::string PanelRow::panel(double left, double right, const std::string& title) const {
  const double height = top_ - bottom_;
  return fmt::format(
      "set lmargin at screen {}\nset rmargin at screen {}\nset bmargin at screen {:.4f}\nset "
      "tmargin at screen {:.4f}\n"
      "set title {} noenhanced offset 0,-0.4\n",
      left, right, bottom_ + below_panels * height, top_ - above_panels * height, quoted(title));
}

void draw_panels(const std::filesystem::path& path, std::size_t rows, const std::string& data,
                 const std::function<std::string(std::size_t number, const PanelRow&)>& row) {
  if (rows == 0) refuse(path.string(), "there is nothing to draw: no layer rotates");
  std::string script = "set encoding utf8\nset tics nomirror out scale 0.6\nset border 3\n" + data +
                       "set multiplot\n";
  for (std::size_t number = 0; number < rows; ++number)
    script += row(number, PanelRow(number, rows));
  draw_picture(path, {picture_width, row_height * static_cast<int>(rows)},
               script + "unset multiplot\n");
}

}  // namespace eigen_rope::tool
