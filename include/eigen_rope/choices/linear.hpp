// SPDX-License-Identifier: Apache-2.0
//
// Position interpolation, and scalings of the first pairs alone, on top of the powers f_k of
// powers.hpp:
//
//   default       rate_k = f_k linear_scale
//   linear        rate_k = f_k linear_scale / factor
//   proportional  rate_k = f_k linear_scale / factor for k < rotated_pairs, 0 behind (p-RoPE)
//
// Sources: Chen et al. 2023 (arXiv 2306.15595); Barbero et al. 2024 (arXiv 2410.06205); Hugging
// Face's modeling_rope_utils.py.
#pragma once

#include <array>
#include <cstddef>

#include "eigen_rope/choices/powers.hpp"
#include "eigen_rope/numbers/detail/integral.hpp"
#include "eigen_rope/numbers/detail/parameter.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope {

/// The powers alone.
template <class S = double>
struct Unscaled : detail::Parameters<Unscaled<S>> {
  static constexpr const char* name = "default";  ///< Its name in files and on the command line.
  /// Whether rates change with the length of the sequence.
  static constexpr bool uses_length = false;
  /// Parameters without a usual value.
  static constexpr std::array<const char*, 0> required{};
  /// powers.rates().
  Rates<S> rates(const Powers<S>& powers, Index length = 0) const;

  /// Visits every parameter of one or more objects by name, in the order of the members.
  template <class Visit, class... Objects>
  static void for_each_parameter(Visit&& /*visit*/, Objects&... /*objects*/) {}
};

/// Dividing all rates (position interpolation), Hugging Face's linear.
template <class S = double>
struct Linear : detail::Parameters<Linear<S>> {
  static constexpr const char* name = "linear";  ///< Its name in files and on the command line.
  /// Whether rates change with the length of the sequence.
  static constexpr bool uses_length = false;
  /// Parameters without a usual value.
  static constexpr std::array required{"factor"};
  Linear() = default;
  /// {8.0}
  // NOLINTNEXTLINE(google-explicit-constructor): given in braces
  Linear(const S& divisor) : factor(divisor) {}

  /// > 0.
  S factor = S(1.0);
  static_assert(!detail::is_whole<S>,
                "[rope] the factor must be a floating-point or differentiable number: write 4.0 "
                "instead of 4");

  /// f_k linear_scale / factor.
  ///
  /// - Errors:   eigen_rope::Error as powers.rates(), and for a factor that is not positive.
  /// - Error:    that of the powers and u more.
  Rates<S> rates(const Powers<S>& powers, Index length = 0) const;

  /// Visits every parameter of one or more objects by name, in the order of the members.
  template <class Visit, class... Objects>
  static void for_each_parameter(Visit&& visit, Objects&... objects) {
    visit("factor", objects.factor...);
  }
};

/// Dividing the rates of the first pairs and stopping the rest, or dividing all.
template <class S = double>
struct Proportional : detail::Parameters<Proportional<S>> {
  /// Its name in files and on the command line.
  static constexpr const char* name = "proportional";
  /// Whether rates change with the length of the sequence.
  static constexpr bool uses_length = false;
  /// Parameters without a usual value.
  static constexpr std::array required{"rotated_pairs"};
  Proportional() = default;
  /// In the order of the members, the factor written as a real number: {8.0, 32}.
  // NOLINTNEXTLINE(google-explicit-constructor): given in braces
  Proportional(const detail::RealArgument<S>& divisor, detail::Count pairs = 0)
      : factor(divisor.value()), rotated_pairs(pairs.value()) {}

  /// > 0.
  S factor = S(1.0);
  /// Pairs that turn, from the first; 0 to rotary_dims / 2. The others have rate 0, cos = m and sin
  /// = 0: m applies to them too.
  Index rotated_pairs = 0;

  /// f_k linear_scale / factor for the first pairs, 0 behind them.
  ///
  /// - Errors:   as Linear, and if there are not so many pairs.
  /// - Error:    as Linear.
  Rates<S> rates(const Powers<S>& powers, Index length = 0) const;

  /// Visits every parameter of one or more objects by name, in the order of the members.
  template <class Visit, class... Objects>
  static void for_each_parameter(Visit&& visit, Objects&... objects) {
    visit("factor", objects.factor...);
    visit("rotated_pairs", objects.rotated_pairs...);
  }
};

/// floor(head_dims fraction), the rotary dims of partial_rotary_factor; fraction in (0, 1],
/// head_dims > 0. The window is the pairing's (Pairing::with_rotary_dims), the powers' dims are
/// these.
///
/// - Errors:   eigen_rope::Error where the result is odd or 0: Hugging Face then makes one more
///             rate than it has pairs.
EIGEN_ROPE_API Index partial_rotary_dims(Index head_dims, double fraction);

/// floor(floor(head_dims fraction) / 2), the pairs that turn in a proportional scaling; the powers'
/// dims are all head_dims. fraction in [0, 1], head_dims > 0, else eigen_rope::Error.
EIGEN_ROPE_API Index proportional_pairs(Index head_dims, double fraction);

namespace detail {

EIGEN_ROPE_API void require_valid(const Proportional<>& proportional, Index rotary_dims);

}  // namespace detail

template <class S>
Rates<S> Unscaled<S>::rates(const Powers<S>& powers, Index /*length*/) const {
  return powers.rates();
}

template <class S>
Rates<S> Linear<S>::rates(const Powers<S>& powers, Index length) const {
  return Proportional<S>(factor, powers.rotary_dims / 2).rates(powers, length);
}

template <class S>
Rates<S> Proportional<S>::rates(const Powers<S>& powers, Index /*length*/) const {
  detail::require_valid(powers.template cast<double>());
  detail::require_valid(this->template cast<double>(), powers.rotary_dims);
  Rates<S> result = powers.rates();
  const auto rotated = static_cast<std::size_t>(rotated_pairs);
  for (std::size_t k = 0; k < result.rates.size(); ++k) {
    S rate = S(0.0);
    if (k < rotated) rate = result.rates[k] / factor;
    result.rates[k] = rate;
  }
  return result;
}

}  // namespace eigen_rope
