// SPDX-License-Identifier: Apache-2.0
//
// Other people's words inside a sentence of ours.
//
//   "a\nb" -> "a\x0ab"          "aaaaaaaaaaaaaaaaaaaa" -> "aaaa...aaaa"
//
// Names and values of files reach messages, and may hold line breaks, sequences that steer a
// terminal, or a megabyte of text. Compiled once, in error.cpp. Not for files in a format of their
// own: JSON and gnuplot have their own rules of quoting.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// `text` on one line: control characters (of ASCII, and U+0080 to U+009F in UTF-8) are written as
/// \x and two digits. Of more than `most` bytes the middle becomes "...", no character of UTF-8 is
/// cut. `most` >= 8. O(size of the text).
EIGEN_ROPE_API std::string one_line(std::string_view text, std::size_t most);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
