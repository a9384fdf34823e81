// SPDX-License-Identifier: Apache-2.0
//
// Rows of several arrays whose elements lie apart, visited a few neighbours at a time.
//
// Rows are counted along the outer axes, the lane axis first: that along which neighbours lie
// closest. A tile is some rows along it. What a visitor copies of a tile into memory of its own
// lies row by row there, so that what is written for rows in one piece serves.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>

#include "eigen_rope/numbers/detail/scratch.hpp"
#include "eigen_rope/numbers/shape.hpp"
#include "eigen_rope/numbers/strides.hpp"
#include "eigen_rope/rows/detail/move_rows.hpp"
#include "eigen_rope/rows/detail/walk.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// Which row: one number for each outer axis.
using RowNumber = std::array<Index, max_rank>;

class RowTiles {
 public:
  /// Rows of these outer extents; `strides` are those of the array whose memory counts most.
  RowTiles(const Shape& outer, const Strides& strides) : outer_(outer) {
    for (int axis = 0; axis < outer.rank(); ++axis) {
      const bool longer = outer[axis] > 1;
      if (longer && (outer[lanes_] == 1 || distance(strides, axis) < distance(strides, lanes_)))
        lanes_ = axis;
    }
  }

  Index rows() const { return outer_.size(); }

  /// The distance of neighbouring rows of a tile in an array with these strides.
  Index step(const Strides& strides) const { return strides[static_cast<std::size_t>(lanes_)]; }

  /// Where a row begins in an array with these strides.
  static Index place(const RowNumber& row, const Strides& strides) {
    Index place = 0;
    for (std::size_t axis = 0; axis < strides.size(); ++axis) place += row[axis] * strides[axis];
    return place;
  }

  /// visit(row, count) for tiles of at most `most` rows that make up the rows first..last-1.
  template <class Visit>
  void visit(Index first, Index last, Index most, const Visit& visit) const {
    const Index lanes = outer_[lanes_];
    while (first < last) {
      RowNumber row{};
      Index rest = first / lanes;
      row[static_cast<std::size_t>(lanes_)] = first % lanes;
      for (int axis = 0; axis < outer_.rank(); ++axis) {
        if (axis == lanes_) continue;
        row[static_cast<std::size_t>(axis)] = rest % outer_[axis];
        rest /= outer_[axis];
      }
      const Index count = (std::min)({most, last - first, lanes - first % lanes});
      visit(row, count);
      first += count;
    }
  }

 private:
  static Index distance(const Strides& strides, int axis) {
    return std::abs(strides[static_cast<std::size_t>(axis)]);
  }

  Shape outer_;
  int lanes_ = 0;
};

/// Rows of an array, the features in front.
template <class T>
struct ApartRows {
  T* data;
  Strides strides;
  Index step;  ///< The distance of neighbours in a row.

  T* at(const RowNumber& row) const { return data + RowTiles::place(row, strides); }
};

/// Copies `count` rows of a tile to memory where they follow each other.
template <class T, class To>
void take_rows(const RowTiles& tiles, const ApartRows<T>& rows, const RowNumber& row, Index count,
               Index length, To* to) {
  move_rows(static_cast<const To*>(rows.at(row)), {tiles.step(rows.strides), rows.step}, to,
            {length, 1}, count, length);
}

/// Copies them back.
template <class T>
void put_rows(const RowTiles& tiles, const ApartRows<T>& rows, const RowNumber& row, Index count,
              Index length, const T* from) {
  move_rows(from, {length, 1}, rows.at(row), {tiles.step(rows.strides), rows.step}, count, length);
}

/// The entries of the rows of a tile, copied to where those of a row follow each other.
template <class Scalar>
class TileEntries {
 public:
  TileEntries(const TableView<Scalar>& table, Index most)
      : width_(table.width), most_(most), entries_(2 * most * width_) {
    const TableSteps places = table_steps(table.width, table.outer, table.feature_axis);
    cos_ = {table.cos, places.outer, places.entry};
    sin_ = {table.sin, places.outer, places.entry};
  }

  void take(const RowTiles& tiles, const RowNumber& row, Index count) {
    take_rows(tiles, cos_, row, count, width_, entries_.data());
    take_rows(tiles, sin_, row, count, width_, entries_.data() + most_ * width_);
  }

  const Scalar* cos() const { return entries_.data(); }
  const Scalar* sin() const { return entries_.data() + most_ * width_; }
  Index width() const { return width_; }

 private:
  Index width_;
  Index most_;
  ApartRows<const Scalar> cos_{};
  ApartRows<const Scalar> sin_{};
  Scratch<Scalar> entries_;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
