// SPDX-License-Identifier: Apache-2.0
//
// Cached keys moved to other positions or other frequencies, without the keys they were made from.
//
// A decoder needs this when its cache shifts or loses tokens in the middle, and when the context is
// stretched. One table can also serve all layers:
//
//   eigen_rope::rerotate(k, {f, from}, {f, to}, eigen_rope::split_half);
//   eigen_rope::rerotate(k, {powers, p}, {yarn, p}, eigen_rope::split_half);
//   eigen_rope::Cache<float> table = eigen_rope::rerotation_cache<float>(from, to);
//   eigen_rope::rotate_inplace(k, table, eigen_rope::split_half);
//
//   cos[j, ...] = m_to / m_from cos(t_j)     sin[j, ...] = m_to / m_from sin(t_j)
//   t_j = p_to rate_to,j - p_from rate_from,j
//
// Rotations of a pair commute and their angles add, so a move R_to R_from^-1 is one rotation by the
// difference of the angles. Its table is a table like any other: every pairing, layout, device,
// direction and gradient works with it. Errors add up, one move's worth each, so where it is
// possible move keys from their first placement rather than from where an earlier move left them.
// Values are not rotated and are not moved.
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

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The frequencies and positions that keys were rotated with, or are to be rotated with.
///
/// \code{.cpp}
/// er::Placement now{frequencies, er::Positions::range(28, tokens)};
/// er::Placement then{frequencies, er::Positions::range(0, tokens)};  // 28 tokens further left
/// er::rerotate(k, now, then, er::split_half);
/// \endcode
struct Placement {
  Frequencies frequencies;  ///< The rate of each pair, in radians per token, and the magnitude.
  Positions positions;      ///< The position of each token.
};

/// Makes the table whose rotation moves keys from one placement to another.
///
///     cos[j, ...] = m cos(t_j)     sin[j, ...] = m sin(t_j)     m = m_to / m_from
///     t_j = p_to rate_to,j - p_from rate_from,j
///
/// Rotating keys that were rotated under `from` by this table gives what they would be under `to`.
/// The two have the same numbers of pairs, tokens and batches; their rates, magnitudes and Sections
/// may differ. The outer extents are those of Cache. With equal rates, however, the token axis has
/// extent 1 if all tokens move by the same distance, and so has the batch axis if all sequences do;
/// such a table serves any number of tokens. Where m_to is not 0, the table from `to` to `from` is
/// the inverse.
///
/// \code{.cpp}
/// er::Placement now{frequencies, er::Positions::range(28, tokens)};
/// er::Placement then{frequencies, er::Positions::range(0, tokens)};
/// const er::Cache<float> move = er::rerotation_cache<float>(now, then);
/// er::rotate_inplace(k, move, er::split_half);  // and the keys of every other layer
/// \endcode
///
/// \tparam Scalar  float, double, long double, Eigen::half or Eigen::bfloat16
/// \param from     the placement that the keys have now
/// \param to       the placement that they are to have
/// \param layout   which outer axes of the keys count tokens and sequences
///
/// - Errors:   eigen_rope::Error if the numbers of pairs, tokens or batches differ, if from's
///             attention factor is 0 (nothing is left of the keys), if m is not finite, and under
///             the conditions of Cache's constructor.
/// - Threads:  a pure function.
/// - Error:    of every entry against the real-number formula, with m either 0 or at least 2^-900
///             in size: at most half an ulp of the stored value + (|p_from| + |p_to|) * 2^-63 *
///             max(1, |m|), for all positions and rates that Cache takes.
/// - Cost:     O(batches * tokens * pairs). With equal rates or equal positions it takes at most
///             the time of a Cache of such positions, otherwise up to 16 times that.
///
/// \see rerotate(), \ref cookbook "Cookbook"
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

/// The pairing of rows that were rotated with `pairing`: where the members of pairs lie now.
inline Pairing pairing_of_rotated(Pairing pairing, Index head_size) {
  if (pairing.kind() != PairKind::interleaved_to_split_half) return pairing;
  Pairing rotated = split_half.with_offset(pairing.offset());
  if (pairing.axis()) rotated = rotated.along(*pairing.axis());
  if (pairing.offset() < 0 || pairing.offset() > head_size)
    return rotated;  // refused where it is used
  return rotated.with_rotary_dims(pairing.rotary_dims(head_size));
}

