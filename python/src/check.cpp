// SPDX-License-Identifier: Apache-2.0
//
// The gradient check, for functions of flat arrays of float64. eigen_rope/_check.py makes them of a
// Python function and its arguments.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <eigen_rope/check/detail/gradient_problem.hpp>
#include <eigen_rope/check/options.hpp>
#include <eigen_rope/check/report.hpp>
#include <eigen_rope/numbers/error.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "numpy.hpp"
#include "words.hpp"

namespace eigen_rope_python {
namespace {

using er::Index;
using er::detail::FlatArray;
using er::detail::FlatValues;

/// The value of an enum whose name in words this is, with _ for the spaces.
template <class Enum, std::size_t count>
Enum named(const char* argument, const std::string& name, const std::array<Enum, count>& all) {
  std::string names;
  for (const Enum one : all) {
    std::string word = er::name_of(one);
    std::replace(word.begin(), word.end(), ' ', '_');
    if (word == name) return one;
    names += (names.empty() ? "" : ", ") + word;
  }
  er::detail::fail(std::string(argument) + " must be one of " + names, name);
}

nb::object array_of(const FlatValues& values) {
  return numpy_array(values, {static_cast<Index>(values.size())});
}

FlatValues values_of(nb::handle array) {
  const auto given = nb::cast<nb::ndarray<const double, nb::ndim<1>, nb::c_contig>>(array);
  return {given.data(), given.data() + given.size()};
}

FlatArray flat_array(const std::pair<std::string, std::vector<Index>>& argument) {
  return {argument.first, argument.second, er::detail::MemoryOrder::last_index_fastest};
}

er::GradientReport check(const std::vector<std::string>& names,
                         const std::vector<std::vector<Index>>& shapes,
                         const std::vector<Index>& output, nb::handle x, nb::object value,
                         double value_epsilon, nb::object directional, nb::object claimed,
                         double claimed_epsilon, er::GradientCheckOptions options,
                         const std::string& kind) {
  er::detail::GradientProblem problem;
  for (std::size_t i = 0; i < names.size(); ++i)
    problem.arguments.push_back(flat_array({names[i], shapes[i]}));
  problem.output = flat_array({"f", output});
  problem.x = values_of(x);
  problem.value_epsilon = value_epsilon;
  problem.claimed_epsilon = claimed_epsilon;
  if (!value.is_none())
    problem.value = [&](const FlatValues& at) { return values_of(value(array_of(at))); };
  if (!directional.is_none()) {
    problem.directional = [&](const FlatValues& at, const FlatValues& v) {
      return values_of(directional(array_of(at), array_of(v)));
    };
  }
  problem.claimed = [&](const FlatValues& at, const FlatValues& w) {
    return values_of(claimed(array_of(at), array_of(w)));
  };
  return er::detail::run_gradient_check(
      problem, options,
      kind == "linear" ? er::detail::ProblemKind::linear : er::detail::ProblemKind::differentiable);
}

er::GradientCheckOptions check_options(double absolute, double relative, const std::string& method,
                                       const std::string& coverage, Index every_entry_limit,
                                       int projections, double step, double typical_x,
                                       std::uint64_t seed) {
  using er::Coverage;
  using er::NumericMethod;
  er::GradientCheckOptions result;
  result.absolute = absolute;
  result.relative = relative;
  result.method = named("method", method,
                        std::array{NumericMethod::automatic, NumericMethod::complex_step,
                                   NumericMethod::central_differences});
  result.coverage =
      named("coverage", coverage,
            std::array{Coverage::automatic, Coverage::every_entry, Coverage::projections});
  result.every_entry_limit = every_entry_limit;
  result.projections = projections;
  result.step = step;
  result.typical_x = typical_x;
  result.seed = seed;
  return result;
}

template <class Enum>
std::string word(Enum value) {
  std::string name = er::name_of(value);
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

void bind_report(nb::module_& module) {
  using er::GradientEntry;
  using er::GradientReport;
  nb::class_<GradientEntry>(
      module, "GradientEntry",
      "One comparison of a gradient check: a derivative claimed and measured.")
      .def_ro("argument", &GradientEntry::argument, "The argument's name.")
      .def_ro("place", &GradientEntry::place, "The place in it; None for a random direction.")
      .def_ro("output_place", &GradientEntry::output_place,
              "The place in the output; None for a random direction.")
      .def_ro("claimed", &GradientEntry::claimed, "The derivative that the gradient claims.")
      .def_ro("numeric", &GradientEntry::numeric, "The derivative that was measured.")
      .def_ro("difference", &GradientEntry::difference, "|claimed - numeric|")
      .def_ro("bound", &GradientEntry::bound, "The largest difference that counts as agreement.")
      .def("__str__", &GradientEntry::text);
  nb::class_<GradientReport>(module, "GradientReport", R"(
The result of check_gradient() and check_adjoint().

It is true if every comparison agrees, and str() of it says what was found.)")
      .def_prop_ro(
          "verdict", [](const GradientReport& self) { return word(self.verdict); },
          "passed, failed, not_finite or inconclusive.")
      .def_prop_ro(
          "method", [](const GradientReport& self) { return word(self.method); },
          "How the numeric derivatives were formed.")
      .def_prop_ro(
          "coverage", [](const GradientReport& self) { return word(self.coverage); },
          "The part that was looked at.")
      .def_ro("worst", &GradientReport::worst, "The comparison that the verdict rests on, or None.")
      .def_ro("checked", &GradientReport::checked, "The number of comparisons.")
      .def_ro("disagreeing", &GradientReport::disagreeing,
              "The number of comparisons whose difference exceeds the bound.")
      .def_ro("non_finite", &GradientReport::non_finite,
              "The number of values that are NaN or infinite.")
      .def_ro("undetermined", &GradientReport::undetermined,
              "The number of comparisons that could not be judged.")
      .def_ro("evaluations", &GradientReport::evaluations, "The number of calls of f.")
      .def_ro("gradient_evaluations", &GradientReport::gradient_evaluations,
              "The number of calls of the gradient under test.")
      .def_ro("note", &GradientReport::note, "Why another method was used than could be expected.")
      .def("__bool__", [](const GradientReport& self) { return static_cast<bool>(self); })
      .def("__str__", &GradientReport::text)
      .def("__repr__", [](const GradientReport& self) {
        return "<GradientReport: " + std::string(er::name_of(self.verdict)) + ">";
      });
}

}  // namespace

void bind_check(nb::module_& module) {
  bind_report(module);
  nb::class_<er::GradientCheckOptions>(module, "CheckOptions", "How check_gradient() looks.")
      .def("__init__",
           [](er::GradientCheckOptions* self, double absolute, double relative,
              const std::string& method, const std::string& coverage, Index every_entry_limit,
              int projections, double step, double typical_x, std::uint64_t seed) {
             new (self) er::GradientCheckOptions(check_options(absolute, relative, method, coverage,
                                                               every_entry_limit, projections, step,
                                                               typical_x, seed));
           });
  module.def("run_gradient_check", &check, nb::arg("names"), nb::arg("shapes"), nb::arg("output"),
             nb::arg("x"), nb::arg("value").none(), nb::arg("value_epsilon"),
             nb::arg("directional").none(), nb::arg("claimed"), nb::arg("claimed_epsilon"),
             nb::arg("options"), nb::arg("kind"));
}

}  // namespace eigen_rope_python
