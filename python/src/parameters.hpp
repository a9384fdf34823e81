// SPDX-License-Identifier: Apache-2.0
//
// Powers and scalings between Python's dataclasses (eigen_rope/_choices.py) and the library's
// classes. Both have the same names of parameters, and the library's list of them is the only one
// here, so a scaling that is added to the library needs a dataclass and nothing else.
#pragma once

#include <nanobind/nanobind.h>

#include <eigen_rope/choices/scaling.hpp>

namespace eigen_rope_python {

namespace nb = nanobind;
namespace er = eigen_rope;

er::Powers<> read_powers(nb::handle powers);
/// Any scaling; None is none.
er::Scaling read_scaling(nb::handle scaling);

nb::object to_python(const er::Powers<>& powers);
nb::object to_python(const er::Scaling& scaling);

/// {name of a scaling: {parameter: its usual value, or None where it must be given}}, and `powers`.
nb::dict library_parameters();

}  // namespace eigen_rope_python
