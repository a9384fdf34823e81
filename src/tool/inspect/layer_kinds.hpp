// SPDX-License-Identifier: Apache-2.0
//
// Which layers of a model rotate, and how: its kinds of layers seen from the layers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "eigen_rope/models/model_rope.hpp"

namespace eigen_rope::tool {

inline constexpr int not_rotated = -1;

/// For each layer the number of its kind in model.layers, or not_rotated. A single kind without a
/// list is that of all layer_count layers. Nothing where the model does not say: no layer count and
/// no list, or a list missing beside other kinds.
std::optional<std::vector<int>> kinds_of_layers(const models::ModelRope& model);

/// Layers, or other numbers, in ascending order: 0 to 2, 4, 6 to 8; at most twelve such parts.
std::string text_of_numbers(const std::vector<eigen_rope::Index>& numbers);

}  // namespace eigen_rope::tool
