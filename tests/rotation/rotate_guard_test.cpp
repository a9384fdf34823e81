// SPDX-License-Identifier: Apache-2.0
//
// Nothing outside x, y and the table is read or written, and every element of y is: each lies
// against a page that cannot be touched, once with its end, once with its beginning, and y begins
// as poison. Every kernel target, scalar, pairing and table width, rows and windows of every kind,
// a table that varies on either axis or on none. For every length of what vectors leave over see
// rotate_tail_guard_test.cpp.
#include <gtest/gtest.h>

#include "eigen_rope/forms/reference.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "support/guarded_rotation.hpp"
#include "support/guarded_table.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test::rotate_guard_tests {
namespace {

/// Two tokens and five heads: more than go together where heads lie outside tokens.
template <class Scalar, class TableScalar>
void rotate_guarded() {
  Combinations combinations;
  std::uint64_t seed = 300;
  for (const Case& c : cases_of(every_row)) {
    const Shape shape{c.row.length, 2, 5};
    const std::vector<Index> strides{c.row.length, 2 * c.row.length};
    const std::vector<Scalar> values = random_values<Scalar>(shape.size(), ++seed);
    for (const unsigned mask : {0U, 1U, 2U}) {
      SCOPED_TRACE(c.text() + ", table varies on outer axes " + std::to_string(mask));
      const auto table =
          random_table<TableScalar>(c.width(), broadcast_outer(shape.outer(), mask), ++seed);
      std::vector<Scalar> expected(values.size());
      reference::rotate(values.data(), expected.data(), shape, table.view(), c.pairing,
                        c.direction);
      for (const Against against : both_sides) {
        const GuardedTable<TableScalar> guarded_table(table, against);
        const Guarded<Scalar> x(values, against);
        const Guarded<Scalar> y(values, against);
        const StridedView<Scalar> to{y.data(), shape, strides};
        const auto check = [&] {
          ++combinations;
          ASSERT_TRUE(same_rotation(expected.data(), y.data(), values.data(), shape, c))
              << kernel_target();
          ASSERT_TRUE(y.margins_untouched()) << kernel_target();
        };
        rotate_on_every_path(StridedView<const Scalar>{x.data(), shape, strides}, to, y, values,
                             guarded_table, c, check);
        ASSERT_FALSE(testing::Test::HasFailure());
      }
    }
  }
}

TEST(RotateGuard, Float) { rotate_guarded<float, float>(); }
TEST(RotateGuard, Double) { rotate_guarded<double, double>(); }
TEST(RotateGuard, Half) { rotate_guarded<Eigen::half, float>(); }
TEST(RotateGuard, Bfloat16) { rotate_guarded<Eigen::bfloat16, float>(); }
TEST(RotateGuard, HalfWithHalfTable) { rotate_guarded<Eigen::half, Eigen::half>(); }

}  // namespace
}  // namespace eigen_rope::test::rotate_guard_tests
