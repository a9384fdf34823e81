// SPDX-License-Identifier: Apache-2.0
//
// dL/dcos and dL/dsin: the operator's published integers, plain loops for every pairing, width and
// broadcast, and long sums.
#define EIGEN_USE_THREADS
#include "eigen_rope/gradients/table_gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "eigen_rope/rotation/tensor_view.hpp"
#include "support/dense_view.hpp"
#include "support/error_of.hpp"
#include "support/only_target.hpp"

namespace eigen_rope {
namespace {

using test::dense;
using test::OnlyTarget;

std::vector<double> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<double> values(count);
  for (double& v : values) v = value(random);
  return values;
}

// x = 1..8 and dy of the operator's published example; one row, full width.
TEST(TableGradient, PublishedIntegers) {
  const std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<double> dy{1, 1, 2, 3, 5, 8, 13, 21};
  struct Answer {
    Pairing pairing;
    std::vector<double> dcos, dsin;
  };
  const Answer answers[] = {
      {split_half, {1, 2, 6, 12, 25, 48, 91, 168}, {-5, -6, -14, -24, 5, 16, 39, 84}},
      {interleaved, {1, 2, 6, 12, 25, 48, 91, 168}, {-2, 1, -8, 9, -30, 40, -104, 147}},
      {quarter, {1, 2, 6, 12, 25, 48, 91, 168}, {-3, -4, 2, 6, -35, -64, 65, 126}},
      {interleaved_to_split_half,
       {1, 3, 10, 21, 10, 32, 78, 168},
       {-2, -4, -12, -24, 5, 24, 65, 147}}};
  for (const Answer& answer : answers) {
    std::vector<double> dcos(8), dsin(8);
    table_gradient(TableGradient<double>{dcos.data(), dsin.data(), 8, Shape{1}}, dense(x, {8, 1}),
                   dense(dy, {8, 1}), answer.pairing);
    EXPECT_EQ(dcos, answer.dcos);
    EXPECT_EQ(dsin, answer.dsin);
  }
}

/// The definition: every row, every pair.
void add_by_loops(const std::vector<double>& x, const std::vector<double>& g, const Shape& shape,
                  Pairing pairing, Index width, const Shape& outer, std::vector<double>& dcos,
                  std::vector<double>& dsin) {
  const Index dims = pairing.rotary_dims(shape[0]);
  for (Index c = 0; c < shape[3]; ++c) {
    for (Index b = 0; b < shape[2]; ++b) {
      for (Index a = 0; a < shape[1]; ++a) {
        const Index row = ((c * shape[2] + b) * shape[1] + a) * shape[0] + pairing.offset();
        const Index table_row =
            ((outer[2] == 1 ? 0 : c) * outer[1] + (outer[1] == 1 ? 0 : b)) * outer[0] +
            (outer[0] == 1 ? 0 : a);
        for (Index k = 0; k < dims / 2; ++k) {
          const PairSlots slot = pair_slots(pairing.kind(), k, dims);
          const auto value = [&](const std::vector<double>& from, Index at) {
            return from[static_cast<std::size_t>(row + at)];
          };
          const auto entry = [&](Index at) {
            return static_cast<std::size_t>(table_row * width + (width == dims ? at : k));
          };
          dcos[entry(slot.A)] += value(g, slot.A) * value(x, slot.a);
          dcos[entry(slot.B)] += value(g, slot.B) * value(x, slot.b);
          dsin[entry(slot.A)] -= value(g, slot.A) * value(x, slot.b);
          dsin[entry(slot.B)] += value(g, slot.B) * value(x, slot.a);
        }
      }
    }
  }
}

TEST(TableGradient, EqualsPlainLoopsForEveryPairingWidthAndBroadcast) {
  const Shape shape{14, 3, 2, 4};
  const auto size = static_cast<std::size_t>(shape.size());
  const std::vector<double> x = random_values(size, 1);
  const std::vector<double> g = random_values(size, 2);
  constexpr double rounding = 24 * 4 * 0x1p-53;  // at most 48 terms below 1, in either sum
  for (const Pairing base : {split_half, interleaved, quarter, interleaved_to_split_half}) {
    const Pairing pairing = base.with_rotary_dims(8).with_offset(3);
    for (const Index width : {Index{4}, Index{8}}) {
      for (unsigned mask = 0; mask < 8; ++mask) {
        const Shape outer{mask & 1U ? 3 : 1, mask & 2U ? 2 : 1, mask & 4U ? 4 : 1};
        const auto entries = static_cast<std::size_t>(width * outer.size());
        std::vector<double> dcos(entries, 77), dsin(entries, 77), expected_cos(entries),
            expected_sin(entries);
        table_gradient(TableGradient<double>{dcos.data(), dsin.data(), width, outer},
                       dense(x, shape), dense(g, shape), pairing);
        add_by_loops(x, g, shape, pairing, width, outer, expected_cos, expected_sin);
        for (std::size_t i = 0; i < entries; ++i) {
          ASSERT_NEAR(dcos[i], expected_cos[i], rounding) << "mask " << mask << ", entry " << i;
          ASSERT_NEAR(dsin[i], expected_sin[i], rounding) << "mask " << mask << ", entry " << i;
        }
      }
    }
  }
}

TEST(TableGradient, ThreadsGiveTheSameBits) {
  const Shape shape{64, 8, 16, 3};
  const auto size = static_cast<std::size_t>(shape.size());
  const std::vector<double> values = random_values(2 * size, 3);
  const std::vector<float> x(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(size));
  const std::vector<float> g(values.begin() + static_cast<std::ptrdiff_t>(size), values.end());
  const Shape outer{1, 16};
  std::vector<float> dcos(32 * 16), dsin(32 * 16);
  table_gradient(TableGradient<float>{dcos.data(), dsin.data(), 32, outer}, dense(x, shape),
                 dense(g, shape), split_half);
  for (const int threads : {1, 2, 5}) {
    Eigen::ThreadPool pool(threads);
    const Eigen::ThreadPoolDevice device(&pool, threads);
    std::vector<float> again_cos(32 * 16), again_sin(32 * 16);
    table_gradient(TableGradient<float>{again_cos.data(), again_sin.data(), 32, outer},
                   dense(x, shape), dense(g, shape), split_half, device);
    EXPECT_EQ(again_cos, dcos);
    EXPECT_EQ(again_sin, dsin);
  }
}

TEST(TableGradient, TakesTensors) {
  Eigen::Tensor<float, 2> x(8, 3), g(8, 3);
  x.setRandom();
  g.setRandom();
  const Shape shape{8, 3};
  std::vector<float> dcos(12), dsin(12), again_cos(12), again_sin(12);
  table_gradient(TableGradient<float>{dcos.data(), dsin.data(), 4, Shape{3}},
                 dense(x.data(), shape), dense(g.data(), shape), split_half);
  table_gradient(TableGradient<float>{again_cos.data(), again_sin.data(), 4, Shape{3}}, x,
                 std::as_const(g), split_half);
  EXPECT_EQ(again_cos, dcos);
  EXPECT_EQ(again_sin, dsin);
}

// A million terms of one sign: a float sum would have lost three digits, a plain double sum of
// doubles shows its rounding.
TEST(TableGradient, LongSumsKeepTheirDigits) {
  constexpr Index rows = 1 << 20;
  const Shape shape{2, rows};
  const std::vector<float> x(static_cast<std::size_t>(2 * rows), 0.1F);
  std::vector<float> dcos(1), dsin(1);
  table_gradient(TableGradient<float>{dcos.data(), dsin.data(), 1, Shape{1}}, dense(x, shape),
                 dense(x, shape), split_half);
  const double tenth = static_cast<double>(0.1F);
  EXPECT_EQ(dcos[0], static_cast<float>(2.0 * rows * (tenth * tenth)));
  EXPECT_EQ(dsin[0], 0.0F);

  const std::vector<double> wide(static_cast<std::size_t>(2 * rows), 0.1);
  std::vector<double> wide_cos(1), wide_sin(1);
  table_gradient(TableGradient<double>{wide_cos.data(), wide_sin.data(), 1, Shape{1}},
                 dense(wide, shape), dense(wide, shape), split_half);
  EXPECT_EQ(wide_cos[0], 2.0 * rows * (0.1 * 0.1));
}

// The same in rows of whole vectors and a tail, where each target has loops of its own.
TEST(TableGradient, LongSumsOfWideRowsKeepTheirDigitsOnEveryTarget) {
  constexpr Index rows = 1 << 13;
  constexpr Index pairs = 19;
  const std::vector<double> x(static_cast<std::size_t>(2 * pairs * rows), 0.1);
  for (const std::string& target : kernel_targets()) {
    const OnlyTarget only(target);
    for (const Pairing pairing : {split_half, interleaved, interleaved_to_split_half}) {
      for (const Index width : {pairs, 2 * pairs}) {
        SCOPED_TRACE(target + ", kind " + std::to_string(static_cast<int>(pairing.kind())) +
                     ", width " + std::to_string(width));
        std::vector<double> dcos(static_cast<std::size_t>(width)), dsin(dcos.size());
        table_gradient(TableGradient<double>{dcos.data(), dsin.data(), width, Shape{1}},
                       dense(x, {2 * pairs, rows}), dense(x, {2 * pairs, rows}), pairing);
        const double sum = rows * (0.1 * 0.1);
        for (std::size_t i = 0; i < dcos.size(); ++i) {
          ASSERT_EQ(dcos[i], width == pairs ? 2 * sum : sum) << "entry " << i;
          ASSERT_EQ(std::abs(dsin[i]), width == pairs ? 0 : sum) << "entry " << i;
        }
      }
    }
  }
}

// 1 + 2^-11 lies between two halves; what is added beyond it decides, and would be lost in a float
// on the way.
TEST(TableGradient, SixteenBitsAreRoundedOnce) {
  const auto gradient_of = [](float tiny) {
    const std::vector<Eigen::half> x{Eigen::half(1.0F), Eigen::half(0x1p-6F), Eigen::half(tiny),
                                     Eigen::half(0.0F)};
    const std::vector<Eigen::half> g{Eigen::half(1.0F), Eigen::half(0x1p-5F), Eigen::half(0x1p-14F),
                                     Eigen::half(0.0F)};
    std::vector<Eigen::half> dcos(1), dsin(1);
    table_gradient(TableGradient<Eigen::half>{dcos.data(), dsin.data(), 1, Shape{1}},
                   dense(x, {2, 2}), dense(g, {2, 2}), split_half);
    return static_cast<float>(dcos[0]);
  };
  EXPECT_EQ(gradient_of(0.0F), 1.0F);  // a tie, to even
  EXPECT_EQ(gradient_of(0x1p-14F), 1.0F + 0x1p-10F);
  EXPECT_EQ(gradient_of(-0x1p-14F), 1.0F);
}

TEST(TableGradient, NoRowsGiveZero) {
  const std::vector<double> nothing;
  std::vector<double> dcos(2, 77), dsin(2, 77);
  table_gradient(TableGradient<double>{dcos.data(), dsin.data(), 2, Shape{1}},
                 StridedView<const double>{nothing.data(), {4, 0}, {4}},
                 StridedView<const double>{nothing.data(), {4, 0}, {4}}, split_half);
  EXPECT_EQ(dcos, (std::vector<double>{0, 0}));
  EXPECT_EQ(dsin, (std::vector<double>{0, 0}));
}

TEST(TableGradient, RefusesWhatDoesNotFitAndWritesNothing) {
  std::vector<double> x(8, 1.0), dcos(4, 77), dsin(4, 77);
  const Shape shape{4, 2};
  const auto view = dense(std::as_const(x), shape);
  const auto error = [&](const TableGradient<double>& to, const StridedView<const double>& from,
                         const StridedView<const double>& g) {
    return test::error_of([&] { table_gradient(to, from, g, split_half); });
  };
  EXPECT_EQ(error({dcos.data(), dsin.data(), 2, {1}}, view, dense(std::as_const(x), {2, 4})),
            "[rope] g must have x's shape [4, 2], got [2, 4]");
  EXPECT_EQ(
      error({dcos.data(), dsin.data(), 3, {1}}, view, view),
      "[rope] table width must be 2 (one entry per pair) or 4 (one per rotated element), got 3");
  EXPECT_EQ(error({nullptr, dsin.data(), 2, {1}}, view, view),
            "[rope] the table's gradient must have data, got a null pointer");
  EXPECT_EQ(error({x.data(), dsin.data(), 2, {1}}, view, view),
            "[rope] the table's gradient must not overlap x or g");
  EXPECT_EQ(error({dcos.data(), dcos.data() + 1, 2, {1}}, view, view),
            "[rope] the gradients of cos and sin must not overlap");
  EXPECT_EQ(error({dcos.data(), dsin.data(), 2, {1}}, {nullptr, shape, {4}}, view),
            "[rope] a strided view must have data, got a null pointer");
  EXPECT_EQ(dcos, std::vector<double>(4, 77));
  EXPECT_EQ(dsin, std::vector<double>(4, 77));
}

}  // namespace
}  // namespace eigen_rope
