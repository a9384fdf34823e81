// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/check/report.hpp"

#include <fmt/core.h>

#include <ostream>

#include "numbers/joined.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace {

std::string index_text(const std::vector<Index>& place) {
  return place.empty() ? std::string() : fmt::format("[{}]", detail::joined(place, ", "));
}

/// `1 entry`, `2 entries`
std::string counted(Index count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed: return "passed";
    case Verdict::failed: return "failed";
    case Verdict::non_finite: return "not finite";
    case Verdict::inconclusive: break;
  }
  return "inconclusive";
}

const char* name_of(NumericMethod method) {
  switch (method) {
    case NumericMethod::automatic: return "automatic";
    case NumericMethod::complex_step: return "complex step";
    case NumericMethod::central_differences: return "central differences";
    case NumericMethod::linear_map: break;
  }
  return "linear map";
}

const char* name_of(Coverage coverage) {
  switch (coverage) {
    case Coverage::automatic: return "automatic";
    case Coverage::every_entry: return "every entry";
    case Coverage::projections: break;
  }
  return "projections";
}

std::string GradientEntry::text() const {
  const std::string output = output_place ? "f" + index_text(*output_place) : "<w, f>";
  return fmt::format(
      "d {} / d {}", output,
      place ? argument + index_text(*place) : fmt::format("{} along random signs", argument));
}

std::string GradientReport::text() const {
  const char* const one = coverage == Coverage::projections ? "projection" : "entry";
  const char* const many = coverage == Coverage::projections ? "projections" : "entries";
  std::string result =
      fmt::format("{} check {}: ", method == NumericMethod::linear_map ? "adjoint" : "gradient",
                  name_of(verdict));
  if (verdict == Verdict::failed) {
    result += fmt::format("{} of {} {}", disagreeing, counted(checked, one, many),
                          disagreeing == 1 ? "disagrees" : "disagree");
  } else if (checked == 0 && non_finite == 0) {
    result += "nothing to check";
  } else {
    result += counted(checked, one, many);
  }
  result += fmt::format(" ({}, {})", name_of(method), name_of(coverage));
  if (worst) {
    result += fmt::format(
        "\n  worst: {}  claimed {:.10g}  numeric {:.10g}  difference {:.2g}  bound {:.2g}",
        worst->text(), worst->claimed, worst->numeric, worst->difference, worst->bound);
  }
  if (non_finite > 0)
    result += fmt::format("\n  not finite: {}", counted(non_finite, "value", "values"));
  if (undetermined > 0) {
    result += fmt::format(
        "\n  not judged: {}, at a kink or a jump of f, at the edge of its domain, or "
        "lost in its rounding",
        counted(undetermined, one, many));
  }
  if (!note.empty()) result += "\n  " + note;
  result += fmt::format("\n  cost: f evaluated {}, the gradient {}",
                        counted(evaluations, "time", "times"),
                        counted(gradient_evaluations, "time", "times"));
  return result;
}

std::ostream& operator<<(std::ostream& stream, const GradientReport& report) {
  return stream << report.text();
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
