// SPDX-License-Identifier: Apache-2.0
//
// The hand-written loops from one order of axes into another, over vectors that the including file
// defines (loops-inl.hpp has Ops).
//
//   to columns     x [tokens, heads, 128] --rotate--> tile --transpose--> y [128, heads, tokens]
//   from columns   x [128, heads, tokens] --transpose--> tile --rotate--> y [tokens, heads, 128]
//
// A strip, some tokens of some heads, goes through a tile in a cache. Columns are read where they
// lie, or copied to a stage first, 32 of them at a time. What transposes are vectors of 32 bytes,
// of which each takes 16 bytes of one row in its lower half and 16 of another in its upper one.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "hand/loops-inl.hpp"

namespace bench {

constexpr std::ptrdiff_t crossed_elements = 128;

/// What transposes. `Ops` keeps the files that include this one apart.
template <class Ops, std::size_t element_size>
struct HandTile;

template <class Ops>
struct HandHalves {
  static __m256i load(const void* lower, const void* upper) {
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(lower))),
        _mm_loadu_si128(static_cast<const __m128i*>(upper)), 1);
  }
  template <HandStores stores>
  static void put(void* to, __m256i v) {
    if constexpr (stores == HandStores::streaming) {
      _mm256_stream_si256(static_cast<__m256i*>(to), v);
    } else {
      _mm256_storeu_si256(static_cast<__m256i*>(to), v);
    }
  }
};

/// 8 rows of 4 elements of 4 bytes.
template <class Ops>
struct HandTile<Ops, 4> {
  using Halves = HandHalves<Ops>;
  using Element = std::uint32_t;
  static constexpr std::ptrdiff_t rows = 8, elements = 4;
  template <HandStores stores>
  static void move(const Element* x, std::ptrdiff_t x_step, Element* y, std::ptrdiff_t y_step) {
    const __m256i r0 = Halves::load(x, x + 4 * x_step),
                  r1 = Halves::load(x + x_step, x + 5 * x_step);
    const __m256i r2 = Halves::load(x + 2 * x_step, x + 6 * x_step);
    const __m256i r3 = Halves::load(x + 3 * x_step, x + 7 * x_step);
    const __m256i low01 = _mm256_unpacklo_epi32(r0, r1), low23 = _mm256_unpacklo_epi32(r2, r3);
    const __m256i high01 = _mm256_unpackhi_epi32(r0, r1), high23 = _mm256_unpackhi_epi32(r2, r3);
    Halves::template put<stores>(y, _mm256_unpacklo_epi64(low01, low23));
    Halves::template put<stores>(y + y_step, _mm256_unpackhi_epi64(low01, low23));
    Halves::template put<stores>(y + 2 * y_step, _mm256_unpacklo_epi64(high01, high23));
    Halves::template put<stores>(y + 3 * y_step, _mm256_unpackhi_epi64(high01, high23));
  }
};

/// 4 rows of 2 elements of 8 bytes.
template <class Ops>
struct HandTile<Ops, 8> {
  using Halves = HandHalves<Ops>;
  using Element = std::uint64_t;
  static constexpr std::ptrdiff_t rows = 4, elements = 2;
  template <HandStores stores>
  static void move(const Element* x, std::ptrdiff_t x_step, Element* y, std::ptrdiff_t y_step) {
    const __m256i r0 = Halves::load(x, x + 2 * x_step),
                  r1 = Halves::load(x + x_step, x + 3 * x_step);
    Halves::template put<stores>(y, _mm256_unpacklo_epi64(r0, r1));
    Halves::template put<stores>(y + y_step, _mm256_unpackhi_epi64(r0, r1));
  }
};

