// SPDX-License-Identifier: Apache-2.0
//
// What lies outside the window is copied bit for bit, whatever it holds: payloads of NaN, quiet and
// signalling, negative zeros, denormals. On every path, and where it lies.
#include <gtest/gtest.h>

#include <cstdint>

#include "eigen_rope/rotation/rotate_to.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test::rotate_copy_tests {
namespace {

constexpr Row row{44, 6, 24};  // 6 elements before the window, 14 behind it
constexpr Index kRows = 9;

template <class Bits, std::size_t count>
void fill_outside(std::vector<Bits>& elements, const std::array<Bits, count>& values) {
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto d = static_cast<Index>(i) % row.length;
    if (d < row.offset || d >= row.offset + row.dims) elements[i] = values[i % count];
  }
}

template <class Scalar, class Bits>
::testing::AssertionResult outside_is_copied(const std::vector<Bits>& x, const Scalar* y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto d = static_cast<Index>(i) % row.length;
    if (d >= row.offset && d < row.offset + row.dims) continue;
    Bits got;
    std::memcpy(&got, y + i, sizeof got);
    if (got != x[i])
      return ::testing::AssertionFailure()
             << "element " << i << std::hex << ": expected bits " << x[i] << ", got " << got;
  }
  return ::testing::AssertionSuccess();
}

/// `values` are bits of Scalar that arithmetic would not keep.
template <class Scalar, class TableScalar, class Bits, std::size_t count>
void expect_bits_kept(const std::array<Bits, count>& values) {
  static_assert(sizeof(Bits) == sizeof(Scalar));
  using Tensor = Eigen::Tensor<Scalar, 2>;
  using Node =
      decltype(rotation(std::declval<const Tensor&>(), std::declval<const Table<TableScalar>&>(),
                        split_half, Direction::forward));
  for (const Case& c : cases_of(std::array<Row, 1>{row})) {
    SCOPED_TRACE(c.text());
    const auto table = random_table<TableScalar>(c.width(), Shape{kRows}, 1);
    Tensor x = random_tensor<Scalar, 2>(Shape{row.length, kRows}, 2);
    std::vector<Bits> bits(static_cast<std::size_t>(x.size()));
    std::memcpy(bits.data(), x.data(), bits.size() * sizeof(Bits));
    fill_outside(bits, values);
    std::memcpy(static_cast<void*>(x.data()), bits.data(), bits.size() * sizeof(Bits));

    const Node node = rotation(x, table, c.pairing, c.direction);
    const Tensor direct = node;
    ASSERT_TRUE(outside_is_copied(bits, direct.data()));

    const Eigen::DefaultDevice device;
    Eigen::TensorEvaluator<const Node, Eigen::DefaultDevice> evaluator(node, device);
    evaluator.evalSubExprsIfNeeded(nullptr);
    Tensor by_path(x.dimensions());
    for (Index i = 0; i < x.size(); ++i) by_path.data()[i] = evaluator.coeff(i);
    ASSERT_TRUE(outside_is_copied(bits, by_path.data())) << "by coefficients";
    if constexpr (decltype(evaluator)::PacketAccess) {
      constexpr Index lanes = decltype(evaluator)::PacketSize;
      for (Index i = 0; i + lanes <= x.size(); ++i) {
        Eigen::internal::pstoreu(by_path.data() + i,
                                 evaluator.template packet<Eigen::Unaligned>(i));
      }
      ASSERT_TRUE(outside_is_copied(bits, by_path.data())) << "by packets";
    }
    Eigen::internal::TensorBlockScratchAllocator<Eigen::DefaultDevice> scratch(device);
    Eigen::internal::TensorBlockDescriptor<2, Eigen::Index> whole(0, x.dimensions());
    ASSERT_TRUE(outside_is_copied(bits, evaluator.block(whole, scratch).data())) << "by a block";
    evaluator.cleanup();

    Tensor in_place = x;
    rotate_inplace(in_place, table, c.pairing, c.direction);
    ASSERT_TRUE(outside_is_copied(bits, in_place.data())) << "in place";
  }
}

/// Quiet and signalling NaN with payloads, negative zero, the smallest denormal, infinity.
TEST(RotateCopies, FloatBits) {
  expect_bits_kept<float, float>(std::array<std::uint32_t, 5>{0x7fc12345U, 0xffa00001U, 0x80000000U,
                                                              0x00000001U, 0xff800000U});
}
TEST(RotateCopies, DoubleBits) {
  expect_bits_kept<double, double>(std::array<std::uint64_t, 4>{
      0x7ff8000000abcdefU, 0xfff0000000000001U, 0x8000000000000000U, 0x0000000000000001U});
}
TEST(RotateCopies, HalfBits) {
  expect_bits_kept<Eigen::half, float>(
      std::array<std::uint16_t, 5>{0x7e55, 0xfc01, 0x8000, 0x0001, 0xfc00});
}
TEST(RotateCopies, Bfloat16Bits) {
  expect_bits_kept<Eigen::bfloat16, Eigen::bfloat16>(
      std::array<std::uint16_t, 5>{0x7fd5, 0xff81, 0x8000, 0x0001, 0xff80});
}

/// A NaN makes its pair NaN and nothing else.
TEST(RotateCopies, NanStaysInItsPair) {
  for (const Case& c : cases_of(std::array<Row, 1>{row})) {
    SCOPED_TRACE(c.text());
    const auto table = random_table<float>(c.width(), Shape{}, 1);
    for (Index k = 0; k < row.dims / 2; ++k) {
      Eigen::Tensor<float, 1> x = random_tensor<float, 1>(Shape{row.length}, 2);
      const Members m = members_of(c.pairing.kind(), k, row.dims);
      const bool forward = c.direction == Direction::forward;
      x(row.offset + (forward ? m.b : m.B)) = std::numeric_limits<float>::quiet_NaN();
      const Eigen::Tensor<float, 1> y = rotation(x, table, c.pairing, c.direction);
      for (Index d = 0; d < row.length; ++d) {
        const Index slot = d - row.offset;
        const bool in_pair = slot == (forward ? m.A : m.a) || slot == (forward ? m.B : m.b);
        ASSERT_EQ(std::isnan(y(d)), in_pair) << "pair " << k << ", element " << d;
      }
    }
  }
}

}  // namespace
}  // namespace eigen_rope::test::rotate_copy_tests
