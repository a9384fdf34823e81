// SPDX-License-Identifier: Apache-2.0
//
// The speeds that a plan takes from results of `eigen-rope bench --json`.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/run_tool.hpp"
#include "tool/io/file_error.hpp"
#include "tool/io/json_file.hpp"
#include "tool/plan/speeds.hpp"

namespace eigen_rope::tool::bench_speeds_tests {
namespace {

class BenchSpeeds : public testing::Test {
 protected:
  void write(const Json& json) { test::write_bytes(path_, json.dump()); }

  Speeds read(ScalarType scalar = ScalarType::f32, PairKind pairing = PairKind::split_half) {
    Speeds speeds;
    read_bench_speeds(path_, scalar, pairing, speeds);
    return speeds;
  }

  std::string refusal() {
    try {
      read();
    } catch (const FileError& error) {
      return std::string(error.what()).substr(("[rope] " + path_.string() + ": ").size());
    }
    return "nothing";
  }

  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "results.json";
};

/// Repetitions of one benchmark, in microseconds.
Json results_of(const std::string& name, const std::vector<double>& rotation,
                const std::vector<double>& memcpy) {
  Json list = Json::array();
  for (std::size_t i = 0; i < rotation.size(); ++i)
    list.push_back({{"run_name", name},
                    {"real_time", rotation[i]},
                    {"memcpy_us", memcpy[i]},
                    {"time_unit", "us"}});
  return list;
}

Json file_of(std::initializer_list<Json> results) {
  Json all = Json::array();
  for (const Json& of_name : results) all.insert(all.end(), of_name.begin(), of_name.end());
  return {{"benchmarks", std::move(all)}};
}

// Read and written by one call.
constexpr double bytes_of_4096 = 2.0 * 128 * 32 * 4096 * 4, bytes_of_512 = bytes_of_4096 / 8;

TEST_F(BenchSpeeds, AreMediansOfTheLongestShape) {
  write(file_of(
      {results_of("rotate/inplace/f32/split_half/prefill512/threads:1", {1}, {1}),
       results_of("rotate/inplace/f32/split_half/prefill4096/threads:1", {30, 10, 20}, {5, 15, 40}),
       results_of("rotate/expr/f32/split_half/prefill4096/threads:1", {1}, {1}),
       results_of("rotate/inplace/f32/split_half/prefill4096/threads:2", {1}, {1})}));
  const Speeds speeds = read();
  EXPECT_DOUBLE_EQ(speeds.rotation, bytes_of_4096 / 20e-6);
  EXPECT_DOUBLE_EQ(speeds.memory, bytes_of_4096 / 15e-6);
  EXPECT_EQ(speeds.products, Speeds().products);
  EXPECT_EQ(speeds.attention, Speeds().attention);
}

TEST_F(BenchSpeeds, AreThoseOfScalarAndPairing) {
  write(file_of({results_of("rotate/inplace/bf16/interleaved/prefill512/threads:1", {4}, {2}),
                 results_of("rotate/inplace/f32/split_half/prefill512/threads:1", {8}, {2})}));
  EXPECT_DOUBLE_EQ(read().rotation, bytes_of_512 / 8e-6);
  EXPECT_DOUBLE_EQ(read(ScalarType::bf16, PairKind::interleaved).rotation, bytes_of_512 / 2 / 4e-6);
}

TEST_F(BenchSpeeds, OfOtherFilesAreRefused) {
  constexpr const char* other = "must be results as eigen-rope bench --json writes them";
  for (const char* text :
       {"[]", "7", "{}", R"({"benchmarks": 3})", R"({"benchmarks": [7]})",
        R"({"benchmarks": [{"name": "x"}]})",
        R"({"benchmarks": [{"run_name": "rotate/inplace/f32/split_half/prefill4096/threads:1",
            "time_unit": "us", "real_time": "x", "memcpy_us": 1}]})"}) {
    write(Json::parse(text));
    EXPECT_EQ(refusal(), other) << text;
  }
  write(file_of({results_of("rotate/inplace/f32/split_half/prefill4096/threads:1", {0}, {1})}));
  EXPECT_EQ(refusal(),
            "the times of rotate/inplace/f32/split_half/prefill4096/threads:1 must be positive");
  write(file_of({}));
  EXPECT_EQ(refusal(),
            "must have a result rotate/inplace/f32/split_half/prefill4096/threads:1, as eigen-rope "
            "bench --filter 'inplace/f32/.*/prefill' --json FILE writes");
}

}  // namespace
}  // namespace eigen_rope::tool::bench_speeds_tests
