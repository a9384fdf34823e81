// SPDX-License-Identifier: Apache-2.0
//
// ONNX's operators and their gradients, by struct and as nodes of a graph: shapes, attributes,
// types, positions.
#include <functional>

#include "eigen_rope/operators/onnx_node.hpp"
#include "operand.hpp"
#include "promise.hpp"
#include "take.hpp"

namespace eigen_rope::fuzz {
namespace {

enum class Operator { standard, contrib, multi_axis };
constexpr std::array<Operator, 3> operators{Operator::standard, Operator::contrib,
                                            Operator::multi_axis};

struct Slots {
  GuardedSlot X, cos, sin, ids, Y, dX, dcos, dsin;
};

struct Call {
  Operator op = Operator::standard;
  Operand X{}, cos{}, sin{}, ids{}, Y{}, dcos{}, dsin{};
  bool has_ids = false;
  std::int64_t interleaved = 0, num_heads = 0, rotary_embedding_dim = 0, packed = 0, layout = 0;
  double scale = 1.0;
  Extents section{};

  onnx::Inputs inputs() const {
    onnx::Inputs result{{X.type, X.data, X.shape},
                        {cos.type, cos.data, cos.shape},
                        {sin.type, sin.data, sin.shape},
                        {}};
    if (has_ids)
      result.position_ids =
          onnx::PositionIds{reinterpret_cast<const std::int64_t*>(ids.data), ids.shape};
    return result;
  }
  std::vector<const Operand*> read() const { return {&X, &cos, &sin, &ids}; }
};

Call call_of(Take& take, Slots& slots) {
  Call call;
  const Against against = take.one_in(4) ? Against::beginning : Against::end;
  call.op = take.one_of(operators);
  const ScalarType type = take.one_of(scalar_types);
  const bool wide = take.one_in(16);
  const std::int64_t batch = wide ? 0 : 1 + take.byte() % 3, sequence = 1 + take.byte() % 4,
                     heads = 1 + take.byte() % 3;
  const std::int64_t head = wide ? std::int64_t{2} << take.byte() % 50 : 2 * (take.byte() % 24);
  const std::int64_t rows = wide ? 0 : 1 + take.byte() % 8;
  const bool three = take.one_in(2), partial = take.one_in(3);
  const std::int64_t rotary = partial ? 2 * (take.byte() % 24) : head;
  call.has_ids = call.op != Operator::standard || take.one_in(2);
  if (take.one_in(32)) call.has_ids = !call.has_ids;
  call.interleaved = take.one_in(16) ? take.integer() : take.byte() % 2;
  call.num_heads = take.one_in(8) ? take.integer() : three || partial ? heads : 0;
  call.rotary_embedding_dim = take.one_in(16) ? take.integer() : partial ? rotary : 0;
  call.packed = take.one_in(16) ? take.integer() : take.byte() % 2;
  call.layout = take.one_in(16) ? take.integer() : take.byte() % 2;
  if (take.one_in(4)) call.scale = take.number();
  const std::int64_t first = rotary / 2 - rotary / 2 / 3 * 2;
  call.section = changed({first, rotary / 2 / 3, rotary / 2 / 3}, take);

  const Extents x =
      three ? Extents{batch, sequence, heads * head} : Extents{batch, heads, sequence, head};
  const Extents table =
      call.has_ids ? Extents{rows, rotary / 2} : Extents{batch, sequence, rotary / 2};
  const Extents ids = call.op == Operator::multi_axis ? Extents{3, batch, sequence}
                      : take.one_in(4)                ? Extents{1}
                                                      : Extents{batch, sequence};
  call.X = operand(slots.X, type, changed(x, take), {}, against);
  call.cos = operand(slots.cos, type, changed(table, take), {}, against);
  call.sin = operand(slots.sin, take.one_in(32) ? take.one_of(scalar_types) : type,
                     take.one_in(32) ? changed(table, take) : call.cos.shape, {}, against);
  call.ids = operand(slots.ids, ScalarType::f64, changed(ids, take), {}, against);
  call.Y = operand(slots.Y, take.one_in(32) ? take.one_of(scalar_types) : type,
                   take.one_in(32) ? changed(x, take) : call.X.shape, {}, against);
  call.X.fill(1);
  call.cos.fill(2);
  call.sin.fill(3);
  for (std::size_t at = 0; at < call.ids.need.bytes; at += 8) {
    const std::int64_t id =
        take.one_in(32) ? take.integer() : take.byte() % std::max<std::int64_t>(rows, 1);
    std::memcpy(call.ids.data + at, &id, 8);
  }
  return call;
}

onnx::Node node_of(const Call& call, Take& take) {
  onnx::Node node;
  node.domain = call.op == Operator::standard ? "ai.onnx" : "com.microsoft";
  node.op_type = call.op == Operator::multi_axis ? "MRotaryEmbedding" : "RotaryEmbedding";
  node.opset = take.one_in(16) ? take.integer() : call.op == Operator::standard ? 23 : 1;
  node.attributes["interleaved"] = call.interleaved;
  if (call.num_heads != 0) node.attributes["num_heads"] = call.num_heads;
  if (call.rotary_embedding_dim != 0)
    node.attributes["rotary_embedding_dim"] = call.rotary_embedding_dim;
  if (call.op != Operator::standard) node.attributes["scale"] = call.scale;
  if (call.op == Operator::contrib) node.attributes["is_packed_batching"] = call.packed;
  if (call.op == Operator::multi_axis) {
    node.attributes["mrope_section"] = call.section;
    node.attributes["mrope_layout"] = call.layout;
  }
  if (take.one_in(8)) node.attributes[std::string(take.rest().substr(0, 8))] = take.number();
  return node;
}

std::vector<onnx::Value> values_of(const Call& call, Take& take) {
  const auto type = [](ScalarType scalar) {
    return scalar == ScalarType::f32   ? onnx::ElementType::float32
           : scalar == ScalarType::f64 ? onnx::ElementType::float64
           : scalar == ScalarType::f16 ? onnx::ElementType::float16
                                       : onnx::ElementType::bfloat16;
  };
  const onnx::Value X{type(call.X.type), call.X.data, call.X.shape, true},
      cos{type(call.cos.type), call.cos.data, call.cos.shape, true},
      sin{type(call.sin.type), call.sin.data, call.sin.shape, true},
      ids{onnx::ElementType::int64, call.ids.data, call.ids.shape, call.has_ids};
  std::vector<onnx::Value> values =
      call.op == Operator::standard ? std::vector{X, cos, sin, ids} : std::vector{X, ids, cos, sin};
  if (take.one_in(16)) values.push_back(X);
  if (take.one_in(16)) values.resize(take.byte() % 4);
  return values;
}

/// Calls with the operator as a struct.
template <class Visit>
void with_operator(const Call& call, Take& take, const Visit& visit) {
  switch (call.op) {
    case Operator::standard:
      return visit(
          onnx::RotaryEmbedding{call.interleaved, call.num_heads, call.rotary_embedding_dim,
                                take.one_in(2) ? onnx::WideCache::refuse : onnx::WideCache::slice});
    case Operator::contrib:
      return visit(onnx::ContribRotaryEmbedding{
          call.interleaved, call.num_heads, call.rotary_embedding_dim, call.scale, call.packed});
    case Operator::multi_axis:
      return visit(onnx::MRotaryEmbedding{call.interleaved, call.num_heads,
                                          call.rotary_embedding_dim, call.scale, call.section,
                                          call.layout});
  }
}

void run_and_check(const Call& call, bool impossible, bool in_place,
                   const std::function<void(const onnx::Tensor&)>& run) {
  const Operand& Y = call.Y;
  const onnx::Tensor target{Y.type, in_place ? call.X.data : Y.data, Y.shape};
  const std::vector<std::byte> before(call.X.data, call.X.data + call.X.need.bytes);
  const Outcome outcome = attempt([&] { run(target); });
  for (const Operand* operand : call.read()) operand->slot->require_untouched_outside();
  const bool x_unchanged = std::equal(before.begin(), before.end(), call.X.data);
  require(x_unchanged || (in_place && outcome == Outcome::done),
          "X is written in place only, and never by a refusal");
  if (outcome == Outcome::refused || in_place) Y.require_unwritten();
  if (outcome == Outcome::refused) return;
  require(!impossible, "sizes that cannot be counted are refused");
  require(Y.shape == call.X.shape && Y.type == call.X.type,
          "Y of another shape or type is refused");
  if (!in_place && std::isfinite(call.scale)) Y.require_written();
}

void backward_and_check(const Call& call, bool impossible, Take& take, Slots& slots,
                        const std::function<void(const onnx::Gradients&)>& run) {
  const Operand dX = operand(slots.dX, call.X.type, call.X.shape, {}, Against::end);
  const Operand dcos =
      operand(slots.dcos, call.cos.type,
              take.one_in(32) ? changed(call.cos.shape, take) : call.cos.shape, {}, Against::end);
  const Operand dsin = operand(slots.dsin, call.cos.type, call.cos.shape, {}, Against::end);
  if (dcos.need.size == Size::large) return;
  onnx::Gradients gradients;
  if (!take.one_in(4)) gradients.dX = onnx::Tensor{dX.type, dX.data, dX.shape};
  if (!take.one_in(4)) gradients.dcos_cache = onnx::Tensor{dcos.type, dcos.data, dcos.shape};
  if (!take.one_in(4)) gradients.dsin_cache = onnx::Tensor{dsin.type, dsin.data, dsin.shape};
  call.Y.fill(4);
  const Outcome outcome = attempt([&] { run(gradients); });
  for (const Operand* operand : call.read()) operand->slot->require_untouched_outside();
  call.Y.slot->require_untouched_outside();
  require(outcome == Outcome::refused || !impossible, "sizes that cannot be counted are refused");
  const auto check = [&](const Operand& operand, bool wanted) {
    if (outcome == Outcome::refused || !wanted) return operand.require_unwritten();
    if (std::isfinite(call.scale)) operand.require_written();
  };
  check(dX, gradients.dX.has_value());
  check(dcos, gradients.dcos_cache.has_value());
  check(dsin, gradients.dsin_cache.has_value());
}

}  // namespace

void fuzz_onnx(Bytes bytes) {
  static Slots slots;
  Take take(bytes);
  const std::uint8_t what = take.byte() % 4;
  const Call call = call_of(take, slots);
  bool impossible = call.Y.need.size == Size::impossible;
  bool large = call.Y.need.size == Size::large;
  for (const Operand* operand : call.read()) {
    if (operand == &call.ids && !call.has_ids) continue;
    impossible = impossible || operand->need.size == Size::impossible;
    large = large || operand->need.size == Size::large;
  }
  if (large) return;
  if (what == 0) {
    const onnx::Node node = node_of(call, take);
    const std::vector<onnx::Value> values = values_of(call, take);
    return run_and_check(call, impossible && values.size() >= 4, false,
                         [&](const onnx::Tensor& Y) { onnx::run(node, values, Y); });
  }
  with_operator(call, take, [&](const auto& node) {
    if (what < 3)
      return run_and_check(call, impossible, what == 2,
                           [&](const onnx::Tensor& Y) { onnx::run(node, call.inputs(), Y); });
    const onnx::ConstTensor dY{call.Y.type, call.Y.data, call.Y.shape};
    backward_and_check(call, impossible, take, slots, [&](const onnx::Gradients& gradients) {
      onnx::backward(node, call.inputs(), dY, gradients);
    });
  });
}

}  // namespace eigen_rope::fuzz
