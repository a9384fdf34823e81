// SPDX-License-Identifier: Apache-2.0
//
// Derivatives along a direction touch nothing outside x, dx, dy and the table, row by row, and
// write every element of dy, what lies outside the window included. Every scalar, pairing, table
// width and kernel target.
#include <gtest/gtest.h>

#include "eigen_rope/gradients/tangent.hpp"
#include "support/guarded_table.hpp"
#include "support/only_target.hpp"

namespace eigen_rope::test {
namespace {

template <class Scalar, class TableScalar>
void differentiate_guarded() {
  Combinations combinations;
  std::uint64_t seed = 1000;
  std::vector<Row> rows(every_row.begin(), every_row.end());
  for (const Row& row : every_tail<Scalar>()) {
    if (row.dims <= 4 * vector_pairs<Scalar>) rows.push_back(row);
  }
  for (const Case& c : cases_of(rows)) {
    if (c.direction == Direction::inverse) continue;
    SCOPED_TRACE(c.text());
    const Shape shape{c.row.length, 3, 2};
    const std::vector<Index> dense{c.row.length, 3 * c.row.length};
    const auto x_values = random_values<Scalar>(shape.size(), ++seed);
    const auto dx_values = random_values<Scalar>(shape.size(), ++seed);
    const auto table = random_table<TableScalar>(
        c.width(), broadcast_outer(shape.outer(), static_cast<unsigned>(seed % 4)), seed);
    const std::vector<double> angle = random_values<double>(c.width() * table.outer.size(), ++seed);
    const auto tangent = tangent_of(table, angle);
    std::vector<Scalar> dy_of_x(x_values.size()), dy(x_values.size());
    const StridedView<const Scalar> x_dense{x_values.data(), shape, dense};
    rotate_tangent_to(StridedView<Scalar>{dy_of_x.data(), shape, dense}, x_dense, tangent,
                      c.pairing, c.direction);
    jvp_to(StridedView<Scalar>{dy.data(), shape, dense}, x_dense,
           StridedView<const Scalar>{dx_values.data(), shape, dense}, table, tangent, c.pairing);
    for (const Against against : both_sides) {
      const GuardedTable<TableScalar> guarded_table(table, against);
      for (const bool apart : {false, true}) {
        const std::size_t length = apart ? static_cast<std::size_t>(c.row.length) : x_values.size();
        const GuardedRows<Scalar> x_memory(x_values, length, against);
        const GuardedRows<Scalar> dx_memory(dx_values, length, against);
        const GuardedRows<Scalar> y_memory(x_values, length, against);
        const Index step = apart ? x_memory.stride() : c.row.length;
        const StridedView<const Scalar> x{x_memory.data(), shape, {step, 3 * step}};
        const StridedView<const Scalar> dx{dx_memory.data(), shape, {step, 3 * step}};
        const StridedView<Scalar> y{y_memory.data(), shape, {step, 3 * step}};
        const auto check = [&](const std::vector<Scalar>& expected) {
          ++combinations;
          ASSERT_TRUE(same_bits(expected.data(), y_memory.values().data(), shape.size()))
              << kernel_target();
          ASSERT_TRUE(y_memory.margins_untouched()) << kernel_target();
        };
        for (const std::string& target : kernel_targets()) {
          const OnlyTarget only(target);
          const auto guarded_tangent = tangent_of(guarded_table, angle);
          y_memory.set_poison();
          rotate_tangent_to(y, x, guarded_tangent, c.pairing, c.direction);
          check(dy_of_x);
          if (c.direction == Direction::backward) continue;
          y_memory.set_poison();
          jvp_to(y, x, dx, guarded_table, guarded_tangent, c.pairing);
          check(dy);
          y_memory.set(dx_values);
          jvp_to(y, x, y, guarded_table, guarded_tangent, c.pairing);
          check(dy);
        }
        ASSERT_FALSE(testing::Test::HasFailure());
      }
    }
  }
}

TEST(TangentGuard, Float) { differentiate_guarded<float, float>(); }
TEST(TangentGuard, Double) { differentiate_guarded<double, double>(); }
TEST(TangentGuard, Half) { differentiate_guarded<Eigen::half, float>(); }
TEST(TangentGuard, Bfloat16) { differentiate_guarded<Eigen::bfloat16, float>(); }

}  // namespace
}  // namespace eigen_rope::test
