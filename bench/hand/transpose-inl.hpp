// SPDX-License-Identifier: Apache-2.0
//
// Hand-written transpositions of [rows, 128] to [128, rows], in tiles of vectors: what a rotation
// from one order of axes into another is measured against. Elements of 2, 4 and 8 bytes; rows are a
// multiple of 32. A vector takes 16 bytes of one row in its lower half and 16 of another in its
// upper one.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "hand/loops-inl.hpp"

namespace bench {

constexpr std::ptrdiff_t transposed_elements = 128;

inline __m256i halves(const void* lower, const void* upper) {
  return _mm256_inserti128_si256(
      _mm256_castsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(lower))),
      _mm_loadu_si128(static_cast<const __m128i*>(upper)), 1);
}

template <HandStores stores>
void put_column(void* to, __m256i v) {
  if constexpr (stores == HandStores::streaming) {
    _mm256_stream_si256(static_cast<__m256i*>(to), v);
  } else {
    _mm256_storeu_si256(static_cast<__m256i*>(to), v);
  }
}

/// 8 rows of 4 elements of 4 bytes.
struct Tile4 {
  using Element = std::uint32_t;
  static constexpr std::ptrdiff_t rows = 8, elements = 4;
  template <HandStores stores>
  static void move(const Element* x, std::ptrdiff_t x_step, Element* y, std::ptrdiff_t y_step) {
    const __m256i r0 = halves(x, x + 4 * x_step), r1 = halves(x + x_step, x + 5 * x_step);
    const __m256i r2 = halves(x + 2 * x_step, x + 6 * x_step);
    const __m256i r3 = halves(x + 3 * x_step, x + 7 * x_step);
    const __m256i low01 = _mm256_unpacklo_epi32(r0, r1), low23 = _mm256_unpacklo_epi32(r2, r3);
    const __m256i high01 = _mm256_unpackhi_epi32(r0, r1), high23 = _mm256_unpackhi_epi32(r2, r3);
    put_column<stores>(y, _mm256_unpacklo_epi64(low01, low23));
    put_column<stores>(y + y_step, _mm256_unpackhi_epi64(low01, low23));
    put_column<stores>(y + 2 * y_step, _mm256_unpacklo_epi64(high01, high23));
    put_column<stores>(y + 3 * y_step, _mm256_unpackhi_epi64(high01, high23));
  }
};

/// 4 rows of 2 elements of 8 bytes.
struct Tile8 {
  using Element = std::uint64_t;
  static constexpr std::ptrdiff_t rows = 4, elements = 2;
  template <HandStores stores>
  static void move(const Element* x, std::ptrdiff_t x_step, Element* y, std::ptrdiff_t y_step) {
    const __m256i r0 = halves(x, x + 2 * x_step), r1 = halves(x + x_step, x + 3 * x_step);
    put_column<stores>(y, _mm256_unpacklo_epi64(r0, r1));
    put_column<stores>(y + y_step, _mm256_unpackhi_epi64(r0, r1));
  }
};

/// 16 rows of 8 elements of 2 bytes.
struct Tile2 {
  using Element = std::uint16_t;
  static constexpr std::ptrdiff_t rows = 16, elements = 8;
  template <HandStores stores>
  static void move(const Element* x, std::ptrdiff_t x_step, Element* y, std::ptrdiff_t y_step) {
    __m256i r[8], t[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) r[i] = halves(x + i * x_step, x + (i + 8) * x_step);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      t[i] = _mm256_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
      t[i + 4] = _mm256_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      r[4 * i] = _mm256_unpacklo_epi32(t[4 * i], t[4 * i + 1]);
      r[4 * i + 1] = _mm256_unpackhi_epi32(t[4 * i], t[4 * i + 1]);
      r[4 * i + 2] = _mm256_unpacklo_epi32(t[4 * i + 2], t[4 * i + 3]);
      r[4 * i + 3] = _mm256_unpackhi_epi32(t[4 * i + 2], t[4 * i + 3]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      Element* to = y + 4 * i * y_step;
      put_column<stores>(to, _mm256_unpacklo_epi64(r[4 * i], r[4 * i + 2]));
      put_column<stores>(to + y_step, _mm256_unpackhi_epi64(r[4 * i], r[4 * i + 2]));
      put_column<stores>(to + 2 * y_step, _mm256_unpacklo_epi64(r[4 * i + 1], r[4 * i + 3]));
      put_column<stores>(to + 3 * y_step, _mm256_unpackhi_epi64(r[4 * i + 1], r[4 * i + 3]));
    }
  }
};

/// A strip of rows that fill `lines` lines of y, all elements of it.
template <class Tile, HandStores stores, std::ptrdiff_t lines>
void transpose_by_rows(const HandTransposeCall& call) {
  using Element = typename Tile::Element;
  constexpr std::ptrdiff_t strip = lines * 64 / static_cast<std::ptrdiff_t>(sizeof(Element));
  const auto* x = static_cast<const Element*>(call.x);
  auto* y = static_cast<Element*>(call.y);
  for (std::ptrdiff_t begin = 0; begin < call.rows; begin += strip) {
    const std::ptrdiff_t end = begin + strip < call.rows ? begin + strip : call.rows;
    for (std::ptrdiff_t d = 0; d < transposed_elements; d += Tile::elements) {
      for (std::ptrdiff_t r = begin; r < end; r += Tile::rows) {
        Tile::template move<stores>(x + r * transposed_elements + d, transposed_elements,
                                    y + d * call.rows + r, call.rows);
      }
    }
  }
  if constexpr (stores == HandStores::streaming) _mm_sfence();
}

/// A strip of elements that fill a line of x, all rows of it.
template <class Tile>
void transpose_by_elements(const HandTransposeCall& call) {
  using Element = typename Tile::Element;
  constexpr std::ptrdiff_t strip = 64 / static_cast<std::ptrdiff_t>(sizeof(Element));
  const auto* x = static_cast<const Element*>(call.x);
  auto* y = static_cast<Element*>(call.y);
  for (std::ptrdiff_t begin = 0; begin < transposed_elements; begin += strip) {
    for (std::ptrdiff_t r = 0; r < call.rows; r += Tile::rows) {
      for (std::ptrdiff_t d = begin; d < begin + strip; d += Tile::elements) {
        Tile::template move<HandStores::cached>(
            x + r * transposed_elements + d, transposed_elements, y + d * call.rows + r, call.rows);
      }
    }
  }
}

template <class Tile>
HandTransposes transposes_in() {
  return {&transpose_by_rows<Tile, HandStores::cached, 1>, &transpose_by_elements<Tile>,
          &transpose_by_rows<Tile, HandStores::streaming, 4>};
}

inline HandTransposes transposes_of(std::size_t element_size) {
  switch (element_size) {
    case 2: return transposes_in<Tile2>();
    case 4: return transposes_in<Tile4>();
    case 8: return transposes_in<Tile8>();
    default: return {nullptr, nullptr, nullptr};
  }
}

}  // namespace bench