/// The table for keys of this shape. For 16-bit keys it is one of floats, so that its rounding is
/// no part of the error.
template <class Scalar>
Cache<Widened<Scalar>> checked_rerotation(const Shape& k, const Placement& from,
                                          const Placement& to, const Layout& layout) {
  require_placed(k, from.positions, layout);
  return rerotation_cache<Widened<Scalar>>(from, to, layout);
}

}  // namespace detail

/// Moves the keys of a strided view from one placement to another, in place.
///
///     k = R_to R_from^-1 k
///
/// Large moves let rounding grow with the square root of their number: 1000 of them leave the worst
/// pair of float keys 40 eps off, where eps = 2^(1 - digits) of k's scalar. Repeating one small
/// step lets it grow with the number itself, to 630 eps after 1000 steps of one token, for two
/// reasons. A table row that is read again and again is off by the same amount each time; a table
/// of a wider scalar helps, for float keys
/// `rotate_inplace(k, rerotation_cache<double>(from, to), pairing)`. And a pair that turns by less
/// than half an ulp a step does not turn at all; there only a move from the first placement helps.
///
/// \code{.cpp}
/// er::Yarn stretched;
/// stretched.factor = 4.0;
/// stretched.original_context = 4096;
/// er::Placement trained{frequencies, positions};
/// er::Placement longer{er::Frequencies({D}, stretched), positions};
/// er::rerotate(er::strided_view(k), trained, longer, er::split_half);
/// \endcode
///
/// \param k        [D, ...], outer axes as `layout` says. Its token and batch axes have the extents
///                 of the positions where those are not 1. Its scalar is float, double, long
///                 double, Eigen::half or Eigen::bfloat16
/// \param from     the placement that the keys have now
/// \param to       the placement that they are to have
/// \param pairing  the pairing that the keys were rotated with. interleaved_to_split_half has left
///                 them in split-half pairs, and they are moved as such; a caller of
///                 rerotation_cache() and rotate_inplace() passes split_half there
/// \param layout   which outer axes of k count tokens and sequences
/// \param device   rows are split among its threads, with the same result for any number of them
///
/// - Errors:   eigen_rope::Error, before anything is written, if an axis of k does not fit the
///             positions, and under the conditions of rerotation_cache() and rotate_inplace().
/// - Threads:  several threads may move keys that do not overlap at the same time.
/// - Error:    with |pair| the Euclidean norm of a pair and m = m_to / m_from, one move is off by
///             at most (B eps + phase) |m| |pair|, where B = 1.75, or 0.51 for 16-bit scalars, and
///             phase = (|p_from| + |p_to|) 2^-62 max(1, 1/|m|). The rotation from the origin is
///             such a move too. After n moves keys therefore differ from keys rotated once by at
///             most n + 2 times that, as long as n eps is small and nothing underflows.
/// - Cost:     the table, then one pass over k.
///
/// \see \ref cookbook "Cookbook", \ref accuracy "Accuracy"
template <class Scalar>
void rerotate(const StridedView<Scalar>& k, const Placement& from, const Placement& to,
              Pairing pairing, const Layout& layout = Layout::bsnd(),
              const Device& device = Device()) {
  const Shape shape = detail::features_first(k, pairing).shape;
  rotate_inplace(k, detail::checked_rerotation<Scalar>(shape, from, to, layout),
                 detail::pairing_of_rotated(pairing, shape[0]), Direction::forward, device);
}

/// Moves the keys of a whole Eigen::Tensor or TensorMap from one placement to another, in place.
///
/// Parameters, errors, error bound and cost are those of rerotate() for a strided view.
///
/// \code{.cpp}
/// er::Placement now{frequencies, er::Positions::range(28, tokens)};
/// er::Placement then{frequencies, er::Positions::range(0, tokens)};
/// er::rerotate(k, now, then, er::split_half, er::Layout::bsnd(), pool);
/// \endcode
template <class K, class Device = Eigen::DefaultDevice>
void rerotate(Eigen::TensorBase<K, Eigen::WriteAccessors>& k, const Placement& from,
              const Placement& to, Pairing pairing, const Layout& layout = Layout::bsnd(),
              const Device& device = Device()) {
  constexpr int order = Eigen::internal::traits<K>::Layout;
  Shape shape = detail::shape_of<order>(static_cast<const K&>(k).dimensions());
  shape = detail::features_first(
      shape, detail::feature_place(pairing, shape.rank(), detail::order_of_layout<order>));
  rotate_inplace(k, detail::checked_rerotation<typename K::Scalar>(shape, from, to, layout),
                 detail::pairing_of_rotated(pairing, shape[0]), Direction::forward, device);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
