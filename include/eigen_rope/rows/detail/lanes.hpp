// SPDX-License-Identifier: Apache-2.0
//
// Rotating rows whose elements lie apart, while neighbouring rows lie next to each other: the
// features are on an axis that is not the fastest one.
//
//   element d of row r     x[d * features.x + place of r]
//
// Lanes of a vector then hold the same element of neighbouring rows, and a pair of one row is a
// pair of lanes at a constant distance. Rows are the levels of a walk (walk.hpp). Here stands the
// template for any scalar and any steps; float, double, half and bfloat16 go to kernels compiled
// once in the library where lanes lie next to each other. All give the bits of rows.hpp. The
// callers check shapes and share rows among threads.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include "eigen_rope/numbers/detail/scratch.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/rows/detail/walk.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// The distances of neighbours along the feature axis, in elements.
struct FeatureSteps {
  Index x;
  Index y;
  Index table;

  bool follow_each_other() const { return x == 1 && y == 1 && table == 1; }
};

/// Pointers are those of element 0 and entry 0 of the first row.
template <class XScalar, class TableScalar, class YScalar = XScalar>
struct LaneBlock {
  const XScalar* x;
  YScalar* y;
  const TableScalar* cos;
  const TableScalar* sin;
  FeatureSteps features;
  Walk rows;

  bool in_place() const { return static_cast<const void*>(x) == static_cast<const void*>(y); }
};

/// The runs of a plan in steps of memory, from the first element of the window.
inline Runs runs_of(const RowPlan& plan, const FeatureSteps& features) {
  Runs runs = runs_of(plan);
  for (int i = 0; i < runs.count; ++i) {
    Run& run = runs.run[static_cast<std::size_t>(i)];
    for (Index* at : {&run.in_a, &run.in_b, &run.in_step}) *at *= features.x;
    for (Index* at : {&run.out_a, &run.out_b, &run.out_step}) *at *= features.y;
    for (Index* at : {&run.table_a, &run.table_b, &run.table_step}) *at *= features.table;
  }
  return runs;
}

/// How many rows lie next to each other in x and in y, from the first level on.
inline Index neighbouring_rows(const Walk& walk) {
  Index rows = 1;
  for (int i = 0; i < walk.count; ++i) {
    const RowSteps& level = walk.levels[static_cast<std::size_t>(i)];
    if (level.x != rows || level.y != rows) break;
    rows *= level.count;
  }
  return rows;
}

/// Whether the pairs of these neighbouring rows follow each other, too.
inline bool is_in_one_piece(const RowPlan& plan, const FeatureSteps& features, Index rows) {
  return rows > 1 && plan.kind == PairKind::split_half && features.x == rows && features.y == rows;
}

/// Calls visit(place) for every combination of the levels from `first` to `last` - 1.
template <class Visit>
void for_each_place(const RowSteps* first, const RowSteps* last, const RowPlace& from,
                    const Visit& visit) {
  if (first == last) return visit(from);
  RowPlace place = from;
  const RowSteps& level = *(last - 1);
  for (Index i = 0; i < level.count; ++i) {
    for_each_place(first, last - 1, place, visit);
    place.x += level.x;
    place.y += level.y;
    place.table += level.table;
  }
}

template <class Visit>
void for_each_row(const Walk& rows, const Visit& visit) {
  for_each_place(rows.levels.data(), rows.levels.data() + rows.count, RowPlace{}, visit);
}

/// visit(d) for every element outside the window.
template <class Visit>
void for_each_outside(const RowPlan& plan, const Visit& visit) {
  for (Index d = 0; d < plan.offset; ++d) visit(d);
  for (Index d = plan.offset + plan.rotary_dims; d < plan.row_length; ++d) visit(d);
}

template <Direction direction, class XScalar, class TableScalar, class YScalar>
void rotate_lanes_loop(const RowPlan& plan, const LaneBlock<XScalar, TableScalar, YScalar>& block) {
  const Runs runs = runs_of(plan, block.features);
  const bool copies_rows = block.in_place() && plan.permutes();
  const XScalar* x = block.x + plan.offset * block.features.x;
  YScalar* y = block.y + plan.offset * block.features.y;
  if (!block.in_place()) {
    for_each_outside(plan, [&](Index d) {
      for_each_row(block.rows, [&](const RowPlace& at) {
        block.y[d * block.features.y + at.y] =
            converted<YScalar>(block.x[d * block.features.x + at.x]);
      });
    });
  }
  if (copies_rows) {
    const Runs from_copy = runs_of(plan, {1, block.features.y, block.features.table});
    Scratch<XScalar> row(plan.rotary_dims);
    for_each_row(block.rows, [&](const RowPlace& at) {
      for (Index d = 0; d < plan.rotary_dims; ++d) row.data()[d] = x[d * block.features.x + at.x];
      rotate_window<direction>(from_copy, static_cast<const XScalar*>(row.data()), y + at.y,
                               block.cos + at.table, block.sin + at.table);
    });
    return;
  }
  for (const Run& run : runs) {
    for (Index k = 0; k < run.count; ++k) {
      Runs pair{1, {run}};
      pair.run[0].count = 1;
      const Index in = k * run.in_step;
      const Index out = k * run.out_step;
      const Index entry = k * run.table_step;
      for_each_row(block.rows, [&](const RowPlace& at) {
        rotate_window<direction>(pair, x + in + at.x, y + out + at.y, block.cos + entry + at.table,
                                 block.sin + entry + at.table);
      });
    }
  }
}

