// SPDX-License-Identifier: Apache-2.0
#include "tool/gradcheck/gradcheck.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <set>

#include "eigen_rope/numbers/error.hpp"
#include "tool/gradcheck/reference.hpp"

namespace eigen_rope::tool {
namespace {

std::string name_of(const std::string& name) { return name; }

/// Those of `all` whose names the expression matches.
template <class All>
auto chosen(const All& all, const std::string& option, const std::string& expression) {
  using Kind = std::decay_t<decltype(*std::begin(all))>;
  std::vector<Kind> kinds;
  std::string names;
  try {
    const std::regex pattern(expression);
    for (const Kind& kind : all) {
      const std::string name = name_of(kind);
      names += (names.empty() ? "" : ", ") + name;
      if (expression.empty() || std::regex_match(name, pattern)) kinds.push_back(kind);
    }
  } catch (const std::regex_error&) {
    detail::fail(option + " must be a regular expression", expression);
  }
  if (kinds.empty()) detail::fail(option + " must match one of " + names, expression);
  return kinds;
}

std::string place_of(const std::vector<Axis>& axes, std::size_t number) {
  std::string text;
  auto rest = static_cast<eigen_rope::Index>(number);
  for (const Axis& axis : axes) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis.name, rest % axis.extent);
    rest /= axis.extent;
  }
  return text;
}

GradcheckEntry compare(const GradcheckCase& at, const Expectation& expected,
                       const std::vector<double>& mine) {
  GradcheckEntry entry;
  entry.at = at;
  entry.quantity = expected.quantity;
  entry.answer = expected.answer;
  entry.method = expected.method;
  if (mine.size() != expected.values.size()) {
    entry.problem =
        fmt::format("{} numbers were expected, got {}", expected.values.size(), mine.size());
    entry.ratio = std::numeric_limits<double>::infinity();
    return entry;
  }
  double worst = -1;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const auto error =
        static_cast<double>(std::abs(static_cast<long double>(mine[i]) - expected.values[i]));
    const auto bound = static_cast<double>(expected.bounds[i]);
    double ratio = error == 0 ? 0 : error / bound;
    if (!std::isfinite(error) || !std::isfinite(bound))
      ratio = std::numeric_limits<double>::infinity();
    if (!expected.units.empty() && expected.units[i] > 0)
      entry.ulp = std::max(entry.ulp, error / static_cast<double>(expected.units[i]));
    if (ratio <= worst) continue;
    worst = entry.ratio = ratio;
    entry.error = error;
    entry.bound = bound;
    entry.place = place_of(expected.axes, i);
    entry.mine = mine[i];
    entry.expected = static_cast<double>(expected.values[i]);
  }
  return entry;
}

GradcheckEntry unanswered(const GradcheckCase& at, const Expectation& expected,
                          const std::string& problem) {
  GradcheckEntry entry;
  entry.at = at;
  entry.quantity = expected.quantity;
  entry.answer = expected.answer;
  entry.method = expected.method;
  entry.problem = problem;
  entry.ratio = std::numeric_limits<double>::infinity();
  return entry;
}

/// <R x, g> - <x, R^T g>, pair by pair of the window, in the order of Loss::pairs().
void add_adjoint(Answers& answers, const Problem& problem) {
  const auto y = answers.find("y");
  const auto dx = answers.find("backward");
  const auto size = problem.x.size();
  if (y == answers.end() || dx == answers.end() || y->second.size() != size ||
      dx->second.size() != size)
    return;
  const auto features = static_cast<std::size_t>(problem.shape[0]);
  const eigen_rope::Index P = problem.pairs();
  std::vector<double> differences;
  for (std::size_t row = 0; row < size; row += features) {
    for (eigen_rope::Index k = 0; k < P; ++k) {
      const PairSlots slot = pair_slots(problem.at.pairing, k, 2 * P);
      const auto element = [&](eigen_rope::Index i) {
        return row + static_cast<std::size_t>(problem.pairing.offset() + i);
      };
      long double difference = 0;
      for (const eigen_rope::Index i : {slot.A, slot.B})
        difference += static_cast<long double>(y->second[element(i)]) * problem.g[element(i)];
      for (const eigen_rope::Index i : {slot.a, slot.b})
        difference -= static_cast<long double>(dx->second[element(i)]) * problem.x[element(i)];
      differences.push_back(static_cast<double>(difference));
    }
  }
  answers["adjoint"] = differences;
}

