// SPDX-License-Identifier: Apache-2.0
#include "ratios.hpp"

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

/// The parts of a benchmark's name.
struct Name {
  std::string implementation, scalar, pairing, shape, threads;

  static Name parse(const std::string& full) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= full.size();) {
      const std::size_t end = std::min(full.find('/', begin), full.size());
      parts.push_back(full.substr(begin, end - begin));
      begin = end + 1;
    }
    parts.resize(std::max<std::size_t>(parts.size(), 6));
    return {parts[1], parts[2], parts[3], parts[4], parts[5]};
  }
};

class Ratios : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override {
    PrintBasicContext(&GetErrorStream(), context);
    fmt::print("running; ratios follow when all contenders have taken their turns\n");
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      if (run.error_occurred) {
        fmt::print(stderr, "{}: {}\n", run.run_name.str(), run.error_message);
        failed_ = true;
        continue;
      }
      const std::string name = run.run_name.function_name;
      order_[run.family_index] = name;
      seconds_[name].push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
    }
  }

  void Finalize() override {
    std::string group;
    for (const auto& [index, name] : order_) {
      const Name parts = Name::parse(name);
      if (parts.shape + parts.pairing != group) {
        group = parts.shape + parts.pairing;
        fmt::print("\n{} {} {}{:>36}{:>12}{:>16}\n", parts.shape, parts.pairing, parts.scalar, "median", "x memcpy", "(quartiles)");
      }
      std::vector<double>& times = seconds_[name];
      std::sort(times.begin(), times.end());
      const double unit = memcpy_of(parts);
      fmt::print("  {:<30}{:<10}{:>11.2f} us{:>12.2f}{:>8.2f} -{:>5.2f}\n", parts.implementation, parts.threads, median(times) * 1e6,
                 median(times) / unit, times[times.size() / 4] / unit, times[times.size() - 1 - times.size() / 4] / unit);
    }
  }

  bool failed() const { return failed_; }

 private:
  static double median(const std::vector<double>& sorted) { return sorted[sorted.size() / 2]; }

  double memcpy_of(const Name& parts) {
    std::vector<double> times = seconds_[fmt::format("rotate/memcpy/{}/{}/{}/threads:1", parts.scalar, parts.pairing, parts.shape)];
    if (times.empty()) return 1;
    std::sort(times.begin(), times.end());
    return median(times);
  }

  std::map<std::int64_t, std::string> order_;
  std::map<std::string, std::vector<double>> seconds_;
  bool failed_ = false;
};

}  // namespace

int run(int argc, char** argv) {
  std::vector<std::string> arguments{argv[0], "--benchmark_enable_random_interleaving=true", "--benchmark_repetitions=15",
                                     "--benchmark_min_time=0.01"};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return 2;
  Ratios ratios;
  if (benchmark::RunSpecifiedBenchmarks(&ratios) == 0) {
    fmt::print(stderr, "no benchmark matches the filter\n");
    return 2;
  }
  return ratios.failed() ? 1 : 0;
}

}  // namespace bench
