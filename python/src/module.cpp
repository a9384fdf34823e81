// SPDX-License-Identifier: Apache-2.0
//
// The module eigen_rope._core. eigen_rope/__init__.py says which of its names users see.
//
// The library's errors are std::invalid_argument, which nanobind makes ValueError.
#include <nanobind/nanobind.h>

#include <eigen_rope/version.hpp>
#include <string>

#include "bindings.hpp"

namespace python = eigen_rope_python;

NB_MODULE(_core, module) {
  module.doc() = "Rotary position embedding: what eigen_rope is made of.";
  // What is alive when the interpreter ends is no leak of the package.
  python::nb::set_leak_warnings(false);
  const auto number = [](int part) { return std::to_string(part); };
  module.attr("version") =
      python::nb::str((number(EIGEN_ROPE_VERSION_MAJOR) + "." + number(EIGEN_ROPE_VERSION_MINOR) +
                       "." + number(EIGEN_ROPE_VERSION_PATCH))
                          .c_str());
  python::bind_pairing(module);
  python::bind_frequencies(module);
  python::bind_positions(module);
  python::bind_tables(module);
  python::bind_rotation(module);
  python::bind_gradients(module);
  python::bind_check(module);
  python::bind_models(module);
}
