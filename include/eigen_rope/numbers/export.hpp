// SPDX-License-Identifier: Apache-2.0
//
// The macro EIGEN_ROPE_API, which marks what the compiled library exports.
//
// It marks every function of a public header that is defined in a source file, and
// eigen_rope::Error, which is thrown on one side of a shared library and caught on the other.
//
//   EIGEN_ROPE_API double ntk_base(Index dims, double base, double factor);
//
// The library is compiled with hidden symbols, so a function without the mark cannot be called from
// outside libeigen_rope.so. Where EIGEN_ROPE_STATIC is defined, as it is for the static library and
// all who link it by CMake or pkg-config, the mark means nothing: what that library is linked into
// exports none of it. Templates and inline functions are compiled by their users and carry no mark.
// Each explicit instantiation carries one, because those for a type without the mark (Eigen::half)
// would be hidden.
#pragma once

#include "eigen_rope/version.hpp"

#if defined(__GNUC__) && !defined(EIGEN_ROPE_STATIC)
#define EIGEN_ROPE_API __attribute__((visibility("default")))
#else
#define EIGEN_ROPE_API
#endif
