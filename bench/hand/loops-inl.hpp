// SPDX-License-Identifier: Apache-2.0
//
// The hand-written loops, over vectors that the including file defines.
//
//   y_A = c x_a - s x_b      y_B = c x_b + s x_a      rows of D elements, of which R are rotated
//
// Sizes are constants, coefficients are arrays of vectors that the compiler keeps in registers as
// far as it can, and nothing is checked. `Ops` has the vectors of one scalar: Element, Entry (of
// the table), Vector, lanes, load(), store<stores>(), entries(), entries_twice(), swapped(),
// times(), plus_product() and minus_product(). Each file that includes this one
// is compiled for one instruction set (its Ops are its own, so nothing here is shared), with
// -ffp-contract=off: products and sums of float and double are rounded apart, as the library
// promises, and 16-bit elements fuse one of them.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "hand/hand.hpp"

namespace bench {

enum class HandStores { cached, streaming };

template <class Ops, HandPairs pairs, int D, int R>
struct HandRow {
  using Element = typename Ops::Element;
  using Entry = typename Ops::Entry;
  using Vector = typename Ops::Vector;
  static constexpr int lanes = Ops::lanes;
  static constexpr bool split = pairs == HandPairs::split_half;
  static constexpr int columns = split ? R / 2 / lanes : R / lanes;

  Vector cos[columns], sin[columns];

  __attribute__((always_inline)) void load(const Entry* c, const Entry* s) {
#pragma GCC unroll 32
    for (int i = 0; i < columns; ++i) {
      if constexpr (split) {
        cos[i] = Ops::entries(c + i * lanes);
        sin[i] = Ops::entries(s + i * lanes);
      } else {
        cos[i] = Ops::entries_twice(c + i * lanes / 2);
        sin[i] = Ops::alternating(Ops::entries_twice(s + i * lanes / 2));
      }
    }
  }

  template <HandStores stores>
  __attribute__((always_inline)) void rotate(const Element* x, Element* y) const {
#pragma GCC unroll 32
    for (int i = 0; i < columns; ++i) {
      if constexpr (split) {
        const Vector a = Ops::load(x + i * lanes);
        const Vector b = Ops::load(x + i * lanes + R / 2);
        Ops::template store<stores>(y + i * lanes,
                                    Ops::minus_product(a, cos[i], Ops::times(b, sin[i])));
        Ops::template store<stores>(y + i * lanes + R / 2,
                                    Ops::plus_product(b, cos[i], Ops::times(a, sin[i])));
      } else {
        const Vector v = Ops::load(x + i * lanes);
        Ops::template store<stores>(
            y + i * lanes, Ops::plus_product(v, cos[i], Ops::times(Ops::swapped(v), sin[i])));
      }
    }
    constexpr int piece = 32 / static_cast<int>(sizeof(Element));
#pragma GCC unroll 32
    for (int i = R; i < D; i += piece) {
      const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
      if constexpr (stores == HandStores::streaming) {
        _mm256_stream_si256(reinterpret_cast<__m256i*>(y + i), v);
      } else {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + i), v);
      }
    }
  }
};

template <class Ops, HandPairs pairs, int D, int R, HandOrder order, HandStores stores>
void hand_rotate(const HandCall& call) {
  using Element = typename Ops::Element;
  using Entry = typename Ops::Entry;
  const auto* x = static_cast<const Element*>(call.x);
  auto* y = static_cast<Element*>(call.y);
  const auto* cos = static_cast<const Entry*>(call.cos);
  const auto* sin = static_cast<const Entry*>(call.sin);
  HandRow<Ops, pairs, D, R> row;
  constexpr std::ptrdiff_t heads_together = order == HandOrder::four_heads ? 4 : 1;
  if constexpr (order == HandOrder::token_by_token) {
    for (std::ptrdiff_t t = 0; t < call.tokens; ++t) {
      const std::ptrdiff_t entries = (call.rows == nullptr ? t : call.rows[t]) * (R / 2);
      row.load(cos + entries, sin + entries);
      const Element* from = x + t * call.x_token;
      Element* to = y + (call.slots == nullptr ? t : call.slots[t]) * call.y_token;
      for (std::ptrdiff_t h = 0; h < call.heads; ++h) {
        row.template rotate<stores>(from, to);
        from += call.x_head;
        to += call.y_head;
      }
    }
  } else {
    for (std::ptrdiff_t h = 0; h < call.heads; h += heads_together) {
      for (std::ptrdiff_t t = 0; t < call.tokens; ++t) {
        row.load(cos + t * (R / 2), sin + t * (R / 2));
        const Element* from = x + h * call.x_head + t * call.x_token;
        Element* to = y + h * call.y_head + t * call.y_token;
        for (std::ptrdiff_t k = 0; k < heads_together; ++k) {
          row.template rotate<stores>(from, to);
          from += call.x_head;
          to += call.y_head;
        }
      }
    }
  }
  if (stores == HandStores::streaming) _mm_sfence();
}