/// In plain C++.
template <class XScalar, class TableScalar, class YScalar>
void rotate_lanes_plainly(const RowPlan& plan,
                          const LaneBlock<XScalar, TableScalar, YScalar>& block) {
  for_direction(plan.direction, [&](auto direction) { rotate_lanes_loop<direction>(plan, block); });
}

// Compiled once, with the instructions of the machine it runs on. The first level's steps through x
// and y are 1.
EIGEN_ROPE_API void rotate_lanes_quickly(const RowPlan& plan, const LaneBlock<float, float>& block);
EIGEN_ROPE_API void rotate_lanes_quickly(const RowPlan& plan,
                                         const LaneBlock<double, double>& block);
EIGEN_ROPE_API void rotate_lanes_quickly(const RowPlan& plan,
                                         const LaneBlock<Eigen::half, float>& block);
EIGEN_ROPE_API void rotate_lanes_quickly(const RowPlan& plan,
                                         const LaneBlock<Eigen::bfloat16, float>& block);

/// Whether there is a compiled kernel for these scalars.
template <class XScalar, class TableScalar, class YScalar>
inline constexpr bool has_lane_kernel =
    std::is_same_v<XScalar, YScalar>&& std::is_same_v<Widened<XScalar>, TableScalar> &&
    (std::is_same_v<TableScalar, float> || std::is_same_v<TableScalar, double>);

/// With the entries of a 16-bit table as floats, dense in the order of the rows.
template <class Scalar, class TableScalar>
void rotate_lanes_widened(const RowPlan& plan, const LaneBlock<Scalar, TableScalar>& block) {
  const Index width = plan.full_width ? plan.rotary_dims : plan.rotary_dims / 2;
  Walk entries = block.rows;
  LaneBlock<Scalar, float> widened{block.x, block.y, nullptr, nullptr, block.features, block.rows};
  Index size = 1;
  for (int i = 0; i < entries.count; ++i) {
    RowSteps& level = entries.levels[static_cast<std::size_t>(i)];
    RowSteps& to = widened.rows.levels[static_cast<std::size_t>(i)];
    if (level.table == 0) level.count = 1;
    to.table = level.table == 0 ? 0 : size;
    level.y = size;
    size *= level.count;
  }
  widened.features.table = size;
  Scratch<float> cos(size * width);
  Scratch<float> sin(size * width);
  for (Index k = 0; k < width; ++k) {
    for_each_row(entries, [&](const RowPlace& at) {
      const Index from = at.table + k * block.features.table;
      const Index to = at.y + k * size;
      cos.data()[to] = static_cast<float>(block.cos[from]);
      sin.data()[to] = static_cast<float>(block.sin[from]);
    });
  }
  widened.cos = cos.data();
  widened.sin = sin.data();
  rotate_lanes_quickly(plan, widened);
}

/// Any scalar, any steps.
template <class XScalar, class TableScalar, class YScalar>
void rotate_lanes(const RowPlan& plan, const LaneBlock<XScalar, TableScalar, YScalar>& block) {
  const RowSteps& lanes = first_level(block.rows);
  const bool next_to_each_other = block.rows.count == 0 || (lanes.x == 1 && lanes.y == 1);
  if constexpr (has_lane_kernel<XScalar, TableScalar, YScalar>) {
    if (next_to_each_other) return rotate_lanes_quickly(plan, block);
  } else if constexpr (is_16_bit<TableScalar> &&
                       has_lane_kernel<XScalar, Widened<XScalar>, YScalar> &&
                       std::is_same_v<Widened<XScalar>, float>) {
    if (next_to_each_other) return rotate_lanes_widened(plan, block);
  }
  rotate_lanes_plainly(plan, block);
}

/// The largest box of rows from `first` on that ends at `last` or before.
struct RowBox {
  RowPlace place;
  Walk rows;
};
inline RowBox box_of_rows(const Walk& walk, Index first, Index last) {
  RowBox box{place_of_row(walk, first), walk};
  Index size = 1;
  int level = 0;
  for (; level < walk.count; ++level) {
    const Index count = walk.levels[static_cast<std::size_t>(level)].count;
    if (first % (size * count) != 0 || size * count > last - first) break;
    size *= count;
  }
  if (level < walk.count) {
    RowSteps& cut = box.rows.levels[static_cast<std::size_t>(level)];
    const Index at = first / size % cut.count;
    cut.count = (std::min)(cut.count - at, (last - first) / size);
    size *= cut.count;
    box.rows.count = level + 1;
  }
  box.rows.rows = size;
  return box;
}

/// Rotates rows first..last-1 of the walk in blocks as large as it allows.
template <class XScalar, class TableScalar, class YScalar>
void rotate_lane_walk(const RowPlan& plan, const LaneBlock<XScalar, TableScalar, YScalar>& all,
                      Index first, Index last) {
  if (first == 0 && last == all.rows.rows && first < last) return rotate_lanes(plan, all);
  LaneBlock<XScalar, TableScalar, YScalar> block = all;
  while (first < last) {
    const RowBox box = box_of_rows(all.rows, first, last);
    block.x = all.x + box.place.x;
    block.y = all.y + box.place.y;
    block.cos = all.cos + box.place.table;
    block.sin = all.sin + box.place.table;
    block.rows = box.rows;
    rotate_lanes(plan, block);
    first += box.rows.rows;
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
