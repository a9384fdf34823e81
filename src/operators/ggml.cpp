// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/operators/ggml.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "any/places.hpp"
#include "eigen_rope/any/any.hpp"
#include "eigen_rope/choices/sections.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/tables/float_recurrence.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::ggml {
namespace {

using eigen_rope::detail::fail;

constexpr std::array<const char*, 4> section_names{"t", "h", "w", "e"};

bool has_sections(std::int32_t mode) {
  return mode == mode_mrope || mode == mode_imrope || mode == mode_vision;
}

void check_mode(std::int32_t mode) {
  if (mode % 2 != 0)
    fail("mode must be even (the GLM pairing of mode 1 is gone from ggml)", std::int64_t{mode});
  if (mode != mode_normal && mode != mode_neox && !has_sections(mode)) {
    fail("mode must be 0 (normal), 2 (neox), 8 (mrope), 24 (vision) or 40 (imrope)",
         std::int64_t{mode});
  }
}

void check_dims(const RopeParams& params) {
  if (params.n_dims <= 0) fail("n_dims must be positive", std::int64_t{params.n_dims});
  if (params.n_dims % 2 != 0) fail("n_dims must be even", std::int64_t{params.n_dims});
}

void check_window(const RopeParams& params, std::int64_t ne0) {
  check_dims(params);
  if (params.n_dims > ne0)
    fail(fmt::format("n_dims must be at most ne0 = {}", ne0), std::int64_t{params.n_dims});
  if (params.mode == mode_vision) {
    if (ne0 % 2 != 0 || params.n_dims != ne0 / 2) {
      fail(fmt::format("n_dims must be half of ne0 = {} in mode vision", ne0),
           std::int64_t{params.n_dims});
    }
    if (params.n_offs != 0)
      fail("n_offs must be 0 in mode vision, where the whole row rotates",
           std::int64_t{params.n_offs});
  }
  if (params.n_offs < 0) fail("n_offs must not be negative", std::int64_t{params.n_offs});
  if (params.n_offs > ne0 - params.n_dims) {
    fail(fmt::format("n_offs must be at most ne0 - n_dims = {}", ne0 - params.n_dims),
         std::int64_t{params.n_offs});
  }
}

void check_sections(const RopeParams& params, std::int64_t ne0) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < params.sections.size(); ++i) {
    if (params.sections[i] < 0)
      fail(fmt::format("section {} must not be negative", section_names[i]),
           std::int64_t{params.sections[i]});
    total += params.sections[i];
  }
  const auto& s = params.sections;
  if (s[0] == 0 && s[1] == 0 && s[2] == 0) {
    fail("one of the first three sections must be positive",
         fmt::format("[{}, {}, {}, {}]", s[0], s[1], s[2], s[3]));
  }
  if (total > ne0) fail(fmt::format("the sections must sum to at most ne0 = {}", ne0), total);
}

void require_positive(std::string_view name, float value) {
  eigen_rope::detail::require_positive(name, static_cast<double>(value));
}

void require_finite(std::string_view name, float value) {
  eigen_rope::detail::require_finite(name, static_cast<double>(value));
}

void require_not_negative(std::string_view name, float value) {
  require_finite(name, value);
  if (value < 0) fail(fmt::format("{} must not be negative", name), static_cast<double>(value));
}

void check_yarn(const RopeParams& params) {
  if (params.n_ctx_orig < 0)
    fail("n_ctx_orig must not be negative", std::int64_t{params.n_ctx_orig});
  require_positive("freq_base", params.freq_base);
  if (params.ext_factor != 0 && params.freq_base == 1.0F)
    fail("freq_base must not be 1 with YaRN (its logarithm divides)",
         static_cast<double>(params.freq_base));
  require_not_negative("beta_fast", params.beta_fast);
  require_not_negative("beta_slow", params.beta_slow);
}

void check_factors(const RopeParams& params, std::int64_t pairs) {
  if (params.freq_factors.empty()) return;
  const auto count = static_cast<std::int64_t>(params.freq_factors.size());
  if (count < pairs)
    fail(fmt::format("freq_factors must hold at least one value per pair ({})", pairs), count);
  for (std::int64_t k = 0; k < pairs; ++k) {
    const float factor = params.freq_factors[static_cast<std::size_t>(k)];
    if (!std::isfinite(factor) || factor == 0) {
      fail(fmt::format("freq_factors[{}] must be finite and not 0", k),
           static_cast<double>(factor));
    }
  }
}

