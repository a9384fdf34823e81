// SPDX-License-Identifier: Apache-2.0
//
// Calls of the C interface: types, memory, axes, shapes, strides, sizes of structs, parameters by
// name, positions, rows and slots of tokens.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "eigen_rope/c/eigen_rope.h"
#include "listed.hpp"
#include "operand.hpp"
#include "promise.hpp"
#include "take.hpp"

namespace eigen_rope::fuzz {
namespace {

struct Slots {
  GuardedSlot x, y, g, cos, sin, angle;
};

/// A refusal is an argument's: there is memory for everything that is asked for.
Outcome outcome_of(eigen_rope_status status) {
  if (status == EIGEN_ROPE_OK) return Outcome::done;
  require(status == EIGEN_ROPE_INVALID_ARGUMENT, "what is refused is an argument");
  require_sentence(eigen_rope_last_message());
  return Outcome::refused;
}

/// An operand, and the tensor that says where it lies.
struct CTensor {
  Operand operand{};
  /// More than any call may read.
  std::array<std::int64_t, EIGEN_ROPE_MAX_RANK + 1> shape{}, strides{};
  eigen_rope_tensor tensor{};

  CTensor() = default;
  CTensor(const CTensor&) = delete;
  CTensor& operator=(const CTensor&) = delete;

  void set(GuardedSlot& slot, ScalarType type, const Extents& extents, const Extents& steps) {
    operand = fuzz::operand(slot, type, extents, steps, Against::end);
    std::copy(extents.begin(), extents.end(), shape.begin());
    std::copy(steps.begin(), steps.end(), strides.begin());
    tensor = eigen_rope_cpu_tensor(operand.data,
                                   type == ScalarType::bf16 ? EIGEN_ROPE_BFLOAT : EIGEN_ROPE_FLOAT,
                                   static_cast<std::uint8_t>(8 * size_of(type)),
                                   static_cast<std::int32_t>(extents.size()), shape.data());
    if (!steps.empty()) tensor.strides = strides.data();
  }

  /// What no tensor of these bytes should say is refused; it stays a view of no more than them.
  void spoil(Take& take) {
    switch (take.byte() % 64) {
      case 0: tensor.dtype.code = take.byte(); break;
      case 1: tensor.dtype.lanes = take.raw<std::uint16_t>(); break;
      case 2: tensor.device.device_type = take.integer32(); break;
      case 3: tensor.device.device_id = take.integer32(); break;
      case 4:
        tensor.ndim =
            static_cast<std::int32_t>(std::clamp<std::int64_t>(take.integer(), INT32_MIN, -1));
        break;
      case 5: tensor.ndim = EIGEN_ROPE_MAX_RANK + 1 + take.byte(); break;
      case 6: tensor.shape = nullptr; break;
      case 7: tensor.data = nullptr; break;
      case 8: tensor.byte_offset = UINT64_MAX - take.byte(); break;
      case 9:
        if (size_of(operand.type) > 1) tensor.byte_offset = 1;
        break;
      default: break;
    }
    // Other bits of the same or half the width lie inside; so do 16 of 16.
    if (take.one_in(64) && operand.type == ScalarType::f64) tensor.dtype.bits = 32;
  }
};

struct Call {
  CTensor x, y, g, cos, sin, angle;
  eigen_rope_rotation how{};

