// SPDX-License-Identifier: Apache-2.0
//
// The memory of a nested rotation comes from the device and goes back to it once: when a statement
// ends, when an evaluator ends without its cleanup(), and whatever copies of it there were.
#define EIGEN_USE_THREADS
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <set>

#include "support/cache_sides.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test {
namespace {

/// Knows what it has handed out.
class KnowingAllocator : public Eigen::Allocator {
 public:
  void* allocate(std::size_t bytes) const override {
    void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    out_.insert(memory);
    ++allocations_;
    return memory;
  }
  void deallocate(void* memory) const override {
    if (out_.erase(memory) != 1) ADD_FAILURE() << "given back twice, or never handed out";
    std::free(memory);
  }

  std::size_t outside() const { return out_.size(); }
  int allocations() const { return allocations_; }

 private:
  mutable std::set<void*> out_;
  mutable int allocations_ = 0;
};

using Tensor = Eigen::Tensor<float, 3>;
constexpr Index length = 8;

class NestedMemory : public OnBothSidesOfTheCaches {
 protected:
  auto rotated() const { return rotate(x, table, split_half); }

  Tensor x = random_tensor<float, 3>(Shape{length, 3, 5}, 1);
  Table<float> table = random_table<float>(length / 2, Shape{1, 5}, 2);
  KnowingAllocator allocator;
  Eigen::ThreadPool threads{1};
  // The allocator is given so that every allocation of the device passes it.
  Eigen::ThreadPoolDevice device{&threads, 1, &allocator};
};
INSTANTIATE_TEST_SUITE_P(, NestedMemory, ::testing::Values(CacheSide::within, CacheSide::beyond),
                         name_of);

using Evaluator =
    Eigen::TensorEvaluator<const decltype(rotate(std::declval<const Tensor&>(),
                                                 std::declval<const Table<float>&>(), split_half)),
                           Eigen::ThreadPoolDevice>;

TEST_P(NestedMemory, IsGivenBackWhenAStatementEnds) {
  Tensor y(x.dimensions());
  y.device(device) = rotated().reverse(Eigen::array<bool, 3>{false, true, false});
  EXPECT_GT(allocator.allocations(), 0);
  EXPECT_EQ(allocator.outside(), 0U);
}

TEST_P(NestedMemory, IsGivenBackByCleanup) {
  const auto node = rotated();
  Evaluator evaluator(node, device);
  ASSERT_TRUE(evaluator.evalSubExprsIfNeeded(nullptr));
  ASSERT_NE(evaluator.data(), nullptr);
  EXPECT_EQ(allocator.outside(), 1U);
  evaluator.cleanup();
  EXPECT_EQ(allocator.outside(), 0U);
}

/// As where an exception passes between the two.
TEST_P(NestedMemory, IsGivenBackWithoutCleanup) {
  {
    const auto node = rotated();
    Evaluator evaluator(node, device);
    ASSERT_TRUE(evaluator.evalSubExprsIfNeeded(nullptr));
    ASSERT_NE(evaluator.data(), nullptr);
    EXPECT_EQ(allocator.outside(), 1U);
  }
  EXPECT_EQ(allocator.outside(), 0U);
}

TEST_P(NestedMemory, StaysWhileTheFirstEvaluatorNeedsIt) {
  const Tensor expected = rotated();
  const auto node = rotated();
  Evaluator evaluator(node, device);
  ASSERT_TRUE(evaluator.evalSubExprsIfNeeded(nullptr));
  ASSERT_NE(evaluator.data(), nullptr);
  {
    const auto copy = std::make_unique<const Evaluator>(evaluator);
    EXPECT_EQ(copy->coeff(7), expected.data()[7]);
    EXPECT_EQ(allocator.outside(), 1U);
  }
  ASSERT_EQ(allocator.outside(), 1U);
  EXPECT_EQ(evaluator.coeff(7), expected.data()[7]);
  evaluator.cleanup();
  EXPECT_EQ(allocator.outside(), 0U);
}

TEST_P(NestedMemory, IsGivenBackBeforeTheSameEvaluatorBeginsAnew) {
  const auto node = rotated();
  Evaluator evaluator(node, device);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(evaluator.evalSubExprsIfNeeded(nullptr));
    ASSERT_NE(evaluator.data(), nullptr);
    EXPECT_EQ(allocator.outside(), 1U);
  }
  evaluator.cleanup();
  EXPECT_EQ(allocator.outside(), 0U);
}

}  // namespace
}  // namespace eigen_rope::test
