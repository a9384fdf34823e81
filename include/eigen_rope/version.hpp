// SPDX-License-Identifier: Apache-2.0
//
// The version of the library, defined here and nowhere else: CMake reads the three numbers.
//
// Versions follow semantic versioning. All names of the library stand in an inline namespace that
// is called after the major and the minor version, eigen_rope::v0_2. Programs write eigen_rope::,
// and the symbols in object files differ from those of every other version, so two versions in one
// process do not meet.
//
// The header includes nothing. A program that declares a class of the library without including it
// opens the same namespace:
//
//   #include <eigen_rope/version.hpp>
//   namespace eigen_rope::EIGEN_ROPE_ABI { class Frequencies; }
#pragma once

#define EIGEN_ROPE_VERSION_MAJOR 0  ///< The major version, raised by breaking changes.
#define EIGEN_ROPE_VERSION_MINOR 2  ///< The minor version, raised by additions.
#define EIGEN_ROPE_VERSION_PATCH 0  ///< The patch version, raised by corrections.

/// \cond
#define EIGEN_ROPE_ABI_JOINED(major, minor) v##major##_##minor
#define EIGEN_ROPE_ABI_OF(major, minor) EIGEN_ROPE_ABI_JOINED(major, minor)

namespace eigen_rope {
inline namespace EIGEN_ROPE_ABI_OF(EIGEN_ROPE_VERSION_MAJOR, EIGEN_ROPE_VERSION_MINOR) {}
}  // namespace eigen_rope
/// \endcond

/// The name of the inline namespace that holds the library, such as v0_2.
#if defined(__clang__)
// Clang wants the word inline each time, which only C++20 allows in eigen_rope::v0_2::detail.
#define EIGEN_ROPE_ABI                                                              \
  _Pragma("clang diagnostic push")                                                  \
      _Pragma("clang diagnostic ignored \"-Winline-namespace-reopened-noninline\"") \
          EIGEN_ROPE_ABI_OF(EIGEN_ROPE_VERSION_MAJOR, EIGEN_ROPE_VERSION_MINOR)     \
              _Pragma("clang diagnostic pop")
#else
#define EIGEN_ROPE_ABI EIGEN_ROPE_ABI_OF(EIGEN_ROPE_VERSION_MAJOR, EIGEN_ROPE_VERSION_MINOR)
#endif
