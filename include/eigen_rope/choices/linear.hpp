// SPDX-License-Identifier: Apache-2.0
//
// Scalings that divide rates by one factor: no scaling, position interpolation, and scalings of the
// first pairs alone.
//
//   default       rate_k = f_k linear_scale
//   linear        rate_k = f_k linear_scale / factor
//   proportional  rate_k = f_k linear_scale / factor for k < rotated_pairs, 0 behind (p-RoPE)
//
// f_k are the powers of powers.hpp, and m is their attention factor.
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

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The scaling that changes nothing, so that the rates are those of the powers.
///
/// It stands for "no scaling" where a Scaling is asked for.
///
/// \code{.cpp}
/// const er::Scaling none = er::Unscaled();
/// const er::Frequencies f({D, 10000.0}, none);  // as Frequencies::powers() makes them
/// \endcode
///
/// \see Scaling, Frequencies::powers()
template <class S = double>
struct Unscaled : detail::Parameters<Unscaled<S>> {
  /// The name of the scaling in files and on the command line.
  static constexpr const char* name = "default";
  /// False: the rates do not change with the length of the sequence.
  static constexpr bool uses_length = false;
  /// The names of the parameters that files and the command line must give: none.
  static constexpr std::array<const char*, 0> required{};
  /// Computes the rates of the powers.
  ///
  /// \param powers  the rates before scaling
  /// \param length  it does not matter
  ///
  /// Errors, threads, error and cost are those of Powers::rates().
  Rates<S> rates(const Powers<S>& powers, Index length = 0) const;

  /// Calls nothing, because this scaling has no parameters.
  template <class Visit, class... Objects>
  static void for_each_parameter(Visit&& /*visit*/, Objects&... /*objects*/) {}
};

/// Position interpolation, which divides all rates by a factor; Hugging Face's linear.
///
///     rate_k = f_k linear_scale / factor
///
/// A factor of 4 lets a model reach four times as far with the angles it has seen, but neighbours
/// are harder to tell apart.
///
/// \code{.cpp}
/// const er::Frequencies longer({D, 10000.0}, er::Linear{4.0});
/// \endcode
///
/// \see \ref scalings "Scalings, with plots"
template <class S = double>
struct Linear : detail::Parameters<Linear<S>> {
  static constexpr const char* name = "linear";  ///< The name in files and on the command line.
  /// False: the rates do not change with the length of the sequence.
  static constexpr bool uses_length = false;
  /// The names of the parameters that files and the command line must give.
  static constexpr std::array required{"factor"};
  /// Makes a scaling whose factor is 1, which changes nothing.
  Linear() = default;
  /// Makes a scaling from its factor: `{8.0}`.
  // NOLINTNEXTLINE(google-explicit-constructor): given in braces
  Linear(const S& divisor) : factor(divisor) {}

  /// The number that divides every rate; > 0.
  S factor = S(1.0);
  static_assert(!detail::is_whole<S>,
                "[rope] the factor must be a floating-point or differentiable number: write 4.0 "
                "instead of 4");

  /// Computes the rates f_k linear_scale / factor.
  ///
  /// \param powers  the rates before scaling
  /// \param length  it does not matter
  ///
  /// - Errors:   eigen_rope::Error as Powers::rates(), and for a factor that is not positive.
  /// - Threads:  safe to call from several threads where S is.
  /// - Error:    that of Powers::rates() and u more.
  /// - Cost:     O(pairs).
  Rates<S> rates(const Powers<S>& powers, Index length = 0) const;

  /// Calls visit(name, parameter) for every parameter, in the order of the members.
  ///
  /// Several objects are visited together, as by Powers::for_each_parameter().
  template <class Visit, class... Objects>
  static void for_each_parameter(Visit&& visit, Objects&... objects) {
    visit("factor", objects.factor...);
  }
};

