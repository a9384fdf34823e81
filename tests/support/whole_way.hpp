// SPDX-License-Identifier: Apache-2.0
//
// From parameters to y in one differentiable scalar, and what its derivatives have to be.
//
//   inputs (parameters of the scaling, positions, x)  ->  rates  ->  angles  ->  table  ->
//                       y = eigen_rope::rotate(x, table, pairing)
//
// A Setting is one case: a scaling, a pairing, which way the table is made, where the features lie,
// and fixed numbers.
// rotated() goes the whole way; the test of each library seeds the inputs in its own way and asks
// for the derivatives of L = sum w y. Expected values: closed_form.hpp.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "eigen_rope/rotation/rotate.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "support/closed_form_rates.hpp"
#include "support/placed_features.hpp"

namespace eigen_rope::test::autodiff {

using closed_form::List;
using closed_form::ScaledRates;
using closed_form::Tracked;

enum class Scaling {
  explicit_rates,
  powers,
  exponents,
  ntk,
  yarn,
  yarn_clamped_ends,
  yarn_rounded_ends,
  yarn_off,
  llama3
};
inline constexpr std::array<Scaling, 9> every_scaling{Scaling::explicit_rates,
                                                      Scaling::powers,
                                                      Scaling::exponents,
                                                      Scaling::ntk,
                                                      Scaling::yarn,
                                                      Scaling::yarn_clamped_ends,
                                                      Scaling::yarn_rounded_ends,
                                                      Scaling::yarn_off,
                                                      Scaling::llama3};

/// Whether positions are numbers, so that the table comes from rates, or inputs as well, so that it
/// comes from angles.
enum class Positioned { by_numbers, by_inputs };

/// The rotation as the whole right-hand side, or inside a larger expression, where Eigen asks for
/// it element by element.
enum class Evaluated { directly, nested };

struct Setting {
  Scaling scaling;
  Positioned positioned;
  Evaluated evaluated;
  Extents extents;
  Powers<> powers;
  GgmlYarn<> yarn;
  Llama3<> llama3;
  double ntk_factor = 0;
  std::vector<double> explicit_rates;
  std::vector<double> positions;
  std::vector<double> x;
  /// L = sum weights * y
  std::vector<double> weights;
  /// Of the tensor that is rotated: 0 is the fastest, and then the pairing names none.
  int axis = 0;

