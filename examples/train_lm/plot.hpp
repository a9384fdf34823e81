// SPDX-License-Identifier: Apache-2.0
//
// Pictures by gnuplot: a script that carries its own data is written beside the picture, so that
// anyone can change it and draw again.
//
// A picture is first drawn under another name and checked to be a whole PNG. No gnuplot, no
// picture: that is said once and is no error, since the CSV files hold the same numbers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "loss_by_position.hpp"
#include "session.hpp"

namespace train_lm {

/// The curves of training and validation loss over steps, with the baselines as lines.
std::string losses_script(const std::vector<SessionRun>& runs, double unigram, double bigram);

/// The loss by position, one panel per length.
std::string positions_script(const std::vector<PositionCurve>& curves, Index context);

/// The wavelength of each pair before training and after, one curve per layer. Of a run whose rates
/// are learned.
std::string rates_script(const SessionRun& run);

enum class Drawn { yes, no_gnuplot, failed };

/// Writes folder/name.gp and draws folder/name.png. Throws train_lm::Error if the script cannot be
/// written.
Drawn draw(const std::filesystem::path& folder, const std::string& name, const std::string& script);

}  // namespace train_lm
