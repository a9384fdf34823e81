// SPDX-License-Identifier: Apache-2.0
//
// How the time of a rotation grows with its tensor: what was measured, and where it is not even.
//
//   cliff    a point above 1.25 times the mean of its two neighbours
//   slope    beyond the caches, the most time a KiB takes over the least: 1 is flat
//
// A curve varies one number (tokens, head size or heads), and its points are in the order of that
// number. Times are nanoseconds for each KiB that a rotation reads and writes: x, y and the table.
// Points at the ends have one neighbour and are no cliffs. Nothing here measures.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct GrowthPoint {
  /// The number that the curve varies.
  std::int64_t at = 0;
  std::int64_t tokens = 0, heads = 0, head_size = 0;
  /// Of x, y and the table.
  double bytes = 0;
  double seconds = 0;

  double ns_per_kib() const { return seconds * 1e9 / (bytes / 1024); }
};

struct Curve {
  /// tokens, head_size or heads.
  std::string varies;
  /// What stays as it is, for people.
  std::string title;
  std::vector<GrowthPoint> points;
};

inline constexpr double cliff_limit = 1.25;
inline constexpr double slope_limit = 1.2;

struct Cliff {
  /// The place in the curve's points.
  std::size_t point = 0;
  double over_neighbours = 0;
};

/// Every inner point whose time is more than `limit` times the mean of its neighbours'.
std::vector<Cliff> cliffs(const Curve& curve, double limit = cliff_limit);

/// The points of which x, y and the table are larger than `beyond` bytes: the most time over the
/// least; nothing for fewer than two points.
std::optional<double> slope(const Curve& curve, double beyond);

/// A line for each cliff, and one for each curve whose slope is above the limit.
std::vector<std::string> findings(const Curve& curve, double beyond);

nlohmann::json to_json(const std::vector<Curve>& curves);

/// For gnuplot: each curve is a block of `at ns_per_kib bytes`, with its title in quotes before it.
std::string to_dat(const std::vector<Curve>& curves, const std::string& varies);

}  // namespace bench
