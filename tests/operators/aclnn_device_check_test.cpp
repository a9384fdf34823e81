// SPDX-License-Identifier: Apache-2.0
//
// device_check() just inside and just outside each limit of the operators' pages.
#include <gmock/gmock.h>

#include "support/aclnn_cases.hpp"
#include "support/error_of.hpp"

namespace eigen_rope::test::aclnn_device_check_tests {
namespace {

using aclnn::Chip;
using aclnn::Layout;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Only what the check looks at: no data.
aclnn::ConstTensor of(const Dims& shape, ScalarType type = ScalarType::f32) {
  return {type, nullptr, shape, {}};
}
aclnn::Tensor written(const Dims& shape, ScalarType type = ScalarType::f32) {
  return {type, nullptr, shape, {}};
}

std::vector<std::string> check(const Dims& x, const Dims& table, Mode mode, Layout layout,
                               Chip chip = Chip::atlas_a2, ScalarType type = ScalarType::f32) {
  return device_check(aclnn::Inputs{of(x, type), of(table, type), of(table, type)}, mode, layout,
                      chip);
}
std::vector<std::string> check_grad(const Dims& x, const Dims& table, Mode mode, Layout layout,
                                    Chip chip = Chip::atlas_a2) {
  return device_check(aclnn::GradInputs{of(x), of(table), of(table), of(x)}, mode, layout, chip);
}
std::vector<std::string> check_apply(std::int64_t D, std::int64_t width, Mode mode, Chip chip,
                                     ScalarType type = ScalarType::f32) {
  const Dims table{2, 5, 1, width};
  return device_check(aclnn::ApplyInputs{written({2, 5, 8, D}, type), written({2, 5, 2, D}, type),
                                         of(table, type), of(table, type)},
                      mode, Layout::bsnd, chip);
}

TEST(AclnnDeviceCheck, Types) {
  for (const Chip chip : {Chip::atlas_a2, Chip::atlas_a3, Chip::ascend_950}) {
    for (const ScalarType type : {ScalarType::f32, ScalarType::f16, ScalarType::bf16}) {
      EXPECT_THAT(check({2, 5, 8, 128}, {1, 5, 1, 128}, Mode::half, Layout::bsnd, chip, type),
                  IsEmpty());
      EXPECT_THAT(check_apply(128, 128, Mode::half, chip, type), IsEmpty());
    }
  }
  EXPECT_THAT(check({2, 5, 8, 128}, {1, 5, 1, 128}, Mode::half, Layout::bsnd, Chip::atlas_a3,
                    ScalarType::f64),
              ElementsAre("Atlas A3 takes f32, f16 and bf16, got f64"));
  EXPECT_THAT(check_apply(128, 128, Mode::half, Chip::ascend_950, ScalarType::f64),
              ElementsAre("Ascend 950 takes f32, f16 and bf16, got f64"));
}

TEST(AclnnDeviceCheck, Modes) {
  const auto check_mode = [](Mode mode, Chip chip) {
    return check({2, 5, 8, 128}, {1, 5, 1, 128}, mode, Layout::bsnd, chip);
  };
  for (const Mode mode : kModes) EXPECT_THAT(check_mode(mode, Chip::ascend_950), IsEmpty());
  EXPECT_THAT(check_mode(Mode::half, Chip::atlas_a2), IsEmpty());
  EXPECT_THAT(check_mode(Mode::interleave, Chip::atlas_a2), IsEmpty());
  EXPECT_THAT(check_mode(Mode::quarter, Chip::atlas_a2),
              ElementsAre("Atlas A2 takes modes half and interleave, got quarter"));
  EXPECT_THAT(check_mode(Mode::interleave_half, Chip::atlas_a3),
              ElementsAre("Atlas A3 takes modes half and interleave, got interleave-half"));
}

TEST(AclnnDeviceCheck, HeadSize) {
  const auto check_size = [](std::int64_t D, Chip chip) {
    return check({2, 5, 8, D}, {1, 5, 1, D}, Mode::half, Layout::bsnd, chip);
  };
  EXPECT_THAT(check_size(894, Chip::atlas_a2), IsEmpty());
  EXPECT_THAT(check_size(896, Chip::atlas_a2), ElementsAre("Atlas A2 takes D below 896, got 896"));
  EXPECT_THAT(check_size(1024, Chip::ascend_950), IsEmpty());
  EXPECT_THAT(check_size(1026, Chip::ascend_950),
              ElementsAre("Ascend 950 takes D of at most 1024, got 1026"));
}

TEST(AclnnDeviceCheck, BatchAndHeadsInModeHalf) {
  const auto check_half = [](std::int64_t B, std::int64_t N) {
    return check({B, 5, N, 8}, {1, 5, 1, 8}, Mode::half, Layout::bsnd);
  };
  EXPECT_THAT(check_half(999, 999), IsEmpty());
  EXPECT_THAT(check_half(1000, 1),
              ElementsAre("Atlas A2 takes B below 1000 in mode half, got 1000"));
  EXPECT_THAT(check_half(1, 1000),
              ElementsAre("Atlas A2 takes N below 1000 in mode half, got 1000"));
  EXPECT_THAT(check_half(1000, 1001),
              ElementsAre("Atlas A2 takes B below 1000 in mode half, got 1000",
                          "Atlas A2 takes N below 1000 in mode half, got 1001"));
  EXPECT_THAT(check({5000, 999, 8}, {5000, 1, 8}, Mode::half, Layout::tnd), IsEmpty());
  EXPECT_THAT(check({5000, 1000, 8}, {5000, 1, 8}, Mode::half, Layout::tnd),
              ElementsAre("Atlas A2 takes N below 1000 in mode half, got 1000"));
}

TEST(AclnnDeviceCheck, BatchTimesHeadsInModeInterleave) {
  const auto sizes = [](std::int64_t B, std::int64_t N) {
    return check({5, B, N, 8}, {5, 1, 1, 8}, Mode::interleave, Layout::sbnd);
  };
  EXPECT_THAT(sizes(37, 27), IsEmpty());
  EXPECT_THAT(sizes(40, 25),
              ElementsAre("Atlas A2 takes B*N below 1000 in mode interleave, got 1000"));
  EXPECT_THAT(check({5000, 999, 8}, {5000, 1, 8}, Mode::interleave, Layout::tnd), IsEmpty());
  EXPECT_THAT(check({5000, 1000, 8}, {5000, 1, 8}, Mode::interleave, Layout::tnd),
              ElementsAre("Atlas A2 takes B*N below 1000 in mode interleave, got 1000"));
}

struct TableShapes {
  Layout layout;
  Dims x;
  std::vector<Dims> shared, others, never;
  std::string half_rule, interleave_rule;
};

const TableShapes kTableShapes[] = {{Layout::bnsd,
                                     {2, 3, 5, 16},
                                     {{1, 1, 5, 16}},
                                     {{2, 1, 5, 16}, {2, 3, 5, 16}},
                                     {{1, 3, 5, 16}, {1, 1, 1, 16}, {2, 3, 1, 16}},
                                     "11SD, B1SD or BNSD in mode half for x [2, 3, 5, 16]",
                                     "11SD in mode interleave for x [2, 3, 5, 16]"},
                                    {Layout::bsnd,
                                     {2, 5, 3, 8},
                                     {{1, 5, 1, 8}},
                                     {{2, 5, 1, 8}, {2, 5, 3, 8}},
                                     {{1, 5, 3, 8}, {1, 1, 1, 8}, {2, 1, 3, 8}},
                                     "1S1D, BS1D or BSND in mode half for x [2, 5, 3, 8]",
                                     "1S1D in mode interleave for x [2, 5, 3, 8]"},
                                    {Layout::sbnd,
                                     {5, 2, 3, 8},
                                     {{5, 1, 1, 8}},
                                     {{5, 2, 1, 8}, {5, 2, 3, 8}},
                                     {{5, 1, 3, 8}, {1, 1, 1, 8}, {1, 2, 3, 8}},
                                     "S11D, SB1D or SBND in mode half for x [5, 2, 3, 8]",
                                     "S11D in mode interleave for x [5, 2, 3, 8]"},
                                    {Layout::tnd,
                                     {5, 3, 8},
                                     {{5, 1, 8}},
                                     {{5, 3, 8}},
                                     {{1, 3, 8}, {1, 1, 8}},
                                     "T1D or TND in mode half for x [5, 3, 8]",
                                     "T1D in mode interleave for x [5, 3, 8]"}};

std::string text(const Dims& dims) {
  std::string result = "[";
  for (const std::int64_t extent : dims)
    result += (result.size() > 1 ? ", " : "") + std::to_string(extent);
  return result + "]";
}

TEST(AclnnDeviceCheck, TableShapes) {
  for (const TableShapes& s : kTableShapes) {
    const auto half = [&](const Dims& table) { return check(s.x, table, Mode::half, s.layout); };
    const auto interleave = [&](const Dims& table) {
      return check(s.x, table, Mode::interleave, s.layout);
    };
    const auto half_sentence = [&](const Dims& table) {
      return "Atlas A2 takes cos of shape " + s.half_rule + ", got " + text(table);
    };
    const auto interleave_sentence = [&](const Dims& table) {
      return "Atlas A2 takes cos of shape " + s.interleave_rule + ", got " + text(table);
    };
    for (const Dims& table : s.shared) {
      EXPECT_THAT(half(table), IsEmpty());
      EXPECT_THAT(interleave(table), IsEmpty());
    }
    for (const Dims& table : s.others) {
      EXPECT_THAT(half(table), IsEmpty());
      EXPECT_THAT(interleave(table), ElementsAre(interleave_sentence(table)));
    }
    for (const Dims& table : s.never) {
      EXPECT_THAT(half(table), ElementsAre(half_sentence(table)));
      EXPECT_THAT(interleave(table), ElementsAre(interleave_sentence(table)));
      EXPECT_THAT(check(s.x, table, Mode::half, s.layout, Chip::ascend_950), IsEmpty());
    }
  }
}

TEST(AclnnDeviceCheck, BnsdWithWholeVectors) {
  const auto sizes = [](std::int64_t B, std::int64_t N, std::int64_t S, std::int64_t D,
                        ScalarType type) {
    return check({B, N, S, D}, {1, 1, S, D}, Mode::half, Layout::bnsd, Chip::atlas_a2, type);
  };
  EXPECT_THAT(sizes(4, 4, 2, 16, ScalarType::f32), IsEmpty());
  EXPECT_THAT(
      sizes(1, 17, 2, 16, ScalarType::f32),
      ElementsAre(
          "Atlas A2 takes B*N of at most 8*S = 16 in layout BNSD with D/2 divisible by 8, got 17"));
  EXPECT_THAT(sizes(1, 17, 2, 128, ScalarType::f16),
              ElementsAre("Atlas A2 takes B*N of at most 8*S = 16 in layout BNSD with D/2 "
                          "divisible by 16, got 17"));
  EXPECT_THAT(check_grad({1, 17, 2, 16}, {1, 1, 2, 16}, Mode::half, Layout::bnsd), IsEmpty());
  EXPECT_THAT(check({1, 2, 17, 16}, {1, 2, 1, 16}, Mode::half, Layout::bsnd), IsEmpty());
}

TEST(AclnnDeviceCheck, BnsdWithBrokenVectors) {
  const auto sizes = [](std::int64_t N, std::int64_t S, std::int64_t D) {
    return check({1, N, S, D}, {1, 1, S, D}, Mode::half, Layout::bnsd);
  };
  EXPECT_THAT(sizes(3, 6, 78), IsEmpty());
  EXPECT_THAT(sizes(3, 5, 82), IsEmpty());
  EXPECT_THAT(sizes(3, 5, 78), ElementsAre("Atlas A2 takes 2*B*N of at most S = 5 in layout BNSD "
                                           "with D below 80 and D/2 not divisible by 8, got 6"));
}

TEST(AclnnDeviceCheck, GradientsOfTables) {
  EXPECT_THAT(check_grad({32, 5, 32, 8}, {1, 5, 1, 8}, Mode::half, Layout::bsnd), IsEmpty());
  EXPECT_THAT(check_grad({25, 5, 41, 8}, {1, 5, 1, 8}, Mode::half, Layout::bsnd),
              ElementsAre("Atlas A2 takes B*N of at most 1024 for dcos and dsin, got 1025"));
  EXPECT_THAT(check_grad({25, 5, 41, 8}, {1, 5, 1, 8}, Mode::half, Layout::bsnd, Chip::ascend_950),
              IsEmpty());
  const Dims large{25, 5, 41, 8};
  const Dims table{1, 5, 1, 8};
  EXPECT_THAT(device_check(aclnn::GradInputs{of(large), of(table), of(table), {}}, Mode::half,
                           Layout::bsnd, Chip::atlas_a2),
              IsEmpty());
}

TEST(AclnnDeviceCheck, GradientWithATablePerBatch) {
  EXPECT_THAT(check_grad({4, 3, 5, 8}, {4, 1, 5, 8}, Mode::half, Layout::bnsd), IsEmpty());
  EXPECT_THAT(check_grad({5, 3, 5, 8}, {5, 1, 5, 8}, Mode::half, Layout::bnsd),
              ElementsAre("Atlas A2 takes B below S = 5 for cos of shape B1SD, got 5"));
  EXPECT_THAT(check_grad({5, 5, 3, 8}, {5, 5, 1, 8}, Mode::half, Layout::bsnd),
              ElementsAre("Atlas A2 takes B below S = 5 for cos of shape BS1D, got 5"));
  EXPECT_THAT(check_grad({5, 5, 3, 8}, {5, 5, 1, 8}, Mode::half, Layout::sbnd), IsEmpty());
  EXPECT_THAT(check_grad({5, 5, 3, 8}, {1, 5, 1, 8}, Mode::half, Layout::bsnd), IsEmpty());
  EXPECT_THAT(check({5, 3, 5, 8}, {5, 1, 5, 8}, Mode::half, Layout::bnsd),
              ElementsAre("Atlas A2 takes 2*B*N of at most S = 5 in layout BNSD with D below 80 "
                          "and D/2 not divisible by 8, got 30"));
}

TEST(AclnnDeviceCheck, GradientSharesTheOperatorsLimits) {
  EXPECT_THAT(
      check_grad({2, 5, 3, 896}, {1, 1, 1, 896}, Mode::quarter, Layout::bsnd, Chip::atlas_a3),
      ElementsAre("Atlas A3 takes modes half and interleave, got quarter",
                  "Atlas A3 takes D below 896, got 896"));
  EXPECT_THAT(
      check_grad({2, 5, 3, 1028}, {1, 1, 1, 1028}, Mode::quarter, Layout::bsnd, Chip::ascend_950),
      ElementsAre("Ascend 950 takes D of at most 1024, got 1028"));
}

TEST(AclnnDeviceCheck, Apply) {
  for (const std::int64_t D : {64, 128})
    EXPECT_THAT(check_apply(D, D, Mode::half, Chip::atlas_a2), IsEmpty());
  for (const std::int64_t D : {62, 66, 96, 126, 130}) {
    EXPECT_THAT(check_apply(D, D, Mode::half, Chip::atlas_a2),
                ElementsAre("Atlas A2 takes D of 64 or 128, got " + std::to_string(D)));
  }
  EXPECT_THAT(check_apply(128, 64, Mode::half, Chip::atlas_a3),
              ElementsAre("Atlas A3 takes cos as wide as D = 128, got 64"));
  EXPECT_THAT(check_apply(128, 128, Mode::interleave, Chip::atlas_a2),
              ElementsAre("Atlas A2 takes mode half, got interleave"));
  EXPECT_THAT(check_apply(1024, 64, Mode::quarter, Chip::ascend_950), IsEmpty());
  EXPECT_THAT(check_apply(1026, 64, Mode::quarter, Chip::ascend_950),
              ElementsAre("Ascend 950 takes D of at most 1024, got 1026"));
}

TEST(AclnnDeviceCheck, ThrowsForCallsThatAreNotValidAtAll) {
  EXPECT_EQ("[rope] x must have 3 axes in layout TND, got 4", error_of([] {
              check({2, 3, 5, 8}, {1, 1, 5, 8}, Mode::half, Layout::tnd);
            }));
  EXPECT_EQ("[rope] the last axis of x must be even, got 7", error_of([] {
              check({2, 3, 5, 7}, {1, 1, 5, 7}, Mode::half, Layout::bnsd);
            }));
  EXPECT_EQ("[rope] axis 0 of cos must be 1 or 2 for dy [2, 3, 5, 8], got 3", error_of([] {
              check_grad({2, 3, 5, 8}, {3, 1, 5, 8}, Mode::half, Layout::bnsd);
            }));
  EXPECT_EQ("[rope] the last axis of cos must be at most query's 64, got 128",
            error_of([] { check_apply(64, 128, Mode::half, Chip::atlas_a2); }));
}

// Empty, but B*N does not fit.
TEST(AclnnDeviceCheck, AbsurdExtentsAreRefused) {
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_EQ("[rope] B*N must fit a 64-bit count, got 1099511627776 x 1099511627776", error_of([&] {
              check({huge, huge, 0, 8}, {1, 1, 0, 8}, Mode::half, Layout::bnsd);
            }));
}

}  // namespace
}  // namespace eigen_rope::test::aclnn_device_check_tests