/// Proportional scaling (p-RoPE), which divides the rates of the first pairs and stops the others.
///
///     rate_k = f_k linear_scale / factor   for k < rotated_pairs
///     rate_k = 0                           for the other pairs
///
/// A pair with rate 0 has cos = m and sin = 0. Its elements do not turn, but m applies to them too.
///
/// \code{.cpp}
/// const er::Index turning = er::proportional_pairs(512, 0.25);  // 64 of 256 pairs
/// const er::Frequencies f({512, 1000000.0}, er::Proportional{1.0, turning});
/// \endcode
///
/// \see proportional_pairs(), \ref scalings "Scalings, with plots"
template <class S = double>
struct Proportional : detail::Parameters<Proportional<S>> {
  /// The name of the scaling in files and on the command line.
  static constexpr const char* name = "proportional";
  /// False: the rates do not change with the length of the sequence.
  static constexpr bool uses_length = false;
  /// The names of the parameters that files and the command line must give.
  static constexpr std::array required{"rotated_pairs"};
  /// Makes a scaling in which no pair turns, until rotated_pairs is set.
  Proportional() = default;
  /// Makes a scaling from numbers in the order of the members: `{8.0, 32}`.
  ///
  /// The factor is written as a real number and the pairs as an integer, so that neither can stand
  /// for the other.
  // NOLINTNEXTLINE(google-explicit-constructor): given in braces
  Proportional(const detail::RealArgument<S>& divisor, detail::Count pairs = 0)
      : factor(divisor.value()), rotated_pairs(pairs.value()) {}

  /// The number that divides the rates of the pairs that turn; > 0.
  S factor = S(1.0);
  /// The number of pairs that turn, counted from the first; 0 to rotary_dims / 2.
  Index rotated_pairs = 0;

  /// Computes f_k linear_scale / factor for the first pairs, and 0 for the others.
  ///
  /// \param powers  the rates before scaling
  /// \param length  it does not matter
  ///
  /// - Errors:   eigen_rope::Error as Powers::rates(), for a factor that is not positive, and if
  ///             there are not so many pairs.
  /// - Threads:  safe to call from several threads where S is.
  /// - Error:    that of Powers::rates() and u more.
  /// - Cost:     O(pairs).
  Rates<S> rates(const Powers<S>& powers, Index length = 0) const;

  /// Calls visit(name, parameter) for every parameter, in the order of the members.
  ///
  /// Several objects are visited together, as by Powers::for_each_parameter().
  template <class Visit, class... Objects>
  static void for_each_parameter(Visit&& visit, Objects&... objects) {
    visit("factor", objects.factor...);
    visit("rotated_pairs", objects.rotated_pairs...);
  }
};

/// Returns the number of rotated dims of a head of which only a share is rotated, as Hugging Face's
/// partial_rotary_factor gives it.
///
///     floor(head_dims fraction)
///
/// The result is the width of the window, for Pairing::with_rotary_dims() and Powers::rotary_dims.
///
/// \code{.cpp}
/// const er::Index dims = er::partial_rotary_dims(80, 0.4);  // 32
/// const er::Pairing pairing = er::split_half.with_rotary_dims(dims);
/// const er::Frequencies f = er::Frequencies::powers({dims, 10000.0});
/// \endcode
///
/// \param head_dims  the number of elements of a head; > 0
/// \param fraction   the share that is rotated; > 0, at most 1
///
/// - Errors:   eigen_rope::Error if head_dims or fraction is out of range, and if the result is odd
///             or 0. (For an odd one Hugging Face makes one more rate than it has pairs.)
EIGEN_ROPE_API Index partial_rotary_dims(Index head_dims, double fraction);

/// Returns the number of pairs that turn in a proportional scaling of a head.
///
///     floor(floor(head_dims fraction) / 2)
///
/// The result is Proportional::rotated_pairs; Powers::rotary_dims is then all of head_dims.
///
/// \code{.cpp}
/// const er::Proportional scaling{1.0, er::proportional_pairs(512, 0.25)};  // 64 pairs
/// \endcode
///
/// \param head_dims  the number of elements of a head; > 0
/// \param fraction   the share that turns; 0 to 1
///
/// - Errors:   eigen_rope::Error if head_dims or fraction is out of range.
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

}  // namespace eigen_rope::EIGEN_ROPE_ABI
