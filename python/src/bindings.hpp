// SPDX-License-Identifier: Apache-2.0
//
// The parts of the module, each of which has a file of its own.
#pragma once

#include <nanobind/nanobind.h>

namespace eigen_rope_python {

namespace nb = nanobind;

void bind_pairing(nb::module_& module);
void bind_frequencies(nb::module_& module);
void bind_positions(nb::module_& module);
void bind_tables(nb::module_& module);
void bind_rotation(nb::module_& module);
void bind_gradients(nb::module_& module);
void bind_check(nb::module_& module);
void bind_models(nb::module_& module);

}  // namespace eigen_rope_python
