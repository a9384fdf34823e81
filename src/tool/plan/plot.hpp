// SPDX-License-Identifier: Apache-2.0
//
// A plan as a picture, over 1 to 1024 ranks and contexts from 10^4 to 10^7 tokens, drawn by
// gnuplot.
//
//   first row    memory of a rank, bytes that it sends in a step, time of a step
//   second row   tables of cos and sin, of a rank and of the whole context; RoPE's share of the
//                time; causal work of the busiest rank over the mean
//
// Curves are those of training_plan.hpp with the options of the plan; a context that was asked for
// and is none of the four has a curve of its own.
#pragma once

#include <filesystem>

#include "tool/plan/training_plan.hpp"

namespace eigen_rope::tool {

/// Throws as draw_picture (gnuplot.hpp).
void draw(const TrainingPlan& plan, const std::filesystem::path& path);

}  // namespace eigen_rope::tool
