// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/tables/cache.hpp"

#include <fmt/core.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "eigen_rope/tables/detail/row_filler.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {
namespace {

void check_sizes(const Frequencies& frequencies, const Positions& positions) {
  for (std::size_t k = 0; k < frequencies.rates().size(); ++k) {
    require_table_rate(k, frequencies.rates()[k].high);
  }
  if (positions.tokens() == 0) return;  // of however many batches
  for (int axis = 0; axis < positions.axes(); ++axis) {
    for (Index b = 0; b < positions.batches(); ++b) {
      for (Index s = 0; s < positions.tokens(); ++s) {
        require_table_position(positions.at(axis, b, s).high);
      }
    }
  }
}

}  // namespace

void fail_unequal_halves(const char* part, Index row, Index k, Index pairs, double first,
                         double second) {
  fail(fmt::format("a table of two halves must repeat its first half: {0}[{1}] and {0}[{2}] of row "
                   "{3} must be equal",
                   part, k, k + pairs, row),
       fmt::format("{} and {}", first, second));
}

namespace {

Shape table_outer_of(Index pairs, Index batches, Index tokens, const Layout& layout) {
  Shape outer;
  for (int axis = 0; axis < layout.axes(); ++axis) {
    switch (layout[axis]) {
      case AxisRole::token: outer.push_back(tokens); break;
      case AxisRole::batch: outer.push_back(batches); break;
      case AxisRole::other:
      case AxisRole::feature: outer.push_back(1); break;
    }
  }
  checked_product("the number of bytes in the table",
                  checked_product("the number of entries in the table", pairs, outer.size()),
                  sizeof(long double));
  return outer;
}

}  // namespace

Shape table_outer(const Frequencies& frequencies, const Positions& positions,
                  const Layout& layout) {
  if (positions.batches() != 1 && !layout.has_batch()) {
    fail("the layout must have a batch axis for positions of several batches",
         static_cast<std::int64_t>(positions.batches()));
  }
  check_sizes(frequencies, positions);
  return table_outer_of(frequencies.pairs(), positions.batches(), positions.tokens(), layout);
}

Shape table_outer(const std::vector<Frequencies>& sequences, const Positions& positions,
                  const Layout& layout) {
  if (sequences.empty()) fail("there must be frequencies of at least one sequence, got none");
  const auto batches = static_cast<Index>(sequences.size());
  const Index pairs = sequences.front().pairs();
  for (std::size_t i = 1; i < sequences.size(); ++i) {
    if (sequences[i].pairs() != pairs) {
      fail(fmt::format("the frequencies of sequence {} must have as many pairs as those of "
                       "sequence 0, {}",
                       i, pairs),
           static_cast<std::int64_t>(sequences[i].pairs()));
    }
  }
  if (batches == 1) return table_outer(sequences.front(), positions, layout);
  if (!layout.has_batch()) {
    fail("the layout must have a batch axis for frequencies of several sequences",
         static_cast<std::int64_t>(batches));
  }
  if (positions.batches() != 1 && positions.batches() != batches) {
    fail(fmt::format("positions must be of one batch, which all share, or of {}, as there are "
                     "frequencies",
                     batches),
         static_cast<std::int64_t>(positions.batches()));
  }
  for (const Frequencies& frequencies : sequences) check_sizes(frequencies, positions);
  return table_outer_of(pairs, batches, positions.tokens(), layout);
}

Determinants determinants_for(const std::vector<Frequencies>& sequences) {
  for (const Frequencies& frequencies : sequences) {
    if (determinants_for(frequencies.attention_factor().high) == Determinants::unknown)
      return Determinants::unknown;
  }
  return Determinants::nonzero;
}

namespace {

/// The position of a token that stands at the same place on every axis.
bool has_one_position(const Positions& positions, Index batch, Index token) {
  const DoubleDouble first = positions.at(0, batch, token);
  for (int axis = 1; axis < positions.axes(); ++axis) {
    const DoubleDouble other = positions.at(axis, batch, token);
    if (other.high != first.high || other.low != first.low) return false;
  }
  return true;
}

bool follows(DoubleDouble position, std::int64_t start, Index count) {
  const DoubleDouble next = DoubleDouble::from_integer(start + count);
  return position.high == next.high && position.low == next.low;
}

constexpr double largest_start = 4503599627370496.0;  // 2^52

bool starts_a_run(DoubleDouble position) {
  return position.low == 0 && std::abs(position.high) <= largest_start &&
         position.high == std::nearbyint(position.high);
}

/// A table whose rows lie one behind the other.
template <class Scalar>
class DenseRows {
 public:
  DenseRows(const RowFiller& rows, Scalar* cos, Scalar* sin) : rows_(rows), cos_(cos), sin_(sin) {}

