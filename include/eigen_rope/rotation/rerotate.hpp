// SPDX-License-Identifier: Apache-2.0
//
// Cached keys moved to other positions or other frequencies: R_to R_from^-1, without the keys they
// were made from.
//
// Where the cache shifts, or loses tokens in the middle; where the context is stretched; and the
// same with one table for all layers:
//
//   eigen_rope::rerotate(k, {f, from}, {f, to}, eigen_rope::split_half);
//   eigen_rope::rerotate(k, {powers, p}, {yarn, p}, eigen_rope::split_half);
//   eigen_rope::Cache<float> table = eigen_rope::rerotation_cache<float>(from, to);
//   eigen_rope::rotate_inplace(k, table, eigen_rope::split_half);
//
//   cos[j, ...] = m_to / m_from cos(t_j)     sin[j, ...] = m_to / m_from sin(t_j)
//   t_j = p_to rate_to,j - p_from rate_from,j
//
// Rotations of a pair commute and their angles add, so a move is one rotation by the difference,
// and its table is a table like any other: every pairing, layout, device, direction and gradient
// works with it. Prefer moving from the keys' first placement to moving moved keys again, where
// both are possible: errors add up, one move's worth each. Not for values, which are not rotated.
#pragma once

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/layout.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/choices/positions.hpp"
#include "eigen_rope/numbers/detail/scalars.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/rotation/detail/tensor.hpp"
#include "eigen_rope/rotation/rotate_to.hpp"
#include "eigen_rope/tables/cache.hpp"

