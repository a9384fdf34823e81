// SPDX-License-Identifier: Apache-2.0
//
// The library's own gradients, the whole way back from y to parameters, positions and x, against
// the same closed forms that other people's differentiation is compared with: from the output,
// which is what training keeps, and from the input.
#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/gradients/parameter_gradients.hpp"
#include "eigen_rope/gradients/scaling_gradients.hpp"
#include "eigen_rope/rotation/tensor_view.hpp"
#include "support/whole_way.hpp"

namespace eigen_rope::test::autodiff {
namespace {

void append(std::vector<double>& to, const std::vector<double>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

Positions positions_of(const Setting& s) {
  const Batches batches{s.extents.batches};
  if (s.extents.axis_of_pair.empty()) return Positions::per_batch(s.positions, batches);
  return Positions::multi_axis(s.positions, Sections(SectionPattern::contiguous, {5, 3}), batches);
}

/// The base that powers() is given.
double stretched_base(const Setting& s) {
  return s.scaling == Scaling::ntk ? ntk_base(s.powers.rotary_dims, s.powers.base, s.ntk_factor)
                                   : s.powers.base;
}

Frequencies frequencies_of(const Setting& s) {
  Powers<> powers = s.powers;
  powers.base = stretched_base(s);
  switch (s.scaling) {
    case Scaling::explicit_rates:
      return Frequencies::explicit_rates(s.explicit_rates, s.powers.attention_factor);
    case Scaling::llama3: return Frequencies(powers, s.llama3);
    case Scaling::powers:
    case Scaling::exponents:
    case Scaling::ntk: return Frequencies::powers(powers);
    default: return Frequencies(powers, s.yarn);
  }
}

/// In the order of inputs_of().
std::vector<double> parameter_gradients(const Setting& s, const RateGradients& rates) {
  std::vector<double> result;
  const auto append_powers = [&](const Powers<>& g) {
    append(result, {g.base, g.linear_scale, g.attention_factor});
    append(result, std::vector<double>(
                       g.factors.begin(),
                       g.factors.begin() + static_cast<std::ptrdiff_t>(s.powers.factors.size())));
  };
  if (s.scaling == Scaling::explicit_rates) {
    append(result, rates.rates);
    result.push_back(rates.attention_factor);
  } else if (s.scaling == Scaling::llama3) {
    const auto g = scaling_gradients(s.powers, s.llama3, rates);
    append_powers(g.powers);
    append(result, {g.scaling.factor, g.scaling.low_freq_factor, g.scaling.high_freq_factor});
  } else if (s.scaling == Scaling::ntk) {
    // base * factor^(d / (d - 2))
    Powers<> powers = s.powers;
    powers.base = stretched_base(s);
    Powers<> g = powers_gradients(powers, rates);
    const auto dims = static_cast<double>(s.powers.rotary_dims);
    const double by_factor = g.base * powers.base * dims / (dims - 2) / s.ntk_factor;
    g.base *= powers.base / s.powers.base;
    append_powers(g);
    result.push_back(by_factor);
  } else if (s.scaling == Scaling::powers || s.scaling == Scaling::exponents) {
    append_powers(powers_gradients(s.powers, rates));
  } else {
    const auto g = scaling_gradients(s.powers, s.yarn, rates);
    append_powers(g.powers);
    append(result, {g.scaling.ext_factor, g.scaling.beta_fast, g.scaling.beta_slow});
  }
  return result;
}

enum class Keeps { output, input };

std::vector<double> gradient_by_library(const Setting& s, Keeps keeps) {
  const Frequencies frequencies = frequencies_of(s);
  const Positions positions = positions_of(s);
  const Layout layout = layout_of(s.axis);
  const Cache<double> cache(frequencies, positions, layout);
  const Pairing pairing = pairing_of(s.extents, s.axis);
  const Eigen::Tensor<double, 4> x = tensor_of(s.extents, s.x, s.axis);
  const Eigen::Tensor<double, 4> g = tensor_of(s.extents, s.weights, s.axis);
  const Eigen::Tensor<double, 4> y = eigen_rope::rotate(x, cache, pairing);
  Eigen::Tensor<double, 4> dx(x.dimensions());
  GradientOptions options;
  options.wanted = Wanted::angle | Wanted::log_magnitude;
  options.from = keeps == Keeps::output ? GradientsFrom::output : GradientsFrom::input;
  const Gradients<double> d =
      gradients_to(dx, keeps == Keeps::output ? y : x, g, cache, pairing, options);
  std::vector<double> result =
      parameter_gradients(s, {rate_gradients(d, positions, layout),
                              attention_factor_gradient(d, frequencies, positions, layout)});
  if (s.positioned == Positioned::by_inputs)
    append(result, position_gradients(d, frequencies, positions, layout));
  append(result, values_in_front(s.extents, dx, s.axis));
  return result;
}

TEST(LibraryGradients, FromTheOutput) {
  expect_every_gradient([](const Setting& s) { return gradient_by_library(s, Keeps::output); });
}

TEST(LibraryGradients, FromTheInput) {
  expect_every_gradient([](const Setting& s) { return gradient_by_library(s, Keeps::input); });
}

}  // namespace
}  // namespace eigen_rope::test::autodiff
