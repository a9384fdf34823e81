// SPDX-License-Identifier: Apache-2.0
#include "tool/inspect/inspect.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "eigen_rope/numbers/error.hpp"
#include "tool/inspect/remarks.hpp"
#include "tool/inspect/scaling_fields.hpp"

namespace eigen_rope::tool {
namespace {

constexpr double two_pi = eigen_rope::detail::two_pi.high;

/// The ratio of a pair that is slowed as much as any, where the scaling says; 0 where only the
/// pairs tell.
double full_ratio(const models::LayerRope& layer) {
  const double scale = layer.powers.linear_scale;
  if (!layer.powers.factors.empty()) return 0;
  return std::visit(
      [&](const auto& scaling) -> double {
        using Type = std::decay_t<decltype(scaling)>;
        if constexpr (std::is_same_v<Type, Linear<>> || std::is_same_v<Type, Proportional<>> ||
                      std::is_same_v<Type, Yarn<>> || std::is_same_v<Type, Llama3<>>) {
          return scale / scaling.factor;
        } else if constexpr (std::is_same_v<Type, GgmlYarn<>> || std::is_same_v<Type, Unscaled<>>) {
          return scale;
        } else {
          return 0;
        }
      },
      layer.scaling);
}

void classify(std::vector<PairInspection>& pairs, const models::LayerRope& layer) {
  constexpr double close = 1e-9, nothing = 0x1p-60;
  double full = full_ratio(layer);
  if (full == 0) {
    full = std::numeric_limits<double>::infinity();
    for (const PairInspection& pair : pairs) {
      if (std::fabs(pair.ratio) > nothing) full = std::min(full, std::fabs(pair.ratio));
    }
  }
  const bool own_divisors = std::holds_alternative<LongRope<>>(layer.scaling);
  for (PairInspection& pair : pairs) {
    const double ratio = std::fabs(pair.ratio);
    if (ratio <= nothing) {
      pair.treatment = Treatment::stopped;
    } else if (std::fabs(pair.ratio - 1) <= close) {
      pair.treatment = Treatment::kept;
    } else {
      pair.treatment = own_divisors || ratio <= full * (1 + close) ? Treatment::interpolated
                                                                   : Treatment::blended;
    }
  }
}

class Facts {
 public:
  explicit Facts(std::vector<Derived>& facts) : facts_(facts) {}
  void add(const char* name, double value, const char* unit = "") {
    facts_.push_back({name, value, unit});
  }
  void add(const char* name, const char* value) {
    facts_.push_back({name, std::string(value), ""});
  }