Sections sections_of(const RopeParams& params) {
  const SectionPattern pattern = params.mode == mode_vision   ? SectionPattern::vision
                                 : params.mode == mode_imrope ? SectionPattern::interleaved_ggml
                                                              : SectionPattern::contiguous;
  return {pattern, {params.sections.begin(), params.sections.end()}};
}

std::int64_t rotated_dims(const RopeParams& params, std::int64_t ne0) {
  return params.mode == mode_vision ? ne0 : params.n_dims;
}

/// Everything but the positions, checked.
void check(const RopeParams& params, std::int64_t ne0) {
  check_mode(params.mode);
  check_window(params, ne0);
  if (has_sections(params.mode)) check_sections(params, ne0);
  check_yarn(params);
  require_positive("freq_scale", params.freq_scale);
  require_finite("ext_factor", params.ext_factor);
  require_finite("attn_factor", params.attn_factor);
  check_factors(params, rotated_dims(params, ne0) / 2);
}

Powers<> powers_of(const RopeParams& params, std::int64_t ne0) {
  Powers<> powers;
  powers.rotary_dims = static_cast<Index>(rotated_dims(params, ne0));
  powers.exponent_dims = params.n_dims;
  powers.base = static_cast<double>(params.freq_base);
  powers.linear_scale = static_cast<double>(params.freq_scale);
  powers.attention_factor = static_cast<double>(params.attn_factor);
  powers.factors.assign(params.freq_factors.begin(), params.freq_factors.end());
  if (params.mode == mode_vision)
    powers.exponents = sections_of(params).exponents(powers.rotary_dims / 2);
  return powers;
}

GgmlYarn<> yarn_of(const RopeParams& params) {
  GgmlYarn<> yarn;
  yarn.ext_factor = static_cast<double>(params.ext_factor);
  yarn.original_context = params.n_ctx_orig;
  yarn.beta_fast = static_cast<double>(params.beta_fast);
  yarn.beta_slow = static_cast<double>(params.beta_slow);
  return yarn;
}

void check_extents(const Extents& ne) {
  std::int64_t size = 1;
  for (std::size_t i = 0; i < ne.size(); ++i) {
    if (ne[i] < 0) fail(fmt::format("ne{} must not be negative", i), ne[i]);
    size = eigen_rope::detail::checked_product("the number of elements", size, ne[i]);
  }
}

Index stride_of(std::string_view name, std::size_t axis, std::size_t bytes, std::size_t element) {
  if (bytes % element != 0 || bytes > static_cast<std::size_t>(std::numeric_limits<Index>::max())) {
    fail(fmt::format("{}'s nb[{}] must be a multiple of its elements' size, {} bytes", name, axis,
                     element),
         fmt::format("{}", bytes));
  }
  return static_cast<Index>(bytes / element);
}

/// An any::Tensor or any::ConstTensor.
template <class View, class Memory>
View view_of(std::string_view name, ScalarType type, Memory* data, const Extents& ne,
             const ByteStrides& nb) {
  check_extents(ne);
  const std::size_t element = size_of(type);
  if (nb[0] != element) {
    fail(fmt::format("{}'s nb[0] must be the size of its elements, {} bytes", name, element),
         fmt::format("{}", nb[0]));
  }
  View view{type, data, {}, {}, any::Order::fastest_first};
  view.shape.push_back(static_cast<Index>(ne[0]));
  view.strides.push_back(1);
  for (std::size_t i = 1; i < ne.size(); ++i) {
    view.shape.push_back(static_cast<Index>(ne[i]));
    view.strides.push_back(ne[i] > 1 ? stride_of(name, i, nb[i], element) : 0);
  }
  if (view.shape.size() != 0) {
    if (data == nullptr) fail(fmt::format("{} must have data, got a null pointer", name));
    if (reinterpret_cast<std::uintptr_t>(data) % element != 0) {
      fail(fmt::format("{}'s data must be aligned to its elements' size, {} bytes (remainder)",
                       name, element),
           static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data) % element));
    }
  }
  return view;
}