  std::array<CTensor*, 6> all() { return {&x, &y, &g, &cos, &sin, &angle}; }
  bool any_is(Size size) {
    const auto tensors = all();
    return std::any_of(tensors.begin(), tensors.end(),
                       [&](const CTensor* one) { return one->operand.need.size == size; });
  }
  void require_nothing_outside() {
    for (const CTensor* one : all()) one->operand.slot->require_untouched_outside();
  }
};

void draw(Call& call, Take& take, Slots& slots) {
  const ScalarType type = take.one_of(scalar_types);
  const auto other = [&](ScalarType usual) {
    return take.one_in(16) ? take.one_of(scalar_types) : usual;
  };
  Extents x(1 + take.byte() % 6);
  for (std::int64_t& extent : x) extent = 1 + take.byte() % 3;
  const std::size_t features = take.one_in(2) ? x.size() - 1 : take.byte() % x.size();
  x[features] = 4 * (take.byte() % 10);
  Extents table = x;
  for (std::int64_t& extent : table) {
    if (take.one_in(2)) extent = 1;
  }
  table[features] = take.one_in(4) ? x[features] : x[features] / 2;
  Extents angle = table;
  angle[features] = x[features] / 2;
  x = changed(x, take);
  table = changed(table, take);
  const Extents steps = some_strides(table, take);
  call.x.set(slots.x, type, x, some_strides(x, take));
  const Extents y = take.one_in(16) ? changed(x, take) : x;
  call.y.set(slots.y, other(type), y, some_strides(y, take));
  call.g.set(slots.g, other(type), x, some_strides(x, take));
  const bool is_16_bit = type == ScalarType::f16 || type == ScalarType::bf16;
  const ScalarType entries = other(is_16_bit && take.one_in(2) ? ScalarType::f32 : type);
  call.cos.set(slots.cos, entries, table, steps);
  call.sin.set(slots.sin, entries, table, steps);
  angle = changed(angle, take);
  call.angle.set(slots.angle, other(ScalarType::f64), angle, some_strides(angle, take));
  for (CTensor* const one : call.all()) one->spoil(take);

  call.how.struct_size =
      take.one_in(64) ? static_cast<std::size_t>(take.byte()) % sizeof call.how : sizeof call.how;
  call.how.pairing = take.one_in(16) ? take.integer32() : 1 + take.byte() % 4;
  call.how.direction = take.one_in(16) ? take.integer32() : take.byte() % 3;
  if (take.one_in(16)) call.how.rotary_dims = take.integer();
  if (take.one_in(16)) call.how.offset = take.integer();
  call.how.flags = take.one_in(32) ? take.raw<std::uint32_t>() : 3;
  call.how.axis = take.one_in(16) ? take.integer32() : static_cast<std::int32_t>(features);
  call.how.table_axis = take.one_in(16) ? take.integer32() : static_cast<std::int32_t>(features);
}

void fill_inputs(const Call& call) {
  call.x.operand.fill(1);
  call.g.operand.fill(2);
  call.cos.operand.fill(3);
  call.sin.operand.fill(4);
}

void rotate(Call& call) {
  const Outcome outcome = outcome_of(eigen_rope_rotate(
      &call.y.tensor, &call.x.tensor, &call.cos.tensor, &call.sin.tensor, &call.how));
  call.require_nothing_outside();
  if (outcome == Outcome::refused) return call.y.operand.require_unwritten();
  // A tensor that says it has less wide elements is written in part.
  if (call.y.tensor.dtype.bits == 8 * size_of(call.y.operand.type))
    call.y.operand.require_written();
}

void backward(Call& call, Take& take) {
  eigen_rope_gradients results{};
  results.struct_size =
      take.one_in(64) ? static_cast<std::size_t>(take.byte()) % sizeof results : sizeof results;
  results.from = take.one_in(16) ? take.integer32() : take.byte() % 2;
  if (!take.one_in(4)) results.dx = &call.y.tensor;
  results.angle = &call.angle.tensor;
  if (take.one_in(8)) results.log_magnitude = &call.angle.tensor;  // overlaps
  const Outcome outcome = outcome_of(eigen_rope_backward(
      &results, &call.x.tensor, &call.g.tensor, &call.cos.tensor, &call.sin.tensor, &call.how));
  call.require_nothing_outside();
  if (outcome == Outcome::refused) {
    call.y.operand.require_unwritten();
    return call.angle.operand.require_unwritten();
  }
  call.angle.operand.require_written();
}

void table_gradient(Call& call) {
  const Outcome outcome = outcome_of(eigen_rope_table_gradient(
      &call.cos.tensor, &call.sin.tensor, &call.x.tensor, &call.g.tensor, &call.how));
  call.require_nothing_outside();
  if (outcome == Outcome::refused) {
    call.cos.operand.require_unwritten();
    call.sin.operand.require_unwritten();
  }
}

void gradient_shape(Call& call, Take& take) {
  std::int64_t shape[EIGEN_ROPE_MAX_RANK];
  std::int32_t ndim = 0;
  const Outcome outcome = outcome_of(
      eigen_rope_gradient_shape(take.one_in(8) ? take.integer32() : 1 + take.byte() % 2,
                                &call.x.tensor, &call.cos.tensor, &call.how, shape, &ndim));
  if (outcome == Outcome::refused) return;
  require(ndim == call.cos.tensor.ndim, "a gradient has the axes of its table");
}

/// Integers, and the struct that says where they lie.
struct CList {
  std::vector<std::int64_t> wide{};
  std::vector<std::int32_t> narrow{};
  eigen_rope_index_list list{};

