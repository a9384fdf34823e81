// SPDX-License-Identifier: Apache-2.0
//
// The backward pass over rows whose elements lie apart: a few table rows at a time, with all rows
// that share them, are copied to where elements lie next to each other (rows/detail/row_tiles.hpp).
//
// Sums and dx are those of backward.hpp for such rows, bit for bit: each table row is summed by one
// thread, in the order of the axes.
#pragma once

#include <algorithm>

#include "eigen_rope/gradients/detail/backward_pass.hpp"
#include "eigen_rope/kernels/detail/pair_sums.hpp"
#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/numbers/detail/scratch.hpp"
#include "eigen_rope/rows/detail/row_tiles.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

template <class U, class G, class TableScalar>
class ApartBackward {
  using C = ComputeScalar<U, G>;

 public:
  ApartBackward(const BackwardPass<U, G>& pass, const TableView<TableScalar>& table,
                const Runs& runs, Products products, bool sums_wanted)
      : pass_(pass),
        runs_(runs),
        sums_wanted_(sums_wanted),
        shapes_(pass.outer, table.outer),
        row_numbers_(table_steps(1, table.outer).outer),
        table_rows_(shapes_.kept, pass.g_strides),
        sharing_(shapes_.summed.size()),
        sharing_at_once_(std::max<Index>(1, (std::min)(most_bytes / row_bytes(), sharing_))),
        rows_at_once_(std::clamp<Index>(most_bytes / (row_bytes() * sharing_at_once_), 1, 64)),
        dims_(sums_wanted ? pass.plan.rotary_dims : 0),
        products_(products),
        sums_(rows_at_once_ * PairSums<C>::size(dims_)),
        entries_(table, pass.dx != nullptr ? rows_at_once_ : 0),
        transpose_(pass.plan),
        u_(sums_wanted ? elements_at_once() : 0),
        g_(elements_at_once()),
        dx_(pass.dx != nullptr ? elements_at_once() : 0) {
    transpose_.direction = Direction::backward;
  }

  /// Rows first..last-1 of the table, in the order of table_rows.
  void run(Index first, Index last, FinishRow<U, G> finish) {
    table_rows_.visit(first, last, rows_at_once_, [&](const RowNumber& row, Index count) {
      if (!dx_.empty()) entries_.take(table_rows_, row, count);
      for (Index i = 0; i < count; ++i) sums_of(i).clear();
      for (Index shared = 0; shared < sharing_; shared += sharing_at_once_)
        add_and_rotate_rows(row, count, shared, (std::min)(sharing_at_once_, sharing_ - shared));
      if (!sums_wanted_) return;
      const Index at = RowTiles::place(row, row_numbers_);
      for (Index i = 0; i < count; ++i) finish(at + i * table_rows_.step(row_numbers_), sums_of(i));
    });
  }

 private:
  static constexpr Index most_bytes = Index{64} * 1024;

  Index length() const { return pass_.plan.row_length; }
  Index elements_at_once() const { return sharing_at_once_ * rows_at_once_ * length(); }
  Index row_bytes() const { return std::max<Index>(1, length() * static_cast<Index>(sizeof(G))); }

  /// The sums of one of the table rows that go together.
  PairSums<C> sums_of(Index i) {
    return {dims_, products_, sums_.data() + i * PairSums<C>::size(dims_)};
  }

  /// The rows that share `count` table rows from `row` on, `sharing` of those from number `shared`
  /// on for each.
  void add_and_rotate_rows(const RowNumber& row, Index count, Index shared, Index sharing) {
    const ApartRows<const U> u{pass_.u, pass_.u_strides, pass_.u_step};
    const ApartRows<const G> g{pass_.g, pass_.g_strides, pass_.g_step};
    const Index size = count * length();
    for (Index i = 0; i < sharing; ++i) {
      const RowNumber at = row_of(row, shared + i);
      if (sums_wanted_) take_rows(table_rows_, u, at, count, length(), u_.data() + i * size);
      take_rows(table_rows_, g, at, count, length(), g_.data() + i * size);
    }
    const Index offset = pass_.plan.offset;
    constexpr RowSteps single{1, 0, 0, 0};
    for (Index r = 0; sums_wanted_ && r < count; ++r) {
      const PairRows<U, G> rows{u_.data() + r * length() + offset,
                                g_.data() + r * length() + offset,
                                {sharing, size, size, 0},
                                single};
      PairSums<C> sums = sums_of(r);
      add_pairs(runs_, rows, sums);
    }
    if (dx_.empty()) return;
    rotate_rows(transpose_, RowBlock<G, TableScalar>{g_.data(),
                                                     dx_.data(),
                                                     entries_.cos(),
                                                     entries_.sin(),
                                                     {count, length(), length(), entries_.width()},
                                                     {sharing, size, size, 0}});
    const ApartRows<G> dx{pass_.dx, pass_.dx_strides, pass_.dx_step};
    for (Index i = 0; i < sharing; ++i) {
      put_rows(table_rows_, dx, row_of(row, shared + i), count, length(),
               static_cast<const G*>(dx_.data()) + i * size);
    }
  }

  /// The row with this number among those that share a table row.
  RowNumber row_of(RowNumber row, Index number) const {
    for (int axis = 0; axis < shapes_.summed.rank(); ++axis) {
      const Index extent = shapes_.summed[axis];
      if (extent == 1) continue;
      row[static_cast<std::size_t>(axis)] = number % extent;
      number /= extent;
    }
    return row;
  }

  const BackwardPass<U, G>& pass_;
  Runs runs_;
  bool sums_wanted_;
  TableRowShapes shapes_;
  Strides row_numbers_;
  RowTiles table_rows_;
  Index sharing_;
  Index sharing_at_once_;
  Index rows_at_once_;
  Index dims_;
  Products products_;
  Scratch<SumScalar<C>> sums_;
  TileEntries<TableScalar> entries_;
  RowPlan transpose_;
  Scratch<U> u_;
  Scratch<G> g_, dx_;
};

/// Calls finish(row, sums) for every row of the table, and writes dx where it is wanted.
template <class U, class G, class TableScalar>
void run_backward_apart(const BackwardPass<U, G>& pass, const TableView<TableScalar>& table,
                        const Runs& runs, Products products, bool sums_wanted, const Device& device,
                        FinishRow<U, G> finish) {
  const TableRowShapes shapes(pass.outer, table.outer);
  if (shapes.kept.size() == 0) return;
  const auto bytes_of_g = static_cast<double>(pass.plan.row_length) *
                          static_cast<double>(shapes.summed.size()) * sizeof(G);
  device.for_range(shapes.kept.size(), bytes_of_g * (pass.dx == nullptr ? 2 : 3),
                   [&](Index first, Index last) {
                     ApartBackward<U, G, TableScalar>(pass, table, runs, products, sums_wanted)
                         .run(first, last, finish);
                   });
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
