// SPDX-License-Identifier: Apache-2.0
//
// xPos (Sun et al. 2022, arXiv 2212.10554): besides turning, queries shrink and keys grow with
// their position, pair by pair.
//
//   zeta_k = (2k / d + gamma) / (1 + gamma),  d = 2 pairs   power = (position - center) /
//                                                           scale_base
//   query: m zeta_k^power cos(t), m zeta_k^power sin(t)     key: with zeta_k^-power instead
//
//   eigen_rope::Cache<float> of_q = eigen_rope::xpos_cache<float>(f, positions, {512},
//       eigen_rope::XposSide::query);
//   eigen_rope::Cache<float> of_k = eigen_rope::xpos_cache<float>(f, positions, {512},
//       eigen_rope::XposSide::key);
//
// q.k gets zeta_k^((p_q - p_k) / scale_base) times each pair's share: it depends on the distance
// alone, whatever the center, and fades with it. Only the table is special: rotate, inverse,
// gradients() take it like any other, entry by entry. Not a kind of Frequencies, which have one m
// for all tokens; and q and k need a table each, so not for calls that rotate both by one.
// xpos_gradients.hpp has the parameters.
#pragma once

#include <Eigen/Core>
#include <iosfwd>
#include <string>
#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/layout.hpp"
#include "eigen_rope/choices/positions.hpp"
#include "eigen_rope/numbers/double_double.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/tables/cache.hpp"

namespace eigen_rope {

/// The parameters of xPos's magnitudes.
struct Xpos {
  /// Tokens in which a pair changes by its zeta; finite, > 0.
  double scale_base = 512;
  /// > 0; the larger, the less pairs differ. 0.4 is the paper's and every implementation's.
  double gamma = 0.4;
  /// The position without a magnitude of its own; finite. It must be the same for all queries and
  /// keys that meet: flash-attention takes half the cached length, so keys cached before do not fit
  /// those after. What it is does not matter, but for the range of magnitudes.
  double center = 0;

  /// `xpos:scale_base=512,gamma=0.4,center=0`
  EIGEN_ROPE_API std::string text() const;

  /// The same parameters.
  friend bool operator==(const Xpos& a, const Xpos& b) {
    return a.scale_base == b.scale_base && a.gamma == b.gamma && a.center == b.center;
  }
  friend bool operator!=(const Xpos& a, const Xpos& b) { return !(a == b); }
  /// Writes text().
  friend EIGEN_ROPE_API std::ostream& operator<<(std::ostream& stream, const Xpos& xpos);
};

/// Whose magnitudes: queries shrink with their position, keys grow.
enum class XposSide { query, key };

/// The table of the queries or of the keys, of Cache's extents. A pair on several axes (Sections)
/// takes its own axis's position. The same entry is the same bits in every table.
///
/// Moving keys: with the same rates, those rotated at p_from are taken to p_to by the table of the
/// distances p_to - p_from, with m = 1 and center 0; with the same positions by rerotation_cache,
/// as magnitudes do not depend on rates. rerotate() knows of no xPos and must not be used where
/// positions differ.
///
/// Scalar: float, double, long double, Eigen::half, Eigen::bfloat16.
///
/// - Errors:   eigen_rope::Error as Cache; for a scale base or gamma that is not positive; for an
///             attention factor of 0; and where a magnitude leaves the range in which a rotation by
///             it can be inverted: 2^62 and 2^-62 for float and bfloat16, 2^14 and 2^-14 for half,
///             2^500 and 2^-500 for the others. With the published parameters that is at least
///             17500, 3900 and 141000 tokens from the center.
/// - Threads:  a pure function.
/// - Error:    of every entry against the real-number formula, with M the size of its magnitude and
///             |position| <= 2^31: at most half an ulp of the stored value + |position| * 2^-63 *
///             max(1, M) + (1 + |power| max(1, |ln zeta_k|)) * 2^-95 * M.
/// - Cost:     O(batches * tokens * pairs): up to twice the time of a Cache<double> for many whole
///             positions, 10 times that for fractional ones, 4 microseconds a pair for a single
///             token: a decoder makes the table of its context once.
template <class Scalar>
Cache<Scalar> xpos_cache(const Frequencies& frequencies, const Positions& positions,
                         const Xpos& xpos, XposSide side, const Layout& layout = Layout::bsnd());

extern template EIGEN_ROPE_API Cache<float> xpos_cache(const Frequencies&, const Positions&,
                                                       const Xpos&, XposSide, const Layout&);
extern template EIGEN_ROPE_API Cache<double> xpos_cache(const Frequencies&, const Positions&,
                                                        const Xpos&, XposSide, const Layout&);
extern template EIGEN_ROPE_API Cache<long double> xpos_cache(const Frequencies&, const Positions&,
                                                             const Xpos&, XposSide, const Layout&);
extern template EIGEN_ROPE_API Cache<Eigen::half> xpos_cache(const Frequencies&, const Positions&,
                                                             const Xpos&, XposSide, const Layout&);
extern template EIGEN_ROPE_API Cache<Eigen::bfloat16> xpos_cache(const Frequencies&,
                                                                 const Positions&, const Xpos&,
                                                                 XposSide, const Layout&);

namespace detail {

/// ln zeta_k of each pair, for keys -ln zeta_k. Throws for parameters xpos_cache refuses.
EIGEN_ROPE_API std::vector<DoubleDouble> xpos_logarithms(Index pairs, const Xpos& xpos,
                                                         XposSide side);

}  // namespace detail
}  // namespace eigen_rope
