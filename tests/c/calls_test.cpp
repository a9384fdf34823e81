// SPDX-License-Identifier: Apache-2.0
//
// What every call of the C interface has in common: versions, sizes of structs, statuses, messages
// of threads, and a parallel_for.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "c/problem.hpp"
#include "eigen_rope/version.hpp"
#include "support/bits.hpp"
#include "support/parallel_for.hpp"

namespace eigen_rope::test::c_calls_tests {
namespace {

TEST(CCalls, VersionsAreThoseOfTheHeaders) {
  EXPECT_EQ(eigen_rope_abi_version(), std::uint32_t{EIGEN_ROPE_ABI_VERSION});
  EXPECT_EQ(eigen_rope_version(), std::to_string(EIGEN_ROPE_VERSION_MAJOR) + "." +
                                      std::to_string(EIGEN_ROPE_VERSION_MINOR) + "." +
                                      std::to_string(EIGEN_ROPE_VERSION_PATCH));
}

/// Three rows of eight, all of one token.
struct Rows {
  std::vector<float> x = c_numbers<float>(24, 1);
  std::vector<float> table = c_numbers<float>(8, 2);
  CTensor rows{ScalarType::f32, x.data(), {3, 8}};
  CTensor cos{ScalarType::f32, table.data(), {4}};
  CTensor sin{ScalarType::f32, table.data() + 4, {4}};

  eigen_rope_status rotate(const eigen_rope_rotation* rotation) {
    return eigen_rope_rotate(rows.get(), rows.get(), cos.get(), sin.get(), rotation);
  }
};

/// A rotation with room behind it, as a caller with a later header has it.
struct LaterRotation {
  eigen_rope_rotation rotation;
  std::uint64_t added;
};

TEST(CCalls, AStructOfALaterVersionIsTakenIfWhatIsNewIsZero) {
  Rows rows, other;
  LaterRotation later{c_rotation(EIGEN_ROPE_SPLIT_HALF), 0};
  later.rotation.struct_size = sizeof later;
  EXPECT_DONE(rows.rotate(&later.rotation));
  const auto how = c_rotation(EIGEN_ROPE_SPLIT_HALF);
  EXPECT_DONE(other.rotate(&how));
  EXPECT_EQ(rows.x, other.x);

  const std::vector<float> before = rows.x;
  later.added = std::uint64_t{1} << 63;
  EXPECT_EQ(rows.rotate(&later.rotation), EIGEN_ROPE_INVALID_ARGUMENT);
  EXPECT_EQ(rows.x, before);
}

TEST(CCalls, ASizeThatNoStructHasIsRefused) {
  Rows rows;
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, sizeof(eigen_rope_rotation) - 1,
                                 std::size_t{1} << 40, ~std::size_t{0}}) {
    auto how = c_rotation(EIGEN_ROPE_SPLIT_HALF);
    how.struct_size = size;
    EXPECT_EQ(rows.rotate(&how), EIGEN_ROPE_INVALID_ARGUMENT);
    EXPECT_NE(std::string(eigen_rope_last_message()).find("the struct_size of rotation must"),
              std::string::npos);
  }
}

TEST(CCalls, MessagesBelongToTheThreadAndStayUntilTheNextFailure) {
  Rows rows;
  auto wrong = c_rotation(EIGEN_ROPE_SPLIT_HALF);
  wrong.rotary_dims = 7;
  EXPECT_EQ(rows.rotate(&wrong), EIGEN_ROPE_INVALID_ARGUMENT);
  const std::string message = eigen_rope_last_message();
  EXPECT_EQ(message, "[rope] rotary dims must be even, got 7");
  std::thread([&] {
    EXPECT_STREQ(eigen_rope_last_message(), "");
    Rows others;
    wrong.rotary_dims = 10;
    EXPECT_EQ(others.rotate(&wrong), EIGEN_ROPE_INVALID_ARGUMENT);
    EXPECT_NE(eigen_rope_last_message(), message);
  }).join();
  EXPECT_EQ(eigen_rope_last_message(), message);
  const auto right = c_rotation(EIGEN_ROPE_SPLIT_HALF);
  EXPECT_DONE(rows.rotate(&right));
  EXPECT_EQ(eigen_rope_last_message(), message);
}

