// SPDX-License-Identifier: Apache-2.0
//
// A cache of keys that outlives a shift of the context and a change of scaling: the keys move,
// nothing is recomputed.
//
// When the context is full, the oldest 512 tokens are dropped and the others move to the front;
// when it is to become longer, they change to YaRN's frequencies. The result is compared with keys
// rotated anew from the projections, which a real cache no longer has.
#include <fmt/core.h>

#include <cmath>
#include <eigen_rope/eigen_rope.hpp>
#include <limits>

namespace er = eigen_rope;

namespace {

constexpr int D = 128, heads = 4, context = 2048, dropped = 512, kept = context - dropped;

using Keys = Eigen::Tensor<float, 3>;  // [D, heads, tokens]

float largest_difference(const Keys& a, const Keys& b) {
  const Eigen::Tensor<float, 0> difference = (a - b).abs().maximum();
  return difference();
}

Keys recomputed(const Keys& projected, const er::Placement& placement) {
  return er::rotate(projected, er::Cache<float>(placement.frequencies, placement.positions),
                    er::split_half);
}

}  // namespace

int main() {
  const er::Powers powers{D, 10000.0};
  const er::Frequencies trained = er::Frequencies::powers(powers);
  Keys projected(D, heads, kept);
  projected.setRandom();

  // The tokens that stay stand at 512, ..., 2047.
  const er::Placement old{trained, er::Positions::range(dropped, kept)};
  Keys keys = recomputed(projected, old);

  // 1. They move to 0, ..., 1535: one rotation by -512 for all, from a table of one row.
  const er::Placement shifted{trained, er::Positions::range(0, kept)};
  er::rerotate(keys, old, shifted, er::split_half);
  const float after_shift = largest_difference(keys, recomputed(projected, shifted));
  fmt::print("shifted by {} tokens: largest difference to recomputed keys {:.2g}\n", dropped,
             after_shift);

  // 2. The context becomes four times as long: YaRN's frequencies, and its attention factor.
  er::Powers scaled = powers;
  scaled.linear_scale = 0.25;
  er::GgmlYarn yarn;
  yarn.original_context = context;
  const er::Placement stretched{er::Frequencies(scaled, yarn), shifted.positions};
  er::rerotate(keys, shifted, stretched, er::split_half);
  const float after_switch = largest_difference(keys, recomputed(projected, stretched));
  fmt::print("switched to YaRN, m = {:.4f}: largest difference {:.2g}\n",
             static_cast<double>(stretched.frequencies.attention_factor()), after_switch);

  // 3. From where they were first, both at once: one move is more exact than two.
  Keys direct = recomputed(projected, old);
  er::rerotate(direct, old, stretched, er::split_half);
  const float at_once = largest_difference(direct, recomputed(projected, stretched));
  fmt::print("both in one move: largest difference {:.2g}\n", at_once);

  // Each move and each rotation is off by at most 1.75 eps of a pair's length, here at most sqrt(2)
  // m.
  const float length =
      std::sqrt(2.0F) *
      static_cast<float>(static_cast<double>(stretched.frequencies.attention_factor()));
  const float move = 1.75F * std::numeric_limits<float>::epsilon() * length;
  return after_shift <= 3 * move && after_switch <= 4 * move && at_once <= 3 * move ? 0 : 1;
}
