// SPDX-License-Identifier: Apache-2.0
//
// Table rows in float, half and bfloat16, formed in double with a known error and chosen for the
// instruction set at run time.
//
// An entry v is known to within e; where v - e and v + e round to one value, that is the entry, and
// otherwise exact_entry forms it in double-double. So the bits are those of the double-double path
// whatever the target's arithmetic. RowFiller decides which rows may come here (TableRates).
// Private to the library.
#pragma once

#include "eigen_rope/numbers/double_double.hpp"
#include "eigen_rope/numbers/shape.hpp"
#include "eigen_rope/tables/detail/row_filler.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// The arrays of rates are padded with zeros to a multiple of this many pairs, the most doubles a
/// vector holds.
inline constexpr Index table_lanes = 8;
inline Index padded_pairs(Index pairs) {
  return (pairs + table_lanes - 1) / table_lanes * table_lanes;
}
/// A run of consecutive positions is this many offsets added to each of its base positions.
inline constexpr Index table_offsets = 16;

/// The terms for magnitude m.
QuarterTurnSeries quarter_turn_series(double m);

/// What the kernels know of the rates. They need, with r the largest |high|: every high 0 or |high|
/// >= 2^-60; |m| from 2^-20 to 2^20; every position a double p, 0 or |p| >= 2^-20, with |p| r <=
/// 2^44.
struct TableRates {
  Index pairs;
  /// Quarter turns per token, high and low parts, padded.
  const double* high;
  const double* low;
  const QuarterTurnSeries& series;
  /// For exact_entry: turns per token.
  const DoubleDouble* turns;
  DoubleDouble m;
};

enum class RowPositions { one_for_all, one_each };

/// Compiled for float, Eigen::half and Eigen::bfloat16, like all below. `positions`: one, or
/// `pairs` of them.
template <class Scalar>
void fill_table_row(const TableRates& rates, const double* positions, RowPositions kind,
                    Scalar* cos, Scalar* sin);

/// cos, then sin, of every offset's angle, [table_offsets][padded pairs] each; the series must be
/// that of m = 1.
void fill_table_offsets(const TableRates& rates, double* offsets);

/// Rows for positions first, first + 1, ...: integers that double holds.
template <class Scalar>
void fill_table_rows(const TableRates& rates, const double* offsets, double first, Index count,
                     Scalar* cos, Scalar* sin);

/// The same with the entries of a pair next to each other, and those of the next pair `pair_step`
/// behind them.
template <class Scalar>
void fill_table_columns(const TableRates& rates, const double* offsets, double first, Index count,
                        Index pair_step, Scalar* cos, Scalar* sin);

/// One entry in double-double.
template <class Scalar>
void exact_entry(DoubleDouble turns, DoubleDouble m, DoubleDouble position, Scalar& cos,
                 Scalar& sin);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
