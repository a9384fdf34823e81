// SPDX-License-Identifier: Apache-2.0
//
// A rotation inside larger expressions, and larger expressions inside a rotation, give what the
// same steps give one by one.
//
// Every operation of Eigen around one: rotate_parents_test.cpp. Both sides the same memory:
// rotate_same_region_test.cpp.
#include <gtest/gtest.h>

#include "eigen_rope/forms/reference.hpp"
#include "support/cache_sides.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test {
namespace {

using Eigen::ColMajor;
using Eigen::RowMajor;
using Tensor = Eigen::Tensor<float, 3>;
using Sizes = Eigen::DSizes<Eigen::Index, 3>;

/// [D, H, S]; large enough for several blocks.
constexpr Index kHeads = 7;
constexpr Index kTokens = 33;
constexpr std::array<Row, 5> rows{{{64, 0, 64}, {70, 0, 70}, {80, 8, 32}, {37, 5, 32}, {2, 0, 2}}};

/// Both sides are made by the row kernels, and the operations around them round what they do once.
template <class Scalar, int rank, int layout>
::testing::AssertionResult equal(const Eigen::Tensor<Scalar, rank, layout>& expected,
                                 const Eigen::Tensor<Scalar, rank, layout>& actual) {
  return same_bits(expected, actual);
}

/// One tensor, one table per token and one way to rotate.
struct Setting {
  explicit Setting(const Case& way)
      : c(way),
        shape{c.row.length, kHeads, kTokens},
        x(random_tensor<float, 3>(shape, 1)),
        table(random_table<float>(c.width(), Shape{1, kTokens}, 2)) {}

  template <class Expression>
  auto rotated(const Expression& e) const {
    return rotation(e, table, c.pairing, c.direction);
  }

