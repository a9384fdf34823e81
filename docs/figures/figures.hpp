// SPDX-License-Identifier: Apache-2.0
//
// The figures of the pages, each as SVG text under its file's name. Everything drawn is computed by
// the library.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace figures {

inline constexpr double pi = 3.141592653589793;

struct Figure {
  std::string file;
  std::function<std::string()> draw;
};

/// Pairs, turning, the table, relative distance.
std::vector<Figure> idea();
/// The wavelengths of each scaling, before and after.
std::vector<Figure> scalings();
/// The error of tables by position.
std::vector<Figure> accuracy();
/// The memory of tensors and matrices in either order of indices.
std::vector<Figure> index_order();

}  // namespace figures
