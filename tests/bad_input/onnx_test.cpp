// SPDX-License-Identifier: Apache-2.0
//
// Bad input: the ONNX operators. Their own edge, 91 recorded calls with what the text and ONNX
// Runtime say of each, is operators/onnx_edge_calls_test.cpp.
#include "bad_input/bad_input.hpp"
#include "eigen_rope/operators/onnx_node.hpp"

namespace eigen_rope::test::onnx_tests {
namespace {

using onnx::Dims;
using onnx::ElementType;

/// X [1, 2, 3, 8], caches [5, 4], ids [1, 3], all in one stretch of memory so that cells can shift
/// one over another.
struct Call : Memory {
  float* memory = array<float>(400);
  float* x = memory;
  float* y = memory + 100;
  float* cos = memory + 200;
  float* sin = memory + 250;
  float* dy = memory + 300;
  std::int64_t* ids = array<std::int64_t>(4);
  onnx::RotaryEmbedding node;
  onnx::ContribRotaryEmbedding contrib;
  onnx::MRotaryEmbedding multi_axis;
  onnx::Inputs inputs{onnx::tensor(x, {1, 2, 3, 8}), onnx::tensor(cos, {5, 4}),
                      onnx::tensor(sin, {5, 4}), onnx::PositionIds{ids, {1, 3}}};
  onnx::Tensor Y = onnx::tensor(y, {1, 2, 3, 8});
  onnx::ConstTensor dY = onnx::tensor(static_cast<const float*>(dy), {1, 2, 3, 8});
  onnx::Gradients gradients{Y, std::nullopt, std::nullopt};

  Call() {
    for (int i = 0; i < 4; ++i) ids[i] = i;
    multi_axis.mrope_section = {2, 1, 1};
  }
  /// The same call as a node of a model.
  onnx::Node model{"", "RotaryEmbedding", 23, {}, onnx::WideCache::refuse};
  std::vector<onnx::Value> values{{ElementType::float32, x, {1, 2, 3, 8}, true},
                                  {ElementType::float32, cos, {5, 4}, true},
                                  {ElementType::float32, sin, {5, 4}, true},
                                  {ElementType::int64, ids, {1, 3}, true}};

