// SPDX-License-Identifier: Apache-2.0
#include "rope_choice.hpp"

#include <fmt/format.h>

#include <cmath>

#include "error.hpp"

namespace train_lm {

std::string_view name(Scaling scaling) {
  switch (scaling) {
    case Scaling::linear: return "linear";
    case Scaling::ntk: return "ntk";
    case Scaling::yarn: return "yarn";
    case Scaling::none: break;
  }
  return "none";
}

eigen_rope::Frequencies RopeParameters::frequencies() const {
  return yarn ? eigen_rope::Frequencies(powers, *yarn) : eigen_rope::Frequencies::powers(powers);
}

std::vector<double> RopeParameters::rates() const {
  const eigen_rope::Frequencies all = frequencies();
  std::vector<double> rates;
  for (const eigen_rope::DoubleDouble& rate : all.rates())
    rates.push_back(static_cast<double>(rate));
  return rates;
}

RopeParameters training_rope(const RopeChoice& choice, eigen_rope::Index head_dim,
                             eigen_rope::Index context) {
  RopeParameters plain;
  plain.powers.rotary_dims = head_dim;
  plain.powers.base = choice.base;
  if (choice.kind == "default") return plain;
  if (choice.kind == "linear") return stretched(plain, Scaling::linear, choice.factor, context);
  if (choice.kind == "ntk") return stretched(plain, Scaling::ntk, choice.factor, context);
  if (choice.kind == "yarn") {
    const auto original =
        static_cast<eigen_rope::Index>(std::round(static_cast<double>(context) / choice.factor));
    return stretched(plain, Scaling::yarn, choice.factor, original);
  }
  throw Error(
      fmt::format("--rope must be none, default, linear, ntk or yarn, got {}", choice.kind));
}

RopeParameters stretched(const RopeParameters& trained, Scaling scaling, double factor,
                         eigen_rope::Index context) {
  RopeParameters result = trained;
  switch (scaling) {
    case Scaling::none: break;
    case Scaling::linear: result.powers.linear_scale /= factor; break;
    case Scaling::ntk:
      result.powers.base =
          eigen_rope::ntk_base(result.powers.rotary_dims, result.powers.base, factor);
      break;
    case Scaling::yarn:
      result.powers.linear_scale /= factor;
      if (!result.yarn) {
        result.yarn.emplace();
        result.yarn->original_context = context;
      }
      break;
  }
  return result;
}

}  // namespace train_lm