  std::string text() const {
    static constexpr std::array<const char*, 9> scalings{"explicit rates",
                                                         "powers",
                                                         "exponents",
                                                         "ntk",
                                                         "yarn",
                                                         "yarn, clamped ends",
                                                         "yarn, rounded ends",
                                                         "yarn, ext factor 0",
                                                         "llama3"};
    static constexpr std::array<const char*, 4> kinds{"split_half", "interleaved", "quarter",
                                                      "interleaved_to_split_half"};
    return std::string(scalings[static_cast<std::size_t>(scaling)]) + ", " +
           kinds[static_cast<std::size_t>(extents.kind)] +
           (positioned == Positioned::by_inputs ? ", differentiable positions"
                                                : ", fixed positions") +
           (evaluated == Evaluated::nested ? ", nested" : "") + ", features on axis " +
           std::to_string(axis);
  }
};

/// Rows of 18 of which 16 turn, 2 heads that share angles, 2 tokens in each of 2 batches; the
/// exponents go with two positions per token.
inline Setting make_setting(Scaling scaling, PairKind kind, Positioned positioned,
                            Evaluated evaluated) {
  Setting s{scaling, positioned, evaluated, {kind, 18, 1, 16, 2, 2, 2}, {}, {},
            {},      3.5,        {},        {0, 3, -17.25, 250},        {}, {}};
  s.powers.rotary_dims = s.extents.dims;
  s.powers.base = 500;
  s.powers.linear_scale = 0.3;
  s.powers.attention_factor = 1.3;
  if (scaling != Scaling::ntk)
    s.powers.factors = random_values<double>(s.extents.pairs(), 1, 0.8, 1.2);
  if (scaling == Scaling::exponents) {
    s.powers.exponents = {0, 1, 2, 3, 4, 0, 1, 2};
    s.powers.exponent_dims = 10;
    s.extents.axis_of_pair = {0, 0, 0, 0, 0, 1, 1, 1};
    s.positions = {0, 3, -17.25, 250, 1, 4.5, -2, 31};
  }
  if (scaling == Scaling::explicit_rates)
    s.explicit_rates = random_values<double>(s.extents.pairs(), 2, 0.001, 1);
  s.yarn.original_context = 4096;
  s.yarn.ext_factor = scaling == Scaling::yarn_off ? 0 : 0.9;
  s.yarn.ends = scaling == Scaling::yarn_rounded_ends ? RampEnds::rounded : RampEnds::exact;
  s.yarn.beta_fast = 200;
  s.yarn.beta_slow = 5;
  if (scaling == Scaling::yarn_clamped_ends) {
    s.yarn.beta_fast = 2000;
    s.yarn.beta_slow = 0.001;
  }
  if (scaling == Scaling::llama3) s.powers.factors[4] *= -1;
  s.llama3.original_context = 512;
  s.llama3.factor = 8;
  s.llama3.low_freq_factor = 0.9;
  s.llama3.high_freq_factor = 11;
  s.x = random_values<double>(s.extents.size(), 3);
  s.weights = random_values<double>(s.extents.size(), 4);
  return s;
}

/// Every scaling with every pairing, with the features on the fastest axis and on another one; the
/// two ways to a table and to y, and the other axes, take turns, so that each scaling and each
/// pairing meets them all.
inline std::vector<Setting> every_setting() {
  std::vector<Setting> settings;
  for (const Scaling scaling : every_scaling) {
    for (const PairKind kind : every_kind) {
      for (const Positioned positioned : {Positioned::by_numbers, Positioned::by_inputs}) {
        const int turn =
            static_cast<int>(scaling) + static_cast<int>(kind) + static_cast<int>(positioned);
        Setting setting = make_setting(scaling, kind, positioned,
                                       turn % 2 != 0 ? Evaluated::nested : Evaluated::directly);
        settings.push_back(setting);
        setting.axis = 1 + turn % 3;
        settings.push_back(setting);
      }
    }
  }
  return settings;
}

inline ScaledRates rates_by_hand(const Setting& s) {
  switch (s.scaling) {
    case Scaling::powers:
    case Scaling::exponents: return closed_form::powers_by_hand(s.powers);
    case Scaling::ntk: return closed_form::ntk_by_hand(s.powers, s.ntk_factor);
    case Scaling::yarn:
    case Scaling::yarn_clamped_ends:
    case Scaling::yarn_rounded_ends:
    case Scaling::yarn_off: return closed_form::yarn_by_hand(s.powers, s.yarn);
    case Scaling::llama3: return closed_form::llama3_by_hand(s.powers, s.llama3);
    case Scaling::explicit_rates: break;
  }
  ScaledRates given{closed_form::exactly(s.explicit_rates), s.powers.attention_factor, {}};
  for (std::size_t k = 0; k < s.explicit_rates.size(); ++k) {
    List itself(s.explicit_rates.size());
    itself[k] = 1.0;
    given.parameters.push_back({"rate " + std::to_string(k), s.explicit_rates[k], itself, {}});
  }
  given.parameters.push_back(
      {"attention factor", s.powers.attention_factor, List(s.explicit_rates.size()), 1.0});
  return given;
}

struct Input {
  std::string name;
  double value;
};

/// All that L depends on, in the order in which rotated() reads it.
inline std::vector<Input> inputs_of(const Setting& s) {
  std::vector<Input> inputs;
  for (const closed_form::Parameter& p : rates_by_hand(s).parameters)
    inputs.push_back({p.name, p.value});
  if (s.positioned == Positioned::by_inputs) {
    for (const double position : s.positions) inputs.push_back({"position", position});
  }
  for (const double value : s.x) inputs.push_back({"x", value});
  return inputs;
}

inline std::vector<double> values_of(const Setting& s) {
  std::vector<double> values;
  for (const Input& input : inputs_of(s)) values.push_back(input.value);
  return values;
}

/// Takes inputs one after another.
template <class S>
class Reader {
 public:
  explicit Reader(const std::vector<S>& from) : next_(from.begin()) {}
  S one() { return *next_++; }
  std::vector<S> many(std::size_t count) {
    const auto begin = next_;
    next_ += static_cast<std::ptrdiff_t>(count);
    return std::vector<S>(begin, next_);
  }