/// 16 rows of 8 elements of 2 bytes.
template <class Ops>
struct HandTile<Ops, 2> {
  using Halves = HandHalves<Ops>;
  using Element = std::uint16_t;
  static constexpr std::ptrdiff_t rows = 16, elements = 8;
  template <HandStores stores>
  static void move(const Element* x, std::ptrdiff_t x_step, Element* y, std::ptrdiff_t y_step) {
    __m256i r[8], t[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) r[i] = Halves::load(x + i * x_step, x + (i + 8) * x_step);
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
      Halves::template put<stores>(to, _mm256_unpacklo_epi64(r[4 * i], r[4 * i + 2]));
      Halves::template put<stores>(to + y_step, _mm256_unpackhi_epi64(r[4 * i], r[4 * i + 2]));
      Halves::template put<stores>(to + 2 * y_step,
                                   _mm256_unpacklo_epi64(r[4 * i + 1], r[4 * i + 3]));
      Halves::template put<stores>(to + 3 * y_step,
                                   _mm256_unpackhi_epi64(r[4 * i + 1], r[4 * i + 3]));
    }
  }
};

/// Where a strip lies: tokens of heads, and runs of rows next to each other in a column.
struct HandStrip {
  HandStrip(const HandCrossing& call, std::ptrdiff_t h, std::ptrdiff_t t)
      : head(h),
        token(t),
        pieces(call.strip_tokens == call.tokens ? 1 : call.strip_heads),
        run(call.strip_tokens * call.strip_heads / pieces),
        column(call.heads * call.tokens) {}

  /// The first row of a piece within a column.
  std::ptrdiff_t place(const HandCrossing& call, std::ptrdiff_t piece) const {
    return (head + piece) * call.tokens + token;
  }

  std::ptrdiff_t head, token, pieces, run;
  /// From one column to the next.
  std::ptrdiff_t column;
};

/// The rows of a strip, each to(h, t) from from(h, t), whose coefficients are loaded once a token.
template <class Ops, HandPairs pairs, HandStores stores, class From, class To>
__attribute__((always_inline)) inline void rotate_strip(const HandCrossing& call,
                                                        const HandStrip& strip, const From& from,
                                                        const To& to) {
  constexpr int D = crossed_elements;
  const auto* cos = static_cast<const typename Ops::Entry*>(call.cos);
  const auto* sin = static_cast<const typename Ops::Entry*>(call.sin);
  HandRow<Ops, pairs, D, D> row;
  for (std::ptrdiff_t t = 0; t < call.strip_tokens; ++t) {
    row.load(cos + (strip.token + t) * (D / 2), sin + (strip.token + t) * (D / 2));
    for (std::ptrdiff_t h = 0; h < call.strip_heads; ++h)
      row.template rotate<stores>(from(h, t), to(h, t));
  }
}

template <class Ops, HandPairs pairs, HandStores stores>
void rotate_to_columns(const HandCrossing& call) {
  using Element = typename Ops::Element;
  using Tile = HandTile<Ops, sizeof(Element)>;
  using Bits = typename Tile::Element;
  constexpr std::ptrdiff_t D = crossed_elements;
  const auto* x = static_cast<const Element*>(call.x);
  auto* y = static_cast<Bits*>(call.y);
  auto* tile = static_cast<Element*>(call.tile);
  const auto* rotated = static_cast<const Bits*>(call.tile);
  for (std::ptrdiff_t head = 0; head < call.heads; head += call.strip_heads) {
    for (std::ptrdiff_t token = 0; token < call.tokens; token += call.strip_tokens) {
      const HandStrip strip(call, head, token);
      rotate_strip<Ops, pairs, HandStores::cached>(
          call, strip,
          [&](std::ptrdiff_t h, std::ptrdiff_t t) {
            return x + ((token + t) * call.heads + head + h) * D;
          },
          [&](std::ptrdiff_t h, std::ptrdiff_t t) {
            return tile + (h * call.strip_tokens + t) * D;
          });
      for (std::ptrdiff_t piece = 0; piece < strip.pieces; ++piece) {
        for (std::ptrdiff_t d = 0; d < D; d += Tile::elements) {
          for (std::ptrdiff_t r = 0; r < strip.run; r += Tile::rows) {
            Tile::template move<stores>(rotated + (piece * strip.run + r) * D + d, D,
                                        y + d * strip.column + strip.place(call, piece) + r,
                                        strip.column);
          }
        }
      }
    }
  }
  if constexpr (stores == HandStores::streaming) _mm_sfence();
}

