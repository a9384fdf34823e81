// SPDX-License-Identifier: Apache-2.0
//
// What `eigen-rope inspect` found, for people and for programs.
//
//   pair  slots     rad/token wavelength scaled    ratio     what         turns
//     29  29 93     0.0026161 2401.7     0.0021666 0.82817   blended      45.196
//
// Long tables are shortened in the middle: kept are both ends and wherever something changes. Not
// the numbers (inspect.hpp), not the picture (plot.hpp).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tool/inspect/inspect.hpp"
#include "tool/io/json_file.hpp"
#include "tool/io/terminal.hpp"

namespace eigen_rope::tool {

enum class Rows { shortened, all };

std::string text_of(const Inspection& inspection, Rows rows, const TextOptions& options);

/// Which pairs a shortened table shows, ascending: the first and the last three, two either side of
/// every change of treatment and of the first that completes no turn. All of them where that saves
/// less than a third.
std::vector<std::size_t> shown_pairs(const LayerInspection& layer);

/// Numbers round trip; those that are not finite become null.
Json json_of(const Inspection& inspection);

/// A scaling's type and parameters by their C++ names.
Json json_of(const Scaling& scaling);

}  // namespace eigen_rope::tool
