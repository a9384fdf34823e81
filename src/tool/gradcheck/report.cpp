// SPDX-License-Identifier: Apache-2.0
#include "tool/gradcheck/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tool/gradcheck/summary.hpp"
#include "tool/io/files.hpp"

namespace eigen_rope::tool {
namespace {

constexpr int cell_width = 7;

std::string number_of(double ratio) {
  if (std::isinf(ratio) || std::isnan(ratio)) return "inf";
  if (ratio == 0) return "0";
  return ratio < 9.995 ? fmt::format("{:.2f}", ratio) : fmt::format("{:.0e}", ratio);
}

std::string cell_of(const WorstRatios& worst, Quantity quantity, const Painter& painter) {
  const auto found = worst.find(quantity);
  if (found == worst.end()) return painter.faint(fmt::format("{:>{}}", "-", cell_width));
  const bool passed = found->second <= 1;
  const std::string text =
      fmt::format("{:>{}}", number_of(found->second) + (passed ? "" : "!"), cell_width);
  return passed ? text : painter.red(text);
}

/// One pairing's rows for columns [first, last).
std::string block_of(const std::vector<SummaryRow>& rows, const std::string& title,
                     const std::vector<Quantity>& columns, std::size_t label,
                     const Painter& painter) {
  std::string text = painter.bold(fmt::format("{:<{}}", title, label));
  // A long title pushes its headings to a line of their own.
  if (title.size() > label) text += "\n" + std::string(label, ' ');
  for (const Quantity quantity : columns)
    text += painter.bold(fmt::format("{:>{}}", heading_of(quantity), cell_width));
  text += '\n';
  for (const SummaryRow& row : rows) {
    text += fmt::format("{:<{}}", fmt::format("  {} {}", row.scaling, name_of(row.scalar)), label);
    for (const Quantity quantity : columns) text += cell_of(row.worst, quantity, painter);
    text += '\n';
  }
  return text;
}

std::string tables_of(const GradcheckReport& report, const TextOptions& options) {
  const Painter painter(options.colour);
  const std::vector<SummaryRow> rows = summary_of(report);
  std::vector<Quantity> columns;
  std::size_t label = 0;
  for (const Quantity quantity : all_quantities) {
    if (std::any_of(rows.begin(), rows.end(),
                    [&](const SummaryRow& row) { return row.worst.count(quantity) != 0; }))
      columns.push_back(quantity);
  }
  for (const SummaryRow& row : rows)
    label = std::max(label, row.scaling.size() + std::string_view(name_of(row.scalar)).size() + 3);
  const auto room =
      static_cast<std::size_t>(std::max(1, (options.width - static_cast<int>(label)) / cell_width));
  std::string text;
  for (const PairKind pairing : all_pairings) {
    std::vector<SummaryRow> own;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(own),
                 [&](const SummaryRow& row) { return row.pairing == pairing; });
    if (own.empty()) continue;
    for (std::size_t first = 0; first < columns.size(); first += room) {
      const std::vector<Quantity> some(
          columns.begin() + static_cast<std::ptrdiff_t>(first),
          columns.begin() + static_cast<std::ptrdiff_t>(std::min(columns.size(), first + room)));
      text += block_of(own, name_of(pairing), some, label, painter) + "\n";
    }
  }
  return text + "worst error / bound of all layouts; ! failed, - does not apply, --help explains\n";
}

std::string name_of(const GradcheckCase& at) {
  using tool::name_of;
  return fmt::format("{} {} {} {}", name_of(at.pairing), at.scaling, name_of(at.scalar),
                     name_of(at.layout));
}

/// What failed of one answer: how often, and where most.
struct Failure {
  std::int64_t cases = 0, failed = 0;
  const GradcheckEntry* worst = nullptr;
};

std::string failures_of(const GradcheckReport& report, const Painter& painter) {
  std::vector<std::string> order;
  std::map<std::string, Failure> failures;
  for (const GradcheckEntry& entry : report.entries) {
    Failure& failure = failures[entry.answer];
    ++failure.cases;
    if (entry.passed()) continue;
    if (failure.failed++ == 0) order.push_back(entry.answer);
    if (failure.worst == nullptr || entry.ratio > failure.worst->ratio) failure.worst = &entry;
  }
  std::string text;
  for (const std::string& answer : order) {
    const Failure& failure = failures[answer];
    const GradcheckEntry& worst = *failure.worst;
    text += fmt::format("{} {} in {} of {} cases; worst {}\n  ", painter.red("FAILED"), answer,
                        failure.failed, failure.cases, name_of(worst.at));
    if (!worst.problem.empty()) {
      text += worst.problem + "\n";
      continue;
    }
    text += fmt::format("error {:.3g}, bound {:.3g}, by {}\n  {}{}got {:.17g}, expected {:.17g}\n",
                        worst.error, worst.bound, worst.method, worst.place,
                        worst.place.empty() ? "" : ": ", worst.mine, worst.expected);
  }
  return text;
}

std::string ulps_of(const GradcheckReport& report, const char* title,
                    const std::set<Quantity>& quantities) {
  std::map<ScalarType, double> ulps;
  for (const GradcheckEntry& entry : report.entries) {
    if (entry.ulp >= 0 && quantities.count(entry.quantity) != 0)
      ulps[entry.at.scalar] = std::max(ulps[entry.at.scalar], entry.ulp);
  }
  std::string text = title;
  for (const ScalarType scalar : all_scalars) {
    if (ulps.count(scalar) != 0) text += fmt::format("  {} {:.2f}", name_of(scalar), ulps[scalar]);
  }
  return text + "\n";
}

std::string worst_of(const GradcheckReport& report) {
  std::string text =
      ulps_of(report, "worst ulp of the pair's size, y and dx:", {Quantity::y, Quantity::dx});
  text += ulps_of(report, "                              inverse:", {Quantity::inverse});
  const auto less = [](const GradcheckEntry& a, const GradcheckEntry& b) {
    return a.ratio < b.ratio;
  };
  const auto worst = std::max_element(report.entries.begin(), report.entries.end(), less);
  if (worst != report.entries.end())
    text += fmt::format("worst error / bound: {}\n  {}: {}\n", number_of(worst->ratio),
                        name_of(worst->at), worst->answer);
  return text;
}

}  // namespace

