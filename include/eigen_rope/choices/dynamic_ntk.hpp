// SPDX-License-Identifier: Apache-2.0
//
// The frequencies of a growing sequence under dynamic NTK scaling, and whether cached keys are
// still rotated by them.
//
//   eigen_rope::DynamicNtk ntk({128}, {10.0, 2048});    up to 2048 tokens: the powers themselves
//   const eigen_rope::Frequencies before = ntk.frequencies();
//   if (ntk.update(length) == eigen_rope::CachedKeys::rerotate) {
//     eigen_rope::rerotate(k, {before, p}, {ntk.frequencies(), p}, eigen_rope::split_half);
//   }
//
// The rule is Hugging Face's dynamic_frequency_update. A sequence that is longer than any before it
// gets the base of its length. A sequence shorter than the original context gets the original base
// back, if it had changed. In between, the base of the longest sequence stays. Hugging Face leaves
// the keys it has cached as they were. The formula is in ntk.hpp, and the caller owns the cache of
// keys.
#pragma once

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/scaling.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// What an update of the frequencies means for keys that were rotated before it.
enum class CachedKeys {
  /// The frequencies did not change, and cached keys stay as they are.
  keep,
  /// The frequencies changed. Cached keys of the same sequence must be moved to the new ones with
  /// rerotate(), or be made again.
  rerotate,
};

/// The frequencies of a sequence under dynamic NTK scaling, which change as the sequence grows.
///
/// The object remembers the length that its frequencies are for. It begins with the original
/// context, up to which nothing is scaled, and copies are independent.
///
/// \code{.cpp}
/// er::DynamicNtk ntk({D, 10000.0}, {4.0, 2048});
/// const er::Frequencies before = ntk.frequencies();
/// if (ntk.update(4096) == er::CachedKeys::rerotate) {
///   er::rerotate(k, {before, positions}, {ntk.frequencies(), positions}, er::split_half);
/// }
/// \endcode
///
/// - Threads:  update() must not run while another thread reads the object; reading it from several
///             threads is safe.
///
/// \see DynamicNtkScaling, rerotate(), \ref pitfalls "Pitfalls"
class EIGEN_ROPE_API DynamicNtk {
 public:
  /// Makes the frequencies for sequences of up to original_context tokens, which are those of the
  /// powers.
  ///
  /// \param powers   the rates before scaling
  /// \param scaling  the factor and the original context
  ///
  /// - Errors:   eigen_rope::Error as DynamicNtkScaling::rates().
  /// - Cost:     O(pairs).
  DynamicNtk(const Powers<>& powers, const DynamicNtkScaling<>& scaling);

  /// Updates the frequencies for a sequence of `length` tokens, and returns whether cached keys
  /// must be rotated again.
  ///
  /// A length that is asked for ahead of time, in steps of 16 tokens for example, changes the
  /// frequencies less often.
  ///
  /// \code{.cpp}
  /// er::DynamicNtk ntk({D, 10000.0}, {4.0, 2048});
  /// const bool moved = ntk.update(2049) == er::CachedKeys::rerotate;  // true
  /// \endcode
  ///
  /// \param length  the number of tokens, the new ones included (the largest position + 1)
  ///
  /// - Errors:   eigen_rope::Error if `length` is negative or so large that the base overflows;
  ///             nothing has changed then.
  /// - Cost:     O(pairs) when the frequencies change, otherwise O(1).
  CachedKeys update(Index length);

  /// Returns the frequencies of the last update, or those of the powers before the first.
  const Frequencies& frequencies() const { return frequencies_; }
  /// Returns the length that the frequencies are for, which is at least the original context.
  Index length() const { return length_; }

 private:
  Powers<> powers_;
  DynamicNtkScaling<> scaling_;
  Index length_;
  Frequencies frequencies_;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI
