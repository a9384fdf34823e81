// SPDX-License-Identifier: Apache-2.0
//
// The time of y = rotate(x, table, split_half) as tokens, head size and heads grow; float, one
// thread.
//
//   x [head size, heads, tokens] or [head size, tokens, heads]    one table row per token
//
// All points of all curves share one x, one y and a table for each head size, so that only sizes
// differ. The points take their turns in random order, a few times, and the least time of each
// counts. A point that looks like a cliff is measured again with its neighbours, since a neighbour
// on the machine can slow one of three. The last row of each result is compared with
// eigen_rope::reference. growth.hpp judges.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "case.hpp"
#include "growth.hpp"
#include "timing.hpp"

namespace bench {
namespace {

using Table = eigen_rope::TableView<float>;
using Tensor = Eigen::TensorMap<Eigen::Tensor<float, 3>>;

constexpr Index kibi = 1024;
constexpr Index mebi = kibi * kibi;
constexpr Index most_tokens = 4 * mebi;
/// Of x: 4 Mi tokens with one head of 32.
constexpr Index most_elements = most_tokens * 32;
/// Of x, where heads or their size vary beyond the caches.
constexpr Index large_elements = 16 * mebi;
/// In the second-level cache with y.
constexpr Index small_elements = 32 * kibi;
/// Of x, y and the table. Results go past the cache, so that x alone takes it: from here on x is
/// twice as large as a last-level cache of 32 MiB.
constexpr double beyond_caches = 128.0 * mebi;
constexpr int rounds = 7;
constexpr int further_rounds = 15;

/// Whether tokens or heads are the slowest axis.
enum class Order { heads_inside, heads_outside };

/// One curve, and in which order its points lie in memory.
struct Sweep {
  Curve curve;
  Order order = Order::heads_inside;
};

GrowthPoint point_of(Index at, Index tokens, Index heads, Index head_size) {
  const auto elements =
      static_cast<double>(tokens) * static_cast<double>(2 * heads * head_size + head_size);
  return {at,
          tokens,
          heads,
          head_size,
          elements * sizeof(float),
          std::numeric_limits<double>::infinity()};
}

/// Powers of two, three times those, and the numbers beside them.
std::set<Index> round_numbers(Index from, Index to, Index beside) {
  std::set<Index> numbers;
  for (Index power = 1; power <= to; power *= 2) {
    for (const Index number : {power, 3 * power, power - beside, power + beside}) {
      if (number >= from && number <= to) numbers.insert(number);
    }
  }
  return numbers;
}

Curve by_tokens(Index heads, Index head_size, Index most) {
  std::set<Index> numbers = round_numbers(1, most, 1);
  // Where x and y together pass 10 MiB, where x does, and where rotations begin to store past the
  // cache.
  const Index bytes_of_token = heads * head_size * static_cast<Index>(sizeof(float));
  const auto threshold = static_cast<Index>(eigen_rope::streaming_threshold());
  for (const Index bytes : {5 * mebi, 10 * mebi, threshold / 2}) {
    const Index tokens = bytes / bytes_of_token;
    for (const Index number : {tokens - 1, tokens, tokens + 1}) {
      if (number >= 1 && number <= most) numbers.insert(number);
    }
  }
  Curve curve{
      "tokens", fmt::format("{} head{} of {}", heads, heads == 1 ? "" : "s", head_size), {}};
  for (const Index tokens : numbers)
    curve.points.push_back(point_of(tokens, tokens, heads, head_size));
  return curve;
}

/// Multiples of 16, closer together where they are small, as models have them.
std::set<Index> usual_head_sizes() {
  std::set<Index> sizes;
  for (Index size = 32; size <= 1024; size += size < 256 ? 16 : size < 512 ? 64 : 128)
    sizes.insert(size);
  return sizes;
}

Curve by_head_size(Index heads, const std::set<Index>& sizes, Index elements,
                   const std::string& title) {
  Curve curve{"head_size", title, {}};
  for (const Index size : sizes)
    curve.points.push_back(
        point_of(size, std::max<Index>(1, elements / (heads * size)), heads, size));
  return curve;
}

Curve by_heads(Index head_size, Index elements, const std::string& title) {
  Curve curve{"heads", title, {}};
  for (const Index heads : round_numbers(1, 128, 1))
    curve.points.push_back(
        point_of(heads, std::max<Index>(1, elements / (heads * head_size)), heads, head_size));
  return curve;
}

class Growth {
 public:
  Growth() : x_(most_elements), y_(most_elements) {
    fill(x_.data(), most_elements, 1);
    fill(y_.data(), most_elements, 2);
  }

  /// Times every point of a curve, in random order, `times` times.
  void measure(const std::vector<GrowthPoint*>& points, Order order, int times) {
    std::vector<GrowthPoint*> shuffled = points;
    for (int i = 0; i < times; ++i) {
      std::shuffle(shuffled.begin(), shuffled.end(), random_);
      for (GrowthPoint* point : shuffled)
        point->seconds = std::min(point->seconds, seconds_of(*point, order));
    }
  }

  /// Makes the tables that the points need, and forgets all others.
  void make_tables(const std::vector<GrowthPoint*>& points) {
    tables_.clear();
    std::map<Index, Index> tokens;
    for (const GrowthPoint* point : points)
      tokens[point->head_size] = std::max(tokens[point->head_size], Index{point->tokens});
    for (const auto& [size, count] : tokens) {
      tables_.emplace(size, std::make_unique<eigen_rope::Cache<float>>(
                                eigen_rope::Frequencies::powers({size}),
                                eigen_rope::Positions::range(0, count), eigen_rope::Layout::tnd()));
    }
  }

