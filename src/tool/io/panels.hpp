// SPDX-License-Identifier: Apache-2.0
//
// Pictures made of rows of panels, one row for each kind of layer: where panels stand, their
// titles, and the colours of lines.
//
// What a panel shows is its report's: rows give gnuplot commands that end in a plot.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace eigen_rope::tool {

// Okabe and Ito's colours, told apart without red and green.
inline constexpr const char* panel_blue = "#0072B2";
inline constexpr const char* panel_orange = "#D55E00";
inline constexpr const char* panel_grey = "#777777";

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

/// `data` first, then for each row what `row` says. Throws as draw_picture, and FileError without
/// rows.
void draw_panels(const std::filesystem::path& path, std::size_t rows, const std::string& data,
                 const std::function<std::string(std::size_t number, const PanelRow&)>& row);

}  // namespace eigen_rope::tool
