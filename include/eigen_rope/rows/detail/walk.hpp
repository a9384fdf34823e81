// SPDX-License-Identifier: Apache-2.0
//
// The order in which a tensor's rows are visited, with as few loops as its strides allow.
//
// Outer axes (all but the feature axis) become levels, fastest first. Neighbouring axes over which
// x, y and the table all advance evenly are merged, so [heads, tokens, 1] with one table row per
// token has two levels and a tensor whose table varies everywhere has one. A walk is a few numbers;
// it knows neither data nor scalars.
#pragma once

#include <algorithm>
#include <array>

#include "eigen_rope/machine/streaming.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"
#include "eigen_rope/numbers/strides.hpp"
#include "eigen_rope/rows/detail/rows.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

struct Walk {
  std::array<RowSteps, max_rank - 1> levels;  // the first `count` of them
  int count;
  Index rows;
  Stores stores = Stores::cached;
};

/// The strides of a dense tensor with rows of `row_length`.
EIGEN_ROPE_API Strides dense_strides(Index row_length, const Shape& outer);

/// The first of the outer axes along which a table has neither x's extent nor 1, or -1 where it
/// fits x. x has `axes` outer axes.
inline int first_misfit(int axes, const Index* x_outer, const Shape& table_outer) {
  if (table_outer.size() == 1) return -1;  // one row fits all
  for (int axis = 0; axis < (std::max)(axes, table_outer.rank()); ++axis) {
    const Index extent = table_outer[axis];
    if (extent != 1 && extent != (axis < axes ? x_outer[axis] : 1)) return axis;
  }
  return -1;
}
inline bool table_fits(const Shape& x_outer, const Shape& table_outer) {
  return first_misfit(x_outer.rank(), x_outer.begin(), table_outer) < 0;
}

/// Whether rows of `row_length` with these outer axes fit a table.
inline bool fits_table(Index row_length, int axes, const Index* x_outer, Index table_width,
                       const Shape& table_outer, const Pairing& pairing) {
  return fits_row(row_length, table_width, pairing) && first_misfit(axes, x_outer, table_outer) < 0;
}

/// Where x, or a table, has its features.
enum class FeaturesOn { fastest_axis, slower_axis };

inline FeaturesOn features_behind(int axes) {
  return axes == 0 ? FeaturesOn::fastest_axis : FeaturesOn::slower_axis;
}

/// Throws the eigen_rope::Error of a table whose outer axis `misfit` does not fit x.
[[noreturn]] EIGEN_ROPE_API void refuse_table_extent(int misfit, int axes, const Index* x_outer,
                                                     const Shape& table_outer, FeaturesOn of_x,
                                                     FeaturesOn of_table);

/// Throws eigen_rope::Error unless each outer axis of the table equals x's or is 1. The message
/// names layouts with the features where they are. x has `axes` outer axes.
inline void check_table_broadcasts(int axes, const Index* x_outer, const Shape& table_outer,
                                   FeaturesOn of_x, FeaturesOn of_table) {
  const int misfit = first_misfit(axes, x_outer, table_outer);
  if (misfit >= 0) refuse_table_extent(misfit, axes, x_outer, table_outer, of_x, of_table);
}
inline void check_table_broadcasts(const Shape& x_outer, const Shape& table_outer,
                                   FeaturesOn of_x = FeaturesOn::fastest_axis,
                                   FeaturesOn of_table = FeaturesOn::fastest_axis) {
  check_table_broadcasts(x_outer.rank(), x_outer.begin(), table_outer, of_x, of_table);
}

/// Writes the strides of the first `axes` outer axes of a dense table, 0 for those it broadcasts
/// along, and returns the distance of neighbouring entries of a row. Axes beyond them have
/// extent 1.
inline Index table_strides(Index width, const Shape& table_outer, int feature_axis, int axes,
                           Index* outer) {
  if (table_outer.size() == 1) {
    std::fill_n(outer, axes, Index{0});
    return 1;
  }
  auto stride = std::size_t{1};  // unsigned: the table's size may not be checked yet
  std::size_t entry = stride;
  for (int axis = 0; axis <= axes; ++axis) {
    if (axis == (std::min)(feature_axis, axes)) {
      entry = stride;
      stride *= static_cast<std::size_t>(width);
    }
    if (axis == axes) break;
    const Index extent = table_outer[axis];
    outer[axis] = extent == 1 ? 0 : static_cast<Index>(stride);
    stride *= static_cast<std::size_t>(extent);
  }
  return static_cast<Index>(entry);
}

/// Where the entries of a dense table lie.
struct TableSteps {
  Index entry;    ///< The distance of neighbours in a row.
  Strides outer;  ///< 0 on the axes it broadcasts along, those beyond its rank included.
};
EIGEN_ROPE_API TableSteps table_steps(Index width, const Shape& table_outer, int feature_axis = 0);

/// Throws the eigen_rope::Error of require_entries_in_rows().
[[noreturn]] EIGEN_ROPE_API void refuse_entries_apart(Index entry_step, int axes,
                                                      const Index* x_outer,
                                                      const Shape& table_outer);

