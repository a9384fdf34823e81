// SPDX-License-Identifier: Apache-2.0
//
// The gradients of the published scalings' parameters, against central differences of independent
// formulas in 200 bits, and against Eigen's AutoDiffScalar through the library's own.
//
// The formulas below are written from the publications: by wavelengths, quotients and roots, not as
// in eigen_rope/choices.
#include <gtest/gtest.h>

#include <Eigen/Core>
// Needs Eigen/Core before it.

#include <algorithm>
#include <boost/math/constants/constants.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "eigen_rope/gradients/scaling_gradients.hpp"
#include "support/active_parameter.hpp"
#include "support/error_of.hpp"
#include "support/real_number.hpp"
#include "support/yarn.hpp"

namespace eigen_rope::scalings_gradients_tests {
namespace {

using test::Dynamic;
using test::error_of;
using test::exactly;
using test::expect_autodiff;
using test::Real;
using test::two_to;

/// base, linear scale, attention factor, the scaling's own; then the frequency factors.
using Values = std::vector<Real>;
constexpr std::size_t first_own = 3;

using Formula = std::function<Rates<Real>(const Values&)>;

struct Gradient {
  std::string name;
  double actual;
  std::size_t parameter;
};

RateGradients gradients_for(Index pairs) {
  RateGradients result{{}, -0.37};
  for (Index k = 0; k < pairs; ++k)
    result.rates.push_back(std::sin(1.0 + 2.3 * static_cast<double>(k)) * 100);
  return result;
}

/// Half an ulp and 2^-75 of what is added up, as scaling_gradients.hpp says.
void expect_gradient(const Gradient& gradient, const Values& values, const RateGradients& gradients,
                     const Formula& formula) {
  Values lower = values;
  Values upper = values;
  const Real& value = values[gradient.parameter];
  const Real step = (value == 0 ? Real(1) : Real(abs(value))) * two_to(-60);
  lower[gradient.parameter] -= step;
  upper[gradient.parameter] += step;
  const Rates<Real> below = formula(lower);
  const Rates<Real> above = formula(upper);
  Real expected = Real(gradients.attention_factor) *
                  (above.attention_factor - below.attention_factor) / (2 * step);
  Real size = abs(expected);
  for (std::size_t k = 0; k < gradients.rates.size(); ++k) {
    const Real term = Real(gradients.rates[k]) * (above.rates[k] - below.rates[k]) / (2 * step);
    expected += term;
    size += abs(term);
  }
  EXPECT_LE(abs(exactly(gradient.actual) - expected),
            test::ulp(gradient.actual) / 2 + two_to(-75) * size)
      << "d " << gradient.name << " is " << gradient.actual;
}

Values values_of(const Powers<>& powers, const std::vector<double>& own) {
  Values values{powers.base, powers.linear_scale, powers.attention_factor};
  values.insert(values.end(), own.begin(), own.end());
  for (Index k = 0; k < powers.rotary_dims / 2; ++k) {
    values.emplace_back(powers.factors.empty() ? 1.0 : powers.factors[static_cast<std::size_t>(k)]);
  }
  return values;
}

void expect_all(const Powers<>& powers, const Powers<>& actual, const std::vector<double>& own,
                const std::vector<double>& own_actual, const RateGradients& gradients,
                const Formula& formula) {
  const Values values = values_of(powers, own);
  std::vector<Gradient> all{{"base", actual.base, 0},
                            {"linear scale", actual.linear_scale, 1},
                            {"attention factor", actual.attention_factor, 2}};
  for (std::size_t i = 0; i < own.size(); ++i)
    all.push_back({"own " + std::to_string(i), own_actual[i], first_own + i});
  ASSERT_EQ(actual.factors.size(), gradients.rates.size());
  for (std::size_t k = 0; k < actual.factors.size(); ++k) {
    all.push_back({"factor " + std::to_string(k), actual.factors[k], first_own + own.size() + k});
  }
  for (const Gradient& gradient : all) expect_gradient(gradient, values, gradients, formula);
}

std::vector<Powers<>> every_powers() {
  Powers<> full{16, 5e5, 0.25, -1.3};
  for (int k = 0; k < 8; ++k) full.factors.push_back(0.9 + 0.11 * k);
  full.factors[3] = -2.7;
  return {{16, 1e4, 0.5}, {24, 5e5, 1.4245, 1.2}, full};
}

/// Powers of `base`, divided by the factors, which begin at `factors`.
Rates<Real> real_powers(const Powers<>& powers, const Real& base, const Values& v,
                        std::size_t factors) {
  Rates<Real> result{{}, v[2]};
  for (Index k = 0; k < powers.rotary_dims / 2; ++k) {
    const Real f = 1 / pow(base, 2 * Real(k) / powers.rotary_dims);
    result.rates.push_back(f * v[1] / v[factors + static_cast<std::size_t>(k)]);
  }
  return result;
}

TEST(ScalingsGradients, OfProportionalAndLinear) {
  for (const Powers<>& powers : every_powers()) {
    const RateGradients gradients = gradients_for(powers.rotary_dims / 2);
    for (const Index rotated : {Index{0}, Index{3}, powers.rotary_dims / 2}) {
      const Formula formula = [&](const Values& v) {
        Rates<Real> result = real_powers(powers, v[0], v, first_own + 1);
        for (std::size_t k = 0; k < result.rates.size(); ++k)
          result.rates[k] *= static_cast<Index>(k) < rotated ? Real(1 / v[3]) : Real(0);
        return result;
      };
      const auto actual = scaling_gradients(powers, Proportional<>{3.3, rotated}, gradients);
      expect_all(powers, actual.powers, {3.3}, {actual.scaling.factor}, gradients, formula);
      if (rotated < powers.rotary_dims / 2) continue;
      const auto linear = scaling_gradients(powers, Linear<>{3.3}, gradients);
      expect_all(powers, linear.powers, {3.3}, {linear.scaling.factor}, gradients, formula);
    }
  }
}

TEST(ScalingsGradients, OfDynamicNtk) {
  for (const Powers<>& powers : every_powers()) {
    const RateGradients gradients = gradients_for(powers.rotary_dims / 2);
    for (const Index length : {Index{7}, Index{2048}, Index{2049}, Index{100000}}) {
      const Formula formula = [&](const Values& v) {
        const Real longest = std::max<Index>(length, 2048);
        const Real stretch = v[3] * longest / 2048 - (v[3] - 1);
        const Real power = Real(powers.rotary_dims) / (powers.rotary_dims - 2);
        return real_powers(powers, v[0] * pow(stretch, power), v, first_own + 1);
      };
      SCOPED_TRACE(length);
      const auto actual =
          scaling_gradients(powers, DynamicNtkScaling<>{3.3, 2048}, gradients, length);
      expect_all(powers, actual.powers, {3.3}, {actual.scaling.factor}, gradients, formula);
      EXPECT_EQ(actual.scaling.factor == 0, length <= 2048);
    }
  }
}

TEST(ScalingsGradients, OfFixedAndMixedNtk) {
  for (const Powers<>& powers : every_powers()) {
    const RateGradients gradients = gradients_for(powers.rotary_dims / 2);
    for (const double mixed_b : {0.625, 1.0, 2.5}) {
      const Formula formula = [&](const Values& v) {
        Rates<Real> result = real_powers(powers, v[0], v, first_own + 2);
        const Real alpha = log(v[3]) / pow(Real(powers.rotary_dims / 2), v[4]);
        for (std::size_t k = 0; k < result.rates.size(); ++k)
          result.rates[k] *= exp(-alpha * pow(Real(k + 1), v[4]));
        return result;
      };
      const auto actual = scaling_gradients(powers, NtkScaling<>{3.3, mixed_b}, gradients);
      expect_all(powers, actual.powers, {3.3, mixed_b},
                 {actual.scaling.factor, actual.scaling.mixed_b}, gradients, formula);
    }
  }
}

/// own: factor, beta fast, beta slow, mscale, mscale all dim, extrapolation
Rates<Real> real_yarn(const Powers<>& powers, const Yarn<>& yarn, const Values& v) {
  const Real dims = powers.rotary_dims;
  const auto correction = [&](const Real& beta) {
    return Real(dims *
                log(yarn.original_context / (2 * boost::math::constants::pi<Real>() * beta)) /
                (2 * log(v[0])));
  };
  Real low = correction(v[4]);
  Real high = correction(v[5]);
  if (yarn.ends == RampEnds::rounded) {
    low = floor(low);
    high = ceil(high);
  }
  low = std::max(low, Real(0));
  high = std::min(high, Real(dims - 1));
  if (low == high) high += Real(1) / 1000;
  const auto g = [&](const Real& scale) {
    return v[3] <= 1 ? Real(1) : Real(scale * log(v[3]) / 10 + 1);
  };
  Rates<Real> result = real_powers(powers, v[0], v, first_own + 6);
  for (std::size_t k = 0; k < result.rates.size(); ++k) {
    const Real kept =
        (1 - std::clamp(Real((Real(k) - low) / (high - low)), Real(0), Real(1))) * v[8];
    result.rates[k] *= (1 - kept) / v[3] + kept;
  }
  switch (yarn.magnitude) {
    case YarnMagnitude::given: break;
    case YarnMagnitude::deepseek: result.attention_factor *= g(v[6]) / g(v[7]); break;
    case YarnMagnitude::hugging_face:
      result.attention_factor *=
          yarn.mscale && yarn.mscale_all_dim != 0 ? Real(g(v[6]) / g(v[7])) : g(1);
  }
  return result;
}

TEST(ScalingsGradients, OfYarn) {
  for (const Powers<>& powers : every_powers()) {
    const RateGradients gradients = gradients_for(powers.rotary_dims / 2);
    for (const RampEnds ends : {RampEnds::rounded, RampEnds::exact}) {
      for (const YarnMagnitude rule :
           {YarnMagnitude::hugging_face, YarnMagnitude::deepseek, YarnMagnitude::given}) {
        for (const Index context : {Index{5}, Index{64}, Index{4096}, Index{131072}}) {
          for (const bool mscales : {true, false}) {
            for (const double factor : {4.4, 0.8}) {
              Yarn<> yarn = test::yarn_of(factor, context, 31.3, 1.1, ends, rule, {}, 0.0, 0.9);
              if (mscales) yarn.mscale = 0.707;
              if (mscales) yarn.mscale_all_dim = 0.3;
              SCOPED_TRACE(testing::Message()
                           << "dims " << powers.rotary_dims << ", ends " << static_cast<int>(ends)
                           << ", rule " << static_cast<int>(rule) << ", context " << context
                           << ", factor " << factor);
              const auto actual = scaling_gradients(powers, yarn, gradients);
              EXPECT_EQ(actual.scaling.mscale.has_value(), mscales);
              double d_mscale = actual.scaling.mscale.value_or(0);
              if (!mscales && rule == YarnMagnitude::deepseek) {  // which counts it as 1
                Yarn<> with_one = yarn;
                with_one.mscale = 1;
                d_mscale = scaling_gradients(powers, with_one, gradients).scaling.mscale.value();
              }
              expect_all(powers, actual.powers,
                         {factor, 31.3, 1.1, yarn.mscale.value_or(1), yarn.mscale_all_dim, 0.9},
                         {actual.scaling.factor, actual.scaling.beta_fast, actual.scaling.beta_slow,
                          d_mscale, actual.scaling.mscale_all_dim, actual.scaling.extrapolation},
                         gradients, [&](const Values& v) { return real_yarn(powers, yarn, v); });
            }
          }
        }
      }
    }
  }
}

TEST(ScalingsGradients, OfLongRope) {
  const Powers<> powers{8, 5e5, 0.25, -1.3};
  const RateGradients gradients = gradients_for(4);
  for (const LongRopeMagnitude rule : {LongRopeMagnitude::from_factor, LongRopeMagnitude::given}) {
    for (const double factor : {32.0, 0.5}) {
      const LongRope<> longrope{{1, 1.1, 1.2, 1.3}, {2, 3, -4, 5}, 4096, factor, rule};
      for (const Index length : {Index{4096}, Index{4097}}) {
        Powers<> listed = powers;
        listed.factors = length > 4096 ? longrope.long_factor : longrope.short_factor;
        const Formula formula = [&](const Values& v) {
          Rates<Real> result = real_powers(powers, v[0], v, first_own + 1);
          if (rule == LongRopeMagnitude::from_factor && v[3] > 1)
            result.attention_factor *= sqrt(1 + log(v[3]) / log(Real(4096)));
          return result;
        };
        const auto actual = scaling_gradients(powers, longrope, gradients, length);
        const bool longer = length > 4096;
        Powers<> with_the_list = actual.powers;
        with_the_list.factors = longer ? actual.scaling.long_factor : actual.scaling.short_factor;
        expect_all(listed, with_the_list, {factor}, {actual.scaling.factor}, gradients, formula);
        EXPECT_EQ(longer ? actual.scaling.short_factor : actual.scaling.long_factor,
                  std::vector<double>(4, 0.0));
        EXPECT_TRUE(actual.powers.factors.empty());
      }
    }
  }
}

constexpr double autodiff_roundings = 64;  // (4 ln(5e5) + 4)/2 of a rate, and the scaling's

TEST(ScalingsGradients, AreThoseOfAnAutoDiffScalarWithOneActiveParameter) {
  const Powers<> values{16, 5e5, 0.25, -1.3};
  const RateGradients gradients = gradients_for(8);
  auto powers = values.cast<Dynamic>();

  const Proportional<> proportional{3.3, 5};
  auto part = proportional.cast<Dynamic>();
  expect_autodiff(
      scaling_gradients(values, proportional, gradients).scaling.factor, "factor", part.factor,
      gradients, [&] { return part.rates(powers); }, autodiff_roundings);

  const DynamicNtkScaling<> dynamic{3.3, 100};
  auto by_length = dynamic.cast<Dynamic>();
  const auto dynamic_rates = [&] { return by_length.rates(powers, 1000); };
  const auto of_dynamic = scaling_gradients(values, dynamic, gradients, 1000);
  expect_autodiff(of_dynamic.scaling.factor, "factor", by_length.factor, gradients, dynamic_rates,
                  autodiff_roundings);
  expect_autodiff(of_dynamic.powers.base, "powers.base", powers.base, gradients, dynamic_rates,
                  autodiff_roundings);

  const NtkScaling<> ntk{3.3, 0.6};
  auto mixed = ntk.cast<Dynamic>();
  const auto of_ntk = scaling_gradients(values, ntk, gradients);
  expect_autodiff(
      of_ntk.scaling.factor, "factor", mixed.factor, gradients, [&] { return mixed.rates(powers); },
      autodiff_roundings);
  expect_autodiff(
      of_ntk.scaling.mixed_b, "mixed_b", mixed.mixed_b, gradients,
      [&] { return mixed.rates(powers); }, autodiff_roundings);

  const Yarn<> yarn = test::yarn_of(4.4, 4096, 31.3, 1.1, RampEnds::exact, YarnMagnitude::deepseek,
                                    {0.7}, 0.3, 0.9);
  auto ramp = yarn.cast<Dynamic>();
  const auto ggml_yarn_rates = [&] { return ramp.rates(powers); };
  const auto of_yarn = scaling_gradients(values, yarn, gradients);
  expect_autodiff(of_yarn.powers.base, "powers.base", powers.base, gradients, ggml_yarn_rates,
                  autodiff_roundings);
  expect_autodiff(of_yarn.scaling.factor, "factor", ramp.factor, gradients, ggml_yarn_rates,
                  autodiff_roundings);
  expect_autodiff(of_yarn.scaling.beta_fast, "beta_fast", ramp.beta_fast, gradients,
                  ggml_yarn_rates, autodiff_roundings);
  expect_autodiff(of_yarn.scaling.beta_slow, "beta_slow", ramp.beta_slow, gradients,
                  ggml_yarn_rates, autodiff_roundings);
  expect_autodiff(of_yarn.scaling.mscale.value(), "mscale", *ramp.mscale, gradients,
                  ggml_yarn_rates, autodiff_roundings);
  expect_autodiff(of_yarn.scaling.mscale_all_dim, "mscale_all_dim", ramp.mscale_all_dim, gradients,
                  ggml_yarn_rates, autodiff_roundings);
  expect_autodiff(of_yarn.scaling.extrapolation, "extrapolation", ramp.extrapolation, gradients,
                  ggml_yarn_rates, autodiff_roundings);

  const LongRope<> longrope{std::vector<double>(8, 1.1), std::vector<double>(8, 2.2), 4096, 32.0};
  auto lists = longrope.cast<Dynamic>();
  const auto longrope_rates_now = [&] { return lists.rates(powers, 4097); };
  const auto of_longrope = scaling_gradients(values, longrope, gradients, 4097);
  expect_autodiff(of_longrope.scaling.factor, "factor", lists.factor, gradients, longrope_rates_now,
                  autodiff_roundings);
  expect_autodiff(of_longrope.scaling.long_factor[3], "long_factor[3]", lists.long_factor[3],
                  gradients, longrope_rates_now, autodiff_roundings);
}

TEST(ScalingsGradients, AreOnePerPair) {
  const Powers<> powers{8};
  const RateGradients three{{1, 2, 3}, 0};
  const std::vector<double> ones(4, 1);
  const std::string message = "[rope] the gradients of the rates must be one per pair (4), got 3";
  EXPECT_EQ(error_of([&] {
              (void)scaling_gradients(powers, Proportional<>{1.0, 2}, three);
            }),
            message);
  EXPECT_EQ(error_of([&] { (void)scaling_gradients(powers, Linear<>{1}, three); }), message);
  EXPECT_EQ(error_of([&] { (void)scaling_gradients(powers, DynamicNtkScaling<>{}, three, 1); }),
            message);
  EXPECT_EQ(error_of([&] { (void)scaling_gradients(powers, NtkScaling<>{}, three); }), message);
  EXPECT_EQ(error_of([&] { (void)scaling_gradients(powers, test::yarn_of(1.0, 4096), three); }),
            message);
  EXPECT_EQ(error_of([&] {
              (void)scaling_gradients(powers, LongRope<>{ones, ones}, three, 1);
            }),
            message);
  EXPECT_EQ(error_of([&] {
              (void)scaling_gradients(powers, LongRope<>{{1}, ones}, three, 1);
            }),
            "[rope] short factor must be one per pair (4), got 1");
}

}  // namespace
}  // namespace eigen_rope::scalings_gradients_tests
