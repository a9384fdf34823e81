// SPDX-License-Identifier: Apache-2.0
//
// The table that a rotation reads, with its memory: cos and sin of every pair at every token, times
// the attention factor m.
//
//   cos[k, ...] = m cos(position * rate_k)
//   sin[k, ...] = m sin(position * rate_k)
//
// The table is of half width: each row has one entry for each pair k. Outside the row it has the
// axes of x. The token axis has x's extent, and so has the batch axis where each sequence has its
// own positions. All other axes have extent 1, because heads share the angles of their token.
//
// Angles are the outer product of positions and rates. They are formed in double-double arithmetic
// and reduced in turns, whatever the table's scalar is.
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
#include "eigen_rope/rows/detail/move_rows.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

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
/// The same where each sequence has frequencies of its own.
EIGEN_ROPE_API Shape table_outer(const std::vector<Frequencies>& sequences,
                                 const Positions& positions, const Layout& layout);

/// Whether all batches of a token come before the next token.
inline bool has_tokens_outside_batches(const Layout& layout) {
  bool tokens_outside = false;
  bool seen_batch = false;
  for (int axis = 0; axis < layout.axes(); ++axis) {
    if (layout[axis] == AxisRole::batch) seen_batch = true;
    if (layout[axis] == AxisRole::token) tokens_outside = seen_batch;
  }
  return tokens_outside;
}

