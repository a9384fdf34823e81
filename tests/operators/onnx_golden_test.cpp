// SPDX-License-Identifier: Apache-2.0
//
// Every recorded output of the ONNX operators: ONNX's own conformance data, ONNX Runtime's answers,
// correctly rounded bfloat16.
#define EIGEN_USE_THREADS

#include <gmock/gmock.h>

#include <unsupported/Eigen/CXX11/Tensor>

#include "support/error_of.hpp"
#include "support/onnx_closeness.hpp"

namespace eigen_rope::onnx_golden_tests {
namespace {

using test::Bytes;
using test::OnnxCase;

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

TEST(OnnxGolden, ConformanceDataOfTheOperator) {
  test::OnnxJudge judge;
  for (const OnnxCase& recorded : test::onnx_node.read()) {
    const OnnxCase c = as_published(recorded);
    judge.see_node(c, test::onnx_formula(c), output_of(c));
  }
}

TEST(OnnxGolden, WideCachesAreSlicedOnlyWhenAsked) {
  int wide = 0;
  for (const OnnxCase& c : test::onnx_node.read()) {
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

/// The answers to a folder's cases whose elements have so many bytes.
test::OnnxJudge judge_of(const test::OnnxFolder& folder, std::size_t element_size) {
  test::OnnxJudge judge;
  for (const OnnxCase& c : folder.read()) {
    if (test::onnx_element_size(c.output.dtype) == element_size)
      judge.see(c, test::onnx_formula(c), output_of(c));
  }
  return judge;
}

TEST(OnnxGolden, RuntimeFloat) { EXPECT_GT(judge_of(test::onnx_runtime, 4).compared(), 0U); }
TEST(OnnxGolden, RuntimeHalf) { judge_of(test::onnx_runtime, 2).conclude_16_bit(); }
TEST(OnnxGolden, Bfloat16RoundedOnce) { judge_of(test::onnx_bfloat16, 2).conclude_16_bit(); }

TEST(OnnxGolden, InPlaceAndOnTwoThreadsTheSameBits) {
  Eigen::ThreadPool pool(2);
  const Eigen::ThreadPoolDevice device(&pool, 2);
  for (const test::OnnxFolder& folder :
       {test::onnx_node, test::onnx_runtime, test::onnx_bfloat16}) {
    for (const OnnxCase& recorded : folder.read()) {
      const OnnxCase c = as_published(recorded);
      const Bytes once = output_of(c);
      EXPECT_EQ(output_in_place_of(c), once) << c.name;
      EXPECT_EQ(output_of(c, device), once) << c.name;
    }
  }
}

}  // namespace
}  // namespace eigen_rope::onnx_golden_tests
