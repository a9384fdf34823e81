// SPDX-License-Identifier: Apache-2.0
//
// Rates, attention factors and their derivatives with respect to every parameter of every scaling,
// by hand.
//
//   u_k = base^(-2 e_k / d) / factor_k   du_k/dbase = -2 e_k / d * u_k / base
//                       du_k/dfactor_k = -u_k / factor_k
//
//   powers   rate = scale u                      m = attention factor
//   ntk      base = b f^(d / (d - 2))            dbase/db = base / b
//                       dbase/df = d / (d - 2) * base / f
//   yarn     rate = u (scale (1 - mix) + mix)    mix = ext r_k
//                       m = attention factor (1 - 0.1 ln scale)
//            r_k = 1 - clamp((k - low) / max(0.001, high - low), 0, 1)
//            low = max(0, c(beta_fast)), high = min(d - 1, c(beta_slow)), c(beta) = d ln(context /
//       (2 pi beta)) / (2 ln base)
//   llama3   rate = scale (u (1 - s) / factor + u s)         s = clamp((context |u| / (2 pi) - lo)
//                                                            / (hi - lo), 0, 1)
//
// Written from those formulas and not from the library's templates. The tests keep away from the
// kinks: what a derivative means there is the library's to say.
#pragma once

#include <string>

#include "support/closed_form.hpp"

namespace eigen_rope::test::closed_form {

/// A parameter of a scaling: its value, drate_k/dp for every pair, and dm/dp.
struct Parameter {
  std::string name;
  double value = 0;
  List rates;
  Tracked attention_factor{};
};

struct ScaledRates {
  List rates;
  Tracked attention_factor;
  std::vector<Parameter> parameters;
};

/// The powers of the base and what their derivatives share.
struct Unscaled {
  explicit Unscaled(const Powers<>& powers)
      : dims(static_cast<double>(powers.exponent_dims == 0 ? powers.rotary_dims
                                                           : powers.exponent_dims)) {
    for (Index k = 0; k < powers.rotary_dims / 2; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const auto exponent =
          static_cast<double>(powers.exponents.empty() ? k : powers.exponents[at]);
      const Tracked power = Tracked(-2 * exponent) / dims;
      const Tracked factor = powers.factors.empty() ? Tracked(1.0) : Tracked(powers.factors[at]);
      rates.push_back(exp(log(powers.base) * power) / factor);
      by_base.push_back(rates.back() * power / powers.base);
      by_factor.push_back(-rates.back() / factor);
    }
  }