 private:
  std::vector<Derived>& facts_;
};

void add_ramp(Facts& facts, const models::LayerRope& layer, GgmlYarn<> yarn) {
  const eigen_rope::Index dims =
      layer.powers.exponent_dims == 0 ? layer.powers.rotary_dims : layer.powers.exponent_dims;
  const CorrectionDims<> ramp = yarn_correction_dims(dims, layer.powers.base, yarn);
  facts.add("ramp_low", ramp.low, "pairs");
  facts.add("ramp_high", ramp.high, "pairs");
  if (yarn.ends == RampEnds::exact) return;
  yarn.ends = RampEnds::exact;
  const CorrectionDims<> exact = yarn_correction_dims(dims, layer.powers.base, yarn);
  facts.add("ramp_low_exact", exact.low, "pairs");
  facts.add("ramp_high_exact", exact.high, "pairs");
}

void add_scaling_facts(Facts& facts, const models::LayerRope& layer, eigen_rope::Index length) {
  std::visit(
      [&](const auto& scaling) {
        using Type = std::decay_t<decltype(scaling)>;
        if constexpr (std::is_same_v<Type, Yarn<>>) {
          add_ramp(
              facts, layer,
              {1.0, scaling.original_context, scaling.beta_fast, scaling.beta_slow, scaling.ends});
        } else if constexpr (std::is_same_v<Type, GgmlYarn<>>) {
          add_ramp(facts, layer, scaling);
        } else if constexpr (std::is_same_v<Type, Llama3<>>) {
          const auto original = static_cast<double>(scaling.original_context);
          facts.add("high_freq_wavelength", original / scaling.high_freq_factor, "tokens");
          facts.add("low_freq_wavelength", original / scaling.low_freq_factor, "tokens");
        } else if constexpr (std::is_same_v<Type, DynamicNtkScaling<>>) {
          const eigen_rope::Index dims = layer.powers.exponent_dims == 0
                                             ? layer.powers.rotary_dims
                                             : layer.powers.exponent_dims;
          facts.add("base_at_length", static_cast<double>(dynamic_ntk_base(
                                          dims, DoubleDouble(layer.powers.base),
                                          scaling.template cast<DoubleDouble>(), length)));
        } else if constexpr (std::is_same_v<Type, LongRope<>>) {
          facts.add("list_in_force", length > scaling.original_context ? "long" : "short");
        }
      },
      layer.scaling);
  const double reach = effective_context(layer.powers, layer.scaling);
  if (reach > 0) facts.add("effective_context", reach, "tokens");
}

LayerInspection inspect_layer(const models::LayerRope& layer, eigen_rope::Index length) {
  LayerInspection result;
  result.layer = layer;
  const Frequencies frequencies = layer.frequencies(length);
  const std::vector<DoubleDouble> unscaled = unscaled_rates(layer.powers);
  const auto count = static_cast<std::size_t>(frequencies.pairs());
  for (std::size_t k = 0; k < count; ++k) {
    PairInspection pair;
    const auto number = static_cast<eigen_rope::Index>(k);
    if (layer.pairing) {
      const eigen_rope::Index offset = layer.pairing->offset();
      const PairSlots slots = pair_slots(layer.pairing->kind(), number, layer.powers.rotary_dims);
      pair.slots =
          PairSlots{slots.a + offset, slots.b + offset, slots.A + offset, slots.B + offset};
    }
    if (layer.sections) pair.axis = layer.sections->axis(number);
    pair.unscaled = unscaled[k];
    pair.rate = frequencies.rates()[k];
    pair.ratio = static_cast<double>(pair.rate / pair.unscaled);
    pair.turns = static_cast<double>(pair.rate) * static_cast<double>(length) / two_pi;
    result.pairs.push_back(pair);
  }
  classify(result.pairs, layer);
  result.attention_factor = frequencies.attention_factor();
  result.float_error = float_angle_error(frequencies.rates(), length);
  result.own_error = std::ldexp(static_cast<double>(length), -63);
  Facts facts(result.derived);
  const DoubleDouble m = result.attention_factor;
  facts.add("attention_factor", static_cast<double>(m));
  facts.add("qk_gain", static_cast<double>(m * m));
  facts.add("softmax_multiplier", layer.softmax_multiplier);
  add_scaling_facts(facts, layer, length);
  return result;
}

/// Half a unit in the last place of a float of this size.
double half_ulp(double value) { return value == 0 ? 0 : std::ldexp(1.0, std::ilogb(value) - 24); }

/// Bits from the first 1 to the last.
int significant_bits(float value) {
  int exponent = 0;
  auto bits = static_cast<std::int32_t>(std::ldexp(std::frexp(std::fabs(value), &exponent), 24));
  int count = 24;
  for (; bits != 0 && bits % 2 == 0; bits /= 2) --count;
  return bits == 0 ? 0 : count;
}

}  // namespace

const char* name_of(Treatment treatment) {
  switch (treatment) {
    case Treatment::kept: return "kept";
    case Treatment::blended: return "blended";
    case Treatment::interpolated: return "interpolated";
    case Treatment::stopped: break;
  }
  return "stopped";
}

double PairInspection::unscaled_wavelength() const {
  return two_pi / std::fabs(static_cast<double>(unscaled));
}
double PairInspection::wavelength() const { return two_pi / std::fabs(static_cast<double>(rate)); }

std::vector<DoubleDouble> unscaled_rates(const Powers<>& powers) {
  return Frequencies::powers({powers.rotary_dims,
                              powers.base,
                              1.0,
                              1.0,
                              {},
                              powers.exponents,
                              powers.exponent_dims})
      .rates();
}

AngleError float_angle_error(const std::vector<DoubleDouble>& rates, eigen_rope::Index length) {
  eigen_rope::Index angles_left = eigen_rope::Index{1} << 22;
  AngleError worst;
  if (length < 2) return worst;
  const auto rate_error = [&](std::size_t pair) {
    const double rounded = static_cast<float>(rates[pair].high);
    return std::fabs((rounded - rates[pair].high) - rates[pair].low);
  };
  // Below it the product of a position and a float's rate is exact too: both together have no more
  // than 24 significant bits.
  std::vector<double> exact_below(rates.size());
  for (std::size_t pair = 0; pair < rates.size(); ++pair) {
    const auto rate = static_cast<float>(rates[pair].high);
    if (!(std::fabs(rate) < 0x1p64F)) continue;
    const int bits = significant_bits(rate);
    exact_below[pair] =
        bits <= 1 ? std::numeric_limits<double>::infinity() : std::ldexp(1.0, 24 - bits);
  }
  // Neither term grows towards smaller positions, so a search from the end may stop where the bound
  // falls to what was found.
  const auto bound = [&](std::size_t pair, double position) {
    const double rounded = std::fabs(static_cast<float>(rates[pair].high));
    const double of_position = position < 0x1p24 ? 0 : half_ulp(position) * rounded;
    const double of_product =
        position < exact_below[pair] ? 0 : half_ulp(position * rounded * (1 + 0x1p-23));
    return position * rate_error(pair) + of_position + of_product;
  };
  std::vector<std::size_t> order(rates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto last = static_cast<double>(length - 1);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return bound(a, last) > bound(b, last); });
  for (const std::size_t pair : order) {
    const auto rate = static_cast<float>(rates[pair].high);
    for (eigen_rope::Index position = length - 1; position > 0; --position) {
      const auto at = static_cast<double>(position);
      if (bound(pair, at) <= worst.radians || angles_left-- <= 0) break;
      const float angle = static_cast<float>(position) * rate;
      const double error = std::fabs(std::fma(at, rates[pair].high, -static_cast<double>(angle)) +
                                     at * rates[pair].low);
      if (error > worst.radians) worst = {error, position, static_cast<eigen_rope::Index>(pair)};
    }
  }
  return worst;
}