/// Enough rows for eight ranges.
struct LargeRows {
  static constexpr std::int64_t tokens = 1100, D = 256;
  std::vector<float> x = c_numbers<float>(tokens * D, 3);
  std::vector<float> table = c_numbers<float>(tokens * D, 4);
  CTensor rows{ScalarType::f32, x.data(), {tokens, D}};
  CTensor cos{ScalarType::f32, table.data(), {tokens, D / 2}};
  CTensor sin{ScalarType::f32, table.data() + tokens* D / 2, {tokens, D / 2}};

  eigen_rope_status rotate(const eigen_rope_device* device) {
    auto how = c_rotation(EIGEN_ROPE_INTERLEAVED);
    how.device = device;
    return eigen_rope_rotate(rows.get(), rows.get(), cos.get(), sin.get(), &how);
  }
};

void run_split(void* context, std::int64_t count, eigen_rope_work run, void* work) {
  (*static_cast<ParallelFor*>(context))(count,
                                        [&](Index first, Index last) { run(work, first, last); });
}

eigen_rope_device device_of(void (*parallel_for)(void*, std::int64_t, eigen_rope_work, void*),
                            void* context, std::int32_t threads) {
  eigen_rope_device device{};
  device.struct_size = sizeof device;
  device.parallel_for = parallel_for;
  device.context = context;
  device.threads = threads;
  return device;
}

TEST(CCalls, AParallelForGivesTheBitsOfTheCallingThread) {
  LargeRows expected;
  EXPECT_DONE(expected.rotate(nullptr));
  for (const Split split : every_split) {
    SCOPED_TRACE(name_of(split));
    ParallelFor parallel_for{split};
    const eigen_rope_device device = device_of(&run_split, &parallel_for, 5);
    LargeRows rows;
    EXPECT_DONE(rows.rotate(&device));
    EXPECT_EQ(parallel_for.most_items, 5);
    EXPECT_EQ(bits_of(rows.x.data(), LargeRows::tokens * LargeRows::D),
              bits_of(expected.x.data(), LargeRows::tokens * LargeRows::D));
  }
}

TEST(CCalls, AParallelForThatLeavesItemsOutIsRefused) {
  const eigen_rope_device device =
      device_of([](void*, std::int64_t, eigen_rope_work, void*) {}, nullptr, 3);
  LargeRows rows;
  EXPECT_EQ(rows.rotate(&device), EIGEN_ROPE_INVALID_ARGUMENT);
  EXPECT_STREQ(eigen_rope_last_message(),
               "[rope] parallel_for must call work once for each of 3 items, got 0");
}

/// What the library itself can meet is thrown by a parallel_for here.
template <class Exception>
void throw_it(void* context, std::int64_t, eigen_rope_work, void*) {
  throw *static_cast<const Exception*>(context);
}

template <class Exception>
eigen_rope_status status_of(Exception exception) {
  const eigen_rope_device device = device_of(&throw_it<Exception>, &exception, 2);
  LargeRows rows;
  return rows.rotate(&device);
}

TEST(CCalls, NothingIsThrownAcross) {
  EXPECT_EQ(status_of(Error("[rope] x must be even, got 7")), EIGEN_ROPE_INVALID_ARGUMENT);
  EXPECT_STREQ(eigen_rope_last_message(), "[rope] x must be even, got 7");
  EXPECT_EQ(status_of(std::bad_alloc()), EIGEN_ROPE_OUT_OF_MEMORY);
  EXPECT_STREQ(eigen_rope_last_message(), "[rope] memory could not be allocated");
  EXPECT_EQ(status_of(std::length_error("vector")), EIGEN_ROPE_OUT_OF_MEMORY);
  EXPECT_EQ(status_of(std::runtime_error("a pool\nhas stopped")), EIGEN_ROPE_INTERNAL);
  EXPECT_STREQ(eigen_rope_last_message(), "a pool has stopped");
  EXPECT_EQ(status_of(7), EIGEN_ROPE_INTERNAL);
  EXPECT_STREQ(eigen_rope_last_message(), "[rope] something that is no std::exception was thrown");
}

TEST(CCalls, LongMessagesAreCutAt599Bytes) {
  EXPECT_EQ(status_of(std::runtime_error(std::string(5000, 'x'))), EIGEN_ROPE_INTERNAL);
  EXPECT_EQ(eigen_rope_last_message(), std::string(599, 'x'));
}

TEST(CCalls, NothingIsDestroyedForNull) {
  eigen_rope_frequencies_destroy(nullptr);
  eigen_rope_positions_destroy(nullptr);
}

}  // namespace
}  // namespace eigen_rope::test::c_calls_tests
