// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/tables/cache.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "eigen_rope/tables/detail/row_filler.hpp"

namespace eigen_rope::detail {
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

Shape table_outer(const Frequencies& frequencies, const Positions& positions,
                  const Layout& layout) {
  if (positions.batches() != 1 && !layout.has_batch()) {
    fail("the layout must have a batch axis for positions of several batches",
         static_cast<std::int64_t>(positions.batches()));
  }
  check_sizes(frequencies, positions);
  Shape outer;
  for (int axis = 0; axis < layout.axes(); ++axis) {
    switch (layout[axis]) {
      case AxisRole::token: outer.push_back(positions.tokens()); break;
      case AxisRole::batch: outer.push_back(positions.batches()); break;
      case AxisRole::other:
      case AxisRole::feature: outer.push_back(1); break;
    }
  }
  checked_product(
      "the number of bytes in the table",
      checked_product("the number of entries in the table", frequencies.pairs(), outer.size()),
      sizeof(long double));
  return outer;
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

/// Gathers rows of consecutive positions, which cost less together.
template <class Scalar>
class RunFiller {
 public:
  RunFiller(const RowFiller& rows, Scalar* cos, Scalar* sin) : rows_(rows), cos_(cos), sin_(sin) {}

  void add(Index row, DoubleDouble position) {
    if (count_ > 0 && follows(position, start_, count_)) {
      ++count_;
      return;
    }
    flush();
    if (starts_a_run(position)) {
      row_ = row;
      start_ = static_cast<std::int64_t>(position.high);
      count_ = 1;
    } else {
      rows_.fill_one(position, cos_ + row * rows_.pairs(), sin_ + row * rows_.pairs());
    }
  }

  void flush() {
    rows_.fill_range(start_, count_, cos_ + row_ * rows_.pairs(), sin_ + row_ * rows_.pairs());
    count_ = 0;
  }

 private:
  const RowFiller& rows_;
  Scalar* cos_;
  Scalar* sin_;
  Index row_ = 0;
  std::int64_t start_ = 0;
  Index count_ = 0;
};

}  // namespace

namespace {

/// Rows that are made next to each other, some at a time, and then moved to where the entries of a
/// row lie apart.
template <class Scalar>
class RowsToMove {
 public:
  RowsToMove(Index pairs, Index inside, Scalar* cos, Scalar* sin)
      : pairs_(pairs),
        inside_(inside),
        cos_(cos),
        sin_(sin),
        made_(static_cast<std::size_t>(2 * most * pairs)) {}

  Scalar* cos() { return made_.data(); }
  Scalar* sin() { return made_.data() + most * pairs_; }
  /// Whether the row must wait for those before it to be moved.
  bool must_move_before(Index row) const {
    return row - first_ == most || row / inside_ != first_ / inside_;
  }
  /// Where a row is made.
  Index place(Index row) const { return row - first_; }

  /// Moves all rows before `row`.
  void move(Index row) {
    const Index at = first_ / inside_ * inside_ * pairs_ + first_ % inside_;
    const Index count = row - first_;
    move_rows(static_cast<const Scalar*>(cos()), {pairs_, 1}, cos_ + at, {1, inside_}, count,
              pairs_);
    move_rows(static_cast<const Scalar*>(sin()), {pairs_, 1}, sin_ + at, {1, inside_}, count,
              pairs_);
    first_ = row;
  }

 private:
  static constexpr Index most = 128;

  Index pairs_;
  Index inside_;
  Scalar* cos_;
  Scalar* sin_;
  Index first_ = 0;
  UninitialisedVector<Scalar> made_;
};

}  // namespace

template <class Scalar>
void fill_table(const Frequencies& frequencies, const Positions& positions, const Layout& layout,
                Scalar* cos, Scalar* sin) {
  const Index pairs = frequencies.pairs();
  const RowFiller rows(frequencies);
  const Shape outer = table_outer(frequencies, positions, layout);
  const Index inside = rows_inside(outer, layout.feature_axis());
  std::optional<RowsToMove<Scalar>> apart;
  if (inside > 1) apart.emplace(pairs, inside, cos, sin);
  if (apart) {
    cos = apart->cos();
    sin = apart->sin();
  }
  RunFiller<Scalar> runs(rows, cos, sin);
  std::vector<int> axes;
  std::vector<DoubleDouble> mixed;
  for_each_table_row(positions, layout, [&](Index row, Index batch, Index token) {
    if (apart) {
      if (apart->must_move_before(row)) {
        runs.flush();
        apart->move(row);
      }
      row = apart->place(row);
    }
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
    rows.fill_mixed(mixed.data(), cos + row * pairs, sin + row * pairs);
  });
  runs.flush();
  if (apart) apart->move(outer.size());
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

}  // namespace eigen_rope::detail
