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

/// A rotation on a device whose memory all comes from one allocator.
struct Setting {
  auto rotated() const { return rotate(x, table, split_half); }

  Tensor x = random_tensor<float, 3>(Shape{length, 3, 5}, 1);
  Table<float> table = random_table<float>(length / 2, Shape{1, 5}, 2);
  KnowingAllocator allocator;
  Eigen::ThreadPool threads{1};
  Eigen::ThreadPoolDevice device{&threads, 1, &allocator};
};

EIGEN_ROPE_ON_BOTH_SIDES_OF_THE_CACHES(NestedMemory);

using Evaluator =
    Eigen::TensorEvaluator<const decltype(rotate(std::declval<const Tensor&>(),
                                                 std::declval<const Table<float>&>(), split_half)),
                           Eigen::ThreadPoolDevice>;

/// Begins as a statement does, so that the evaluator holds its elements, and nothing else is out.
void make_elements(Evaluator& evaluator, const KnowingAllocator& allocator) {
  ASSERT_TRUE(evaluator.evalSubExprsIfNeeded(nullptr));
  ASSERT_NE(evaluator.data(), nullptr);
  ASSERT_EQ(allocator.outside(), 1U);
}

TEST_P(NestedMemory, IsGivenBackWhenAStatementEnds) {
  Setting s;
  Tensor y(s.x.dimensions());
  y.device(s.device) = s.rotated().reverse(Eigen::array<bool, 3>{false, true, false});
  EXPECT_GT(s.allocator.allocations(), 0);
  EXPECT_EQ(s.allocator.outside(), 0U);
}

/// A slice of whole rows needs no memory for the rows around it.
TEST_P(NestedMemory, IsNotTakenForASliceBeyondTheCaches) {
  const Setting s;
  using Slice = decltype(s.rotated().slice(Eigen::array<Index, 3>{}, Eigen::array<Index, 3>{}));
  const Slice slice =
      s.rotated().slice(Eigen::array<Index, 3>{0, 1, 1}, Eigen::array<Index, 3>{length, 2, 4});
  Tensor y(length, 2, 4);
  Eigen::TensorEvaluator<const Slice, Eigen::ThreadPoolDevice> evaluator(slice, s.device);
  evaluator.evalSubExprsIfNeeded(y.data());
  EXPECT_EQ(s.allocator.outside(), GetParam() == CacheSide::within ? 1U : 0U);
  evaluator.cleanup();
  EXPECT_EQ(s.allocator.outside(), 0U);
}

TEST_P(NestedMemory, IsGivenBackByCleanup) {
  const Setting s;
  Evaluator evaluator(s.rotated(), s.device);
  ASSERT_NO_FATAL_FAILURE(make_elements(evaluator, s.allocator));
  evaluator.cleanup();
  EXPECT_EQ(s.allocator.outside(), 0U);
}

/// As where an exception passes between the two.
TEST_P(NestedMemory, IsGivenBackWithoutCleanup) {
  const Setting s;
  {
    Evaluator evaluator(s.rotated(), s.device);
    ASSERT_NO_FATAL_FAILURE(make_elements(evaluator, s.allocator));
  }
  EXPECT_EQ(s.allocator.outside(), 0U);
}

TEST_P(NestedMemory, StaysWhileTheFirstEvaluatorNeedsIt) {
  const Setting s;
  const Tensor expected = s.rotated();
  Evaluator evaluator(s.rotated(), s.device);
  ASSERT_NO_FATAL_FAILURE(make_elements(evaluator, s.allocator));
  {
    const auto copy = std::make_unique<const Evaluator>(evaluator);
    EXPECT_EQ(copy->coeff(7), expected.data()[7]);
    EXPECT_EQ(s.allocator.outside(), 1U);
  }
  ASSERT_EQ(s.allocator.outside(), 1U);
  EXPECT_EQ(evaluator.coeff(7), expected.data()[7]);
  evaluator.cleanup();
  EXPECT_EQ(s.allocator.outside(), 0U);
}

TEST_P(NestedMemory, IsGivenBackBeforeTheSameEvaluatorBeginsAnew) {
  const Setting s;
  Evaluator evaluator(s.rotated(), s.device);
  for (int i = 0; i < 2; ++i) ASSERT_NO_FATAL_FAILURE(make_elements(evaluator, s.allocator));
  evaluator.cleanup();
  EXPECT_EQ(s.allocator.outside(), 0U);
}

}  // namespace
}  // namespace eigen_rope::test
