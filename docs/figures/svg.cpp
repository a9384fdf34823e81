// SPDX-License-Identifier: Apache-2.0
#include "svg.hpp"

#include <fmt/core.h>

#include <cmath>

namespace figures {

namespace {

constexpr const char* style_sheet = R"(<style>
text{font-family:system-ui,'DejaVu Sans',sans-serif;font-size:15px;fill:#1f2328}
.quiet{fill:#59636e}.small{font-size:13px}.middle{text-anchor:middle}.right{text-anchor:end}
.line{stroke:#59636e;fill:none}.grid{stroke:#d1d9e0;fill:none}.dash{stroke:#59636e;stroke-dasharray:5 4;fill:none}
.s0,.s1,.s2,.s3{fill:none;stroke-width:2.5;stroke-linejoin:round}
.s0{stroke:#0072b2}.s1{stroke:#d55e00}.s2{stroke:#008060}.s3{stroke:#a8468c}.thin{stroke-width:1.3}
.f0{fill:#0072b2}.f1{fill:#d55e00}.f2{fill:#008060}.f3{fill:#a8468c}.p0{fill:#9fcbe8}.p1{fill:#f6c39a}.p2{fill:#97d8c0}.p3{fill:#e2b4d3}
.on{fill:#fff}.off{fill:#1f2328}.idle{fill:#e4e8ec}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.quiet{fill:#9da7b1}
.line,.dash{stroke:#9da7b1}.grid{stroke:#333b44}
.s0{stroke:#58b4ea}.s1{stroke:#f59a3c}.s2{stroke:#35c59c}.s3{stroke:#e08fc6}
.f0{fill:#58b4ea}.f1{fill:#f59a3c}.f2{fill:#35c59c}.f3{fill:#e08fc6}.p0{fill:#1d4a66}.p1{fill:#6b3f12}.p2{fill:#11523f}.p3{fill:#5b2c4c}
.on{fill:#0d1117}.off{fill:#e6edf3}.idle{fill:#2a313a}}
</style>
)";

std::string escaped(const std::string& words) {
  std::string result;
  for (const char c : words) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      result += c;
    }
  }
  return result;
}

/// A coordinate to a tenth of a pixel, the same on every machine.
std::string number(double value) {
  std::string text = fmt::format("{:.1f}", std::round(value * 10) / 10 + 0.0);
  if (text.size() > 2 && text.compare(text.size() - 2, 2, ".0") == 0) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

}  // namespace

Svg::Svg(double width, double height, const std::string& title)
    : head_(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                        "viewBox=\"0 0 {0} {1}\" role=\"img\">\n"
                        "<title>{2}</title>\n",
                        number(width), number(height), escaped(title))) {
  head_ += style_sheet;
}

void Svg::line(Point from, Point to, const std::string& style) {
  raw(fmt::format("<path class=\"{}\" d=\"M{} {}L{} {}\"/>", style, number(from.x), number(from.y),
                  number(to.x), number(to.y)));
}

void Svg::path(const std::vector<Point>& points, const std::string& style) {
  std::string d;
  for (const Point& p : points)
    d += fmt::format("{}{} {}", d.empty() ? "M" : "L", number(p.x), number(p.y));
  raw(fmt::format("<path class=\"{}\" d=\"{}\"/>", style, d));
}

void Svg::circle(Point centre, double radius, const std::string& style) {
  raw(fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>", style, number(centre.x),
                  number(centre.y), number(radius)));
}

void Svg::box(Point corner, double width, double height, const std::string& style, double rounded) {
  raw(fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
                  style, number(corner.x), number(corner.y), number(width), number(height),
                  number(rounded)));
}

void Svg::text(Point at, const std::string& words, const std::string& style) {
  raw(fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>", style, number(at.x),
                  number(at.y), escaped(words)));
}

double Axis::share(double value) const {
  if (logarithmic) return std::log(value / first) / std::log(last / first);
  return (value - first) / (last - first);
}

std::vector<std::pair<double, std::string>> decades(int first, int last, int step) {
  std::vector<std::pair<double, std::string>> ticks;
  for (int e = first; e <= last; e += step) {
    const std::string plain =
        e >= 0 && e <= 4 ? fmt::format("{:.0f}", std::pow(10.0, e)) : fmt::format("1e{}", e);
    ticks.emplace_back(std::pow(10.0, e), plain);
  }
  return ticks;
}

Plot::Plot(Svg& svg, Point corner, double width, double height, Axis x, Axis y)
    : svg_(svg),
      corner_(corner),
      width_(width),
      height_(height),
      x_(std::move(x)),
      y_(std::move(y)) {
  for (const auto& [value, words] : y_.ticks) {
    const double here = at(x_.first, value).y;
    svg_.line({corner_.x, here}, {corner_.x + width_, here}, "grid");
    svg_.text({corner_.x - 8, here + 5}, words, "quiet small right");
  }
  for (const auto& [value, words] : x_.ticks) {
    const double here = at(value, y_.first).x;
    svg_.line({here, corner_.y + height_}, {here, corner_.y + height_ + 5}, "line");
    svg_.text({here, corner_.y + height_ + 20}, words, "quiet small middle");
  }
  svg_.path({corner_, {corner_.x, corner_.y + height_}, {corner_.x + width_, corner_.y + height_}},
            "line");
  svg_.text({corner_.x + width_, corner_.y + height_ + 40}, x_.title, "quiet small right");
  svg_.text({corner_.x, corner_.y - 12}, y_.title, "quiet small");
}

Point Plot::at(double x, double y) const {
  return {corner_.x + width_ * x_.share(x), corner_.y + height_ * (1 - y_.share(y))};
}

void Plot::curve(const std::vector<Point>& points, const std::string& style) {
  std::vector<Point> placed;
  placed.reserve(points.size());
  for (const Point& p : points) placed.push_back(at(p.x, p.y));
  svg_.path(placed, style);
}

void Plot::dots(const std::vector<Point>& points, double radius, const std::string& style) {
  for (const Point& p : points) svg_.circle(at(p.x, p.y), radius, style);
}

void Plot::level(double y, const std::string& words) {
  const double here = at(x_.first, y).y;
  svg_.line({corner_.x, here}, {corner_.x + width_, here}, "dash");
  svg_.text({corner_.x + 8, here - 7}, words, "quiet small");
}

void Plot::label(double x, double y, const std::string& words, const std::string& style) {
  svg_.text(at(x, y), words, style);
}

}  // namespace figures
