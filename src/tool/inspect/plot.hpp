// SPDX-License-Identifier: Apache-2.0
//
// The picture of `eigen-rope inspect`: for each kind of layer a row of three panels.
//
//   rates       of each pair before and after scaling, on a logarithmic axis
//   angles      cos(rate * position) by position and pair; each cell is a mean over its positions,
//               so what turns within a cell is 0
//   attention   mean over pairs of cos(rate * distance): the expected q.k of equal vectors, over
//               its value at distance 0
//
// Drawn by gnuplot. Not the numbers (inspect.hpp).
#pragma once

#include <filesystem>

#include "tool/inspect/inspect.hpp"

namespace eigen_rope::tool {

/// Throws FileError if the name ends in neither .svg nor .png, or if it cannot be drawn.
void draw(const Inspection& inspection, const std::filesystem::path& path);

/// The mean of cos(rate t) for t from `first` to `last` > first.
double mean_cosine(double rate, double first, double last);

}  // namespace eigen_rope::tool