  CList(const CList&) = delete;
  CList& operator=(const CList&) = delete;
  CList(std::vector<std::int64_t> numbers, Take& take) : wide(std::move(numbers)) {
    const bool is_narrow = take.one_in(2);
    if (is_narrow) {
      for (std::int64_t& number : wide) {
        narrow.push_back(static_cast<std::int32_t>(number));
        number = narrow.back();
      }
    }
    list.struct_size = take.one_in(64) ? take.byte() % sizeof list : sizeof list;
    list.data = is_narrow ? static_cast<const void*>(narrow.data()) : wide.data();
    list.count = static_cast<std::int64_t>(wide.size());
    list.dtype = {EIGEN_ROPE_INT, static_cast<std::uint8_t>(is_narrow ? 32 : 64), 1};
    switch (take.byte() % 64) {
      case 0: list.dtype.code = take.byte(); break;
      case 1: list.dtype.bits = take.byte() % 33; break;
      case 2: list.dtype.lanes = take.raw<std::uint16_t>(); break;
      case 3: list.data = nullptr; break;
      case 4: list.count = std::min<std::int64_t>(-1, take.integer()); break;
      case 5: list.count = std::min<std::int64_t>(list.count, take.byte()); break;
      case 6: list.reserved = take.integer32(); break;
      default: break;
    }
  }
  /// Whether the numbers are read as they were drawn.
  bool is_right() const {
    return !wide.empty() && list.count == static_cast<std::int64_t>(wide.size()) &&
           list.dtype.bits == (narrow.empty() ? 64 : 32);
  }
};

/// Tensors of a call one behind the other, as a caller of any version has them.
class CRows {
 public:
  CRows(const std::array<eigen_rope_token_rows, 2>& rows, Take& take) {
    constexpr std::size_t usual = sizeof(eigen_rope_token_rows);
    std::size_t size = usual;
    if (take.one_in(16)) size = std::size_t{8} * (take.byte() % 129);
    if (take.one_in(64)) size = take.byte();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      eigen_rope_token_rows row = rows[i];
      row.struct_size = take.one_in(64) ? take.byte() : size;
      std::memcpy(memory_.data() + i * std::max(size, usual), &row, sizeof row);
    }
    if (size > usual && take.one_in(4)) {
      const std::size_t added = usual + take.byte() % (size - usual);
      memory_[added] = static_cast<std::byte>(take.byte());
    }
  }
  const eigen_rope_token_rows* get() const {
    return reinterpret_cast<const eigen_rope_token_rows*>(memory_.data());
  }

