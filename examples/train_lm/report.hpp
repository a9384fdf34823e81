// SPDX-License-Identifier: Apache-2.0
//
// The closing report: what was trained on what, the validation losses beside the baselines, the
// table by position, learned rates. Text and CSV only; pictures are plot.hpp's.
#pragma once

#include <string>
#include <vector>

#include "loss_by_position.hpp"
#include "session.hpp"

namespace train_lm {

struct Baselines {
  double unigram = 0;
  double bigram = 0;
};

/// step,<run>_train_bits,<run>_validation_bits,... one row per step; validation is empty where it
/// was not measured.
std::string losses_csv(const std::vector<SessionRun>& runs);

/// layer,pair,first_rate,rate,first_wavelength,wavelength: radians per token, and tokens per turn.
/// Of a run whose rates are learned.
std::string rates_csv(const SessionRun& run);

std::string report(const std::vector<SessionRun>& runs, const Corpus& corpus,
                   const Baselines& baselines, const std::vector<PositionCurve>& curves);

/// Control characters but newline and tab replaced by '?', for a terminal.
std::string printable(std::string text);

}  // namespace train_lm
