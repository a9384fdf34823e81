// SPDX-License-Identifier: Apache-2.0
//
// The hand-written loops for features that are not on the fastest axis, over vectors that the
// including file defines (loops-inl.hpp has Ops).
//
//   y_A[i] = c[i] x_a[i] - s[i] x_b[i]      y_B[i] = c[i] x_b[i] + s[i] x_a[i]
//
// i counts rows next to each other: sequences of a batch, then tokens. A loop walks all heads of a
// pair, or all pairs of a head, whichever lies closer together. Coefficients are read from the
// table, and where rows share them they are laid out one for each row first, once for a pair.
#pragma once

#include <cstring>
#include <memory>

#include "hand/loops-inl.hpp"

namespace bench {

enum class HandLaneOrder { heads_of_a_pair, pairs_of_a_head };

template <class Ops, HandStores stores>
__attribute__((always_inline)) inline void rotate_run(
    const typename Ops::Element* a, std::ptrdiff_t member, typename Ops::Element* A,
    const typename Ops::Entry* c, const typename Ops::Entry* s, std::ptrdiff_t rows) {
  for (std::ptrdiff_t i = 0; i < rows; i += Ops::lanes) {
    const typename Ops::Vector cos = Ops::entries(c + i);
    const typename Ops::Vector sin = Ops::entries(s + i);
    const typename Ops::Vector first = Ops::load(a + i);
    const typename Ops::Vector second = Ops::load(a + member + i);
    Ops::template store<stores>(A + i, Ops::minus_product(first, cos, Ops::times(second, sin)));
    Ops::template store<stores>(A + member + i,
                                Ops::plus_product(second, cos, Ops::times(first, sin)));
  }
}

/// The entries of one pair, each `batch` times, and all of them until they fill a vector.
template <class Ops>
class HandEntries {
 public:
  using Entry = typename Ops::Entry;

  explicit HandEntries(const HandLaneCall& call)
      : tokens_(call.tokens), batch_(call.batch), rows_(call.tokens * call.batch) {
    while (rows_ % Ops::lanes != 0) rows_ *= 2;
    if (as_they_are()) return;
    memory_.reset(new Entry[static_cast<std::size_t>(2 * rows_)]);
  }

  bool as_they_are() const { return batch_ == 1 && rows_ == tokens_; }
  std::ptrdiff_t rows() const { return rows_; }

  void take(const Entry*& cos, const Entry*& sin) const {
    if (as_they_are()) return;
    const Entry* from[] = {cos, sin};
    for (int part = 0; part < 2; ++part) {
      Entry* to = memory_.get() + part * rows_;
      for (std::ptrdiff_t t = 0; t < tokens_; ++t) {
        for (std::ptrdiff_t b = 0; b < batch_; ++b) to[t * batch_ + b] = from[part][t];
      }
      const std::ptrdiff_t once = tokens_ * batch_;
      for (std::ptrdiff_t i = once; i < rows_; ++i) to[i] = to[i - once];
    }
    cos = memory_.get();
    sin = memory_.get() + rows_;
  }

 private:
  std::ptrdiff_t tokens_, batch_, rows_;
  std::unique_ptr<Entry[]> memory_;
};

template <class Ops, HandLaneOrder order, HandStores stores>
void hand_rotate_lanes(const HandLaneCall& call) {
  using Element = typename Ops::Element;
  using Entry = typename Ops::Entry;
  const auto* x = static_cast<const Element*>(call.x);
  auto* y = static_cast<Element*>(call.y);
  const auto* cosines = static_cast<const Entry*>(call.cos);
  const auto* sines = static_cast<const Entry*>(call.sin);
  const HandEntries<Ops> entries(call);
  const std::ptrdiff_t rows = entries.rows();
  const std::ptrdiff_t heads = call.heads * call.tokens * call.batch / rows;
  const std::ptrdiff_t head = heads == call.heads ? call.head : rows;
  if constexpr (order == HandLaneOrder::heads_of_a_pair) {
    for (std::ptrdiff_t k = 0; k < call.pairs; ++k) {
      const Entry* cos = cosines + k * call.tokens;
      const Entry* sin = sines + k * call.tokens;
      entries.take(cos, sin);
      for (std::ptrdiff_t h = 0; h < heads; ++h) {
        const std::ptrdiff_t at = k * call.pair + h * head;
        rotate_run<Ops, stores>(x + at, call.member, y + at, cos, sin, rows);
      }
    }
  } else {
    for (std::ptrdiff_t h = 0; h < heads; ++h) {
      for (std::ptrdiff_t k = 0; k < call.pairs; ++k) {
        const Entry* cos = cosines + k * call.tokens;
        const Entry* sin = sines + k * call.tokens;
        entries.take(cos, sin);
        const std::ptrdiff_t at = k * call.pair + h * head;
        rotate_run<Ops, stores>(x + at, call.member, y + at, cos, sin, rows);
      }
    }
  }
  if (stores == HandStores::streaming) _mm_sfence();
}

template <class Ops>
void add_lane_loops(HandLaneLoops& list) {
  using Order = HandLaneOrder;
  const auto add = [&list](std::size_t alignment, void (*run)(const HandLaneCall&)) {
    list.loop[list.count++] = {Ops::lanes, alignment, run};
  };
  add(1, &hand_rotate_lanes<Ops, Order::heads_of_a_pair, HandStores::cached>);
  add(Ops::stored_bytes, &hand_rotate_lanes<Ops, Order::heads_of_a_pair, HandStores::streaming>);
  add(1, &hand_rotate_lanes<Ops, Order::pairs_of_a_head, HandStores::cached>);
  add(Ops::stored_bytes, &hand_rotate_lanes<Ops, Order::pairs_of_a_head, HandStores::streaming>);
}

}  // namespace bench
