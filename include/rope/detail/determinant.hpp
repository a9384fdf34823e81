// SPDX-License-Identifier: Apache-2.0
//
// Whether every pair of a table can be inverted: c_A c_B + s_A s_B must not be 0 anywhere.
//
// One pass over the table, unless whoever made it knows already: a table of CosSinCache has the determinant m^2 everywhere. Zero is the
// only obstacle.
#pragma once

#include "rope/detail/passive.hpp"
#include "rope/detail/plan.hpp"
#include "rope/detail/scalars.hpp"
#include "rope/error.hpp"
#include "rope/table.hpp"

namespace rope::detail {

/// By value: nested scalars need not convert from a number.
template <class C>
bool is_zero(const C& determinant) {
  if constexpr (std::is_floating_point_v<C>) {
    return determinant == 0;
  } else {
    return passive(determinant) == 0;
  }
}

template <class TableScalar>
void require_invertible(const RowPlan& plan, const TableView<TableScalar>& table) {
  if (table.determinants == Determinants::nonzero) return;
  using C = Widened<TableScalar>;
  const Runs runs = runs_of(plan);
  const Index rows = table.outer.size();
  for (Index row = 0; row < rows; ++row) {
    const TableScalar* cos = table.cos + row * table.width;
    const TableScalar* sin = table.sin + row * table.width;
    for (const Run& run : runs) {
      for (Index k = 0; k < run.count; ++k) {
        const Index a = run.table_a + k * run.table_step;
        const Index b = run.table_b + k * run.table_step;
        const C determinant = converted<C>(cos[a]) * converted<C>(cos[b]) + converted<C>(sin[a]) * converted<C>(sin[b]);
        if (is_zero(determinant)) fail("the table must have cos_A cos_B + sin_A sin_B != 0 everywhere to be inverted", 0.0);
      }
    }
  }
}

}  // namespace rope::detail