  bool ends_before(Index) const { return false; }
  void add_range(Index row, std::int64_t first, Index count) {
    rows_.fill_range(first, count, cos_ + row * rows_.pairs(), sin_ + row * rows_.pairs());
  }
  void add_one(Index row, DoubleDouble position) {
    rows_.fill_one(position, cos_ + row * rows_.pairs(), sin_ + row * rows_.pairs());
  }
  void add_mixed(Index row, const DoubleDouble* positions) {
    rows_.fill_mixed(positions, cos_ + row * rows_.pairs(), sin_ + row * rows_.pairs());
  }
  void finish() {}

 private:
  const RowFiller& rows_;
  Scalar* cos_;
  Scalar* sin_;
};

/// A table whose rows have their entries apart: `inside` rows lie next to each other. Rows that
/// cannot be made there are made one behind the other, some at a time, and then moved.
template <class Scalar>
class RowsApart {
 public:
  RowsApart(const RowFiller& rows, Index inside, Scalar* cos, Scalar* sin)
      : rows_(rows), pairs_(rows.pairs()), inside_(inside), cos_(cos), sin_(sin) {}

  /// Whether rows from `row` on lie elsewhere than those before it.
  bool ends_before(Index row) const { return row % inside_ == 0; }

  void add_range(Index row, std::int64_t first, Index count) {
    const Index at = place(row);
    if (rows_.fill_columns(first, count, inside_, cos_ + at, sin_ + at)) return;
    for (Index i = 0; i < count; i += most) {
      const Index some = std::min(most, count - i);
      make_room(row + i, some);
      rows_.fill_range(first + i, some, next_cos(), next_sin());
      count_ += some;
    }
  }
  void add_one(Index row, DoubleDouble position) {
    make_room(row, 1);
    rows_.fill_one(position, next_cos(), next_sin());
    ++count_;
  }
  void add_mixed(Index row, const DoubleDouble* positions) {
    make_room(row, 1);
    rows_.fill_mixed(positions, next_cos(), next_sin());
    ++count_;
  }
  void finish() {
    if (count_ == 0) return;
    const Index at = place(first_);
    move_rows(static_cast<const Scalar*>(made_.data()), {pairs_, 1}, cos_ + at, {1, inside_},
              count_, pairs_);
    move_rows(static_cast<const Scalar*>(made_.data() + most * pairs_), {pairs_, 1}, sin_ + at,
              {1, inside_}, count_, pairs_);
    count_ = 0;
  }

 private:
  static constexpr Index most = 128;

  Index place(Index row) const { return row / inside_ * inside_ * pairs_ + row % inside_; }
  Scalar* next_cos() { return made_.data() + count_ * pairs_; }
  Scalar* next_sin() { return next_cos() + most * pairs_; }

  /// For `count` rows from `row` on, which follow those that wait or lie elsewhere.
  void make_room(Index row, Index count) {
    const bool follows = row == first_ + count_ && row % inside_ != 0;
    if (count_ > 0 && (!follows || count_ + count > most)) finish();
    if (count_ == 0) first_ = row;
    if (made_.empty()) made_.resize(static_cast<std::size_t>(2 * most * pairs_));
  }

  const RowFiller& rows_;
  Index pairs_;
  Index inside_;
  Scalar* cos_;
  Scalar* sin_;
  Index first_ = 0;
  Index count_ = 0;
  UninitialisedVector<Scalar> made_;
};

/// Gathers rows of consecutive positions, which cost less together.
template <class Rows>
class RunFiller {
 public:
  explicit RunFiller(Rows& rows) : rows_(rows) {}

  void add(Index row, DoubleDouble position) {
    if (count_ > 0 && row == row_ + count_ && follows(position, start_, count_) &&
        !rows_.ends_before(row)) {
      ++count_;
      return;
    }
    flush();
    if (starts_a_run(position)) {
      row_ = row;
      start_ = static_cast<std::int64_t>(position.high);
      count_ = 1;
    } else {
      rows_.add_one(row, position);
    }
  }

  void flush() {
    if (count_ > 0) rows_.add_range(row_, start_, count_);
    count_ = 0;
  }

