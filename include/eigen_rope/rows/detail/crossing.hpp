// SPDX-License-Identifier: Apache-2.0
//
// Rotating rows whose elements lie apart where neither they nor neighbouring rows lie next to each
// other in both x and y: from one order of axes into another.
//
//   x --move--> rows in the second-level cache --rotate--> rows there --move--> y
//
// A move is left out on a side where the elements of a row lie next to each other already. Plain
// scalars whose rows lie next to each other on the other side go to kernels (cross_rows.hpp), with
// their entries moved at most. Rows are the levels of a walk (fill_lane_walk in walk.hpp). The bits
// are those of rows.hpp.
#pragma once

#include <algorithm>

#include "eigen_rope/numbers/detail/scratch.hpp"
#include "eigen_rope/rows/detail/cross_rows.hpp"
#include "eigen_rope/rows/detail/lanes.hpp"
#include "eigen_rope/rows/detail/move_rows.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

template <class XScalar, class TableScalar, class YScalar>
class Crossing {
 public:
  using Block = LaneBlock<XScalar, TableScalar, YScalar>;

  Crossing(const RowPlan& plan, const Block& block)
      : plan_(plan),
        block_(block),
        width_(plan.full_width ? plan.rotary_dims : plan.rotary_dims / 2),
        most_(rows_at_once(plan.row_length)),
        has_kernel_(has_kernel(block)),
        x_(!has_kernel_ && block.features.x != 1 ? most_ * plan.row_length : 0),
        y_(!has_kernel_ && block.features.y != 1 ? most_ * plan.row_length : 0),
        entries_(block.features.table != 1 ? 2 * most_ * width_ : 0) {}

  /// Rows first..last-1.
  void rotate(Index first, Index last) {
    if (has_kernel_ && entries_.empty()) return cross(first, last);
    while (first < last) {
      const Index count = (std::min)({most_, last - first, even_rows(block_.rows, first)});
      rotate_some(place_of_row(block_.rows, first), count);
      first += count;
    }
  }

 private:
  static bool has_kernel([[maybe_unused]] const Block& block) {
    if constexpr (has_lane_kernel<XScalar, TableScalar, YScalar>) {
      const RowSteps& lanes = first_level(block.rows);
      return (block.features.x == 1 && lanes.y == 1) || (block.features.y == 1 && lanes.x == 1);
    } else {
      return false;
    }
  }

  static Index rows_at_once(Index row_length) {
    constexpr Index bytes = Index{64} * 1024;
    const Index row = std::max<Index>(1, row_length * static_cast<Index>(sizeof(XScalar)));
    return std::clamp<Index>(bytes / row, 8, 128);
  }

  static constexpr RowSteps single{1, 0, 0, 0};

  /// Two levels at a time.
  void cross(Index first, Index last) {
    while (first < last) {
      const RowBox box = box_of_rows(block_.rows, first, last);
      const RowSteps* levels = box.rows.levels.data();
      const int count = box.rows.count;
      for_each_place(
          levels + (std::min)(count, 2), levels + count, box.place, [&](const RowPlace& at) {
            cross(block_.x + at.x, block_.y + at.y, block_.cos + at.table, block_.sin + at.table,
                  first_level(box.rows), count > 1 ? levels[1] : single);
          });
      first += box.rows.rows;
    }
  }

  void cross([[maybe_unused]] const XScalar* x, [[maybe_unused]] YScalar* y,
             [[maybe_unused]] const TableScalar* cos, [[maybe_unused]] const TableScalar* sin,
             [[maybe_unused]] const RowSteps& inner, [[maybe_unused]] const RowSteps& outer) {
    if constexpr (has_lane_kernel<XScalar, TableScalar, YScalar>) {
      const FeatureSteps features{block_.features.x, block_.features.y, 1};
      cross_rows(plan_,
                 CrossBlock<XScalar>{x, y, cos, sin, features, inner, outer, block_.rows.stores});
    }
  }

  void rotate_some(const RowPlace& at, Index count) {
    const RowSteps lanes = first_level(block_.rows);
    RowSteps inner{count, lanes.x, lanes.y, lanes.table};
    const XScalar* x = block_.x + at.x;
    YScalar* y = block_.y + at.y;
    const TableScalar* cos = block_.cos + at.table;
    const TableScalar* sin = block_.sin + at.table;
    if (!x_.empty()) {
      move_rows(x, {lanes.x, block_.features.x}, x_.data(), {plan_.row_length, 1}, count,
                plan_.row_length);
      x = x_.data();
      inner.x = plan_.row_length;
    }
    if (!entries_.empty()) {
      const Index rows = lanes.table == 0 ? 1 : count;
      TableScalar* of_sin = entries_.data() + most_ * width_;
      move_rows(cos, {lanes.table, block_.features.table}, entries_.data(), {width_, 1}, rows,
                width_);
      move_rows(sin, {lanes.table, block_.features.table}, of_sin, {width_, 1}, rows, width_);
      cos = entries_.data();
      sin = of_sin;
      inner.table = lanes.table == 0 ? 0 : width_;
    }
    if (has_kernel_) return cross(x, y, cos, sin, inner, single);
    if (!y_.empty()) inner.y = plan_.row_length;
    YScalar* to = y_.empty() ? y : y_.data();
    const Stores stores = y_.empty() ? block_.rows.stores : Stores::cached;
    rotate_rows(plan_,
                RowBlock<XScalar, TableScalar, YScalar>{x, to, cos, sin, inner, single, stores});
    if (y_.empty()) return;
    move_rows(static_cast<const YScalar*>(y_.data()), {plan_.row_length, 1}, y,
              {lanes.y, block_.features.y}, count, plan_.row_length, block_.rows.stores);
  }

  RowPlan plan_;
  Block block_;
  Index width_;
  Index most_;
  bool has_kernel_;
  Scratch<XScalar> x_;
  Scratch<YScalar> y_;
  Scratch<TableScalar> entries_;
};

/// Rows that fill a vector of the longest kind.
template <class Scalar>
inline constexpr Index rows_of_vector = std::is_same_v<Scalar, double> ? 8 : 16;

/// Whether so many rows lie next to each other that lanes along them pay: their pairs are passed
/// one by one.
template <class Scalar>
bool fills_lanes(const RowPlan& plan, const FeatureSteps& features, const Walk& walk) {
  const Index rows = neighbouring_rows(walk);
  constexpr Index vector = rows_of_vector<Scalar>;
  return is_in_one_piece(plan, features, rows) || rows >= 2 * vector || rows == vector;
}

/// Rotates rows first..last-1 of a walk that fill_lane_walk() made.
template <class XScalar, class TableScalar, class YScalar>
void rotate_apart_rows(const RowPlan& plan, const LaneBlock<XScalar, TableScalar, YScalar>& block,
                       Index first, Index last) {
  const bool has_kernel =
      has_lane_kernel<XScalar, Widened<XScalar>, YScalar> && is_plain<TableScalar>;
  if (!has_kernel || fills_lanes<XScalar>(plan, block.features, block.rows))
    return rotate_lane_walk(plan, block, first, last);
  Crossing<XScalar, TableScalar, YScalar>(plan, block).rotate(first, last);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