/// Pairs' differences are formed in float and summed in double. `Ops` is that of float, with Sum (a
/// double for each lane), zero(), add(), put() and differences().
template <class Ops, HandPairs pairs, HandStores stores>
void hand_backward(const HandGradientCall& call) {
  constexpr int D = 128;
  using Row = HandRow<Ops, pairs, D, D>;
  using Vector = typename Ops::Vector;
  constexpr int lanes = Ops::lanes;
  constexpr int groups = D / 2 / lanes;
  Row row;
  for (std::ptrdiff_t t = 0; t < call.tokens; ++t) {
    row.load(call.cos + t * (D / 2), call.sin + t * (D / 2));
    typename Ops::Sum sums[groups];
#pragma GCC unroll 32
    for (int i = 0; i < groups; ++i) sums[i] = Ops::zero();
    const std::ptrdiff_t token = t * call.heads * D;
    for (std::ptrdiff_t h = 0; h < call.heads; ++h) {
      const float* y = call.y + token + h * D;
      const float* g = call.g + token + h * D;
      float* dx = call.dx + token + h * D;
#pragma GCC unroll 32
      for (int i = 0; i < groups; ++i) {
        if constexpr (Row::split) {
          const Vector a = Ops::load(g + i * lanes);
          const Vector b = Ops::load(g + i * lanes + D / 2);
          Ops::template store<stores>(dx + i * lanes,
                                      Ops::plus_product(a, row.cos[i], Ops::times(b, row.sin[i])));
          Ops::template store<stores>(dx + i * lanes + D / 2,
                                      Ops::minus_product(b, row.cos[i], Ops::times(a, row.sin[i])));
          Ops::add(sums[i], Ops::minus_product(Ops::load(y + i * lanes), b,
                                               Ops::times(Ops::load(y + i * lanes + D / 2), a)));
        } else {
          Vector products[2];
#pragma GCC unroll 2
          for (int k = 0; k < 2; ++k) {
            const int column = 2 * i + k;
            const Vector v = Ops::load(g + column * lanes);
            const Vector other = Ops::swapped(v);
            Ops::template store<stores>(
                dx + column * lanes,
                Ops::minus_product(v, row.cos[column], Ops::times(other, row.sin[column])));
            products[k] = Ops::times(Ops::load(y + column * lanes), other);
          }
          Ops::add(sums[i], Ops::differences(products[0], products[1]));
        }
      }
    }
#pragma GCC unroll 32
    for (int i = 0; i < groups; ++i) Ops::put(sums[i], call.angle + t * (D / 2) + i * lanes);
  }
  if (stores == HandStores::streaming) _mm_sfence();
}

template <class Ops>
HandGradients gradients_of(HandPairs pairs) {
  if (pairs == HandPairs::split_half) {
    return {&hand_backward<Ops, HandPairs::split_half, HandStores::cached>,
            &hand_backward<Ops, HandPairs::split_half, HandStores::streaming>};
  }
  return {&hand_backward<Ops, HandPairs::interleaved, HandStores::cached>,
          &hand_backward<Ops, HandPairs::interleaved, HandStores::streaming>};
}

template <class Ops, HandPairs pairs, int D, int R, HandOrder order>
void add_orders(HandLoops& list, const char* cached, const char* streaming) {
  list.loop[list.count++] = {cached, order, 1,
                             &hand_rotate<Ops, pairs, D, R, order, HandStores::cached>};
  list.loop[list.count++] = {streaming, order, Ops::stored_bytes,
                             &hand_rotate<Ops, pairs, D, R, order, HandStores::streaming>};
}

template <class Ops, HandPairs pairs, int D, int R>
HandLoops loops_of_size() {
  HandLoops list;
  add_orders<Ops, pairs, D, R, HandOrder::token_by_token>(list, "token by token",
                                                          "token by token, streaming");
  add_orders<Ops, pairs, D, R, HandOrder::row_by_row>(list, "row by row", "row by row, streaming");
  add_orders<Ops, pairs, D, R, HandOrder::four_heads>(list, "four heads", "four heads, streaming");
  return list;
}

template <class Ops>
HandLoops loops_of(HandPairs pairs, std::ptrdiff_t head_size, std::ptrdiff_t rotary) {
  const bool split = pairs == HandPairs::split_half;
  if (head_size == 128 && rotary == 128) {
    return split ? loops_of_size<Ops, HandPairs::split_half, 128, 128>()
                 : loops_of_size<Ops, HandPairs::interleaved, 128, 128>();
  }
  if (head_size == 80 && rotary == 32) {
    // Half of 32 is less than a vector of some.
    if constexpr (Ops::lanes <= 16) {
      return split ? loops_of_size<Ops, HandPairs::split_half, 80, 32>()
                   : loops_of_size<Ops, HandPairs::interleaved, 80, 32>();
    }
  }
  return {};
}

}  // namespace bench
