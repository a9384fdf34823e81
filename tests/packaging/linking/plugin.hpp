// SPDX-License-Identifier: Apache-2.0
//
// What a shared object that uses the library tells the host that has loaded it.
#pragma once

#include <cstddef>

struct Plugin {
  /// The version of the headers, as in 2 for 0.2.
  int minor_version;
  /// What the compiled library keeps, a setting, and where an inline variable is, and an instance
  /// of a function template that the library itself does not have.
  void (*set_threshold)(std::size_t bytes);
  std::size_t (*threshold)();
  const void* (*inline_variable)();
  const void* (*inline_function)();
  /// The largest difference between x and what a rotation and its inverse leave of it.
  double (*there_and_back)();
  /// Makes the library throw through the shared object.
  void (*throws)();
  /// Whether what a call throws is caught as an eigen_rope::Error, with its sentence, inside the
  /// shared object; other exceptions pass.
  bool (*catches)(void (*call)());
};

/// The name of the function that returns it.
inline constexpr const char* plugin_function = "linking_test_plugin";