enum class HandColumns { in_place, staged };

template <class Ops, HandPairs pairs, HandStores stores, HandColumns columns>
void rotate_from_columns(const HandCrossing& call) {
  using Element = typename Ops::Element;
  using Tile = HandTile<Ops, sizeof(Element)>;
  using Bits = typename Tile::Element;
  constexpr std::ptrdiff_t D = crossed_elements;
  constexpr std::ptrdiff_t line = 64 / sizeof(Element), staged = 32, ahead = 4;
  const auto* x = static_cast<const Bits*>(call.x);
  auto* y = static_cast<Element*>(call.y);
  const auto* tile = static_cast<const Element*>(call.tile);
  auto* moved = static_cast<Bits*>(call.tile);
  auto* stage = static_cast<Bits*>(call.stage);
  for (std::ptrdiff_t head = 0; head < call.heads; head += call.strip_heads) {
    for (std::ptrdiff_t token = 0; token < call.tokens; token += call.strip_tokens) {
      const HandStrip strip(call, head, token);
      for (std::ptrdiff_t piece = 0; piece < strip.pieces; ++piece) {
        const Bits* first = x + strip.place(call, piece);
        Bits* to = moved + piece * strip.run * D;
        const std::ptrdiff_t step =
            columns == HandColumns::staged ? strip.run + line : strip.column;
        for (std::ptrdiff_t d = 0; d < D; d += staged) {
          const Bits* from = first + d * strip.column;
          if constexpr (columns == HandColumns::staged) {
            for (std::ptrdiff_t i = 0; i < staged; ++i) {
              if (d + i + ahead < D) {
                for (std::ptrdiff_t r = 0; r < strip.run; r += line) {
                  _mm_prefetch(reinterpret_cast<const char*>(from + (i + ahead) * strip.column + r),
                               _MM_HINT_T0);
                }
              }
              std::memcpy(stage + i * step, from + i * strip.column,
                          static_cast<std::size_t>(strip.run) * sizeof(Bits));
            }
            from = stage;
          }
          for (std::ptrdiff_t k = 0; k < staged; k += Tile::rows) {
            for (std::ptrdiff_t r = 0; r < strip.run; r += Tile::elements) {
              Tile::template move<HandStores::cached>(from + k * step + r, step, to + r * D + d + k,
                                                      D);
            }
          }
        }
      }
      rotate_strip<Ops, pairs, stores>(
          call, strip,
          [&](std::ptrdiff_t h, std::ptrdiff_t t) {
            return tile + (h * call.strip_tokens + t) * D;
          },
          [&](std::ptrdiff_t h, std::ptrdiff_t t) {
            return y + ((token + t) * call.heads + head + h) * D;
          });
    }
  }
  if constexpr (stores == HandStores::streaming) _mm_sfence();
}

template <class Ops, HandPairs pairs>
HandCrossings crossings_of_pairs() {
  constexpr auto cached = HandStores::cached, streaming = HandStores::streaming;
  return {{&rotate_to_columns<Ops, pairs, cached>, &rotate_to_columns<Ops, pairs, streaming>},
          {&rotate_from_columns<Ops, pairs, cached, HandColumns::in_place>,
           &rotate_from_columns<Ops, pairs, cached, HandColumns::staged>,
           &rotate_from_columns<Ops, pairs, streaming, HandColumns::in_place>,
           &rotate_from_columns<Ops, pairs, streaming, HandColumns::staged>}};
}

template <class Ops>
HandCrossings crossings_of(HandPairs pairs) {
  return pairs == HandPairs::split_half ? crossings_of_pairs<Ops, HandPairs::split_half>()
                                        : crossings_of_pairs<Ops, HandPairs::interleaved>();
}

}  // namespace bench