void run(const Tensor& dst, const ConstTensor& a, const PositionIds& b, const RopeParams& params,
         Direction direction, const Options& options) {
  const auto source = view_of<any::ConstTensor>("a", a.type, a.data, a.ne, a.nb);
  const auto destination = view_of<any::Tensor>("dst", dst.type, dst.data, dst.ne, dst.nb);
  if (dst.type != a.type)
    fail(fmt::format("dst must have a's type {}", name_of(a.type)), name_of(dst.type));
  if (dst.ne != a.ne)
    fail("dst must have a's extents " + source.shape.text(), destination.shape.text());
  const Pairing pairs = pairing(params, a.ne[0]).along(0);
  eigen_rope::detail::check_alone(source, eigen_rope::detail::SharedElements::allowed);
  eigen_rope::detail::check_alone(destination, eigen_rope::detail::SharedElements::refused);
  if (source.shape.size() == 0) {
    // Rows that are not there may claim any width: no table is made for them.
    check(params, a.ne[0]);
    (void)positions(params, b, a.ne[2]);
    return;
  }
  const auto rotate_with = [&](const auto& table) {
    any::rotate_to(destination, source, any::table_of(table), pairs, direction, options.device);
  };
  if (a.type == ScalarType::f64 && options.precision == Precision::exact) {
    rotate_with(cos_sin_cache<double>(params, b, a.ne[0], a.ne[2], options.precision));
  } else if (a.type == ScalarType::f64) {
    const Cache<float> cache = cos_sin_cache<float>(params, b, a.ne[0], a.ne[2], options.precision);
    const auto size = static_cast<std::size_t>(cache.pairs() * cache.outer().size());
    const std::vector<double> cos_entries(cache.cos(), cache.cos() + size);
    const std::vector<double> sin_entries(cache.sin(), cache.sin() + size);
    const TableView<double> widened{cos_entries.data(), sin_entries.data(), cache.pairs(),
                                    cache.outer()};
    rotate_with(widened);
  } else {
    rotate_with(cos_sin_cache<float>(params, b, a.ne[0], a.ne[2], options.precision));
  }
}

void refuse_sections(std::string_view call, const RopeParams& params) {
  if (has_sections(params.mode)) {
    fail(fmt::format("mode of {} must be 0 (normal) or 2 (neox); rope_multi takes sections", call),
         std::int64_t{params.mode});
  }
}

