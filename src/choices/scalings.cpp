// SPDX-License-Identifier: Apache-2.0
//
// What the scalings' headers declare and need not compile anew in every file: the checks, and
// results for numbers.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "eigen_rope/choices/scaling.hpp"
#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

const char* name_of(RampEnds ends) { return ends == RampEnds::rounded ? "rounded" : "exact"; }

const char* name_of(YarnMagnitude magnitude) {
  switch (magnitude) {
    case YarnMagnitude::hugging_face: return "hugging_face";
    case YarnMagnitude::deepseek: return "deepseek";
    case YarnMagnitude::given: break;
  }
  return "given";
}

const char* name_of(LongRopeMagnitude magnitude) {
  return magnitude == LongRopeMagnitude::from_factor ? "from_factor" : "given";
}

namespace detail {
namespace {

void require_not_negative(std::string_view name, double value) {
  if (!(value >= 0) || !std::isfinite(value))
    fail(fmt::format("{} must be finite and not negative", name), value);
}

void require_context(Index original_context) {
  if (original_context < 0)
    fail("original context must not be negative", static_cast<std::int64_t>(original_context));
}

void require_positive_context(Index original_context) {
  if (original_context <= 0)
    fail("original context must be positive", static_cast<std::int64_t>(original_context));
}

void require_length(Index length) {
  if (length < 0) fail("length must not be negative", static_cast<std::int64_t>(length));
}

void require_divisors(std::string_view name, const std::vector<double>& divisors,
                      std::size_t pairs) {
  if (divisors.size() != pairs)
    fail(fmt::format("{} must be one per pair ({})", name, pairs),
         static_cast<std::int64_t>(divisors.size()));
  for (std::size_t k = 0; k < pairs; ++k) {
    if (divisors[k] == 0 || !std::isfinite(divisors[k]))
      fail(fmt::format("{} {} must be finite and not 0", name, k), divisors[k]);
  }
}

void require_head(Index head_dims, double fraction) {
  if (head_dims <= 0) fail("head dims must be positive", static_cast<std::int64_t>(head_dims));
  if (!(fraction >= 0 && fraction <= 1)) fail("the rotated fraction must be from 0 to 1", fraction);
}

Index whole_dims(Index head_dims, double fraction) {
  require_head(head_dims, fraction);
  if (fraction == 1) return head_dims;  // which a double might round up beyond Index
  return static_cast<Index>(static_cast<double>(head_dims) * fraction);
}

}  // namespace

void require_valid(Index dims, double base, const GgmlYarn<>& yarn) {
  require_finite("ext factor", yarn.ext_factor);
  require_context(yarn.original_context);
  require_not_negative("beta fast", yarn.beta_fast);
  require_not_negative("beta slow", yarn.beta_slow);
  if (dims <= 0) fail("rotary dims must be positive", static_cast<std::int64_t>(dims));
  require_positive("base", base);
  if (base == 1)
    fail("base must not be 1 with YaRN, whose correction dims divide by its logarithm", base);
}

void require_valid(const Llama3<>& llama3) {
  require_positive("llama3 factor", llama3.factor);
  require_not_negative("low freq factor", llama3.low_freq_factor);
  require_not_negative("high freq factor", llama3.high_freq_factor);
  if (llama3.high_freq_factor < llama3.low_freq_factor) {
    fail(fmt::format("high freq factor must be at least the low freq factor ({})",
                     llama3.low_freq_factor),
         llama3.high_freq_factor);
  }
  require_context(llama3.original_context);
}

void require_valid_ntk(Index dims, double base, double factor) {
  if (dims <= 2)
    fail("rotary dims must be greater than 2 for NTK scaling", static_cast<std::int64_t>(dims));
  require_positive("base", base);
  require_positive("factor", factor);
}

void require_valid(const Proportional<>& proportional, Index rotary_dims) {
  require_positive("factor", proportional.factor);
  if (proportional.rotated_pairs < 0 || proportional.rotated_pairs > rotary_dims / 2) {
    fail(fmt::format("rotated pairs must be from 0 to all of them ({})", rotary_dims / 2),
         static_cast<std::int64_t>(proportional.rotated_pairs));
  }
}

void require_valid(const DynamicNtkScaling<>& ntk, Index length) {
  require_positive("factor", ntk.factor);
  require_positive_context(ntk.original_context);
  require_length(length);
}

void require_finite_base(double stretched, Index length) {
  if (!std::isfinite(stretched))
    fail("length must not be so large that the base overflows", static_cast<std::int64_t>(length));
}

void require_valid(const NtkScaling<>& ntk) {
  require_positive("factor", ntk.factor);
  require_not_negative("mixed_b", ntk.mixed_b);
}

GgmlYarn<> checked_yarn(Index dims, double base, const Yarn<>& yarn) {
  require_positive("factor", yarn.factor);
  require_positive_context(yarn.original_context);
  require_positive("beta fast", yarn.beta_fast);
  require_positive("beta slow", yarn.beta_slow);
  if (yarn.mscale) require_finite("mscale", *yarn.mscale);
  require_finite("mscale all dim", yarn.mscale_all_dim);
  require_finite("extrapolation", yarn.extrapolation);
  const GgmlYarn<> ends{1.0, yarn.original_context, yarn.beta_fast, yarn.beta_slow, yarn.ends};
  require_valid(dims, base, ends);
  if (yarn.magnitude == YarnMagnitude::deepseek &&
      yarn_mscale(yarn.factor, yarn.mscale_all_dim) == 0) {
    fail("mscale all dim must not make the magnitude infinite", yarn.mscale_all_dim);
  }
  return ends;
}

void require_valid(const LongRope<>& longrope, const Powers<>& powers, Index length) {
  const auto pairs = static_cast<std::size_t>(powers.rotary_dims / 2);
  if (!powers.factors.empty()) {
    fail("frequency factors must be empty with LongRoPE, which brings its own",
         static_cast<std::int64_t>(powers.factors.size()));
  }
  require_divisors("short factor", longrope.short_factor, pairs);
  require_divisors("long factor", longrope.long_factor, pairs);
  require_positive("factor", longrope.factor);
  require_positive_context(longrope.original_context);
  require_length(length);
  if (longrope.magnitude == LongRopeMagnitude::from_factor && longrope.factor > 1 &&
      longrope.original_context == 1) {
    fail(
        "original context must be greater than 1 with LongRoPE, whose magnitude divides by its "
        "logarithm",
        std::int64_t{1});
  }
}

void require_valid_softmax(double factor, double mscale_all_dim) {
  require_positive("factor", factor);
  require_finite("mscale all dim", mscale_all_dim);
}

}  // namespace detail

