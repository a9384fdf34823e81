// SPDX-License-Identifier: Apache-2.0
#include "loops.hpp"

namespace LOOP_NAMESPACE {

void half(const float* x, float* y, const float* cos, const float* sin, LoopShape shape) {
  const std::ptrdiff_t pairs = shape.D / 2;
  for (std::ptrdiff_t s = 0; s < shape.S; ++s) {
    const float* __restrict c = cos + s * pairs;
    const float* __restrict n = sin + s * pairs;
    for (std::ptrdiff_t h = 0; h < shape.H; ++h) {
      const float* __restrict in = x + (s * shape.H + h) * shape.D;
      float* __restrict out = y + (s * shape.H + h) * shape.D;
      for (std::ptrdiff_t k = 0; k < pairs; ++k) {
        const float a = in[k];
        const float b = in[k + pairs];
        out[k] = c[k] * a - n[k] * b;
        out[k + pairs] = c[k] * b + n[k] * a;
      }
    }
  }
}

void interleaved(const float* x, float* y, const float* cos, const float* sin, LoopShape shape) {
  const std::ptrdiff_t pairs = shape.D / 2;
  for (std::ptrdiff_t s = 0; s < shape.S; ++s) {
    const float* __restrict c = cos + s * pairs;
    const float* __restrict n = sin + s * pairs;
    for (std::ptrdiff_t h = 0; h < shape.H; ++h) {
      const float* __restrict in = x + (s * shape.H + h) * shape.D;
      float* __restrict out = y + (s * shape.H + h) * shape.D;
      for (std::ptrdiff_t k = 0; k < pairs; ++k) {
        const float a = in[2 * k];
        const float b = in[2 * k + 1];
        out[2 * k] = c[k] * a - n[k] * b;
        out[2 * k + 1] = c[k] * b + n[k] * a;
      }
    }
  }
}

}  // namespace LOOP_NAMESPACE
