// SPDX-License-Identifier: Apache-2.0
//
// Hand-written transpositions of [rows, 128] to [128, rows], in tiles of vectors: what a rotation
// from one order of axes into another is measured against. Elements of 2, 4 and 8 bytes; rows are a
// multiple of 8.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "hand/hand.hpp"

namespace bench {

constexpr std::ptrdiff_t transposed_elements = 128;

/// 8 rows of 8 elements of 4 bytes.
struct Tile4 {
  using Element = float;
  static constexpr std::ptrdiff_t side = 8;
  static void move(const float* x, std::ptrdiff_t x_step, float* y, std::ptrdiff_t y_step) {
    __m256 r[8], t[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(x + i * x_step);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      t[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
      t[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      r[4 * i] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0x44);
      r[4 * i + 1] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0xee);
      r[4 * i + 2] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0x44);
      r[4 * i + 3] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0xee);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      _mm256_storeu_ps(y + i * y_step, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
      _mm256_storeu_ps(y + (i + 4) * y_step, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
    }
  }
};

/// 4 rows of 4 elements of 8 bytes.
struct Tile8 {
  using Element = double;
  static constexpr std::ptrdiff_t side = 4;
  static void move(const double* x, std::ptrdiff_t x_step, double* y, std::ptrdiff_t y_step) {
    const __m256d r0 = _mm256_loadu_pd(x), r1 = _mm256_loadu_pd(x + x_step);
    const __m256d r2 = _mm256_loadu_pd(x + 2 * x_step), r3 = _mm256_loadu_pd(x + 3 * x_step);
    const __m256d t0 = _mm256_unpacklo_pd(r0, r1), t1 = _mm256_unpackhi_pd(r0, r1);
    const __m256d t2 = _mm256_unpacklo_pd(r2, r3), t3 = _mm256_unpackhi_pd(r2, r3);
    _mm256_storeu_pd(y, _mm256_permute2f128_pd(t0, t2, 0x20));
    _mm256_storeu_pd(y + y_step, _mm256_permute2f128_pd(t1, t3, 0x20));
    _mm256_storeu_pd(y + 2 * y_step, _mm256_permute2f128_pd(t0, t2, 0x31));
    _mm256_storeu_pd(y + 3 * y_step, _mm256_permute2f128_pd(t1, t3, 0x31));
  }
};

/// 8 rows of 8 elements of 2 bytes.
struct Tile2 {
  using Element = std::uint16_t;
  static constexpr std::ptrdiff_t side = 8;
  static void move(const std::uint16_t* x, std::ptrdiff_t x_step, std::uint16_t* y,
                   std::ptrdiff_t y_step) {
    __m128i r[8], t[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i)
      r[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i * x_step));
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      t[i] = _mm_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
      t[i + 4] = _mm_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      r[4 * i] = _mm_unpacklo_epi32(t[4 * i], t[4 * i + 1]);
      r[4 * i + 1] = _mm_unpackhi_epi32(t[4 * i], t[4 * i + 1]);
      r[4 * i + 2] = _mm_unpacklo_epi32(t[4 * i + 2], t[4 * i + 3]);
      r[4 * i + 3] = _mm_unpackhi_epi32(t[4 * i + 2], t[4 * i + 3]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      const auto put = [&](int row, __m128i v) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(y + (4 * i + row) * y_step), v);
      };
      put(0, _mm_unpacklo_epi64(r[4 * i], r[4 * i + 2]));
      put(1, _mm_unpackhi_epi64(r[4 * i], r[4 * i + 2]));
      put(2, _mm_unpacklo_epi64(r[4 * i + 1], r[4 * i + 3]));
      put(3, _mm_unpackhi_epi64(r[4 * i + 1], r[4 * i + 3]));
    }
  }
};

/// A strip of rows that fill a line of y, all elements of it.
template <class Tile>
void transpose_by_rows(const HandTransposeCall& call) {
  using Element = typename Tile::Element;
  constexpr std::ptrdiff_t strip = 64 / static_cast<std::ptrdiff_t>(sizeof(Element));
  const auto* x = static_cast<const Element*>(call.x);
  auto* y = static_cast<Element*>(call.y);
  for (std::ptrdiff_t begin = 0; begin < call.rows; begin += strip) {
    const std::ptrdiff_t end = begin + strip < call.rows ? begin + strip : call.rows;
    for (std::ptrdiff_t d = 0; d < transposed_elements; d += Tile::side) {
      for (std::ptrdiff_t r = begin; r < end; r += Tile::side)
        Tile::move(x + r * transposed_elements + d, transposed_elements, y + d * call.rows + r,
                   call.rows);
    }
  }
}

/// A strip of elements that fill a line of x, all rows of it.
template <class Tile>
void transpose_by_elements(const HandTransposeCall& call) {
  using Element = typename Tile::Element;
  constexpr std::ptrdiff_t strip = 64 / static_cast<std::ptrdiff_t>(sizeof(Element));
  const auto* x = static_cast<const Element*>(call.x);
  auto* y = static_cast<Element*>(call.y);
  for (std::ptrdiff_t begin = 0; begin < transposed_elements; begin += strip) {
    for (std::ptrdiff_t r = 0; r < call.rows; r += Tile::side) {
      for (std::ptrdiff_t d = begin; d < begin + strip; d += Tile::side)
        Tile::move(x + r * transposed_elements + d, transposed_elements, y + d * call.rows + r,
                   call.rows);
    }
  }
}

inline HandTransposes transposes_of(std::size_t element_size) {
  switch (element_size) {
    case 2: return {&transpose_by_rows<Tile2>, &transpose_by_elements<Tile2>};
    case 4: return {&transpose_by_rows<Tile4>, &transpose_by_elements<Tile4>};
    case 8: return {&transpose_by_rows<Tile8>, &transpose_by_elements<Tile8>};
    default: return {nullptr, nullptr};
  }
}

}  // namespace bench
