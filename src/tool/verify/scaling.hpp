// SPDX-License-Identifier: Apache-2.0
//
// Recordings of inverse frequencies (inv_freq.json), compared with eigen_rope::Frequencies.
//
//   {"name": {"type": "yarn", "params": {"dim": 64, ...}, "attention_factor": "1.0", "inv_freq":
//       ["1.0", ...]}, ...}
//
//   rates, attention factor   |mine - stored| <= 4 units in the last place of double, both rounded
//                             to double once
//
// The numbers are decimal digits, as texts or JSON numbers; names that begin with _ are remarks.
// The first word of `type` is default, linear, proportional, dynamic, ntk, yarn, deepseek_yarn,
// llama3, longrope or axial. Parameters may have their names of config.json too (base: rope_theta,
// ...); what a type does not know is left to the comparison.
#pragma once

#include <filesystem>

#include "eigen_rope/choices/frequencies.hpp"
#include "tool/verify/golden_files.hpp"
#include "tool/verify/report.hpp"

namespace eigen_rope::tool {

/// The sets as a list of cases with a name each; throws FileError if there are none.
GoldenIndex read_scaling_index(const std::filesystem::path& path);

/// What a set's type and params stand for. Throws FileError for an unknown type or a parameter that
/// is missing or no number, eigen_rope::Error for a scaling the library refuses.
Frequencies frequencies_of(const Entry& set);

/// A number in decimal digits, text or not, rounded to double once.
double decimal(const Entry& owner, const char* name, const Json& value);

/// Adds every set; throws FileError for a file that cannot be used.
void verify_scaling(Report& report, const GoldenIndex& index);

}  // namespace eigen_rope::tool
