// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a table, written where the caller says: every entry is written and nothing else,
// and nothing outside x and g is read, row by row. Every scalar of the sums and of the result,
// every pairing, width and kernel target, every number of pairs up to four vectors.
#include <gtest/gtest.h>

#include "eigen_rope/gradients/table_gradient.hpp"
#include "support/guarded.hpp"
#include "support/only_target.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test {
namespace {

template <class Scalar, class Result>
void sum_guarded() {
  Combinations combinations;
  std::uint64_t seed = 900;
  std::vector<Row> rows(every_row.begin(), every_row.end());
  for (const Row& row : every_tail<Scalar>()) rows.push_back(row);
  for (const Case& c : cases_of(rows)) {
    if (c.direction != Direction::forward) continue;
    SCOPED_TRACE(c.text());
    const Shape shape{c.row.length, 2, 3};
    const std::vector<Index> dense{c.row.length, 2 * c.row.length};
    const auto x_values = random_values<Scalar>(shape.size(), ++seed);
    const auto g_values = random_values<Scalar>(shape.size(), ++seed);
    const Shape outer = broadcast_outer(shape.outer(), static_cast<unsigned>(c.row.dims / 2 % 4));
    const auto size = static_cast<std::size_t>(c.width() * outer.size());
    std::vector<Result> dcos(size), dsin(size);
    table_gradient(TableGradient<Result>{dcos.data(), dsin.data(), c.width(), outer},
                   StridedView<const Scalar>{x_values.data(), shape, dense},
                   StridedView<const Scalar>{g_values.data(), shape, dense}, c.pairing);
    for (const Against against : both_sides) {
      for (const bool apart : {false, true}) {
        const std::size_t length = apart ? static_cast<std::size_t>(c.row.length) : x_values.size();
        const GuardedRows<Scalar> x(x_values, length, against);
        const GuardedRows<Scalar> g(g_values, length, against);
        const Index step = apart ? x.stride() : c.row.length;
        const Guarded<Result> cos(dcos, against);
        const Guarded<Result> sin(dsin, against);
        for (const std::string& target : kernel_targets()) {
          const OnlyTarget only(target);
          cos.set_poison();
          sin.set_poison();
          table_gradient(TableGradient<Result>{cos.data(), sin.data(), c.width(), outer},
                         StridedView<const Scalar>{x.data(), shape, {step, 2 * step}},
                         StridedView<const Scalar>{g.data(), shape, {step, 2 * step}}, c.pairing);
          ++combinations;
          ASSERT_TRUE(same_bits(dcos.data(), cos.data(), static_cast<Index>(size))) << target;
          ASSERT_TRUE(same_bits(dsin.data(), sin.data(), static_cast<Index>(size))) << target;
          ASSERT_TRUE(cos.margins_untouched() && sin.margins_untouched()) << target;
        }
      }
    }
  }
}

TEST(TableGradientGuard, Float) { sum_guarded<float, float>(); }
TEST(TableGradientGuard, Double) { sum_guarded<double, double>(); }
TEST(TableGradientGuard, Half) { sum_guarded<Eigen::half, Eigen::half>(); }
TEST(TableGradientGuard, Bfloat16) { sum_guarded<Eigen::bfloat16, Eigen::bfloat16>(); }
TEST(TableGradientGuard, HalfIntoFloat) { sum_guarded<Eigen::half, float>(); }

}  // namespace
}  // namespace eigen_rope::test
