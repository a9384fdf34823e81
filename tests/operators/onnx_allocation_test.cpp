// SPDX-License-Identifier: Apache-2.0
//
// A call of one token of an ONNX operator asks for no memory, whichever rows of the caches it
// takes: what it needs of them fits into the call itself.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "eigen_rope/operators/onnx.hpp"
#include "support/allocations.hpp"

namespace eigen_rope::test::onnx_allocation_tests {
namespace {

constexpr std::int64_t D = 128, heads = 32, rows = 9;

template <class Scalar>
struct OnnxAllocationTest : testing::Test {
  std::vector<Scalar> x = std::vector<Scalar>(heads * D, Scalar(0.5F));
  std::vector<Scalar> y = x;
  std::vector<Scalar> entries = std::vector<Scalar>(rows * D / 2, Scalar(0.25F));
  std::vector<std::int64_t> ids{7, 2, 5};
  onnx::Tensor flat = onnx::tensor(y.data(), {1, 1, heads* D});
  onnx::Tensor split = onnx::tensor(y.data(), {1, heads, 1, D});

  onnx::Inputs inputs(const onnx::Dims& shape, const onnx::Dims& ids_shape) {
    onnx::Inputs all;
    all.X = onnx::tensor(static_cast<const Scalar*>(x.data()), shape);
    all.cos_cache = onnx::tensor(static_cast<const Scalar*>(entries.data()), {rows, D / 2});
    all.sin_cache = all.cos_cache;
    all.position_ids = onnx::PositionIds{ids.data(), ids_shape};
    return all;
  }
};
using Scalars = testing::Types<float, double, Eigen::half, Eigen::bfloat16>;
TYPED_TEST_SUITE(OnnxAllocationTest, Scalars);

TYPED_TEST(OnnxAllocationTest, OneTokenAsksForNone) {
  onnx::RotaryEmbedding node;
  node.num_heads = heads;
  for (node.interleaved = 0; node.interleaved < 2; ++node.interleaved) {
    const onnx::Inputs rank_3 = this->inputs(this->flat.shape, {1, 1});
    EXPECT_EQ(allocations_of([&] { onnx::run(node, rank_3, this->flat); }), 0);
    onnx::Inputs rank_4 = this->inputs(this->split.shape, {1, 1});
    EXPECT_EQ(allocations_of([&] { onnx::run(node, rank_4, this->split); }), 0);
    rank_4.position_ids.reset();
    rank_4.cos_cache.shape = rank_4.sin_cache.shape = {1, 1, D / 2};
    EXPECT_EQ(allocations_of([&] { onnx::run(node, rank_4, this->split); }), 0);
  }
}

TYPED_TEST(OnnxAllocationTest, RowsThatAreCopiedAskForNone) {
  onnx::ContribRotaryEmbedding scaled;
  scaled.scale = 2.0;
  const onnx::Inputs one = this->inputs(this->split.shape, {1});
  EXPECT_EQ(allocations_of([&] { onnx::run(scaled, one, this->split); }), 0);
  const onnx::Dims three{3, 8, 1, D};  // three sequences, of which each is elsewhere
  const onnx::Inputs apart = this->inputs(three, {3, 1});
  const onnx::Tensor Y = onnx::tensor(this->y.data(), three);
  EXPECT_EQ(allocations_of([&] { onnx::run(onnx::ContribRotaryEmbedding(), apart, Y); }), 0);
}

}  // namespace
}  // namespace eigen_rope::test::onnx_allocation_tests
