// SPDX-License-Identifier: Apache-2.0
//
// Whether every pair of a table can be inverted: c_A c_B + s_A s_B must not be 0 anywhere.
//
// One pass over the table, unless whoever made it knows already: a table of Cache has the
// determinant m^2 everywhere. Zero is the only obstacle.
#pragma once

#include <type_traits>
#include <utility>

#include "eigen_rope/numbers/detail/passive.hpp"
#include "eigen_rope/numbers/detail/rounded.hpp"
#include "eigen_rope/numbers/detail/scalars.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rows/detail/plan.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

template <class C, class = void>
inline constexpr bool has_equality = false;
template <class C>
inline constexpr bool has_equality<C, std::void_t<decltype(static_cast<bool>(
                                          std::declval<const C&>() == std::declval<const C&>()))>> =
    true;

/// Whether a C can be told from zero, which only the inverse needs.
template <class C>
constexpr bool can_be_tested() {
  return has_passive<C>() || has_equality<C>;
}

/// By value, where it is known: nested scalars need not convert from a number.
template <class C>
bool is_zero([[maybe_unused]] const C& determinant) {
  if constexpr (std::is_floating_point_v<C>) {
    return determinant == 0;
  } else if constexpr (has_passive<C>()) {
    return passive(determinant) == 0;
  } else if constexpr (has_equality<C>) {
    return static_cast<bool>(determinant == converted<C>(0.0));
  } else {
    fail(
        "the inverse must know the value of the table's scalar: give its namespace a function "
        "eigen_rope_passive(const S&)");
  }
}

template <class TableScalar>
void require_invertible(const RowPlan& plan, const TableView<TableScalar>& table) {
  // A table without entries may have however many rows.
  if (table.determinants == Determinants::nonzero || table.width == 0) return;
  using C = Widened<TableScalar>;
  const Runs runs = runs_of(plan);
  const Index rows = table.outer.size();
  const EntryPlaces places(table);
  for (Index row = 0; row < rows; ++row) {
    const TableScalar* cos = table.cos + places.at(row, 0);
    const TableScalar* sin = table.sin + places.at(row, 0);
    for (const Run& run : runs) {
      for (Index k = 0; k < run.count; ++k) {
        const Index a = (run.table_a + k * run.table_step) * places.step();
        const Index b = (run.table_b + k * run.table_step) * places.step();
        const C determinant = rounded_sum_of_products(converted<C>(cos[a]), converted<C>(cos[b]),
                                                      converted<C>(sin[a]), converted<C>(sin[b]));
        if (is_zero(determinant))
          fail("the table must have cos_A cos_B + sin_A sin_B != 0 everywhere to be inverted", 0.0);
      }
    }
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
