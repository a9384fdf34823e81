// SPDX-License-Identifier: Apache-2.0
//
// The table of a rotation, owned: cos and sin of position * rate times the attention factor m.
//
//   cos[k, ...] = m cos(position * rate_k)   sin[k, ...] = m sin(position * rate_k)
//                       half width: one entry per pair
//
// The angle is the outer product of positions and rates, formed in double-double and reduced in
// turns, whatever the scalar. Error of every entry against the real-number formula: at most half an
// ulp of the stored value + |position| * 2^-63 * max(1, |m|), for every kind of Frequencies and
// |position| <= 2^31; larger positions lose nothing but that second term's growth. Where long
// double has 113 bits (64-bit ARM) its entries, here and in every other table, are off by 2^-83
// max(1, |m|) more: they are formed in double-double. Not a rotation, and not a table that grows:
// it is immutable, so any number of threads may read it.
#pragma once

#include <string>
#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/layout.hpp"
#include "eigen_rope/choices/positions.hpp"
#include "eigen_rope/numbers/detail/integral.hpp"
#include "eigen_rope/numbers/detail/scalars.hpp"
#include "eigen_rope/numbers/detail/uninitialised.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope {

template <class Scalar>
class Cache;

namespace detail {

/// A cache whose entries fill(cos, sin) writes.
template <class Scalar, class Fill>
Cache<Scalar> make_cache(const Frequencies& frequencies, const Positions& positions,
                         const Layout& layout, const Fill& fill);

/// The outer extents of a table for these positions: x's extent on token and batch axes, 1
/// elsewhere. Checks that the layout has a batch axis if there are several batches, and that the
/// table's size fits.
EIGEN_ROPE_API Shape table_outer(const Frequencies& frequencies, const Positions& positions,
                                 const Layout& layout);

/// Calls visit(row, batch, token) for each row of a table with these outer extents, in memory
/// order.
template <class Visit>
void for_each_table_row(const Positions& positions, const Layout& layout, Visit&& visit) {
  if (positions.tokens() == 0) return;  // of however many batches
  bool token_outside = false;
  bool seen_batch = false;
  for (int axis = 0; axis < layout.axes(); ++axis) {
    if (layout[axis] == AxisRole::batch) seen_batch = true;
    if (layout[axis] == AxisRole::token) token_outside = seen_batch;
  }
  Index row = 0;
  if (token_outside) {
    for (Index s = 0; s < positions.tokens(); ++s)
      for (Index b = 0; b < positions.batches(); ++b) visit(row++, b, s);
  } else {
    for (Index b = 0; b < positions.batches(); ++b)
      for (Index s = 0; s < positions.tokens(); ++s) visit(row++, b, s);
  }
}

/// Fills rows of cos and sin, correctly rounded but for the bound above. Compiled for float,
/// double, long double, Eigen::half and Eigen::bfloat16.
template <class Scalar>
EIGEN_ROPE_API void fill_table(const Frequencies& frequencies, const Positions& positions,
                               const Layout& layout, Scalar* cos, Scalar* sin);

/// "cos[1] and cos[5] of row 2 must be equal", with the values.
[[noreturn]] EIGEN_ROPE_API void fail_unequal_halves(const char* part, Index row, Index k,
                                                     Index pairs, double first, double second);

}  // namespace detail

/// Owns a half-width table. Scalar: float, double, long double, Eigen::half, Eigen::bfloat16; other
/// (differentiable) scalars through from_rates and from_angles. Movable and copyable; views point
/// into it, so it must outlive them and every expression made from them.
template <class Scalar>
class Cache {
 public:
  /// - Errors:   eigen_rope::Error if the layout lacks a batch axis the positions need, if a rate
  ///             is larger than 2^40 or a position than 2^63 in size, or if the size does not fit.
  /// - Cost:     O(batches * tokens * pairs).
  Cache(const Frequencies& frequencies, const Positions& positions,
        const Layout& layout = Layout::bsnd())
      : Cache(frequencies.pairs(), detail::table_outer(frequencies, positions, layout),
              frequencies.attention_factor()) {
    detail::fill_table(frequencies, positions, layout, values_.data(), values_.data() + sin_begin_);
  }

  /// A table whose rates are of the scalar itself, so that derivatives with respect to them flow
  /// into cos and sin. Angles are formed in Scalar's own arithmetic: the error bound above does not
  /// hold.
  static Cache from_rates(const std::vector<Scalar>& rates, const Scalar& attention_factor,
                          const Positions& positions, const Layout& layout = Layout::bsnd()) {
    using std::cos;
    using std::sin;
    if (rates.empty()) detail::fail("the number of rates must be positive", std::int64_t{0});
    const auto pairs = static_cast<Index>(rates.size());
    const Frequencies shape = Frequencies::explicit_rates(std::vector<double>(rates.size(), 0.0));
    Cache cache(pairs, detail::table_outer(shape, positions, layout), 0);
    detail::for_each_table_row(positions, layout, [&](Index row, Index batch, Index token) {
      for (Index k = 0; k < pairs; ++k) {
        const auto position = static_cast<double>(positions.at(positions.axis(k), batch, token));
        const Scalar angle = rates[static_cast<std::size_t>(k)] * position;
        const Scalar c = cos(angle);
        const Scalar s = sin(angle);
        Scalar* entry = cache.values_.data() + row * pairs + k;
        entry[0] = attention_factor * c;
        entry[cache.sin_begin_] = attention_factor * s;
      }
    });
    return cache;
  }

