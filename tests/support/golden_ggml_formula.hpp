// SPDX-License-Identifier: Apache-2.0
//
// The formula of data/golden/ggml/README.md in plain double, without the library: the exact answer
// for the recorded inputs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "support/golden_ggml.hpp"

namespace eigen_rope::test {

struct PlainResult {
  std::vector<double> y;
  std::vector<bool> rotated;  ///< whether an element lies in the window
};

class PlainFormula {
 public:
  explicit PlainFormula(const GoldenCase& c)
      : c_(c),
        D_(c.shape[0]),
        vision_(c.mode == "vision"),
        pairs_(vision_ ? D_ / 2 : c.n_dims / 2) {
    low_ = std::max(0.0, std::floor(correction(c.beta_fast)));
    high_ = std::min(static_cast<double>(c.n_dims - 1), std::ceil(correction(c.beta_slow)));
  }

  PlainResult operator()() const {
    PlainResult result{{c_.input.begin(), c_.input.end()},
                       std::vector<bool>(c_.input.size(), false)};
    const Index H = c_.shape[1];
    const Index S = c_.shape[2];
    const Index B = c_.shape[3];
    for (Index s = 0; s < S; ++s) {
      for (Index p = 0; p < pairs_; ++p) {
        const Turn turn = turn_of(p, s);
        for (Index b = 0; b < B; ++b) {
          for (Index h = 0; h < H; ++h) apply(turn, ((b * S + s) * H + h) * D_, p, result);
        }
      }
    }
    return result;
  }

 private:
  struct Turn {
    double cos, sin;
  };
  struct Place {
    Index axis, exponent;
  };

  double correction(double beta) const {
    if (c_.n_ctx_orig == 0) return -INFINITY;
    const double pi = std::acos(-1.0);
    return static_cast<double>(c_.n_dims) *
           std::log(static_cast<double>(c_.n_ctx_orig) / (2 * pi * beta)) /
           (2 * std::log(c_.freq_base));
  }

  Place place(Index p) const {
    if (c_.mode == "normal" || c_.mode == "neox") return {0, p};
    const std::vector<Index>& L = c_.sections;
    const Index q = p % (L[0] + L[1] + L[2] + L[3]);
    if (c_.mode == "imrope") {
      if (q % 3 == 1 && q < 3 * L[1]) return {1, p};
      if (q % 3 == 2 && q < 3 * L[2]) return {2, p};
      if (q % 3 == 0 && q < 3 * L[0]) return {0, p};
      return {3, p};
    }
    const std::vector<Index> starts{0, L[0], L[0] + L[1], L[0] + L[1] + L[2]};
    Index axis = 3;
    while (q < starts[static_cast<std::size_t>(axis)]) --axis;
    while (L[static_cast<std::size_t>(axis)] == 0)
      --axis;  // an empty section begins where the one before it ends
    return {axis, vision_ ? q - starts[static_cast<std::size_t>(axis)] : p};
  }

  Turn turn_of(Index p, Index s) const {
    const Place at = place(p);
    const double position = c_.positions[static_cast<std::size_t>(at.axis * c_.shape[2] + s)];
    const double factor = c_.freq_factors.empty()
                              ? 1.0
                              : static_cast<double>(c_.freq_factors[static_cast<std::size_t>(p)]);
    const double original = position *
                            std::pow(c_.freq_base, -2.0 * static_cast<double>(at.exponent) /
                                                       static_cast<double>(c_.n_dims)) /
                            factor;
    double angle = c_.freq_scale * original;
    double m = c_.attn_factor;
    if (c_.ext_factor != 0) {
      const double ramp =
          1 - std::clamp((static_cast<double>(p) - low_) / std::max(0.001, high_ - low_), 0.0, 1.0);
      angle = angle * (1 - ramp * c_.ext_factor) + original * ramp * c_.ext_factor;
      m *= 1 + 0.1 * std::log(1 / c_.freq_scale);
    }
    return {m * std::cos(angle), (c_.backward ? -m : m) * std::sin(angle)};
  }

  void apply(Turn turn, Index row, Index p, PlainResult& result) const {
    Index i = row + p;
    Index j = i + D_ / 2;
    if (!vision_) {
      i = row + c_.n_offs + (c_.mode == "normal" ? 2 * p : p);
      j = c_.mode == "normal" ? i + 1 : i + c_.n_dims / 2;
    }
    const auto first = static_cast<std::size_t>(i);
    const auto second = static_cast<std::size_t>(j);
    const double x_i = c_.input[first];
    const double x_j = c_.input[second];
    result.y[first] = x_i * turn.cos - x_j * turn.sin;
    result.y[second] = x_i * turn.sin + x_j * turn.cos;
    result.rotated[first] = result.rotated[second] = true;
  }

  const GoldenCase& c_;
  Index D_;
  bool vision_;
  Index pairs_;
  double low_ = 0;
  double high_ = 0;
};

}  // namespace eigen_rope::test
