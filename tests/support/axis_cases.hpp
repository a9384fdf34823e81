// SPDX-License-Identifier: Apache-2.0
//
// Tensors whose features are on any axis, and the same tensors with the features in front.
//
// Eigen's shuffle moves the axes, so that nothing of the library says where an element lies.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "support/rotation_cases.hpp"

namespace eigen_rope::test {

using detail::Widened;

/// A table whose entries of one row may lie behind some of its outer axes.
template <class Scalar>
struct PlacedTable : Table<Scalar> {
  int feature_axis = 0;

  TableView<Scalar> view() const {
    TableView<Scalar> view = Table<Scalar>::view();
    view.feature_axis = feature_axis;
    return view;
  }

  /// The same table in another order.
  PlacedTable with_features_behind(int axes) const {
    PlacedTable moved = *this;
    moved.feature_axis = axes;
    Index inside = 1;
    for (int axis = 0; axis < axes; ++axis) inside *= this->outer[axis];
    for (Index row = 0; row < this->outer.size(); ++row) {
      for (Index k = 0; k < this->width; ++k) {
        const auto from = static_cast<std::size_t>(row * this->width + k);
        const auto to = static_cast<std::size_t>(row / inside * inside * this->width + k * inside +
                                                 row % inside);
        moved.cos[to] = this->cos[from];
        moved.sin[to] = this->sin[from];
      }
    }
    return moved;
  }
};

/// Values in the order of a table's rows, from values in its memory's order.
template <class Value>
std::vector<Value> by_rows(const std::vector<Value>& values, Index width, const Shape& outer,
                           int feature_axis) {
  Index inside = 1;
  for (int axis = 0; axis < feature_axis; ++axis) inside *= outer[axis];
  std::vector<Value> result(values.size());
  if (values.empty()) return result;
  for (Index row = 0; row < outer.size(); ++row) {
    for (Index k = 0; k < width; ++k) {
      result[static_cast<std::size_t>(row * width + k)] = values[static_cast<std::size_t>(
          row / inside * inside * width + k * inside + row % inside)];
    }
  }
  return result;
}

/// One axis of tensors of some dimensions.
template <int rank, int layout>
class AlongAxis {
 public:
  using Sizes = Eigen::DSizes<Eigen::Index, rank>;

  AlongAxis(const Sizes& sizes, int axis) : axis_(axis), sizes_(sizes) {
    // Where the fastest axis is.
    const int front = layout == static_cast<int>(Eigen::ColMajor) ? 0 : rank - 1;
    std::vector<int> order;
    for (int i = 0; i < rank; ++i) {
      if (i != axis) order.push_back(i);
    }
    order.insert(front == 0 ? order.begin() : order.end(), axis);
    for (int i = 0; i < rank; ++i) {
      forth_[static_cast<std::size_t>(i)] = order[static_cast<std::size_t>(i)];
      back_[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = i;
    }
  }

  Index length() const { return sizes_[axis_]; }
  /// The extents outside the axis, the fastest first.
  Shape outer() const {
    Shape outer;
    for (int i = 0; i < rank; ++i) {
      const int axis = layout == static_cast<int>(Eigen::ColMajor) ? i : rank - 1 - i;
      if (axis != axis_) outer.push_back(sizes_[axis]);
    }
    return outer;
  }
  /// How many axes are faster.
  int place() const {
    return layout == static_cast<int>(Eigen::ColMajor) ? axis_ : rank - 1 - axis_;
  }
  /// Behind how many outer axes a table may have its features.
  std::vector<int> table_places() const {
    if (place() == 0) return {0};
    std::vector<int> places(static_cast<std::size_t>(rank));
    std::iota(places.begin(), places.end(), 0);
    return places;
  }

  template <class Tensor>
  Tensor to_front(const Tensor& x) const {
    return x.shuffle(forth_);
  }
  template <class Tensor>
  Tensor from_front(const Tensor& x) const {
    return x.shuffle(back_);
  }

 private:
  int axis_;
  Sizes sizes_;
  std::array<int, static_cast<std::size_t>(rank)> forth_{}, back_{};
};

/// The extents of a tensor, whose table varies on the outer axes in `mask`.
struct AxisCase {
  Shape shape;
  unsigned mask;

  template <class Scalar, int rank, int layout>
  Eigen::Tensor<Scalar, rank, layout> tensor(std::uint64_t seed) const {
    return random_tensor<Scalar, rank, layout>(shape, seed);
  }

  static Index dims_of(Index length) { return length < 8 ? length / 2 * 2 : length / 4 * 4 - 4; }
  /// A window that neither begins nor ends with the row if the row is long enough.
  static Pairing pairing(PairKind kind, Index length) {
    const Pairing pairing(kind);
    if (length % 4 == 0 && length != 12) return pairing;
    const Index dims = dims_of(length);
    return pairing.with_rotary_dims(dims).with_offset((length - dims + 1) / 2);
  }

  template <class Scalar, int rank, int layout>
  PlacedTable<Scalar> table(const AlongAxis<rank, layout>& along, bool full_width) const {
    const Index length = along.length();
    const Index dims = pairing(PairKind::split_half, length).rotary_dims(length);
    PlacedTable<Scalar> table;
    static_cast<Table<Scalar>&>(table) =
        random_table<Scalar>(full_width ? dims : dims / 2, broadcast_outer(along.outer(), mask), 5);
    return table;
  }
};

/// Calls check(x, table, pairing, direction, expected), tables in every order.
template <int rank, int layout, class Tensor, class Check>
void for_each_table(const AxisCase& c, const Tensor& x, int axis, Pairing pairing,
                    const Check& check) {
  using Scalar = typename Tensor::Scalar;
  const AlongAxis<rank, layout> along(x.dimensions(), axis);
  const Tensor first = along.to_front(x);
  for (const bool full_width : {false, true}) {
    const auto table = c.table<Widened<Scalar>>(along, full_width);
    for (const int place : along.table_places()) {
      const auto moved = table.with_features_behind(place);
      for (const Direction direction : every_direction) {
        SCOPED_TRACE(pairing.text() + (full_width ? ", full width" : "") + ", table " +
                     std::to_string(place));
        Tensor expected = rotation(first, table, pairing, direction);
        expected = along.from_front(expected);
        check(x, moved, pairing.along(axis), direction, expected);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

/// Extents around every vector's length on each axis, with tables that vary on some axes.
template <int rank, class Check>
void for_each_case(const Check& check) {
  const std::vector<std::vector<Index>> all{
      {16, 6, 8, 3}, {5, 32, 12, 2}, {33, 4, 16, 1}, {1, 40, 8, 3}, {2, 20, 6, 17}};
  for (const std::vector<Index>& extents : all) {
    Shape shape;
    for (int axis = 0; axis < rank; ++axis)
      shape.push_back(std::max<Index>(2, extents[static_cast<std::size_t>(axis)]));
    for (unsigned mask = 0; mask < 1U << (rank - 1); ++mask) {
      SCOPED_TRACE(shape.text() + ", table varies on " + std::to_string(mask));
      check(AxisCase{shape, mask});
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace eigen_rope::test
