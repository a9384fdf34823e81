// SPDX-License-Identifier: Apache-2.0
#include "tool/plan/speeds.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tool/io/file_error.hpp"
#include "tool/io/json_file.hpp"

namespace eigen_rope::tool {
namespace {

/// A shape of the benchmark: head dims, heads and tokens of a tensor.
struct BenchShape {
  const char* name;
  double elements;
};

/// The longer first.
constexpr BenchShape bench_shapes[] = {{"prefill4096", 128.0 * 32 * 4096},
                                       {"prefill512", 128.0 * 32 * 512}};

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Microseconds of the rotation and of memcpy in each repetition under a name.
struct BenchTimes {
  std::vector<double> rotation{}, memcpy{};
};

BenchTimes times_of(const std::filesystem::path& path, const Json& file, const std::string& name) {
  BenchTimes times;
  try {
    for (const Json& result : file.at("benchmarks")) {
      if (result.at("run_name") != name || result.at("time_unit") != "us") continue;
      times.rotation.push_back(result.at("real_time").get<double>());
      times.memcpy.push_back(result.at("memcpy_us").get<double>());
      if (!(times.rotation.back() > 0) || !(times.memcpy.back() > 0))
        refuse(path.string(), fmt::format("the times of {} must be positive", name));
    }
  } catch (const Json::exception&) {
    refuse(path.string(), "must be results as eigen-rope bench --json writes them");
  }
  return times;
}

}  // namespace

void read_bench_speeds(const std::filesystem::path& path, ScalarType scalar, PairKind pairing,
                       Speeds& speeds) {
  const Json file = read_json(path);
  // The same loops serve interleaved_to_split_half, and quarter is timed under no name.
  const char* pairs = pairing == PairKind::split_half ? "split_half" : "interleaved";
  for (const BenchShape& shape : bench_shapes) {
    const BenchTimes times = times_of(
        path, file,
        fmt::format("rotate/inplace/{}/{}/{}/threads:1", name_of(scalar), pairs, shape.name));
    if (times.rotation.empty()) continue;
    const double bytes = 2 * shape.elements * static_cast<double>(size_of(scalar));
    constexpr double microsecond = 1e-6;
    speeds.rotation = bytes / (median_of(times.rotation) * microsecond);
    speeds.memory = bytes / (median_of(times.memcpy) * microsecond);
    return;
  }
  refuse(path.string(),
         fmt::format("must have a result rotate/inplace/{}/{}/prefill4096/threads:1, as eigen-rope "
                     "bench --filter 'inplace/{}/.*/prefill' --json FILE writes",
                     name_of(scalar), pairs, name_of(scalar)));
}

}  // namespace eigen_rope::tool
