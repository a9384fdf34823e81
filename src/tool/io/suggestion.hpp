// SPDX-License-Identifier: Apache-2.0
//
// The word somebody may have meant, for the sentence that refuses the one they wrote.
//
//   did_you_mean("yarm", {"linear", "yarn"})        " (did you mean yarn?)"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace eigen_rope::tool {

/// The known word that takes the fewest edits (a letter more, less or other, or two neighbours
/// swapped), where these are at most one third of its letters and one at least; or else the only
/// one that begins with `word`, of at least three letters. Empty where there is none.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace eigen_rope::tool
