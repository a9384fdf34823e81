// SPDX-License-Identifier: Apache-2.0
//
// The part of a config.json that concerns the text: the file itself, or the text_config (or what
// else it is called) of a model that sees or hears as well.
//
//   const Json config = read_json("config.json");
//   text_part(config).find("hidden_size")
//
// It is the part that models::read_hugging_face reads the rotation from.
#pragma once

#include "tool/io/json_file.hpp"

namespace eigen_rope::tool {

/// A part of `top`, which must be an object and outlives the result.
const Json& text_part(const Json& top);
const Json& text_part(Json&& top) = delete;

}  // namespace eigen_rope::tool
