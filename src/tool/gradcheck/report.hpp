// SPDX-License-Identifier: Apache-2.0
//
// What `eigen-rope gradcheck` found, for people, for programs and as a picture.
//
//   half               y    inv    adj     dx   dcos ...
//                       one table per pairing, one row per scaling and scalar
//     ggml_yarn_exact f32   0.71   0.64   0.31   0.70   0.02
//                       worst error / bound of all answers and layouts; "-" does not apply
//
// A number above 1 has an exclamation mark, and on a terminal it is red. Not the checks.
#pragma once

#include <filesystem>
#include <string>

#include "tool/gradcheck/gradcheck.hpp"
#include "tool/io/terminal.hpp"

namespace eigen_rope::tool {

/// The tables, continued below where they are wider than allowed, the failed entries with places
/// and values, the worst ulp of each scalar, and `N passed, N failed`.
std::string text_of(const GradcheckReport& report, const TextOptions& options);

/// All entries as JSON; `path` is never half written. Throws FileError.
void write_json(const GradcheckReport& report, const std::filesystem::path& path);

/// A heat map by gnuplot: quantities over pairings and scalings, log10(worst error / bound). Throws
/// FileError if the name does not end in .svg or .png, or if it cannot be drawn.
void draw(const GradcheckReport& report, const std::filesystem::path& path);

/// What the columns, the filters and the bounds are, for --help.
std::string gradcheck_help();

}  // namespace eigen_rope::tool
