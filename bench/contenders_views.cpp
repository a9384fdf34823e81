// SPDX-License-Identifier: Apache-2.0
//
// The rotation of rows that do not lie one behind the other.
//
//   qkv_strided    q, in place inside [D, Hq + 2 Hkv, S] (Hkv = 8), through
//                  eigen_rope::rotate_inplace on a strided view
//   qkv_slice      the same as an assignment between slices of the buffer, which have no raw data
//                  in Eigen
//   shuffle        x [D, H, S] rotated into y [D, S, H] by eigen_rope::rotate_to between strided
//                  views
//   shuffle_expr   the same as y = eigen_rope::rotate(x).shuffle(...)
//
// q has the bytes of x and y, so that `inplace` and `memcpy` of the same shape are what to compare
// with.
#include "contender.hpp"
#include "expected.hpp"

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
    const eigen_rope::StridedView<float> q{
        fused->qkv.data(), {c.D(), heads, c.S()}, {c.D(), c.D() * all_heads}};
    eigen_rope::rotate_inplace(q, c.cache, c.pairing);
  };
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

/// One element of each cache line is changed: what the memory asks for passing q in place, whoever
/// does it.
void touch(float* rows, Index count, Index length, Index stride) {
  constexpr Index line = 64 / sizeof(float);
  for (Index row = 0; row < count; ++row) {
    for (Index i = 0; i < length; i += line) rows[row * stride + i] = -rows[row * stride + i];
  }
}

/// An even number of passes leaves what there was.
Prepared pass(const std::shared_ptr<Fused>& fused, Index count, Index length, Index stride) {
  const Action run = [fused, count, length, stride] {
    touch(fused->qkv.data(), count, length, stride);
  };
  return {run, [fused, run] {
            const std::vector<float> before(fused->qkv.data(),
                                            fused->qkv.data() + fused->qkv.size());
            run();
            const bool changed = fused->qkv.data()[0] == -before[0];
            run();
            return changed && std::equal(before.begin(), before.end(), fused->qkv.data());
          }};
}

std::vector<float> rotated_heads_outermost(Case<float>& c) {
  const std::vector<float>& y = rotated(c);
  std::vector<float> result(y.size());
  for (Index s = 0; s < c.S(); ++s) {
    for (Index h = 0; h < heads; ++h)
      std::copy_n(y.data() + (s * heads + h) * c.D(), c.D(),
                  result.data() + (h * c.S() + s) * c.D());
  }
  return result;
}

Prepared shuffle(Case<float>& c) {
  const Action run = [&c] {
    const eigen_rope::Shape shape{c.D(), heads, c.S()};
    const eigen_rope::StridedView<const float> x{c.x.data(), shape, {c.D(), c.D() * heads}};
    const eigen_rope::StridedView<float> y{c.y.data(), shape, {c.D() * c.S(), c.D()}};
    eigen_rope::rotate_to(y, x, c.cache, c.pairing);
  };
  return into_y(c, run, [&c] { return rotated_heads_outermost(c); });
}

Prepared shuffle_expression(Case<float>& c) {
  const Action run = [&c, y = Case<float>::Map(c.y.data(), c.D(), c.S(), heads)]() mutable {
    y = eigen_rope::rotate(c.x, c.cache, c.pairing).shuffle(Eigen::array<int, 3>{0, 2, 1});
  };
  return into_y(c, run, [&c] { return rotated_heads_outermost(c); });
}

}  // namespace

void add_views(Contenders<float>& list, const CaseShape& shape) {
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
  list.push_back(
      {"pass", [shared](Case<float>& c) { return pass(shared->of(c), 1, c.shape.size(), 0); }});
  list.push_back({"pass_strided", [shared](Case<float>& c) {
                    return pass(shared->of(c), c.S(), c.D() * heads, c.D() * all_heads);
                  }});
  if (shape.tokens == 1) return;
  list.push_back({"shuffle", &shuffle});
  list.push_back({"shuffle_expr", &shuffle_expression});
}

}  // namespace bench