  Tracked dims;
  List rates;
  List by_base;
  List by_factor;
};

inline List times(const List& a, const List& b) {
  List products;
  for (std::size_t k = 0; k < a.size(); ++k) products.push_back(a[k] * b[k]);
  return products;
}

inline List times(const List& a, const Tracked& b) { return times(a, List(a.size(), b)); }

inline List plus(const List& a, const List& b) {
  List sums;
  for (std::size_t k = 0; k < a.size(); ++k) sums.push_back(a[k] + b[k]);
  return sums;
}

/// Parameters every scaling has, where rate_k = rate_k(u_k, ...) with drate_k/du_k = `by_unscaled`.
/// A factor moves its own pair only.
inline void add_common(ScaledRates& scaled, const Powers<>& powers, const Unscaled& u,
                       const List& by_unscaled, const List& by_scale, const Tracked& m_by_scale,
                       const Tracked& m_by_attention_factor) {
  const List zero(u.rates.size());
  scaled.parameters.push_back({"base", powers.base, times(by_unscaled, u.by_base), {}});
  scaled.parameters.push_back({"linear scale", powers.linear_scale, by_scale, m_by_scale});
  scaled.parameters.push_back(
      {"attention factor", powers.attention_factor, zero, m_by_attention_factor});
  for (std::size_t k = 0; k < powers.factors.size(); ++k) {
    List rates = zero;
    rates[k] = by_unscaled[k] * u.by_factor[k];
    scaled.parameters.push_back({"factor " + std::to_string(k), powers.factors[k], rates, {}});
  }
}

inline ScaledRates powers_by_hand(const Powers<>& powers) {
  const Unscaled u(powers);
  ScaledRates scaled{times(u.rates, powers.linear_scale), powers.attention_factor, {}};
  add_common(scaled, powers, u, List(u.rates.size(), powers.linear_scale), u.rates, 0.0, 1.0);
  return scaled;
}

/// `powers.base` is the base before it is stretched by `factor`.
inline ScaledRates ntk_by_hand(const Powers<>& powers, double factor) {
  const Tracked dims(static_cast<double>(powers.rotary_dims));
  const Tracked power = dims / (dims - 2.0);
  const Tracked stretch = exp(log(factor) * power);
  const Tracked base = stretch * powers.base;
  ScaledRates scaled{{}, powers.attention_factor, {}};
  List by_base, unscaled;
  for (Index k = 0; k < powers.rotary_dims / 2; ++k) {
    const Tracked exponent = Tracked(-2.0 * static_cast<double>(k)) / dims;
    unscaled.push_back(exp(log(base) * exponent));
    by_base.push_back(unscaled.back() * exponent / base * powers.linear_scale);
  }
  scaled.rates = times(unscaled, powers.linear_scale);
  scaled.parameters.push_back({"base", powers.base, times(by_base, stretch), {}});
  scaled.parameters.push_back({"linear scale", powers.linear_scale, unscaled, {}});
  scaled.parameters.push_back(
      {"attention factor", powers.attention_factor, List(unscaled.size()), 1.0});
  scaled.parameters.push_back({"NTK factor", factor, times(by_base, power * base / factor), {}});
  return scaled;
}

/// One end of YaRN's ramp.
struct RampEnd {
  Tracked at, by_base, by_beta;
};

inline Tracked two_pi() { return {8 * std::atan(1.0L), 1}; }

inline RampEnd ramp_end(const Unscaled& u, double base, const GgmlYarn<>& yarn, double beta) {
  const Tracked log_base = log(base);
  const Tracked turns = log(static_cast<double>(yarn.original_context)) - log(two_pi()) - log(beta);
  const Tracked at = u.dims * turns / (log_base * 2.0);
  return {at, -at / (log_base * base), -u.dims / (log_base * 2.0 * beta)};
}

inline RampEnd without_derivatives(double at) { return {at, 0.0, 0.0}; }

inline ScaledRates yarn_by_hand(const Powers<>& powers, const GgmlYarn<>& yarn) {
  const Unscaled u(powers);
  const std::size_t pairs = u.rates.size();
  const Tracked scale = powers.linear_scale;
  RampEnd low = ramp_end(u, powers.base, yarn, yarn.beta_fast);
  RampEnd high = ramp_end(u, powers.base, yarn, yarn.beta_slow);
  if (yarn.ends == RampEnds::rounded) {
    low = without_derivatives(static_cast<double>(std::floor(low.at.value)));
    high = without_derivatives(static_cast<double>(std::ceil(high.at.value)));
  }
  if (low.at.value < 0) low = without_derivatives(0);
  if (high.at.value > u.dims.value - 1)
    high = without_derivatives(static_cast<double>(u.dims.value) - 1);

  List kept(pairs), by_low(pairs), by_high(pairs);  // r_k and its derivatives
  for (std::size_t k = 0; k < pairs; ++k) {
    const Tracked from_low = Tracked(static_cast<double>(k)) - low.at;
    const Tracked ramp = high.at - low.at;
    const bool floored = ramp.value < 0.001L;
    const Tracked width = floored ? Tracked(0.001) : ramp;
    kept[k] = 1.0;
    if (from_low.value <= 0) continue;
    kept[k] = 0.0;
    if (from_low.value >= width.value) continue;
    kept[k] = Tracked(1.0) - from_low / width;
    by_low[k] = Tracked(1.0) / width;
    if (floored) continue;
    by_low[k] = kept[k] / width;
    by_high[k] = from_low / width / width;
  }

  const List mix = times(kept, yarn.ext_factor);
  List blend(pairs), by_scale(pairs);
  for (std::size_t k = 0; k < pairs; ++k) {
    by_scale[k] = u.rates[k] * (Tracked(1.0) - mix[k]);
    blend[k] = scale * (Tracked(1.0) - mix[k]) + mix[k];
  }
  const List by_kept = times(u.rates, (Tracked(1.0) - scale) * yarn.ext_factor);
  const bool stretches = yarn.ext_factor != 0;
  const Tracked stretch = stretches ? Tracked(1.0) - log(scale) / 10.0 : Tracked(1.0);
  const Tracked m_by_scale =
      stretches ? -Tracked(powers.attention_factor) / (scale * 10.0) : Tracked(0.0);

  ScaledRates scaled{times(u.rates, blend), stretch * powers.attention_factor, {}};
  add_common(scaled, powers, u, blend, by_scale, m_by_scale, stretch);
  List& by_base = scaled.parameters[0].rates;
  by_base =
      plus(by_base, times(by_kept, plus(times(by_low, low.by_base), times(by_high, high.by_base))));
  scaled.parameters.push_back(
      {"ext factor", yarn.ext_factor, times(times(u.rates, Tracked(1.0) - scale), kept), {}});
  scaled.parameters.push_back(
      {"beta fast", yarn.beta_fast, times(by_kept, times(by_low, low.by_beta)), {}});
  scaled.parameters.push_back(
      {"beta slow", yarn.beta_slow, times(by_kept, times(by_high, high.by_beta)), {}});
  return scaled;
}

inline ScaledRates llama3_by_hand(const Powers<>& powers, const Llama3<>& llama3) {
  const Unscaled u(powers);
  const std::size_t pairs = u.rates.size();
  const Tracked scale = powers.linear_scale;
  const Tracked factor = llama3.factor;
  const Tracked turns_per_rate = Tracked(static_cast<double>(llama3.original_context)) / two_pi();
  const Tracked width = Tracked(llama3.high_freq_factor) - llama3.low_freq_factor;
  ScaledRates scaled{List(pairs), powers.attention_factor, {}};
  List by_unscaled(pairs), by_scale(pairs), by_factor(pairs), by_low(pairs), by_high(pairs);
  for (std::size_t k = 0; k < pairs; ++k) {
    const Tracked f = u.rates[k];
    const double sign = f.value < 0 ? -1 : 1;
    const Tracked turns = turns_per_rate * f * sign;
    const bool low = turns.value <= llama3.low_freq_factor;
    const bool high = turns.value >= llama3.high_freq_factor;
    Tracked kept = low ? 0.0 : 1.0;
    Tracked by_kept = 0.0;  // of the rate: 0 outside the band, where nothing moves it
    if (!low && !high) {
      kept = (turns - llama3.low_freq_factor) / width;
      by_kept = scale * f * (Tracked(1.0) - Tracked(1.0) / factor);
    }
    by_scale[k] = f * (Tracked(1.0) - kept) / factor + f * kept;
    scaled.rates[k] = scale * by_scale[k];
    by_unscaled[k] =
        scale * ((Tracked(1.0) - kept) / factor + kept) + by_kept * turns_per_rate * sign / width;
    by_factor[k] = -(scale * f * (Tracked(1.0) - kept)) / (factor * factor);
    by_low[k] = by_kept * (kept - 1.0) / width;
    by_high[k] = -by_kept * kept / width;
  }
  add_common(scaled, powers, u, by_unscaled, by_scale, 0.0, 1.0);
  scaled.parameters.push_back({"llama3 factor", llama3.factor, by_factor, {}});
  scaled.parameters.push_back({"low freq factor", llama3.low_freq_factor, by_low, {}});
  scaled.parameters.push_back({"high freq factor", llama3.high_freq_factor, by_high, {}});
  return scaled;
}

}  // namespace eigen_rope::test::closed_form
