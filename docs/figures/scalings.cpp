// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <eigen_rope/choices/frequencies.hpp>
#include <eigen_rope/tables/xpos.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "figures.hpp"
#include "svg.hpp"

namespace figures {

namespace {

struct Curve {
  std::string words;
  eigen_rope::Frequencies frequencies;
};

struct Wavelengths {
  std::string title;
  eigen_rope::Frequencies before;
  std::vector<Curve> after;
  double original, longer;
};

std::vector<Point> by_pair(const eigen_rope::Frequencies& frequencies) {
  std::vector<Point> points;
  for (std::size_t k = 0; k < frequencies.rates().size(); ++k) {
    const auto rate = static_cast<double>(frequencies.rates()[k]);
    if (rate > 0) points.push_back({static_cast<double>(k), 2 * pi / rate});
  }
  return points;
}

/// Tokens in which each pair turns once, on a logarithmic axis, before and after.
std::string draw(const Wavelengths& figure) {
  Svg svg(740, 412, figure.title);
  const auto pairs = static_cast<double>(figure.before.pairs());
  Axis x{0, pairs, false, "pair", {}};
  for (int k = 0; k <= static_cast<int>(pairs); k += static_cast<int>(pairs) / 4)
    x.ticks.emplace_back(k, std::to_string(k));
  const double longest = by_pair(figure.before).back().y;
  const int last = static_cast<int>(std::ceil(std::log10(longest * 20)));
  Plot plot(svg, {70, 40}, 640, 296, x,
            {5, std::pow(10.0, last), true, "wavelength: tokens in which a pair turns once",
             decades(1, last)});
  plot.level(figure.original, fmt::format("original context, {:.0f} tokens", figure.original));
  plot.level(figure.longer, fmt::format("longer context, {:.0f} tokens", figure.longer));
  plot.curve(by_pair(figure.before), "line");
  // The names of the curves stand below the axis, row by row.
  constexpr double sample = 30, space = 10, character = 7.5, left = 70, right = 660;
  Point at{left, 380};
  const auto name = [&](const std::string& words, const std::string& style) {
    const double width = sample + space + character * static_cast<double>(words.size());
    if (at.x + width > right) at = {left, at.y + 20};
    svg.line({at.x, at.y - 4}, {at.x + sample, at.y - 4}, style);
    svg.text({at.x + sample + space, at.y}, words, "small");
    at.x += width + 2 * space;
  };
  name("unscaled", "line");
  int series = 0;
  for (const Curve& curve : figure.after) {
    const std::string style = fmt::format("s{}", series++);
    plot.curve(by_pair(curve.frequencies), style);
    name(curve.words, style);
  }
  return svg.finish();
}

using eigen_rope::Frequencies;

const eigen_rope::Powers<> powers{128, 10000.0};

std::string linear() {
  return draw({"Linear scaling",
               Frequencies::powers(powers),
               {{"linear, factor 4", Frequencies(powers, eigen_rope::Linear<>{4})}},
               4096,
               16384});
}

std::string ntk() {
  return draw({"NTK-aware scaling",
               Frequencies::powers(powers),
               {{"dynamic, factor 4, at 8192 tokens",
                 Frequencies(powers, eigen_rope::DynamicNtkScaling<>{4.0, 4096}, 8192)},
                {"dynamic, factor 4, at 16384 tokens",
                 Frequencies(powers, eigen_rope::DynamicNtkScaling<>{4.0, 4096}, 16384)},
                {"fixed, factor 4", Frequencies(powers, eigen_rope::NtkScaling<>{4})}},
               4096,
               16384});
}

std::string yarn() {
  eigen_rope::Yarn<> stretched;
  stretched.factor = 4;
  stretched.original_context = 4096;
  return draw({"YaRN",
               Frequencies::powers(powers),
               {{"YaRN, factor 4", Frequencies(powers, stretched)}},
               4096,
               16384});
}

std::string llama3() {
  const eigen_rope::Powers<> llama{128, 500000.0};
  return draw(
      {"Llama 3.1's scaling",
       Frequencies::powers(llama),
       {{"llama3, factor 8", Frequencies(llama, eigen_rope::Llama3<>{8.0, 1.0, 4.0, 8192})}},
       8192,
       131072});
}

std::string longrope() {
  eigen_rope::LongRope<> lists;
  lists.original_context = 4096;
  lists.factor = 32;
  for (int k = 0; k < 64; ++k) {
    lists.short_factor.push_back(1.0 + 0.02 * k);
    lists.long_factor.push_back(1.0 + 31.0 * std::pow(k / 63.0, 1.5));
  }
  return draw({"LongRoPE",
               Frequencies::powers(powers),
               {{"short list, up to 4096 tokens", Frequencies(powers, lists, 4096)},
                {"long list, beyond", Frequencies(powers, lists, 4097)}},
               4096,
               131072});
}

std::string proportional() {
  const eigen_rope::Powers<> gemma{256, 1000000.0};
  return draw({"Proportional scaling",
               Frequencies::powers(gemma),
               {{"a quarter of the pairs turn, factor 8",
                 Frequencies(gemma, eigen_rope::Proportional<>{8.0, 32})}},
               8192,
               131072});
}

/// What xPos multiplies a pair's share of q.k with.
std::string xpos() {
  Svg svg(740, 360, "How much of a pair's share xPos leaves by distance");
  Plot plot(svg, {62, 40}, 600, 256,
            {0,
             2048,
             false,
             "tokens between query and key",
             {{0, "0"}, {512, "512"}, {1024, "1024"}, {1536, "1536"}, {2048, "2048"}}},
            {-0.08,
             1.05,
             false,
             "share of q · k that is left, scale base 512",
             {{0, "0"}, {0.5, "0.5"}, {1, "1"}}});
  int series = 0;
  // Names stand beside the ends of curves, at least a line apart.
  constexpr double line = 15;
  double lowest = plot.at(0, -0.08).y;
  for (const int k : {0, 16, 32, 63}) {
    std::vector<Point> points;
    for (int d = 0; d <= 2048; d += 64) {
      const Frequencies still = Frequencies::explicit_rates(std::vector<double>(64, 0.0));
      const auto here = eigen_rope::Positions::ids({d});
      const auto there = eigen_rope::Positions::ids({0});
      const auto of_q =
          eigen_rope::xpos_cache<double>(still, here, {512}, eigen_rope::XposSide::query);
      const auto of_k =
          eigen_rope::xpos_cache<double>(still, there, {512}, eigen_rope::XposSide::key);
      points.push_back({static_cast<double>(d), of_q.cos()[k] * of_k.cos()[k]});
    }
    plot.curve(points, fmt::format("s{}", series++));
    const double beside = std::min(lowest, plot.at(0, points.back().y).y + 5);
    svg.text({plot.at(2048, 0).x + 8, beside}, fmt::format("pair {}", k), "small");
    lowest = beside - line;
  }
  return svg.finish();
}

}  // namespace

std::vector<Figure> scalings() {
  return {{"scaling_linear.svg", linear},     {"scaling_ntk.svg", ntk},
          {"scaling_yarn.svg", yarn},         {"scaling_llama3.svg", llama3},
          {"scaling_longrope.svg", longrope}, {"scaling_proportional.svg", proportional},
          {"scaling_xpos.svg", xpos}};
}

}  // namespace figures
