// SPDX-License-Identifier: Apache-2.0
//
// The recorded answers of the ONNX operators, and how close to them the golden files' README says
// that another implementation comes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "support/onnx_cases.hpp"

namespace eigen_rope::test {

using Bytes = std::vector<unsigned char>;

/// A folder of recorded answers, and how many its README counts.
struct OnnxFolder {
  const char* name;
  std::size_t recorded;

  std::vector<OnnxCase> read() const {
    std::vector<OnnxCase> cases =
        read_onnx_folder(std::string(EIGEN_ROPE_TEST_DATA) + "/golden/onnx/" + name);
    if (cases.size() != recorded)
      throw std::runtime_error(std::to_string(cases.size()) + " cases in " + name);
    return cases;
  }
};
inline constexpr OnnxFolder onnx_node{"node", 11};
inline constexpr OnnxFolder onnx_runtime{"ort", 214};
inline constexpr OnnxFolder onnx_bfloat16{"bf16", 12};

/// numpy's float32 arithmetic, as the files say.
inline constexpr double onnx_node_tolerance = 2e-7;
/// Each product and the sum are rounded, 2^-24 of the terms each: 2^-23 here and, as the files
/// say, at most as much there.
inline constexpr double onnx_float_per_term = 2.0 * 0x1p-23;
/// The smallest subnormal comes on top.
inline constexpr double onnx_float_smallest = 0x1p-149;
/// Both sides compute 16 bits in float32 and round once; where float32's own rounding falls on the
/// other side of a midpoint they differ. The files give 1 in 50000 for one side; ten times that is
/// allowed for two.
inline constexpr std::size_t onnx_one_off_in = 5000;

/// Bits of a 16-bit float as a number that grows with its value.
inline int ordered_bits(std::uint16_t bits) {
  return (bits & 0x8000) != 0 ? -(bits & 0x7FFF) : bits;
}

/// Elements the operator copies must have x's bytes.
inline void expect_copies(const OnnxCase& c, const std::vector<ExactElement>& exact,
                          const Bytes& ours) {
  const std::size_t size = onnx_element_size(c.output.dtype);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (!exact[i].copied) continue;
    ASSERT_EQ(std::memcmp(&ours[i * size], &c.inputs[0].bytes[i * size], size), 0)
        << c.name << ", element " << i;
  }
}

/// Compares answers with the recorded ones; `exact` is onnx_formula(c).
class OnnxJudge {
 public:
  /// ONNX's own data.
  void see_node(const OnnxCase& c, const std::vector<ExactElement>& exact, Bytes ours) {
    const OnnxTensor mine = begin(c, exact, std::move(ours));
    for (std::size_t i = 0; i < mine.count(); ++i)
      ASSERT_NEAR(mine[i], c.output[i], onnx_node_tolerance) << c.name << ", element " << i;
  }
  /// What another implementation answered.
  void see(const OnnxCase& c, const std::vector<ExactElement>& exact, Bytes ours) {
    const OnnxTensor mine = begin(c, exact, std::move(ours));
    for (std::size_t i = 0; i < mine.count(); ++i) {
      const double want = c.output[i];
      const auto what = [&] {
        return testing::Message() << c.name << ", element " << i << ": " << mine[i] << " for "
                                  << want;
      };
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(mine[i])) << what();
      } else if (onnx_element_size(mine.dtype) == 2) {
        const int distance = std::abs(ordered_bits(mine.element<std::uint16_t>(i)) -
                                      ordered_bits(c.output.element<std::uint16_t>(i)));
        ASSERT_LE(distance, std::isinf(want) ? 0 : 1) << what();
        one_off_ += distance == 1 ? 1 : 0;
      } else if (std::isinf(want)) {
        ASSERT_EQ(mine[i], want) << what();
      } else if (!exact[i].copied) {
        ASSERT_LE(std::abs(mine[i] - want),
                  onnx_float_per_term * exact[i].terms + onnx_float_smallest)
            << what();
      }
    }
  }

  /// Of 16 bits so many that one in onnx_one_off_in says something, and no more than that beside
  /// the recorded ones.
  void conclude_16_bit() const {
    EXPECT_GT(compared_, onnx_one_off_in);
    EXPECT_LE(one_off_ * onnx_one_off_in, compared_);
  }
  std::size_t answers() const { return answers_; }
  std::size_t compared() const { return compared_; }

 private:
  OnnxTensor begin(const OnnxCase& c, const std::vector<ExactElement>& exact, Bytes ours) {
    ++answers_;
    compared_ += exact.size();
    OnnxTensor mine{c.output.name, c.output.dtype, c.output.shape, std::move(ours)};
    expect_copies(c, exact, mine.bytes);
    return mine;
  }

  std::size_t answers_ = 0;
  std::size_t compared_ = 0;
  std::size_t one_off_ = 0;
};

}  // namespace eigen_rope::test
