// SPDX-License-Identifier: Apache-2.0
//
// Rates and magnitude of every scaling in 200 bits, with parameters of 200 bits, so that they can
// be differentiated by differences.
//
// Written from the publications and independently of eigen_rope/choices: YaRN as the blend of the
// scaled with the original rate, Llama 3.1's scaling by wavelengths.
#pragma once

#include <algorithm>
#include <boost/math/constants/constants.hpp>
#include <cstddef>
#include <functional>
#include <vector>

#include "eigen_rope/choices/scaling.hpp"
#include "support/real_number.hpp"

namespace eigen_rope::test {

enum class Scaling { powers, yarn, llama3 };

struct RealParameters {
  RealParameters(const Powers<>& p, const GgmlYarn<>& y, const Llama3<>& l)
      : rotary_dims(p.rotary_dims),
        dims(p.exponent_dims == 0 ? p.rotary_dims : p.exponent_dims),
        base(p.base),
        linear_scale(p.linear_scale),
        attention_factor(p.attention_factor),
        factors(static_cast<std::size_t>(p.rotary_dims / 2), Real(1)),
        exponents(p.exponents),
        ext_factor(y.ext_factor),
        beta_fast(y.beta_fast),
        beta_slow(y.beta_slow),
        yarn_context(y.original_context),
        ends(y.ends),
        factor(l.factor),
        low_freq_factor(l.low_freq_factor),
        high_freq_factor(l.high_freq_factor),
        llama3_context(l.original_context) {
    for (std::size_t k = 0; k < factors.size() && k < p.factors.size(); ++k)
      factors[k] = p.factors[k];
  }

  Index rotary_dims;
  Real dims, base, linear_scale, attention_factor;
  std::vector<Real> factors;
  std::vector<Index> exponents;
  Real ext_factor, beta_fast, beta_slow, yarn_context;
  RampEnds ends;
  Real factor, low_freq_factor, high_freq_factor, llama3_context;
};

inline Real real_llama3(const RealParameters& p, const Real& f) {
  const Real wavelength = 2 * boost::math::constants::pi<Real>() / abs(f);
  if (wavelength < p.llama3_context / p.high_freq_factor) return f;
  if (wavelength > p.llama3_context / p.low_freq_factor) return f / p.factor;
  const Real smooth = (p.llama3_context / wavelength - p.low_freq_factor) /
                      (p.high_freq_factor - p.low_freq_factor);
  return (1 - smooth) * f / p.factor + smooth * f;
}

/// Neither betas nor the context may be 0.
inline Real real_yarn(const RealParameters& p, const Real& f, Index pair) {
  const auto correction = [&](const Real& beta) {
    return Real(p.dims * log(p.yarn_context / (2 * boost::math::constants::pi<Real>() * beta)) /
                (2 * log(p.base)));
  };
  Real low = correction(p.beta_fast);
  Real high = correction(p.beta_slow);
  if (p.ends == RampEnds::rounded) {
    low = floor(low);
    high = ceil(high);
  }
  low = std::max(low, Real(0));
  high = std::min(high, Real(p.dims - 1));
  const Real place = std::clamp(Real((Real(pair) - low) / std::max(Real(0.001), Real(high - low))),
                                Real(0), Real(1));
  const Real original = (1 - place) * p.ext_factor;
  return f * p.linear_scale * (1 - original) + f * original;
}

inline Rates<Real> real_rates(Scaling scaling, const RealParameters& p) {
  Rates<Real> result{{}, p.attention_factor};
  for (Index k = 0; k < p.rotary_dims / 2; ++k) {
    const auto pair = static_cast<std::size_t>(k);
    const Real f = pow(p.base, -2 * Real(p.exponents.empty() ? k : p.exponents[pair]) / p.dims) /
                   p.factors[pair];
    switch (scaling) {
      case Scaling::powers: result.rates.push_back(f * p.linear_scale); break;
      case Scaling::yarn: result.rates.push_back(real_yarn(p, f, k)); break;
      case Scaling::llama3: result.rates.push_back(real_llama3(p, f) * p.linear_scale); break;
    }
  }
  if (scaling == Scaling::yarn && p.ext_factor != 0)
    result.attention_factor *= 1 + log(1 / p.linear_scale) / 10;
  return result;
}

/// The derivatives of all rates and of m by one parameter, by central differences: good to about
/// 2^-110 where no kink is near.
inline Rates<Real> real_derivatives(Scaling scaling, const RealParameters& p,
                                    const std::function<Real&(RealParameters&)>& parameter) {
  RealParameters lower = p;
  RealParameters upper = p;
  const Real& value = parameter(lower);
  const Real step = (value == 0 ? Real(1) : Real(abs(value))) * two_to(-60);
  parameter(lower) -= step;
  parameter(upper) += step;
  const Rates<Real> below = real_rates(scaling, lower);
  Rates<Real> result = real_rates(scaling, upper);
  for (std::size_t k = 0; k < result.rates.size(); ++k)
    result.rates[k] = (result.rates[k] - below.rates[k]) / (2 * step);
  result.attention_factor = (result.attention_factor - below.attention_factor) / (2 * step);
  return result;
}

}  // namespace eigen_rope::test
