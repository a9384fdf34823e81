// SPDX-License-Identifier: Apache-2.0
//
// The library's version, defined here and nowhere else: CMake reads these three lines.
#pragma once

#define ROPE_VERSION_MAJOR 0
#define ROPE_VERSION_MINOR 1
#define ROPE_VERSION_PATCH 0