  Case c;
  Shape shape;
  Tensor x;
  Table<float> table;
};

template <class Check>
void for_each_setting(Check&& check) {
  for (const Case& c : cases_of(rows)) {
    SCOPED_TRACE(c.text());
    ASSERT_NO_FATAL_FAILURE(check(Setting(c)));
  }
}

EIGEN_ROPE_ON_BOTH_SIDES_OF_THE_CACHES(RotateNested);

TEST_P(RotateNested, ScaledAndShifted) {
  for_each_setting([](const Setting& s) {
    const Tensor b = random_tensor<float, 3>(s.shape, 3);
    const Tensor alone = s.rotated(s.x);
    const Tensor expected = alone * 2.f + b;
    const Tensor actual = s.rotated(s.x) * 2.f + b;
    ASSERT_TRUE(equal(expected, actual));
  });
}

TEST_P(RotateNested, OfAScaledTensor) {
  for_each_setting([](const Setting& s) {
    const Tensor scaled = s.x * 2.f;
    const Tensor expected = s.rotated(scaled);
    const Tensor actual = s.rotated(s.x * 2.f);
    ASSERT_TRUE(equal(expected, actual));
    const Tensor expected_sum = expected * 3.f;
    const Tensor sum = s.rotated(s.x * 2.f) * 3.f;
    ASSERT_TRUE(equal(expected_sum, sum));
  });
}

/// Slices that have raw data (a run of tokens) and slices that have none (some heads), from a
/// larger tensor.
TEST_P(RotateNested, OfASlice) {
  for_each_setting([](const Setting& s) {
    for (const Shape& around :
         {Shape{s.shape[0], kHeads, kTokens + 4}, Shape{s.shape[0], kHeads + 5, kTokens},
          Shape{s.shape[0] + 3, kHeads, kTokens}}) {
      const Tensor large = random_tensor<float, 3>(around, 4);
      const Sizes offset = sizes_of<3, ColMajor>(
          Shape{around[0] - s.shape[0], around[1] - kHeads, around[2] - kTokens});
      const Tensor slice = large.slice(offset, s.x.dimensions());
      const Tensor expected = s.rotated(slice);
      const Tensor actual = s.rotated(large.slice(offset, s.x.dimensions()));
      ASSERT_TRUE(equal(expected, actual)) << around.text();
    }
  });
}

TEST_P(RotateNested, OfAShuffle) {
  for_each_setting([](const Setting& s) {
    // Tokens inside heads, as attention wants them.
    const Tensor heads_outside = random_tensor<float, 3>(Shape{s.shape[0], kTokens, kHeads}, 5);
    const Eigen::array<int, 3> order{0, 2, 1};
    const Tensor shuffled = heads_outside.shuffle(order);
    const Tensor expected = s.rotated(shuffled);
    const Tensor actual = s.rotated(heads_outside.shuffle(order));
    ASSERT_TRUE(equal(expected, actual));
  });
}

/// Uniform blocks, which cut the feature axis.
TEST_P(RotateNested, Shuffled) {
  for_each_setting([](const Setting& s) {
    const Eigen::array<int, 3> order{2, 0, 1};
    const Tensor alone = s.rotated(s.x * 2.f);
    const Tensor expected = alone.shuffle(order);
    const Tensor actual = s.rotated(s.x * 2.f).shuffle(order);
    ASSERT_TRUE(equal(expected, actual));
  });
}

/// Uniform blocks that hold whole rows but not all of their neighbours: nothing but the whole
/// expression may use the destination's strides.
TEST_P(RotateNested, OfAReversal) {
  constexpr Index many = 45;
  for (const Case& c : cases_of(std::array<Row, 2>{{{10, 0, 10}, {12, 3, 8}}})) {
    SCOPED_TRACE(c.text());
    const Tensor reversed = random_tensor<float, 3>(Shape{many, many, c.row.length}, 18);
    const auto table = random_table<float>(c.width(), Shape{1, many}, 19);
    const Eigen::array<int, 3> order{2, 1, 0};
    const Tensor x = reversed.shuffle(order);
    const Tensor alone = rotation(x, table, c.pairing, c.direction);
    const Tensor expected = alone * 3.f;
    const Tensor actual = rotation(reversed.shuffle(order), table, c.pairing, c.direction) * 3.f;
    ASSERT_TRUE(equal(expected, actual));
  }
}

TEST_P(RotateNested, OfARotation) {
  for_each_setting([](const Setting& s) {
    const Tensor once = s.rotated(s.x);
    const Tensor expected = eigen_rope::rotate_backward(once, s.table, s.c.pairing);
    const Tensor actual = eigen_rope::rotate_backward(s.rotated(s.x), s.table, s.c.pairing);
    ASSERT_TRUE(equal(expected, actual));
  });
}

TEST_P(RotateNested, OfABroadcast) {
  for_each_setting([](const Setting& s) {
    const Tensor one_head = random_tensor<float, 3>(Shape{s.shape[0], 1, kTokens}, 6);
    const Eigen::array<Index, 3> repeats{1, kHeads, 1};
    const Tensor repeated = one_head.broadcast(repeats);
    const Tensor expected = s.rotated(repeated);
    const Tensor actual = s.rotated(one_head.broadcast(repeats));
    ASSERT_TRUE(equal(expected, actual));
  });
}

/// Two nodes, and a broadcast beside one: evaluated in blocks though x is raw.
TEST_P(RotateNested, BesideABroadcast) {
  for_each_setting([](const Setting& s) {
    const Tensor bias = random_tensor<float, 3>(Shape{s.shape[0], 1, 1}, 7);
    const Eigen::array<Index, 3> repeats{1, kHeads, kTokens};
    const Tensor repeated = bias.broadcast(repeats);
    const Tensor alone = s.rotated(s.x);
    const Tensor expected = alone + repeated;
    const Tensor actual = s.rotated(s.x) + bias.broadcast(repeats);
    ASSERT_TRUE(equal(expected, actual));
  });
}

/// Beside a constant or a stride, which know no blocks, Eigen takes packets, or coefficients where
/// a packet does not fit.
TEST_P(RotateNested, BesideAConstant) {
  for_each_setting([](const Setting& s) {
    const Tensor alone = s.rotated(s.x);
    const Tensor expected = alone + 0.25f;
    const Tensor actual = s.rotated(s.x) + s.x.constant(0.25f);
    ASSERT_TRUE(equal(expected, actual));
    const Tensor larger = random_tensor<float, 3>(Shape{s.shape[0], 2 * kHeads, kTokens}, 20);
    const Eigen::array<Index, 3> every_other_head{1, 2, 1};
    const Tensor strided = larger.stride(every_other_head);
    const Tensor expected_of_strided = s.rotated(strided);
    const Tensor of_strided = s.rotated(larger.stride(every_other_head));
    ASSERT_TRUE(equal(expected_of_strided, of_strided));
  });
}

/// Into heads (no raw destination) and into tokens (a raw one) of a larger tensor; the rest stays.
TEST_P(RotateNested, IntoASlice) {
  for_each_setting([](const Setting& s) {
    for (const Shape& around :
         {Shape{s.shape[0], kHeads, kTokens + 4}, Shape{s.shape[0], kHeads + 5, kTokens},
          Shape{s.shape[0] + 3, kHeads, kTokens}}) {
      const Sizes offset = sizes_of<3, ColMajor>(
          Shape{around[0] - s.shape[0], around[1] - kHeads, around[2] - kTokens});
      const Tensor alone = s.rotated(s.x);
      Tensor expected = random_tensor<float, 3>(around, 8);
      Tensor actual = expected;
      expected.slice(offset, s.x.dimensions()) = alone;
      actual.slice(offset, s.x.dimensions()) = s.rotated(s.x);
      ASSERT_TRUE(equal(expected, actual)) << around.text();
    }
  });
}

TEST_P(RotateNested, SlicedAndReshaped) {
  for_each_setting([](const Setting& s) {
    const Tensor alone = s.rotated(s.x);
    const Sizes offset(0, 2, 3);
    const Sizes sizes(s.shape[0] / 2, 4, 20);
    const Tensor expected_slice = alone.slice(offset, sizes);
    const Tensor slice = s.rotated(s.x).slice(offset, sizes);
    ASSERT_TRUE(equal(expected_slice, slice));
    const Eigen::DSizes<Eigen::Index, 2> flat(s.shape[0] * kHeads, kTokens);
    const Eigen::Tensor<float, 2> expected_flat = alone.reshape(flat);
    const Eigen::Tensor<float, 2> reshaped = s.rotated(s.x).reshape(flat);
    ASSERT_TRUE(equal(expected_flat, reshaped));
  });
}

/// Scores q k^T of one head, both rotated on the way into the product.
TEST_P(RotateNested, InAContraction) {
  for (const Case& c : cases_of(rows)) {
    SCOPED_TRACE(c.text());
    using Matrix = Eigen::Tensor<float, 2>;
    const Matrix q = random_tensor<float, 2>(Shape{c.row.length, kTokens}, 9);
    const Matrix k = random_tensor<float, 2>(Shape{c.row.length, kTokens}, 10);
    const auto table = random_table<float>(c.width(), Shape{kTokens}, 11);
    const Eigen::array<Eigen::IndexPair<int>, 1> features{Eigen::IndexPair<int>(0, 0)};
    const Matrix rotated_q = rotation(q, table, c.pairing, c.direction);
    const Matrix rotated_k = rotation(k, table, c.pairing, c.direction);
    const Matrix expected = rotated_q.contract(rotated_k, features);
    const Matrix actual = rotation(q, table, c.pairing, c.direction)
                              .contract(rotation(k, table, c.pairing, c.direction), features);
    // Sums of D products of numbers below 4: equal if the products are taken in the same order,
    // which is Eigen's to choose.
    const std::vector<long double> magnitudes(static_cast<std::size_t>(expected.size()), 16.0L);
    ASSERT_TRUE(
        within_ulps(expected.data(), actual.data(), magnitudes, static_cast<double>(c.row.length)));
  }
}

/// Raw data behind other types than Tensor.
TEST_P(RotateNested, OfMapsAndConstants) {
  for_each_setting([](const Setting& s) {
    const Tensor expected = s.rotated(s.x);
    const Eigen::TensorMap<const Tensor> map_of_const(s.x.data(), s.x.dimensions());
    const Tensor of_const = s.rotated(map_of_const);
    ASSERT_TRUE(equal(expected, of_const));
    Tensor y(s.x.dimensions());
    Eigen::TensorMap<Tensor> map(y.data(), y.dimensions());
    map = s.rotated(s.x);
    ASSERT_TRUE(equal(expected, y));
  });
}

/// The last axis of x left out, and put back: x as a part of another tensor.
TEST_P(RotateNested, OfAChip) {
  for_each_setting([](const Setting& s) {
    const Eigen::Tensor<float, 4> batch =
        random_tensor<float, 4>(Shape{s.shape[0], kHeads, kTokens, 3}, 12);
    const Tensor chip = batch.chip(1, 3);
    const Tensor expected = s.rotated(chip);
    const Tensor actual = s.rotated(batch.chip(1, 3));
    ASSERT_TRUE(equal(expected, actual));
  });
}

/// A rotation in float stored as half, from raw floats and from an expression; and one in float of
/// halves.
TEST_P(RotateNested, Casts) {
  using HalfTensor = Eigen::Tensor<Eigen::half, 3>;
  for_each_setting([](const Setting& s) {
    const Tensor alone = s.rotated(s.x);
    const HalfTensor expected = alone.cast<Eigen::half>();
    const HalfTensor actual = s.rotated(s.x).cast<Eigen::half>();
    ASSERT_TRUE(equal(expected, actual));

    const Tensor scaled = s.x * 2.f;
    const Tensor rotated = s.rotated(scaled);
    const HalfTensor expected_scaled = rotated.cast<Eigen::half>();
    const HalfTensor actual_scaled = s.rotated(s.x * 2.f).cast<Eigen::half>();
    ASSERT_TRUE(equal(expected_scaled, actual_scaled));

    const HalfTensor x = s.x.cast<Eigen::half>();
    const Tensor widened = x.cast<float>();
    const Tensor expected_widened = s.rotated(widened);
    const Tensor actual_widened = s.rotated(x.cast<float>());
    ASSERT_TRUE(equal(expected_widened, actual_widened));
  });
}

TEST_P(RotateNested, DoubleInRowMajor) {
  using RowTensor = Eigen::Tensor<double, 3, RowMajor>;
  for (const Case& c : cases_of(rows)) {
    SCOPED_TRACE(c.text());
    const Shape shape{c.row.length, kHeads, kTokens};
    const RowTensor x = random_tensor<double, 3, RowMajor>(shape, 13);
    const RowTensor b = random_tensor<double, 3, RowMajor>(shape, 14);
    const auto table = random_table<double>(c.width(), Shape{1, kTokens}, 15);
    const RowTensor alone = rotation(x, table, c.pairing, c.direction);
    const RowTensor expected = alone * 2.0 + b;
    const RowTensor actual = rotation(x, table, c.pairing, c.direction) * 2.0 + b;
    ASSERT_TRUE(equal(expected, actual));
    const RowTensor sum = x + b;
    const RowTensor expected_of_sum = rotation(sum, table, c.pairing, c.direction);
    const RowTensor of_sum = rotation(x + b, table, c.pairing, c.direction);
    ASSERT_TRUE(equal(expected_of_sum, of_sum));
  }
}

/// Rows longer than a block: it must take partners from beyond itself.
TEST_P(RotateNested, RowsLongerThanABlock) {
  constexpr Index length = 50000;
  for (const Case& c :
       cases_of(std::array<Row, 2>{{{length, 0, length}, {length, 6, length - 10}}})) {
    SCOPED_TRACE(c.text());
    const Tensor x = random_tensor<float, 3>(Shape{length, 2, 2}, 16);
    const auto table = random_table<float>(c.width(), Shape{2}, 17);
    const Tensor scaled = x * 2.f;
    const Tensor expected = rotation(scaled, table, c.pairing, c.direction);
    const Tensor actual = rotation(x * 2.f, table, c.pairing, c.direction);
    ASSERT_TRUE(equal(expected, actual));
  }
}

/// A single row has no outer axes at all.
template <class Scalar, int layout>
void nest_one_row() {
  std::uint64_t seed = 900;
  for (const Case& c : cases_of(every_row)) {
    SCOPED_TRACE(c.text());
    const auto x = random_tensor<Scalar, 1, layout>(Shape{c.row.length}, ++seed);
    const auto table = random_table<Scalar>(c.width(), Shape{}, ++seed);
    Eigen::Tensor<Scalar, 1, layout> expected(x.dimensions());
    reference::rotate(x.data(), expected.data(), Shape{c.row.length}, table.view(), c.pairing,
                      c.direction);
    const Eigen::Tensor<Scalar, 1, layout> doubled =
        rotation(x, table, c.pairing, c.direction) * Scalar(2);
    expected = expected * Scalar(2);
    ASSERT_TRUE(same_rotation(expected.data(), doubled.data(), x.data(), Shape{c.row.length}, c));
  }
}

TEST_P(RotateNested, OneRowOfFloat) { nest_one_row<float, Eigen::ColMajor>(); }
TEST_P(RotateNested, OneRowOfDoubleRowMajor) { nest_one_row<double, Eigen::RowMajor>(); }
TEST_P(RotateNested, OneRowOfHalf) { nest_one_row<Eigen::half, Eigen::ColMajor>(); }

}  // namespace
}  // namespace eigen_rope::test
