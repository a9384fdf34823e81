// SPDX-License-Identifier: Apache-2.0
//
// Calls that are typed at run time: types, orders, shapes, strides, axes, positions.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "eigen_rope/any/any.hpp"
#include "operand.hpp"
#include "promise.hpp"
#include "take.hpp"

namespace eigen_rope::fuzz {
namespace {

struct Slots {
  GuardedSlot x, y, g, cos, sin;
};

template <class List>
List listed(const Extents& slowest_first, any::Order order) {
  List list;
  const auto append = [&](std::int64_t number) { list.push_back(static_cast<Index>(number)); };
  if (order == any::Order::fastest_first) {
    std::for_each(slowest_first.rbegin(), slowest_first.rend(), append);
  } else {
    std::for_each(slowest_first.begin(), slowest_first.end(), append);
  }
  return list;
}

/// An operand, how it is listed, and whether its strides are given.
struct Listed {
  Operand operand{};
  any::Order order = any::Order::slowest_first;
  bool has_strides = false;
  /// Of tables.
  std::optional<int> feature_axis{};

  template <class View>
  View view() const {
    return {operand.type, operand.data, listed<Shape>(operand.shape, order), strides(), order};
  }
  any::TableMemory table(const Operand& sin) const {
    return {operand.type, operand.data, sin.data,    listed<Shape>(operand.shape, order),
            strides(),    order,        feature_axis};
  }

 private:
  Strides strides() const {
    return has_strides ? listed<Strides>(operand.strides, order) : Strides{};
  }
};

ScalarType other_type(ScalarType usual, Take& take) {
  if (!take.one_in(16)) return usual;
  return take.one_in(4) ? static_cast<ScalarType>(take.byte()) : take.one_of(scalar_types);
}

Listed listed_operand(GuardedSlot& slot, ScalarType type, const Extents& shape, Take& take) {
  const Extents strides = some_strides(shape, take);
  Listed result{operand(slot, type, shape, strides, Against::end)};
  result.has_strides = !strides.empty();
  result.order = take.one_in(2) ? any::Order::slowest_first : any::Order::fastest_first;
  if (take.one_in(64)) result.order = static_cast<any::Order>(take.byte());
  return result;
}

struct Call {
  Listed x{}, y{}, g{}, cos{};
  Operand sin{};
  Pairing pairing = split_half;

