// SPDX-License-Identifier: Apache-2.0
//
// The exception that the library throws for everything it refuses.
//
// Every message reads `[rope] <argument and rule>, got <value>`, for example `[rope] rotary dims
// must be even, got 7`. The functions that build such a sentence are compiled once, so that no
// public header needs a formatting library.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The exception thrown for every argument, file or environment variable that the library refuses.
///
/// what() is one sentence that names the argument, the rule and the value. Nothing has been written
/// when it is thrown, with one exception: a select or a concatenation that is assigned to the x of
/// the rotation inside it may have written to x (rotate() describes when).
///
/// \code{.cpp}
/// try {
///   y = er::rotate(x, cache, er::split_half.with_rotary_dims(7));
/// } catch (const er::Error& error) {
///   std::cerr << error.what() << "\n";  // [rope] rotary dims must be even, got 7
/// }
/// \endcode
class EIGEN_ROPE_API Error : public std::invalid_argument {
 public:
  /// Makes an error whose what() is the given text.
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

EIGEN_ROPE_API std::int64_t checked_large_product(std::string_view what, std::int64_t a,
                                                  std::int64_t b);

/// The product of two non-negative counts. `what` names the thing counted.
///
/// - Errors:   eigen_rope::Error if it does not fit.
inline std::int64_t checked_product(std::string_view what, std::int64_t a, std::int64_t b) {
  constexpr std::int64_t safe = std::int64_t{1} << 31;  // the product of two fits
  return a < safe && b < safe ? a * b : checked_large_product(what, a, b);
}

}  // namespace detail
}  // namespace eigen_rope::EIGEN_ROPE_ABI
