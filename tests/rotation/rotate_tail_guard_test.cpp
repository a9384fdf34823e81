// SPDX-License-Identifier: Apache-2.0
//
// Whatever is left of a row when whole vectors are done: no kernel reads or writes beyond it, and
// each writes all of it. Every number of pairs up to four vectors of the widest target, and every
// number of elements before and behind a window; every pairing, table width, direction and kernel
// target. Rows lie one after another, or each alone between pages that cannot be touched; y begins
// as poison.
#include <gtest/gtest.h>

#include "eigen_rope/forms/reference.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "support/guarded_rotation.hpp"
#include "support/guarded_table.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test {
namespace {

/// Two tokens and two heads; the table has a row for each token, each head, or each row of x.
template <class Scalar, class TableScalar>
void rotate_guarded(const std::vector<Case>& cases) {
  Combinations combinations;
  std::uint64_t seed = 400;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text());
    const Shape shape{c.row.length, 2, 2};
    const auto values = random_values<Scalar>(shape.size(), ++seed);
    const auto varies = static_cast<unsigned>(1 + c.row.dims / 2 % 3);
    const auto table =
        random_table<TableScalar>(c.width(), broadcast_outer(shape.outer(), varies), ++seed);
    std::vector<Scalar> expected(values.size());
    reference::rotate(values.data(), expected.data(), shape, table.view(), c.pairing, c.direction);
    for (const Against against : both_sides) {
      const GuardedTable<TableScalar> guarded_table(table, against);
      for (const bool apart : {false, true}) {
        const std::size_t length = apart ? static_cast<std::size_t>(c.row.length) : values.size();
        const GuardedRows<Scalar> x(values, length, against);
        const GuardedRows<Scalar> y(values, length, against);
        const Index step = apart ? x.stride() : c.row.length;
        const StridedView<const Scalar> from{x.data(), shape, {step, 2 * step}};
        const StridedView<Scalar> to{y.data(), shape, {step, 2 * step}};
        const auto check = [&] {
          ++combinations;
          ASSERT_TRUE(same_rotation(expected.data(), y.values().data(), values.data(), shape, c))
              << kernel_target() << ", apart " << apart;
          ASSERT_TRUE(y.margins_untouched()) << kernel_target();
        };
        rotate_on_every_path(from, to, y, values, guarded_table, c, check);
        ASSERT_FALSE(testing::Test::HasFailure());
        ASSERT_TRUE(same_bits(values.data(), x.values().data(), shape.size()));
      }
      ASSERT_TRUE(guarded_table.margins_untouched());
    }
  }
}

template <class Scalar, class TableScalar>
void rotate_tails() {
  rotate_guarded<Scalar, TableScalar>(cases_of(every_tail<Scalar>()));
}

/// Copying knows neither tables nor directions, but for whether elements move.
template <class Scalar>
void rotate_margins() {
  std::vector<Case> cases;
  for (const Case& c : cases_of(every_margin<Scalar>())) {
    if (!c.full_width && c.direction == Direction::forward) cases.push_back(c);
  }
  rotate_guarded<Scalar, detail::Widened<Scalar>>(cases);
}

TEST(RotateTailGuard, Float) { rotate_tails<float, float>(); }
TEST(RotateTailGuard, Double) { rotate_tails<double, double>(); }
TEST(RotateTailGuard, Half) { rotate_tails<Eigen::half, float>(); }
TEST(RotateTailGuard, Bfloat16) { rotate_tails<Eigen::bfloat16, float>(); }
TEST(RotateTailGuard, HalfWithHalfTable) { rotate_tails<Eigen::half, Eigen::half>(); }
TEST(RotateTailGuard, FloatWithBfloat16Table) { rotate_tails<float, Eigen::bfloat16>(); }

TEST(RotateMarginGuard, Float) { rotate_margins<float>(); }
TEST(RotateMarginGuard, Double) { rotate_margins<double>(); }
TEST(RotateMarginGuard, Half) { rotate_margins<Eigen::half>(); }
TEST(RotateMarginGuard, Bfloat16) { rotate_margins<Eigen::bfloat16>(); }

}  // namespace
}  // namespace eigen_rope::test
