// SPDX-License-Identifier: Apache-2.0
//
// ggml's calls: extents, strides, modes, sections, positions, parameters; separate, in place and
// overlapping.
#include "eigen_rope/operators/ggml.hpp"

#include <limits>

#include "operand.hpp"
#include "promise.hpp"
#include "take.hpp"

namespace eigen_rope::fuzz {
namespace {

constexpr std::array<std::int32_t, 5> modes{ggml::mode_normal, ggml::mode_neox, ggml::mode_mrope,
                                            ggml::mode_vision, ggml::mode_imrope};

ggml::RopeParams params_of(Take& take, std::int64_t ne0) {
  ggml::RopeParams params;
  params.mode = take.one_in(32) ? take.integer32() : take.one_of(modes);
  const auto half_row = static_cast<std::int32_t>(ne0 / 2);
  params.n_dims = take.one_in(8)                     ? take.integer32()
                  : params.mode == ggml::mode_vision ? half_row
                                                     : half_row / 2 * 2;
  if (take.one_in(4)) params.n_offs = take.integer32();
  if (take.one_in(4)) params.n_ctx_orig = take.integer32();
  for (float* value : {&params.freq_base, &params.freq_scale, &params.ext_factor,
                       &params.attn_factor, &params.beta_fast, &params.beta_slow}) {
    if (take.one_in(4)) *value = take.number32();
  }
  params.sections = {4, 2, 2, 0};
  for (std::int32_t& section : params.sections) {
    if (take.one_in(4)) section = take.integer32();
  }
  if (take.one_in(4)) {
    params.freq_factors.resize(take.byte());
    for (float& factor : params.freq_factors) factor = take.number32();
  }
  return params;
}

using Call = void (*)(const ggml::Tensor&, const ggml::ConstTensor&, const ggml::PositionIds&,
                      const ggml::RopeParams&, const ggml::Options&);
constexpr std::array<Call, 4> calls{ggml::rope_ext, ggml::rope_ext_back, ggml::rope_multi,
                                    ggml::rope_multi_back};

/// ggml's extents and byte strides of a tensor; fastest axis first.
template <class Tensor>
Tensor as_ggml(const Operand& operand) {
  Tensor tensor{operand.type, operand.data, {}, {}};
  for (std::size_t i = 0; i < 4; ++i) {
    tensor.ne[i] = operand.shape[3 - i];
    // Bytes that cannot be counted must not come out as a small number.
    const std::int64_t stride = operand.strides[3 - i];
    if (stride < 0 || __builtin_mul_overflow(static_cast<std::size_t>(stride),
                                             size_of(operand.type), &tensor.nb[i])) {
      tensor.nb[i] = std::numeric_limits<std::size_t>::max() / 8 * 8;
    }
  }
  return tensor;
}

struct Slots {
  GuardedSlot a, dst, ids, both;
};

}  // namespace

void fuzz_ggml(Bytes bytes) {
  static Slots slots;
  Take take(bytes);
  const Against against = take.one_in(4) ? Against::beginning : Against::end;
  const ScalarType type = take.one_of(scalar_types);
  Extents shape{1 + take.byte() % 2, 1 + take.byte() % 5, 1 + take.byte() % 3,
                2 * (take.byte() % 40)};
  if (take.one_in(4)) shape[take.byte() % 4] = take.integer();
  if (take.one_in(16)) shape[take.byte() % 4] = 0;
  const ggml::RopeParams params = params_of(take, shape[3]);
  const Operand a = operand(slots.a, type, shape, some_strides(shape, take), against);
  const Operand dst = operand(slots.dst, type, shape,
                              take.one_in(2) ? a.strides : some_strides(shape, take), against);

  const bool multi = params.mode != ggml::mode_normal && params.mode != ggml::mode_neox;
  std::int64_t count = shape[1] < 0 || shape[1] > 1024 ? take.byte() : shape[1] * (multi ? 4 : 1);
  if (take.one_in(16)) count = take.byte();
  const bool wide = take.one_in(2);
  const Operand ids =
      operand(slots.ids, wide ? ScalarType::f64 : ScalarType::f32, {count}, {}, against);
  if (ids.need.size == Size::large) return;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t id = take.integer();
    const auto narrow = static_cast<std::int32_t>(id);
    if (wide) std::memcpy(ids.data + 8 * i, &id, 8);
    if (!wide) std::memcpy(ids.data + 4 * i, &narrow, 4);
  }
  const ggml::PositionIds positions =
      wide ? ggml::PositionIds(reinterpret_cast<const std::int64_t*>(ids.data), count)
           : ggml::PositionIds(reinterpret_cast<const std::int32_t*>(ids.data), count);
  const Call call = take.one_of(calls);
  ggml::Options options;
  options.precision = take.one_in(2) ? ggml::Precision::exact : ggml::Precision::float_recurrence;

  if (a.need.size == Size::large || dst.need.size == Size::large) return;
  const bool impossible = a.need.size == Size::impossible || dst.need.size == Size::impossible;
  a.fill(1);
  const Outcome outcome = attempt([&] {
    call(as_ggml<ggml::Tensor>(dst), as_ggml<ggml::ConstTensor>(a), positions, params, options);
  });
  a.slot->require_untouched_outside();
  ids.slot->require_untouched_outside();
  if (outcome == Outcome::refused) return dst.require_unwritten();
  require(!impossible, "sizes that cannot be counted are refused");
  require(count == shape[1] * (multi ? 4 : 1), "a list of positions of another length is refused");
  dst.require_written();

  // The same in memory the two share: refused, or the same numbers.
  const std::size_t element = size_of(type);
  const std::size_t apart = take.one_in(4)   ? take.byte() % 64
                            : take.one_in(2) ? take.byte() * element
                                             : 0;
  const std::size_t together = std::max(a.need.bytes, apart + dst.need.bytes);
  if (together > GuardedSlot::capacity) return;
  Operand source = a, destination = dst;
  source.data = slots.both.place(together, against);
  destination.data = source.data + apart;
  source.fill(1);
  const std::vector<std::byte> before(source.data, source.data + together);
  const Outcome again = attempt([&] {
    call(as_ggml<ggml::Tensor>(destination), as_ggml<ggml::ConstTensor>(source), positions, params,
         options);
  });
  slots.both.require_untouched_outside();
  if (again == Outcome::refused) {
    require(std::equal(before.begin(), before.end(), source.data), "a refusal writes nothing");
    require(apart != 0 || a.strides != dst.strides || dst.need.bytes == 0,
            "a call in place is done as the same call elsewhere");
    return;
  }
  if (dst.need.bytes == 0) return;
  for_each_place(shape, dst.strides, [&](std::int64_t place) {
    const std::size_t at = static_cast<std::size_t>(place) * element;
    require(is_same_number(destination.data + at, dst.data + at, type),
            "shared memory changes no number");
  });
}

}  // namespace eigen_rope::fuzz
