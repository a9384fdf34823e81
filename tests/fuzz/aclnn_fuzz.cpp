// SPDX-License-Identifier: Apache-2.0
//
// Ascend's operators, their gradient, and the two-step calls: shapes, strides, modes, layouts,
// types.
#include <functional>

#include "eigen_rope/operators/aclnn_calls.hpp"
#include "operand.hpp"
#include "promise.hpp"
#include "take.hpp"

namespace eigen_rope::fuzz {
namespace {

struct Slots {
  GuardedSlot x, cos, sin, out, dcos, dsin;
};

/// A shape, and its strides if they are to be given.
struct Description {
  Extents shape{}, strides{};
};

aclnn::Tensor tensor_of(const Operand& operand, const Description& description) {
  return {operand.type, operand.data, description.shape, description.strides};
}

struct Call {
  Description x_is{}, cos_is{}, sin_is{}, out_is{};
  Operand x{}, cos{}, sin{}, out{};
  aclnn::Mode mode = aclnn::Mode::half;
  aclnn::Layout layout = aclnn::Layout::bnsd;

  aclnn::Tensor x_tensor() const { return tensor_of(x, x_is); }
  aclnn::Tensor cos_tensor() const { return tensor_of(cos, cos_is); }
  aclnn::Tensor sin_tensor() const { return tensor_of(sin, sin_is); }
  aclnn::Tensor out_tensor() const { return tensor_of(out, out_is); }
  aclnn::Inputs inputs() const { return {x_tensor(), cos_tensor(), sin_tensor()}; }
  std::vector<const Operand*> all() const { return {&x, &cos, &sin, &out}; }
};

Call call_of(Take& take, Slots& slots) {
  Call call;
  const Against against = take.one_in(4) ? Against::beginning : Against::end;
  call.mode = static_cast<aclnn::Mode>(take.one_in(32) ? take.integer() : take.byte() % 4);
  call.layout = static_cast<aclnn::Layout>(take.one_in(32) ? take.integer() : 1 + take.byte() % 4);
  const ScalarType type = take.one_of(scalar_types);
  Extents x{1 + take.byte() % 3, 1 + take.byte() % 4, 1 + take.byte() % 3, 4 * (take.byte() % 20)};
  if (take.one_in(4)) x.erase(x.begin());
  Extents table = x;
  for (std::size_t axis = 0; axis + 1 < table.size(); ++axis) {
    if (take.one_in(2)) table[axis] = 1;
  }
  if (take.one_in(4)) table.back() = take.byte();
  const auto other = [&] { return take.one_in(32) ? take.one_of(scalar_types) : type; };
  const auto described = [&](const Extents& shape) {
    Description description{shape, {}};
    description.strides = some_strides(shape, take);
    return description;
  };
  call.x_is = described(changed(x, take));
  call.cos_is = described(changed(table, take));
  call.sin_is = described(take.one_in(16) ? changed(table, take) : call.cos_is.shape);
  call.out_is = described(take.one_in(16) ? changed(x, take) : call.x_is.shape);
  call.x = operand(slots.x, type, call.x_is.shape, call.x_is.strides, against);
  call.cos = operand(slots.cos, other(), call.cos_is.shape, call.cos_is.strides, against);
  call.sin = operand(slots.sin, other(), call.sin_is.shape, call.sin_is.strides, against);
  call.out = operand(slots.out, other(), call.out_is.shape, call.out_is.strides, against);
  call.x.fill(1);
  call.cos.fill(2);
  call.sin.fill(3);
  return call;
}

bool any(const Call& call, Size size) {
  for (const Operand* operand : call.all()) {
    if (operand->need.size == size) return true;
  }
  return false;
}

void require_nothing_outside(const Call& call) {
  for (const Operand* operand : call.all()) operand->slot->require_untouched_outside();
}

void rotate(const Call& call) {
  const Outcome outcome = attempt(
      [&] { aclnn::rotary_position_embedding(call.out_tensor(), call.inputs(), call.mode); });
  require_nothing_outside(call);
  if (outcome == Outcome::refused) return call.out.require_unwritten();
  require(!any(call, Size::impossible), "sizes that cannot be counted are refused");
  require(call.out.shape == call.x.shape && call.out.type == call.x.type,
          "a result of another shape or type is refused");
  call.out.require_written();
}

void rotate_in_place(const Call& call) {
  const std::vector<std::byte> before(call.x.data, call.x.data + call.x.need.bytes);
  const Outcome outcome =
      attempt([&] { aclnn::rotary_position_embedding(call.x_tensor(), call.inputs(), call.mode); });
  require_nothing_outside(call);
  if (outcome == Outcome::refused)
    return require(std::equal(before.begin(), before.end(), call.x.data),
                   "a refusal writes nothing");
  require(call.x.need.size == Size::small && call.cos.need.size == Size::small,
          "sizes that cannot be counted are refused");
}

void gradient(const Call& call, Take& take, Slots& slots) {
  // `out` is dx, and dy has x's numbers.
  const Operand dcos = operand(slots.dcos, call.cos.type, call.cos.shape, {}, Against::end);
  const Operand dsin = operand(slots.dsin, call.cos.type, call.cos.shape, {}, Against::end);
  if (dcos.need.size == Size::large) return;
  const std::uint8_t which = take.byte();
  aclnn::GradInputs inputs{call.x_tensor(), call.cos_tensor(), call.sin_tensor(), {}};
  if (which & 1) inputs.x = call.x_tensor();
  aclnn::GradOutputs outputs{call.out_tensor(), {}, {}};
  if (which & 2) outputs.dcos = aclnn::Tensor{dcos.type, dcos.data, dcos.shape, {}};
  if (which & 4) outputs.dsin = aclnn::Tensor{dsin.type, dsin.data, dsin.shape, {}};
  const Outcome outcome =
      attempt([&] { aclnn::rotary_position_embedding_grad(outputs, inputs, call.mode); });
  require_nothing_outside(call);
  if (outcome == Outcome::refused) {
    call.out.require_unwritten();
    dcos.require_unwritten();
    return dsin.require_unwritten();
  }
  require(!any(call, Size::impossible), "sizes that cannot be counted are refused");
  call.out.require_written();
  outputs.dcos ? dcos.require_written() : dcos.require_unwritten();
  outputs.dsin ? dsin.require_written() : dsin.require_unwritten();
}

void apply(const Call& call) {
  // `out` is the key: other heads than the query's.
  call.out.fill(4);
  const std::vector<std::byte> query(call.x.data, call.x.data + call.x.need.bytes),
      key(call.out.data, call.out.data + call.out.need.bytes);
  const Outcome outcome = attempt([&] {
    aclnn::apply_rotary_pos_emb(
        {call.x_tensor(), call.out_tensor(), call.cos_tensor(), call.sin_tensor()}, call.layout,
        call.mode);
  });
  require_nothing_outside(call);
  if (outcome == Outcome::done)
    return require(!any(call, Size::impossible), "sizes that cannot be counted are refused");
  require(std::equal(query.begin(), query.end(), call.x.data) &&
              std::equal(key.begin(), key.end(), call.out.data),
          "a refusal writes nothing");
}

void device_check(const Call& call, Take& take) {
  const auto chip = static_cast<aclnn::Chip>(take.byte() % 3);
  attempt([&] {
    std::vector<std::string> remarks;
    switch (take.byte() % 3) {
      case 0: remarks = aclnn::device_check(call.inputs(), call.mode, call.layout, chip); break;
      case 1:
        remarks = aclnn::device_check(
            aclnn::GradInputs{call.x_tensor(), call.cos_tensor(), call.sin_tensor(), {}}, call.mode,
            call.layout, chip);
        break;
      default:
        remarks = aclnn::device_check(aclnn::ApplyInputs{call.x_tensor(), call.out_tensor(),
                                                         call.cos_tensor(), call.sin_tensor()},
                                      call.mode, call.layout, chip);
        break;
    }
    for (const std::string& remark : remarks)
      require(!remark.empty() && remark.find('\n') == std::string::npos, "a remark is one line");
  });
}

void two_steps(const Call& call, Take& take) {
  const aclnn::aclTensor x = call.x_tensor(), cos = call.cos_tensor(), sin = call.sin_tensor(),
                         out = call.out_tensor();
  std::uint64_t size = 77;
  aclnn::aclOpExecutor* executor = nullptr;
  const aclnn::aclnnStatus status = aclnn::aclnnRotaryPositionEmbeddingGetWorkspaceSize(
      take.one_in(16) ? nullptr : &x, take.one_in(16) ? nullptr : &cos,
      take.one_in(16) ? nullptr : &sin, static_cast<std::int64_t>(call.mode),
      take.one_in(16) ? nullptr : &out, take.one_in(16) ? nullptr : &size,
      take.one_in(16) ? nullptr : &executor);
  if (status != aclnn::ACLNN_SUCCESS) {
    require(size == 77 && executor == nullptr, "a failure writes neither size nor executor");
    require_sentence(aclnn::aclGetRecentErrMsg());
    return call.out.require_unwritten();
  }
  require(size == 0 && executor != nullptr, "success gives a size of 0 and an executor");
  require(!any(call, Size::impossible), "sizes that cannot be counted are refused");
  if (take.one_in(2))
    return require(aclnn::aclDestroyAclOpExecutor(executor) == aclnn::ACLNN_SUCCESS,
                   "an executor is released");
  const aclnn::aclnnStatus wrong = aclnn::aclnnApplyRotaryPosEmb(nullptr, 0, executor, nullptr);
  require(wrong == aclnn::ACLNN_ERR_PARAM_INVALID, "an executor of another operation is refused");
  require(
      aclnn::aclnnRotaryPositionEmbedding(nullptr, size, executor, nullptr) == aclnn::ACLNN_SUCCESS,
      "what was checked runs");
  require(aclnn::aclDestroyAclOpExecutor(executor) == aclnn::ACLNN_ERR_PARAM_INVALID,
          "an executor is used up when it has run");
  require_nothing_outside(call);
  call.out.require_written();
}

}  // namespace

void fuzz_aclnn(Bytes bytes) {
  static Slots slots;
  Take take(bytes);
  const std::uint8_t what = take.byte() % 6;
  const Call call = call_of(take, slots);
  if (what == 0) return device_check(call, take);
  if (any(call, Size::large)) return;
  switch (what) {
    case 1: return rotate(call);
    case 2: return rotate_in_place(call);
    case 3: return gradient(call, take, slots);
    case 4: return apply(call);
    default: return two_steps(call, take);
  }
}

}  // namespace eigen_rope::fuzz
