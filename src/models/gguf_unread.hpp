// SPDX-License-Identifier: Apache-2.0
//
// Keys of a GGUF file that sound like rotation and that nobody reads: refused in strict, named in a
// warning otherwise.
#pragma once

#include "models/gguf_architectures.hpp"
#include "models/gguf_keys.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

/// Keys whose name has rope, rotary, yarn, theta or nope in it, but for those of tokenizers and of
/// general information.
void mend_unread_gguf_keys(GgufKeys& keys, const GgufArchitecture& architecture);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
