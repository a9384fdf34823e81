// SPDX-License-Identifier: Apache-2.0
//
// Calls of the ONNX operators that are refused for their memory, shapes or node: what each is told, and that nothing is written. The
// operators' own edge is onnx_edge_calls_test.cpp.
#include <gmock/gmock.h>

#include <limits>
#include <utility>

#include "error_of.hpp"
#include "rope/operators/onnx_node.hpp"

namespace rope {
namespace {

constexpr float untouched = 7.0F;

/// X [1, 2, 3, 8], caches [5, 4], ids [1, 3], all in one stretch of memory so that tests can shift one over another.
struct OnnxErrors : testing::Test {
  std::vector<float> memory = std::vector<float>(400, untouched);
  float* x = memory.data();
  float* y = memory.data() + 100;
  float* cos = memory.data() + 200;
  float* sin = memory.data() + 250;
  float* dy = memory.data() + 300;
  std::vector<std::int64_t> ids{0, 1, 2};
  onnx::RotaryEmbedding node;
  onnx::Inputs inputs{onnx::tensor(x, {1, 2, 3, 8}), onnx::tensor(cos, {5, 4}), onnx::tensor(sin, {5, 4}),
                      onnx::PositionIds{ids.data(), {1, 3}}};
  onnx::Tensor Y = onnx::tensor(y, {1, 2, 3, 8});
  onnx::ConstTensor dY = onnx::tensor(static_cast<const float*>(dy), {1, 2, 3, 8});
  onnx::Gradients gradients{Y, std::nullopt, std::nullopt};

