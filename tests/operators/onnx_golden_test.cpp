// SPDX-License-Identifier: Apache-2.0
//
// Every recorded output of the ONNX operators: ONNX's own conformance data, ONNX Runtime's answers,
// correctly rounded bfloat16.
#define EIGEN_USE_THREADS

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <unsupported/Eigen/CXX11/Tensor>

#include "support/error_of.hpp"
#include "support/onnx_cases.hpp"

namespace eigen_rope {
namespace {

using test::OnnxCase;
using Bytes = std::vector<unsigned char>;

const std::string golden = std::string(EIGEN_ROPE_TEST_DATA) + "/golden/onnx/";

bool is_wide(const OnnxCase& c) { return c.name.find("wide_cache") != std::string::npos; }

/// Where the text the case was published with allows a wide cache, so does the node.
OnnxCase as_published(OnnxCase c) {
  if (is_wide(c)) c.node.wide_cache = onnx::WideCache::slice;
  return c;
}

onnx::Tensor tensor_over(const OnnxCase& c, Bytes& bytes) {
  return {test::onnx_scalar_type(c.output.dtype), bytes.data(), c.output.shape};
}

Bytes output_of(const OnnxCase& c, const Device& device = Device()) {
  Bytes bytes(c.output.bytes.size(), 0xCD);
  onnx::run(c.node, c.values(), tensor_over(c, bytes), device);
  return bytes;
}

Bytes output_in_place_of(const OnnxCase& c) {
  Bytes bytes = c.inputs[0].bytes;
  std::vector<onnx::Value> values = c.values();
  values[0].data = bytes.data();
  onnx::run(c.node, values, tensor_over(c, bytes));
  return bytes;
}

/// Elements the operator copies must have x's bytes.
void expect_copies(const OnnxCase& c, const std::vector<test::ExactElement>& exact,
                   const Bytes& ours) {
  const std::size_t size = test::onnx_element_size(c.output.dtype);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (!exact[i].copied) continue;
    ASSERT_EQ(std::memcmp(&ours[i * size], &c.inputs[0].bytes[i * size], size), 0)
        << c.name << ", element " << i;
  }
}

TEST(OnnxGolden, ConformanceDataOfTheOperator) {
  // numpy's float32 arithmetic, as the files say.
  constexpr double tolerance = 2e-7;
  for (const OnnxCase& recorded : test::read_onnx_folder(golden + "node")) {
    const OnnxCase c = as_published(recorded);
    test::OnnxTensor ours = c.output;
    ours.bytes = output_of(c);
    for (std::size_t i = 0; i < ours.count(); ++i)
      ASSERT_NEAR(ours[i], c.output[i], tolerance) << c.name << ", element " << i;
    expect_copies(c, test::onnx_formula(c), ours.bytes);
  }
}

TEST(OnnxGolden, WideCachesAreSlicedOnlyWhenAsked) {
  int wide = 0;
  for (const OnnxCase& c : test::read_onnx_folder(golden + "node")) {
    if (!is_wide(c)) continue;
    ++wide;
    const std::int64_t pairs = c.attribute("rotary_embedding_dim") / 2;
    EXPECT_EQ(test::error_of([&] { output_of(c); }),
              "[rope] cos_cache must have " + std::to_string(pairs) +
                  " columns (rotary dims / 2), got " +
                  std::to_string(c.input("cos_cache")->shape.back()));
    EXPECT_EQ(test::error_of([&] { output_of(as_published(c)); }), "no eigen_rope::Error");
  }
  EXPECT_GT(wide, 0);
}

TEST(OnnxGolden, RuntimeFloat) {
  // Each product and the sum are rounded, 2^-24 of the terms each: 2^-23 here and, as the files
  // say, at most as much there. The smallest subnormal comes on top.
  const double per_term = 2.0 * std::ldexp(1.0, -23);
  const double smallest = std::ldexp(1.0, -149);
  std::size_t compared = 0;
  for (const OnnxCase& c : test::read_onnx_folder(golden + "ort")) {
    if (c.output.dtype != "float32") continue;
    test::OnnxTensor ours = c.output;
    ours.bytes = output_of(c);
    const std::vector<test::ExactElement> exact = test::onnx_formula(c);
    expect_copies(c, exact, ours.bytes);
    for (std::size_t i = 0; i < ours.count(); ++i) {
      ++compared;
      const double want = c.output[i];
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(ours[i])) << c.name << ", element " << i << " is " << ours[i];
      } else if (std::isinf(want)) {
        ASSERT_EQ(ours[i], want) << c.name << ", element " << i;
      } else if (!exact[i].copied) {
        ASSERT_LE(std::abs(ours[i] - want), per_term * exact[i].terms + smallest)
            << c.name << ", element " << i << ": " << ours[i] << " for " << want;
      }
    }
  }
  EXPECT_GT(compared, 0U);
}

