// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/rows/detail/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "eigen_rope/numbers/error.hpp"
#include "rows/fitting_layout.hpp"

namespace eigen_rope::detail {

Strides dense_strides(Index row_length, const Shape& outer) {
  Strides strides;
  Index stride = row_length;
  for (int axis = 0; axis < outer.rank(); ++axis) {
    strides.push_back(stride);
    stride *= outer[axis];
  }
  return strides;
}

void check_table_broadcasts(const Shape& x_outer, const Shape& table_outer) {
  for (int axis = 0; axis < std::max(x_outer.rank(), table_outer.rank()); ++axis) {
    if (table_outer[axis] == 1 || table_outer[axis] == x_outer[axis]) continue;
    const std::string allowed = x_outer[axis] == 1 ? "1" : fmt::format("1 or {}", x_outer[axis]);
    fail(fmt::format("table must have {} on axis {} (counted outwards from the feature axis) for x "
                     "with outer extents {}",
                     allowed, axis + 1, x_outer.text()),
         std::to_string(table_outer[axis]) + fitting_layouts(x_outer, table_outer));
  }
}

Strides table_strides(Index width, const Shape& table_outer) {
  Strides strides = dense_strides(width, table_outer);
  for (int axis = 0; axis < table_outer.rank(); ++axis) {
    if (table_outer[axis] == 1) strides[static_cast<std::size_t>(axis)] = 0;
  }
  return strides;
}

Walk make_walk(const Shape& outer, const Strides& x, const Strides& y, const Strides& table) {
  std::array<Index, max_rank> extents;
  for (int axis = 0; axis < outer.rank(); ++axis)
    extents[static_cast<std::size_t>(axis)] = outer[axis];
  return make_walk(outer.rank(), extents.data(), x.begin(), y.begin(), table.begin());
}

Walk make_walk(int axes, const Index* extents, const Index* x, const Index* y, const Index* table) {
  Walk walk;
  walk.count = 0;
  walk.rows = 0;
  if (std::find(extents, extents + axes, 0) != extents + axes) return walk;
  walk.rows = 1;
  for (int axis = 0; axis < axes; ++axis) {
    walk.rows *= extents[axis];
    const RowSteps level{extents[axis], x[axis], y[axis], table[axis]};
    if (level.count == 1) continue;
    if (walk.count > 0) {
      RowSteps& previous = walk.levels[static_cast<std::size_t>(walk.count - 1)];
      if (level.x == previous.x * previous.count && level.y == previous.y * previous.count &&
          level.table == previous.table * previous.count) {
        previous.count *= level.count;
        continue;
      }
    }
    walk.levels[static_cast<std::size_t>(walk.count++)] = level;
  }
  return walk;
}

}  // namespace eigen_rope::detail
