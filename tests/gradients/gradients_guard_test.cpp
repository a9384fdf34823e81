// SPDX-License-Identifier: Apache-2.0
//
// A backward pass touches nothing outside y (or x), g, dx and the table, and writes every element
// of dx: each lies against a page that cannot be touched, as a whole or row by row, and dx begins
// as poison or is g's or y's own memory. Every kernel target, scalar and pairing, every number of
// pairs up to four vectors of the widest target, windows anywhere; sums of every kind.
#include <gtest/gtest.h>

#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "support/guarded_table.hpp"
#include "support/kernel_paths.hpp"

namespace eigen_rope::test {
namespace {

constexpr std::array<Wanted, 2> sums{Wanted::angle,
                                     Wanted::angle | Wanted::log_magnitude | Wanted::table};

template <class Sum>
bool same_sums(const Gradients<Sum>& a, const Gradients<Sum>& b) {
  return a.angle == b.angle && a.log_magnitude == b.log_magnitude && a.cos == b.cos &&
         a.sin == b.sin;
}

/// Two tokens and three heads; the table has a row for each token, each head or each row.
template <class Scalar, class TableScalar>
void pass_guarded(const std::vector<Case>& cases) {
  Combinations combinations;
  std::uint64_t seed = 500;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text());
    const Shape shape{c.row.length, 2, 3};
    const std::vector<Index> dense{c.row.length, 2 * c.row.length};
    const auto u_values = random_values<Scalar>(shape.size(), ++seed);
    const auto g_values = random_values<Scalar>(shape.size(), ++seed);
    const auto varies = static_cast<unsigned>(1 + c.row.dims / 2 % 3);
    const auto table =
        random_table<TableScalar>(c.width(), broadcast_outer(shape.outer(), varies), ++seed);
    std::vector<Scalar> expected(u_values.size());
    const StridedView<const Scalar> u_dense{u_values.data(), shape, dense};
    const StridedView<const Scalar> g_dense{g_values.data(), shape, dense};
    rotate_to(StridedView<Scalar>{expected.data(), shape, dense}, g_dense, table, c.pairing,
              Direction::backward);
    for (const Wanted wanted : sums) {
      const auto from_input =
          gradients(u_dense, g_dense, table, c.pairing, {wanted, GradientsFrom::input});
      const auto from_output =
          c.full_width ? from_input : gradients(u_dense, g_dense, table, c.pairing, {wanted});
      for (const Against against : both_sides) {
        const GuardedTable<TableScalar> guarded_table(table, against);
        for (const bool apart : {false, true}) {
          const std::size_t length =
              apart ? static_cast<std::size_t>(c.row.length) : u_values.size();
          const GuardedRows<Scalar> u_memory(u_values, length, against);
          const GuardedRows<Scalar> g_memory(g_values, length, against);
          const GuardedRows<Scalar> dx_memory(u_values, length, against);
          const Index step = apart ? dx_memory.stride() : c.row.length;
          const auto view = [&](const GuardedRows<Scalar>& memory) {
            return StridedView<Scalar>{memory.data(), shape, {step, 2 * step}};
          };
          const StridedView<const Scalar> u{u_memory.data(), shape, {step, 2 * step}};
          const StridedView<const Scalar> g{g_memory.data(), shape, {step, 2 * step}};
          const auto check = [&](const GuardedRows<Scalar>& dx, bool right_sums) {
            ++combinations;
            ASSERT_TRUE(right_sums) << kernel_target();
            ASSERT_TRUE(same_bits(expected.data(), dx.values().data(), shape.size()))
                << kernel_target();
            ASSERT_TRUE(dx.margins_untouched()) << kernel_target();
          };
          on_every_path([&](Path path) {
            if (testing::Test::HasFailure()) return;
            dx_memory.set_poison();
            check(dx_memory, same_sums(gradients_to(view(dx_memory), u, g, guarded_table, c.pairing,
                                                    {wanted, GradientsFrom::input}),
                                       from_input));
            if (c.full_width) return;
            dx_memory.set_poison();
            check(dx_memory,
                  same_sums(gradients_to(view(dx_memory), u, g, guarded_table, c.pairing, {wanted}),
                            from_output));
            if (path == Path::past_the_cache) return;
            dx_memory.set(g_values);
            check(dx_memory, same_sums(gradients_inplace(u, view(dx_memory), guarded_table,
                                                         c.pairing, {wanted}),
                                       from_output));
            dx_memory.set(u_values);
            check(dx_memory, same_sums(gradients_to(view(dx_memory), view(dx_memory), g,
                                                    guarded_table, c.pairing, {wanted}),
                                       from_output));
          });
          ASSERT_FALSE(testing::Test::HasFailure());
          ASSERT_TRUE(same_bits(u_values.data(), u_memory.values().data(), shape.size()));
          ASSERT_TRUE(same_bits(g_values.data(), g_memory.values().data(), shape.size()));
        }
      }
    }
  }
}

/// A backward pass has no direction.
template <class Rows>
std::vector<Case> forward_cases(const Rows& rows) {
  std::vector<Case> cases;
  for (const Case& c : cases_of(rows)) {
    if (c.direction == Direction::forward) cases.push_back(c);
  }
  return cases;
}

/// Twice as many pairs as any loop takes at a time, and more.
constexpr Index most_dims = 288;

template <class Scalar, class TableScalar>
void pass_guarded() {
  std::vector<Row> rows(every_row.begin(), every_row.end());
  for (const Row& row : every_tail<Scalar>()) {
    if (row.dims <= most_dims) rows.push_back(row);
  }
  pass_guarded<Scalar, TableScalar>(forward_cases(rows));
}

TEST(GradientsGuard, Float) { pass_guarded<float, float>(); }
TEST(GradientsGuard, Double) { pass_guarded<double, double>(); }
TEST(GradientsGuard, Half) { pass_guarded<Eigen::half, float>(); }
TEST(GradientsGuard, Bfloat16) { pass_guarded<Eigen::bfloat16, float>(); }

}  // namespace
}  // namespace eigen_rope::test