  /// A table from angles, for positions that are themselves differentiable: cos and sin of each
  /// angle, times m.
  ///
  /// \param angles  radians; the pair fastest, then outer's axes: pairs * outer.size() of them
  /// \param outer   extents outside the feature axis, fastest first, each x's or 1: [1, tokens, 1]
  ///                for x[D, H, S, B]
  ///
  /// - Errors:   eigen_rope::Error if pairs is not positive or the number of angles is another.
  /// - Error:    in Scalar's own arithmetic, that of its cos and sin and one rounding; the angle's
  ///             own is up to the caller (a double angle t is good to |t| 2^-53).
  static Cache from_angles(const std::vector<Scalar>& angles, const Scalar& attention_factor,
                           Index pairs, const Shape& outer) {
    using std::cos;
    using std::sin;
    if (pairs <= 0)
      detail::fail("the number of pairs must be positive", static_cast<std::int64_t>(pairs));
    const Index size =
        detail::checked_product("the number of entries in the table", pairs, outer.size());
    if (static_cast<Index>(angles.size()) != size) {
      detail::fail(
          "angles must be one per pair and row of the table (" + std::to_string(size) + ")",
          static_cast<std::int64_t>(angles.size()));
    }
    Cache cache(pairs, outer, 0);
    for (std::size_t i = 0; i < angles.size(); ++i) {
      const Scalar c = cos(angles[i]);
      const Scalar s = sin(angles[i]);
      Scalar* entry = cache.values_.data() + i;
      entry[0] = attention_factor * c;
      entry[cache.sin_begin_] = attention_factor * s;
    }
    return cache;
  }

  /// A table in Hugging Face's form, cat(f, f): of full width, where entry k + D/2 of a row repeats
  /// entry k. It becomes one of half width, which is right for every pairing: read as it is, a
  /// full-width table has one entry per rotated element, so that interleaved pairs would take
  /// entries 2k and 2k + 1 of cat(f, f), which belong to different angles, and nothing could tell.
  ///
  /// \param repeated  table_of(cos, sin), say; it is copied
  ///
  /// Scalar: float, double, long double, Eigen::half, Eigen::bfloat16.
  ///
  /// - Errors:   eigen_rope::Error unless the width is even and positive and both halves of every
  ///             row are equal, naming the first entry that is not; and if the table has no data.
  /// - Cost:     one pass over the table here, none in a rotation.
  static Cache from_halves(const TableView<Scalar>& repeated) {
    static_assert(detail::is_plain<Scalar>,
                  "[rope] a table of two halves must hold plain numbers: the derivatives of one "
                  "would be lost");
    detail::checked_table_size(repeated);
    if (repeated.width <= 0 || repeated.width % 2 != 0) {
      detail::fail("the width of a table of two halves must be even and positive",
                   static_cast<std::int64_t>(repeated.width));
    }
    Cache cache(repeated.width / 2, repeated.outer, 0);
    cache.copy_first_halves("cos", repeated.cos, cache.values_.data());
    cache.copy_first_halves("sin", repeated.sin, cache.values_.data() + cache.sin_begin_);
    return cache;
  }

  /// The whole table, for whatever reads one; points into this object.
  TableView<Scalar> view() const { return {cos(), sin(), pairs_, outer_, determinants_}; }

  Index pairs() const { return pairs_; }  ///< Pairs of a row.
  const Shape& outer() const {
    return outer_;
  }  ///< Extents outside the feature axis, fastest first.
  const Scalar* cos() const {
    return values_.data();
  }  ///< pairs() * outer().size() entries, pairs fastest.
  const Scalar* sin() const { return values_.data() + sin_begin_; }  ///< As cos().

 private:
  void copy_first_halves(const char* part, const Scalar* repeated, Scalar* to) const {
    const Index rows = outer_.size();
    for (Index row = 0; row < rows; ++row) {
      const Scalar* first = repeated + row * 2 * pairs_;
      for (Index k = 0; k < pairs_; ++k) {
        if (!(first[k] == first[pairs_ + k])) {
          detail::fail_unequal_halves(part, row, k, pairs_, static_cast<double>(first[k]),
                                      static_cast<double>(first[pairs_ + k]));
        }
        to[row * pairs_ + k] = first[k];
      }
    }
  }

  template <class S, class Fill>
  friend Cache<S> detail::make_cache(const Frequencies&, const Positions&, const Layout&,
                                     const Fill&);

  Cache(Index pairs, const Shape& outer, DoubleDouble attention_factor)
      : pairs_(pairs),
        outer_(outer),
        determinants_(detail::determinants_for(attention_factor.high)) {
    constexpr auto bytes = static_cast<std::size_t>(detail::cache_line);
    constexpr Index line = sizeof(Scalar) < bytes ? bytes / sizeof(Scalar) : 1;
    const Index size = pairs_ * outer_.size();
    sin_begin_ = (size + line - 1) / line * line;
    detail::checked_product("the number of bytes in the table", sin_begin_ + size, sizeof(Scalar));
    values_.resize(static_cast<std::size_t>(sin_begin_ + size));
  }

  Index pairs_ = 0;
  Shape outer_;
  detail::Determinants determinants_;
  // cos, then sin from the next cache line on: one block, because glibc returns two freed ones of
  // the same size to the system, and a table made of fresh pages costs several times its
  // computation.
  Index sin_begin_ = 0;
  detail::UninitialisedVector<Scalar> values_;

  static_assert(!detail::is_whole<Scalar>,
                "[rope] a cache must hold floating-point or differentiable numbers, not integers");
};

template <class Scalar, class Fill>
Cache<Scalar> detail::make_cache(const Frequencies& frequencies, const Positions& positions,
                                 const Layout& layout, const Fill& fill) {
  Cache<Scalar> cache(frequencies.pairs(), table_outer(frequencies, positions, layout),
                      frequencies.attention_factor());
  fill(cache.values_.data(), cache.values_.data() + cache.sin_begin_);
  return cache;
}

}  // namespace eigen_rope