std::int32_t bits_of(float value) {
  std::int32_t bits;
  static_assert(sizeof bits == sizeof value);
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

float float_of(std::int32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

ByteStrides dense_strides(ScalarType type, const Extents& ne) {
  check_extents(ne);
  ByteStrides nb{};
  auto stride = static_cast<std::int64_t>(size_of(type));
  for (std::size_t i = 0; i < ne.size(); ++i) {
    nb[i] = static_cast<std::size_t>(stride);
    stride = eigen_rope::detail::checked_product("the number of bytes", stride,
                                                 std::max<std::int64_t>(ne[i], 1));
  }
  return nb;
}

OpParams encode_op_params(const RopeParams& params) {
  return {0,
          params.n_dims,
          params.mode,
          0,
          params.n_ctx_orig,
          bits_of(params.freq_base),
          bits_of(params.freq_scale),
          bits_of(params.ext_factor),
          bits_of(params.attn_factor),
          bits_of(params.beta_fast),
          bits_of(params.beta_slow),
          params.sections[0],
          params.sections[1],
          params.sections[2],
          params.sections[3],
          params.n_offs};
}

RopeParams decode_op_params(const OpParams& words) {
  RopeParams params;
  params.n_dims = words[1];
  params.mode = words[2];
  params.n_ctx_orig = words[4];
  params.freq_base = float_of(words[5]);
  params.freq_scale = float_of(words[6]);
  params.ext_factor = float_of(words[7]);
  params.attn_factor = float_of(words[8]);
  params.beta_fast = float_of(words[9]);
  params.beta_slow = float_of(words[10]);
  std::copy_n(words.begin() + 11, 4, params.sections.begin());
  params.n_offs = words[15];
  return params;
}

CorrectionDims<> yarn_corr_dims(const RopeParams& params) {
  check_dims(params);
  check_yarn(params);
  if (params.freq_base == 1.0F)
    fail("freq_base must not be 1 (its logarithm divides)", static_cast<double>(params.freq_base));
  return yarn_correction_dims(params.n_dims, static_cast<double>(params.freq_base),
                              yarn_of(params));
}

Frequencies frequencies(const RopeParams& params, std::int64_t ne0) {
  check(params, ne0);
  const Powers<> powers = powers_of(params, ne0);
  return params.ext_factor == 0 ? Frequencies::powers(powers)
                                : Frequencies(powers, yarn_of(params));
}

Positions positions(const RopeParams& params, const PositionIds& b, std::int64_t tokens) {
  check_mode(params.mode);
  if (tokens < 0) fail("the number of tokens must not be negative", tokens);
  const std::int64_t axes = has_sections(params.mode) ? 4 : 1;
  const std::int64_t wanted =
      eigen_rope::detail::checked_product("the number of positions", tokens, axes);
  if (b.count() != wanted) {
    const std::string rule =
        axes == 1 ? fmt::format("b must hold one position per token (ne2 = {})", tokens)
                  : fmt::format("b must hold four positions per token (4 ne2 = {})", wanted);
    fail(rule, b.count());
  }
  if (wanted > 0 && b.missing()) fail("b must have data, got a null pointer");
  eigen_rope::detail::checked_product("the number of bytes of all positions", wanted,
                                      sizeof(DoubleDouble));
  std::vector<std::int64_t> ids;
  ids.reserve(static_cast<std::size_t>(wanted));
  for (std::int64_t i = 0; i < wanted; ++i) ids.push_back(b[i]);
  return axes == 1 ? Positions::ids(ids) : Positions::multi_axis(ids, sections_of(params));
}

Pairing pairing(const RopeParams& params, std::int64_t ne0) {
  check_mode(params.mode);
  check_window(params, ne0);
  if (params.mode == mode_vision) return split_half;
  return (params.mode == mode_normal ? interleaved : split_half)
      .with_rotary_dims(params.n_dims)
      .with_offset(params.n_offs);
}

template <class Scalar>
Cache<Scalar> cos_sin_cache(const RopeParams& params, const PositionIds& b, std::int64_t ne0,
                            std::int64_t tokens, Precision precision) {
  check(params, ne0);
  const Positions places = positions(params, b, tokens);
  if (precision == Precision::exact) return {frequencies(params, ne0), places};
  if constexpr (std::is_same_v<Scalar, float>) {
    return float_recurrence_cache(powers_of(params, ne0), yarn_of(params), places);
  } else {
    fail("the table of a float recurrence must be float", name_of(scalar_type<Scalar>));
  }
}

template Cache<float> cos_sin_cache(const RopeParams&, const PositionIds&, std::int64_t,
                                    std::int64_t, Precision);
template Cache<double> cos_sin_cache(const RopeParams&, const PositionIds&, std::int64_t,
                                     std::int64_t, Precision);

void rope_ext(const Tensor& dst, const ConstTensor& a, const PositionIds& b,
              const RopeParams& params, const Options& options) {
  refuse_sections("rope_ext", params);
  run(dst, a, b, params, Direction::forward, options);
}

void rope_ext_inplace(const Tensor& a, const PositionIds& b, const RopeParams& params,
                      const Options& options) {
  refuse_sections("rope_ext_inplace", params);
  run(a, a, b, params, Direction::forward, options);
}

void rope_ext_back(const Tensor& dst, const ConstTensor& a, const PositionIds& b,
                   const RopeParams& params, const Options& options) {
  refuse_sections("rope_ext_back", params);
  run(dst, a, b, params, Direction::backward, options);
}

void rope_multi(const Tensor& dst, const ConstTensor& a, const PositionIds& b,
                const RopeParams& params, const Options& options) {
  run(dst, a, b, params, Direction::forward, options);
}

void rope_multi_inplace(const Tensor& a, const PositionIds& b, const RopeParams& params,
                        const Options& options) {
  run(a, a, b, params, Direction::forward, options);
}

void rope_multi_back(const Tensor& dst, const ConstTensor& a, const PositionIds& b,
                     const RopeParams& params, const Options& options) {
  run(dst, a, b, params, Direction::backward, options);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::ggml