  std::string run_error() {
    return test::error_of([&] { onnx::run(node, inputs, Y); });
  }
  std::string backward_error() {
    return test::error_of([&] { onnx::backward(node, inputs, dY, gradients); });
  }
  void TearDown() override { EXPECT_THAT(memory, testing::Each(untouched)); }
};

TEST_F(OnnxErrors, NullData) {
  const onnx::Inputs valid = inputs;
  inputs.X.data = nullptr;
  EXPECT_EQ(run_error(), "[rope] X must have data, got a null pointer");
  inputs = valid;
  inputs.cos_cache.data = nullptr;
  EXPECT_EQ(run_error(), "[rope] cos_cache must have data, got a null pointer");
  inputs = valid;
  inputs.sin_cache.data = nullptr;
  EXPECT_EQ(run_error(), "[rope] sin_cache must have data, got a null pointer");
  inputs = valid;
  inputs.position_ids->data = nullptr;
  EXPECT_EQ(run_error(), "[rope] position_ids must have data, got a null pointer");
  inputs = valid;
  Y.data = nullptr;
  EXPECT_EQ(run_error(), "[rope] Y must have data, got a null pointer");
}

TEST_F(OnnxErrors, OutputsOfAnotherShapeOrType) {
  Y.shape = {1, 3, 2, 8};
  EXPECT_EQ(run_error(), "[rope] Y must have X's shape [1, 2, 3, 8], got [1, 3, 2, 8]");
  Y.shape = {1, 2, 24};
  EXPECT_EQ(run_error(), "[rope] Y must have X's shape [1, 2, 3, 8], got [1, 2, 24]");
  Y = {ScalarType::f16, y, {1, 2, 3, 8}};
  EXPECT_EQ(run_error(), "[rope] Y must have X's type f32, got f16");
}

TEST_F(OnnxErrors, InputsOfAnotherType) {
  inputs.cos_cache.type = ScalarType::f64;
  EXPECT_EQ(run_error(), "[rope] cos_cache must have X's type f32, got f64");
  inputs.cos_cache.type = ScalarType::f32;
  inputs.sin_cache.type = ScalarType::bf16;
  EXPECT_EQ(run_error(), "[rope] sin_cache must have X's type f32, got bf16");
}

TEST_F(OnnxErrors, OverlapOfTheOutput) {
  Y.data = x + 1;
  EXPECT_EQ(run_error(), "[rope] Y must be X's own data or not overlap it (distance in bytes), got 4");
  Y.data = cos - 47;
  EXPECT_EQ(run_error(), "[rope] Y must not overlap cos_cache (distance in bytes), got -188");
  Y.data = sin + 19;
  EXPECT_EQ(run_error(), "[rope] Y must not overlap sin_cache (distance in bytes), got 76");
  Y.data = ids.data();
  EXPECT_EQ(run_error(), "[rope] Y must not overlap position_ids (distance in bytes), got 0");
}

TEST_F(OnnxErrors, NegativeExtents) {
  inputs.X.shape = {1, 2, -3, 8};
  EXPECT_EQ(run_error(), "[rope] X must not have negative extents, got [1, 2, -3, 8]");
  inputs.X.shape = {1, 2, 3, 8};
  inputs.cos_cache.shape = {-5, -4};
  EXPECT_EQ(run_error(), "[rope] cos_cache must not have negative extents, got [-5, -4]");
}

TEST_F(OnnxErrors, ShapesWhoseSizesOverflow) {
  constexpr std::int64_t large = std::int64_t{1} << 40;
  inputs.X.shape = {large, 2, large, 8};
  EXPECT_EQ(run_error(), "[rope] X must have at most 2^56 elements, got [1099511627776, 2, 1099511627776, 8]");
  inputs.X.shape = {0, 2, large, large};
  EXPECT_EQ(run_error(), "[rope] X must have at most 2^56 elements, got [0, 2, 1099511627776, 1099511627776]");
  inputs.X.shape = {std::numeric_limits<std::int64_t>::max(), 2, 3, 8};
  EXPECT_EQ(run_error(), "[rope] X must have at most 2^56 elements, got [9223372036854775807, 2, 3, 8]");
  inputs.X.shape = {1, 2, 3, 8};
  inputs.cos_cache.shape = {large, large};
  EXPECT_EQ(run_error(), "[rope] cos_cache must have at most 2^56 elements, got [1099511627776, 1099511627776]");
}

TEST_F(OnnxErrors, HugeButEmptyTensorsAreAccepted) {
  constexpr std::int64_t large = std::int64_t{1} << 48;
  inputs = {onnx::tensor(static_cast<const float*>(nullptr), {1, 0, large, 8}),
            onnx::tensor(static_cast<const float*>(nullptr), {1, large, 4}),
            onnx::tensor(static_cast<const float*>(nullptr), {1, large, 4}), std::nullopt};
  Y = onnx::tensor(static_cast<float*>(nullptr), {1, 0, large, 8});
  EXPECT_EQ(run_error(), "no rope::Error");
}

// 2^40 columns taken in turn.
TEST_F(OnnxErrors, WideButEmptyTensorsTakeNoTime) {
  constexpr std::int64_t large = std::int64_t{1} << 40;
  onnx::MRotaryEmbedding multi_axis;
  multi_axis.mrope_section = {large / 2, large / 4, large / 4};
  multi_axis.mrope_layout = 1;
  const onnx::Dims shape{0, 2, 3, 2 * large};
  inputs = {onnx::tensor(static_cast<const float*>(nullptr), shape), onnx::tensor(static_cast<const float*>(nullptr), {0, large}),
            onnx::tensor(static_cast<const float*>(nullptr), {0, large}), onnx::PositionIds{nullptr, {3, 0, 3}}};
  Y = onnx::tensor(static_cast<float*>(nullptr), shape);
  EXPECT_EQ(test::error_of([&] { onnx::run(multi_axis, inputs, Y); }), "no rope::Error");
}

TEST_F(OnnxErrors, OffsetsThatWouldOverflow) {
  onnx::ContribRotaryEmbedding contrib;
  ids[0] = std::numeric_limits<std::int64_t>::max();
  inputs.position_ids->shape = {};
  const std::string rule = "[rope] position_ids must leave the sequence's 3 positions within the caches' 5 rows, got ";
  EXPECT_EQ(test::error_of([&] { onnx::run(contrib, inputs, Y); }), rule + "9223372036854775807");
  ids[0] = -1;
  EXPECT_EQ(test::error_of([&] { onnx::run(contrib, inputs, Y); }), rule + "-1");
}

TEST_F(OnnxErrors, AttributesOfTheContribOperators) {
  onnx::ContribRotaryEmbedding contrib;
  contrib.scale = std::numeric_limits<double>::infinity();
  EXPECT_EQ(test::error_of([&] { onnx::run(contrib, inputs, Y); }), "[rope] scale must be finite, got inf");
  contrib.scale = 1.0;
  contrib.is_packed_batching = 2;
  EXPECT_EQ(test::error_of([&] { onnx::run(contrib, inputs, Y); }), "[rope] is_packed_batching must be 0 or 1, got 2");
  contrib.is_packed_batching = 0;
  inputs.position_ids.reset();
  EXPECT_EQ(test::error_of([&] { onnx::run(contrib, inputs, Y); }), "[rope] position_ids is required, got none");
  onnx::MRotaryEmbedding multi_axis;
  EXPECT_EQ(test::error_of([&] { onnx::run(multi_axis, inputs, Y); }), "[rope] position_ids is required, got none");
}

TEST_F(OnnxErrors, SectionsThatWouldOverflow) {
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  onnx::MRotaryEmbedding multi_axis;
  multi_axis.mrope_section = {huge, huge, 6};
  EXPECT_EQ(test::error_of([&] { onnx::run(multi_axis, inputs, Y); }),
            "[rope] mrope_section must add up to 4 (rotary dims / 2), got [9223372036854775807, 9223372036854775807, 6]");
}

TEST_F(OnnxErrors, GradientsOfAnotherShapeOrTypeOrWithoutData) {
  dY.shape = {1, 2, 24};
  EXPECT_EQ(backward_error(), "[rope] dY must have X's shape [1, 2, 3, 8], got [1, 2, 24]");
  dY = {ScalarType::f64, dy, {1, 2, 3, 8}};
  EXPECT_EQ(backward_error(), "[rope] dY must have X's type f32, got f64");
  dY = {ScalarType::f32, nullptr, {1, 2, 3, 8}};
  EXPECT_EQ(backward_error(), "[rope] dY must have data, got a null pointer");
  dY.data = dy;
  gradients.dX->shape = {1, 2, 8, 3};
  EXPECT_EQ(backward_error(), "[rope] dX must have X's shape [1, 2, 3, 8], got [1, 2, 8, 3]");
  gradients = {std::nullopt, onnx::tensor(y, {4, 5}), std::nullopt};
  EXPECT_EQ(backward_error(), "[rope] dcos_cache must have cos_cache's shape [5, 4], got [4, 5]");
  gradients = {std::nullopt, std::nullopt, onnx::Tensor{ScalarType::bf16, y, {5, 4}}};
  EXPECT_EQ(backward_error(), "[rope] dsin_cache must have sin_cache's type f32, got bf16");
  gradients = {std::nullopt, std::nullopt, onnx::tensor(static_cast<float*>(nullptr), {5, 4})};
  EXPECT_EQ(backward_error(), "[rope] dsin_cache must have data, got a null pointer");
}

TEST_F(OnnxErrors, GradientsThatReadNullData) {
  inputs.cos_cache.data = nullptr;
  EXPECT_EQ(backward_error(), "[rope] cos_cache must have data, got a null pointer");
  inputs.cos_cache.data = cos;
  inputs.X.data = nullptr;
  gradients = {std::nullopt, onnx::tensor(y, {5, 4}), std::nullopt};
  EXPECT_EQ(backward_error(), "[rope] X must have data, got a null pointer");
}

TEST_F(OnnxErrors, OverlapOfTheGradients) {
  gradients.dX->data = dy + 1;
  EXPECT_EQ(backward_error(), "[rope] dX must be dY's own data or not overlap it (distance in bytes), got 4");
  gradients.dX->data = x;
  EXPECT_EQ(backward_error(), "[rope] dX must not overlap X (distance in bytes), got 0");
  gradients.dX->data = cos;
  EXPECT_EQ(backward_error(), "[rope] dX must not overlap cos_cache (distance in bytes), got 0");
  gradients.dX = Y;
  gradients.dcos_cache = onnx::tensor(dy, {5, 4});
  EXPECT_EQ(backward_error(), "[rope] dcos_cache must not overlap dY (distance in bytes), got 0");
  gradients.dcos_cache = onnx::tensor(y + 2, {5, 4});
  EXPECT_EQ(backward_error(), "[rope] dcos_cache must not overlap dX (distance in bytes), got 8");
  gradients = {std::nullopt, onnx::tensor(y, {5, 4}), onnx::tensor(y + 3, {5, 4})};
  EXPECT_EQ(backward_error(), "[rope] dsin_cache must not overlap dcos_cache (distance in bytes), got 12");
}

/// The same call as a node of a model.
struct OnnxNodeErrors : OnnxErrors {
  onnx::Node model{"", "RotaryEmbedding", 23, {}, onnx::WideCache::refuse};
  std::vector<onnx::Value> values{{onnx::ElementType::float32, x, {1, 2, 3, 8}, true},
                                  {onnx::ElementType::float32, cos, {5, 4}, true},
                                  {onnx::ElementType::float32, sin, {5, 4}, true},
                                  {onnx::ElementType::int64, ids.data(), {1, 3}, true}};

