// SPDX-License-Identifier: Apache-2.0
//
// The gradients of the scalings' parameters: against central differences of independent formulas in
// 200 bits, against the complex step and Eigen's AutoDiffScalar through the library's own, and at
// the kinks.
#include "eigen_rope/gradients/scaling_gradients.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
// Needs Eigen/Core before it.

#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support/active_parameter.hpp"
#include "support/error_of.hpp"
#include "support/real_number.hpp"
#include "support/real_rates.hpp"

namespace eigen_rope {
namespace {

using test::Dynamic;
using test::exactly;
using test::expect_autodiff;
using test::Real;
using test::RealParameters;
using test::Scaling;
using test::two_to;

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// Of a derivative in double: (4 ln(5e5) + 4)/2 roundings of a rate, and a few of the ramp or the
/// band.
constexpr double chain_roundings = 32;

/// Anything without structure, of both signs.
RateGradients gradients_for(const Powers<>& powers) {
  RateGradients result{{}, -0.37};
  for (Index k = 0; k < powers.rotary_dims / 2; ++k)
    result.rates.push_back(std::sin(1.0 + 2.3 * static_cast<double>(k)) * 100);
  return result;
}

std::vector<Powers<>> every_powers() {
  Powers<> full{16, 5e5, 0.25, -1.3};
  for (int k = 0; k < 8; ++k) full.factors.push_back(0.9 + 0.11 * k);
  full.factors[3] = -2.7;
  Powers<> vision{16, 1e4, 0.1, 1.1};
  vision.exponent_dims = 8;
  for (Index k = 0; k < 8; ++k) vision.exponents.push_back(k % 4);
  return {{16, 1e4, 0.5}, {24, 5e5, 1.4245, 1.2}, {8, 0.7, 0.3}, full, vision};
}

std::vector<GgmlYarn<>> every_yarn() {
  std::vector<GgmlYarn<>> result;
  for (const RampEnds ends : {RampEnds::rounded, RampEnds::exact}) {
    for (const double ext_factor : {1.0, 0.7465, -0.5}) {
      for (const Index context : {Index{64}, Index{4096}, Index{131072}})
        result.push_back({ext_factor, context, 31.3, 1.1, ends});
    }
  }
  return result;
}

const std::vector<Llama3<>> every_llama3{
    {8.0, 1.0, 4.0, 8192}, {32.0, 0.3, 5.5, 4096}, {0.5, 1.0, 40.0, 8192}};

/// Half an ulp and 2^-75 of what is added up. Without the products inside a term, which only makes
/// it stricter.
void expect_gradient(double actual, const Rates<Real>& derivatives, const RateGradients& gradients,
                     const std::string& name) {
  Real expected = Real(gradients.attention_factor) * derivatives.attention_factor;
  Real size = abs(expected);
  for (std::size_t k = 0; k < derivatives.rates.size(); ++k) {
    const Real term = Real(gradients.rates[k]) * derivatives.rates[k];
    expected += term;
    size += abs(term);
  }
  EXPECT_LE(abs(exactly(actual) - expected), test::ulp(actual) / 2 + two_to(-75) * size)
      << "d " << name << " is " << actual;
}

struct Parameter {
  std::string name;
  double gradient;
  std::function<Real&(RealParameters&)> of;
};

void expect_gradients(Scaling scaling, const RealParameters& parameters, const Powers<>& powers,
                      const RateGradients& gradients, std::vector<Parameter> own) {
  own.push_back({"base", powers.base, [](RealParameters& p) -> Real& { return p.base; }});
  own.push_back({"linear scale", powers.linear_scale,
                 [](RealParameters& p) -> Real& { return p.linear_scale; }});
  own.push_back({"attention factor", powers.attention_factor,
                 [](RealParameters& p) -> Real& { return p.attention_factor; }});
  ASSERT_EQ(powers.factors.size(), gradients.rates.size());
  for (std::size_t k = 0; k < powers.factors.size(); ++k) {
    own.push_back({"factor " + std::to_string(k), powers.factors[k],
                   [k](RealParameters& p) -> Real& { return p.factors[k]; }});
  }
  for (const Parameter& parameter : own) {
    expect_gradient(parameter.gradient, real_derivatives(scaling, parameters, parameter.of),
                    gradients, parameter.name);
  }
}

TEST(ScalingGradients, OfPowersAreThoseOfDifferences) {
  for (const Powers<>& powers : every_powers()) {
    SCOPED_TRACE(testing::Message() << powers.rotary_dims << " dims, base " << powers.base);
    const RateGradients gradients = gradients_for(powers);
    expect_gradients(Scaling::powers, {powers, {}, {}}, powers_gradients(powers, gradients),
                     gradients, {});
  }
}

TEST(ScalingGradients, OfYarnAreThoseOfDifferences) {
  for (const Powers<>& powers : every_powers()) {
    for (const GgmlYarn<>& yarn : every_yarn()) {
      SCOPED_TRACE(testing::Message()
                   << powers.rotary_dims << " dims, base " << powers.base << ", ext factor "
                   << yarn.ext_factor << ", context " << yarn.original_context << ", ends "
                   << static_cast<int>(yarn.ends));
      const RateGradients gradients = gradients_for(powers);
      const auto actual = scaling_gradients(powers, yarn, gradients);
      expect_gradients(Scaling::yarn, {powers, yarn, {}}, actual.powers, gradients,
                       {{"ext factor", actual.scaling.ext_factor,
                         [](RealParameters& p) -> Real& { return p.ext_factor; }},
                        {"beta fast", actual.scaling.beta_fast,
                         [](RealParameters& p) -> Real& { return p.beta_fast; }},
                        {"beta slow", actual.scaling.beta_slow,
                         [](RealParameters& p) -> Real& { return p.beta_slow; }}});
    }
  }
}

TEST(ScalingGradients, OfLlama3AreThoseOfDifferences) {
  for (const Powers<>& powers : every_powers()) {
    for (const Llama3<>& llama3 : every_llama3) {
      SCOPED_TRACE(testing::Message() << powers.rotary_dims << " dims, base " << powers.base
                                      << ", factor " << llama3.factor);
      const RateGradients gradients = gradients_for(powers);
      const auto actual = scaling_gradients(powers, llama3, gradients);
      expect_gradients(
          Scaling::llama3, {powers, {}, llama3}, actual.powers, gradients,
          {{"factor", actual.scaling.factor, [](RealParameters& p) -> Real& { return p.factor; }},
           {"low freq factor", actual.scaling.low_freq_factor,
            [](RealParameters& p) -> Real& { return p.low_freq_factor; }},
           {"high freq factor", actual.scaling.high_freq_factor,
            [](RealParameters& p) -> Real& { return p.high_freq_factor; }}});
    }
  }
}

/// The imaginary part of f(p + i h) / h: the derivative to rounding, since h squared vanishes.
class ComplexStep {
 public:
  using Complex = std::complex<double>;

