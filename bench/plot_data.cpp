// SPDX-License-Identifier: Apache-2.0
#include "plot_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

namespace bench {
namespace {

struct Column {
  const char* implementation;
  int threads;
  const char* title;
};

constexpr Column columns[] = {
    {"inplace", 1, "x = rotate(x)"},         {"expr", 1, "y = rotate(x)"},
    {"expr", 2, "y = rotate(x), 2 threads"}, {"bnsd", 1, "y = rotate(x), BNSD"},
    {"loop_native", 1, "loop, -O3 native"},  {"loop_o2", 1, "loop, -O2"},
    {"complex", 1, "Eigen complex"},         {"composed", 1, "Eigen slices"},
};

struct Row {
  const char* shape;
  const char* label;
};

constexpr Row shape_rows[] = {{"decode", "1 token"},
                              {"tok16", "16 tokens"},
                              {"prefill512", "512 tokens"},
                              {"prefill4096", "4096 tokens"},
                              {"partial512", "512, 32 of 80"}};

std::string ratio_text(const Results& results, const Column& column, const std::string& scalar,
                       const std::string& pairing, const char* shape) {
  const Measurement* m =
      results.find(Name{column.implementation, scalar, pairing, shape, column.threads}.text());
  return m == nullptr || !m->over_memcpy ? "nan" : fmt::format("{:.4f}", m->over_memcpy->median);
}

}  // namespace

std::map<std::string, std::string> ratio_plots(const Results& results) {
  std::set<std::pair<std::string, std::string>> groups;
  for (const Measurement& m : results.measurements()) {
    if (m.name.implementation == "memcpy") groups.emplace(m.name.scalar, m.name.pairing);
  }
  std::map<std::string, std::string> files;
  for (const auto& [scalar, pairing] : groups) {
    std::string& text = files[fmt::format("plot_{}_{}.dat", scalar, pairing)];
    text = "\"shape\"";
    for (const Column& column : columns)
      fmt::format_to(std::back_inserter(text), " \"{}\"", column.title);
    text += '\n';
    for (const Row& row : shape_rows) {
      fmt::format_to(std::back_inserter(text), "\"{}\"", row.label);
      for (const Column& column : columns)
        text += ' ' + ratio_text(results, column, scalar, pairing, row.shape);
      text += '\n';
    }
  }
  return files;
}

std::string target_plot(const std::vector<Verdict>& verdicts) {
  struct Span {
    double least = INFINITY, greatest = -INFINITY;
  };
  std::vector<std::string> order;
  std::map<std::string, Span> spans;
  for (const Verdict& v : verdicts) {
    if (v.outcome == Outcome::not_measured || v.outcome == Outcome::no_hand_loop) continue;
    const double share = v.measured / v.allowed;
    const std::string scalar = Name::parse(v.name).scalar;
    const std::string label =
        v.target->title + (scalar == "f16" || scalar == "bf16" ? ", 16-bit" : "");
    if (spans.find(label) == spans.end()) order.push_back(label);
    Span& span = spans[label];
    span.least = std::min(span.least, share);
    span.greatest = std::max(span.greatest, share);
  }
  std::string text;
  for (const std::string& label : order) {
    fmt::format_to(std::back_inserter(text), "\"{}\" {:.4f} {:.4f}\n", label, spans[label].least,
                   spans[label].greatest);
  }
  return text;
}

}  // namespace bench
