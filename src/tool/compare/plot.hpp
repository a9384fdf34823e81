// SPDX-License-Identifier: Apache-2.0
//
// The picture of `eigen-rope compare`: for each kind of layer a row of three panels, the rates of
// both, their ratio, and how far the angles are apart by position (the pair that is furthest, and
// the median pair). Drawn by gnuplot.
#pragma once

#include <filesystem>

#include "tool/compare/compare.hpp"

namespace eigen_rope::tool {

/// Throws FileError if the name ends in neither .svg nor .png, or if it cannot be drawn.
void draw(const Comparison& comparison, const std::filesystem::path& path);

}  // namespace eigen_rope::tool
