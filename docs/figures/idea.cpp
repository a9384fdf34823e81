// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <array>
#include <cmath>
#include <eigen_rope/choices/pairing.hpp>
#include <eigen_rope/tables/cache.hpp>
#include <string>
#include <vector>

#include "figures.hpp"
#include "svg.hpp"

namespace figures {

namespace {

/// Which slots of a row of 12 belong together, read and written, for the four pairings with a
/// window of 8 at offset 2.
std::string pairings() {
  constexpr double cell = 44, left = 160, row = 104, top = 36;
  constexpr int window = 8, offset = 2, width = 12;
  const std::array<std::pair<const char*, eigen_rope::PairKind>, 4> kinds{
      {{"split_half", eigen_rope::PairKind::split_half},
       {"interleaved", eigen_rope::PairKind::interleaved},
       {"quarter", eigen_rope::PairKind::quarter},
       {"interleaved_to_split_half", eigen_rope::PairKind::interleaved_to_split_half}}};
  Svg svg(left + width * cell + 16, top + 4 * row + 6,
          "Which elements form a pair, for each pairing");
  svg.text({left + offset * cell, top - 14}, "the window: 8 rotary dims from offset 2",
           "quiet small");
  double y = top;
  for (const auto& [name, kind] : kinds) {
    const std::string words = name;
    if (words.size() > 15) {
      const std::size_t cut = words.find("split");
      svg.text({8, y + 30}, words.substr(0, cut));
      svg.text({8, y + 50}, words.substr(cut));
    } else {
      svg.text({8, y + 40}, words);
    }
    for (int out = 0; out < 2; ++out) {
      const double line = y + out * 42;
      svg.text({left - 10, line + 23}, out == 0 ? "x" : "y", "quiet right");
      for (int slot = 0; slot < width; ++slot)
        svg.box({left + slot * cell + 1, line}, cell - 2, 34, "idle", 4);
      for (int k = 0; k < window / 2; ++k) {
        const eigen_rope::PairSlots slots = eigen_rope::pair_slots(kind, k, window);
        const std::array<eigen_rope::Index, 2> places =
            out == 0 ? std::array{slots.a, slots.b} : std::array{slots.A, slots.B};
        for (std::size_t member = 0; member < 2; ++member) {
          const double x = left + (offset + static_cast<double>(places[member])) * cell;
          svg.box({x + 1, line}, cell - 2, 34, fmt::format("{}{}", member == 0 ? "f" : "p", k), 4);
          const char* letter = out == 0 ? (member == 0 ? "a" : "b") : (member == 0 ? "A" : "B");
          svg.text({x + cell / 2, line + 22}, fmt::format("{}{}", letter, k),
                   member == 0 ? "small middle on" : "small middle off");
        }
      }
    }
    y += row;
  }
  return svg.finish();
}

/// Three pairs of a head of 64, at the positions 0 to 8.
std::string turning() {
  constexpr double radius = 88, step = 244;
  Svg svg(3 * step + 8, 276, "Three pairs of a row at the positions 0 to 8");
  const eigen_rope::Frequencies frequencies = eigen_rope::Frequencies::powers({64});
  double x = step / 2;
  int series = 0;
  for (const std::size_t k : {std::size_t{0}, std::size_t{4}, std::size_t{12}}) {
    const auto rate = static_cast<double>(frequencies.rates()[k]);
    const Point centre{x, 124};
    svg.circle(centre, radius, "grid");
    svg.line({centre.x - radius - 8, centre.y}, {centre.x + radius + 8, centre.y}, "grid");
    svg.line({centre.x, centre.y - radius - 8}, {centre.x, centre.y + radius + 8}, "grid");
    for (int position = 8; position >= 0; --position) {
      const double t = position * rate;
      const Point tip{centre.x + radius * std::cos(t), centre.y - radius * std::sin(t)};
      svg.line(centre, tip, fmt::format("s{}{}", series, position == 0 ? "" : " thin"));
      svg.circle(tip, position == 0 ? 5 : 3.5, fmt::format("f{}", series));
      const bool crowded = rate < 0.1 && position % 4 != 0;
      const double off = radius + (rate < 0.1 ? 19 : 15);
      if (!crowded) {
        svg.text({centre.x + off * std::cos(t), centre.y - off * std::sin(t) + 4},
                 std::to_string(position), "quiet small middle");
      }
    }
    svg.text({x, 250}, fmt::format("pair {}: {:.3g} radians a token", k, rate), "small middle");
    svg.text({x, 268}, fmt::format("a turn in {:.3g} tokens", 2 * pi / rate), "quiet small middle");
    x += step;
    ++series;
  }
  return svg.finish();
}

/// The cosines of a table: rows are positions, columns pairs. Eleven shades, each one path.
std::string table() {
  constexpr eigen_rope::Index pairs = 32, tokens = 40;
  constexpr double cell = 18, high = 9, left = 62, top = 34;
  Svg svg(left + pairs * cell + 120, top + tokens * high + 46,
          "The cosines of a table by position and pair");
  svg.raw(
      "<style>.c0{fill:#b34a00}.c1{fill:#d07026}.c2{fill:#e39a5c}.c3{fill:#f0c193}.c4{fill:#f8e1cb}"
      ".c5{fill:#f4f4f4}.c6{fill:#d3e5f1}"
      ".c7{fill:#a3cbe4}.c8{fill:#66a9d2}.c9{fill:#2a86bd}.c10{fill:#00619e}</style>");
  const eigen_rope::Cache<float> cache(eigen_rope::Frequencies::powers({2 * pairs}),
                                       eigen_rope::Positions::range(0, tokens));
  std::array<std::string, 11> shades;
  for (int p = 0; p < tokens; ++p) {
    for (int k = 0; k < pairs; ++k) {
      const double value = static_cast<double>(cache.cos()[p * pairs + k]);
      const auto shade = static_cast<std::size_t>(std::lround((value + 1) * 5));
      shades[shade] += fmt::format("M{} {}h18v9h-18z", left + k * cell, top + p * high);
    }
  }
  for (std::size_t shade = 0; shade < shades.size(); ++shade) {
    svg.raw(fmt::format("<path class=\"c{}\" d=\"{}\"/>", shade, shades[shade]));
    const double y = top + (10 - static_cast<double>(shade)) * 16;
    svg.box({left + pairs * cell + 26, y}, 18, 16, fmt::format("c{}", shade));
    if (shade % 5 == 0)
      svg.text({left + pairs * cell + 50, y + 13},
               fmt::format("{}", static_cast<int>(shade) / 5 - 1), "quiet small");
  }
  svg.text({left + pairs * cell + 26, top - 12}, "cos", "quiet small");
  for (int p = 0; p <= tokens; p += 10)
    svg.text({left - 8, top + p * high + (p == tokens ? 2 : 9)}, std::to_string(p),
             "quiet small right");
  for (int k = 0; k < pairs; k += 8)
    svg.text({left + (k + 0.5) * cell, top + tokens * high + 18}, std::to_string(k),
             "quiet small middle");
  svg.text({left + pairs * cell, top + tokens * high + 36}, "pair", "quiet small right");
  svg.text({8, top - 12}, "position", "quiet small");
  return svg.finish();
}

/// q.k of vectors of ones by distance, for three places in the text, by float tables.
std::string distance() {
  constexpr eigen_rope::Index pairs = 32;
  constexpr int farthest = 100;
  Svg svg(740, 360, "The product of a rotated query and key depends on their distance only");
  Plot plot(
      svg, {62, 40}, 640, 256,
      {-2,
       farthest,
       false,
       "tokens between query and key",
       {{0, "0"}, {20, "20"}, {40, "40"}, {60, "60"}, {80, "80"}, {100, "100"}}},
      {-0.2, 1, false, "q · k, over its value at distance 0", {{0, "0"}, {0.5, "0.5"}, {1, "1"}}});
  const eigen_rope::Frequencies frequencies = eigen_rope::Frequencies::powers({2 * pairs});
  const auto product = [&](std::int64_t first, int apart) {
    const eigen_rope::Cache<float> cache(frequencies,
                                         eigen_rope::Positions::ids({first, first + apart}));
    double sum = 0;  // q = k = (1, 1) in every pair
    for (int k = 0; k < pairs; ++k) {
      const double c0 = cache.cos()[k], s0 = cache.sin()[k], c1 = cache.cos()[pairs + k],
                   s1 = cache.sin()[pairs + k];
      sum += (c0 - s0) * (c1 - s1) + (c0 + s0) * (c1 + s1);
    }
    return sum / (2 * pairs);
  };
  std::vector<Point> curve, thousand, million;
  for (int d = 0; d <= farthest; ++d) curve.push_back({static_cast<double>(d), product(0, d)});
  for (int d = 0; d <= farthest; d += 5)
    thousand.push_back({static_cast<double>(d), product(1000, d)});
  for (int d = 0; d <= farthest; d += 5)
    million.push_back({static_cast<double>(d), product(1000000000, d)});
  plot.curve(curve, "s0");
  plot.dots(thousand, 6, "s1 thin");
  plot.dots(million, 2.5, "f3");
  svg.line({470, 56}, {500, 56}, "s0");
  svg.text({510, 61}, "key at position 0", "small");
  svg.circle({485, 80}, 6, "s1 thin");
  svg.text({510, 85}, "key at 1000", "small");
  svg.circle({485, 104}, 2.5, "f3");
  svg.text({510, 109}, "key at 1 000 000 000", "small");
  return svg.finish();
}

}  // namespace

std::vector<Figure> idea() {
  return {{"pairings.svg", pairings},
          {"turning.svg", turning},
          {"table.svg", table},
          {"distance.svg", distance}};
}

}  // namespace figures