 private:
  Rows& rows_;
  Index row_ = 0;
  std::int64_t start_ = 0;
  Index count_ = 0;
};

/// Fills the rows that visit_rows(fill) has fill(row, batch, token) called for.
template <class Rows, class VisitRows>
void fill_rows(Index pairs, const Positions& positions, Rows rows, const VisitRows& visit_rows) {
  RunFiller<Rows> runs(rows);
  std::vector<int> axes;
  std::vector<DoubleDouble> mixed;
  visit_rows([&](Index row, Index batch, Index token) {
    if (has_one_position(positions, batch, token)) {
      runs.add(row, positions.at(0, batch, token));
      return;
    }
    runs.flush();
    if (axes.empty()) {
      for (Index k = 0; k < pairs; ++k) axes.push_back(positions.axis(k));
      mixed.resize(axes.size());
    }
    for (std::size_t k = 0; k < axes.size(); ++k) mixed[k] = positions.at(axes[k], batch, token);
    rows.add_mixed(row, mixed.data());
  });
  runs.flush();
  rows.finish();
}

}  // namespace

namespace {

/// Fills the rows that are visited with the rates of one sequence, or of all.
template <class Scalar, class VisitRows>
void fill_with(const Frequencies& frequencies, const Positions& positions, Index inside,
               Scalar* cos, Scalar* sin, const VisitRows& visit_rows) {
  const RowFiller rows(frequencies);
  if (inside > 1) {
    fill_rows(rows.pairs(), positions, RowsApart<Scalar>(rows, inside, cos, sin), visit_rows);
  } else {
    fill_rows(rows.pairs(), positions, DenseRows<Scalar>(rows, cos, sin), visit_rows);
  }
}

}  // namespace

template <class Scalar>
void fill_table(const Frequencies& frequencies, const Positions& positions, const Layout& layout,
                Scalar* cos, Scalar* sin) {
  const Shape outer = table_outer(frequencies, positions, layout);
  fill_with(frequencies, positions, rows_inside(outer, layout.feature_axis()), cos, sin,
            [&](const auto& fill) { for_each_table_row(positions, layout, fill); });
}

template <class Scalar>
void fill_table(const std::vector<Frequencies>& sequences, const Positions& positions,
                const Layout& layout, Scalar* cos, Scalar* sin) {
  if (sequences.size() == 1) return fill_table(sequences.front(), positions, layout, cos, sin);
  const Shape outer = table_outer(sequences, positions, layout);
  const Index inside = rows_inside(outer, layout.feature_axis());
  const auto batches = static_cast<Index>(sequences.size());
  const bool tokens_outside = has_tokens_outside_batches(layout);
  for (Index batch = 0; batch < batches; ++batch) {
    fill_with(sequences[static_cast<std::size_t>(batch)], positions, inside, cos, sin,
              [&](const auto& fill) {
                for (Index token = 0; token < positions.tokens(); ++token) {
                  const Index row =
                      tokens_outside ? token * batches + batch : batch * positions.tokens() + token;
                  fill(row, positions.batches() == 1 ? 0 : batch, token);
                }
              });
  }
}

template EIGEN_ROPE_API void fill_table(const Frequencies&, const Positions&, const Layout&, float*,
                                        float*);
template EIGEN_ROPE_API void fill_table(const Frequencies&, const Positions&, const Layout&,
                                        double*, double*);
template EIGEN_ROPE_API void fill_table(const Frequencies&, const Positions&, const Layout&,
                                        long double*, long double*);
template EIGEN_ROPE_API void fill_table(const Frequencies&, const Positions&, const Layout&,
                                        Eigen::half*, Eigen::half*);
template EIGEN_ROPE_API void fill_table(const Frequencies&, const Positions&, const Layout&,
                                        Eigen::bfloat16*, Eigen::bfloat16*);
template EIGEN_ROPE_API void fill_table(const std::vector<Frequencies>&, const Positions&,
                                        const Layout&, float*, float*);
template EIGEN_ROPE_API void fill_table(const std::vector<Frequencies>&, const Positions&,
                                        const Layout&, double*, double*);
template EIGEN_ROPE_API void fill_table(const std::vector<Frequencies>&, const Positions&,
                                        const Layout&, long double*, long double*);
template EIGEN_ROPE_API void fill_table(const std::vector<Frequencies>&, const Positions&,
                                        const Layout&, Eigen::half*, Eigen::half*);
template EIGEN_ROPE_API void fill_table(const std::vector<Frequencies>&, const Positions&,
                                        const Layout&, Eigen::bfloat16*, Eigen::bfloat16*);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
