// SPDX-License-Identifier: Apache-2.0
//
// Where the number of eigen_rope/machine/streaming.hpp comes from: set, given by the environment,
// or measured once; and that small rotations never wait.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "eigen_rope/machine/streaming.hpp"
#include "support/error_of.hpp"

namespace eigen_rope {
namespace {

using test::error_of;

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

/// Forgets the number before and after each test, and restores the environment.
class Streaming : public testing::Test {
 public:
  Streaming() {
    const char* text = std::getenv(variable);
    if (text != nullptr) before_ = text;
    forget("");
  }
  ~Streaming() override { forget(before_); }

 protected:
  /// No number known, and this in the environment.
  static void forget(const std::string& text) {
    text.empty() ? unsetenv(variable) : setenv(variable, text.c_str(), 1);
    reset_streaming_threshold();
  }

 private:
  static constexpr const char* variable = "EIGEN_ROPE_STREAM_BYTES";
  std::string before_;
};

TEST_F(Streaming, BeginsAtTheNumberThatIsSet) {
  for (const std::size_t bytes : {std::size_t{1}, 5 * mebibyte, never}) {
    set_streaming_threshold(bytes);
    EXPECT_EQ(streaming_threshold(), bytes);
    EXPECT_FALSE(detail::streams(bytes - 1));
    EXPECT_TRUE(detail::streams(bytes));
  }
  set_streaming_threshold(0);
  EXPECT_TRUE(detail::streams(0));
}

TEST_F(Streaming, BeginsAtTheEnvironmentsNumber) {
  forget("1234567");
  EXPECT_FALSE(detail::streams(1234566));
  EXPECT_TRUE(detail::streams(1234567));
  EXPECT_EQ(streaming_threshold(), 1234567);
  forget("0");
  EXPECT_TRUE(detail::streams(0));
  forget("18446744073709551615");
  EXPECT_FALSE(detail::streams(never - 1));
  EXPECT_EQ(streaming_threshold(), never);
}

TEST_F(Streaming, WhatIsSetWinsOverTheEnvironment) {
  forget("1000");
  set_streaming_threshold(2000);
  EXPECT_EQ(streaming_threshold(), 2000);
  reset_streaming_threshold();
  EXPECT_EQ(streaming_threshold(), 1000);
}

TEST_F(Streaming, RefusesAMalformedEnvironmentUntilItIsMended) {
  for (const std::string text :
       {"12MiB", "-1", " 5", "1e9", "0x10", "5 ", "18446744073709551616"}) {
    forget(text);
    const std::string message =
        "[rope] EIGEN_ROPE_STREAM_BYTES must be a whole number of bytes, got " + text;
    EXPECT_EQ(error_of([] { detail::require_streaming_threshold(); }), message);
    EXPECT_EQ(error_of([] { streaming_threshold(); }), message);
    EXPECT_EQ(error_of([] { detail::require_streaming_threshold(); }), message);
    EXPECT_FALSE(detail::streams(never));  // a kernel never throws
    setenv("EIGEN_ROPE_STREAM_BYTES", "77", 1);
    EXPECT_EQ(streaming_threshold(), 77);
  }
}

TEST_F(Streaming, IsMeasuredWithinWhatCachesAre) {
  const std::size_t bytes = streaming_threshold();
#if defined(__SSE2__)
  EXPECT_GT(bytes, 4 * mebibyte);  // what streams() answers before it measures holds afterwards
  EXPECT_LE(bytes, 64 * mebibyte);
#else
  EXPECT_EQ(bytes, never);
#endif
}

TEST_F(Streaming, IsMeasuredOnce) {
  detail::streams(32 * mebibyte);
  const std::size_t bytes = streaming_threshold();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(streaming_threshold(), bytes);
  EXPECT_TRUE(detail::streams(bytes));
  EXPECT_FALSE(detail::streams(bytes - 1));
}

/// Pages this process has been given.
long pages_given() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

TEST_F(Streaming, SmallRotationsNeverMeasure) {
  constexpr long pages_of_a_measurement = 1024;  // 4 MiB
  const long before = pages_given();
  detail::require_streaming_threshold();
  EXPECT_FALSE(detail::streams(0));
  EXPECT_FALSE(detail::streams(4 * mebibyte));
  EXPECT_LT(pages_given() - before, pages_of_a_measurement / 2);
}

TEST_F(Streaming, ThreadsAgree) {
  std::vector<std::size_t> answers(4);
  std::vector<std::thread> threads;
  for (std::size_t& answer : answers) {
    threads.emplace_back([&answer] {
      detail::streams(48 * mebibyte);
      answer = streaming_threshold();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::size_t answer : answers) EXPECT_EQ(answer, answers[0]);
}

TEST_F(Streaming, MayBeSetWhileOthersAsk) {
  set_streaming_threshold(100);
  std::thread setter([] {
    for (int i = 0; i < 1000; ++i) set_streaming_threshold(i % 2 == 0 ? 100 : 200);
  });
  bool one_of_both = true;
  for (int i = 0; i < 1000; ++i) {
    const std::size_t bytes = streaming_threshold();
    one_of_both = one_of_both && (bytes == 100 || bytes == 200) && detail::streams(200) &&
                  !detail::streams(99);
  }
  setter.join();
  EXPECT_TRUE(one_of_both);
}

}  // namespace
}  // namespace eigen_rope
