// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <eigen_rope/tables/cache.hpp>
#include <string>
#include <vector>

#include "figures.hpp"
#include "svg.hpp"

namespace figures {

namespace {

/// The worst cosine of 256 positions from `first` on, as three ways form it, against long double.
struct Errors {
  double in_float = 0, in_bfloat16 = 0, library = 0;
};

Errors errors_from(const eigen_rope::Frequencies& frequencies, std::int64_t first) {
  const eigen_rope::Positions positions = eigen_rope::Positions::range(first, 256);
  const eigen_rope::Cache<long double> exact(frequencies, positions);
  const eigen_rope::Cache<float> ours(frequencies, positions);
  const eigen_rope::Index pairs = frequencies.pairs();
  Errors worst;
  for (eigen_rope::Index s = 0; s < 256; ++s) {
    for (eigen_rope::Index k = 0; k < pairs; ++k) {
      const auto rate = static_cast<double>(frequencies.rates()[static_cast<std::size_t>(k)]);
      const eigen_rope::Index entry = s * pairs + k;
      const auto off = [&](double value) {
        return static_cast<double>(std::abs(static_cast<long double>(value) - exact.cos()[entry]));
      };
      const float angle = static_cast<float>(first + s) * static_cast<float>(rate);
      const auto position16 =
          static_cast<float>(static_cast<Eigen::bfloat16>(static_cast<float>(first + s)));
      const auto rate16 =
          static_cast<float>(static_cast<Eigen::bfloat16>(static_cast<float>(rate)));
      const auto angle16 = static_cast<float>(static_cast<Eigen::bfloat16>(position16 * rate16));
      worst.in_float =
          std::max(worst.in_float, off(static_cast<float>(std::cos(static_cast<double>(angle)))));
      worst.in_bfloat16 = std::max(worst.in_bfloat16, off(std::cos(static_cast<double>(angle16))));
      worst.library = std::max(worst.library, off(ours.cos()[entry]));
    }
  }
  return worst;
}

std::string by_position() {
  Svg svg(740, 400, "The worst cosine of a table by position");
  Plot plot(svg, {70, 40}, 560, 296, {10, 1e9, true, "position", decades(1, 9, 2)},
            {1e-9, 10, true, "worst error of a cosine among 256 positions and 64 pairs",
             decades(-9, 1, 2)});
  const eigen_rope::Frequencies frequencies = eigen_rope::Frequencies::powers({128, 500000.0});
  std::vector<Point> in_float, in_bfloat16, library;
  for (double e = 1; e <= 9; e += 0.5) {
    const double first = std::round(std::pow(10.0, e));
    const Errors worst = errors_from(frequencies, static_cast<std::int64_t>(first));
    in_float.push_back({first, worst.in_float});
    in_bfloat16.push_back({first, worst.in_bfloat16});
    library.push_back({first, worst.library});
  }
  plot.curve(in_bfloat16, "s3");
  plot.curve(in_float, "s1");
  plot.curve(library, "s0");
  svg.text({638, plot.at(1, in_bfloat16.back().y).y + 5}, "bfloat16", "small");
  // Both curves end at the same error: float's name stands beside its rise.
  const Point rise = plot.at(in_float[8].x, in_float[8].y);
  svg.text({rise.x + 14, rise.y + 12}, "float", "small");
  svg.text({638, plot.at(1, library.back().y).y + 5}, "this library", "small");
  return svg.finish();
}

}  // namespace

std::vector<Figure> accuracy() { return {{"accuracy.svg", by_position}}; }

}  // namespace figures
