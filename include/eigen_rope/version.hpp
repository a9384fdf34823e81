// SPDX-License-Identifier: Apache-2.0
//
// The version of the library, defined here and nowhere else: CMake reads these three lines.
//
// Versions follow semantic versioning.
#pragma once

#define EIGEN_ROPE_VERSION_MAJOR 0  ///< The major version, raised by breaking changes.
#define EIGEN_ROPE_VERSION_MINOR 2  ///< The minor version, raised by additions.
#define EIGEN_ROPE_VERSION_PATCH 0  ///< The patch version, raised by corrections.
