// SPDX-License-Identifier: Apache-2.0
//
// The one pass behind every gradient: row by row of the table, over all rows of x that share it.
//
//   sums (pair_sums.hpp) of u, the rotation's input or output, and g, the gradient with respect to
//       its output
//   dx = the transposed rotation of g
//
// Both work on pieces that stay in the second-level cache, so memory is read and written once. A
// table row is summed by one thread in memory order: the bits depend neither on the number of
// threads nor on where the tensors lie. What becomes of a row's sums is the caller's: finish(row,
// sums), where `row` counts along the table's outer axes, fastest first. The callers know
// parameters and results. Rows whose elements lie apart have a pass of their own
// (backward_apart.hpp).
#pragma once

#include <algorithm>

#include "eigen_rope/gradients/detail/backward_apart.hpp"
#include "eigen_rope/gradients/detail/backward_pass.hpp"
#include "eigen_rope/kernels/detail/pair_sums.hpp"
#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/numbers/detail/scratch.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/rows/detail/walk.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// Table rows go together whose rows of g have about so many bytes: they are read twice, from the
/// second-level cache the second time.
inline constexpr Index backward_chunk_bytes = Index{128} * 1024;

/// Runs whose table_a counts pairs, whatever the table's width.
inline Runs pair_runs(RowPlan plan) {
  plan.full_width = false;
  return runs_of(plan);
}

/// The rows that share one table row, as a walk of its own, and the table rows themselves.
struct BackwardWalks {
  Walk rows;
  Walk sharing;
};

/// Sums over the rows of table row `row`.
template <class U, class G, class C>
void add_table_row(const BackwardPass<U, G>& pass, const BackwardWalks& walks, const Runs& runs,
                   const RowPlace& at, PairSums<C>& sums) {
  RowSteps inner = first_level(walks.sharing);
  const RowSteps outer = walks.sharing.count > 1 ? walks.sharing.levels[1] : RowSteps{1, 0, 0, 0};
  const Index together = inner.count * outer.count;
  for (Index done = 0; done < walks.sharing.rows; done += together) {
    const RowPlace within = place_of_row(walks.sharing, done);
    const PairRows<U, G> rows{pass.u + at.x + within.x + pass.plan.offset,
                              pass.g + at.y + within.y + pass.plan.offset, inner, outer};
    add_pairs(runs, rows, sums);
  }
}

/// Both of table row `row` at once, where there is a loop for that.
template <class U, class G, class TableScalar, class C>
bool add_and_rotate_table_row([[maybe_unused]] const BackwardPass<U, G>& pass,
                              [[maybe_unused]] const BackwardWalks& read,
                              [[maybe_unused]] const BackwardWalks& written,
                              [[maybe_unused]] const RowPlan& transpose,
                              [[maybe_unused]] const Runs& runs,
                              [[maybe_unused]] const TableView<TableScalar>& table,
                              [[maybe_unused]] Index row, [[maybe_unused]] PairSums<C>& sums) {
  if constexpr (may_add_and_rotate<U, G, TableScalar>) {
    const auto same_levels = [&](int level) {
      const auto i = static_cast<std::size_t>(level);
      return read.sharing.levels[i].count == written.sharing.levels[i].count;
    };
    const int levels = read.sharing.count;
    if (pass.dx == nullptr || sums.products() != Products::difference || levels > 2 ||
        written.sharing.count != levels)
      return false;
    for (int level = 0; level < levels; ++level) {
      if (!same_levels(level)) return false;
    }
    constexpr RowSteps single{1, 0, 0, 0};
    const auto level_of = [&](const Walk& walk, int level) {
      return levels > level ? walk.levels[static_cast<std::size_t>(level)] : single;
    };
    const RowPlace at = place_of_row(read.rows, row);
    const RowPlace dx_at = place_of_row(written.rows, row);
    const Index offset = pass.plan.offset;
    return add_and_rotate(
        transpose, runs,
        RotatedPairRows<G>{pass.u + at.x + offset, pass.g + at.y + offset,
                           pass.dx + dx_at.y + offset, table.cos + at.table, table.sin + at.table,
                           level_of(read.sharing, 0), level_of(read.sharing, 1),
                           level_of(written.sharing, 0).y, level_of(written.sharing, 1).y,
                           written.rows.stores},
        sums);
  } else {
    return false;
  }
}

/// dx of `count` table rows from `row` on, which advance evenly.
template <class U, class G, class TableScalar>
void rotate_table_rows(const BackwardPass<U, G>& pass, const BackwardWalks& walks,
                       const RowPlan& transpose, const TableView<TableScalar>& table, Index row,
                       Index count) {
  const RowPlace at = place_of_row(walks.rows, row);
  RowSteps tokens = first_level(walks.rows);
  tokens.count = count;
  const RowSteps heads = first_level(walks.sharing);
  const bool heads_inside = heads.y < tokens.y || tokens.count == 1;
  for (Index done = 0; done < walks.sharing.rows; done += heads.count) {
    const RowPlace within = place_of_row(walks.sharing, done);
    rotate_rows(transpose,
                RowBlock<G, TableScalar>{pass.g + at.x + within.x, pass.dx + at.y + within.y,
                                         table.cos + at.table, table.sin + at.table,
                                         heads_inside ? heads : tokens,
                                         heads_inside ? tokens : heads, walks.rows.stores});
  }
}

