// SPDX-License-Identifier: Apache-2.0
//
// Stretching a model from 4096 to 16384 tokens three ways, and what each does to the slowest and the fastest pair.
#include <fmt/core.h>

#include <eigen_rope/choices/frequencies.hpp>
#include <utility>

int main() {
  const double factor = 4;
  eigen_rope::Powers original{128};
  eigen_rope::Powers linear = original;
  linear.linear_scale = 1 / factor;
  eigen_rope::Powers ntk = original;
  ntk.base = eigen_rope::ntk_base(original.rotary_dims, original.base, factor);
  eigen_rope::Yarn yarn;
  yarn.original_context = 4096;
  const auto [low, high] = eigen_rope::yarn_correction_dims(original.rotary_dims, original.base, yarn);
  fmt::print("YaRN keeps pairs up to {} and interpolates those from {} on\n\n{:<8}{:>14}{:>14}{:>8}\n", low, high, "", "fastest", "slowest",
             "m");

  const std::pair<const char*, eigen_rope::Frequencies> ways[] = {{"none", eigen_rope::Frequencies::powers(original)},
                                                            {"linear", eigen_rope::Frequencies::powers(linear)},
                                                            {"NTK", eigen_rope::Frequencies::powers(ntk)},
                                                            {"YaRN", eigen_rope::Frequencies::yarn(linear, yarn)}};
  for (const auto& [name, frequencies] : ways) {
    fmt::print("{:<8}{:>14.8f}{:>14.8f}{:>8.4f}\n", name, static_cast<double>(frequencies.rates().front()),
               static_cast<double>(frequencies.rates().back()), static_cast<double>(frequencies.attention_factor()));
  }
  const double own = static_cast<double>(eigen_rope::Frequencies::explicit_rates({1.0, 0.1, 0.01}).rates()[1]);
  return own == 0.1 ? 0 : 1;
}
