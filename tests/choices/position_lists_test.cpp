// SPDX-License-Identifier: Apache-2.0
//
// Eigen's vectors and tensors as lists of positions.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cstdint>
#include <unsupported/Eigen/CXX11/Tensor>

#include "eigen_rope/choices/positions.hpp"

namespace eigen_rope::position_lists_tests {
namespace {

TEST(PositionLists, EigenVectorsGiveWhatTheVectorGives) {
  const Positions expected = Positions::ids({3, -1, 4, 1});
  const Eigen::Vector4i fixed(3, -1, 4, 1);
  const Eigen::VectorXi column = fixed;
  const Eigen::Matrix<std::int64_t, 1, Eigen::Dynamic> row = fixed.transpose().cast<std::int64_t>();
  const Eigen::ArrayXf array = fixed.cast<float>();
  EXPECT_EQ(Positions::ids(fixed), expected);
  EXPECT_EQ(Positions::ids(column), expected);
  EXPECT_EQ(Positions::ids(column.transpose()), expected);
  EXPECT_EQ(Positions::ids(row), expected);
  EXPECT_EQ(Positions::ids(array), expected);
  EXPECT_EQ(Positions::ids(Eigen::Map<const Eigen::VectorXi>(column.data(), 4)), expected);
  EXPECT_EQ(Positions::ids(Eigen::Ref<const Eigen::VectorXi>(column)), expected);
  EXPECT_EQ(Positions::ids(column.segment(1, 2)), Positions::ids({-1, 4}));
  EXPECT_EQ(Positions::ids(Eigen::VectorXi()).tokens(), 0);
}

TEST(PositionLists, LinesOfMatricesThatAreNeighboursAreLists) {
  Eigen::MatrixXi columns(2, 3);
  columns << 0, 1, 2,  //
      10, 11, 12;
  const Eigen::Matrix<int, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = columns;
  EXPECT_EQ(Positions::ids(columns.col(1)), Positions::ids({1, 11}));
  EXPECT_EQ(Positions::ids(rows.row(1)), Positions::ids({10, 11, 12}));
  EXPECT_EQ(Positions::per_batch({rows.data(), rows.size()}, Batches{2}),
            Positions::per_batch({0, 1, 2, 10, 11, 12}, Batches{2}));
}

TEST(PositionLists, EigenTensorsOfOneAxisGiveWhatTheVectorGives) {
  const Positions expected = Positions::ids({3, -1, 4, 1});
  Eigen::Tensor<int, 1> tensor(4);
  tensor.setValues({3, -1, 4, 1});
  const Eigen::Tensor<double, 1, Eigen::RowMajor> row_major =
      tensor.swap_layout().cast<double>().eval();
  Eigen::TensorFixedSize<int, Eigen::Sizes<4>> fixed;
  fixed = tensor;
  EXPECT_EQ(Positions::ids(tensor), expected);
  EXPECT_EQ(Positions::ids(row_major), expected);
  EXPECT_EQ(Positions::ids(fixed), expected);
  EXPECT_EQ(Positions::ids(Eigen::TensorMap<Eigen::Tensor<int, 1>>(tensor.data(), 4)), expected);
  EXPECT_EQ(Positions::ids(Eigen::TensorMap<Eigen::Tensor<const int, 1>>(tensor.data(), 4)),
            expected);
}

TEST(PositionLists, AllListsOfPackedSequencesMayBeEigens) {
  const Eigen::Vector3i cu_seqlens(0, 1, 3);
  Eigen::Tensor<std::int64_t, 1> starts(2);
  starts.setValues({7, 20});
  const Positions packed = Positions::packed(cu_seqlens, starts);
  EXPECT_EQ(packed, Positions::ids({7, 20, 21}));
  const ContextShard shard{0, 2, Sharding::contiguous};
  EXPECT_EQ(packed.shard(shard, cu_seqlens), Positions::ids({7, 20}));
  EXPECT_EQ(shard_tokens(shard, cu_seqlens), (std::vector<Index>{0, 1}));
}

}  // namespace
}  // namespace eigen_rope::position_lists_tests
