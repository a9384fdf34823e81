// SPDX-License-Identifier: Apache-2.0
#include "profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace train_lm {
namespace {

constexpr double milliseconds = 1e3;

constexpr std::array<std::string_view, part_count> names{
    "batch",         "tables",  "embedding", "norms", "projections", "rotation",
    "scores",        "softmax", "values",    "mlp",   "activation",  "logits",
    "cross entropy", "summing", "adam",      "ranks", "waiting"};

double both_ways(const Profile::Step& step, std::size_t part) {
  return step.parts[part][0] + step.parts[part][1];
}

double median_seconds(const std::vector<Profile::Step>& steps) {
  std::vector<double> seconds;
  for (const Profile::Step& step : steps) seconds.push_back(step.seconds);
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

/// A part has no column where it takes no time.
std::string cell(double seconds) {
  return seconds == 0 ? std::string() : fmt::format("{:.2f}", seconds * milliseconds);
}

}  // namespace

std::string_view name(Part part) { return names[static_cast<std::size_t>(part)]; }

Profile::Profile(int threads, Profiling profiling)
    : profiling_(profiling), laps_(static_cast<std::size_t>(threads), Laps(profiling)) {}

void Profile::reserve(std::size_t steps) {
  if (profiling_ == Profiling::on) steps_.reserve(steps_.size() + steps);
}

void Profile::begin_step() {
  if (profiling_ == Profiling::off) return;
  began_ = Laps::Clock::now();
  for (Laps& laps : laps_) laps.seconds_ = {};
  laps_.front().last_ = began_;
}

void Profile::end_step() {
  if (profiling_ == Profiling::off) return;
  Step step;
  step.seconds = std::chrono::duration<double>(Laps::Clock::now() - began_).count();
  double waiting = step.seconds;
  for (std::size_t part = 0; part < part_count; ++part) {
    for (std::size_t way = 0; way < 2; ++way) {
      for (const Laps& laps : laps_)
        step.parts[part][way] += laps.seconds_[part][way] / static_cast<double>(laps_.size());
      waiting -= step.parts[part][way];
    }
  }
  step.parts[static_cast<std::size_t>(Part::waiting)][0] = waiting;
  steps_.push_back(step);
}

std::string profile_table(const std::vector<Profile::Step>& steps, std::int64_t tokens_per_step) {
  if (steps.empty()) return {};
  const std::vector<Profile::Step> counted(steps.begin() + (steps.size() > 1 ? 1 : 0), steps.end());
  Profile::Step mean;
  for (const Profile::Step& step : counted) {
    const auto count = static_cast<double>(counted.size());
    mean.seconds += step.seconds / count;
    for (std::size_t part = 0; part < part_count; ++part) {
      for (std::size_t way = 0; way < 2; ++way)
        mean.parts[part][way] += step.parts[part][way] / count;
    }
  }
  std::string text =
      fmt::format("{:<16}{:>10}{:>10}{:>9}\n", "ms of a step", "forward", "backward", "share");
  const auto out = std::back_inserter(text);
  for (std::size_t part = 0; part < part_count; ++part) {
    if (both_ways(mean, part) == 0) continue;
    fmt::format_to(out, "{:<16}{:>10}{:>10}{:>8.1f}%\n", names[part], cell(mean.parts[part][0]),
                   cell(mean.parts[part][1]), 100 * both_ways(mean, part) / mean.seconds);
  }
  const double median = median_seconds(counted);
  fmt::format_to(out, "{:<16}{:>20.2f}{:>8.1f}%\n", "step", mean.seconds * milliseconds, 100.0);
  fmt::format_to(out, "median step {:.2f} ms, {:.1f} thousand characters a second\n",
                 median * milliseconds, static_cast<double>(tokens_per_step) / median / 1e3);
  return text;
}

std::string profile_csv(const std::vector<Profile::Step>& steps) {
  std::string csv = "step,milliseconds";
  const auto out = std::back_inserter(csv);
  for (const std::string_view part : names) fmt::format_to(out, ",{}", part);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    fmt::format_to(out, "\n{},{:.6f}", i + 1, steps[i].seconds * milliseconds);
    for (std::size_t part = 0; part < part_count; ++part)
      fmt::format_to(out, ",{:.6f}", both_ways(steps[i], part) * milliseconds);
  }
  return csv + "\n";
}

}  // namespace train_lm
