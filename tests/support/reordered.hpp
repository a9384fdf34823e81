// SPDX-License-Identifier: Apache-2.0
//
// A tensor's elements with its axes in another order in memory.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "eigen_rope/rows/strided_view.hpp"

namespace eigen_rope::test {

/// Owns elements of a tensor whose axes, counted from the fastest of the dense one, lie in memory
/// in the order that a list names, fastest first.
template <class Scalar>
class Reordered {
 public:
  /// \param gap  elements that no index reaches, behind each stretch of the fastest axis
  Reordered(const std::vector<Scalar>& dense, const Shape& shape, const std::vector<int>& order,
            Index gap = 0)
      : shape_(shape), steps_(order.size()) {
    Index step = 1;
    for (const int axis : order) {
      steps_[static_cast<std::size_t>(axis)] = step;
      step *= shape[axis] + (axis == order.front() ? gap : 0);
    }
    values_.assign(static_cast<std::size_t>(step), nothing());
    places_.reserve(dense.size());
    for (std::size_t i = 0; i < dense.size(); ++i) {
      places_.push_back(place(static_cast<Index>(i)));
      values_[places_[i]] = dense[i];
    }
  }

  StridedView<Scalar> view() {
    StridedView<Scalar> view{values_.data(), shape_, {}, steps_[0]};
    for (std::size_t axis = 1; axis < steps_.size(); ++axis) view.strides.push_back(steps_[axis]);
    return view;
  }
  const std::vector<Scalar>& values() const { return values_; }
  std::vector<Scalar> dense() const {
    std::vector<Scalar> result(places_.size());
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = values_[places_[i]];
    return result;
  }
  /// Elements that no index reaches and that are no longer what they were.
  std::size_t damaged() const {
    std::vector<bool> ours(values_.size(), false);
    for (const std::size_t at : places_) ours[at] = true;
    std::size_t count = 0;
    for (std::size_t i = 0; i < values_.size(); ++i)
      count += !ours[i] && values_[i] != nothing() ? 1 : 0;
    return count;
  }

 private:
  static Scalar nothing() { return static_cast<Scalar>(777); }
  /// Where element i of the dense tensor lies.
  std::size_t place(Index i) const {
    Index result = 0;
    for (int axis = 0; axis < shape_.rank(); ++axis) {
      result += i % shape_[axis] * steps_[static_cast<std::size_t>(axis)];
      i /= shape_[axis];
    }
    return static_cast<std::size_t>(result);
  }

  Shape shape_;
  std::vector<Index> steps_;
  /// Where the elements of the dense tensor lie.
  std::vector<std::size_t> places_;
  std::vector<Scalar> values_;
};

/// Every order of `rank` axes in which others than axis 0, the features, are the fastest.
inline std::vector<std::vector<int>> orders_with_slower_features(int rank) {
  std::vector<int> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<int>> orders;
  do {
    if (order.front() != 0) orders.push_back(order);
  } while (std::next_permutation(order.begin(), order.end()));
  return orders;
}

}  // namespace eigen_rope::test
