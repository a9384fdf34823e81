// SPDX-License-Identifier: Apache-2.0
//
// LongRoPE: every pair has a divisor of its own, from one list for short sequences and another for
// long ones.
//
//   rate_k = f_k linear_scale / long_factor_k    if length > original_context
//   rate_k = f_k linear_scale / short_factor_k   otherwise
//   m      = attention_factor sqrt(1 + ln factor / ln original_context), or attention_factor alone
//            (LongRopeMagnitude)
//
// f_k are the powers of powers.hpp.
//
// Source: Ding et al. 2024 (arXiv 2402.13753); Hugging Face's modeling_rope_utils.py.
#pragma once

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "eigen_rope/choices/powers.hpp"
#include "eigen_rope/numbers/detail/parameter.hpp"
#include "eigen_rope/numbers/detail/passive.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The rules for the magnitude m of LongRoPE.
enum class LongRopeMagnitude {
  /// m = attention_factor sqrt(1 + ln factor / ln original_context) for factor > 1, and m =
  /// attention_factor otherwise.
  from_factor,
  /// m = attention_factor, for configurations that give it.
  given,
};
/// Returns the enumerator's name as text: `from_factor`.
///
/// \code{.cpp}
/// std::cout << er::name_of(er::LongRopeMagnitude::given);  // given
/// \endcode
EIGEN_ROPE_API const char* name_of(LongRopeMagnitude magnitude);

/// LongRoPE, which divides the rate of each pair by a number of its own.
///
///     rate_k = f_k linear_scale / long_factor_k    if length > original_context
///     rate_k = f_k linear_scale / short_factor_k   otherwise
///
/// m does not depend on the list. Where a sequence passes original_context all rates change, and
/// cached keys must be moved to the new ones with rerotate(). Hugging Face drops them or keeps them
/// as they are.
///
/// \code{.cpp}
/// er::LongRope scaling;
/// scaling.short_factor.assign(D / 2, 1.0);  // a model's config.json has both lists
/// scaling.long_factor.assign(D / 2, 8.0);
/// scaling.factor = 32.0;
/// const er::Frequencies beyond({D, 10000.0}, scaling, 4097);
/// \endcode
///
/// \see rerotate(), depends_on_length(), \ref scalings "Scalings, with plots"
template <class S = double>
struct LongRope : detail::Parameters<LongRope<S>> {
  static constexpr const char* name = "longrope";  ///< The name in files and on the command line.
  /// True: the rates change with the length of the sequence.
  static constexpr bool uses_length = true;
  /// The names of the parameters that files and the command line must give.
  static constexpr std::array required{"short_factor", "long_factor", "original_context"};
  /// Makes a scaling without divisors, which must still be set.
  LongRope() = default;
  /// Makes a scaling from values in the order of the members: `{short, long, 4096, 32.0}`.
  ///
  /// The context is written as an integer and the factor as a real number, so that neither can
  /// stand for the other.
  LongRope(std::vector<S> short_divisors, std::vector<S> long_divisors,
           detail::Count context = 4096, const detail::RealArgument<S>& stretch = S(1.0),
           LongRopeMagnitude rule = LongRopeMagnitude::from_factor)
      : short_factor(std::move(short_divisors)),
        long_factor(std::move(long_divisors)),
        original_context(context.value()),
        factor(stretch.value()),
        magnitude(rule) {}

  /// The divisors for sequences of up to original_context tokens; exactly one per pair, finite and
  /// not 0.
  std::vector<S> short_factor{};
  /// The divisors for longer sequences; exactly one per pair, finite and not 0.
  std::vector<S> long_factor{};
  /// The number of tokens up to and including which the short list holds; > 0, and > 1 where m
  /// comes from a factor > 1.
  Index original_context = 4096;
  /// The stretched context over the original one; > 0. Only m depends on it. Where a configuration
  /// leaves it out, its reader must fill in that ratio.
  S factor = S(1.0);
  LongRopeMagnitude magnitude = LongRopeMagnitude::from_factor;  ///< The rule for m.

  /// Computes the rates and the magnitude for a sequence of `length` tokens.
  ///
  /// \param powers  the rates before scaling; its own list of factors must be empty
  /// \param length  the number of tokens of the sequence, which chooses the list
  ///
  /// - Errors:   eigen_rope::Error as Powers::rates(), and for lists that are not one non-zero
  ///             number per pair, frequency factors beside them, a factor or context that is not
  ///             positive, a context of 1 where m divides by its logarithm, or a negative length.
  /// - Threads:  safe to call from several threads where S is.
  /// - Error:    that of Powers::rates(); m within (4 + 2 ln factor / ln original_context) u.
  /// - Cost:     O(pairs).
  Rates<S> rates(const Powers<S>& powers, Index length = 0) const;

  /// Calls visit(name, parameter) for every parameter, in the order of the members.
  ///
  /// Several objects are visited together, as by Powers::for_each_parameter().
  template <class Visit, class... Objects>
  static void for_each_parameter(Visit&& visit, Objects&... objects) {
    visit("short_factor", objects.short_factor...);
    visit("long_factor", objects.long_factor...);
    visit("original_context", objects.original_context...);
    visit("factor", objects.factor...);
    visit("magnitude", objects.magnitude...);
  }
};

namespace detail {

EIGEN_ROPE_API void require_valid(const LongRope<>& longrope, const Powers<>& powers, Index length);

}  // namespace detail

template <class S>
Rates<S> LongRope<S>::rates(const Powers<S>& powers, Index length) const {
  using std::exp;
  using std::log;
  const Powers<> values = powers.template cast<double>();
  detail::require_valid(values);
  detail::require_valid(this->template cast<double>(), values, length);
  Powers<S> divided = powers;
  divided.factors = std::vector<S>(length > original_context ? long_factor : short_factor);
  Rates<S> result = divided.rates();
  if (magnitude == LongRopeMagnitude::given || detail::passive(factor) <= 1) return result;
  const S log_factor = log(factor);
  const S log_context = log(detail::constant<S>(DoubleDouble::from_integer(original_context)));
  const S ratio = log_factor / log_context;
  const S square = ratio + S(1.0);
  const S log_square = log(square);
  const S log_root = log_square / S(2.0);
  const S root = exp(log_root);
  const S m = powers.attention_factor * root;
  result.attention_factor = m;
  return result;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