  void run() const { onnx::run(node, inputs, Y); }
  void run_contrib() const { onnx::run(contrib, inputs, Y); }
  void run_multi_axis() const { onnx::run(multi_axis, inputs, Y); }
  void backward() const { onnx::backward(node, inputs, dY, gradients); }
  void run_node() const { onnx::run(model, values, Y); }
  /// An offset instead of ids.
  void offset(std::int64_t first) {
    ids[0] = first;
    remember();
    inputs.position_ids->shape = {};
    run_contrib();
  }
  void id(std::int64_t second) {
    ids[1] = second;
    remember();
    run();
  }
  void no_elements(const Dims& shape, const Dims& cache) {
    inputs = {onnx::tensor(static_cast<const float*>(nullptr), shape),
              onnx::tensor(static_cast<const float*>(nullptr), cache),
              onnx::tensor(static_cast<const float*>(nullptr), cache), std::nullopt};
    Y = onnx::tensor(static_cast<float*>(nullptr), shape);
  }
};

/// Whatever the message is, it must be one short line.
void refuse_shortly(Call& c) {
  const std::string message = refusal_of([&] { c.run_node(); });
  expect_well_formed(message);
  throw Error(message.empty() ? "nothing" : "[rope] one short line");
}

onnx::Tensor nothing(Dims shape) {
  return onnx::tensor(static_cast<float*>(nullptr), std::move(shape));
}

constexpr const char* no_such_operator_of =
    "the operator must be RotaryEmbedding of ai.onnx, or RotaryEmbedding or MRotaryEmbedding of "
    "com.microsoft, got RotaryEmbedding of "
    "org.pytorch";
constexpr const char* no_such_operator =
    "the operator must be RotaryEmbedding of ai.onnx, or RotaryEmbedding or MRotaryEmbedding of "
    "com.microsoft, got MRotaryEmbedding of "
    "ai.onnx";

const Cell<Call> calls[] = {
    {"X", Fault::null,
     [](Call& c) {
       c.inputs.X.data = nullptr;
       c.run();
     },
     "X must have data, got a null pointer"},
    {"cos_cache", Fault::null,
     [](Call& c) {
       c.inputs.cos_cache.data = nullptr;
       c.run();
     },
     "cos_cache must have data, got a null pointer"},
    {"sin_cache", Fault::null,
     [](Call& c) {
       c.inputs.sin_cache.data = nullptr;
       c.run();
     },
     "sin_cache must have data, got a null pointer"},
    {"position_ids", Fault::null,
     [](Call& c) {
       c.inputs.position_ids->data = nullptr;
       c.run();
     },
     "position_ids must have data, got a null pointer"},
    {"Y", Fault::null,
     [](Call& c) {
       c.Y.data = nullptr;
       c.run();
     },
     "Y must have data, got a null pointer"},
    {"Y", Fault::wrong_shape,
     [](Call& c) {
       c.Y.shape = {1, 3, 2, 8};
       c.run();
     },
     "Y must have X's shape [1, 2, 3, 8], got [1, 3, 2, 8]"},
    {"Y", Fault::wrong_rank,
     [](Call& c) {
       c.Y.shape = {1, 2, 24};
       c.run();
     },
     "Y must have X's shape [1, 2, 3, 8], got [1, 2, 24]"},
    {"Y, type", Fault::unknown,
     [](Call& c) {
       c.Y.type = ScalarType::f16;
       c.run();
     },
     "Y must have X's type f32, got f16"},
    {"cos_cache, type", Fault::unknown,
     [](Call& c) {
       c.inputs.cos_cache.type = ScalarType::f64;
       c.run();
     },
     "cos_cache must have X's type f32, got f64"},
    {"sin_cache, type", Fault::unknown,
     [](Call& c) {
       c.inputs.sin_cache.type = ScalarType::bf16;
       c.run();
     },
     "sin_cache must have X's type f32, got bf16"},
    {"X", Fault::wrong_rank,
     [](Call& c) {
       c.inputs.X.shape = {3, 8};
       c.run();
     },
     "X must have rank 3 or 4, got [3, 8]"},
    {"X, head size", Fault::odd,
     [](Call& c) {
       c.inputs.X.shape = c.Y.shape = {1, 2, 3, 7};
       c.run();
     },
     "the head size must be even, got 7",
     "peer: ONNX Runtime, an odd head size leaves one element a head unwritten"},
    {"X, head size", Fault::zero,
     [](Call& c) {
       c.inputs.X.shape = c.Y.shape = {1, 2, 3, 0};
       c.run();
     },
     "the head size must be positive, got 0"},
    {"X, extents", Fault::negative,
     [](Call& c) {
       c.inputs.X.shape = {1, 2, -3, 8};
       c.run();
     },
     "X must not have negative extents, got [1, 2, -3, 8]"},
    {"cos_cache, extents", Fault::negative,
     [](Call& c) {
       c.inputs.cos_cache.shape = {-5, -4};
       c.run();
     },
     "cos_cache must not have negative extents, got [-5, -4]"},
    {"X, extents", Fault::huge,
     [](Call& c) {
       c.inputs.X.shape = {two_to_40, 2, two_to_40, 8};
       c.run();
     },
     "X must have at most 2^56 elements, got [1099511627776, 2, 1099511627776, 8]"},
    {"X, extents of no elements", Fault::huge,
     [](Call& c) {
       c.inputs.X.shape = {0, 2, two_to_40, two_to_40};
       c.run();
     },
     "X must have at most 2^56 elements, got [0, 2, 1099511627776, 1099511627776]"},
    {"X, extents", Fault::huge,
     [](Call& c) {
       c.inputs.X.shape = {int64_max, 2, 3, 8};
       c.run();
     },
     "X must have at most 2^56 elements, got [9223372036854775807, 2, 3, 8]"},
    {"X, elements that wrap to 0", Fault::huge,
     [](Call& c) {
       c.inputs.X.shape = {two_to_62, 2, 2, 8};
       c.run();
     },
     "X must have at most 2^56 elements, got [4611686018427387904, 2, 2, 8]"},
    {"cos_cache, extents", Fault::huge,
     [](Call& c) {
       c.inputs.cos_cache.shape = {two_to_40, two_to_40};
       c.run();
     },
     "cos_cache must have at most 2^56 elements, got [1099511627776, 1099511627776]"},
    {"X without elements", Fault::huge,
     [](Call& c) {
       c.no_elements({1, 0, Index{1} << 48, 8}, {1, Index{1} << 48, 4});
       c.run();
     },
     nullptr, "there is nothing to read"},
    {"X without elements of 2^40 columns in turn", Fault::huge,
     [](Call& c) {
       c.no_elements({0, 2, 3, 2 * two_to_40}, {0, two_to_40});
       c.multi_axis.mrope_section = {two_to_40 / 2, two_to_40 / 4, two_to_40 / 4};
       c.multi_axis.mrope_layout = 1;
       c.inputs.position_ids = onnx::PositionIds{nullptr, {3, 0, 3}};
       c.run_multi_axis();
     },
     nullptr, "there is nothing to read, and it takes no time"},
    {"Y and X", Fault::overlapping,
     [](Call& c) {
       c.Y.data = c.x + 1;
       c.run();
     },
     "Y must be X's own data or not overlap it (distance in bytes), got 4"},
    {"Y and X", Fault::aliasing,
     [](Call& c) {
       c.Y.data = c.x;
       c.run();
     },
     nullptr, "the same data: in place"},
    {"Y and cos_cache", Fault::overlapping,
     [](Call& c) {
       c.Y.data = c.cos - 47;
       c.run();
     },
     "Y must not overlap cos_cache (distance in bytes), got -188"},
    {"Y and sin_cache", Fault::overlapping,
     [](Call& c) {
       c.Y.data = c.sin + 19;
       c.run();
     },
     "Y must not overlap sin_cache (distance in bytes), got 76"},
    {"Y and position_ids", Fault::aliasing,
     [](Call& c) {
       c.Y.data = c.ids;
       c.run();
     },
     "Y must not overlap position_ids (distance in bytes), got 0"},
    {"position_ids", Fault::too_large, [](Call& c) { c.id(5); },
     "position_ids must be at least 0 and below the caches' 5 rows, got 5 at index 1",
     "peer: ONNX Runtime, ids out of range return the input unrotated on some providers"},
    {"position_ids", Fault::negative, [](Call& c) { c.id(-1); },
     "position_ids must be at least 0 and below the caches' 5 rows, got -1 at index 1",
     "peer: numpy's reading wraps negative ids round"},
    {"position_ids", Fault::huge, [](Call& c) { c.id(two_to_62); },
     "position_ids must be at least 0 and below the caches' 5 rows, got 4611686018427387904 at "
     "index 1"},
    {"position_ids", Fault::huge, [](Call& c) { c.id(int64_min); },
     "position_ids must be at least 0 and below the caches' 5 rows, got -9223372036854775808 at "
     "index 1"},
    {"position_ids", Fault::wrong_shape,
     [](Call& c) {
       c.inputs.position_ids->shape = {3, 1};
       c.run();
     },
     "position_ids must be [1, 3] (batch, sequence), got [3, 1]"},
    {"position_ids, shape that wraps to 3", Fault::huge,
     [](Call& c) {
       c.inputs.position_ids->shape = {two_to_62, 4, 3};
       c.run();
     },
     "position_ids must be [1, 3] (batch, sequence), got [4611686018427387904, 4, 3]"},
    {"a sequence longer than the cache whose ids are in range", Fault::too_large,
     [](Call& c) {
       c.inputs.cos_cache.shape = c.inputs.sin_cache.shape = {2, 4};
       c.ids[2] = 1;
       c.run();
     },
     nullptr, "peer: ONNX Runtime refuses it although every id is in range"},
    {"interleaved", Fault::unknown,
     [](Call& c) {
       c.node.interleaved = 2;
       c.run();
     },
     "interleaved must be 0 or 1, got 2"},
    {"interleaved", Fault::negative,
     [](Call& c) {
       c.node.interleaved = -1;
       c.run();
     },
     "interleaved must be 0 or 1, got -1"},
    {"num_heads", Fault::negative,
     [](Call& c) {
       c.node.num_heads = -1;
       c.run();
     },
     "num_heads must not be negative, got -1"},
    {"num_heads", Fault::wrong_length,
     [](Call& c) {
       c.node.num_heads = 3;
       c.run();
     },
     "num_heads must be X's 2 or not set, got 3"},
    {"num_heads of X of rank 3", Fault::missing,
     [](Call& c) {
       c.inputs.X.shape = c.Y.shape = {1, 3, 16};
       c.run();
     },
     "num_heads must be set for X of rank 3, got 0"},
    {"num_heads of X of rank 3", Fault::huge,
     [](Call& c) {
       c.inputs.X.shape = c.Y.shape = {1, 3, 16};
       c.node.num_heads = two_to_62;
       c.run();
     },
     "num_heads must divide the last extent 16 of X, got 4611686018427387904"},
    {"rotary_embedding_dim", Fault::odd,
     [](Call& c) {
       c.node.rotary_embedding_dim = 3;
       c.run();
     },
     "rotary_embedding_dim must be even, got 3",
     "peer: ONNX Runtime, an odd rotary dimension leaves one element a head unwritten"},
    {"rotary_embedding_dim", Fault::negative,
     [](Call& c) {
       c.node.rotary_embedding_dim = -2;
       c.run();
     },
     "rotary_embedding_dim must not be negative, got -2"},
    {"rotary_embedding_dim", Fault::too_large,
     [](Call& c) {
       c.node.rotary_embedding_dim = 10;
       c.run();
     },
     "rotary_embedding_dim must be at most the head size 8, got 10"},
    {"rotary_embedding_dim", Fault::huge,
     [](Call& c) {
       c.node.rotary_embedding_dim = two_to_62;
       c.run();
     },
     "rotary_embedding_dim must be at most the head size 8, got 4611686018427387904"},
    {"cos_cache, columns", Fault::too_large,
     [](Call& c) {
       c.node.rotary_embedding_dim = 4;
       c.run();
     },
     "cos_cache must have 2 columns (rotary dims / 2), got 4"},
    {"cos_cache of com.microsoft, columns of a whole head", Fault::too_large,
     [](Call& c) {
       c.contrib.rotary_embedding_dim = 4;
       c.contrib.num_heads = 2;
       c.run_contrib();
     },
     nullptr, "peer: ONNX Runtime reads wrong angles silently; here the first columns count"},
    {"scale", Fault::infinite,
     [](Call& c) {
       c.contrib.scale = infinity;
       c.run_contrib();
     },
     "scale must be finite, got inf"},
    {"scale", Fault::nan,
     [](Call& c) {
       c.multi_axis.scale = nan;
       c.run_multi_axis();
     },
     "scale must be finite, got nan"},
    {"scale", Fault::too_large,
     [](Call& c) {
       c.contrib.scale = 2;
       c.run_contrib();
     },
     nullptr, "peer: ONNX Runtime ignores scale"},
    {"is_packed_batching", Fault::unknown,
     [](Call& c) {
       c.contrib.is_packed_batching = 2;
       c.run_contrib();
     },
     "is_packed_batching must be 0 or 1, got 2"},
    {"position_ids of com.microsoft", Fault::missing,
     [](Call& c) {
       c.inputs.position_ids.reset();
       c.run_contrib();
     },
     "position_ids is required, got none"},
    {"position_ids of three axes", Fault::missing,
     [](Call& c) {
       c.inputs.position_ids.reset();
       c.run_multi_axis();
     },
     "position_ids is required, got none"},
    {"offset", Fault::huge, [](Call& c) { c.offset(int64_max); },
     "position_ids must leave the sequence's 3 positions within the caches' 5 rows, got "
     "9223372036854775807"},
    {"offset", Fault::negative, [](Call& c) { c.offset(-1); },
     "position_ids must leave the sequence's 3 positions within the caches' 5 rows, got -1"},
    {"offset", Fault::too_large, [](Call& c) { c.offset(3); },
     "position_ids must leave the sequence's 3 positions within the caches' 5 rows, got 3"},
    {"mrope_section", Fault::huge,
     [](Call& c) {
       c.multi_axis.mrope_section = {int64_max, int64_max, 6};
       c.run_multi_axis();
     },
     "mrope_section must add up to 4 (rotary dims / 2), got [9223372036854775807, "
     "9223372036854775807, 6]"},
    {"mrope_section", Fault::negative,
     [](Call& c) {
       c.multi_axis.mrope_section = {-1, 3, 2};
       c.run_multi_axis();
     },
     "mrope_section must not have negative lengths, got [-1, 3, 2]"},
    {"mrope_section", Fault::wrong_length,
     [](Call& c) {
       c.multi_axis.mrope_section = {2, 2};
       c.run_multi_axis();
     },
     "mrope_section must have 3 lengths, got [2, 2]"},
    {"mrope_layout", Fault::unknown,
     [](Call& c) {
       c.multi_axis.mrope_layout = 2;
       c.run_multi_axis();
     },
     "mrope_layout must be 0 or 1, got 2"},
};

const Cell<Call> gradients[] = {
    {"dY", Fault::wrong_rank,
     [](Call& c) {
       c.dY.shape = {1, 2, 24};
       c.backward();
     },
     "dY must have X's shape [1, 2, 3, 8], got [1, 2, 24]"},
    {"dY, type", Fault::unknown,
     [](Call& c) {
       c.dY.type = ScalarType::f64;
       c.backward();
     },
     "dY must have X's type f32, got f64"},
    {"dY", Fault::null,
     [](Call& c) {
       c.dY.data = nullptr;
       c.backward();
     },
     "dY must have data, got a null pointer"},
    {"dX", Fault::wrong_shape,
     [](Call& c) {
       c.gradients.dX->shape = {1, 2, 8, 3};
       c.backward();
     },
     "dX must have X's shape [1, 2, 3, 8], got [1, 2, 8, 3]"},
    {"dX", Fault::null,
     [](Call& c) {
       c.gradients.dX->data = nullptr;
       c.backward();
     },
     "dX must have data, got a null pointer"},
    {"dcos_cache", Fault::wrong_shape,
     [](Call& c) {
       c.gradients.dcos_cache = onnx::tensor(c.y + 50, {4, 5});
       c.backward();
     },
     "dcos_cache must have cos_cache's shape [5, 4], got [4, 5]"},
    {"dsin_cache, type", Fault::unknown,
     [](Call& c) {
       c.gradients.dsin_cache = onnx::Tensor{ScalarType::bf16, c.y + 50, {5, 4}};
       c.backward();
     },
     "dsin_cache must have sin_cache's type f32, got bf16"},
    {"dsin_cache", Fault::null,
     [](Call& c) {
       c.gradients.dsin_cache = nothing({5, 4});
       c.backward();
     },
     "dsin_cache must have data, got a null pointer"},
    {"cos_cache", Fault::null,
     [](Call& c) {
       c.inputs.cos_cache.data = nullptr;
       c.backward();
     },
     "cos_cache must have data, got a null pointer"},
    {"X, for the caches' gradients", Fault::null,
     [](Call& c) {
       c.inputs.X.data = nullptr;
       c.gradients.dcos_cache = onnx::tensor(c.y + 50, {5, 4});
       c.backward();
     },
     "X must have data, got a null pointer"},
    {"X, for dX alone", Fault::null,
     [](Call& c) {
       c.inputs.X.data = nullptr;
       c.backward();
     },
     nullptr, "it is not read"},
    {"dX and dY", Fault::overlapping,
     [](Call& c) {
       c.gradients.dX->data = c.dy + 1;
       c.backward();
     },
     "dX must be dY's own data or not overlap it (distance in bytes), got 4"},
    {"dX and dY", Fault::aliasing,
     [](Call& c) {
       c.gradients.dX->data = c.dy;
       c.backward();
     },
     nullptr, "the same data: in place"},
    {"dX and X", Fault::aliasing,
     [](Call& c) {
       c.gradients.dX->data = c.x;
       c.backward();
     },
     "dX must not overlap X (distance in bytes), got 0"},
    {"dX and cos_cache", Fault::aliasing,
     [](Call& c) {
       c.gradients.dX->data = c.cos;
       c.backward();
     },
     "dX must not overlap cos_cache (distance in bytes), got 0"},
    {"dcos_cache and dY", Fault::aliasing,
     [](Call& c) {
       c.gradients.dcos_cache = onnx::tensor(c.dy, {5, 4});
       c.backward();
     },
     "dcos_cache must not overlap dY (distance in bytes), got 0"},
    {"dcos_cache and dX", Fault::overlapping,
     [](Call& c) {
       c.gradients.dcos_cache = onnx::tensor(c.y + 2, {5, 4});
       c.backward();
     },
     "dcos_cache must not overlap dX (distance in bytes), got 8"},
    {"dsin_cache and dcos_cache", Fault::overlapping,
     [](Call& c) {
       c.gradients = {std::nullopt, onnx::tensor(c.y, {5, 4}), onnx::tensor(c.y + 3, {5, 4})};
       c.backward();
     },
     "dsin_cache must not overlap dcos_cache (distance in bytes), got 12"},
};

const Cell<Call> nodes[] = {
    {"op_type", Fault::unknown,
     [](Call& c) {
       c.model.op_type = "MRotaryEmbedding";
       c.run_node();
     },
     no_such_operator},
    {"domain", Fault::unknown,
     [](Call& c) {
       c.model.domain = "org.pytorch";
       c.run_node();
     },
     no_such_operator_of},
    {"domain", Fault::huge,
     [](Call& c) {
       c.model.domain = std::string(1 << 20, 'a') + '\n';
       refuse_shortly(c);
     },
     "one short line"},
    {"opset of ai.onnx", Fault::too_small,
     [](Call& c) {
       c.model.opset = 22;
       c.run_node();
     },
     "opset of ai.onnx must be at least 23, got 22"},
    {"opset of com.microsoft", Fault::too_large,
     [](Call& c) {
       c.model.domain = "com.microsoft";
       c.run_node();
     },
     "opset of com.microsoft must be 1, got 23"},
    {"num_heads", Fault::unknown,
     [](Call& c) {
       c.model.attributes["num_heads"] = 2.0;
       c.run_node();
     },
     "attribute num_heads must be an integer, got a float"},
    {"num_heads", Fault::unknown,
     [](Call& c) {
       c.model.attributes["num_heads"] = Dims{2};
       c.run_node();
     },
     "attribute num_heads must be an integer, got a list of integers"},
    {"attributes", Fault::unknown,
     [](Call& c) {
       c.model.attributes = {{"theta", 10000.0}};
       c.run_node();
     },
     "attributes of RotaryEmbedding must be among interleaved, num_heads, rotary_embedding_dim, "
     "got theta"},
    {"scale", Fault::unknown,
     [](Call& c) {
       c.model = {"com.microsoft",
                  "RotaryEmbedding",
                  1,
                  {{"scale", std::int64_t{2}}},
                  onnx::WideCache::refuse};
       c.run_node();
     },
     "attribute scale must be a float, got an integer"},
    {"attributes of com.microsoft", Fault::unknown,
     [](Call& c) {
       c.model = {"com.microsoft",
                  "RotaryEmbedding",
                  1,
                  {{"mrope_layout", std::int64_t{1}}},
                  onnx::WideCache::refuse};
       c.run_node();
     },
     "attributes of RotaryEmbedding must be among interleaved, is_packed_batching, num_heads, "
     "rotary_embedding_dim, scale, got mrope_layout"},
    {"mrope_section", Fault::unknown,
     [](Call& c) {
       c.model = {"com.microsoft",
                  "MRotaryEmbedding",
                  1,
                  {{"mrope_section", std::int64_t{4}}},
                  onnx::WideCache::refuse};
       c.run_node();
     },
     "attribute mrope_section must be a list of integers, got an integer"},
    {"mrope_section", Fault::missing,
     [](Call& c) {
       c.model = {"com.microsoft", "MRotaryEmbedding", 1, {}, onnx::WideCache::refuse};
       c.run_node();
     },
     "attribute mrope_section is required, got none"},
    {"inputs", Fault::missing,
     [](Call& c) {
       c.values.resize(2);
       c.run_node();
     },
     "sin_cache is a required input of RotaryEmbedding, got none"},
    {"cos_cache", Fault::missing,
     [](Call& c) {
       c.values[1].present = false;
       c.run_node();
     },
     "cos_cache is a required input of RotaryEmbedding, got none"},
    {"inputs", Fault::wrong_length,
     [](Call& c) {
       c.values.push_back(c.values[1]);
       c.run_node();
     },
     "RotaryEmbedding must have at most 4 inputs, got 5"},
    {"X, type", Fault::unknown,
     [](Call& c) {
       c.values[0].type = ElementType::int32;
       c.run_node();
     },
     "X must be float32, float16, bfloat16 or float64, got int32"},
    {"position_ids, type", Fault::unknown,
     [](Call& c) {
       c.values[3].type = ElementType::int32;
       c.run_node();
     },
     "position_ids must be int64, got int32"},
    {"position_ids, type", Fault::unknown,
     [](Call& c) {
       c.values[3].type = ElementType::float32;
       c.run_node();
     },
     "position_ids must be int64, got float32"},
    {"inputs of com.microsoft in the order of ai.onnx", Fault::unknown,
     [](Call& c) {
       c.model = {"com.microsoft", "RotaryEmbedding", 1, {}, onnx::WideCache::refuse};
       c.run_node();
     },
     "position_ids must be int64, got float32"},
    {"position_ids of com.microsoft", Fault::missing,
     [](Call& c) {
       c.model = {"com.microsoft", "RotaryEmbedding", 1, {}, onnx::WideCache::refuse};
       c.values = {
           c.values[0], {ElementType::int64, c.ids, {1, 3}, false}, c.values[1], c.values[2]};
       c.run_node();
     },
     "position_ids is a required input of RotaryEmbedding, got none"},
};

const Area calls_area("ONNX's operators", calls);
const Area gradients_area("gradients of ONNX's operators", gradients);
const Area nodes_area("ONNX's nodes", nodes);
TEST(BadInput, Onnx) { expect_refusals(calls); }
TEST(BadInput, OnnxGradients) { expect_refusals(gradients); }
TEST(BadInput, OnnxNodes) { expect_refusals(nodes); }

}  // namespace
}  // namespace eigen_rope::test::onnx_tests