  ComplexStep(const Powers<>& powers, const RateGradients& gradients)
      : powers_(powers.cast<Complex>()), gradients_(gradients) {}

  /// `rates` makes rates from powers that `change` has stepped, and a scaling of its own.
  template <class RatesOf>
  void expect(double actual, const std::string& name, Complex& parameter, const RatesOf& rates) {
    constexpr double step = 1e-200;
    parameter += Complex(0, step);
    const Rates<Complex> stepped = rates();
    parameter -= Complex(0, step);
    double expected = gradients_.attention_factor * stepped.attention_factor.imag() / step;
    double size = std::abs(expected);
    for (std::size_t k = 0; k < stepped.rates.size(); ++k) {
      const double term = gradients_.rates[k] * stepped.rates[k].imag() / step;
      expected += term;
      size += std::abs(term);
    }
    EXPECT_NEAR(actual, expected, chain_roundings * epsilon * size) << name;
  }

  template <class RatesOf>
  void expect_powers(const Powers<>& actual, const RatesOf& rates) {
    expect(actual.base, "base", powers_.base, rates);
    expect(actual.linear_scale, "linear scale", powers_.linear_scale, rates);
    expect(actual.attention_factor, "attention factor", powers_.attention_factor, rates);
    for (std::size_t k = 0; k < powers_.factors.size(); ++k)
      expect(actual.factors[k], "a factor", powers_.factors[k], rates);
  }

  const Powers<Complex>& powers() const { return powers_; }

