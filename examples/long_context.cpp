// SPDX-License-Identifier: Apache-2.0
//
// Stretching a model from 4096 to 16384 tokens three ways, and what each does to the slowest and
// the fastest pair.
#include <fmt/core.h>

#include <eigen_rope/choices/frequencies.hpp>
#include <utility>

namespace er = eigen_rope;

int main() {
  const double factor = 4;
  er::Powers original{128};
  er::Powers linear = original;
  linear.linear_scale = 1 / factor;
  er::Powers ntk = original;
  ntk.base = er::ntk_base(original.rotary_dims, original.base, factor);
  er::GgmlYarn yarn;
  yarn.original_context = 4096;
  const auto [low, high] = er::yarn_correction_dims(original.rotary_dims, original.base, yarn);
  fmt::print(
      "YaRN keeps pairs up to {} and interpolates those from {} on\n\n{:<8}{:>14}{:>14}{:>8}\n",
      low, high, "", "fastest", "slowest", "m");

  const std::pair<const char*, er::Frequencies> ways[] = {
      {"none", er::Frequencies::powers(original)},
      {"linear", er::Frequencies::powers(linear)},
      {"NTK", er::Frequencies::powers(ntk)},
      {"YaRN", er::Frequencies(linear, yarn)}};
  for (const auto& [name, frequencies] : ways) {
    fmt::print("{:<8}{:>14.8f}{:>14.8f}{:>8.4f}\n", name,
               static_cast<double>(frequencies.rates().front()),
               static_cast<double>(frequencies.rates().back()),
               static_cast<double>(frequencies.attention_factor()));
  }
  const double own =
      static_cast<double>(er::Frequencies::explicit_rates({1.0, 0.1, 0.01}).rates()[1]);
  return own == 0.1 ? 0 : 1;
}
