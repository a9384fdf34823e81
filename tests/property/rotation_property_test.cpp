// SPDX-License-Identifier: Apache-2.0
//
// Whatever is drawn, the rotation equals its definition to the bit, and nothing but its rows is
// written.
#define EIGEN_USE_THREADS
#include <gtest/gtest.h>
// After GoogleTest, which it needs.
#include <rapidcheck/gtest.h>

#include <cstring>

#include "eigen_rope/forms/reference.hpp"
#include "eigen_rope/machine/streaming.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "support/axis_cases.hpp"
#include "support/only_target.hpp"
#include "support/rotation_cases.hpp"
#include "support/rotation_problem.hpp"

namespace eigen_rope::test {
namespace {

/// Memory in which rows lie as a problem has them, and nothing else does.
template <class Scalar>
class Field {
 public:
  Field(const RotationProblem& p, const std::vector<Index>& gaps, int features, Index shift)
      : shape_(p.shape()) {
    Index extent = 1;
    Index first = shift;
    for (std::size_t axis = 0; axis <= p.outer.size(); ++axis) {
      if (axis == static_cast<std::size_t>(p.features_behind(features))) {
        feature_stride_ = extent;
        extent *= p.row_length();
      }
      if (axis == p.outer.size()) break;
      const Index stride = extent + (axis < gaps.size() ? gaps[axis] : 0);
      const bool back = (p.backwards >> axis & 1U) != 0;
      strides_.push_back(back ? -stride : stride);
      if (back) first += stride * std::max<Index>(0, p.outer[axis] - 1);
      extent = stride * std::max<Index>(1, p.outer[axis]);
    }
    memory_.assign(static_cast<std::size_t>(shift + extent), static_cast<Scalar>(77));
    first_ = first;
  }

  StridedView<Scalar> view() {
    return {memory_.data() + first_, shape_, strides_, feature_stride_};
  }
  Index feature_stride() const { return feature_stride_; }

  /// The address of each row, in the order of a dense array.
  template <class Visit>
  void rows(Visit visit) {
    std::vector<Index> place(strides_.size(), 0);
    const Index count = shape_.size() / shape_[0];
    for (Index row = 0; row < count; ++row) {
      Index at = first_;
      for (std::size_t axis = 0; axis < place.size(); ++axis) at += place[axis] * strides_[axis];
      visit(row, memory_.data() + at);
      for (std::size_t axis = 0;
           axis < place.size() && ++place[axis] == shape_[static_cast<int>(axis) + 1]; ++axis)
        place[axis] = 0;
    }
  }

  void put(const std::vector<Scalar>& dense) {
    rows([&](Index row, Scalar* to) {
      for (Index d = 0; d < shape_[0]; ++d)
        to[d * feature_stride_] = dense[static_cast<std::size_t>(row * shape_[0] + d)];
    });
  }
  std::vector<Scalar> get() {
    std::vector<Scalar> dense(static_cast<std::size_t>(shape_.size()));
    rows([&](Index row, const Scalar* from) {
      for (Index d = 0; d < shape_[0]; ++d)
        dense[static_cast<std::size_t>(row * shape_[0] + d)] = from[d * feature_stride_];
    });
    return dense;
  }

  const std::vector<Scalar>& memory() const { return memory_; }

 private:
  Shape shape_;
  std::vector<Index> strides_{};
  Index feature_stride_ = 1;
  std::vector<Scalar> memory_{};
  Index first_ = 0;
};

Device device_for(int threads) {
  static Eigen::ThreadPool pool(2);
  static Eigen::ThreadPoolDevice two(&pool, 2);
  return threads == 2 ? Device(two) : Device();
}

class Settings {
 public:
  explicit Settings(const RotationProblem& p)
      : target_(kernel_targets()[p.target % kernel_targets().size()]) {
    set_streaming_threshold(p.stores == Stores::past_the_cache ? 0 : ~std::size_t{0});
  }
  ~Settings() { reset_streaming_threshold(); }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

 private:
  OnlyTarget target_;
};

template <class Scalar, class TableScalar>
void equals_the_definition(const RotationProblem& p) {
  const Settings settings(p);
  const Shape shape = p.shape();
  PlacedTable<TableScalar> table;
  static_cast<Table<TableScalar>&>(table) = random_table<TableScalar>(
      p.table_width(), broadcast_outer(p.outer_shape(), p.table_axes), p.seed);
  const std::vector<Scalar> values = random_values<Scalar>(shape.size(), p.seed + 2);
  std::vector<Scalar> expected(values.size());
  reference::rotate(values.data(), expected.data(), shape, table.view(), p.pairing(), p.direction);

  Field<Scalar> x(p, p.x_gaps, p.x_features, p.x_shift);
  x.put(values);
  Field<Scalar> y =
      p.place == Place::in_place ? x : Field<Scalar>(p, p.y_gaps, p.y_features, p.y_shift);
  if (x.feature_stride() != 1 || y.feature_stride() != 1)
    table = table.with_features_behind(p.features_behind(p.table_features));
  Field<Scalar> wanted = y;
  wanted.put(expected);
  const std::vector<Scalar> x_before = x.memory();
  if (p.place == Place::in_place) {
    rotate_inplace(y.view(), table.view(), p.pairing(), p.direction, device_for(p.threads));
  } else {
    const StridedView<Scalar> from = x.view();
    rotate_to(y.view(),
              StridedView<const Scalar>{from.data, from.shape, from.strides, from.feature_stride},
              table.view(), p.pairing(), p.direction, device_for(p.threads));
  }
  const Case c{
      {p.row_length(), p.offset, p.dims()}, p.pairing(), p.width == Width::full, p.direction};
  const std::vector<Scalar> got = y.get();
  const auto same = same_rotation(expected.data(), got.data(), values.data(), shape, c);
  if (!same) RC_FAIL(same.message());
  // Between the rows nothing has changed: with the rows' values put in, the whole memory is what
  // was wanted.
  y.put(expected);
  RC_ASSERT(std::memcmp(y.memory().data(), wanted.memory().data(),
                        y.memory().size() * sizeof(Scalar)) == 0);
  RC_ASSERT(std::memcmp(x.memory().data(), x_before.data(), x_before.size() * sizeof(Scalar)) == 0);
}

RC_GTEST_PROP(RotationProperty, Float, (const RotationProblem& p)) {
  equals_the_definition<float, float>(p);
}
RC_GTEST_PROP(RotationProperty, Double, (const RotationProblem& p)) {
  equals_the_definition<double, double>(p);
}
RC_GTEST_PROP(RotationProperty, Half, (const RotationProblem& p)) {
  equals_the_definition<Eigen::half, float>(p);
}
RC_GTEST_PROP(RotationProperty, Bfloat16, (const RotationProblem& p)) {
  equals_the_definition<Eigen::bfloat16, float>(p);
}
RC_GTEST_PROP(RotationProperty, HalfWithItsOwnTable, (const RotationProblem& p)) {
  equals_the_definition<Eigen::half, Eigen::half>(p);
}
RC_GTEST_PROP(RotationProperty, Bfloat16WithItsOwnTable, (const RotationProblem& p)) {
  equals_the_definition<Eigen::bfloat16, Eigen::bfloat16>(p);
}

}  // namespace
}  // namespace eigen_rope::test
