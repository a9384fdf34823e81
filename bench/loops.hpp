// SPDX-License-Identifier: Apache-2.0
//
// The loops one would write by hand for [D, H, S] float with one table row per token: what the expression is measured against.
//
// Compiled twice, as loop_o2 (-O2: GCC 12 does not vectorise it) and loop_o3_native (-O3 -march=native). For benchmarks only.
#pragma once

#include <cstddef>

struct LoopShape {
  std::ptrdiff_t D, H, S;
};

#define ROPE_DECLARE_LOOPS(name)                                                                   \
  namespace name {                                                                                 \
  void half(const float* x, float* y, const float* cos, const float* sin, LoopShape shape);        \
  void interleaved(const float* x, float* y, const float* cos, const float* sin, LoopShape shape); \
  }
ROPE_DECLARE_LOOPS(loop_o2)
ROPE_DECLARE_LOOPS(loop_o3_native)
#undef ROPE_DECLARE_LOOPS