  /// Whether the last row is right.
  bool correct(const GrowthPoint& point, Order order) {
    rotate(point, order);
    const Index size = point.head_size;
    const Index row = point.heads * point.tokens - 1;
    const Table all = table_of(point, order);
    const Index entry = (point.tokens - 1) * all.width;
    std::vector<float> expected(static_cast<std::size_t>(size));
    eigen_rope::reference::rotate(x_.data() + row * size, expected.data(), eigen_rope::Shape{size},
                                  Table{all.cos + entry, all.sin + entry, all.width},
                                  eigen_rope::split_half);
    const float* y = y_.data() + row * size;
    return std::equal(expected.begin(), expected.end(), y, [](float a, float b) {
      return std::abs(a - b) <= 4 * Eigen::NumTraits<float>::epsilon();
    });
  }

 private:
  Table table_of(const GrowthPoint& point, Order order) const {
    const Table all = tables_.at(point.head_size)->view();
    const auto shape = order == Order::heads_inside ? eigen_rope::Shape{1, point.tokens}
                                                    : eigen_rope::Shape{point.tokens, 1};
    return {all.cos, all.sin, all.width, shape};
  }

  void rotate(const GrowthPoint& point, Order order) {
    const Eigen::array<Index, 3> dims =
        order == Order::heads_inside
            ? Eigen::array<Index, 3>{point.head_size, point.heads, point.tokens}
            : Eigen::array<Index, 3>{point.head_size, point.tokens, point.heads};
    const Tensor x(x_.data(), dims);
    Tensor y(y_.data(), dims);
    y = eigen_rope::rotate(x, table_of(point, order), eigen_rope::split_half);
  }

  /// What fits in a cache has been there before.
  double seconds_of(const GrowthPoint& point, Order order) {
    if (point.bytes < beyond_caches) rotate(point, order);
    return seconds_of_calls([&] { rotate(point, order); });
  }

  PlacedArray<float> x_, y_;
  std::map<Index, std::unique_ptr<eigen_rope::Cache<float>>> tables_;
  std::mt19937 random_{1};
};

std::vector<GrowthPoint*> points_of(Curve& curve) {
  std::vector<GrowthPoint*> points;
  for (GrowthPoint& point : curve.points) points.push_back(&point);
  return points;
}

/// Cliffs and their neighbours.
std::vector<GrowthPoint*> doubtful(Curve& curve) {
  std::set<std::size_t> places;
  for (const Cliff& cliff : cliffs(curve))
    for (const std::size_t place : {cliff.point - 1, cliff.point, cliff.point + 1})
      places.insert(place);
  std::vector<GrowthPoint*> points;
  for (const std::size_t place : places) points.push_back(&curve.points[place]);
  return points;
}

void write(const std::string& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

int run(const std::string& folder) {
  std::vector<Sweep> sweeps{
      {by_tokens(1, 32, most_tokens)},
      {by_tokens(32, 128, 32 * kibi)},
      {by_head_size(8, usual_head_sizes(), large_elements, "8 heads, x of 64 MiB")},
      {by_head_size(8, usual_head_sizes(), small_elements, "8 heads, x of 128 KiB")},
      {by_head_size(8, round_numbers(32, 1024, 2), large_elements,
                    "8 heads, x of 64 MiB, beside powers of two")},
      {by_head_size(8, usual_head_sizes(), large_elements, "8 heads outside tokens, x of 64 MiB"),
       Order::heads_outside},
      {by_head_size(8, usual_head_sizes(), small_elements, "8 heads outside tokens, x of 128 KiB"),
       Order::heads_outside},
      {by_heads(128, large_elements, "heads of 128, x of 64 MiB")},
      {by_heads(128, small_elements, "heads of 128, x of 128 KiB")},
  };
  Growth growth;
  bool even = true;
  std::vector<Curve> curves;
  for (auto& [curve, order] : sweeps) {
    const std::vector<GrowthPoint*> points = points_of(curve);
    growth.make_tables(points);
    for (const GrowthPoint* point : points) {
      if (growth.correct(*point, order)) continue;
      fmt::print(stderr, "error: {} tokens, {} heads of {} differ from the reference\n",
                 point->tokens, point->heads, point->head_size);
      return 1;
    }
    growth.measure(points, order, rounds);
    if (const std::vector<GrowthPoint*> again = doubtful(curve); !again.empty())
      growth.measure(again, order, further_rounds);
    fmt::print("{} by {}: {} points\n", curve.title, curve.varies, points.size());
    for (const std::string& line : findings(curve, beyond_caches)) {
      fmt::print("  {}\n", line);
      even = false;
    }
    std::fflush(stdout);
    curves.push_back(curve);
  }
  write(folder + "/growth.json", to_json(curves).dump(1) + '\n');
  for (const char* varies : {"tokens", "head_size", "heads"})
    write(fmt::format("{}/growth_{}.dat", folder, varies), to_dat(curves, varies));
  return even ? 0 : 3;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  CLI::App app(
      "Times rotations as tokens, head size and heads grow. The exit code is 3 if the time has a "
      "cliff or is not flat beyond the caches.");
  std::string folder;
  app.add_option("--out", folder, "The folder of growth.json and growth_*.dat")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    return bench::run(folder);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
}
