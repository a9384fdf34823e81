// SPDX-License-Identifier: Apache-2.0
//
// The choice of an instruction set: what there is, what is in use, what can be forced, and what is
// refused.
#include "eigen_rope/machine/kernel_target.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "eigen_rope/rotation/rotate_strided.hpp"
#include "support/error_of.hpp"

namespace eigen_rope::test::kernel_target_tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// The environment variable, and the choice that follows from it, for one scope.
class Forced {
 public:
  explicit Forced(const char* value) { setenv("EIGEN_ROPE_KERNEL_TARGET", value, 1); }
  ~Forced() {
    unsetenv("EIGEN_ROPE_KERNEL_TARGET");
    set_kernel_target("");
  }
  Forced(const Forced&) = delete;
  Forced& operator=(const Forced&) = delete;
};

TEST(KernelTarget, ScalarIsAlwaysThereAndTheBestIsTheDefault) {
  const std::vector<std::string> targets = kernel_targets();
  ASSERT_FALSE(targets.empty());
  EXPECT_EQ(targets.back(), "SCALAR");
  EXPECT_EQ(kernel_target(), targets.front());
}

TEST(KernelTarget, CanBeSetAndReset) {
  for (const std::string& target : kernel_targets()) {
    set_kernel_target(target);
    EXPECT_EQ(kernel_target(), target);
  }
  set_kernel_target("");
  EXPECT_EQ(kernel_target(), kernel_targets().front());
}

TEST(KernelTarget, EnvironmentForcesOne) {
  const Forced forced("SCALAR");
  set_kernel_target("");
  EXPECT_EQ(kernel_target(), "SCALAR");
}

TEST(KernelTarget, UnknownNamesAreRefusedAndNothingChanges) {
  const std::string before = kernel_target();
  EXPECT_THAT(error_of([] { set_kernel_target("AVX9"); }),
              AllOf(StartsWith("[rope] the kernel target must be one of "), HasSubstr("SCALAR"),
                    HasSubstr("AVX9")));
  EXPECT_THAT(error_of([] { set_kernel_target("avx2"); }), HasSubstr("avx2"));
  EXPECT_EQ(kernel_target(), before);
}

TEST(KernelTarget, AWrongEnvironmentIsNamed) {
  const Forced forced("fast");
  EXPECT_THAT(
      error_of([] { set_kernel_target(""); }),
      AllOf(StartsWith("[rope] EIGEN_ROPE_KERNEL_TARGET must be one of "), HasSubstr("fast")));
}

}  // namespace
}  // namespace eigen_rope::test::kernel_target_tests
