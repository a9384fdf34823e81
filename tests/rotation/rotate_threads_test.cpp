// SPDX-License-Identifier: Apache-2.0
//
// ThreadPoolDevice gives DefaultDevice's bits with one, two and three threads: directly, nested,
// asynchronously, and where x lies. The tensors are large enough to be split among the threads.
#define EIGEN_USE_THREADS

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "eigen_rope/forms/composed.hpp"
#include "eigen_rope/rotation/rotate_to.hpp"
#include "support/error_of.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test {
namespace {

using Tensor = Eigen::Tensor<float, 3>;

constexpr Index kHeads = 32;
constexpr Index kTokens = 64;

/// Some of everything: each evaluation moves a megabyte, so not every case there is.
std::vector<Case> some_cases() {
  const Row whole{128, 0, 128};
  const Row window{128, 16, 96};
  return {{whole, split_half, false, Direction::forward},
          {whole, interleaved, false, Direction::backward},
          {whole, quarter, true, Direction::inverse},
          {window, interleaved_to_split_half.with_offset(16).with_rotary_dims(96), false,
           Direction::forward},
          {window, split_half.with_offset(16).with_rotary_dims(96), true, Direction::backward}};
}

/// Calls check(case, x, table, device) for each case and pool; x [128, 32, 64], one table row per
/// token.
template <class Check>
void for_each_pool(Check&& check) {
  for (const int threads : {1, 2, 3}) {
    Eigen::ThreadPool pool(threads);
    const Eigen::ThreadPoolDevice device(&pool, threads);
    std::uint64_t seed = 1;
    for (const Case& c : some_cases()) {
      SCOPED_TRACE(c.text() + ", " + std::to_string(threads) + " threads");
      const Tensor x = random_tensor<float, 3>(Shape{c.row.length, kHeads, kTokens}, ++seed);
      const auto table = random_table<float>(c.width(), Shape{1, kTokens}, ++seed);
      ASSERT_NO_FATAL_FAILURE(check(c, x, table, device));
    }
  }
}

TEST(RotateThreads, Direct) {
  for_each_pool([](const Case& c, const Tensor& x, const auto& table, const auto& device) {
    const Tensor expected = rotation(x, table, c.pairing, c.direction);
    Tensor assigned(x.dimensions());
    assigned.device(device) = rotation(x, table, c.pairing, c.direction);
    ASSERT_TRUE(same_bits(expected, assigned));
    Tensor stated(x.dimensions());
    rotate_to(stated, x, table, c.pairing, c.direction, device);
    ASSERT_TRUE(same_bits(expected, stated));
  });
}

TEST(RotateThreads, Nested) {
  for_each_pool([](const Case& c, const Tensor& x, const auto& table, const auto& device) {
    const Tensor b = random_tensor<float, 3>(Shape{c.row.length, kHeads, kTokens}, 100);
    const Tensor expected = rotation(x, table, c.pairing, c.direction) * 2.f + b;
    Tensor actual(x.dimensions());
    actual.device(device) = rotation(x, table, c.pairing, c.direction) * 2.f + b;
    ASSERT_TRUE(same_bits(expected, actual));
    const Tensor expected_of_scaled = rotation(x * 2.f, table, c.pairing, c.direction);
    actual.device(device) = rotation(x * 2.f, table, c.pairing, c.direction);
    ASSERT_TRUE(same_bits(expected_of_scaled, actual));
  });
}

TEST(RotateThreads, InPlace) {
  for_each_pool([](const Case& c, const Tensor& x, const auto& table, const auto& device) {
    const Tensor expected = rotation(x, table, c.pairing, c.direction);
    Tensor assigned = x;
    assigned.device(device) = rotation(assigned, table, c.pairing, c.direction);
    ASSERT_TRUE(same_bits(expected, assigned));
    Tensor whole = x;
    rotate_inplace(whole, table, c.pairing, c.direction, device);
    ASSERT_TRUE(same_bits(expected, whole));
  });
}

/// q of a fused buffer with as many heads of k and v behind it.
TEST(RotateThreads, StridedView) {
  for_each_pool([](const Case& c, const Tensor& x, const auto& table, const auto& device) {
    const Index D = c.row.length;
    Tensor fused = random_tensor<float, 3>(Shape{D, 3 * kHeads, kTokens}, 200);
    const Eigen::DSizes<Eigen::Index, 3> offset(0, 0, 0);
    fused.slice(offset, x.dimensions()) = x;
    Tensor expected = fused;
    expected.slice(offset, x.dimensions()) = rotation(x, table, c.pairing, c.direction);
    rotate_inplace(StridedView<float>{fused.data(), Shape{D, kHeads, kTokens}, {D, 3 * kHeads * D}},
                   table, c.pairing, c.direction, device);
    ASSERT_TRUE(same_bits(expected, fused));
  });
}

/// Opens once.
class Gate {
 public:
  void open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    opened_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

TEST(RotateThreads, Asynchronous) {
  for_each_pool([](const Case& c, const Tensor& x, const auto& table, const auto& device) {
    const Tensor expected = rotation(x, table, c.pairing, c.direction);
    Tensor actual(x.dimensions());
    Gate direct;
    actual.device(device, [&direct] { direct.open(); }) =
        rotation(x, table, c.pairing, c.direction);
    direct.wait();
    ASSERT_TRUE(same_bits(expected, actual));

    const Tensor expected_sum = rotation(x, table, c.pairing, c.direction) * 2.f + x;
    Gate nested;
    actual.device(device, [&nested] { nested.open(); }) =
        rotation(x, table, c.pairing, c.direction) * 2.f + x;
    nested.wait();
    ASSERT_TRUE(same_bits(expected_sum, actual));

    const Tensor expected_of_scaled = rotation(x * 2.f, table, c.pairing, c.direction);
    Gate of_expression;
    actual.device(device, [&of_expression] { of_expression.open(); }) =
        rotation(x * 2.f, table, c.pairing, c.direction);
    of_expression.wait();
    ASSERT_TRUE(same_bits(expected_of_scaled, actual));
  });
}

/// A rotation of something that has to be evaluated first, itself asynchronously.
TEST(RotateThreads, AsynchronousOfAnEvaluatedArgument) {
  for_each_pool([](const Case& c, const Tensor& x, const auto& table, const auto& device) {
    const Tensor scaled = x * 2.f;
    const Tensor expected = rotation(scaled, table, c.pairing, c.direction);
    Tensor actual(x.dimensions());
    Gate gate;
    actual.device(device, [&gate] { gate.open(); }) =
        rotation((x * 2.f).eval(), table, c.pairing, c.direction);
    gate.wait();
    ASSERT_TRUE(same_bits(expected, actual));
  });
}

TEST(RotateThreads, HalfWithFloatTable) {
  for_each_pool([](const Case& c, const Tensor& x, const auto& table, const auto& device) {
    using HalfTensor = Eigen::Tensor<Eigen::half, 3>;
    const HalfTensor x_half = x.cast<Eigen::half>();
    const HalfTensor expected = rotation(x_half, table, c.pairing, c.direction);
    HalfTensor actual(x.dimensions());
    actual.device(device) = rotation(x_half, table, c.pairing, c.direction);
    ASSERT_TRUE(same_bits(expected, actual));
  });
}

/// Stock operations on the same device, on a smaller tensor.
TEST(RotateThreads, Composed) {
  for (const int threads : {1, 2, 3}) {
    Eigen::ThreadPool pool(threads);
    const Eigen::ThreadPoolDevice device(&pool, threads);
    const Tensor x = random_tensor<float, 3>(Shape{64, 8, 32}, 1);
    for (const Case& c : cases_of(std::array<Row, 1>{{{64, 8, 40}}})) {
      SCOPED_TRACE(c.text() + ", " + std::to_string(threads) + " threads");
      const auto table = random_table<float>(c.width(), Shape{1, 32}, 2);
      const Tensor expected = rotation(x, table, c.pairing, c.direction);
      const Tensor actual = composed::rotate(x, table, c.pairing, c.direction, device);
      ASSERT_TRUE(same_bits(expected, actual));
    }
  }
}

TEST(RotateThreads, Empty) {
  Eigen::ThreadPool pool(2);
  const Eigen::ThreadPoolDevice device(&pool, 2);
  const auto table = random_table<float>(4, Shape{}, 1);
  for (const Shape& shape : {Shape{8, 0, 3}, Shape{8, 3, 0}}) {
    const Tensor x(sizes_of<3, Eigen::ColMajor>(shape));
    Tensor y = x;
    y.device(device) = rotate(x, table, split_half);
    rotate_to(y, x, table, split_half, Direction::forward, device);
    Gate gate;
    y.device(device, [&gate] { gate.open(); }) = rotate(x, table, split_half);
    gate.wait();
    EXPECT_EQ(y.dimensions(), x.dimensions());
    rotate_inplace(StridedView<float>{nullptr, shape, {8, 8 * shape[1]}}, table, split_half,
                   Direction::forward, device);
  }
}

/// Refused on the calling thread, before the pool is given anything.
TEST(RotateThreads, RefusesPartialOverlap) {
  Eigen::ThreadPool pool(2);
  const Eigen::ThreadPoolDevice device(&pool, 2);
  const auto table = random_table<float>(64, Shape{}, 1);
  std::vector<float> buffer = random_values<float>(128 * 65, 2);
  const std::vector<float> before = buffer;
  const Eigen::TensorMap<const Eigen::Tensor<float, 2>> x(buffer.data(), 128, 64);
  Eigen::TensorMap<Eigen::Tensor<float, 2>> y(buffer.data() + 128, 128, 64);
  EXPECT_EQ(error_of([&] { y.device(device) = rotate(x, table, split_half); }),
            "[rope] x and the destination must be the same memory or not overlap at all (distance "
            "in bytes), got 512");
  EXPECT_TRUE(same_bits(before.data(), buffer.data(), static_cast<Index>(buffer.size())));
}

}  // namespace
}  // namespace eigen_rope::test
