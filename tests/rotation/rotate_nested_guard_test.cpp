// SPDX-License-Identifier: Apache-2.0
//
// Expressions over maps of guarded memory: a rotation alone, and one evaluated in blocks and by way
// of the temporary inside larger expressions, reads nothing outside x and the table and writes
// every element of the result and nothing else.
#include <gtest/gtest.h>

#include "eigen_rope/forms/reference.hpp"
#include "support/cache_sides.hpp"
#include "support/guarded_table.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test {
namespace {

/// Rows of every length up to two packets of 64 bytes, and those of the other tests.
template <class Scalar>
std::vector<Row> rows_of_packets() {
  std::vector<Row> rows(every_row.begin(), every_row.end());
  for (Index length = 2; length <= 4 * vector_pairs<Scalar> + 2; length += 2)
    rows.push_back({length, 0, length});
  return rows;
}

template <class Scalar>
void nest_guarded() {
  using Tensor = Eigen::Tensor<Scalar, 3>;
  Combinations combinations;
  std::uint64_t seed = 800;
  for (const Case& c : cases_of(rows_of_packets<Scalar>())) {
    SCOPED_TRACE(c.text());
    const Shape shape{c.row.length, 3, 5};
    const auto values = random_values<Scalar>(shape.size(), ++seed);
    const auto table = random_table<Scalar>(
        c.width(), broadcast_outer(shape.outer(), static_cast<unsigned>(1 + seed % 3)), seed);
    const auto reference_of = [&](const std::vector<Scalar>& x) {
      std::vector<Scalar> y(x.size());
      reference::rotate(x.data(), y.data(), shape, table.view(), c.pairing, c.direction);
      return y;
    };
    const std::vector<Scalar> rotated = reference_of(values);
    const auto each = [](std::vector<Scalar> elements, const auto& change) {
      for (Scalar& element : elements) element = change(element);
      return elements;
    };
    const auto quarter_more = [](const Scalar& v) { return v + Scalar(0.25); };
    const auto twice = [](const Scalar& v) { return v * Scalar(2); };
    for (const Against against : both_sides) {
      const GuardedTable<Scalar> guarded_table(table, against);
      const Guarded<Scalar> x_memory(values, against);
      const Guarded<Scalar> y_memory(values, against);
      const auto sizes = sizes_of<3, Eigen::ColMajor>(shape);
      const Eigen::TensorMap<const Tensor> x(x_memory.data(), sizes);
      Eigen::TensorMap<Tensor> y(y_memory.data(), sizes);
      const auto check = [&](const std::vector<Scalar>& expected) {
        ++combinations;
        ASSERT_TRUE(same_rotation(expected.data(), y_memory.data(), values.data(), shape, c));
        ASSERT_TRUE(y_memory.margins_untouched());
        y_memory.set_poison();
      };
      const auto node = [&](const auto& of) {
        return rotation(of, guarded_table, c.pairing, c.direction);
      };
      y_memory.set_poison();
      y = node(x);
      check(rotated);
      y = node(x) * Scalar(2);
      check(each(rotated, twice));
      // A constant knows no blocks.
      y = node(x) + x.constant(Scalar(0.25));
      check(each(rotated, quarter_more));
      y = node(x * Scalar(2));
      check(reference_of(each(values, twice)));
      y = node(x * Scalar(2)) + x.constant(Scalar(0.25));
      check(each(reference_of(each(values, twice)), quarter_more));
      y = node(x + x.constant(Scalar(0.25)));
      check(reference_of(each(values, quarter_more)));
      y = node(x + x.constant(Scalar(0.25))) + x.constant(Scalar(0.25));
      check(each(reference_of(each(values, quarter_more)), quarter_more));
      ASSERT_FALSE(testing::Test::HasFailure());
      ASSERT_TRUE(x_memory.margins_untouched());
    }
  }
}

EIGEN_ROPE_ON_BOTH_SIDES_OF_THE_CACHES(RotateNestedGuard);

TEST_P(RotateNestedGuard, Float) { nest_guarded<float>(); }
TEST_P(RotateNestedGuard, Double) { nest_guarded<double>(); }
TEST_P(RotateNestedGuard, Half) { nest_guarded<Eigen::half>(); }

}  // namespace
}  // namespace eigen_rope::test
