// SPDX-License-Identifier: Apache-2.0
//
// The one exception of the library.
//
// Every refusal reads `[rope] <argument and rule>, got <value>`, for example `[rope] rotary dims
// must be even, got 7`, and is thrown before anything is written. The `fail` functions below build
// that sentence; they are compiled once, so that no public header needs a formatting library.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope {

/// Thrown for every argument the library refuses. Nothing has been written when it is thrown.
class EIGEN_ROPE_API Error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

namespace detail {

[[noreturn]] EIGEN_ROPE_API void fail(std::string_view rule);
[[noreturn]] EIGEN_ROPE_API void fail(std::string_view rule, std::int64_t got);
[[noreturn]] EIGEN_ROPE_API void fail(std::string_view rule, double got);
[[noreturn]] EIGEN_ROPE_API void fail(std::string_view rule, std::string_view got);

/// Throws unless `value` is finite and greater than zero; `name` begins the sentence.
EIGEN_ROPE_API void require_positive(std::string_view name, double value);

/// Throws unless `value` is finite.
EIGEN_ROPE_API void require_finite(std::string_view name, double value);

/// The product of two non-negative counts. `what` names the thing counted.
///
/// - Errors:   eigen_rope::Error if it does not fit.
EIGEN_ROPE_API std::int64_t checked_product(std::string_view what, std::int64_t a, std::int64_t b);

}  // namespace detail
}  // namespace eigen_rope
