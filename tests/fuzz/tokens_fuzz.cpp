// SPDX-License-Identifier: Apache-2.0
//
// Tokens whose places are listed, typed at run time: types, shapes, strides, lists of rows and
// slots.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "eigen_rope/any/any.hpp"
#include "listed.hpp"
#include "operand.hpp"
#include "promise.hpp"
#include "take.hpp"

namespace eigen_rope::fuzz {
namespace {

struct Slots {
  GuardedSlot q, k, pages, cos, sin;
};

template <class List>
List listed(const Extents& numbers) {
  List list;
  for (const std::int64_t number : numbers) list.push_back(static_cast<Index>(number));
  return list;
}

template <class View>
View view_of(const Operand& operand) {
  return {operand.type, operand.data, listed<Shape>(operand.shape),
          listed<Strides>(operand.strides)};
}

ScalarType other_type(ScalarType usual, Take& take) {
  return take.one_in(32) ? take.one_of(scalar_types) : usual;
}

}  // namespace

void fuzz_tokens(Bytes bytes) {
  static Slots memory;
  Take take(bytes);
  const ScalarType type = take.one_of(scalar_types);
  const bool is_16_bit = type == ScalarType::f16 || type == ScalarType::bf16;
  const std::int64_t dims = 4 * (take.byte() % 6);
  const std::int64_t tokens = take.byte() % 5;
  const std::int64_t heads = 1 + take.byte() % 3;
  const Extents q_shape = changed({tokens, 1 + take.byte() % 3, dims}, take);
  const Extents k_shape = changed({tokens, heads, dims}, take);
  const Extents pages_shape =
      changed({1 + take.byte() % 3, 1 + take.byte() % 3, heads, dims}, take);
  const Extents table_shape = changed({1 + take.byte() % 6, dims / 2}, take);
  const auto made = [&](GuardedSlot& slot, ScalarType of, const Extents& shape) {
    return operand(slot, other_type(of, take), shape, some_strides(shape, take), Against::end);
  };
  const Operand q = made(memory.q, type, q_shape);
  const Operand k = made(memory.k, type, k_shape);
  const Operand pages = made(memory.pages, type, pages_shape);
  const Operand cos =
      made(memory.cos, is_16_bit && take.one_in(2) ? ScalarType::f32 : type, table_shape);
  const Operand sin = operand(memory.sin, cos.type, table_shape, cos.strides, Against::end);
  for (const Operand* operand : {&q, &k, &pages, &cos, &sin}) {
    if (operand->need.size == Size::large) return;
  }
  q.fill(1);
  k.fill(2);
  cos.fill(3);
  sin.fill(4);
  const std::vector<std::int64_t> ids =
      some_numbers(tokens, table_shape.empty() ? 0 : table_shape[0], take);
  const std::vector<std::int64_t> slots = some_numbers(tokens, 9, take);
  Pairing pairing(static_cast<PairKind>(take.byte() % 4));
  if (take.one_in(16)) pairing = pairing.along(take.integer32());
  if (take.one_in(16)) pairing = pairing.with_rotary_dims(take.integer());
  const auto direction = static_cast<Direction>(take.byte() % 3);
  const std::vector<std::byte> q_before(q.data, q.data + q.need.bytes);

  const Outcome outcome = attempt([&] {
    const any::Table table{cos.type, cos.data, sin.data, listed<Shape>(cos.shape),
                           listed<Strides>(cos.strides)};
    const auto rows = view_of<any::Tensor>(q);
    any::rotate_tokens(
        {{rows, rows}, {view_of<any::Tensor>(pages), view_of<any::ConstTensor>(k), slots}}, table,
        ids, pairing, direction);
  });
  for (const Operand* operand : {&q, &k, &pages, &cos, &sin})
    operand->slot->require_untouched_outside();
  if (outcome == Outcome::refused) {
    require(std::equal(q_before.begin(), q_before.end(), q.data), "a refusal writes nothing");
    return pages.require_unwritten();
  }
  for (const Operand* operand : {&q, &k, &pages, &cos, &sin})
    require(operand->need.size != Size::impossible, "sizes that cannot be counted are refused");
  if (pages.shape.size() == 4 && !slots.empty()) require_other_slots_unwritten(pages, slots);
}

}  // namespace eigen_rope::fuzz