 private:
  Powers<Complex> powers_;
  RateGradients gradients_;
};

TEST(ScalingGradients, AreThoseOfTheComplexStep) {
  using Complex = ComplexStep::Complex;
  Powers<> powers{32, 5e5, 0.25, -1.3};
  for (int k = 0; k < 16; ++k) powers.factors.push_back(0.9 + 0.11 * k);
  const RateGradients gradients = gradients_for(powers);
  ComplexStep step(powers, gradients);
  step.expect_powers(powers_gradients(powers, gradients), [&] { return step.powers().rates(); });

  for (const RampEnds ends : {RampEnds::rounded, RampEnds::exact}) {
    const GgmlYarn<> yarn{0.75, 4096, 31.3, 1.1, ends};
    auto scaling = yarn.cast<Complex>();
    const auto actual = scaling_gradients(powers, yarn, gradients);
    const auto rates = [&] { return scaling.rates(step.powers()); };
    step.expect_powers(actual.powers, rates);
    step.expect(actual.scaling.ext_factor, "ext factor", scaling.ext_factor, rates);
    step.expect(actual.scaling.beta_fast, "beta fast", scaling.beta_fast, rates);
    step.expect(actual.scaling.beta_slow, "beta slow", scaling.beta_slow, rates);
  }

  const Llama3<> llama3{8.0, 0.5, 40.0, 8192};
  auto scaling = llama3.cast<Complex>();
  const auto actual = scaling_gradients(powers, llama3, gradients);
  const auto rates = [&] { return scaling.rates(step.powers()); };
  step.expect_powers(actual.powers, rates);
  step.expect(actual.scaling.factor, "factor", scaling.factor, rates);
  step.expect(actual.scaling.low_freq_factor, "low freq factor", scaling.low_freq_factor, rates);
  step.expect(actual.scaling.high_freq_factor, "high freq factor", scaling.high_freq_factor, rates);
}

TEST(ScalingGradients, AreThoseOfAnAutoDiffScalarWithOneActiveParameter) {
  const Powers<> values{16, 5e5, 0.25, -1.3, {0.9, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6}};
  const RateGradients gradients = gradients_for(values);
  auto powers = values.cast<Dynamic>();
  const auto expect_powers = [&](const Powers<>& actual, const auto& rates) {
    expect_autodiff(actual.base, "base", powers.base, gradients, rates, chain_roundings);
    expect_autodiff(actual.linear_scale, "linear scale", powers.linear_scale, gradients, rates,
                    chain_roundings);
    expect_autodiff(actual.attention_factor, "attention factor", powers.attention_factor, gradients,
                    rates, chain_roundings);
    for (std::size_t k = 0; k < 8; ++k)
      expect_autodiff(actual.factors[k], "a factor", powers.factors[k], gradients, rates,
                      chain_roundings);
  };
  expect_powers(powers_gradients(values, gradients), [&] { return powers.rates(); });

  for (const RampEnds ends : {RampEnds::rounded, RampEnds::exact}) {
    const GgmlYarn<> yarn{0.75, 4096, 31.3, 1.1, ends};
    auto scaling = yarn.cast<Dynamic>();
    const auto actual = scaling_gradients(values, yarn, gradients);
    const auto rates = [&] { return scaling.rates(powers); };
    expect_powers(actual.powers, rates);
    expect_autodiff(actual.scaling.ext_factor, "ext factor", scaling.ext_factor, gradients, rates,
                    chain_roundings);
    expect_autodiff(actual.scaling.beta_fast, "beta fast", scaling.beta_fast, gradients, rates,
                    chain_roundings);
    expect_autodiff(actual.scaling.beta_slow, "beta slow", scaling.beta_slow, gradients, rates,
                    chain_roundings);
  }

  const Llama3<> llama3{8.0, 0.5, 40.0, 8192};
  auto scaling = llama3.cast<Dynamic>();
  const auto actual = scaling_gradients(values, llama3, gradients);
  const auto rates = [&] { return scaling.rates(powers); };
  expect_powers(actual.powers, rates);
  expect_autodiff(actual.scaling.factor, "factor", scaling.factor, gradients, rates,
                  chain_roundings);
  expect_autodiff(actual.scaling.low_freq_factor, "low freq factor", scaling.low_freq_factor,
                  gradients, rates, chain_roundings);
  expect_autodiff(actual.scaling.high_freq_factor, "high freq factor", scaling.high_freq_factor,
                  gradients, rates, chain_roundings);
}

TEST(ScalingGradients, OfPowersAreTheClosedForms) {
  const Powers<> powers{8, 16.0, 0.5, 3, {1, 2, 4, -1}};
  const RateGradients gradients{{1, 10, 100, 1000}, 7};
  // rates: 1/2, 1/8, 1/32, -1/16 (16^(-k/4) = 2^-k)
  const Powers<> actual = powers_gradients(powers, gradients);
  EXPECT_EQ(actual.base,
            (0 * 0.5 - 1 * 10 * 0.125 - 2 * 100 * 0.03125 + 3 * 1000 * 0.0625) / (4 * 16));
  EXPECT_EQ(actual.linear_scale, (0.5 + 10 * 0.125 + 100 * 0.03125 - 1000 * 0.0625) * 2);
  EXPECT_EQ(actual.attention_factor, 7);
  EXPECT_EQ(actual.factors,
            (std::vector<double>{-0.5, -10 * 0.0625, -100 * 0.0078125, 1000 * -0.0625}));
}

TEST(ScalingGradients, FactorsThatAreNotThereCountAsOne) {
  Powers<> powers{8, 100.0, 0.5};
  const RateGradients gradients = gradients_for(powers);
  const std::vector<double> without = powers_gradients(powers, gradients).factors;
  powers.factors = {1, 1, 1, 1};
  EXPECT_EQ(without, powers_gradients(powers, gradients).factors);
  EXPECT_EQ(without.size(), 4U);
  powers.factors.push_back(5);
  EXPECT_EQ(without, powers_gradients(powers, gradients).factors)
      << "factors beyond the pairs are ignored";
}

TEST(ScalingGradients, RoundedEndsDoNotMove) {
  const Powers<> powers{32, 5e5, 0.25};
  const RateGradients gradients = gradients_for(powers);
  const GgmlYarn<> yarn{1.0, 4096, 31.3, 1.1};
  const auto actual = scaling_gradients(powers, yarn, gradients);
  EXPECT_EQ(actual.scaling.beta_fast, 0);
  EXPECT_EQ(actual.scaling.beta_slow, 0);
  // All that is left of the base are the powers: drate_k = -2 k rate_k / (d base).
  const Rates<double> rates = yarn.rates(powers);
  double base = 0;
  double size = 0;
  for (std::size_t k = 0; k < 16; ++k) {
    const double term =
        gradients.rates[k] * -2 * static_cast<double>(k) * rates.rates[k] / (32 * powers.base);
    base += term;
    size += std::abs(term);
  }
  constexpr double roundings = 80;
  EXPECT_NEAR(actual.powers.base, base, roundings * epsilon * size);
}

TEST(ScalingGradients, EndsAtTheirClampsDoNotMove) {
  const Powers<> powers{32, 1e4, 0.25};
  const RateGradients gradients = gradients_for(powers);
  // c(32) < 0 for 64 tokens; c(1e-9) > 31.
  const auto actual =
      scaling_gradients(powers, GgmlYarn<>{1.0, 64, 32.0, 1e-9, RampEnds::exact}, gradients);
  EXPECT_EQ(actual.scaling.beta_fast, 0);
  EXPECT_EQ(actual.scaling.beta_slow, 0);
  const auto free =
      scaling_gradients(powers, GgmlYarn<>{1.0, 4096, 32.0, 1.0, RampEnds::exact}, gradients);
  EXPECT_NE(free.scaling.beta_fast, 0);
  EXPECT_NE(free.scaling.beta_slow, 0);
}

TEST(ScalingGradients, BetasAndContextsOfZeroAreFinite) {
  const Powers<> powers{32, 1e4, 0.25};
  const RateGradients gradients = gradients_for(powers);
  for (const Index context : {Index{0}, Index{1}, std::numeric_limits<Index>::max()}) {
    for (const double beta_fast : {0.0, 5e-324, 1.7e308}) {
      for (const double beta_slow : {0.0, 5e-324, 1.7e308}) {
        const auto actual = scaling_gradients(
            powers, GgmlYarn<>{1.0, context, beta_fast, beta_slow, RampEnds::exact}, gradients);
        for (const double g :
             {actual.powers.base, actual.powers.linear_scale, actual.scaling.ext_factor,
              actual.scaling.beta_fast, actual.scaling.beta_slow}) {
          EXPECT_TRUE(std::isfinite(g)) << context << ' ' << beta_fast << ' ' << beta_slow;
        }
      }
    }
  }
}

TEST(ScalingGradients, AtExtFactorZeroTheJumpOfTheMagnitudeIsLeftOut) {
  const Powers<> powers{32, 1e4, 0.25, 1.5};
  const RateGradients gradients = gradients_for(powers);
  const auto at_zero = scaling_gradients(powers, GgmlYarn<>{0.0, 4096, 32.0, 1.0}, gradients);
  const Powers<> plain = powers_gradients(powers, gradients);
  EXPECT_EQ(at_zero.powers.base, plain.base);
  EXPECT_EQ(at_zero.powers.linear_scale, plain.linear_scale);
  EXPECT_EQ(at_zero.powers.attention_factor, plain.attention_factor);
  EXPECT_EQ(at_zero.powers.factors, plain.factors);
  // The rates are linear in ext_factor, so its gradient is the same everywhere.
  EXPECT_EQ(
      at_zero.scaling.ext_factor,
      scaling_gradients(powers, GgmlYarn<>{0.5, 4096, 32.0, 1.0}, gradients).scaling.ext_factor);
  EXPECT_NE(at_zero.scaling.ext_factor, 0);
}

TEST(ScalingGradients, OnTheEdgesOfLlama3sBandTheyAreThoseOfItsInside) {
  // One pair, rate 1: turns = context / (2 pi).
  const Powers<> powers{2};
  const RateGradients gradients{{1}, 0};
  constexpr Index context = 8192;
  const double turns = (DoubleDouble::from_integer(context) / detail::two_pi).high;
  const double next = std::nextafter(turns, 1e9);
  const double before = std::nextafter(turns, 0);
  constexpr double factor = 8;
  constexpr double rounding = 8 * epsilon;

  // rate = (1 - s)/factor + s, so its slope by s is 1 - 1/factor; ds/dlow = (s - 1)/(high - low),
  // ds/dhigh = -s/(high - low).
  const double width = 100;
  const auto low_edge =
      scaling_gradients(powers, Llama3<>{factor, turns, turns + width, context}, gradients);
  EXPECT_NEAR(low_edge.scaling.low_freq_factor, -(1 - 1 / factor) / width, rounding);
  EXPECT_NEAR(low_edge.scaling.high_freq_factor, 0, rounding);
  const auto below =
      scaling_gradients(powers, Llama3<>{factor, next, turns + width, context}, gradients);
  EXPECT_EQ(below.scaling.low_freq_factor, 0);
  EXPECT_EQ(below.scaling.high_freq_factor, 0);

  const auto high_edge =
      scaling_gradients(powers, Llama3<>{factor, turns - width, turns, context}, gradients);
  EXPECT_NEAR(high_edge.scaling.low_freq_factor, 0, rounding);
  EXPECT_NEAR(high_edge.scaling.high_freq_factor, -(1 - 1 / factor) / width, rounding);
  const auto above =
      scaling_gradients(powers, Llama3<>{factor, turns - width, before, context}, gradients);
  EXPECT_EQ(above.scaling.low_freq_factor, 0);
  EXPECT_EQ(above.scaling.high_freq_factor, 0);
  EXPECT_EQ(above.scaling.factor, 0);

  // No band: a step.
  const auto step = scaling_gradients(powers, Llama3<>{factor, turns, turns, context}, gradients);
  EXPECT_EQ(step.scaling.low_freq_factor, 0);
  EXPECT_EQ(step.scaling.high_freq_factor, 0);
  EXPECT_EQ(step.scaling.factor, -1 / (factor * factor));
}

TEST(ScalingGradients, RefuseWhatTheRatesRefuseAndOtherCounts) {
  using test::error_of;
  const Powers<> powers{8};
  const RateGradients three{{1, 2, 3}, 0};
  const std::string message = "[rope] the gradients of the rates must be one per pair (4), got 3";
  EXPECT_EQ(error_of([&] { (void)powers_gradients(powers, three); }), message);
  EXPECT_EQ(error_of([&] { (void)scaling_gradients(powers, GgmlYarn<>{}, three); }), message);
  EXPECT_EQ(error_of([&] { (void)scaling_gradients(powers, Llama3<>{}, three); }), message);
  EXPECT_EQ(error_of([&] { (void)powers_gradients({7}, three); }),
            "[rope] rotary dims must be even, got 7");
  EXPECT_EQ(error_of([&] {
              (void)powers_gradients({8, 1e4, 1, 1, {1}}, three);
            }),
            "[rope] frequency factors must be at least one per pair (4), got 1");
  EXPECT_EQ(error_of([&] {
              (void)scaling_gradients(powers, GgmlYarn<>{1.0, -1}, three);
            }),
            "[rope] original context must not be negative, got -1");
  EXPECT_EQ(error_of([&] { (void)scaling_gradients(powers, Llama3<>{0.0}, three); }),
            "[rope] llama3 factor must be finite and greater than 0, got 0");
}

}  // namespace
}  // namespace eigen_rope
