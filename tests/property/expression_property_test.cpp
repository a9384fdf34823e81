// SPDX-License-Identifier: Apache-2.0
//
// Whatever is drawn, a rotation inside an Eigen expression equals the definition applied to what
// the expression makes of its operands, in both layouts, on any device; and so does the rotation
// written in stock Eigen operations.
#define EIGEN_USE_THREADS
#include <gtest/gtest.h>
// After GoogleTest, which it needs.
#include <rapidcheck/gtest.h>

#include "eigen_rope/forms/composed.hpp"
#include "eigen_rope/forms/reference.hpp"
#include "support/rotation_cases.hpp"
#include "support/rotation_problem.hpp"

namespace eigen_rope::test {
namespace {

constexpr int rank = 3;

/// Three axes: a row, and two outer extents.
RotationProblem with_two_outer_axes(RotationProblem p) {
  p.outer.resize(rank - 1, 2);
  p.table_axes %= 4;
  return p;
}

template <int layout>
class Expressions {
 public:
  using Tensor = Eigen::Tensor<float, rank, layout>;

  explicit Expressions(const RotationProblem& p)
      : p_(p),
        table_(random_table<float>(p.table_width(), broadcast_outer(p.outer_shape(), p.table_axes),
                                   p.seed)),
        x_(random_tensor<float, rank, layout>(p.shape(), p.seed + 2)),
        b_(random_tensor<float, rank, layout>(p.shape(), p.seed + 3)) {}

  void check() {
    const Tensor rotated = defined(x_);
    same(
        rotated, [&](Tensor& y, const auto& device) { y.device(device) = node(x_); }, x_);
    same(
        composed(x_), [&](Tensor& y, const auto& device) { y.device(device) = node(x_); }, x_);
    // What surrounds the node is Eigen's arithmetic on its result, so the same bits as on the
    // stored result.
    same(
        Tensor(rotated * 2.0f + b_),
        [&](Tensor& y, const auto& device) { y.device(device) = node(x_) * 2.0f + b_; }, x_);
    const Tensor sum = x_ + b_;
    same(
        defined(sum), [&](Tensor& y, const auto& device) { y.device(device) = node(x_ + b_); },
        sum);
    same(
        Tensor(rotated + defined(b_)),
        [&](Tensor& y, const auto& device) { y.device(device) = node(x_) + node(b_); }, x_);
    same(
        rotated,
        [&](Tensor& y, const auto& device) {
          y = x_;
          y.device(device) = node(y);
        },
        x_);
  }

 private:
  template <class Expression>
  auto node(const Expression& expression) const {
    return rotation(expression, table_.view(), p_.pairing(), p_.direction);
  }

  Tensor defined(const Tensor& x) const {
    Tensor y(x.dimensions());
    reference::rotate(x.data(), y.data(), p_.shape(), table_.view(), p_.pairing(), p_.direction);
    return y;
  }

  Tensor composed(const Tensor& x) const {
    return composed::rotate(x, table_.view(), p_.pairing(), p_.direction);
  }

  /// `assign` on one thread and on two. Sums of two rotations may be off by what fused arithmetic
  /// allows for each.
  template <class Assign>
  void same(const Tensor& expected, const Assign& assign, const Tensor& x) const {
    static Eigen::ThreadPool pool(2);
    static Eigen::ThreadPoolDevice two(&pool, 2);
    Tensor y(x.dimensions());
    y.setConstant(77.0f);
    if (p_.threads == 2) {
      assign(y, two);
    } else {
      assign(y, Eigen::DefaultDevice());
    }
    const Case c{{p_.row_length(), p_.offset, p_.dims()},
                 p_.pairing(),
                 p_.width == Width::full,
                 p_.direction};
    const auto result = same_rotation(expected.data(), y.data(), x.data(), p_.shape(), c);
    if (!result) RC_FAIL(result.message());
  }

  RotationProblem p_;
  Table<float> table_;
  Tensor x_, b_;
};

RC_GTEST_PROP(ExpressionProperty, ColMajor, (const RotationProblem& p)) {
  Expressions<Eigen::ColMajor>(with_two_outer_axes(p)).check();
}
RC_GTEST_PROP(ExpressionProperty, RowMajor, (const RotationProblem& p)) {
  Expressions<Eigen::RowMajor>(with_two_outer_axes(p)).check();
}

}  // namespace
}  // namespace eigen_rope::test
