// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <exception>
#include <fstream>
#include <sstream>
#include <utility>

#include "check.hpp"
#include "eigen_rope/machine/kernel_target.hpp"
#include "timing.hpp"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Effort {
  int repetitions;
  double seconds;  // at least, for one repetition
};

Effort effort_of(const Entry& entry, Pace pace) {
  if (entry.repetitions == Repetitions::some)
    return {pace == Pace::quick     ? 5
            : is_large(entry.bytes) ? 7
                                    : 15,
            is_large(entry.bytes) ? 1e-6 : 0.001};
  if (entry.repetitions == Repetitions::few) return {pace == Pace::quick ? 1 : 3, 1e-6};
  if (pace == Pace::quick) return {5, 0.002};
  return {is_large(entry.bytes) ? 31 : 61, is_large(entry.bytes) ? 1e-6 : 0.002};
}

void time_entry(benchmark::State& state, const Entry& entry) {
  if (entry.memcpy) state.counters["memcpy_us"] = seconds_of_call(entry.bytes, entry.memcpy) * 1e6;
  if (!is_large(entry.bytes) && entry.repetitions != Repetitions::few) entry.prepared.run();
  for (auto _ : state) {
    if (is_displaced(entry.bytes)) {
      state.SetIterationTime(seconds_of_displaced(entry.bytes, entry.prepared.run));
    } else {
      entry.prepared.run();
      benchmark::ClobberMemory();
    }
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(entry.bytes));
}

/// Google Benchmark appends its settings to a name ("/repeats:31/real_time"); only an aggregate's
/// suffix is kept.
void strip_settings(nlohmann::json& result) {
  const std::string full = result.at("run_name");
  const std::string name = full.substr(0, full.find('/', full.find("threads:")));
  result["run_name"] = name;
  result["name"] = result.contains("aggregate_name")
                       ? name + "_" + result.at("aggregate_name").get<std::string>()
                       : name;
}

/// Vendor, family and model of the processor, as /proc/cpuinfo says; empty where there is none.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string vendor, family, model;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || colon + 2 > line.size()) continue;
    const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    const std::string value = line.substr(colon + 2);
    if (key == "vendor_id") vendor = value;
    if (key == "cpu family") family = value;
    if (key == "model") model = value;
  }
  return family.empty() ? "" : fmt::format("{} family {} model {}", vendor, family, model);
}

void initialize_google_benchmark() {
  static std::string arguments[] = {"rotate_bench", "--benchmark_enable_random_interleaving=true"};
  char* pointers[] = {arguments[0].data(), arguments[1].data()};
  int count = 2;
  benchmark::Initialize(&count, pointers);
}

}  // namespace

Session::Session(SessionOptions options) : options_(std::move(options)), filter_(options_.filter) {
  initialize_google_benchmark();
  benchmark::AddCustomContext("rope_kernel_target", eigen_rope::kernel_target());
  benchmark::AddCustomContext("processor", processor());
  benchmark::AddCustomContext("compiler", __VERSION__);
#ifdef EIGEN_PATCH_VERSION  // from Eigen 5, whose world is still 3
  benchmark::AddCustomContext("eigen", fmt::format("{}.{}.{}", EIGEN_MAJOR_VERSION,
                                                   EIGEN_MINOR_VERSION, EIGEN_PATCH_VERSION));
#else
  benchmark::AddCustomContext("eigen", fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION,
                                                   EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION));
#endif
  benchmark::AddCustomContext("eigen_vectors", Eigen::SimdInstructionSetsInUse());
}

std::string Session::name(const std::string& implementation, const std::string& scalar,
                          const std::string& pairing, const std::string& shape, int threads) const {
  return fmt::format("rotate/{}{}/{}/{}/{}/threads:{}", implementation, options_.suffix, scalar,
                     pairing, shape, threads);
}

bool Session::wants(const std::string& name) const {
  if (options_.only && options_.only->count(name) == 0) return false;
  return std::regex_search(name, filter_);
}

void Session::run(const std::string& title, const std::vector<Entry>& entries) {
  fmt::print("{:<32}", title);
  std::fflush(stdout);
  const Clock::time_point start = Clock::now();
  for (const Entry& entry : entries) {
    if (!entry.prepared.correct()) {
      fmt::print(stderr, "\nerror: {} differs from the reference and is not timed\n", entry.name);
      differed_ = true;
      continue;
    }
    const Effort effort = effort_of(entry, options_.pace);
    auto* registered = benchmark::RegisterBenchmark(
        entry.name.c_str(), [&entry](benchmark::State& state) { time_entry(state, entry); });
    (is_displaced(entry.bytes) ? registered->UseManualTime() : registered->UseRealTime())
        ->Unit(benchmark::kMicrosecond)
        ->Repetitions(effort.repetitions)
        ->MinTime(effort.seconds);
  }
  std::ostringstream text;
  benchmark::JSONReporter reporter;
  reporter.SetOutputStream(&text);
  benchmark::RunSpecifiedBenchmarks(&reporter, std::string("."));
  benchmark::ClearRegisteredBenchmarks();

  nlohmann::json group = nlohmann::json::parse(text.str());
  for (nlohmann::json& result : group.at("benchmarks")) strip_settings(result);
  // Google Benchmark reports whichever was finished first.
  auto& list = group.at("benchmarks").get_ref<nlohmann::json::array_t&>();
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return a.at("family_index") < b.at("family_index");
  });
  if (results_.is_null()) {
    results_ = std::move(group);
  } else {
    for (nlohmann::json& result : group.at("benchmarks"))
      results_["benchmarks"].push_back(std::move(result));
  }
  const std::chrono::duration<double> seconds = Clock::now() - start;
  fmt::print("{:>3} contenders {:>6.1f} s\n", entries.size(), seconds.count());
}

int Session::finish() const {
  if (results_.is_null()) {
    fmt::print(stderr, "error: no contender is wanted\n");
    return 2;
  }
  std::ofstream file(options_.out);
  file << results_.dump(1) << '\n';
  if (!file.flush()) {
    fmt::print(stderr, "error: cannot write {}\n", options_.out);
    return 2;
  }
  return differed_ ? 1 : 0;
}

int session_main(int argc, char** argv, const std::string& suffix,
                 const std::function<void(Session&)>& groups) {
  CLI::App app(
      "Times rotations against memcpy, contenders interleaved. Results: Google Benchmark's JSON.");
  SessionOptions options;
  options.suffix = suffix;
  std::string targets;
  bool quick = false;
  app.add_option("--out", options.out, "The JSON file to write")->required();
  app.add_option("--filter", options.filter,
                 "Run only names in which this regular expression is found");
  app.add_option("--targets", targets, "Run only what this file of targets needs")
      ->check(CLI::ExistingFile);
  app.add_flag("--quick", quick, "Few repetitions, no large tensors: a look, not a measurement");
  CLI11_PARSE(app, argc, argv);
  try {
    if (quick) options.pace = Pace::quick;
    if (!targets.empty()) options.only = needed_names(read_targets(targets));
    Session session(std::move(options));
    fmt::print("kernels: {}; the program's own code: {}\n", eigen_rope::kernel_target(),
               Eigen::SimdInstructionSetsInUse());
    groups(session);
    return session.finish();
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
}

}  // namespace bench
