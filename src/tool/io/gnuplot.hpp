// SPDX-License-Identifier: Apache-2.0
//
// Pictures drawn by gnuplot, which is started as a program of its own: whole or not there.
//
//   draw_picture("rates.svg", {1200, 700}, script);       script without terminal and output
//
// Not the scripts: each report has its own.
#pragma once

#include <filesystem>
#include <string>

#include "tool/io/child_process.hpp"

namespace eigen_rope::tool {

/// Throws FileError unless the name ends in .svg or .png, where nothing can be written under it
/// (require_writable), and without gnuplot.
void require_picture(const std::filesystem::path& path);

/// Runs the script `name` of a folder with gnuplot in that folder. Throws FileError where a system
/// call fails.
Ended run_gnuplot(const std::filesystem::path& folder, const std::string& name, Prints prints);

/// A string in gnuplot's single quotes.
std::string quoted(const std::string& text);

struct PictureSize {
  int width = 0, height = 0;
};

/// Runs `set terminal`, `set output` and `script`. Throws FileError as require_picture(), and if it
/// cannot be drawn.
void draw_picture(const std::filesystem::path& path, const PictureSize& size,
                  const std::string& script);

}  // namespace eigen_rope::tool
