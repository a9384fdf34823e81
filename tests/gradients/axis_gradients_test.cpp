// SPDX-License-Identifier: Apache-2.0
//
// Gradients along any axis: sums, dx and derivatives along a direction have the bits that the
// transposed tensors give, whatever the order of the table. Every scalar, threads, rows in place.
#define EIGEN_USE_THREADS
#include "eigen_rope/gradients/gradients.hpp"

#include <gtest/gtest.h>

#include "eigen_rope/gradients/parameter_gradients.hpp"
#include "eigen_rope/gradients/tangent.hpp"
#include "eigen_rope/rotation/rerotate.hpp"
#include "eigen_rope/rotation/tensor_view.hpp"
#include "support/axis_cases.hpp"

namespace eigen_rope::test::axis_gradients_tests {
namespace {

/// visit(along, pairing, table of the features in front, table, axis)
template <class Scalar, int rank, int layout, class Visit>
void for_each_axis(const AxisCase& c, const Visit& visit) {
  using Tensor = Eigen::Tensor<Scalar, rank, layout>;
  const Tensor shape = c.tensor<Scalar, rank, layout>(1);
  for (int axis = 0; axis < rank; ++axis) {
    const AlongAxis<rank, layout> along(shape.dimensions(), axis);
    for (const PairKind kind : {PairKind::split_half, PairKind::interleaved_to_split_half}) {
      const Pairing pairing = c.pairing(kind, along.length());
      for (const bool full_width : {false, true}) {
        const auto table = c.table<Widened<Scalar>>(along, full_width);
        for (const int place : along.table_places()) {
          SCOPED_TRACE("axis " + std::to_string(axis) + ", " + pairing.text() +
                       (full_width ? ", full width" : "") + ", table " + std::to_string(place));
          visit(along, pairing, table, table.with_features_behind(place), axis);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

template <class Scalar, int layout>
void same_gradients(const AxisCase& c) {
  static Eigen::ThreadPool pool(3);
  static const Eigen::ThreadPoolDevice threads(&pool, 3);
  using Tensor = Eigen::Tensor<Scalar, 3, layout>;
  const Tensor y = c.tensor<Scalar, 3, layout>(2);
  const Tensor g = c.tensor<Scalar, 3, layout>(3);
  for_each_axis<Scalar, 3, layout>(
      c, [&](const auto& along, Pairing pairing, const auto& front, const auto& table, int axis) {
        const bool full_width = table.width == 2 * c.table<float>(along, false).width;
        for (const GradientsFrom from : {GradientsFrom::input, GradientsFrom::output}) {
          if (full_width && from == GradientsFrom::output) continue;
          for (const Wanted wanted :
               {Wanted::angle, Wanted::angle | Wanted::log_magnitude | Wanted::table}) {
            GradientOptions options;
            options.wanted = wanted;
            options.from = from;
            const Tensor y_front = along.to_front(y);
            const Tensor g_front = along.to_front(g);
            Tensor dx_front(y_front.dimensions());
            const auto expected = gradients_to(dx_front, y_front, g_front, front, pairing, options);
            const Tensor expected_dx = along.from_front(dx_front);
            for (const bool on_threads : {false, true}) {
              if (on_threads) options.device = threads;
              Tensor dx(y.dimensions());
              const auto got = gradients_to(dx, y, g, table, pairing.along(axis), options);
              ASSERT_TRUE(same_bits(expected_dx, dx));
              ASSERT_EQ(got.feature_axis, table.feature_axis);
              const auto rows = [&](const auto& values, Index width) {
                return by_rows(values, width, got.outer, got.feature_axis);
              };
              ASSERT_EQ(expected.angle, rows(got.angle, got.pairs));
              ASSERT_EQ(expected.log_magnitude, rows(got.log_magnitude, got.pairs));
              ASSERT_EQ(expected.cos, rows(got.cos, got.width));
              ASSERT_EQ(expected.sin, rows(got.sin, got.width));
              Tensor in_place = g;
              (void)gradients_inplace(y, in_place, table, pairing.along(axis), options);
              ASSERT_TRUE(same_bits(expected_dx, in_place));
              const auto without_dx = gradients(y, g, table, pairing.along(axis), options);
              ASSERT_EQ(got.angle, without_dx.angle);
            }
          }
        }
      });
}

TEST(AxisGradients, Float) { for_each_case<3>(same_gradients<float, Eigen::ColMajor>); }
TEST(AxisGradients, RowMajor) { for_each_case<3>(same_gradients<float, Eigen::RowMajor>); }
TEST(AxisGradients, Double) { for_each_case<3>(same_gradients<double, Eigen::ColMajor>); }
TEST(AxisGradients, Half) { for_each_case<3>(same_gradients<Eigen::half, Eigen::ColMajor>); }
TEST(AxisGradients, Bfloat16) {
  for_each_case<3>(same_gradients<Eigen::bfloat16, Eigen::ColMajor>);
}
TEST(AxisGradients, LongDouble) { for_each_case<3>(same_gradients<long double, Eigen::ColMajor>); }

template <class Scalar>
void same_table_gradient(const AxisCase& c) {
  using Tensor = Eigen::Tensor<Scalar, 3>;
  const Tensor x = c.tensor<Scalar, 3, Eigen::ColMajor>(2);
  const Tensor g = c.tensor<Scalar, 3, Eigen::ColMajor>(3);
  for_each_axis<Scalar, 3, Eigen::ColMajor>(
      c, [&](const auto& along, Pairing pairing, const auto& front, const auto& table, int axis) {
        std::vector<Scalar> cos(front.cos.size()), sin(front.cos.size());
        std::vector<Scalar> cos_apart(cos.size()), sin_apart(cos.size());
        const Tensor x_front = along.to_front(x);
        const Tensor g_front = along.to_front(g);
        table_gradient(TableGradient<Scalar>{cos.data(), sin.data(), front.width, front.outer},
                       x_front, g_front, pairing);
        table_gradient(TableGradient<Scalar>{cos_apart.data(), sin_apart.data(), table.width,
                                             table.outer, table.feature_axis},
                       x, g, pairing.along(axis));
        ASSERT_EQ(cos, by_rows(cos_apart, table.width, table.outer, table.feature_axis));
        ASSERT_EQ(sin, by_rows(sin_apart, table.width, table.outer, table.feature_axis));
      });
}

TEST(AxisGradients, OfTheTable) {
  for_each_case<3>(same_table_gradient<float>);
  for_each_case<3>(same_table_gradient<Eigen::half>);
}

template <class Scalar>
void same_derivatives(const AxisCase& c) {
  using Tensor = Eigen::Tensor<Scalar, 3>;
  const Tensor x = c.tensor<Scalar, 3, Eigen::ColMajor>(2);
  const Tensor dx = c.tensor<Scalar, 3, Eigen::ColMajor>(3);
  for_each_axis<Scalar, 3, Eigen::ColMajor>(
      c, [&](const auto& along, Pairing pairing, const auto& front, const auto& table, int axis) {
        const auto turns = random_values<double>(static_cast<Index>(front.cos.size()), 11);
        PlacedTable<double> placed;
        placed.cos = turns;
        placed.sin = turns;
        placed.width = front.width;
        placed.outer = front.outer;
        const auto tangent = tangent_of(front, turns);
        const auto tangent_apart =
            tangent_of(table, placed.with_features_behind(table.feature_axis).cos);
        const Tensor x_front = along.to_front(x);
        const Tensor dx_front = along.to_front(dx);
        Tensor dy_front(x_front.dimensions()), dy(x.dimensions());
        jvp_to(dy_front, x_front, dx_front, front, tangent, pairing);
        jvp_to(dy, x, dx, table, tangent_apart, pairing.along(axis));
        const Tensor expected = along.from_front(dy_front);
        ASSERT_TRUE(same_bits(expected, dy));
        for (const Direction direction : {Direction::forward, Direction::backward}) {
          rotate_tangent_to(dy_front, x_front, tangent, pairing, direction);
          rotate_tangent_to(dy, x, tangent_apart, pairing.along(axis), direction);
          const Tensor turned = along.from_front(dy_front);
          ASSERT_TRUE(same_bits(turned, dy));
        }
      });
}

TEST(AxisGradients, AlongADirection) {
  for_each_case<3>(same_derivatives<float>);
  for_each_case<3>(same_derivatives<double>);
  for_each_case<3>(same_derivatives<Eigen::bfloat16>);
}

// Parameters' gradients are sums over angles, wherever those lie.
TEST(AxisGradients, OfParameters) {
  const Index tokens = 9;
  const Frequencies frequencies = Frequencies::powers({12});
  const Positions positions = Positions::range(3, tokens);
  const auto y = random_tensor<double, 3>({tokens, 2, 12}, 4);
  const auto g = random_tensor<double, 3>({tokens, 2, 12}, 5);
  GradientOptions options;
  options.wanted = Wanted::angle | Wanted::log_magnitude;
  const Layout rows{AxisRole::token, AxisRole::other};
  const auto usual =
      gradients(y, g, Cache<double>(frequencies, positions, rows), split_half.along(2), options);
  const auto apart = gradients(y, g, Cache<double>(frequencies, positions, Layout::dns()),
                               split_half.along(2), options);
  EXPECT_NE(usual.angle, apart.angle);
  EXPECT_EQ(rate_gradients(usual, positions, rows),
            rate_gradients(apart, positions, Layout::dns()));
  EXPECT_EQ(position_gradients(usual, frequencies, positions, rows),
            position_gradients(apart, frequencies, positions, Layout::dns()));
  EXPECT_EQ(attention_factor_gradient(usual, frequencies, positions, rows),
            attention_factor_gradient(apart, frequencies, positions, Layout::dns()));
}

TEST(AxisGradients, RerotationMovesKeysAlongTheAxis) {
  const Index tokens = 9;
  const Frequencies frequencies = Frequencies::powers({12});
  const Placement now{frequencies, Positions::range(28, tokens)};
  const Placement then{frequencies, Positions::range(3, tokens)};
  for (const PairKind kind : every_kind) {
    auto k = random_tensor<float, 3>({tokens, 2, 12}, 4);
    const AlongAxis<3, Eigen::ColMajor> along(k.dimensions(), 2);
    auto front = along.to_front(k);
    rerotate(front, now, then, Pairing(kind), Layout{AxisRole::token, AxisRole::other});
    rerotate(k, now, then, Pairing(kind).along(2), Layout::dns());
    EXPECT_TRUE(same_bits(along.from_front(front), k));
  }
}

}  // namespace
}  // namespace eigen_rope::test::axis_gradients_tests
