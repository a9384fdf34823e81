// SPDX-License-Identifier: Apache-2.0
//
// The backward pass with all its gradients, as eigen_rope/_gradients.py calls it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <eigen_rope/any/any.hpp>
#include <eigen_rope/gradients/parameter_gradients.hpp>
#include <eigen_rope/gradients/scaling_gradients.hpp>
#include <eigen_rope/numbers/error.hpp>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "pairing.hpp"
#include "parameters.hpp"
#include "tables.hpp"
#include "threads.hpp"
#include "words.hpp"

namespace eigen_rope_python {
namespace {

using er::Index;
using Values = er::Gradients<double>;

/// The Python class Gradients.
struct Gradients {
  Values values;
  nb::object dx;
};

/// The shape of the table that d is of, slowest axis first, with so many entries in a row.
std::vector<Index> table_shape(const Values& d, Index width) {
  std::vector<Index> extents;
  for (int axis = d.outer.rank(); axis >= 0; --axis) {
    if (axis < d.outer.rank()) extents.push_back(d.outer[axis]);
    if (axis == d.feature_axis) extents.push_back(width);
  }
  return extents;
}

/// One of the lists as an array of its own memory; None where it was not asked for.
template <std::vector<double> Values::*list, Index Values::*width>
nb::object values_of(nb::handle self) {
  const Values& d = nb::cast<const Gradients&>(self).values;
  if ((d.*list).empty() && d.outer.size() != 0) return nb::none();
  return numpy_view(er::ScalarType::f64, (d.*list).data(), table_shape(d, d.*width), self,
                    Access::read_only);
}

er::Wanted wanted_of(const std::vector<std::string>& names) {
  er::Wanted wanted = er::Wanted::nothing;
  for (const std::string& name : names) {
    if (name == "angle") {
      wanted = wanted | er::Wanted::angle;
    } else if (name == "log_magnitude") {
      wanted = wanted | er::Wanted::log_magnitude;
    } else if (name == "table") {
      wanted = wanted | er::Wanted::table;
    } else if (name != "dx") {
      er::detail::fail("wanted must be of dx, angle, log_magnitude and table", name);
    }
  }
  return wanted;
}

Gradients gradients(nb::handle dy, nb::handle table, nb::handle pairing, nb::handle y, nb::handle x,
                    nb::handle dx, const std::vector<std::string>& wanted, int threads) {
  const bool from_input = y.is_none();
  const Array g = read_array(dy, "dy");
  const Array end = from_input ? read_array(x, "x") : read_array(y, "y");
  const TableArgument entries(table);
  const er::Pairing pairs = read_pairing(pairing).for_rank(end.rank());
  CallThreads runner;
  const er::GradientOptions options{
      wanted_of(wanted), from_input ? er::GradientsFrom::input : er::GradientsFrom::output,
      er::Device(runner, threads)};
  Gradients result{{}, nb::none()};
  if (dx.is_none()) {
    nb::gil_scoped_release released;
    result.values = er::any::gradients(end.tensor(), g.tensor(), entries.view(), pairs, options);
    return result;
  }
  // True stands for a new array.
  result.dx = dx.is(nb::bool_(true)) ? empty_like(dy, g) : nb::borrow(dx);
  const Array to = read_writable_array(result.dx, "dx");
  nb::gil_scoped_release released;
  result.values =
      er::any::gradients_to(to.tensor(), end.tensor(), g.tensor(), entries.view(), pairs, options);
  return result;
}

nb::object rate_gradients(const Gradients& d, const er::Positions& positions,
                          const std::string& layout) {
  std::vector<double> rates = er::rate_gradients(d.values, positions, er::any::layout_of(layout));
  const auto count = static_cast<Index>(rates.size());
  return numpy_array(std::move(rates), {count});
}

nb::object position_gradients(const Gradients& d, const er::Frequencies& frequencies,
                              const er::Positions& positions, const std::string& layout) {
  return numpy_array(
      er::position_gradients(d.values, frequencies, positions, er::any::layout_of(layout)),
      {positions.axes(), positions.batches(), positions.tokens()});
}

double attention_factor_gradient(const Gradients& d, const er::Frequencies& frequencies,
                                 const er::Positions& positions, const std::string& layout) {
  return er::attention_factor_gradient(d.values, frequencies, positions,
                                       er::any::layout_of(layout));
}

nb::tuple scaling_gradients(nb::handle powers, nb::handle scaling, std::vector<double> rates,
                            double attention_factor, Index length) {
  const er::RateGradients of_rates{std::move(rates), attention_factor};
  const auto result =
      er::scaling_gradients(read_powers(powers), read_scaling(scaling), of_rates, length);
  return nb::make_tuple(to_python(result.powers), to_python(result.scaling));
}

}  // namespace

void bind_gradients(nb::module_& module) {
  nb::class_<Gradients>(module, "Gradients", R"(
What gradients() returns: the gradients of a loss L with respect to what a rotation reads.

Each array but dx has the shape of the table, whose axes of extent 1 were summed over. Those that
were not asked for are None.)")
      .def_ro("dx", &Gradients::dx,
              "dL/dx, of the shape and the type of dy; None if not asked for.")
      .def_prop_ro("angle", &values_of<&Values::angle, &Values::pairs>,
                   nb::sig("def angle(self) -> numpy.typing.NDArray[numpy.float64] | None"),
                   "The gradient per radian of each angle.")
      .def_prop_ro("log_magnitude", &values_of<&Values::log_magnitude, &Values::pairs>,
                   nb::sig("def log_magnitude(self) -> numpy.typing.NDArray[numpy.float64] | None"),
                   "The gradient of the logarithm of each magnitude.")
      .def_prop_ro("cos", &values_of<&Values::cos, &Values::width>,
                   nb::sig("def cos(self) -> numpy.typing.NDArray[numpy.float64] | None"),
                   "The gradient of the table's cosines.")
      .def_prop_ro("sin", &values_of<&Values::sin, &Values::width>,
                   nb::sig("def sin(self) -> numpy.typing.NDArray[numpy.float64] | None"),
                   "The gradient of the table's sines.");
  module.def("gradients", &gradients, nb::arg("dy"), nb::arg("table"), nb::arg("pairing"),
             nb::arg("y").none(), nb::arg("x").none(), nb::arg("dx").none(), nb::arg("wanted"),
             nb::arg("threads"));
  module.def("rate_gradients", &rate_gradients, nb::arg("gradients"), nb::arg("positions"),
             nb::arg("layout"),
             nb::sig("def rate_gradients(gradients: Gradients, positions: Positions, layout: str) "
                     "-> numpy.typing.NDArray[numpy.float64]"));
  module.def("position_gradients", &position_gradients, nb::arg("gradients"),
             nb::arg("frequencies"), nb::arg("positions"), nb::arg("layout"),
             nb::sig("def position_gradients(gradients: Gradients, frequencies: Frequencies, "
                     "positions: Positions, layout: str) -> numpy.typing.NDArray[numpy.float64]"));
  module.def("attention_factor_gradient", &attention_factor_gradient, nb::arg("gradients"),
             nb::arg("frequencies"), nb::arg("positions"), nb::arg("layout"));
  module.def("scaling_gradients", &scaling_gradients, nb::arg("powers"), nb::arg("scaling").none(),
             nb::arg("rates"), nb::arg("attention_factor"), nb::arg("length"),
             nb::sig("def scaling_gradients(powers: eigen_rope.Powers, scaling: eigen_rope.Scaling "
                     "| None, rates: collections.abc.Sequence[float], attention_factor: float, "
                     "length: int) -> tuple[eigen_rope.Powers, eigen_rope.Scaling | None]"));
}

}  // namespace eigen_rope_python
