// SPDX-License-Identifier: Apache-2.0
//
// xPos (Sun et al. 2022, arXiv 2212.10554): besides turning, queries shrink and keys grow with
// their position, each pair at a pace of its own. With t = position * rate_k and d = 2 pairs:
//
//   zeta_k = (2k / d + gamma) / (1 + gamma)
//   power  = (position - center) / scale_base
//   query:   cos = m zeta_k^power cos(t)      sin = m zeta_k^power sin(t)
//   key:     cos = m zeta_k^-power cos(t)     sin = m zeta_k^-power sin(t)
//
// In the product q.k each pair's share is multiplied by zeta_k^((p_q - p_k) / scale_base). The
// product therefore depends on the distance alone, whatever the center is, and fades with it.
//
// Only the tables are special: rotate(), rotate_inverse() and gradients() read them like any other.
// Queries and keys need a table each, so a call that rotates both by one table does not suit xPos.
// Frequencies cannot express xPos, because they have one m for all tokens. The gradients of the
// parameters are in xpos_gradients.hpp.
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

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The parameters of xPos's magnitudes.
///
/// \code{.cpp}
/// er::Xpos xpos;
/// xpos.scale_base = 512;
/// xpos.center = 1024;  // the middle of a context of 2048 tokens
/// \endcode
///
/// \see xpos_cache(), XposGradients, \ref scalings "Scalings, with plots"
struct Xpos {
  /// The number of tokens over which a pair's magnitude changes by its zeta; finite, > 0.
  double scale_base = 512;
  /// The constant that makes pairs alike, finite and > 0: the larger it is, the less they differ.
  /// The paper and every implementation take 0.4.
  double gamma = 0.4;
  /// The position at which every magnitude is m; finite. It matters for the range of the magnitudes
  /// only, as long as all queries and keys that meet have the same. flash-attention takes half the
  /// cached length, so keys it cached before do not fit those after.
  double center = 0;

  /// Returns the parameters as text: `xpos:scale_base=512,gamma=0.4,center=0`.
  EIGEN_ROPE_API std::string text() const;

  /// Returns whether all parameters are equal.
  friend bool operator==(const Xpos& a, const Xpos& b) {
    return a.scale_base == b.scale_base && a.gamma == b.gamma && a.center == b.center;
  }
  /// Returns whether any parameter differs.
  friend bool operator!=(const Xpos& a, const Xpos& b) { return !(a == b); }
  /// Writes text() to the stream.
  friend EIGEN_ROPE_API std::ostream& operator<<(std::ostream& stream, const Xpos& xpos);
};

/// Whether a table is for queries or for keys.
enum class XposSide {
  query,  ///< Queries, which shrink with their position.
  key     ///< Keys, which grow with their position.
};

/// Makes xPos's table of the queries or of the keys, with the extents that Cache would give it.
///
/// \code{.cpp}
/// er::Xpos xpos;
/// xpos.scale_base = 512;
/// const auto of_q = er::xpos_cache<float>(frequencies, positions, xpos, er::XposSide::query);
/// const auto of_k = er::xpos_cache<float>(frequencies, positions, xpos, er::XposSide::key);
/// er::rotate_inplace(q, of_q, er::split_half);
/// er::rotate_inplace(k, of_k, er::split_half);
/// \endcode
///
/// Where tokens have several positions, each pair takes that of its own axis (Sections). An entry
/// has the same bits in every table that contains it.
///
/// Cached keys can be moved. With the same rates, the table of the distances p_to - p_from, made
/// for keys with m = 1 and center 0, takes keys from p_from to p_to. With the same positions and
/// other rates, rerotation_cache() moves them, because magnitudes do not depend on rates. Where
/// positions differ, rerotate() must not be used: it does not know xPos.
///
/// Scalar is float, double, long double, Eigen::half or Eigen::bfloat16.
///
/// \param frequencies  the rate of each pair, in radians per token, and m
/// \param positions    where each token stands
/// \param xpos         the parameters of the magnitudes
/// \param side         whether the table is for queries or for keys
/// \param layout       what the axes of x outside the feature axis count, as for Cache
///
/// - Errors:   eigen_rope::Error where Cache throws it; for a scale base or gamma that is not
///             finite and positive, or a center that is not finite; for an attention factor of 0;
///             and where a magnitude leaves the range in which a rotation by it can be inverted:
///             2^62 and 2^-62 for float and bfloat16, 2^14 and 2^-14 for half, 2^500 and 2^-500 for
///             the others. With the published parameters that is at least 17500, 3900 and 141000
///             tokens from the center.
/// - Threads:  a pure function.
/// - Error:    of every entry against the real-number formula, with M the size of its magnitude and
///             |position| <= 2^31: at most half an ulp of the stored value + |position| * 2^-63 *
///             max(1, M) + (1 + |power| max(1, |ln zeta_k|)) * 2^-95 * M.
/// - Cost:     O(batches * tokens * pairs): up to twice the time of a Cache<double> for many whole
///             positions, 10 times that for fractional ones, 4 microseconds a pair for a single
///             token. A decoder makes the table of its context once.
///
/// \see xpos_gradients(), rotate(), \ref scalings "Scalings, with plots"
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
}  // namespace eigen_rope::EIGEN_ROPE_ABI
