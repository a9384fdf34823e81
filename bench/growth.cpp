// SPDX-License-Identifier: Apache-2.0
#include "growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace bench {

std::vector<Cliff> cliffs(const Curve& curve, double limit) {
  std::vector<Cliff> found;
  for (std::size_t i = 1; i + 1 < curve.points.size(); ++i) {
    const double neighbours =
        (curve.points[i - 1].ns_per_kib() + curve.points[i + 1].ns_per_kib()) / 2;
    const double over = curve.points[i].ns_per_kib() / neighbours;
    if (over > limit) found.push_back({i, over});
  }
  return found;
}

std::optional<double> slope(const Curve& curve, double beyond) {
  std::vector<double> times;
  for (const GrowthPoint& point : curve.points) {
    if (point.bytes > beyond) times.push_back(point.ns_per_kib());
  }
  if (times.size() < 2) return std::nullopt;
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  return *most / *least;
}

std::vector<std::string> findings(const Curve& curve, double beyond) {
  std::vector<std::string> lines;
  for (const Cliff& cliff : cliffs(curve)) {
    const GrowthPoint& point = curve.points[cliff.point];
    lines.push_back(fmt::format("cliff: {} {} takes {:.2f} times as long as its neighbours ({})",
                                point.at, curve.varies, cliff.over_neighbours, curve.title));
  }
  const std::optional<double> steepness = slope(curve, beyond);
  if (steepness && *steepness > slope_limit) {
    lines.push_back(fmt::format(
        "slope: beyond the caches a KiB takes up to {:.2f} times the least time ({} by {})",
        *steepness, curve.title, curve.varies));
  }
  return lines;
}

nlohmann::json to_json(const std::vector<Curve>& curves) {
  nlohmann::json all = nlohmann::json::array();
  for (const Curve& curve : curves) {
    nlohmann::json points = nlohmann::json::array();
    for (const GrowthPoint& point : curve.points) {
      points.push_back({{"tokens", point.tokens},
                        {"heads", point.heads},
                        {"head_size", point.head_size},
                        {"bytes", point.bytes},
                        {"seconds", point.seconds},
                        {"ns_per_kib", point.ns_per_kib()}});
    }
    all.push_back({{"varies", curve.varies}, {"title", curve.title}, {"points", points}});
  }
  return all;
}

std::string to_dat(const std::vector<Curve>& curves, const std::string& varies) {
  std::string text;
  for (const Curve& curve : curves) {
    if (curve.varies != varies) continue;
    if (!text.empty()) text += "\n\n";
    text += '"' + curve.title + "\"\n";
    for (const GrowthPoint& point : curve.points)
      text += fmt::format("{} {:.4f} {:.0f}\n", point.at, point.ns_per_kib(), point.bytes);
  }
  return text;
}

}  // namespace bench
