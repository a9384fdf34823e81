// SPDX-License-Identifier: Apache-2.0
//
// The loops one would write by hand for [D, H, S] with one table row per token: what the expression
// is measured against.
//
// The first `rotary` elements of a row are rotated, the rest copied. Compiled twice, as loop_o2
// (-O2: GCC 12 does not vectorise it) and loop_native (-O3 -march=native). They share no inline
// function with anything else, so the mixed flags stay in one file. float and double only: 16-bit
// arithmetic would need functions of Eigen's.
#pragma once

#include <cstddef>

struct LoopShape {
  std::ptrdiff_t D, H, S, rotary;
};

#define EIGEN_ROPE_DECLARE_LOOPS(name, T)                                          \
  namespace name {                                                                 \
  void split_half(const T* x, T* y, const T* cos, const T* sin, LoopShape shape);  \
  void interleaved(const T* x, T* y, const T* cos, const T* sin, LoopShape shape); \
  }
EIGEN_ROPE_DECLARE_LOOPS(loop_o2, float)
EIGEN_ROPE_DECLARE_LOOPS(loop_o2, double)
EIGEN_ROPE_DECLARE_LOOPS(loop_native, float)
EIGEN_ROPE_DECLARE_LOOPS(loop_native, double)
#undef EIGEN_ROPE_DECLARE_LOOPS
