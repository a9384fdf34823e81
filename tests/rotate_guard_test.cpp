// SPDX-License-Identifier: Apache-2.0
//
// Nothing outside x, y and the table is read or written: each lies against a page that cannot be touched, once with its end, once with its
// beginning. Every kernel target, scalar, pairing and table width, row lengths of every kind, with stores through the cache and past it.
#include <gtest/gtest.h>

#include "guarded.hpp"
#include "only_target.hpp"
#include "rope/reference.hpp"
#include "rope/rotate_strided.hpp"
#include "rope/streaming.hpp"
#include "rotation_cases.hpp"

namespace rope::test {
namespace {

template <class Scalar, class TableScalar>
void rotate_guarded(Against against) {
  std::uint64_t seed = 300;
  for (const Case& c : cases_of(every_row)) {
    const Shape shape{c.row.length, 3, 2};
    const std::vector<Index> strides{c.row.length, 3 * c.row.length};
    const std::vector<Scalar> values = random_values<Scalar>(shape.size(), ++seed);
    for (const unsigned mask : {0U, 1U, 2U}) {
      SCOPED_TRACE(c.text() + ", table varies on outer axes " + std::to_string(mask));
      const auto table = random_table<TableScalar>(c.width(), broadcast_outer(shape.outer(), mask), ++seed);
      const Guarded<TableScalar> cos(table.cos, against);
      const Guarded<TableScalar> sin(table.sin, against);
      const TableView<TableScalar> view{cos.data(), sin.data(), table.width, table.outer};
      const Guarded<Scalar> x(values, against);
      const Guarded<Scalar> y(values, against);
      std::vector<Scalar> expected(values.size());
      reference::rotate(values.data(), expected.data(), shape, view, c.pairing, c.direction);
      rotate_to(StridedView<Scalar>{y.data(), shape, strides}, StridedView<const Scalar>{x.data(), shape, strides}, view, c.pairing,
                c.direction);
      ASSERT_TRUE(same_rotation(expected.data(), y.data(), values.data(), shape, c));
      rotate_inplace(StridedView<Scalar>{x.data(), shape, strides}, view, c.pairing, c.direction);
      ASSERT_TRUE(same_rotation(expected.data(), x.data(), values.data(), shape, c));
    }
  }
}

template <class Scalar, class TableScalar>
void rotate_guarded_everywhere() {
  for (const std::string& target : kernel_targets()) {
    const OnlyTarget only(target);
    for (const std::size_t threshold : {std::size_t{0}, ~std::size_t{0}}) {
      set_streaming_threshold(threshold);
      for (const Against against : {Against::end, Against::beginning}) {
        SCOPED_TRACE(target + (threshold == 0 ? ", past the cache" : ", through the cache"));
        rotate_guarded<Scalar, TableScalar>(against);
      }
    }
  }
  reset_streaming_threshold();
}

TEST(RotateGuard, Float) { rotate_guarded_everywhere<float, float>(); }
TEST(RotateGuard, Double) { rotate_guarded_everywhere<double, double>(); }
TEST(RotateGuard, Half) { rotate_guarded_everywhere<Eigen::half, float>(); }
TEST(RotateGuard, Bfloat16) { rotate_guarded_everywhere<Eigen::bfloat16, float>(); }
TEST(RotateGuard, HalfWithHalfTable) { rotate_guarded_everywhere<Eigen::half, Eigen::half>(); }

}  // namespace
}  // namespace rope::test