/// Throws eigen_rope::Error unless the entries of a row, `entry_step` apart, lie next to each
/// other, as rows whose elements do need them. x has `axes` outer axes.
inline void require_entries_in_rows(Index entry_step, int axes, const Index* x_outer,
                                    const Shape& table_outer) {
  if (entry_step != 1) refuse_entries_apart(entry_step, axes, x_outer, table_outer);
}

/// Merged levels for rows with these outer extents and strides.
EIGEN_ROPE_API Walk make_walk(const Shape& outer, const Strides& x, const Strides& y,
                              const Strides& table);

/// Numbers for the outer axes of arrays whose rank is known when compiling, fastest axis first:
/// what an expression carries must be small.
template <int rank>
using OuterAxes = std::array<Index, static_cast<std::size_t>(rank >= 2 ? rank - 1 : 1)>;

/// Writes the walk over `axes` outer axes to where it stays: for one token, copying a walk would
/// take as long as making it.
EIGEN_ROPE_API void fill_walk(Walk& walk, int axes, const Index* extents, const Index* x,
                              const Index* y, const Index* table);

/// Likewise for rows whose elements lie apart: first the axis along which neighbours lie next to
/// each other in x and y, or in one of them, then the others in the order in which y lies in
/// memory.
EIGEN_ROPE_API void fill_lane_walk(Walk& walk, int axes, const Index* extents, const Index* x,
                                   const Index* y, const Index* table);

template <int rank>
Walk make_walk(const OuterAxes<rank>& extents, const OuterAxes<rank>& x, const OuterAxes<rank>& y,
               const OuterAxes<rank>& table) {
  Walk walk;
  fill_walk(walk, rank - 1, extents.data(), x.data(), y.data(), table.data());
  return walk;
}

template <int rank>
OuterAxes<rank> dense_strides(Index row_length, const OuterAxes<rank>& extents) {
  OuterAxes<rank> strides;
  auto stride = static_cast<std::size_t>(
      row_length);  // unsigned: where an extent is 0 others may be anything
  for (std::size_t axis = 0; axis < strides.size(); ++axis) {
    strides[axis] = static_cast<Index>(stride);
    stride *= static_cast<std::size_t>(extents[axis]);
  }
  return strides;
}

/// How a whole rotation of so many bytes, read and written together, should store. To be asked
/// once, by the calling thread.
template <class XScalar, class YScalar>
Stores stores_for(const XScalar* x, const YScalar* y, double bytes) {
  const bool in_place = static_cast<const void*>(x) == static_cast<const void*>(y);
  return !in_place && streams(static_cast<std::size_t>(bytes)) ? Stores::streaming : Stores::cached;
}

/// Where the row with linear index `row` lies.
inline RowPlace place_of_row(const Walk& walk, Index row) {
  RowPlace place;
  for (int i = 0; i < walk.count; ++i) {
    const RowSteps& level = walk.levels[static_cast<std::size_t>(i)];
    const Index next = row / level.count;
    const Index at = row - next * level.count;
    place.x += at * level.x;
    place.y += at * level.y;
    place.table += at * level.table;
    row = next;
  }
  return place;
}

inline const RowSteps& first_level(const Walk& walk) {
  static constexpr RowSteps single{1, 0, 0, 0};
  if (walk.count > 0) return walk.levels[0];
  return single;
}

/// How many rows from `row` on advance evenly.
inline Index even_rows(const Walk& walk, Index row) {
  const Index count = first_level(walk).count;
  return count - row % count;
}

/// Rotates rows first..last-1 of the walk in blocks as large as it allows, with one fence behind
/// all.
template <class XScalar, class TableScalar, class YScalar>
void rotate_walk(const RowPlan& plan, const Walk& walk, const XScalar* x, YScalar* y,
                 const TableScalar* cos, const TableScalar* sin, Index first, Index last) {
  if (first >= last) return;
  constexpr RowSteps single{1, 0, 0, 0};
  const RowSteps& inner = first_level(walk);
  const RowSteps& outer = walk.count > 1 ? walk.levels[1] : single;
  if (first == 0 && last == walk.rows && walk.count <= 2) {
    rotate_rows(plan, RowBlock<XScalar, TableScalar, YScalar>{x, y, cos, sin, read_alone(inner),
                                                              read_alone(outer), walk.stores});
    return;
  }
  while (first < last) {
    const RowPlace place = place_of_row(walk, first);
    RowBlock<XScalar, TableScalar, YScalar> block{
        x + place.x, y + place.y, cos + place.table, sin + place.table, inner, outer, walk.stores};
    block.fence = Fence::of_caller;
    const Index into_inner = first % inner.count;
    if (into_inner != 0 || last - first < inner.count) {
      block.inner.count = (std::min)(inner.count - into_inner, last - first);
      block.outer.count = 1;
    } else {
      const Index into_outer = (first / inner.count) % outer.count;
      block.outer.count = (std::min)(outer.count - into_outer, (last - first) / inner.count);
    }
    rotate_rows(plan, block);
    first += block.inner.count * block.outer.count;
  }
  if (walk.stores == Stores::streaming) flush_streamed_rows();
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