void check_case(GradcheckReport& report, const GradcheckCase& at, const Subject& subject) {
  const Problem problem = make_problem(at, report.seed);
  const std::vector<Expectation> expected = expectations(problem);
  Answers answers;
  std::string refusal = "it was not answered";
  try {
    answers = subject(problem);
    add_adjoint(answers, problem);
  } catch (const Error& error) {
    refusal = error.what();
  }
  for (const Expectation& expectation : expected) {
    const auto answer = answers.find(expectation.answer);
    report.entries.push_back(answer == answers.end() ? unanswered(at, expectation, refusal)
                                                     : compare(at, expectation, answer->second));
    if (answer != answers.end()) answers.erase(answer);
  }
  for (const auto& [name, numbers] : answers)
    report.entries.push_back(
        unanswered(at, {Quantity::y, name, "", {}, {}, {}, {}}, "nothing was expected"));
}

}  // namespace

std::string heading_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::y: return "y";
    case Quantity::inverse: return "inv";
    case Quantity::adjoint: return "adj";
    case Quantity::dx: return "dx";
    case Quantity::cos: return "dcos";
    case Quantity::sin: return "dsin";
    case Quantity::angle: return "dangle";
    case Quantity::magnitude: return "dm";
    case Quantity::positions: return "dpos";
    case Quantity::rates: return "drate";
    case Quantity::base: return "dbase";
    case Quantity::scale: return "dscale";
    case Quantity::factors: return "dfact";
    case Quantity::parameter: return "dparam";
    case Quantity::xpos: return "dxpos";
    case Quantity::jvp: return "jvp";
    case Quantity::second: break;
  }
  return "second";
}

std::string name_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::y: return "rotation";
    case Quantity::inverse: return "inverse";
    case Quantity::adjoint: return "adjoint";
    case Quantity::dx: return "gradient of x";
    case Quantity::cos: return "gradient of cos";
    case Quantity::sin: return "gradient of sin";
    case Quantity::angle: return "gradient of angles";
    case Quantity::magnitude: return "gradient of magnitudes";
    case Quantity::positions: return "gradient of positions";
    case Quantity::rates: return "gradient of rates";
    case Quantity::base: return "gradient of base";
    case Quantity::scale: return "gradient of linear scale";
    case Quantity::factors: return "gradient of freq factors";
    case Quantity::parameter: return "gradient of the scaling's parameters";
    case Quantity::xpos: return "gradient of xPos's parameters";
    case Quantity::jvp: return "forward mode";
    case Quantity::second: break;
  }
  return "second order";
}

std::vector<GradcheckCase> gradcheck_cases(const GradcheckFilters& filters) {
  const auto pairings = chosen(all_pairings, "--pairing", filters.pairing);
  const auto scalings = chosen(all_scalings(), "--scaling", filters.scaling);
  const auto scalars = chosen(all_scalars, "--scalar", filters.scalar);
  const auto layouts = chosen(all_layouts, "--layout", filters.layout);
  std::vector<GradcheckCase> cases;
  for (const PairKind pairing : pairings) {
    for (const std::string& scaling : scalings) {
      for (const ScalarType scalar : scalars) {
        for (const LayoutKind layout : layouts) cases.push_back({pairing, scaling, scalar, layout});
      }
    }
  }
  return cases;
}

std::int64_t GradcheckReport::passed() const {
  return std::count_if(entries.begin(), entries.end(),
                       [](const GradcheckEntry& entry) { return entry.passed(); });
}

std::int64_t GradcheckReport::failed() const {
  return static_cast<std::int64_t>(entries.size()) - passed();
}

GradcheckReport gradcheck(const std::vector<GradcheckCase>& cases, std::uint64_t seed,
                          const Subject& subject) {
  GradcheckReport report{cases, {}, seed};
  for (const GradcheckCase& at : cases) check_case(report, at, subject);
  return report;
}

}  // namespace eigen_rope::tool