/// \param table   cos and sin for dx; may be null where dx is not wanted
template <class U, class G, class TableScalar>
void run_backward(const BackwardPass<U, G>& pass, const TableView<TableScalar>& table,
                  Products products, bool sums_wanted, const Device& device,
                  FinishRow<U, G> finish) {
  using C = ComputeScalar<U, G>;
  // Of however many rows.
  if (pass.plan.row_length == 0 || (!sums_wanted && pass.dx == nullptr)) return;
  RowPlan transpose = pass.plan;
  transpose.direction = Direction::backward;
  Runs runs = pair_runs(pass.plan);
  if (pass.from == GradientsFrom::output) {
    for (int i = 0; i < runs.count; ++i) {
      Run& run = runs.run[static_cast<std::size_t>(i)];
      run.in_a = run.out_a;
      run.in_b = run.out_b;
      run.in_step = run.out_step;
    }
  }
  const EntryPlaces entries(table);
  if (!pass.is_of_rows() || entries.step() != 1)
    return run_backward_apart(pass, table, runs, products, sums_wanted, device, finish);
  // Two walks: over the table's rows, and over the rows of x that share one.
  const auto [kept, summed] = TableRowShapes(pass.outer, table.outer);
  const Strides table_steps = detail::table_steps(table.width, table.outer).outer;
  const BackwardWalks read{make_walk(kept, pass.u_strides, pass.g_strides, table_steps),
                           make_walk(summed, pass.u_strides, pass.g_strides, Strides{})};
  BackwardWalks written{};
  if (pass.dx != nullptr) {
    written = {make_walk(kept, pass.g_strides, pass.dx_strides, table_steps),
               make_walk(summed, pass.g_strides, pass.dx_strides, Strides{})};
  }
  const auto bytes_of_g = static_cast<double>(pass.plan.row_length) *
                          static_cast<double>(read.sharing.rows) * sizeof(G);
  const double bytes_per_row = bytes_of_g * (pass.dx == nullptr ? 2 : 3);
  if (pass.dx != nullptr)
    written.rows.stores =
        stores_for(pass.g, pass.dx, static_cast<double>(read.rows.rows) * bytes_per_row);
  const auto chunk =
      std::max<Index>(1, static_cast<Index>(backward_chunk_bytes / (std::max)(1.0, bytes_of_g)));
  device.for_range(read.rows.rows, bytes_per_row, [&](Index first, Index last) {
    const Index dims = sums_wanted ? pass.plan.rotary_dims : 0;
    Scratch<SumScalar<C>> memory(PairSums<C>::size(dims));
    PairSums<C> sums(dims, products, memory.data());
    sums.clear();
    const auto finish_row = [&](Index row) {
      finish(place_of_row(read.rows, row).table / std::max<Index>(1, table.width), sums);
    };
    for (Index row = first; row < last;) {
      if (sums_wanted &&
          add_and_rotate_table_row(pass, read, written, transpose, runs, table, row, sums)) {
        finish_row(row++);
        continue;
      }
      Index count = (std::min)(chunk, last - row);
      if (pass.dx != nullptr) count = (std::min)(count, even_rows(written.rows, row));
      for (Index i = 0; sums_wanted && i < count; ++i) {
        sums.clear();
        add_table_row(pass, read, runs, place_of_row(read.rows, row + i), sums);
        finish_row(row + i);
      }
      if (pass.dx != nullptr) rotate_table_rows(pass, written, transpose, table, row, count);
      row += count;
    }
    if (written.rows.stores == Stores::streaming) flush_streamed_rows();
  });
}

// For the scalars that have kernels the library has it compiled.
extern template EIGEN_ROPE_API void run_backward(const BackwardPass<float, float>&,
                                                 const TableView<float>&, Products, bool,
                                                 const Device&, FinishRow<float, float>);
extern template EIGEN_ROPE_API void run_backward(const BackwardPass<double, double>&,
                                                 const TableView<double>&, Products, bool,
                                                 const Device&, FinishRow<double, double>);
extern template EIGEN_ROPE_API void run_backward(const BackwardPass<Eigen::half, Eigen::half>&,
                                                 const TableView<float>&, Products, bool,
                                                 const Device&,
                                                 FinishRow<Eigen::half, Eigen::half>);
extern template EIGEN_ROPE_API void run_backward(const BackwardPass<Eigen::half, Eigen::half>&,
                                                 const TableView<Eigen::half>&, Products, bool,
                                                 const Device&,
                                                 FinishRow<Eigen::half, Eigen::half>);
extern template EIGEN_ROPE_API void run_backward(
    const BackwardPass<Eigen::bfloat16, Eigen::bfloat16>&, const TableView<float>&, Products, bool,
    const Device&, FinishRow<Eigen::bfloat16, Eigen::bfloat16>);
extern template EIGEN_ROPE_API void run_backward(
    const BackwardPass<Eigen::bfloat16, Eigen::bfloat16>&, const TableView<Eigen::bfloat16>&,
    Products, bool, const Device&, FinishRow<Eigen::bfloat16, Eigen::bfloat16>);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
