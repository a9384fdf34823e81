// SPDX-License-Identifier: Apache-2.0
//
// Words for messages.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

namespace eigen_rope_python {

namespace nb = nanobind;

/// str(object)
inline std::string text_of(nb::handle object) { return nb::cast<std::string>(nb::str(object)); }

/// The name of the object's class, without its module.
inline std::string class_name(nb::handle object) {
  return text_of(nb::object(object.type().attr("__name__")));
}

/// "[rope] <rule>, got <class>", as a TypeError.
[[noreturn]] inline void fail_type(const std::string& rule, const std::string& got) {
  throw nb::type_error(("[rope] " + rule + ", got " + got).c_str());
}

}  // namespace eigen_rope_python
