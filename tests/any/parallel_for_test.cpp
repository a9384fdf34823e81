// SPDX-License-Identifier: Apache-2.0
//
// Rotations, gradients and tangents on a parallel_for have the bits of the calling thread, however
// many ranges there are and however they are split. Tensors are large enough for eight of them.
#include <gtest/gtest.h>

#include <vector>

#include "eigen_rope/any/any.hpp"
#include "eigen_rope/gradients/tangent.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "support/bits.hpp"
#include "support/parallel_for.hpp"

namespace eigen_rope::test::any_parallel_for_tests {
namespace {

constexpr Index D = 64, heads = 6, tokens = 701;

std::vector<float> numbers(Index count, unsigned seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<float>(static_cast<int>(seed >> 16) - 32768) / 32768.0F;
  }
  return values;
}

struct AnyParallelForTest : testing::TestWithParam<Split> {
  std::vector<float> x = numbers(D * heads * tokens, 1), g = numbers(D * heads * tokens, 2);
  std::vector<float> cos = numbers(D / 2 * tokens, 3), sin = numbers(D / 2 * tokens, 4);
  Shape shape{D, heads, tokens};
  StridedView<const float> x_rows{x.data(), shape, {D, D* heads}};
  StridedView<const float> g_rows{g.data(), shape, {D, D* heads}};
  TableView<float> table{cos.data(), sin.data(), D / 2, {1, tokens}};
  any::ConstTensor any_x{ScalarType::f32, x.data(), {tokens, heads, D}};
  any::ConstTensor any_g{ScalarType::f32, g.data(), {tokens, heads, D}};

  /// The values that compute(y, device) writes to y, of any number of threads, are those of one.
  template <class Value, class Compute>
  void expect_bits_of_one_thread(const std::vector<Value>& y, Index most,
                                 const Compute& compute) const {
    std::vector<Value> expected = y;
    compute(expected, Device());
    for (const int threads : {1, 2, 5, 8}) {
      SCOPED_TRACE(std::to_string(threads) + " threads");
      ParallelFor parallel_for{GetParam()};
      std::vector<Value> actual = y;
      compute(actual, Device(parallel_for, threads));
      EXPECT_EQ(bits_of(actual.data(), static_cast<Index>(y.size())),
                bits_of(expected.data(), static_cast<Index>(y.size())));
      EXPECT_EQ(parallel_for.most_items, threads == 1 ? 0 : std::min<Index>(threads, most));
    }
  }
};
INSTANTIATE_TEST_SUITE_P(EverySplit, AnyParallelForTest, testing::ValuesIn(every_split),
                         [](const auto& split) {
                           std::string name = name_of(split.param);
                           for (char& c : name)
                             if (c == ' ') c = '_';
                           return name;
                         });

TEST_P(AnyParallelForTest, Rotations) {
  for (const Direction direction : {Direction::forward, Direction::backward, Direction::inverse}) {
    expect_bits_of_one_thread(std::vector<float>(x.size()), 8,
                              [&](std::vector<float>& y, const Device& device) {
                                const StridedView<float> y_rows{y.data(), shape, {D, D * heads}};
                                rotate_to(y_rows, x_rows, table, interleaved, direction, device);
                              });
    expect_bits_of_one_thread(x, 8, [&](std::vector<float>& y, const Device& device) {
      any::rotate_inplace({ScalarType::f32, y.data(), {tokens, heads, D}}, any::table_of(table),
                          split_half, direction, device);
    });
  }
}

TEST_P(AnyParallelForTest, Gradients) {
  expect_bits_of_one_thread(
      std::vector<float>(x.size()), 8, [&](std::vector<float>& dx, const Device& device) {
        GradientOptions options{Wanted::nothing, GradientsFrom::input};
        options.device = device;
        (void)any::gradients_to({ScalarType::f32, dx.data(), any_x.shape}, any_x, any_g,
                                any::table_of(table), split_half, options);
      });
  expect_bits_of_one_thread(std::vector<double>(), 8,
                            [&](std::vector<double>& sums, const Device& device) {
                              GradientOptions options{Wanted::angle | Wanted::table};
                              options.device = device;
                              const auto d = gradients(x_rows, g_rows, table, split_half, options);
                              sums = d.angle;
                              sums.insert(sums.end(), d.cos.begin(), d.cos.end());
                              sums.insert(sums.end(), d.sin.begin(), d.sin.end());
                            });
  expect_bits_of_one_thread(
      std::vector<double>(static_cast<std::size_t>(D * tokens)), 8,
      [&](std::vector<double>& sums, const Device& device) {
        any::table_gradient(
            {ScalarType::f64, sums.data(), sums.data() + D / 2 * tokens, {tokens, 1, D / 2}}, any_x,
            any_g, split_half, device);
      });
}

}  // namespace
}  // namespace eigen_rope::test::any_parallel_for_tests
