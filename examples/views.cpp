// SPDX-License-Identifier: Apache-2.0
//
// Rotating what is there: the queries of a fused buffer, one sequence of a packed batch, the slot
// of a KV cache, a block of a paged one. Each is a line, nothing is copied, and the bits are those
// of the rotated copy.
#include <fmt/core.h>

#include <algorithm>
#include <eigen_rope/eigen_rope.hpp>
#include <vector>

namespace er = eigen_rope;

namespace {

constexpr er::Index D = 64, heads = 4, kv_heads = 2, tokens = 24;

template <int rank>
bool same(const Eigen::Tensor<float, rank>& a, const Eigen::Tensor<float, rank>& b) {
  const Eigen::Tensor<bool, 0> equal = (a == b).all();
  return equal();
}

}  // namespace

int main() {
  const er::GrowingCache<float> cache(er::Frequencies::powers({D}));
  const er::Pairing pairing = er::split_half;
  bool good = true;

  // Fused queries, keys and values [D, heads of q, k and v, tokens]: q and k have the same table.
  Eigen::Tensor<float, 3> qkv(D, heads + 2 * kv_heads, tokens);
  qkv.setRandom();
  const Eigen::Tensor<float, 3> qkv_before = qkv;
  er::rotate_inplace(er::strided_view(qkv).slice(1, 0, heads + kv_heads), cache.rows(0, tokens),
                     pairing);
  Eigen::Tensor<float, 3> expected = er::rotate(qkv_before, cache.rows(0, tokens), pairing);
  const Eigen::array<er::Index, 3> v_first{0, heads + kv_heads, 0}, v_size{D, kv_heads, tokens};
  expected.slice(v_first, v_size) = qkv_before.slice(v_first, v_size);
  good = good && same(qkv, expected);

  // A fused projection that is a plain buffer [heads * D + 2 * kv_heads * D, tokens].
  std::vector<float> buffer(qkv_before.data(), qkv_before.data() + qkv_before.size());
  const auto rows = er::strided_view(buffer.data(), {(heads + 2 * kv_heads) * D, tokens});
  er::rotate_inplace(rows.split(0, D).slice(1, 0, heads + kv_heads), cache.rows(0, tokens),
                     pairing);
  good = good && std::equal(buffer.begin(), buffer.end(), expected.data());

  // Packed sequences [D, heads, all tokens] that begin at cu_seqlens: each at positions of its own.
  const std::vector<er::Index> cu_seqlens{0, 5, 16, tokens};
  Eigen::Tensor<float, 3> packed(D, heads, tokens);
  packed.setRandom();
  const Eigen::Tensor<float, 3> packed_before = packed;
  for (std::size_t i = 0; i + 1 < cu_seqlens.size(); ++i) {
    const er::Index first = cu_seqlens[i], count = cu_seqlens[i + 1] - first;
    er::rotate_inplace(er::strided_view(packed).slice(2, first, count), cache.rows(0, count),
                       pairing);
  }
  const er::Cache<float> at_once(er::Frequencies::powers({D}),
                                 er::Positions::packed({0, 5, 16, 24}));
  expected = er::rotate(packed_before, at_once, pairing);
  good = good && same(packed, expected);

  // The new token of every sequence, in its slot of a KV cache [D, heads, slots, batch].
  Eigen::Tensor<float, 4> keys(D, kv_heads, 32, 2);
  keys.setRandom();
  const Eigen::Tensor<float, 3> slot_before = keys.chip(17, 2);
  er::rotate_inplace(er::strided_view(keys).slice(2, 17, 1), cache.rows(17, 1), pairing);
  expected = er::rotate(slot_before, cache.rows(17, 1), pairing);
  good = good && same<3>(keys.chip(17, 2), expected);

  // One block of a paged cache [D, heads, slots of a block, blocks].
  const Eigen::Tensor<float, 3> block_before = keys.chip(1, 3);
  er::rotate_inplace(keys.chip(1, 3), cache.rows(64, 32), pairing);
  expected = er::rotate(block_before, cache.rows(64, 32), pairing);
  good = good && same<3>(keys.chip(1, 3), expected);

  // Any slice of Eigen's, with its own offsets and extents; here of a map, in RowMajor.
  using Rows = Eigen::Tensor<float, 3, Eigen::RowMajor>;
  const Eigen::TensorMap<Rows> map(buffer.data(), tokens, heads, 2 * D);
  Eigen::TensorMap<Rows> written = map;
  const Eigen::array<er::Index, 3> first{8, 1, D}, size{4, 2, D};
  const Rows slice_before = map.slice(first, size);
  er::rotate_inplace(written.slice(first, size), cache.rows(8, 4), pairing);
  const Rows slice_expected = er::rotate(slice_before, cache.rows(8, 4), pairing);
  const Eigen::Tensor<bool, 0, Eigen::RowMajor> equal =
      (map.slice(first, size) == slice_expected).all();
  good = good && equal();

  // One token whose extents the compiler knows.
  Eigen::TensorFixedSize<float, Eigen::Sizes<D, heads>> token;
  token.setRandom();
  const Eigen::Tensor<float, 2> token_before = token;
  er::rotate_inplace(token, cache.rows(9, 1), pairing);
  const Eigen::Tensor<float, 2> token_expected =
      er::rotate(token_before, cache.rows(9, 1), pairing);
  good = good && same<2>(token, token_expected);

  // From one order of axes into another: [D, heads, tokens] to [D, tokens, heads].
  Eigen::Tensor<float, 3> turned(D, tokens, heads);
  er::rotate_to(er::strided_view(turned).swap_axes(1, 2), er::strided_view(packed_before), at_once,
                pairing);
  const Eigen::Tensor<float, 3> back = turned.shuffle(Eigen::array<int, 3>{0, 2, 1});
  good = good && same(back, packed);

  fmt::print("eight parts rotated where they are: {}\n",
             good ? "the bits of their copies" : "DIFFERENT");
  return good ? 0 : 1;
}
