// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/rows/detail/walk.hpp"

#include <fmt/core.h>

#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rows/table.hpp"
#include "rows/fitting_layout.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

Strides dense_strides(Index row_length, const Shape& outer) {
  Strides strides;
  Index stride = row_length;
  for (int axis = 0; axis < outer.rank(); ++axis) {
    strides.push_back(stride);
    stride *= outer[axis];
  }
  return strides;
}

namespace {

Shape shape_of_extents(int axes, const Index* extents) {
  Shape shape;
  for (int axis = 0; axis < axes; ++axis) shape.push_back(extents[axis]);
  return shape;
}

}  // namespace

void refuse_table_extent(int misfit, int axes, const Index* x_outer, const Shape& table_outer,
                         FeaturesOn of_x, FeaturesOn of_table) {
  const Shape x = shape_of_extents(axes, x_outer);
  const std::string allowed = x[misfit] == 1 ? "1" : fmt::format("1 or {}", x[misfit]);
  fail(fmt::format("table must have {} on axis {} (counted outwards from the feature axis) for x "
                   "with outer extents {}",
                   allowed, misfit + 1, x.text()),
       std::to_string(table_outer[misfit]) + fitting_layouts(x, table_outer, of_x, of_table));
}

TableSteps table_steps(Index width, const Shape& table_outer, int feature_axis) {
  std::array<Index, max_rank> outer;
  TableSteps places{
      table_strides(width, table_outer, feature_axis, table_outer.rank(), outer.data()), {}};
  for (int axis = 0; axis < table_outer.rank(); ++axis)
    places.outer.push_back(outer[static_cast<std::size_t>(axis)]);
  return places;
}

void refuse_entries_apart(Index entry_step, int axes, const Index* x_outer,
                          const Shape& table_outer) {
  const std::string named = names_of_fitting_layouts(FeaturesOn::fastest_axis,
                                                     shape_of_extents(axes, x_outer), table_outer);
  fail(
      "the table must have the entries of a row next to each other, as x has its features on the "
      "fastest axis" +
          (named.empty() ? named : " (make the cache for " + named + ")"),
      fmt::format("entries {} apart", entry_step));
}

void fill_walk(Walk& walk, int axes, const Index* extents, const Index* x, const Index* y,
               const Index* table) {
  // Unsigned: where an extent is 0 others may be anything.
  const auto product = [](Index a, Index b) {
    return static_cast<Index>(static_cast<std::size_t>(a) * static_cast<std::size_t>(b));
  };
  int count = 0;
  Index rows = 1;
  for (int axis = 0; axis < axes; ++axis) {
    const Index extent = extents[axis];
    if (extent == 1) continue;
    rows = product(rows, extent);
    if (count > 0) {
      RowSteps& previous = walk.levels[static_cast<std::size_t>(count - 1)];
      if (x[axis] == product(previous.x, previous.count) &&
          y[axis] == product(previous.y, previous.count) &&
          table[axis] == product(previous.table, previous.count)) {
        previous.count = product(previous.count, extent);
        continue;
      }
    }
    walk.levels[static_cast<std::size_t>(count++)] = {extent, x[axis], y[axis], table[axis]};
  }
  walk.count = rows == 0 ? 0 : count;
  walk.rows = rows;
  walk.stores = Stores::cached;
}

void fill_lane_walk(Walk& walk, int axes, const Index* extents, const Index* x, const Index* y,
                    const Index* table) {
  // In how many of x and y neighbours lie apart, and how far in y.
  const auto distance = [&](int axis) {
    const int apart = extents[axis] == 1 ? 2 : (x[axis] != 1 ? 1 : 0) + (y[axis] != 1 ? 1 : 0);
    return std::pair<int, Index>(apart, std::abs(y[axis]));
  };
  // By insertion, so that equal axes keep their order and nothing is allocated.
  std::array<int, max_rank> order{};
  for (int axis = 0; axis < axes; ++axis) {
    auto at = static_cast<std::size_t>(axis);
    for (; at > 0 && distance(axis) < distance(order[at - 1]); --at) order[at] = order[at - 1];
    order[at] = axis;
  }
  const auto ordered = [&](const Index* values) {
    std::array<Index, max_rank> result{};
    for (std::size_t i = 0; i < static_cast<std::size_t>(axes); ++i) result[i] = values[order[i]];
    return result;
  };
  fill_walk(walk, axes, ordered(extents).data(), ordered(x).data(), ordered(y).data(),
            ordered(table).data());
}

Walk make_walk(const Shape& outer, const Strides& x, const Strides& y, const Strides& table) {
  Walk walk;
  fill_walk(walk, outer.rank(), outer.begin(), x.begin(), y.begin(), table.begin());
  return walk;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