 private:
  typename std::vector<S>::const_iterator next_;
};

/// The first stage: parameters to rates.
template <class S>
Rates<S> read_rates(const Setting& s, Reader<S>& inputs) {
  if (s.scaling == Scaling::explicit_rates) {
    std::vector<S> rates = inputs.many(s.explicit_rates.size());
    return {std::move(rates), inputs.one()};
  }
  Powers<S> powers;
  powers.rotary_dims = s.powers.rotary_dims;
  powers.exponents = s.powers.exponents;
  powers.exponent_dims = s.powers.exponent_dims;
  powers.base = inputs.one();
  powers.linear_scale = inputs.one();
  powers.attention_factor = inputs.one();
  powers.factors = inputs.many(s.powers.factors.size());
  if (s.scaling == Scaling::powers || s.scaling == Scaling::exponents) return powers.rates();
  if (s.scaling == Scaling::ntk) {
    powers.base = ntk_base(powers.rotary_dims, powers.base, inputs.one());
    return powers.rates();
  }
  if (s.scaling == Scaling::llama3) {
    Llama3<S> llama3;
    llama3.original_context = s.llama3.original_context;
    llama3.factor = inputs.one();
    llama3.low_freq_factor = inputs.one();
    llama3.high_freq_factor = inputs.one();
    return llama3.rates(powers);
  }
  GgmlYarn<S> yarn;
  yarn.original_context = s.yarn.original_context;
  yarn.ends = s.yarn.ends;
  yarn.ext_factor = inputs.one();
  yarn.beta_fast = inputs.one();
  yarn.beta_slow = inputs.one();
  return yarn.rates(powers);
}

/// The second: rates and positions to the table. One of angles has no layout: its entries of a
/// token lie next to each other.
template <class S>
Cache<S> make_table(const Setting& s, const Rates<S>& rates, Reader<S>& inputs) {
  const Extents& e = s.extents;
  if (s.positioned == Positioned::by_numbers) {
    const Batches batches{e.batches};
    const Sections sections(SectionPattern::contiguous, {5, 3});
    const Positions positions = e.axis_of_pair.empty()
                                    ? Positions::per_batch(s.positions, batches)
                                    : Positions::multi_axis(s.positions, sections, batches);
    return Cache<S>::from_rates(rates.rates, rates.attention_factor, positions, layout_of(s.axis));
  }
  const std::vector<S> positions = inputs.many(s.positions.size());
  std::vector<S> angles;
  for (Index row = 0; row < e.rows(); ++row) {
    for (Index k = 0; k < e.pairs(); ++k) {
      const S angle = rates.rates[static_cast<std::size_t>(k)] *
                      positions[static_cast<std::size_t>(e.axis(k) * e.rows() + row)];
      angles.push_back(angle);
    }
  }
  return Cache<S>::from_angles(angles, rates.attention_factor, e.pairs(),
                               Shape{1, e.tokens, e.batches});
}

/// All of it: y, [features, heads, tokens, batches].
template <class S>
std::vector<S> rotated(const Setting& s, const std::vector<S>& values) {
  Reader<S> inputs(values);
  const Rates<S> rates = read_rates(s, inputs);
  const Cache<S> table = make_table(s, rates, inputs);
  const Eigen::Tensor<S, 4> x = tensor_of(s.extents, inputs.many(s.x.size()), s.axis);
  const Pairing pairing = pairing_of(s.extents, s.axis);
  Eigen::Tensor<S, 4> y(x.dimensions());
  if (s.evaluated == Evaluated::directly) {
    y = eigen_rope::rotate(x, table, pairing);
  } else {
    y = -eigen_rope::rotate(-x, table, pairing);
  }
  return values_in_front(s.extents, y, s.axis);
}

/// L = sum w y
template <class S>
S weighted_sum(const std::vector<S>& y, const std::vector<double>& weights) {
  S loss = y[0] * weights[0];
  for (std::size_t i = 1; i < y.size(); ++i) loss += y[i] * weights[i];
  return loss;
}

template <class S>
S loss_of(const Setting& s, const std::vector<S>& inputs) {
  return weighted_sum(rotated(s, inputs), s.weights);
}

/// dL/dinput for all of inputs_of(), by hand.
inline List gradient_by_hand(const Setting& s) {
  const ScaledRates scaled = rates_by_hand(s);
  const List positions = closed_form::exactly(s.positions);
  const List angles = closed_form::angles_of(s.extents, scaled.rates, positions);
  const closed_form::RotationGradient rotation = closed_form::rotation_gradient(
      s.extents, closed_form::exactly(s.x), closed_form::exactly(s.weights), angles,
      scaled.attention_factor);
  const List by_rates = closed_form::rates_gradient(s.extents, positions, rotation.angles);
  List gradient;
  for (const closed_form::Parameter& p : scaled.parameters) {
    Tracked sum = rotation.attention_factor * p.attention_factor;
    for (std::size_t k = 0; k < by_rates.size(); ++k) sum += by_rates[k] * p.rates[k];
    gradient.push_back(sum);
  }
  if (s.positioned == Positioned::by_inputs) {
    const List by_positions =
        closed_form::positions_gradient(s.extents, scaled.rates, positions.size(), rotation.angles);
    gradient.insert(gradient.end(), by_positions.begin(), by_positions.end());
  }
  gradient.insert(gradient.end(), rotation.x.begin(), rotation.x.end());
  return gradient;
}

/// |actual - expected| over the error that a calculation in double may have: at most 1.
inline long double distance(double actual, const Tracked& expected) {
  const long double difference = std::abs(static_cast<long double>(actual) - expected.value);
  if (difference == 0) return 0;
  return difference / (expected.error * std::numeric_limits<double>::epsilon());
}

inline void expect_gradient(const Setting& s, const std::vector<double>& actual) {
  const std::vector<Input> inputs = inputs_of(s);
  const List expected = gradient_by_hand(s);
  ASSERT_EQ(actual.size(), inputs.size());
  ASSERT_EQ(expected.size(), inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ASSERT_LE(distance(actual[i], expected[i]), 1)
        << "dL/d(" << inputs[i].name << ", input " << i << "): " << actual[i] << ", by hand "
        << static_cast<double>(expected[i].value);
  }
}

/// For every setting: the gradient a library finds is the one found by hand.
template <class Gradient>
void expect_every_gradient(const Gradient& gradient) {
  for (const Setting& s : every_setting()) {
    SCOPED_TRACE(s.text());
    expect_gradient(s, gradient(s));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace eigen_rope::test::autodiff