std::string gradcheck_help() {
  return "A regular expression (ECMAScript) must match the whole of a name: 'yarn.*'.\n"
         "\n"
         "The table has a row for each pairing, scaling and scalar. A cell is the worst\n"
         "error / bound over the layouts, and over all ways to the same number: from y,\n"
         "from x, with full-width tables. Above 1 it failed. 1.00 is reached where a\n"
         "result is rounded once and half an ulp is allowed (table_gradient).\n"
         "\n"
         "  y        rotate(x)\n"
         "  inv      inverse(rotate(x)) - x\n"
         "  adj      <R x, g> - <x, R^T g>, pair by pair\n"
         "  dx       gradient of the loss L = sum g y with respect to x\n"
         "  dcos     to the table's cosines\n"
         "  dsin     to its sines\n"
         "  dangle   to the angles\n"
         "  dm       to log m of each entry, and to the attention factor\n"
         "  dpos     to the positions\n"
         "  drate    to the rates\n"
         "  dbase    to the base\n"
         "  dscale   to the linear scale\n"
         "  dfact    to the frequency factors\n"
         "  dparam   to each parameter of the scaling: factor, beta_fast, mscale, long_factor\n"
         "           (0 for YaRN's betas where the ends of its ramp are rounded)\n"
         "  dxpos    to xPos's scale base, gamma and center\n"
         "  jvp      forward mode in x, angles and log m\n"
         "  second   gradients of dx and of the angles' gradient\n"
         "\n"
         "ggml_yarn rounds the ends of its ramp as ggml does, ggml_yarn_exact does not; yarn\n"
         "and yarn_deepseek are Hugging Face's and DeepSeek's. xpos rotates keys with bsnd\n"
         "and sbnd, queries with the others. rates are given one by one, some of them\n"
         "negative, with m = -0.8. bnsd has positions on three axes. Tables are double for\n"
         "f64 and float for the others.\n"
         "\n"
         "Expected values: the formulas in long double, derivatives by the complex step,\n"
         "one parameter at a time, sharing nothing with eigen_rope::gradients().\n"
         "\n"
         "Bounds, with e = 2^-53; d half an ulp of a table entry and what the reference's\n"
         "own roundings may add to it, followed through the scaling's formula; n the terms\n"
         "of a sum and N the sum of their sizes:\n"
         "  y, dx, jvp   1.5 ulp of the pair's magnitude and sqrt(2) d of it, for each\n"
         "               rotation\n"
         "  inv          twice 1.5 ulp, and 5 roundings of the coefficients\n"
         "  sums         n e N (f64: 2 e N), and from y |g| times y's bound; 2^-23 N more\n"
         "               where angles alone are asked for, but for f64\n"
         "  parameters   their sums' bounds times the derivative, and 6 e of each term\n"
         "\n"
         "Exit code: 0 all within their bounds, 1 some beyond, 2 unusable input or usage.";
}

std::string text_of(const GradcheckReport& report, const TextOptions& options) {
  std::string text =
      tables_of(report, options) + failures_of(report, Painter(options.colour)) + worst_of(report);
  text += fmt::format("seed {}, {} cases: {} passed, {} failed\n", report.seed, report.cases.size(),
                      report.passed(), report.failed());
  return text;
}

void write_json(const GradcheckReport& report, const std::filesystem::path& path) {
  Json entries = Json::array();
  for (const GradcheckEntry& entry : report.entries) {
    Json one{{"pairing", name_of(entry.at.pairing)},
             {"scaling", entry.at.scaling},
             {"scalar", name_of(entry.at.scalar)},
             {"layout", name_of(entry.at.layout)},
             {"quantity", name_of(entry.quantity)},
             {"answer", entry.answer},
             {"method", entry.method},
             {"error", entry.error},
             {"bound", entry.bound},
             {"ratio", entry.ratio},
             {"place", entry.place},
             {"got", entry.mine},
             {"expected", entry.expected},
             {"problem", entry.problem},
             {"passed", entry.passed()}};
    if (entry.ulp >= 0) one["ulp"] = entry.ulp;
    entries.push_back(std::move(one));
  }
  const Json all{{"seed", report.seed},
                 {"cases", report.cases.size()},
                 {"passed", report.passed()},
                 {"failed", report.failed()},
                 {"entries", std::move(entries)}};
  // Numbers that are not finite become null.
  write_whole(path, all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace eigen_rope::tool
