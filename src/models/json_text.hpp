// SPDX-License-Identifier: Apache-2.0
//
// Text to JSON, for files other people wrote.
//
// Stricter than the parser beneath: a key twice in one object, more than 64 levels of nesting and
// numbers past double are refused, each in one sentence that says where. NaN and Infinity, which
// Python writes, are not JSON. The callers know what the values mean.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "eigen_rope/version.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

using Json = nlohmann::json;

/// Throws eigen_rope::Error. O(size of the text); the depth of recursion does not grow with it.
Json parse_json(std::string_view text);

/// A value as a sentence shows it: JSON, at most 60 bytes.
std::string shown(const Json& value);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
