// SPDX-License-Identifier: Apache-2.0
//
// The pass behind jvp_to() over rows whose elements lie apart: some rows at a time are copied to
// where elements lie next to each other (rows/detail/row_tiles.hpp), rotated there, added, and
// copied to dy. The bits are those of jvp.hpp.
#pragma once

#include <algorithm>

#include "eigen_rope/kernels/detail/add_rows.hpp"
#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/numbers/detail/scratch.hpp"
#include "eigen_rope/rows/detail/row_tiles.hpp"
#include "eigen_rope/rows/detail/walk.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// What a JVP reads and writes, checked.
template <class X, class DX, class Y, class TableScalar, class TangentScalar>
struct ApartJvp {
  ApartRows<const X> x;
  ApartRows<const DX> dx;
  ApartRows<Y> dy;
  RowPlan plan_of_x;
  RowPlan plan_of_dx;
  Shape outer;
  TableView<TableScalar> table;
  TableView<TangentScalar> tangent;
};

template <class X, class DX, class Y, class TableScalar, class TangentScalar>
void run_jvp_apart(const ApartJvp<X, DX, Y, TableScalar, TangentScalar>& jvp,
                   const Device& device) {
  constexpr Index bytes = Index{16} * 1024;
  const RowTiles tiles(jvp.outer, jvp.dy.strides);
  const RowPlan& plan = jvp.plan_of_dx;
  RowPlan window = jvp.plan_of_x;
  window.offset = 0;
  window.row_length = window.rotary_dims;
  const Index length = plan.row_length;
  const Index dims = plan.rotary_dims;
  const Index most = std::clamp<Index>(bytes / (length * static_cast<Index>(sizeof(Y)) + 1), 8, 64);
  device.for_range(
      tiles.rows(), static_cast<double>(length) * 3 * sizeof(Y), [&](Index first, Index last) {
        Scratch<X> x(most * length);
        Scratch<DX> dx(most * length);
        Scratch<Y> moved(most * length);
        Scratch<Y> turned(most * dims);
        TileEntries<TableScalar> table(jvp.table, most);
        TileEntries<TangentScalar> tangent(jvp.tangent, most);
        tiles.visit(first, last, most, [&](const RowNumber& row, Index count) {
          constexpr RowSteps single{1, 0, 0, 0};
          take_rows(tiles, jvp.x, row, count, length, x.data());
          take_rows(tiles, jvp.dx, row, count, length, dx.data());
          table.take(tiles, row, count);
          tangent.take(tiles, row, count);
          rotate_rows(plan, RowBlock<DX, TableScalar, Y>{dx.data(),
                                                         moved.data(),
                                                         table.cos(),
                                                         table.sin(),
                                                         {count, length, length, table.width()},
                                                         single});
          rotate_rows(window, RowBlock<X, TangentScalar, Y>{x.data() + plan.offset,
                                                            turned.data(),
                                                            tangent.cos(),
                                                            tangent.sin(),
                                                            {count, length, dims, tangent.width()},
                                                            single});
          for (Index i = 0; i < count; ++i) {
            Y* y = moved.data() + i * length + plan.offset;
            add_rows(static_cast<const Y*>(y), static_cast<const Y*>(turned.data()) + i * dims, y,
                     dims, Stores::cached);
          }
          put_rows(tiles, jvp.dy, row, count, length, static_cast<const Y*>(moved.data()));
        });
      });
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
