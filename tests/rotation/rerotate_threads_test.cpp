// SPDX-License-Identifier: Apache-2.0
//
// Keys moved by the threads of a pool, dense and as a view of fused rows.
#define EIGEN_USE_THREADS

#include "eigen_rope/rotation/rerotate.hpp"

#include <gtest/gtest.h>

#include <array>

#include "support/bits.hpp"

namespace eigen_rope::test {
namespace {

TEST(RerotateThreads, GiveTheSameBitsAsOneAlsoThroughViews) {
  constexpr Index kDims = 32, tokens = 64, heads = 6;
  const Placement a{Frequencies::powers({kDims, 1e4}), Positions::range(512, tokens)};
  const Placement b{Frequencies::powers({kDims, 37000.5, 1, -0.7}), Positions::range(0, tokens)};
  // k is the middle third of fused rows.
  Eigen::Tensor<float, 3> qkv(kDims, 3 * heads, tokens);
  qkv.setRandom();
  Eigen::Tensor<float, 3> expected = qkv;
  Eigen::Tensor<float, 3> k =
      qkv.slice(std::array<Index, 3>{0, heads, 0}, std::array<Index, 3>{kDims, heads, tokens});
  Eigen::Tensor<float, 3> threaded = k;
  rerotate(k, a, b, interleaved);
  expected.slice(std::array<Index, 3>{0, heads, 0}, std::array<Index, 3>{kDims, heads, tokens}) = k;

  Eigen::ThreadPool pool(2);
  const Eigen::ThreadPoolDevice device(&pool, 2);
  rerotate(threaded, a, b, interleaved, Layout::bsnd(), device);
  EXPECT_EQ(bits_of(threaded.data(), k.size()), bits_of(k.data(), k.size()));
  const StridedView<float> view{
      &qkv(0, heads, 0), {kDims, heads, tokens}, {kDims, 3 * heads * kDims}};
  rerotate(view, a, b, interleaved, Layout::bsnd(), device);
  EXPECT_EQ(bits_of(qkv.data(), qkv.size()), bits_of(expected.data(), qkv.size()));
}

}  // namespace
}  // namespace eigen_rope::test
