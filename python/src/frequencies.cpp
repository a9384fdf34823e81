// SPDX-License-Identifier: Apache-2.0
#include <eigen_rope/choices/frequencies.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <eigen_rope/choices/scaling.hpp>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "numpy.hpp"
#include "parameters.hpp"

namespace eigen_rope_python {
void bind_frequencies(nb::module_& module) {
  module.def("library_parameters", &library_parameters,
             nb::sig("def library_parameters() -> dict[str, dict[str, typing.Any]]"),
             "The parameters of powers and of each scaling, with their usual values.");
  nb::class_<er::Frequencies>(module, "Frequencies", R"(
One rate for each pair, in radians per token, and the attention factor m.

    rate_k = linear_scale * base^(-2 e_k / exponent_dims) / factor_k, changed by the scaling

Rates are carried to about 2^-96, finer than float64. m multiplies every cosine and sine; it is 1 for
plain RoPE.

>>> Frequencies(Powers(128, base=500000.0), Llama3(factor=8.0, original_context=8192))
Frequencies(64 pairs, 1 to 3.06945e-07 rad a token, m = 1)

Args:
    powers: the rates before scaling.
    scaling: a scaling such as Yarn, or None.
    length: the number of tokens of the sequence, for DynamicNtkScaling and LongRope, whose rates depend
        on it.

Raises:
    ValueError: for parameters without a meaning, in one sentence that names the parameter.)")
      .def(
          "__init__",
          [](er::Frequencies* self, nb::handle powers, nb::handle scaling, er::Index length) {
            new (self) er::Frequencies(read_powers(powers), read_scaling(scaling), length);
          },
          nb::arg("powers"), nb::arg("scaling") = nb::none(), nb::kw_only(), nb::arg("length") = 0,
          nb::sig("def __init__(self, powers: eigen_rope.Powers, "
                  "scaling: eigen_rope.Scaling | None = None, *, length: int = 0) -> None"))
      .def_static(
          "explicit_rates",
          [](const std::vector<double>& rates, double attention_factor) {
            return er::Frequencies::explicit_rates(rates, attention_factor);
          },
          nb::arg("rates"), nb::arg("attention_factor") = 1.0, R"(
Frequencies of rates that are given one by one, such as learned ones.

Args:
    rates: radians per token, one for each pair, at least one.
    attention_factor: m.

Raises:
    ValueError: if there are no rates, or if a rate or m is not finite.)")
      .def_prop_ro("pairs", &er::Frequencies::pairs, "The number of pairs.")
      .def_prop_ro(
          "rates",
          [](const er::Frequencies& self) {
            std::vector<double> rates;
            for (const er::DoubleDouble& rate : self.rates()) rates.push_back(rate.high);
            const auto count = static_cast<er::Index>(rates.size());
            return numpy_array(std::move(rates), {count});
          },
          nb::sig("def rates(self) -> numpy.typing.NDArray[numpy.float64]"),
          "The rate of each pair, in radians per token, rounded to float64; a new array.")
      .def_prop_ro(
          "attention_factor",
          [](const er::Frequencies& self) { return self.attention_factor().high; },
          "m, which multiplies every cosine and sine.")
      .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__repr__",
           [](const er::Frequencies& self) { return "Frequencies(" + self.text() + ")"; })
      .def(
          "__getstate__",
          [](const er::Frequencies& self) {
            const auto both = [](const er::DoubleDouble& value) {
              return nb::make_tuple(value.high, value.low);
            };
            nb::list rates;
            for (const er::DoubleDouble& rate : self.rates()) rates.append(both(rate));
            return nb::make_tuple(rates, both(self.attention_factor()));
          },
          nb::sig("def __getstate__(self) -> tuple[typing.Any, ...]"))
      .def(
          "__setstate__",
          [](er::Frequencies& self, const nb::tuple& state) {
            if (state.size() != 2) throw nb::index_error("[rope] a state must have 2 parts");
            const auto value = [](nb::handle both) {
              return er::DoubleDouble(nb::cast<double>(both[0]), nb::cast<double>(both[1]));
            };
            std::vector<er::DoubleDouble> rates;
            const nb::object given = state[0];  // any sequence
            for (const nb::handle rate : given) rates.push_back(value(rate));
            new (&self)
                er::Frequencies(er::Frequencies::explicit_rates(std::move(rates), value(state[1])));
          },
          nb::sig("def __setstate__(self, state: tuple[typing.Any, ...], /) -> None"));
}

}  // namespace eigen_rope_python