  std::string node_error() {
    return test::error_of([&] { onnx::run(model, values, Y); });
  }
};

TEST_F(OnnxNodeErrors, OperatorsAndOpsets) {
  const std::string rule =
      "[rope] the operator must be RotaryEmbedding of ai.onnx, or RotaryEmbedding or MRotaryEmbedding of com.microsoft, got ";
  model.op_type = "MRotaryEmbedding";
  EXPECT_EQ(node_error(), rule + "MRotaryEmbedding of ai.onnx");
  model.op_type = "RotaryEmbedding";
  model.domain = "org.pytorch";
  EXPECT_EQ(node_error(), rule + "RotaryEmbedding of org.pytorch");
  model.domain = "ai.onnx";
  model.opset = 22;
  EXPECT_EQ(node_error(), "[rope] opset of ai.onnx must be at least 23, got 22");
  model.domain = "com.microsoft";
  EXPECT_EQ(node_error(), "[rope] opset of com.microsoft must be 1, got 22");
}

TEST_F(OnnxNodeErrors, Attributes) {
  model.attributes["num_heads"] = 2.0;
  EXPECT_EQ(node_error(), "[rope] attribute num_heads must be an integer, got a float");
  model.attributes["num_heads"] = onnx::Dims{2};
  EXPECT_EQ(node_error(), "[rope] attribute num_heads must be an integer, got a list of integers");
  model.attributes = {{"theta", 10000.0}};
  EXPECT_EQ(node_error(), "[rope] attributes of RotaryEmbedding must be among interleaved, num_heads, rotary_embedding_dim, got theta");
  model = {"com.microsoft", "RotaryEmbedding", 1, {{"scale", std::int64_t{2}}}, onnx::WideCache::refuse};
  EXPECT_EQ(node_error(), "[rope] attribute scale must be a float, got an integer");
  model.attributes = {{"mrope_layout", std::int64_t{1}}};
  EXPECT_EQ(node_error(),
            "[rope] attributes of RotaryEmbedding must be among interleaved, is_packed_batching, num_heads, rotary_embedding_dim, scale, "
            "got mrope_layout");
  model = {"com.microsoft", "MRotaryEmbedding", 1, {{"mrope_section", std::int64_t{4}}}, onnx::WideCache::refuse};
  EXPECT_EQ(node_error(), "[rope] attribute mrope_section must be a list of integers, got an integer");
}

TEST_F(OnnxNodeErrors, Inputs) {
  const std::vector<onnx::Value> valid = values;
  values.resize(2);
  EXPECT_EQ(node_error(), "[rope] sin_cache is a required input of RotaryEmbedding, got none");
  values = valid;
  values[1].present = false;
  EXPECT_EQ(node_error(), "[rope] cos_cache is a required input of RotaryEmbedding, got none");
  values = valid;
  values.push_back(valid[1]);
  EXPECT_EQ(node_error(), "[rope] RotaryEmbedding must have at most 4 inputs, got 5");
  values = valid;
  values[0].type = onnx::ElementType::int32;
  EXPECT_EQ(node_error(), "[rope] X must be float32, float16, bfloat16 or float64, got int32");
  values = valid;
  values[3].type = onnx::ElementType::int32;
  EXPECT_EQ(node_error(), "[rope] position_ids must be int64, got int32");
  values = valid;
  values[3].type = onnx::ElementType::float32;
  EXPECT_EQ(node_error(), "[rope] position_ids must be int64, got float32");
}

TEST_F(OnnxNodeErrors, InputsOfTheContribOperatorComeInItsOrder) {
  model = {"com.microsoft", "RotaryEmbedding", 1, {}, onnx::WideCache::refuse};
  EXPECT_EQ(node_error(), "[rope] position_ids must be int64, got float32");
  std::swap(values[1], values[3]);
  std::swap(values[2], values[3]);
  values[1].present = false;
  EXPECT_EQ(node_error(), "[rope] position_ids is a required input of RotaryEmbedding, got none");
}

}  // namespace
}  // namespace rope
