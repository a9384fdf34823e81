// SPDX-License-Identifier: Apache-2.0
#include "tool/io/text_part.hpp"

namespace eigen_rope::tool {

const Json& text_part(const Json& top) {
  for (const char* name : {"text_config", "thinker_config", "llm_config", "language_config"}) {
    const auto found = top.find(name);
    if (found != top.end() && found->is_object()) return text_part(*found);
  }
  return top;
}

}  // namespace eigen_rope::tool
