// SPDX-License-Identifier: Apache-2.0
//
// Bad input: the settings of the whole process, by call and by environment, and the parts below the
// rotations.
#include <cstdlib>
#include <deque>

#include "bad_input/bad_input.hpp"
#include "eigen_rope/machine/kernel_target.hpp"
#include "eigen_rope/machine/streaming.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "eigen_rope/rows/detail/overlap.hpp"

namespace eigen_rope::test::settings_tests {
namespace {

/// Puts the environment and the settings back.
struct Settings : Memory {
  float* x = array<float>(4);

  Settings() = default;
  ~Settings() override {
    unsetenv("EIGEN_ROPE_KERNEL_TARGET");
    unsetenv("EIGEN_ROPE_STREAM_BYTES");
    set_kernel_target("");
    reset_streaming_threshold();
  }
  void rotate() const {
    const float one = 1;
    rotate_inplace(StridedView<float>{x, Shape{4}, {}}, TableView<float>{&one, &one, 1, Shape{}},
                   split_half.with_rotary_dims(2));
  }
  /// What a rotation says of an environment, before it writes.
  void with_stream_bytes(const char* text) const {
    setenv("EIGEN_ROPE_STREAM_BYTES", text, 1);
    reset_streaming_threshold();
    const std::string message = refusal_of([&] { rotate(); });
    EXPECT_EQ(refusal_of([] { (void)streaming_threshold(); }), message);
    if (!message.empty()) throw Error(message);
  }
};

/// `rule must be one of AVX2, ..., SCALAR, got name`: which there are depends on the processor.
const char* no_target(const std::string& rule, const std::string& name) {
  static std::deque<std::string> kept;
  std::string names;
  for (const std::string& target : kernel_targets()) names += (names.empty() ? "" : ", ") + target;
  kept.push_back(rule + " must be one of " + names + ", got " + name);
  return kept.back().c_str();
}

const Cell<Settings> settings[] = {
    {"kernel target", Fault::unknown, [](Settings&) { set_kernel_target("AVX9"); },
     no_target("the kernel target", "AVX9")},
    {"kernel target", Fault::unknown, [](Settings&) { set_kernel_target("avx2"); },
     no_target("the kernel target", "avx2")},
    {"kernel target", Fault::unknown, [](Settings&) { set_kernel_target("SCALAR\n"); },
     no_target("the kernel target", "SCALAR\\x0a")},
    {"kernel target", Fault::missing, [](Settings&) { set_kernel_target(""); }, nullptr,
     "back to the best"},
    {"EIGEN_ROPE_KERNEL_TARGET", Fault::unknown,
     [](Settings&) {
       setenv("EIGEN_ROPE_KERNEL_TARGET", "fast", 1);
       set_kernel_target("");
     },
     no_target("EIGEN_ROPE_KERNEL_TARGET", "fast")},
    {"EIGEN_ROPE_STREAM_BYTES", Fault::unknown, [](Settings& s) { s.with_stream_bytes("12MiB"); },
     "EIGEN_ROPE_STREAM_BYTES must be a whole number of bytes, got 12MiB"},
    {"EIGEN_ROPE_STREAM_BYTES", Fault::negative, [](Settings& s) { s.with_stream_bytes("-1"); },
     "EIGEN_ROPE_STREAM_BYTES must be a whole number of bytes, got -1"},
    {"EIGEN_ROPE_STREAM_BYTES", Fault::huge,
     [](Settings& s) { s.with_stream_bytes("18446744073709551616"); },
     "EIGEN_ROPE_STREAM_BYTES must be a whole number of bytes, got 18446744073709551616"},
    {"EIGEN_ROPE_STREAM_BYTES", Fault::huge,
     [](Settings& s) { s.with_stream_bytes("18446744073709551615"); }, nullptr,
     "never past the cache"},
    {"EIGEN_ROPE_STREAM_BYTES", Fault::zero, [](Settings& s) { s.with_stream_bytes("0"); }, nullptr,
     "always past the cache"},
};

const Area settings_area("settings", settings);
TEST(BadInput, Settings) { expect_refusals(settings); }

/// Ends of stretches that would wrap round the address space.
TEST(BadInput, OverlapNearTheEndOfTheAddressSpace) {
  constexpr std::uintptr_t last = std::numeric_limits<std::uintptr_t>::max();
  EXPECT_TRUE(detail::overlap(last - 3, 4, last - 1, 2));
  EXPECT_TRUE(detail::overlap(last - 1, 2, last - 3, 4));
  EXPECT_FALSE(detail::overlap(last - 3, 2, last - 1, 2));
  EXPECT_FALSE(detail::overlap(last - 3, 4, 0, 8)) << "the end of memory is not its beginning";
  EXPECT_TRUE(detail::overlap(std::uintptr_t{16}, last - 16, last - 100, 1));
  EXPECT_FALSE(detail::overlap(std::uintptr_t{16}, 0, 16, 1)) << "nothing overlaps nothing";
}

}  // namespace
}  // namespace eigen_rope::test::settings_tests
