// SPDX-License-Identifier: Apache-2.0
//
// Tensors whose scalar, rank and strides are known only when the program runs, as a binding to
// another language or a reader of files has them: everything is a value, and no template is named.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <eigen_rope/any/any.hpp>
#include <vector>

namespace er = eigen_rope;

int main() {
  // What the other side hands over: a bfloat16 tensor [tokens, q and k and v, heads, D].
  const er::Index tokens = 16, heads = 4, D = 32;
  std::vector<std::uint16_t> qkv(tokens * 3 * heads * D, 0x3F80);  // 1.0 each
  const std::vector<std::uint16_t> before = qkv;
  const std::vector<std::int64_t> position_ids{0,   1,   2,   3,   4,   5,   6,   7,
                                               100, 101, 102, 103, 104, 105, 106, 107};

  er::any::Tensor q{er::ScalarType::bf16, qkv.data(), {tokens, heads, D}};
  q.strides = {3 * heads * D, D, 1};
  er::any::Tensor k = q;
  k.data = qkv.data() + heads * D;

  // A table in memory of our own, float for tensors of 16 bits.
  std::vector<float> cosines(tokens * D / 2), sines(tokens * D / 2);
  const er::any::TableMemory table{
      er::ScalarType::f32, cosines.data(), sines.data(), {tokens, 1, D / 2}};
  const er::Positions positions =
      er::any::positions({er::any::PositionType::i64, position_ids.data(), tokens});
  er::any::fill_table(table, er::Frequencies::powers({D}), positions, er::Layout::tnd());

  const er::Pairing pairing = er::any::pairing_of("split_half");
  for (const er::any::Tensor& rows : {q, k}) er::any::rotate_inplace(rows, table, pairing);
  const bool rotated = qkv != before;
  for (const er::any::Tensor& rows : {q, k})
    er::any::rotate_inplace(rows, table, pairing, er::any::direction_of("inverse"));

  // The error bounds of the rotation and of its inverse are 1.5 and 4.5 units in the last place.
  int furthest = 0;
  for (std::size_t i = 0; i < qkv.size(); ++i)
    furthest = std::max(furthest, std::abs(int{qkv[i]} - int{before[i]}));
  fmt::print("rotated and back: at most {} units in the last place\n", furthest);
  return rotated && furthest <= 6 ? 0 : 1;
}
