// SPDX-License-Identifier: Apache-2.0
//
// The rotations, as eigen_rope/_rotation.py calls them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <eigen_rope/any/any.hpp>
#include <string>

#include "arrays.hpp"
#include "bindings.hpp"
#include "pairing.hpp"
#include "tables.hpp"
#include "threads.hpp"

namespace eigen_rope_python {
namespace {

nb::object rotate(nb::handle x, nb::handle table, nb::handle pairing, nb::handle out,
                  const std::string& direction, int threads) {
  const Array from = read_array(x, "x");
  const TableArgument entries(table);
  const er::Pairing pairs = read_pairing(pairing).for_rank(from.rank());
  const er::Direction way = er::any::direction_of(direction);
  nb::object result = out.is_none() ? empty_like(x, from) : nb::borrow(out);
  const Array to = read_writable_array(result, "out");
  CallThreads runner;
  const er::Device device(runner, threads);
  nb::gil_scoped_release released;
  er::any::rotate_to(to.tensor(), from.tensor(), entries.view(), pairs, way, device);
  return result;
}

}  // namespace

void bind_rotation(nb::module_& module) {
  module.def("rotate", &rotate, nb::arg("x"), nb::arg("table"), nb::arg("pairing"),
             nb::arg("out").none(), nb::arg("direction"), nb::arg("threads"));
}

}  // namespace eigen_rope_python
