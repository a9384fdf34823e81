// SPDX-License-Identifier: Apache-2.0
#include "loops.hpp"

namespace LOOP_NAMESPACE {
namespace {

template <class T>
void split_half_loop(const T* x, T* y, const T* cos, const T* sin, LoopShape shape) {
  const std::ptrdiff_t pairs = shape.rotary / 2;
  for (std::ptrdiff_t s = 0; s < shape.S; ++s) {
    const T* __restrict c = cos + s * pairs;
    const T* __restrict n = sin + s * pairs;
    for (std::ptrdiff_t h = 0; h < shape.H; ++h) {
      const T* __restrict in = x + (s * shape.H + h) * shape.D;
      T* __restrict out = y + (s * shape.H + h) * shape.D;
      for (std::ptrdiff_t k = 0; k < pairs; ++k) {
        const T a = in[k];
        const T b = in[k + pairs];
        out[k] = c[k] * a - n[k] * b;
        out[k + pairs] = c[k] * b + n[k] * a;
      }
      for (std::ptrdiff_t d = shape.rotary; d < shape.D; ++d) out[d] = in[d];
    }
  }
}

template <class T>
void interleaved_loop(const T* x, T* y, const T* cos, const T* sin, LoopShape shape) {
  const std::ptrdiff_t pairs = shape.rotary / 2;
  for (std::ptrdiff_t s = 0; s < shape.S; ++s) {
    const T* __restrict c = cos + s * pairs;
    const T* __restrict n = sin + s * pairs;
    for (std::ptrdiff_t h = 0; h < shape.H; ++h) {
      const T* __restrict in = x + (s * shape.H + h) * shape.D;
      T* __restrict out = y + (s * shape.H + h) * shape.D;
      for (std::ptrdiff_t k = 0; k < pairs; ++k) {
        const T a = in[2 * k];
        const T b = in[2 * k + 1];
        out[2 * k] = c[k] * a - n[k] * b;
        out[2 * k + 1] = c[k] * b + n[k] * a;
      }
      for (std::ptrdiff_t d = shape.rotary; d < shape.D; ++d) out[d] = in[d];
    }
  }
}

}  // namespace

void split_half(const float* x, float* y, const float* cos, const float* sin, LoopShape shape) {
  split_half_loop(x, y, cos, sin, shape);
}
void split_half(const double* x, double* y, const double* cos, const double* sin, LoopShape shape) {
  split_half_loop(x, y, cos, sin, shape);
}
void interleaved(const float* x, float* y, const float* cos, const float* sin, LoopShape shape) {
  interleaved_loop(x, y, cos, sin, shape);
}
void interleaved(const double* x, double* y, const double* cos, const double* sin,
                 LoopShape shape) {
  interleaved_loop(x, y, cos, sin, shape);
}

}  // namespace LOOP_NAMESPACE
