// SPDX-License-Identifier: Apache-2.0
//
// Braces whose numbers stand in the wrong order: a count where a real number belongs, and the
// reverse.
//
// An assertion is reported once for each type of argument, so these are of many types.
#include <cstdint>

#include <eigen_rope/eigen_rope.hpp>

#include "refused/refused.hpp"

namespace {

constexpr std::int16_t context_16 = 4096;
constexpr std::uint16_t context_u16 = 4096;

[[maybe_unused]] void makes_frequencies() {
  using F = eigen_rope::Frequencies;
  // refused: this parameter is a real number: write 4.0
  (void)F({8}, eigen_rope::Proportional<>{WRONG(4096, 4.0), 2});
  // refused: this parameter is a real number
  (void)F({8}, eigen_rope::GgmlYarn<>{WRONG(4096U, 1.0), 4096});
  // refused: this parameter is a real number
  (void)F({8}, eigen_rope::Llama3<>{WRONG(8192L, 8.0), 1.0, 4.0, 8192});
  // refused: this parameter is a real number
  (void)F({8}, eigen_rope::DynamicNtkScaling<>{WRONG(4096UL, 4.0), WRONG(4, 4096)}, 100);
  // refused: this parameter is a real number
  (void)F({8}, eigen_rope::Proportional<>{WRONG(4LL, 8.0), 4});
  // refused: this parameter is a real number
  (void)F({4}, eigen_rope::LongRope<>{{1, 1}, {8, 8}, 4096, WRONG(32ULL, 32.0)}, 1);
  // refused: this parameter is a real number
  (void)F::powers({128, WRONG('a', 10000.0)});
  // refused: this parameter is a real number
  eigen_rope::DynamicNtk ntk({8}, {WRONG(context_16, 4.0), 4096});
  // refused: this parameter is a real number
  const eigen_rope::Scaling scaling = eigen_rope::GgmlYarn<>{WRONG(context_u16, 1.0), 4096};

  // refused: this parameter counts dims, pairs or tokens
  (void)F({8}, eigen_rope::DynamicNtkScaling<>{4.0, WRONG(4096.0, 4096)}, 100);
  // refused: this parameter counts dims, pairs or tokens
  (void)F::powers({WRONG(8.0F, 8), 10000.0});
  // refused: this parameter counts dims, pairs or tokens
  (void)F({8}, eigen_rope::Llama3<>{8.0, 1.0, 4.0, WRONG(8192.0L, 8192)});
}

/// By name any number is right.
[[maybe_unused]] void accepts() {
  eigen_rope::Yarn<> yarn;
  yarn.factor = 4;
  yarn.original_context = 4096;
  (void)eigen_rope::Frequencies({8}, yarn);
  (void)eigen_rope::Frequencies({8, 500000.0, 1, 1}, eigen_rope::Yarn<>{});
}

}  // namespace
