// SPDX-License-Identifier: Apache-2.0
//
// A drawing as SVG text, in one style for all figures of the pages: legible on light and on dark
// ground (the file follows the reader's preference), with colours that remain apart for the
// colour-blind. Classes: text, quiet, small, middle, right, line, grid, s0 to s3 (strokes of
// series), f0 to f3 (their fills), p0 to p3 (paler fills), none. Not a general plotting library.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace figures {

struct Point {
  double x, y;
};

class Svg {
 public:
  Svg(double width, double height, const std::string& title);

  void line(Point from, Point to, const std::string& style);
  void path(const std::vector<Point>& points, const std::string& style);
  void circle(Point centre, double radius, const std::string& style);
  void box(Point corner, double width, double height, const std::string& style, double rounded = 0);
  void text(Point at, const std::string& words, const std::string& style = "text");
  /// Anything else, as it is.
  void raw(const std::string& element) { body_ += element + '\n'; }
  std::string finish() const { return head_ + body_ + "</svg>\n"; }

 private:
  std::string head_, body_;
};

/// One axis of a plot, linear or logarithmic.
struct Axis {
  double first, last;
  bool logarithmic = false;
  std::string title{};
  /// Where ticks are, and what they say.
  std::vector<std::pair<double, std::string>> ticks{};

  /// 0 at first, 1 at last.
  double share(double value) const;
};

/// Powers of ten of an axis as ticks.
std::vector<std::pair<double, std::string>> decades(int first, int last, int step = 1);

/// A plot in a drawing: a frame, grid, titles, and curves in its coordinates.
class Plot {
 public:
  Plot(Svg& svg, Point corner, double width, double height, Axis x, Axis y);

  Point at(double x, double y) const;
  void curve(const std::vector<Point>& points, const std::string& style);
  void dots(const std::vector<Point>& points, double radius, const std::string& style);
  /// A dashed line across at y, with words at its right end.
  void level(double y, const std::string& words);
  void label(double x, double y, const std::string& words, const std::string& style = "text small");

 private:
  Svg& svg_;
  Point corner_;
  double width_, height_;
  Axis x_, y_;
};

}  // namespace figures