namespace eigen_rope {

/// What keys were rotated by, or are to be: a table's two arguments.
struct Placement {
  Frequencies frequencies;  ///< How fast pairs turn there.
  Positions positions;      ///< Where the tokens stand there.
};

/// The table that takes keys rotated under `from` to what they would be under `to`.
///
/// Both have the same numbers of pairs, tokens and batches; their rates, magnitudes and Sections
/// may differ. Outer extents are those of Cache, except that with equal rates the token axis has
/// extent 1 if all tokens move by the same distance, and the batch axis too if all sequences do:
/// such a table serves any number of tokens. The inverse, where m_to is not 0, is the table from
/// `to` to `from`.
///
/// Scalar: float, double, long double, Eigen::half, Eigen::bfloat16.
///
/// - Errors:   eigen_rope::Error if the numbers of pairs, tokens or batches differ, if from's
///             attention factor is 0 (nothing is left of the keys), if m is not finite, and as
///             Cache does.
/// - Threads:  a pure function.
/// - Error:    of every entry against the real-number formula, with m = m_to / m_from either 0 or
///             at least 2^-900 in size: at most half an ulp of the stored value + (|p_from| +
///             |p_to|) * 2^-63 * max(1, |m|), for all positions and rates Cache takes.
/// - Cost:     O(batches * tokens * pairs): with equal rates or equal positions in Cache's time for
///             such positions or less, otherwise up to 16 times that.
template <class Scalar>
Cache<Scalar> rerotation_cache(const Placement& from, const Placement& to,
                               const Layout& layout = Layout::bsnd());

extern template EIGEN_ROPE_API Cache<float> rerotation_cache(const Placement&, const Placement&,
                                                             const Layout&);
extern template EIGEN_ROPE_API Cache<double> rerotation_cache(const Placement&, const Placement&,
                                                              const Layout&);
extern template EIGEN_ROPE_API Cache<long double> rerotation_cache(const Placement&,
                                                                   const Placement&, const Layout&);
extern template EIGEN_ROPE_API Cache<Eigen::half> rerotation_cache(const Placement&,
                                                                   const Placement&, const Layout&);
extern template EIGEN_ROPE_API Cache<Eigen::bfloat16> rerotation_cache(const Placement&,
                                                                       const Placement&,
                                                                       const Layout&);

namespace detail {

/// Throws eigen_rope::Error unless the extents of k's token and batch axes are those of
/// `positions`, or those are 1.
EIGEN_ROPE_API void require_placed(const Shape& k, const Positions& positions,
                                   const Layout& layout);

/// Where the members of pairs lie after a rotation.
inline Pairing pairing_of_rotated(Pairing pairing, Index head_size) {
  if (pairing.kind() != PairKind::interleaved_to_split_half) return pairing;
  const Pairing rotated = split_half.with_offset(pairing.offset());
  if (pairing.offset() < 0 || pairing.offset() > head_size)
    return rotated;  // refused where it is used
  return rotated.with_rotary_dims(pairing.rotary_dims(head_size));
}

/// 16-bit keys read a table of floats: its rounding is then no part of the error.
template <class Scalar>
Cache<Widened<Scalar>> checked_rerotation(const Shape& k, const Placement& from,
                                          const Placement& to, const Layout& layout) {
  require_placed(k, from.positions, layout);
  return rerotation_cache<Widened<Scalar>>(from, to, layout);
}

}  // namespace detail

/// Moves the keys of a strided view from one placement to another, where they lie.
///
/// \param k        [D, ...], outer axes as `layout` says; extents of its token and batch axes as in
///                 the positions, where those are not 1; float, double, long double, Eigen::half,
///                 Eigen::bfloat16
/// \param pairing  the one the keys were rotated with; interleaved_to_split_half has left them in
///                 split-half pairs, and they are moved as such (with rerotation_cache and
///                 rotate_inplace that is the caller's to say)
/// \param device   rows are split among its threads, with the same result for any number
///
/// - Errors:   eigen_rope::Error, before anything is written, as rerotation_cache() and
///             rotate_inplace().
/// - Threads:  as rotate_inplace().
/// - Error:    with eps = 2^(1 - digits) of k's scalar, |pair| the Euclidean norm of a pair and
///             m = m_to / m_from, one move is off by at most (B eps + phase) |m| |pair|,
///             phase = (|p_from| + |p_to|) 2^-62 max(1, 1/|m|), B = 1.75, and 0.51 for 16-bit
///             scalars. A rotation from the origin is such a move too. So after n moves keys differ
///             from ones rotated once by at most n + 2 times that, as long as n eps is small
///             (underflow aside). Rounding grows as sqrt(n) where moves are large: 1000 of them
///             leave the worst pair of float keys 40 eps off. It grows as n where one small step is
///             repeated, 630 eps after 1000 steps of one token: a table row read over and over is
///             always off by the same (a table of a wider scalar mends that:
///             `rotate_inplace(k, rerotation_cache<double>(from, to), pairing)` for float keys),
///             and a pair that turns by less than half an ulp a step does not turn at all (only
///             moving from the first placement mends that).
/// - Cost:     the table, then one pass over k.
template <class Scalar>
void rerotate(const StridedView<Scalar>& k, const Placement& from, const Placement& to,
              Pairing pairing, const Layout& layout = Layout::bsnd(),
              const Device& device = Device()) {
  rotate_inplace(k, detail::checked_rerotation<Scalar>(k.shape, from, to, layout),
                 detail::pairing_of_rotated(pairing, k.shape[0]), Direction::forward, device);
}

/// The same for a whole Eigen::Tensor or TensorMap.
template <class K, class Device = Eigen::DefaultDevice>
void rerotate(Eigen::TensorBase<K, Eigen::WriteAccessors>& k, const Placement& from,
              const Placement& to, Pairing pairing, const Layout& layout = Layout::bsnd(),
              const Device& device = Device()) {
  const Shape shape =
      detail::shape_of<Eigen::internal::traits<K>::Layout>(static_cast<const K&>(k).dimensions());
  rotate_inplace(k, detail::checked_rerotation<typename K::Scalar>(shape, from, to, layout),
                 detail::pairing_of_rotated(pairing, shape[0]), Direction::forward, device);
}

}  // namespace eigen_rope
