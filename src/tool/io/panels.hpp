// SPDX-License-Identifier: Apache-2.0
//
// Pictures made of rows of panels, one row for each kind of layer: where panels stand, their
// titles, the colours of lines, and where words in a panel touch no curve.
//
// What a panel shows is its report's: rows give gnuplot commands that end in a plot.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace eigen_rope::tool {

// Okabe and Ito's colours, told apart without red and green.
inline constexpr const char* panel_blue = "#0072B2";
inline constexpr const char* panel_orange = "#D55E00";
inline constexpr const char* panel_grey = "#777777";

// Where the panel of rates stands in the picture's width.
inline constexpr double rates_left = 0.075, rates_right = 0.325;

/// A strip of the picture, from 0 at the bottom to 1.
class PanelRow {
 public:
  PanelRow(std::size_t number, std::size_t count);

  /// Above all panels; stays label 1 until it is unset.
  std::string title(const std::string& text) const;
  /// Places the next plot between these parts of the width.
  std::string panel(double left, double right, const std::string& title) const;

 private:
  double bottom_, top_;
};

/// A point of a panel: 0 to 1 from the left and from the bottom.
struct PanelPoint {
  double x = 0, y = 0;
};

/// A rectangle of a panel, in the same parts.
struct PanelArea {
  double left = 0, right = 0, bottom = 0, top = 0;
};

/// Both ends of an axis.
struct AxisRange {
  double first = 0, last = 1;

  /// 0 at first, 1 at last of a logarithmic axis.
  double share(double value) const;
  /// From below `least` to above `most`, both positive: wide enough for a power of ten, and with
  /// `headroom` (a part of the axis) left over above `most`.
  static AxisRange logarithmic(double least, double most, double headroom);
};

enum class KeySide { left, right };

/// Finds room for words in a panel.
class PanelRoom {
 public:
  /// For a panel between these parts of the picture's width.
  PanelRoom(double left, double right);

  /// What words must not touch.
  void curve(const std::vector<PanelPoint>& points);
  /// A line across the panel.
  void level(double height) { curve({{0, height}, {1, height}}); }
  void words(const PanelArea& area) { words_.push_back(area); }
  bool is_free(const PanelArea& area) const;
  /// Where gnuplot draws a key with these lines at the top.
  PanelArea key(const std::vector<std::string>& lines, KeySide side) const;
  /// A gnuplot label at the level `height`, which is `value` of the y axis: above or below the
  /// line, at the right or left end, or else between, whichever is free. Later ones avoid it.
  std::string label(int number, const std::string& words, double height, double value);

 private:
  double width_;
  std::vector<std::vector<PanelPoint>> curves_{};
  std::vector<PanelArea> words_{};
};

/// A logarithmic axis for curves between `least` and `most` (what `room` says of them on an axis):
/// it goes on above them if they would pass under a key on the right at the top.
AxisRange range_below_key(double least, double most, const std::vector<std::string>& key,
                          const std::function<PanelRoom(const AxisRange&)>& room);

/// Characters that a title has room for.
inline constexpr std::size_t title_length = 112;

/// A name of at most so many characters: the end of longer ones, after "...".
std::string short_name(const std::string& name, std::size_t longest);

/// The part of a panel's height that a key of so many lines takes.
double key_height(std::size_t lines);

/// Tics of an axis of pairs: only whole numbers.
std::string pair_tics(char axis, std::size_t pairs);

/// `data` first, then for each row what `row` says. Throws as draw_picture, and FileError without
/// rows.
void draw_panels(const std::filesystem::path& path, std::size_t rows, const std::string& data,
                 const std::function<std::string(std::size_t number, const PanelRow&)>& row);

}  // namespace eigen_rope::tool
