// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/tables/float_recurrence.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace {

enum class Zero { refused, allowed };

/// As a float neither infinite, nor 0 where that divides.
void require_in_range(const std::string& name, double value, Zero zero = Zero::refused) {
  const auto rounded = static_cast<float>(value);
  if (!std::isfinite(rounded) || (rounded == 0 && zero == Zero::refused)) {
    detail::fail(name + " must be within the range of float in the float recurrence", value);
  }
}

struct Ramp {
  float low;
  float high;
};

float correction(float dims, float base, float context, float beta) {
  const float two_pi_beta = beta * 2.0F * static_cast<float>(3.14159265358979323846);
  return dims * std::log(context / two_pi_beta) / (2.0F * std::log(base));
}

Ramp ramp_of(float dims, float base, const GgmlYarn<>& yarn) {
  const auto context = static_cast<float>(yarn.original_context);
  return {std::max(0.0F,
                   std::floor(correction(dims, base, context, static_cast<float>(yarn.beta_fast)))),
          std::min(dims - 1,
                   std::ceil(correction(dims, base, context, static_cast<float>(yarn.beta_slow))))};
}

float ramp_at(const Ramp& ramp, Index pair) {
  const float place =
      (static_cast<float>(pair) - ramp.low) / std::max(0.001F, ramp.high - ramp.low);
  return 1.0F - std::min(1.0F, std::max(0.0F, place));
}

}  // namespace

Cache<float> float_recurrence_cache(const Powers<>& powers, const GgmlYarn<>& yarn,
                                    const Positions& positions, const Layout& layout) {
  const Frequencies checked =
      yarn.ext_factor == 0 ? Frequencies::powers(powers) : Frequencies(powers, yarn);
  if (yarn.ext_factor != 0 && yarn.ends == RampEnds::exact) {
    detail::fail(
        "ends of YaRN's ramp must be rounded in the float recurrence, as ggml rounds them, got "
        "exact ends");
  }
  const Index pairs = checked.pairs();
  const auto dims =
      static_cast<float>(powers.exponent_dims == 0 ? powers.rotary_dims : powers.exponent_dims);
  const auto base = static_cast<float>(powers.base);
  const auto scale = static_cast<float>(powers.linear_scale);
  const auto ext_factor = static_cast<float>(yarn.ext_factor);
  const float theta_scale = std::pow(base, -2.0F / dims);
  const Ramp ramp = ramp_of(dims, base, yarn);
  require_in_range("base", powers.base);
  require_in_range("linear scale", powers.linear_scale);
  for (std::size_t k = 0; k < powers.factors.size() && k < static_cast<std::size_t>(pairs); ++k) {
    require_in_range(fmt::format("frequency factor {}", k), powers.factors[k]);
  }
  require_in_range("attention factor", powers.attention_factor, Zero::allowed);
  require_in_range("ext factor", yarn.ext_factor, Zero::allowed);
  auto magnitude = static_cast<float>(powers.attention_factor);
  if (ext_factor != 0) magnitude *= 1.0F + 0.1F * std::log(1.0F / scale);

  for (const Index exponent : powers.exponents) {
    if (exponent < 0 || exponent >= pairs) {
      detail::fail(fmt::format("exponents of a float recurrence must be 0 to {}", pairs - 1),
                   static_cast<std::int64_t>(exponent));
    }
  }

  // theta_e of each axis, for the token at hand.
  std::vector<std::vector<float>> theta(static_cast<std::size_t>(positions.axes()),
                                        std::vector<float>(static_cast<std::size_t>(pairs)));

  return detail::make_cache<float>(checked, positions, layout, [&](float* cos, float* sin) {
    detail::for_each_table_row(positions, layout, [&](Index row, Index batch, Index token) {
      for (int axis = 0; axis < positions.axes(); ++axis) {
        auto value = static_cast<float>(static_cast<double>(positions.at(axis, batch, token)));
        for (float& power : theta[static_cast<std::size_t>(axis)]) {
          power = value;
          value *= theta_scale;
        }
      }
      for (Index k = 0; k < pairs; ++k) {
        const auto pair = static_cast<std::size_t>(k);
        const Index exponent = powers.exponents.empty() ? k : powers.exponents[pair];
        const float factor =
            powers.factors.empty() ? 1.0F : static_cast<float>(powers.factors[pair]);
        const float original =
            theta[static_cast<std::size_t>(positions.axis(k))][static_cast<std::size_t>(exponent)] /
            factor;
        const float scaled = scale * original;
        float angle = scaled;
        if (ext_factor != 0) {
          const float mix = ramp_at(ramp, k) * ext_factor;
          angle = std::fma(scaled, 1.0F - mix, original * mix);
        }
        cos[row * pairs + k] = std::cos(angle) * magnitude;
        sin[row * pairs + k] = std::sin(angle) * magnitude;
      }
    });
  });
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
