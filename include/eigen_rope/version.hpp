// SPDX-License-Identifier: Apache-2.0
//
// The library's version, defined here and nowhere else: CMake reads these three lines.
#pragma once

#define EIGEN_ROPE_VERSION_MAJOR 0  ///< Breaking changes.
#define EIGEN_ROPE_VERSION_MINOR 1  ///< Additions.
#define EIGEN_ROPE_VERSION_PATCH 0  ///< Corrections.