Inspection inspect(const models::ModelRope& model, const InspectOptions& options) {
  if (options.length < 0) detail::fail("--context must be at least 1", options.length);
  Inspection result;
  result.model = model;
  result.length = options.length;
  if (result.length == 0) result.length = model.context;
  std::string kinds;
  for (const models::LayerRope& layer : model.layers) {
    if (result.length == 0)
      result.length = static_cast<eigen_rope::Index>(
          std::min(effective_context(layer.powers, layer.scaling), 0x1p53));
    if (!layer.layer_type.empty()) kinds += (kinds.empty() ? "" : ", ") + layer.layer_type;
  }
  result.warnings = model.warnings;
  if (model.layers.empty() && options.layer_type.empty()) return result;
  if (result.length <= 0)
    detail::fail("the model does not say for how many tokens it is: give --context");
  for (const models::LayerRope& layer : model.layers) {
    if (options.layer_type.empty() || options.layer_type == layer.layer_type)
      result.layers.push_back(inspect_layer(layer, result.length));
  }
  if (result.layers.empty()) {
    const std::string rule = kinds.empty()
                                 ? std::string("--layer needs a model that names kinds of layers")
                                 : fmt::format("--layer must be one of {}", kinds);
    detail::fail(rule, std::string_view(options.layer_type));
  }
  add_remarks(result);
  return result;
}

}  // namespace eigen_rope::tool
