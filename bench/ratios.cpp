// SPDX-License-Identifier: Apache-2.0
#include "ratios.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>

namespace bench {
namespace {

double unit_in_seconds(const std::string& unit) {
  if (unit == "ns") return 1e-9;
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  if (unit == "s") return 1;
  throw std::runtime_error("unknown time unit " + unit);
}

/// Between the two nearest of the sorted values.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {quantile(values, 0.5), quantile(values, 0.25), quantile(values, 0.75)};
}

/// The repetitions of one benchmark.
struct Runs {
  std::vector<double> seconds, over_memcpy;

  void add(const nlohmann::json& result) {
    seconds.push_back(result.at("real_time").get<double>() *
                      unit_in_seconds(result.at("time_unit")));
    if (result.contains("memcpy_us"))
      over_memcpy.push_back(seconds.back() / (result.at("memcpy_us").get<double>() * 1e-6));
  }

  Measurement measurement(const std::string& name) const {
    Measurement result{Name::parse(name), static_cast<int>(seconds.size()), spread_of(seconds),
                       std::nullopt};
    if (over_memcpy.size() == seconds.size()) result.over_memcpy = spread_of(over_memcpy);
    return result;
  }
};

std::string group_of(const Name& name) {
  return name.shape + ' ' + name.scalar + ' ' + name.pairing;
}

std::string row_of(const Measurement& m) {
  const std::string label =
      m.name.threads == 1 ? m.name.implementation
                          : fmt::format("{}, {} threads", m.name.implementation, m.name.threads);
  std::string row = fmt::format("  {:<26}{:>12.2f} us", label, m.seconds.median * 1e6);
  if (m.over_memcpy) {
    row += fmt::format("{:>12.3f}    ({:.3f} - {:.3f})", m.over_memcpy->median,
                       m.over_memcpy->lower, m.over_memcpy->upper);
  } else {
    row += fmt::format("{:>12}    ({:.2f} - {:.2f} us)", "-", m.seconds.lower * 1e6,
                       m.seconds.upper * 1e6);
  }
  return row + '\n';
}

}  // namespace

Name Name::parse(const std::string& text) {
  static const std::regex form("rotate/([^/]+)/([^/]+)/([^/]+)/([^/]+)/threads:([0-9]+)");
  std::smatch parts;
  if (!std::regex_match(text, parts, form))
    throw std::runtime_error("not a benchmark's name: " + text);
  return {parts[1], parts[2], parts[3], parts[4], std::stoi(parts[5])};
}

std::string Name::text() const {
  return fmt::format("rotate/{}/{}/{}/{}/threads:{}", implementation, scalar, pairing, shape,
                     threads);
}

void Results::load(const std::string& file, Repeated repeated) {
  std::ifstream in(file);
  const nlohmann::json json = nlohmann::json::parse(in, nullptr, false);
  if (json.is_discarded() || !json.contains("benchmarks"))
    throw std::runtime_error("cannot read results from " + file);
  add(json, file, repeated);
}

void Results::add(const nlohmann::json& json, const std::string& file, Repeated repeated) {
  std::map<std::string, Runs> repetitions;
  std::vector<std::string> order;
  for (const nlohmann::json& result : json.at("benchmarks")) {
    if (result.at("run_type") != "iteration" || result.value("error_occurred", false)) continue;
    const std::string name = result.at("run_name");
    if (repetitions.find(name) == repetitions.end()) order.push_back(name);
    repetitions[name].add(result);
  }
  for (const std::string& name : order) {
    const auto [known, is_new] = index_.emplace(name, measurements_.size());
    if (is_new) {
      measurements_.push_back(repetitions.at(name).measurement(name));
    } else if (repeated == Repeated::replaces) {
      measurements_[known->second] = repetitions.at(name).measurement(name);
    } else {
      throw std::runtime_error(name + " was measured twice");
    }
  }
  const nlohmann::json context = json.value("context", nlohmann::json::object());
  const auto text = [&](const char* key) { return context.value(key, std::string()); };
  programs_.push_back({file, text("cpu"), text("processor"), text("rope_kernel_target"),
                       text("compiler"), text("eigen"), text("eigen_vectors")});
}

const Measurement* Results::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &measurements_[found->second];
}

std::string table_of(const Results& results) {
  std::vector<std::string> groups;
  std::map<std::string, std::string> rows;
  for (const Measurement& m : results.measurements()) {
    const std::string group = group_of(m.name);
    if (rows.find(group) == rows.end()) groups.push_back(group);
    rows[group] += row_of(m);
  }
  std::string text;
  for (const std::string& group : groups) {
    fmt::format_to(std::back_inserter(text), "{:<28}{:>15}{:>12}    {}\n{}\n", group, "median",
                   "x memcpy", "(quartiles)", rows.at(group));
  }
  return text;
}

}  // namespace bench
