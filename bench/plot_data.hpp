// SPDX-License-Identifier: Apache-2.0
//
// What plot.gnuplot draws, as whitespace-separated text: first column a quoted label, then numbers;
// "nan" where nothing was measured.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "check.hpp"
#include "ratios.hpp"

namespace bench {

/// File name plot_<scalar>_<pairing>.dat -> text. Columns: shape, then the ratio to memcpy of each
/// implementation the plots show, the first line naming them. Only scalars and pairings that were
/// measured.
std::map<std::string, std::string> ratio_plots(const Results& results);

/// One line per target and kind of scalar (f32; f16 and bf16): label, then the least and the
/// greatest measured value over the allowed one, above 1 a miss, among pairings, shapes and
/// scalars. Targets not measured at all are left out.
std::string target_plot(const std::vector<Verdict>& verdicts);

}  // namespace bench