 private:
  static constexpr std::size_t most = 1024;
  alignas(eigen_rope_token_rows) std::array<std::byte, 2 * most> memory_{};
};

/// Queries in place and keys into pages, by rows of a table.
void rotate_tokens(Take& take, Slots& memory) {
  const ScalarType type = take.one_of(scalar_types);
  const bool is_16_bit = type == ScalarType::f16 || type == ScalarType::bf16;
  const auto other = [&](ScalarType usual) {
    return take.one_in(32) ? take.one_of(scalar_types) : usual;
  };
  const std::int64_t dims = 4 * (take.byte() % 6);
  const std::int64_t tokens = take.byte() % 5;
  const std::int64_t heads = 1 + take.byte() % 3;
  CTensor q, k, pages, cos, sin;
  const auto set = [&](CTensor& tensor, GuardedSlot& slot, ScalarType of, const Extents& usual) {
    const Extents shape = changed(usual, take);
    tensor.set(slot, other(of), shape, some_strides(shape, take));
  };
  set(q, memory.x, type, {tokens, 1 + take.byte() % 3, dims});
  set(k, memory.g, type, {tokens, heads, dims});
  set(pages, memory.y, type, {1 + take.byte() % 3, 1 + take.byte() % 3, heads, dims});
  set(cos, memory.cos, is_16_bit && take.one_in(2) ? ScalarType::f32 : type,
      {1 + take.byte() % 6, dims / 2});
  sin.set(memory.sin, cos.operand.type, cos.operand.shape, cos.operand.strides);
  const std::array<CTensor*, 5> all{&q, &k, &pages, &cos, &sin};
  for (CTensor* const one : all) {
    if (one->operand.need.size == Size::large) return;
    one->spoil(take);
  }
  q.operand.fill(1);
  k.operand.fill(2);
  cos.operand.fill(3);
  sin.operand.fill(4);
  const Extents& table = cos.operand.shape;
  const CList ids(some_numbers(tokens, table.empty() ? 0 : table[0], take), take);
  const CList slots(some_numbers(tokens, 9, take), take);
  const CRows rows({eigen_rope_token_rows{0, &q.tensor, nullptr, nullptr},
                    eigen_rope_token_rows{0, &pages.tensor, &k.tensor, &slots.list}},
                   take);
  eigen_rope_rotation how{};
  how.struct_size = sizeof how;
  how.pairing = take.one_in(16) ? take.integer32() : 1 + take.byte() % 4;
  how.direction = take.one_in(16) ? take.integer32() : take.byte() % 3;
  if (take.one_in(16)) how.rotary_dims = take.integer();
  if (take.one_in(16)) how.flags = take.byte() % 4;
  how.axis = take.byte() % 4;
  how.table_axis = take.byte() % 3;
  const std::vector<std::byte> q_before(q.operand.data, q.operand.data + q.operand.need.bytes);

  const std::int64_t count = take.one_in(16) ? take.byte() % 3 : 2;
  const Outcome outcome = outcome_of(
      eigen_rope_rotate_tokens(rows.get(), count, &cos.tensor, &sin.tensor, &ids.list, &how));
  for (const CTensor* one : all) one->operand.slot->require_untouched_outside();
  if (outcome == Outcome::refused) {
    require(std::equal(q_before.begin(), q_before.end(), q.operand.data),
            "a refusal writes nothing");
    return pages.operand.require_unwritten();
  }
  if (count < 2) return pages.operand.require_unwritten();
  for (const CTensor* one : all)
    require(one->operand.need.size != Size::impossible, "sizes that cannot be counted are refused");
  const bool as_drawn = pages.tensor.dtype.bits == 8 * size_of(pages.operand.type);
  if (as_drawn && pages.operand.shape.size() == 4 && slots.is_right())
    require_other_slots_unwritten(pages.operand, slots.wide);
}

constexpr std::array<const char*, 11> scalings{
    "default",   "linear", "proportional", "dynamic",  "ntk", "yarn",
    "ggml_yarn", "llama3", "longrope",     "nonsense", ""};
constexpr std::array<const char*, 12> names{
    "base",      "linear_scale", "attention_factor", "factors",
    "exponents", "factor",       "original_context", "ends",
    "magnitude", "mscale",       "short_factor",     "exponent_dims"};
constexpr std::array<const char*, 4> words{"exact", "deepseek", "given", "?"};

struct Destroy {
  void operator()(eigen_rope_frequencies* frequencies) const {
    eigen_rope_frequencies_destroy(frequencies);
  }
  void operator()(eigen_rope_positions* positions) const {
    eigen_rope_positions_destroy(positions);
  }
};

void choices(Take& take) {
  std::array<double, 16> list{};
  for (double& number : list) number = take.number();
  std::vector<eigen_rope_parameter> parameters(1 + take.byte() % 6);
  for (eigen_rope_parameter& parameter : parameters) {
    parameter = {take.one_of(names), take.number(), nullptr, nullptr, 0};
    if (take.one_in(4)) {
      parameter.list = list.data();
      parameter.list_count = take.byte() % 17;
    }
    if (take.one_in(8)) parameter.word = take.one_of(words);
  }
  parameters[0] = {"rotary_dims", static_cast<double>(take.byte() % 40), nullptr, nullptr, 0};
  eigen_rope_frequencies* made = nullptr;
  const Outcome of_frequencies = outcome_of(eigen_rope_frequencies_create(
      take.one_of(scalings), parameters.data(), static_cast<std::int64_t>(parameters.size()),
      take.integer(), &made));
  const std::unique_ptr<eigen_rope_frequencies, Destroy> frequencies(made);
  require((of_frequencies == Outcome::done) == (made != nullptr), "a refusal makes nothing");

  std::array<std::int64_t, 4> sections{};
  for (std::int64_t& section : sections) section = take.integer();
  // With room behind it, as a later version has it.
  struct Later {
    eigen_rope_position_list list;
    std::array<std::uint8_t, 256> added;
  } later{};
  eigen_rope_position_list& ids = later.list;
  ids.struct_size = take.one_in(16) ? take.byte() : sizeof ids;
  later.added[take.byte()] = take.one_in(2) ? take.byte() : std::uint8_t{0};
  ids.dtype = {static_cast<std::uint8_t>(take.byte() % 4),
               static_cast<std::uint8_t>(take.one_in(2) ? 64 : 32), 1};
  ids.batches = take.integer();
  ids.section_pattern = take.byte() % 6;
  ids.sections = sections.data();
  ids.section_count = take.byte() % 6 % 5;
  ids.count = take.integer();
  const std::string left(take.rest());
  std::vector<std::int64_t> numbers(1 + left.size() / sizeof(std::int64_t));
  std::copy(left.begin(), left.end(), reinterpret_cast<char*>(numbers.data()));
  if (ids.count > static_cast<std::int64_t>(numbers.size()) && ids.count < (std::int64_t{1} << 60))
    return;
  ids.data = numbers.data();
  eigen_rope_positions* stands = nullptr;
  const Outcome of_positions = outcome_of(eigen_rope_positions_of(&ids, &stands));
  const std::unique_ptr<eigen_rope_positions, Destroy> positions(stands);
  require((of_positions == Outcome::done) == (stands != nullptr), "a refusal makes nothing");
  if (frequencies == nullptr || positions == nullptr) return;
  std::int64_t shape[EIGEN_ROPE_MAX_RANK];
  std::int32_t ndim = 0;
  if (outcome_of(eigen_rope_table_shape(frequencies.get(), positions.get(), "bsd", shape, &ndim)) ==
      Outcome::refused)
    return;
  require(ndim == 3, "bsd has three axes");
  std::int64_t size = 1;
  for (std::int32_t axis = 0; axis < ndim; ++axis) size *= shape[axis];
  constexpr std::int64_t most = 4096;
  if (size > most) return;
  std::vector<float> entries(static_cast<std::size_t>(2 * size));
  const eigen_rope_tensor cos =
      eigen_rope_cpu_tensor(entries.data(), EIGEN_ROPE_FLOAT, 32, ndim, shape);
  const eigen_rope_tensor sin =
      eigen_rope_cpu_tensor(entries.data() + size, EIGEN_ROPE_FLOAT, 32, ndim, shape);
  require(outcome_of(eigen_rope_fill_table(&cos, &sin, frequencies.get(), positions.get(),
                                           "bsd")) == Outcome::done,
          "a table of the shape that was said is made");
}

}  // namespace

void fuzz_c(Bytes bytes) {
  static Slots slots;
  Take take(bytes);
  const std::uint8_t what = take.byte();
  constexpr std::uint8_t first_of_tokens = 224;
  if (what >= first_of_tokens) return rotate_tokens(take, slots);
  if (what % 5 == 0) return choices(take);
  Call call;
  draw(call, take, slots);
  if (call.any_is(Size::large)) return;
  fill_inputs(call);
  switch (what % 5) {
    case 1: return rotate(call);
    case 2: return backward(call, take);
    case 3:
      slots.cos.place(call.cos.operand.need.bytes, Against::end);
      slots.sin.place(call.sin.operand.need.bytes, Against::end);
      return table_gradient(call);
    default: return gradient_shape(call, take);
  }
}

}  // namespace eigen_rope::fuzz
