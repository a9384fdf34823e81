// SPDX-License-Identifier: Apache-2.0
//
// A plan for people and for programs.
//
//   memory of a rank                      each      share
//     parameters, gradient, moments    119.7 GiB    71.9 %
//     tables of cos and sin            7.630 MiB     0.0 %
//
// Text has units to read, JSON has bytes and seconds. Not the numbers (training_plan.hpp), not the
// picture (plot.hpp).
#pragma once

#include <string>

#include "tool/io/json_file.hpp"
#include "tool/io/terminal.hpp"
#include "tool/plan/training_plan.hpp"

namespace eigen_rope::tool {

std::string text_of(const TrainingPlan& plan, const TextOptions& options);

Json json_of(const TrainingPlan& plan);

/// Bytes in B, KiB, ... PiB, four digits: 119.7 GiB.
std::string text_of_bytes(double bytes);

/// Seconds in us, ms, s, min, h or d, four digits: 45.20 ms.
std::string text_of_seconds(double seconds);

}  // namespace eigen_rope::tool
