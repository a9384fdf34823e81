// SPDX-License-Identifier: Apache-2.0
//
// The kept corpus through the functions that libFuzzer runs: every file that once crashed, and the
// small ones that reach most of the code.
#include <gtest/gtest.h>

#include <filesystem>

#include "promise.hpp"
#include "support/file_bytes.hpp"
#include "targets.hpp"

namespace eigen_rope::fuzz {
namespace {

namespace fs = std::filesystem;

struct Target {
  const char* name;
  void (*run)(Bytes);
};

std::ostream& operator<<(std::ostream& out, const Target& target) { return out << target.name; }

class FuzzCorpus : public testing::TestWithParam<Target> {};

TEST_P(FuzzCorpus, KeepsThePromise) {
  const fs::path folder = fs::path(EIGEN_ROPE_FUZZ_CORPUS) / GetParam().name;
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string bytes = test::file_bytes(entry.path());
    EXPECT_NO_THROW(GetParam().run(bytes)) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 0) << folder;
}

INSTANTIATE_TEST_SUITE_P(
    Targets, FuzzCorpus,
    testing::Values(Target{"aclnn", fuzz_aclnn}, Target{"any", fuzz_any}, Target{"c", fuzz_c},
                    Target{"checkpoint", fuzz_checkpoint}, Target{"config_json", fuzz_config_json},
                    Target{"ggml", fuzz_ggml}, Target{"gguf", fuzz_gguf},
                    Target{"golden_folder", fuzz_golden_folder}, Target{"onnx", fuzz_onnx},
                    Target{"safetensors", fuzz_safetensors},
                    Target{"scaling_text", fuzz_scaling_text}, Target{"tokens", fuzz_tokens}),
    [](const auto& target) { return std::string(target.param.name); });

// The harness itself: a target that lets these pass would find nothing.
TEST(FuzzPromise, BrokenOnesAreSeen) {
  EXPECT_EQ(attempt([] { throw Error("[rope] dims must be even, got 7"); }), Outcome::refused);
  EXPECT_EQ(attempt([] {}), Outcome::done);
  EXPECT_THROW(attempt([] { throw Error("dims must be even, got 7"); }), BrokenPromise);
  EXPECT_THROW(attempt([] { throw Error("[rope] two\nlines"); }), BrokenPromise);
  EXPECT_THROW(attempt([] { throw Error("[rope] " + std::string(600, 'x')); }), BrokenPromise);
  EXPECT_THROW(attempt([] { throw std::out_of_range("vector"); }), std::out_of_range);
  EXPECT_THROW(require_consistent(models::ModelRope{}), BrokenPromise);
}

}  // namespace
}  // namespace eigen_rope::fuzz
