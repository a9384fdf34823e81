// SPDX-License-Identifier: Apache-2.0
//
// A backward pass touches nothing outside y, g, dx and the table, and writes every element of dx: each lies against a page that cannot be
// touched. Every kernel target, scalar and pairing, row lengths of every kind.
#include <gtest/gtest.h>

#include "guarded.hpp"
#include "only_target.hpp"
#include "rope/gradients.hpp"
#include "rope/rotate_strided.hpp"
#include "rope/streaming.hpp"
#include "rotation_cases.hpp"

namespace rope::test {
namespace {

template <class Scalar, class TableScalar>
void pass_guarded(Against against) {
  std::uint64_t seed = 500;
  for (const Case& c : cases_of(every_row)) {
    if (c.direction != Direction::forward) continue;
    SCOPED_TRACE(c.text());
    const Shape shape{c.row.length, 3, 2};
    const std::vector<Index> strides{c.row.length, 3 * c.row.length};
    const auto y_values = random_values<Scalar>(shape.size(), ++seed);
    const auto g_values = random_values<Scalar>(shape.size(), ++seed);
    const auto table = random_table<TableScalar>(c.width(), Shape{1, 2}, ++seed);
    const Guarded<TableScalar> cos(table.cos, against);
    const Guarded<TableScalar> sin(table.sin, against);
    const TableView<TableScalar> entries{cos.data(), sin.data(), table.width, table.outer};
    const Guarded<Scalar> y(y_values, against);
    const Guarded<Scalar> g(g_values, against);
    std::vector<Scalar> expected(y_values.size());
    rotate_to(StridedView<Scalar>{expected.data(), shape, strides}, StridedView<const Scalar>{g_values.data(), shape, strides}, table,
              c.pairing, Direction::transpose);
    const StridedView<const Scalar> u{y.data(), shape, strides};
    const StridedView<const Scalar> in{g.data(), shape, strides};
    for (const Wanted wanted : {Wanted::angle, Wanted::angle | Wanted::log_magnitude | Wanted::table}) {
      const Guarded<Scalar> dx(std::vector<Scalar>(y_values.size(), Scalar(77)), against);
      const StridedView<Scalar> out{dx.data(), shape, strides};
      gradients(input(u), in, entries, c.pairing, wanted, out);
      ASSERT_TRUE(same_bits(expected.data(), dx.data(), shape.size()));
      if (table.width != c.row.dims / 2) continue;
      std::fill(dx.data(), dx.data() + shape.size(), Scalar(77));
      gradients(output(u), in, entries, c.pairing, wanted, out);
      ASSERT_TRUE(same_bits(expected.data(), dx.data(), shape.size()));
    }
  }
}

template <class Scalar, class TableScalar>
void pass_guarded_everywhere() {
  for (const std::string& target : kernel_targets()) {
    const OnlyTarget only(target);
    for (const std::size_t threshold : {std::size_t{0}, ~std::size_t{0}}) {
      set_streaming_threshold(threshold);
      for (const Against against : {Against::end, Against::beginning}) {
        SCOPED_TRACE(target);
        pass_guarded<Scalar, TableScalar>(against);
      }
    }
  }
  reset_streaming_threshold();
}

TEST(GradientsGuard, Float) { pass_guarded_everywhere<float, float>(); }
TEST(GradientsGuard, Double) { pass_guarded_everywhere<double, double>(); }
TEST(GradientsGuard, Half) { pass_guarded_everywhere<Eigen::half, float>(); }
TEST(GradientsGuard, Bfloat16) { pass_guarded_everywhere<Eigen::bfloat16, float>(); }

}  // namespace
}  // namespace rope::test