/// Calls visit(row, batch, token) for each row of a table with these outer extents, in memory
/// order.
template <class Visit>
void for_each_table_row(const Positions& positions, const Layout& layout, Visit&& visit) {
  if (positions.tokens() == 0) return;  // of however many batches
  Index row = 0;
  if (has_tokens_outside_batches(layout)) {
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
template <class Scalar>
EIGEN_ROPE_API void fill_table(const std::vector<Frequencies>& sequences,
                               const Positions& positions, const Layout& layout, Scalar* cos,
                               Scalar* sin);

/// What is known of all these tables together.
EIGEN_ROPE_API Determinants determinants_for(const std::vector<Frequencies>& sequences);

/// "cos[1] and cos[5] of row 2 must be equal", with the values.
[[noreturn]] EIGEN_ROPE_API void fail_unequal_halves(const char* part, Index row, Index k,
                                                     Index pairs, double first, double second);

}  // namespace detail

/// A table of cos and sin that owns its memory, with one entry for each pair.
///
/// A program makes it once, from a model's frequencies and the positions of its tokens. The table
/// then serves the queries and the keys of all layers that share these frequencies.
///
/// \code{.cpp}
/// const er::Cache<float> table(frequencies, er::Positions::range(0, tokens));
/// er::rotate_inplace(q, table, er::split_half);
/// er::rotate_inplace(k, table, er::split_half);
/// \endcode
///
/// Scalar is float, double, long double, Eigen::half or Eigen::bfloat16. Tables of a differentiable
/// scalar are made by from_rates() and from_angles(). A cache can be copied and moved. Views point
/// into it, so it must outlive them and every expression made from them.
///
/// - Threads:  immutable once it is made, so any number of threads may read it.
/// - Error:    of every entry made from Frequencies, against the real-number formula: at most half
///             an ulp of the stored value + |position| * 2^-63 * max(1, |m|), for every kind of
///             Frequencies and |position| <= 2^31. Beyond that only the second term grows. Where
///             long double has 113 bits (64-bit ARM), its entries are formed in double-double and
///             are off by 2^-83 max(1, |m|) more, here and in every other table.
///
/// \see rotate(), GrowingCache for a table that grows, TokenRow for a single token,
///      \ref idea "The idea in pictures", \ref accuracy "Accuracy"
template <class Scalar>
class Cache {
 public:
  /// Makes the table of these frequencies at these positions.
  ///
  /// \param frequencies  the rate of each pair, in radians per token, and m
  /// \param positions    where each token stands
  /// \param layout       what the axes of x count; with the default x is [D, heads, tokens, batch],
  ///                     or [D, heads, tokens]. The entries lie in its order
  ///
  /// - Errors:   eigen_rope::Error if the layout lacks a batch axis the positions need, if a rate
  ///             is larger than 2^40 or a position than 2^63 in size, or if the size does not fit.
  /// - Cost:     O(batches * tokens * pairs).
  Cache(const Frequencies& frequencies, const Positions& positions,
        const Layout& layout = Layout::bsnd())
      : Cache(frequencies.pairs(), detail::table_outer(frequencies, positions, layout),
              frequencies.attention_factor(), layout.feature_axis()) {
    detail::fill_table(frequencies, positions, layout, values_.data(), values_.data() + sin_begin_);
  }

  /// Makes a table in which each sequence of a batch has frequencies of its own.
  ///
  /// Scalings that depend on the length of a sequence give such frequencies.
  ///
  /// \code{.cpp}
  /// const er::DynamicNtkScaling<> scaling{2.0, 4096};
  /// const er::Frequencies of_short({D, 10000.0}, scaling, 3000);
  /// const er::Frequencies of_long({D, 10000.0}, scaling, 9000);
  /// const er::Cache<float> both({of_short, of_long}, er::Positions::range(0, tokens));
  /// \endcode
  ///
  /// \param sequences  the frequencies of each sequence, all of as many pairs
  /// \param positions  where each token stands, shared by all sequences or one batch for each
  /// \param layout     what the axes of x count, a batch axis among them
  ///
  /// - Errors:   eigen_rope::Error under the conditions above, if there are no frequencies, if they
  ///             differ in their pairs, or if the positions are those of another number of batches.
  /// - Cost:     O(sequences * tokens * pairs).
  Cache(const std::vector<Frequencies>& sequences, const Positions& positions,
        const Layout& layout = Layout::bsnd())
      : Cache(detail::table_outer(sequences, positions, layout), sequences, layout) {
    detail::fill_table(sequences, positions, layout, values_.data(), values_.data() + sin_begin_);
  }

  /// Makes a table from rates of the table's own scalar, so that derivatives with respect to the
  /// rates flow into cos and sin.
  ///
  /// \code{.cpp}
  /// const er::Rates<double> rates = er::Powers<double>{D, 10000.0}.rates();  // or another scalar
  /// const auto table =
  ///     er::Cache<double>::from_rates(rates.rates, rates.attention_factor, positions);
  /// \endcode
  ///
  /// \param rates             radians per token, one for each pair, at least one
  /// \param attention_factor  m
  /// \param positions         where each token stands
  /// \param layout            what the axes of x outside the feature axis count
  ///
  /// - Errors:   eigen_rope::Error if there are no rates, if the layout lacks a batch axis the
  ///             positions need, if a position is larger than 2^63 in size, or if the size does not
  ///             fit.
  /// - Error:    angles are formed in Scalar's own arithmetic, so the bound of the class does not
  ///             hold.
  /// - Cost:     O(batches * tokens * pairs).
  static Cache from_rates(const std::vector<Scalar>& rates, const Scalar& attention_factor,
                          const Positions& positions, const Layout& layout = Layout::bsnd()) {
    using std::cos;
    using std::sin;
    if (rates.empty()) detail::fail("the number of rates must be positive", std::int64_t{0});
    const auto pairs = static_cast<Index>(rates.size());
    const Frequencies shape = Frequencies::explicit_rates(std::vector<double>(rates.size(), 0.0));
    Cache cache(pairs, detail::table_outer(shape, positions, layout), 0, layout.feature_axis());
    const detail::EntryPlaces entries(cache.view());
    detail::for_each_table_row(positions, layout, [&](Index row, Index batch, Index token) {
      for (Index k = 0; k < pairs; ++k) {
        const auto position = static_cast<double>(positions.at(positions.axis(k), batch, token));
        const Scalar angle = rates[static_cast<std::size_t>(k)] * position;
        const Scalar c = cos(angle);
        const Scalar s = sin(angle);
        Scalar* entry = cache.values_.data() + entries.at(row, k);
        entry[0] = attention_factor * c;
        entry[cache.sin_begin_] = attention_factor * s;
      }
    });
    return cache;
  }

  /// Makes a table of the cos and sin of given angles, times m.
  ///
  /// It serves angles that are no product of a position and a rate, and positions that are
  /// themselves differentiable.
  ///
  /// \code{.cpp}
  /// const std::vector<double> angles{0.0, 0.0, 0.5, 0.1};  // two tokens of two pairs
  /// const auto table = er::Cache<double>::from_angles(angles, 1.0, 2, {1, 2});
  /// \endcode
  ///
  /// \param angles            radians, pairs * outer.size() of them; the pair is the fastest axis,
  ///                          then those of `outer`
  /// \param attention_factor  m
  /// \param pairs             the entries of a row, positive
  /// \param outer             extents outside the feature axis, fastest first, each x's or 1; for
  ///                          x[D, heads, tokens, batch] that is [1, tokens, 1]
  ///
  /// - Errors:   eigen_rope::Error if pairs is not positive or the number of angles is another.
  /// - Error:    that of Scalar's own cos and sin, and one rounding. The error of the angles is up
  ///             to the caller; an angle t in double is good to |t| 2^-53.
  /// - Cost:     O(pairs * outer.size()).
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

  /// Makes a half-width table from a full-width one in Hugging Face's form, `cat((f, f))`, where
  /// entry k + D/2 of a row repeats entry k.
  ///
  /// The result is right for every pairing. The table as it came is right for split-half pairs
  /// only: interleaved pairs would read its entries 2k and 2k + 1, which belong to different
  /// angles, and no check could find that out.
  ///
  /// \code{.cpp}
  /// Eigen::Tensor<float, 3> cos(D, 1, tokens), sin(D, 1, tokens);  // as Hugging Face makes them
  /// const auto table = er::Cache<float>::from_halves(er::table_of(cos, sin));
  /// x = er::rotate(x, table, er::interleaved);
  /// \endcode
  ///
  /// \param repeated  the table of full width, which is copied: table_of(cos, sin), for example
  ///
  /// Scalar is float, double, long double, Eigen::half or Eigen::bfloat16.
  ///
  /// - Errors:   eigen_rope::Error unless the width is even and positive and both halves of every
  ///             row are equal, naming the first entry that is not; and if the table has no data.
  /// - Cost:     one pass over the table here, none in a rotation.
  ///
  /// \see \ref pitfalls "Pitfalls"
  static Cache from_halves(const TableView<Scalar>& repeated) {
    static_assert(detail::is_plain<Scalar>,
                  "[rope] a table of two halves must hold plain numbers: the derivatives of one "
                  "would be lost");
    detail::checked_table_size(repeated);
    if (repeated.width <= 0 || repeated.width % 2 != 0) {
      detail::fail("the width of a table of two halves must be even and positive",
                   static_cast<std::int64_t>(repeated.width));
    }
    Cache cache(repeated.width / 2, repeated.outer, 0, repeated.feature_axis);
    const detail::EntryPlaces places(repeated);
    cache.copy_first_halves("cos", repeated.cos, places, cache.values_.data());
    cache.copy_first_halves("sin", repeated.sin, places, cache.values_.data() + cache.sin_begin_);
    return cache;
  }

  /// Returns the whole table, for any function that reads one. It points into this object.
  TableView<Scalar> view() const {
    return {cos(), sin(), pairs_, outer_, determinants_, feature_axis_};
  }

  /// Returns the number of pairs, which is the number of entries in a row.
  Index pairs() const { return pairs_; }
  /// Returns the table's extents outside the feature axis, fastest first.
  const Shape& outer() const { return outer_; }
  /// Returns the cosines times m, pairs() * outer().size() of them, pairs fastest unless the layout
  /// has its feature axis elsewhere.
  const Scalar* cos() const { return values_.data(); }
  /// Returns the sines times m, in the order of cos().
  const Scalar* sin() const { return values_.data() + sin_begin_; }

 private:
  void copy_first_halves(const char* part, const Scalar* repeated,
                         const detail::EntryPlaces& places, Scalar* to) const {
    const Index rows = outer_.size();
    const detail::EntryPlaces own(view());
    for (Index row = 0; row < rows; ++row) {
      for (Index k = 0; k < pairs_; ++k) {
        const Scalar& first = repeated[places.at(row, k)];
        const Scalar& second = repeated[places.at(row, pairs_ + k)];
        if (!(first == second)) {
          detail::fail_unequal_halves(part, row, k, pairs_, static_cast<double>(first),
                                      static_cast<double>(second));
        }
        to[own.at(row, k)] = first;
      }
    }
  }

  template <class S, class Fill>
  friend Cache<S> detail::make_cache(const Frequencies&, const Positions&, const Layout&,
                                     const Fill&);

  // The extents are made first: making them checks the frequencies.
  Cache(const Shape& outer, const std::vector<Frequencies>& sequences, const Layout& layout)
      : Cache(sequences.front().pairs(), outer, 0, layout.feature_axis()) {
    determinants_ = detail::determinants_for(sequences);
  }
  Cache(Index pairs, const Shape& outer, DoubleDouble attention_factor, int feature_axis = 0)
      : pairs_(pairs),
        outer_(outer),
        feature_axis_(feature_axis),
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
  int feature_axis_;
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
                      frequencies.attention_factor(), layout.feature_axis());
  const Index inside = rows_inside(cache.outer_, cache.feature_axis_);
  if (inside == 1 || cache.outer_.size() == 0) {
    fill(cache.values_.data(), cache.values_.data() + cache.sin_begin_);
    return cache;
  }
  // Rows are made one by one, and moved to where their entries lie apart.
  UninitialisedVector<Scalar> rows(cache.values_.size());
  fill(rows.data(), rows.data() + cache.sin_begin_);
  const Index pairs = cache.pairs_;
  for (const Index part : {Index{0}, cache.sin_begin_}) {
    for (Index row = 0; row < cache.outer_.size(); row += inside) {
      const Index at = part + row * pairs;
      move_rows(static_cast<const Scalar*>(rows.data()) + at, {pairs, 1}, cache.values_.data() + at,
                {1, inside}, inside, pairs);
    }
  }
  return cache;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
