// SPDX-License-Identifier: Apache-2.0
//
// What becomes of an x whose feature axis is not named.
//
// The feature axis is the fastest axis of x unless Pairing::along() names another. An x of 16
// tokens and 16 features may fit a table along either axis, and nothing in it shows which is meant.
// Usually the fastest axis is taken without a word. Code that is being ported from a library with
// another order of indices can have the library refuse such an x instead.
#pragma once

#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// When the fastest axis of x is the feature axis without being named.
enum class DefaultAxis {
  fastest,                  ///< Always.
  fastest_if_no_other_fits  ///< Only if x would not fit the table along another axis as well.
};

/// Sets whether a rotation without Pairing::along() is refused where another axis fits, too.
///
/// It holds for the whole process from the next rotation on. Views have their features on axis 0 by
/// definition and are not concerned.
///
/// \code{.cpp}
/// er::set_default_axis(er::DefaultAxis::fastest_if_no_other_fits);
/// y = er::rotate(x, cache, er::split_half);  // throws if another axis of x fits the cache, too
/// er::set_default_axis(er::DefaultAxis::fastest);
/// \endcode
///
/// - Threads:  may be called at any time; rotations that are being made see either value.
///
/// \see Pairing::along(), \ref index_order "Features on any axis"
EIGEN_ROPE_API void set_default_axis(DefaultAxis axis);

/// Returns what set_default_axis() has set; DefaultAxis::fastest without a call.
///
/// \code{.cpp}
/// const er::DefaultAxis before = er::default_axis();
/// \endcode
EIGEN_ROPE_API DefaultAxis default_axis();

}  // namespace eigen_rope::EIGEN_ROPE_ABI
