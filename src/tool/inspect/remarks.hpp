// SPDX-License-Identifier: Apache-2.0
//
// What a specialist would say of an inspected model: warnings of what may go wrong, notes of what
// is worth knowing; one sentence each.
//
// A model used at the length it says it is for gives warnings only where care is needed all the
// same: keys that must be rerotated, an m that is not 1, angles that float cannot hold. Not the
// reader's warnings, which speak of the file.
#pragma once

#include "tool/inspect/inspect.hpp"

namespace eigen_rope::tool {

/// Appends to the warnings and the notes.
void add_remarks(Inspection& inspection);

/// "pair 3", "pairs 3 to 9".
std::string text_of_pairs(eigen_rope::Index first, eigen_rope::Index last);

}  // namespace eigen_rope::tool
