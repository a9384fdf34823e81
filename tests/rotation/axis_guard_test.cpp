// SPDX-License-Identifier: Apache-2.0
//
// Features on the slowest axis and in the middle: nothing outside x, y and the table is read or
// written, and every element of y is. Each lies against a page that cannot be touched, and y begins
// as poison. Every number of neighbouring rows up to four vectors and a few beyond, on every kernel
// target.
#include <gtest/gtest.h>

#include "eigen_rope/forms/reference.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "support/axis_cases.hpp"
#include "support/guarded_rotation.hpp"
#include "support/guarded_table.hpp"

namespace eigen_rope::test::axis_guard_tests {
namespace {

/// Where the features of [neighbours, 3 others] rows lie: behind both axes, or between them.
enum class Features { slowest, between };

template <class Scalar, class TableScalar>
void rotate_guarded(Features features) {
  constexpr Index others = 3;
  std::vector<Index> every_count;
  for (Index count = 1; count <= 4 * vector_pairs<Scalar> + 1; ++count)
    every_count.push_back(count);
  every_count.insert(every_count.end(), {8 * vector_pairs<Scalar>, 8 * vector_pairs<Scalar> + 3});
  std::uint64_t seed = 900;
  Combinations combinations;
  for (const Index count : every_count) {
    // Whole rows and windows by turns.
    const Row shape = count % 2 == 0 ? Row{8, 0, 8} : Row{7, 2, 4};
    for (const Case& c : cases_of(std::array<Row, 1>{shape})) {
      const Shape dense{c.row.length, count, others};
      const std::vector<Scalar> rows = random_values<Scalar>(dense.size(), ++seed);
      for (const unsigned mask : {0U, 1U, 3U}) {
        const bool slowest = features == Features::slowest;
        const Index step = slowest ? count * others : count;
        const Strides strides{1, slowest ? count : count * c.row.length};
        PlacedTable<TableScalar> table;
        static_cast<Table<TableScalar>&>(table) =
            random_table<TableScalar>(c.width(), broadcast_outer(dense.outer(), mask), ++seed);
        // One row has its elements next to each other, and so must the table.
        const int place = step == 1 ? 0 : static_cast<int>(seed % 3);
        SCOPED_TRACE(c.text() + ", " + std::to_string(count) + " rows, table varies on " +
                     std::to_string(mask) + ", features behind " + std::to_string(place));
        std::vector<Scalar> rotated(rows.size());
        reference::rotate(rows.data(), rotated.data(), dense, table.view(), c.pairing, c.direction);
        const auto apart = [&](const std::vector<Scalar>& of_rows) {
          std::vector<Scalar> result(of_rows.size());
          for (Index i = 0; i < dense.size(); ++i) {
            const Index row = i / c.row.length;
            const Index to = row % count + row / count * strides[1] + i % c.row.length * step;
            result[static_cast<std::size_t>(to)] = of_rows[static_cast<std::size_t>(i)];
          }
          return result;
        };
        const std::vector<Scalar> values = apart(rows);
        const std::vector<Scalar> expected = apart(rotated);
        for (const Against against : both_sides) {
          const GuardedTable<TableScalar> guarded_table(table.with_features_behind(place), against);
          const Guarded<Scalar> x(values, against);
          const Guarded<Scalar> y(values, against);
          const StridedView<Scalar> to{y.data(), dense, strides, step};
          const auto check = [&] {
            ++combinations;
            ASSERT_TRUE(same_bits(expected.data(), y.data(), dense.size())) << kernel_target();
            ASSERT_TRUE(y.margins_untouched()) << kernel_target();
          };
          rotate_on_every_path(StridedView<const Scalar>{x.data(), dense, strides, step}, to, y,
                               values, guarded_table, c, check);
          ASSERT_FALSE(testing::Test::HasFailure());
          ASSERT_TRUE(same_bits(values.data(), x.data(), dense.size()));
          ASSERT_TRUE(x.margins_untouched());
          ASSERT_TRUE(guarded_table.margins_untouched());
        }
      }
    }
  }
}

TEST(AxisGuard, Float) { rotate_guarded<float, float>(Features::slowest); }
TEST(AxisGuard, FloatInTheMiddle) { rotate_guarded<float, float>(Features::between); }
TEST(AxisGuard, Double) { rotate_guarded<double, double>(Features::slowest); }
TEST(AxisGuard, Half) { rotate_guarded<Eigen::half, float>(Features::slowest); }
TEST(AxisGuard, Bfloat16) { rotate_guarded<Eigen::bfloat16, float>(Features::slowest); }
TEST(AxisGuard, Bfloat16WithItsOwnTable) {
  rotate_guarded<Eigen::bfloat16, Eigen::bfloat16>(Features::between);
}

}  // namespace
}  // namespace eigen_rope::test::axis_guard_tests
