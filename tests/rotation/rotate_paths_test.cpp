// SPDX-License-Identifier: Apache-2.0
//
// The ways into a node, each forced by hand on its evaluator: direct, blocks of every shape, with
// and without a strided destination, and the temporary as coefficients, packets, data and blocks.
// All give the reference's bits.
#include <gtest/gtest.h>

#include "eigen_rope/forms/reference.hpp"
#include "support/cache_sides.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test {
namespace {

using Eigen::ColMajor;
using Eigen::DefaultDevice;
using Eigen::RowMajor;

constexpr std::array<Row, 11> rows{{{2, 0, 2},
                                    {8, 0, 8},
                                    {10, 0, 10},
                                    {36, 0, 36},
                                    {32, 0, 32},
                                    {12, 3, 8},
                                    {37, 5, 32},
                                    {24, 8, 12},
                                    {17, 2, 14},
                                    {64, 0, 64},
                                    {112, 16, 64}}};

template <class Node>
using EvaluatorOf = Eigen::TensorEvaluator<const Node, DefaultDevice>;

/// Where a block begins and what it spans: whole rows and parts of rows, some and all of the outer
/// axes.
std::vector<std::pair<Shape, Shape>> places_and_extents(const Shape& shape) {
  std::vector<std::pair<Shape, Shape>> blocks;
  const Index D = shape[0];
  for (const auto& [first, length] :
       {std::pair<Index, Index>{0, D}, {0, D / 2}, {D / 2, D - D / 2}, {1, D - 1}, {D - 1, 1}}) {
    for (const auto& [h, heads] :
         {std::pair<Index, Index>{0, shape[1]}, {1, shape[1] - 1}, {shape[1] - 1, 1}}) {
      for (const auto& [s, tokens] : {std::pair<Index, Index>{0, shape[2]}, {1, 2}}) {
        if (length > 0) blocks.push_back({Shape{first, h, s}, Shape{length, heads, tokens}});
      }
    }
  }
  return blocks;
}

/// Linear index of an element, `at` counted from the feature axis.
Index linear(const Shape& shape, Index d, Index h, Index s) {
  return (s * shape[1] + h) * shape[0] + d;
}

/// What stands behind a block when it is asked for.
enum class Destination {
  none,
  strided,     // of the whole right-hand side, with gaps after each row and each plane: the node
               // writes there
  of_another,  // of an expression around the node, perhaps of another scalar: not the node's
};

template <class Evaluator, class Scalar>
::testing::AssertionResult blocks_agree(const Evaluator& evaluator, const Shape& shape,
                                        const std::vector<Scalar>& expected, Destination kind) {
  constexpr int layout = static_cast<int>(Evaluator::Layout);
  using Descriptor = Eigen::internal::TensorBlockDescriptor<3, Eigen::Index>;
  const Scalar untouched(77);
  const DefaultDevice device;
  for (const auto& [place, extents] : places_and_extents(shape)) {
    Eigen::internal::TensorBlockScratchAllocator<DefaultDevice> scratch(device);
    Descriptor descriptor(linear(shape, place[0], place[1], place[2]),
                          sizes_of<3, layout>(extents));
    const bool strided = kind == Destination::strided;
    const Shape padded{extents[0] + (strided ? 3 : 0), extents[1] + (strided ? 1 : 0), extents[2]};
    std::vector<Scalar> destination(static_cast<std::size_t>(padded.size()), untouched);
    const Eigen::DSizes<Eigen::Index, 3> strides =
        Eigen::internal::strides<layout>(sizes_of<3, layout>(padded));
    if (strided) descriptor.template AddDestinationBuffer<layout>(destination.data(), strides);
    std::vector<std::int8_t> foreign(destination.size());
    if (kind == Destination::of_another)
      descriptor.template AddDestinationBuffer<layout>(foreign.data(), strides);

    const auto block = evaluator.block(descriptor, scratch, /*root_of_expr_ast=*/strided);
    const bool written = block.kind() == Eigen::internal::TensorBlockKind::kMaterializedInOutput;
    if (written && !strided)
      return ::testing::AssertionFailure() << "a destination that is not the node's was written";
    const Scalar* data = written ? destination.data() : block.data();
    const Shape in_memory = written ? padded : extents;
    for (Index s = 0; s < extents[2]; ++s) {
      for (Index h = 0; h < extents[1]; ++h) {
        for (Index d = 0; d < extents[0]; ++d) {
          const Scalar& wanted = expected[static_cast<std::size_t>(
              linear(shape, place[0] + d, place[1] + h, place[2] + s))];
          const Scalar& got = data[linear(in_memory, d, h, s)];
          if (same_number(wanted, got)) continue;
          return ::testing::AssertionFailure()
                 << "block " << extents.text() << " at " << place.text() << ": element "
                 << Shape{d, h, s}.text() << " is " << static_cast<long double>(got) << ", not "
                 << static_cast<long double>(wanted);
        }
      }
    }
    // What lies between the rows of a destination is not the node's either.
    for (Index i = 0; written && i < padded.size(); ++i) {
      const bool gap = i % padded[0] >= extents[0] || i / padded[0] % padded[1] >= extents[1];
      if (gap && !same_number(destination[static_cast<std::size_t>(i)], untouched)) {
        return ::testing::AssertionFailure()
               << "block " << extents.text() << " wrote between its rows";
      }
    }
  }
  return ::testing::AssertionSuccess();
}

/// Every path of a node of shape [D, 3, 4], against the reference's result for the same x.
template <class Node, class Scalar>
void expect_every_path(const Node& node, const Shape& shape, const std::vector<Scalar>& x,
                       const std::vector<Scalar>& expected, const Case& c) {
  using Evaluator = EvaluatorOf<Node>;
  const DefaultDevice device;
  Evaluator evaluator(node, device);
  ASSERT_TRUE(evaluator.evalSubExprsIfNeeded(nullptr))
      << "nothing to write to, so there is something left to do";
  const auto by_blocks = [&](const char* when) {
    if constexpr (Evaluator::BlockAccess) {
      for (const Destination kind :
           {Destination::none, Destination::strided, Destination::of_another}) {
        ASSERT_TRUE(blocks_agree(evaluator, shape, expected, kind))
            << when << ", with destination " << static_cast<int>(kind);
      }
    }
  };
  ASSERT_NO_FATAL_FAILURE(by_blocks("from x"));

  const Index size = shape.size();
  std::vector<Scalar> actual(static_cast<std::size_t>(size));
  for (Index i = 0; i < size; ++i) actual[static_cast<std::size_t>(i)] = evaluator.coeff(i);
  ASSERT_TRUE(same_rotation(expected.data(), actual.data(), x.data(), shape, c))
      << "by coefficients";
  ASSERT_TRUE(same_rotation(expected.data(), evaluator.data(), x.data(), shape, c)) << "as data";

  if constexpr (Evaluator::PacketAccess) {
    constexpr Index lanes = Evaluator::PacketSize;
    static_assert(lanes > 1);
    for (Index i = 0; i + lanes <= size; ++i) {
      std::array<Scalar, lanes> packet;
      Eigen::internal::pstoreu(packet.data(), evaluator.template packet<Eigen::Unaligned>(i));
      ASSERT_TRUE(same_bits(expected.data() + i, packet.data(), lanes)) << "by the packet at " << i;
    }
  }
  ASSERT_NO_FATAL_FAILURE(by_blocks("from the temporary"));
  evaluator.cleanup();
}

/// Nodes of raw x, of x * 2 and of a shuffled x, in each case with several broadcasts of the table.
template <class Scalar, class TableScalar, int layout>
void expect_every_path_of_every_node() {
  using Tensor = Eigen::Tensor<Scalar, 3, layout>;
  std::uint64_t seed = 1;
  for (const Case& c : cases_of(rows)) {
    const Shape shape{c.row.length, 3, 4};
    const Tensor x = random_tensor<Scalar, 3, layout>(shape, ++seed);
    const Shape swapped{c.row.length, 4, 3};
    const Tensor shuffled = random_tensor<Scalar, 3, layout>(swapped, seed);
    std::vector<Scalar> raw(x.data(), x.data() + x.size());
    std::vector<Scalar> doubled(raw.size());
    for (std::size_t i = 0; i < raw.size(); ++i) doubled[i] = raw[i] * Scalar(2);
    std::vector<Scalar> unshuffled(raw.size());
    for (Index i = 0; i < shape.size(); ++i) {
      const Index d = i % shape[0];
      const Index h = i / shape[0] % 3;
      const Index s = i / shape[0] / 3;
      unshuffled[static_cast<std::size_t>(i)] =
          raw[static_cast<std::size_t>((h * 4 + s) * shape[0] + d)];
    }
    for (const unsigned mask : {0U, 1U, 2U, 3U}) {
      const auto table =
          random_table<TableScalar>(c.width(), broadcast_outer(shape.outer(), mask), ++seed);
      SCOPED_TRACE(c.text() + ", table varies on outer axes " + std::to_string(mask));
      std::vector<Scalar> expected(raw.size());

      reference::rotate(raw.data(), expected.data(), shape, table.view(), c.pairing, c.direction);
      const auto of_raw = rotation(x, table, c.pairing, c.direction);
      ASSERT_NO_FATAL_FAILURE(expect_every_path(of_raw, shape, raw, expected, c)) << "raw x";
      const DefaultDevice device;
      std::vector<Scalar> direct(raw.size());
      EvaluatorOf<decltype(of_raw)> evaluator(of_raw, device);
      ASSERT_FALSE(evaluator.evalSubExprsIfNeeded(direct.data()))
          << "the kernel must have written everything";
      ASSERT_TRUE(same_rotation(expected.data(), direct.data(), raw.data(), shape, c)) << "direct";
      evaluator.cleanup();

      reference::rotate(doubled.data(), expected.data(), shape, table.view(), c.pairing,
                        c.direction);
      const auto of_doubled = rotation(x * Scalar(2), table, c.pairing, c.direction);
      ASSERT_NO_FATAL_FAILURE(expect_every_path(of_doubled, shape, doubled, expected, c))
          << "x * 2";
      EvaluatorOf<decltype(of_doubled)> not_raw(of_doubled, device);
      ASSERT_TRUE(not_raw.evalSubExprsIfNeeded(direct.data()))
          << "x * 2 has no raw data to go through at once";
      not_raw.cleanup();

      reference::rotate(unshuffled.data(), expected.data(), shape, table.view(), c.pairing,
                        c.direction);
      const Eigen::array<int, 3> order = layout == static_cast<int>(ColMajor)
                                             ? Eigen::array<int, 3>{0, 2, 1}
                                             : Eigen::array<int, 3>{1, 0, 2};
      const auto of_shuffled = rotation(shuffled.shuffle(order), table, c.pairing, c.direction);
      ASSERT_NO_FATAL_FAILURE(expect_every_path(of_shuffled, shape, unshuffled, expected, c))
          << "shuffled";
    }
  }
}

EIGEN_ROPE_ON_BOTH_SIDES_OF_THE_CACHES(RotatePaths);

TEST_P(RotatePaths, Float) { expect_every_path_of_every_node<float, float, ColMajor>(); }
TEST_P(RotatePaths, FloatRowMajor) { expect_every_path_of_every_node<float, float, RowMajor>(); }
TEST_P(RotatePaths, Double) { expect_every_path_of_every_node<double, double, ColMajor>(); }
TEST_P(RotatePaths, HalfWithFloatTable) {
  expect_every_path_of_every_node<Eigen::half, float, RowMajor>();
}
TEST_P(RotatePaths, Bfloat16) {
  expect_every_path_of_every_node<Eigen::bfloat16, Eigen::bfloat16, ColMajor>();
}
TEST_P(RotatePaths, LongDouble) {
  expect_every_path_of_every_node<long double, long double, ColMajor>();
}

/// What decides which path Eigen takes.
template <class Expression, class TableScalar>
using Flags = EvaluatorOf<RotateOp<const Expression, TableScalar>>;
template <class Scalar>
using Tensor3 = Eigen::Tensor<Scalar, 3>;
template <class Scalar>
using Doubled = decltype(std::declval<const Tensor3<Scalar>&>() * Scalar());

template <class Evaluator>
struct Facts {
  static constexpr bool RawAccess = Evaluator::RawAccess;
  static constexpr bool BlockAccess = Evaluator::BlockAccess;
  static constexpr bool PreferBlockAccess = Evaluator::PreferBlockAccess;
};

/// One mechanism, whatever x is: blocks of rows where Eigen evaluates in blocks, one temporary
/// everywhere else.
TEST_P(RotatePaths, FlagsOfPlainScalars) {
  EXPECT_TRUE((Flags<Tensor3<float>, float>::PacketAccess));
  EXPECT_TRUE((Flags<Tensor3<double>, double>::PacketAccess));
  EXPECT_TRUE((Flags<Tensor3<float>, double>::PacketAccess));
  EXPECT_FALSE((Flags<Tensor3<long double>, long double>::PacketAccess));
  // A stride has no blocks to take rows from.
  using Strided = decltype(std::declval<const Tensor3<float>&>().stride(
      std::declval<const Eigen::array<Index, 3>&>()));
  const auto expect_all = [](auto flags) {
    using F = decltype(flags);
    EXPECT_TRUE(F::RawAccess);
    EXPECT_TRUE(F::BlockAccess);
    EXPECT_TRUE(F::PreferBlockAccess);
  };
  expect_all(Facts<Flags<Tensor3<float>, float>>());
  expect_all(Facts<Flags<Tensor3<double>, double>>());
  expect_all(Facts<Flags<Doubled<float>, float>>());
  expect_all(Facts<Flags<Strided, float>>());
  expect_all(Facts<Flags<Tensor3<Eigen::half>, float>>());
  expect_all(Facts<Flags<Tensor3<long double>, long double>>());
  expect_all(Facts<Flags<Eigen::TensorMap<const Tensor3<float>>, float>>());
}

}  // namespace
}  // namespace eigen_rope::test