  std::vector<const Operand*> all() const {
    return {&x.operand, &y.operand, &g.operand, &cos.operand, &sin};
  }
  bool any_is(Size size) const {
    const auto operands = all();
    return std::any_of(operands.begin(), operands.end(),
                       [&](const Operand* operand) { return operand->need.size == size; });
  }
  void require_nothing_outside() const {
    for (const Operand* operand : all()) operand->slot->require_untouched_outside();
  }
};

Call call_of(Take& take, Slots& slots) {
  Call call;
  const ScalarType type = other_type(take.one_of(scalar_types), take);
  Extents x(1 + take.byte() % 6);
  for (std::int64_t& extent : x) extent = 1 + take.byte() % 3;
  const std::size_t features = take.one_in(2) ? x.size() - 1 : take.byte() % x.size();
  x[features] = 4 * (take.byte() % 10);
  Extents table = x;
  const auto width_at = static_cast<std::ptrdiff_t>(features);
  table.erase(table.begin() + width_at);
  for (std::int64_t& extent : table) {
    if (take.one_in(2)) extent = 1;
  }
  const std::size_t place = take.one_in(2) ? table.size() : take.byte() % (table.size() + 1);
  table.insert(table.begin() + static_cast<std::ptrdiff_t>(place),
               take.one_in(4) ? x[features] : x[features] / 2);
  x = changed(x, take);
  table = changed(table, take);
  call.x = listed_operand(slots.x, type, x, take);
  call.y =
      listed_operand(slots.y, other_type(type, take), take.one_in(16) ? changed(x, take) : x, take);
  call.g = listed_operand(slots.g, other_type(type, take), x, take);
  const bool is_16_bit = type == ScalarType::f16 || type == ScalarType::bf16;
  call.cos = listed_operand(slots.cos,
                            other_type(is_16_bit && take.one_in(2) ? ScalarType::f32 : type, take),
                            table, take);
  call.sin =
      operand(slots.sin, call.cos.operand.type, table, call.cos.operand.strides, Against::end);
  const auto axis_of = [](std::size_t from_slowest, std::size_t rank, any::Order order) {
    return static_cast<int>(order == any::Order::fastest_first ? rank - 1 - from_slowest
                                                               : from_slowest);
  };
  call.cos.feature_axis = axis_of(place, table.size(), call.cos.order);
  if (take.one_in(16)) call.cos.feature_axis = take.integer32();
  if (take.one_in(16)) call.cos.feature_axis.reset();
  call.pairing = Pairing(static_cast<PairKind>(take.byte() % 4));
  if (!take.one_in(8)) call.pairing = call.pairing.along(axis_of(features, x.size(), call.x.order));
  if (take.one_in(16)) call.pairing = call.pairing.along(take.integer32());
  if (take.one_in(16)) call.pairing = call.pairing.with_offset(take.integer());
  if (take.one_in(16)) call.pairing = call.pairing.with_rotary_dims(take.integer());
  return call;
}

void fill_inputs(const Call& call) {
  const auto known = [](ScalarType type) {
    return type <= ScalarType::bf16 ? type : ScalarType::bf16;
  };
  const auto fill = [&](const Operand& operand, unsigned seed) {
    fill_with_numbers(operand.data, operand.need.bytes, known(operand.type), seed);
  };
  fill(call.x.operand, 1);
  fill(call.g.operand, 2);
  fill(call.cos.operand, 3);
  fill(call.sin, 4);
}

void rotate(const Call& call, Take& take) {
  const auto direction = static_cast<Direction>(take.byte() % 3);
  const Outcome outcome = attempt([&] {
    any::rotate_to(call.y.view<any::Tensor>(), call.x.view<any::ConstTensor>(),
                   call.cos.table(call.sin), call.pairing, direction);
  });
  call.require_nothing_outside();
  if (outcome == Outcome::refused) return call.y.operand.require_unwritten();
  for (const Operand* operand : {&call.x.operand, &call.y.operand, &call.cos.operand}) {
    require(operand->need.size != Size::impossible, "sizes that cannot be counted are refused");
  }
  call.y.operand.require_written();
}

void rotate_in_place(const Call& call) {
  const Operand& x = call.x.operand;
  const std::vector<std::byte> before(x.data, x.data + x.need.bytes);
  const Outcome outcome = attempt([&] {
    any::rotate_inplace(call.x.view<any::Tensor>(), call.cos.table(call.sin), call.pairing);
  });
  call.require_nothing_outside();
  if (outcome == Outcome::refused)
    require(std::equal(before.begin(), before.end(), x.data), "a refusal writes nothing");
}

void backward(const Call& call, Take& take) {
  const GradientOptions options{static_cast<Wanted>(take.byte() % 8),
                                take.one_in(2) ? GradientsFrom::output : GradientsFrom::input};
  Gradients<double> result;
  const Outcome outcome = attempt([&] {
    result = any::gradients_to(call.y.view<any::Tensor>(), call.x.view<any::ConstTensor>(),
                               call.g.view<any::ConstTensor>(), call.cos.table(call.sin),
                               call.pairing, options);
  });
  call.require_nothing_outside();
  if (outcome == Outcome::refused) return call.y.operand.require_unwritten();
  require(!call.any_is(Size::impossible), "sizes that cannot be counted are refused");
  require(result.width >= result.pairs && result.outer.rank() < max_rank,
          "a result says what it holds");
  call.y.operand.require_written();
}

void table_gradient(const Call& call) {
  const Outcome outcome = attempt([&] {
    any::table_gradient(call.cos.table(call.sin), call.x.view<any::ConstTensor>(),
                        call.g.view<any::ConstTensor>(), call.pairing);
  });
  call.require_nothing_outside();
  if (outcome == Outcome::refused) {
    call.cos.operand.require_unwritten();
    return call.sin.require_unwritten();
  }
  call.cos.operand.require_written();
  call.sin.require_written();
}

void fill_table(const Call& call, Take& take) {
  const Outcome outcome = attempt([&] {
    const any::TableMemory memory = call.cos.table(call.sin);
    const Frequencies frequencies = Frequencies::powers({2 * std::max<Index>(1, take.byte() % 24)});
    const Positions positions = Positions::range(take.integer(), take.byte() % 4);
    any::fill_table(memory, frequencies, positions, take.one_in(2) ? Layout::sd() : Layout::dns());
  });
  call.require_nothing_outside();
  if (outcome == Outcome::refused) {
    call.cos.operand.require_unwritten();
    return call.sin.require_unwritten();
  }
  call.cos.operand.require_written();
  call.sin.require_written();
}

void read_choices(Take& take) {
  any::PositionIds ids;
  ids.type = static_cast<any::PositionType>(take.byte() % 5);
  ids.count = take.integer();
  ids.batches.count = take.integer();
  const std::string numbers(take.rest());
  const Index width =
      ids.type == any::PositionType::i32 || ids.type == any::PositionType::f32 ? 4 : 8;
  if (ids.count > static_cast<Index>(numbers.size()) / width && ids.count < (Index{1} << 60))
    return;
  ids.data = numbers.data();
  attempt([&] {
    require(any::positions(ids).batches() == ids.batches.count, "as many batches as asked for");
  });
  attempt([&] { (void)any::pairing_of(numbers.substr(0, 100)); });
  attempt([&] { (void)any::direction_of(numbers.substr(0, 100)); });
}

}  // namespace

void fuzz_any(Bytes bytes) {
  static Slots slots;
  Take take(bytes);
  const std::uint8_t what = take.byte() % 6;
  if (what == 0) return read_choices(take);
  const Call call = call_of(take, slots);
  if (call.any_is(Size::large)) return;
  if (what < 4) fill_inputs(call);
  switch (what) {
    case 1: return rotate(call, take);
    case 2: return rotate_in_place(call);
    case 3: return backward(call, take);
    case 4:
      fill_inputs(call);
      slots.cos.place(call.cos.operand.need.bytes, Against::end);
      slots.sin.place(call.sin.need.bytes, Against::end);
      return table_gradient(call);
    default: return fill_table(call, take);
  }
}

}  // namespace eigen_rope::fuzz
