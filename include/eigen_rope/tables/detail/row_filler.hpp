// SPDX-License-Identifier: Apache-2.0
//
// Rows of a table, written where the caller says: m cos(position * rate_k) and m sin(position *
// rate_k) for every pair k.
//
//   cos[i * pairs + k] = m cos((first + i) * rate_k)    fill_range: `count` consecutive integer
//                                                       positions
//   cos[k]             = m cos(position * rate_k)       fill_one
//   cos[k]             = m cos(positions[k] * rate_k)   fill_mixed: every pair has a position of
//                                                       its own
//   cos[k]             = m cos(2 pi turns[k])           fill_turns: and an angle of its own
//
// What the rates cost is paid once, in the constructor. Entries have the error bound of
// eigen_rope/tables/cache.hpp. 16- and 32-bit entries are formed in double with a known error e;
// where rounding v - e and v + e gives one value, that is the entry, and otherwise (about once in a
// million) it is formed in double-double (Ziv 1991). So every way to an entry gives the same bits,
// on every instruction set. Not a table: it owns none of the rows.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/numbers/detail/aligned.hpp"
#include "eigen_rope/numbers/double_double.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// m sin(pi/2 x) = x (sin[0] + sin[1] x^2 + ...) and m cos(pi/2 x) = cos[0] + cos[1] x^2 + ... for
/// |x| <= 0.501, each with a relative error below 2^-51.
struct QuarterTurnSeries {
  std::array<double, 7> sin;
  std::array<double, 7> cos;
};

struct TableRates;

/// Throws eigen_rope::Error for rates (the number of the pair is named) and positions beyond which
/// entries could not keep their error bound: 2^40 radians per token and 2^63.
EIGEN_ROPE_API bool is_table_rate(double rate);
EIGEN_ROPE_API void require_table_rate(std::size_t pair, double rate);
EIGEN_ROPE_API void require_table_position(double position);

/// Immutable: any number of threads may fill different rows. Scalar: float, double, long double,
/// Eigen::half, Eigen::bfloat16.
class RowFiller {
 public:
  /// Throws eigen_rope::Error if a rate is larger than 2^40 in size.
  EIGEN_ROPE_API explicit RowFiller(const Frequencies& frequencies);

  Index pairs() const { return static_cast<Index>(turns_.size()); }

  /// Rows of positions first, first + 1, ... Every position must fit int64. cos and sin must not
  /// overlap. Allocates nothing.
  template <class Scalar>
  EIGEN_ROPE_API void fill_range(std::int64_t first, Index count, Scalar* cos, Scalar* sin) const;

  /// The same with the entries of a pair next to each other, and those of the next pair `pair_step`
  /// behind them. Returns false, and writes nothing, where rows would have to be made and moved.
  template <class Scalar>
  EIGEN_ROPE_API bool fill_columns(std::int64_t first, Index count, Index pair_step, Scalar* cos,
                                   Scalar* sin) const;

  /// One row; |position| <= 2^64, the largest distance of two positions.
  template <class Scalar>
  EIGEN_ROPE_API void fill_one(DoubleDouble position, Scalar* cos, Scalar* sin) const;

  /// One row, pairs() positions, each at most 2^64 in size.
  template <class Scalar>
  EIGEN_ROPE_API void fill_mixed(const DoubleDouble* positions, Scalar* cos, Scalar* sin) const;

  /// One row of angles that are not a position times the rates, in turns, pairs() of them, each at
  /// most 8 in size. Only the magnitude of the frequencies counts.
  template <class Scalar>
  EIGEN_ROPE_API void fill_turns(const DoubleDouble* turns, Scalar* cos, Scalar* sin) const;

 private:
  /// Whether double arithmetic with a known error can form this row (for 16- and 32-bit scalars).
  bool reaches(DoubleDouble position) const;
  bool reaches(std::int64_t first, Index count) const;
  /// `count` pairs from `first`, a multiple of table_lanes, for the kernels.
  TableRates kernel_rates(Index first, Index count) const;

  std::vector<DoubleDouble> turns_;
  DoubleDouble m_;
  /// The size of the largest position that `reaches`; -1 if none does.
  double reach_ = -1;
  /// Quarter turns per token, high and low parts; then cos and sin of small offsets. See
  /// src/tables/table_kernels.hpp.
  QuarterTurnSeries series_{};
  AlignedVector<double> rates_;
  AlignedVector<double> offsets_;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
