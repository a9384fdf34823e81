// SPDX-License-Identifier: Apache-2.0
//
// The rotation of rows that do not lie one behind the other.
//
//   qkv_strided    q, in place inside [D, Hq + 2 Hkv, S] (Hkv = 8), through
//                  eigen_rope::rotate_inplace on a strided view
//   qkv_slice      the same as an assignment between slices of the buffer, which have no raw data
//                  in Eigen
//   hand_qkv       the same by hand, as contenders_hand.cpp
//   shuffle_expr   y = eigen_rope::rotate(x).shuffle(...), as to_bnsd
//
// q has the bytes of x and y, so that `inplace` and `memcpy` of the same shape are what to compare
// with.
#include "contender.hpp"
#include "expected.hpp"
#include "fastest_loop.hpp"

namespace bench {
namespace {

constexpr Index kv_heads = 8;
constexpr Index all_heads = heads + 2 * kv_heads;

/// A fused buffer [D, Hq + 2 Hkv, S].
struct Fused {
  explicit Fused(Case<float>& c)
      : memory(c.D() * all_heads * c.S()), qkv(memory.data(), c.D(), all_heads, c.S()) {
    fill(qkv.data(), qkv.size(), 4);
  }

  /// Whether `run` rotates q and leaves k and v alone.
  bool correct(Case<float>& c, const Action& run) {
    const Index q_size = c.D() * heads;
    const Index token_size = c.D() * all_heads;
    fill(qkv.data(), qkv.size(), 4);
    for (Index s = 0; s < c.S(); ++s)
      std::copy_n(c.x.data() + s * q_size, q_size, qkv.data() + s * token_size);
    const std::vector<float> before(qkv.data(), qkv.data() + qkv.size());
    run();
    const std::vector<float>& q = rotated(c);
    for (Index s = 0; s < c.S(); ++s) {
      const float* token = qkv.data() + s * token_size;
      if (!agrees(token, std::vector<float>(q.data() + s * q_size, q.data() + (s + 1) * q_size)))
        return false;
      if (!std::equal(token + q_size, token + token_size, before.data() + s * token_size + q_size))
        return false;
    }
    return true;
  }

  PlacedArray<float> memory;
  Case<float>::Map qkv;
};

Prepared strided(Case<float>& c, const std::shared_ptr<Fused>& fused) {
  const Action run = [&c, fused] {
    const auto q = eigen_rope::strided_view(fused->qkv).slice(1, 0, heads);
    eigen_rope::rotate_inplace(q, c.cache, c.pairing);
  };
  return {run, [&c, fused, run] { return fused->correct(c, run); }};
}

/// The loop that is fastest in place in one piece: tokens outside heads, either way.
Prepared by_hand(Case<float>& c, const std::shared_ptr<Fused>& fused, const HandLoops& loops) {
  const HandCall call{fused->qkv.data(),
                      fused->qkv.data(),
                      c.cache.cos(),
                      c.cache.sin(),
                      heads,
                      c.S(),
                      c.D(),
                      c.D() * all_heads,
                      c.D(),
                      c.D() * all_heads};
  const HandLoop loop = fastest_loop<float>(loops, call, 2 * c.bytes());
  const Action run = [loop, call] { loop.run(call); };
  return {run, [&c, fused, run] { return fused->correct(c, run); }};
}

Prepared slice_assignment(Case<float>& c, const std::shared_ptr<Fused>& fused) {
  const Action run = [&c, fused] {
    const Eigen::array<Index, 3> first{0, 0, 0};
    const Eigen::array<Index, 3> extent{c.D(), heads, c.S()};
    fused->qkv.slice(first, extent) =
        eigen_rope::rotate(fused->qkv.slice(first, extent), c.cache, c.pairing);
  };
  return {run, [&c, fused, run] { return fused->correct(c, run); }};
}

Prepared shuffle_expression(Case<float>& c) {
  const Action run = [&c, y = Case<float>::Map(c.y.data(), c.D(), c.S(), heads)]() mutable {
    y = eigen_rope::rotate(c.x, c.cache, c.pairing).shuffle(Eigen::array<int, 3>{0, 2, 1});
  };
  return into_y(c, run, [&c] { return with_heads_outside(c, rotated(c)); });
}

}  // namespace

void add_views(Contenders<float>& list, const CaseShape& shape, eigen_rope::Pairing pairing) {
  if (!shape.whole_rows()) return;
  // Both forms run on one buffer: where it lies must not decide between them.
  struct Shared {
    std::weak_ptr<Fused> fused;
    std::shared_ptr<Fused> of(Case<float>& c) {
      std::shared_ptr<Fused> result = fused.lock();
      if (!result) fused = result = std::make_shared<Fused>(c);
      return result;
    }
  };
  const auto shared = std::make_shared<Shared>();
  list.push_back({"qkv_strided", [shared](Case<float>& c) { return strided(c, shared->of(c)); }});
  list.push_back(
      {"qkv_slice", [shared](Case<float>& c) { return slice_assignment(c, shared->of(c)); }});
  const HandLoops loops =
      hand_loops(eigen_rope::kernel_target().c_str(), HandScalar::f32,
                 pairing.kind() == eigen_rope::PairKind::split_half ? HandPairs::split_half
                                                                    : HandPairs::interleaved,
                 shape.head_size, shape.rotary_dims);
  if (loops.count > 0)
    list.push_back(
        {"hand_qkv", [shared, loops](Case<float>& c) { return by_hand(c, shared->of(c), loops); }});
  if (shape.tokens == 1) return;
  list.push_back({"shuffle_expr", &shuffle_expression});
}

}  // namespace bench