/// Bits of a 16-bit float as a number that grows with its value.
int ordered(std::uint16_t bits) { return (bits & 0x8000) != 0 ? -(bits & 0x7FFF) : bits; }

/// Elements of a folder that are one unit in the last place beside the recorded ones; anything
/// further off fails.
struct Closeness {
  std::size_t compared = 0;
  std::size_t one_off = 0;
};

void compare_16_bit(const OnnxCase& c, Closeness& closeness) {
  test::OnnxTensor ours = c.output;
  ours.bytes = output_of(c);
  expect_copies(c, test::onnx_formula(c), ours.bytes);
  for (std::size_t i = 0; i < ours.count(); ++i) {
    ++closeness.compared;
    if (std::isnan(c.output[i])) {
      ASSERT_TRUE(std::isnan(ours[i])) << c.name << ", element " << i << " is " << ours[i];
      continue;
    }
    const int distance = std::abs(ordered(ours.element<std::uint16_t>(i)) -
                                  ordered(c.output.element<std::uint16_t>(i)));
    ASSERT_LE(distance, std::isinf(c.output[i]) ? 0 : 1)
        << c.name << ", element " << i << ": " << ours[i] << " for " << c.output[i];
    if (distance == 1) ++closeness.one_off;
  }
}

Closeness compare_16_bit_folder(const std::string& folder) {
  Closeness closeness;
  for (const OnnxCase& c : test::read_onnx_folder(folder)) {
    if (test::onnx_element_size(c.output.dtype) == 2) compare_16_bit(c, closeness);
  }
  return closeness;
}

// Both sides compute in float32 and round once; where float32's own rounding falls on the other
// side of a midpoint they differ. The files give 1 in 50000 for one side; ten times that is allowed
// for two.
constexpr std::size_t one_off_in = 5000;

TEST(OnnxGolden, RuntimeHalf) {
  const Closeness closeness = compare_16_bit_folder(golden + "ort");
  EXPECT_GT(closeness.compared, one_off_in);
  EXPECT_LE(closeness.one_off * one_off_in, closeness.compared);
}

TEST(OnnxGolden, Bfloat16RoundedOnce) {
  const Closeness closeness = compare_16_bit_folder(golden + "bf16");
  EXPECT_GT(closeness.compared, one_off_in);
  EXPECT_LE(closeness.one_off * one_off_in, closeness.compared);
}

TEST(OnnxGolden, InPlaceAndOnTwoThreadsTheSameBits) {
  Eigen::ThreadPool pool(2);
  const Eigen::ThreadPoolDevice device(&pool, 2);
  for (const char* folder : {"node", "ort", "bf16"}) {
    for (const OnnxCase& recorded : test::read_onnx_folder(golden + folder)) {
      const OnnxCase c = as_published(recorded);
      const Bytes once = output_of(c);
      EXPECT_EQ(output_in_place_of(c), once) << c.name;
      EXPECT_EQ(output_of(c, device), once) << c.name;
    }
  }
}

}  // namespace
}  // namespace eigen_rope
