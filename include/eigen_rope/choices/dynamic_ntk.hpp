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
// The rule is Hugging Face's dynamic_frequency_update: a sequence longer than any before it gets
// the base of its length; one shorter than the original context gets the original base back, if
// that had changed; in between the base of the longest stays. Hugging Face leaves the keys it has
// cached as they were. The formula is in ntk.hpp; the cache of keys is the caller's.
#pragma once

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/scaling.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope {

/// What a change of frequencies means for keys rotated before it.
enum class CachedKeys {
  /// The frequencies are those of the last update.
  keep,
  /// They changed: keys of the same sequence must be moved to the new ones (rerotate.hpp), or be
  /// made again.
  rerotate,
};

/// A value; copies are independent. Not safe to update while another thread reads it.
class EIGEN_ROPE_API DynamicNtk {
 public:
  /// Throws eigen_rope::Error as DynamicNtkScaling::rates.
  DynamicNtk(const Powers<>& powers, const DynamicNtkScaling<>& scaling);

  /// `length` is the number of tokens, the new ones included (largest position + 1).
  ///
  /// - Errors:   eigen_rope::Error if `length` is negative or so large that the base overflows;
  ///             nothing has changed then.
  /// - Cost:     O(pairs) when the frequencies change, otherwise O(1).
  CachedKeys update(Index length);

  const Frequencies& frequencies() const { return frequencies_; }  ///< Those of the last update.
  /// The length the frequencies are those of: the original context or more.
  Index length() const { return length_; }

 private:
  Powers<> powers_;
  DynamicNtkScaling<> scaling_;
  Index length_;
  Frequencies frequencies_;
};

}  // namespace eigen_rope