CorrectionDims<> yarn_correction_dims(Index dims, double base, const GgmlYarn<>& yarn) {
  detail::require_valid(dims, base, yarn);
  const auto correction = [&](double beta) {
    return static_cast<double>(
        detail::yarn_correction<DoubleDouble>(dims, base, yarn.original_context, beta));
  };
  double low = correction(yarn.beta_fast);
  double high = correction(yarn.beta_slow);
  if (yarn.ends == RampEnds::rounded) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  return {std::max(0.0, low), std::min(static_cast<double>(dims - 1), high)};
}

double ntk_base(Index dims, double base, double factor) {
  return static_cast<double>(ntk_base<DoubleDouble>(dims, base, factor));
}

Index partial_rotary_dims(Index head_dims, double fraction) {
  const Index dims = detail::whole_dims(head_dims, fraction);
  if (dims == 0 || dims % 2 != 0) {
    detail::fail(
        fmt::format("head dims times the rotated fraction ({} * {}) must be even and not 0",
                    head_dims, fraction),
        static_cast<std::int64_t>(dims));
  }
  return dims;
}

Index proportional_pairs(Index head_dims, double fraction) {
  return detail::whole_dims(head_dims, fraction) / 2;
}

double yarn_softmax_multiplier(double factor, double mscale_all_dim) {
  return static_cast<double>(yarn_softmax_multiplier<DoubleDouble>(factor, mscale_all_dim));
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
