// SPDX-License-Identifier: Apache-2.0
//
// One call of each operator family, and the same written with the library's own pieces: the answers
// are equal to the last bit. docs/operators.md shows these functions.
#include <fmt/core.h>

#include <eigen_rope/eigen_rope.hpp>
#include <eigen_rope/operators/aclnn.hpp>
#include <eigen_rope/operators/ggml.hpp>
#include <eigen_rope/operators/onnx.hpp>
#include <vector>

namespace er = eigen_rope;

using Tensor = Eigen::Tensor<float, 4>;
using RowMajorTensor = Eigen::Tensor<float, 4, Eigen::RowMajor>;

// A ggml node: YaRN over a window of 32 of 80 dims, neox pairs, one position per token.
Tensor ggml_call(const Tensor& a, const std::vector<std::int32_t>& positions) {
  er::ggml::RopeParams params;
  params.n_dims = 32;
  params.mode = er::ggml::mode_neox;
  params.n_ctx_orig = 4096;
  params.freq_base = 500000.0F;
  params.freq_scale = 0.25F;
  params.ext_factor = 1.0F;
  params.beta_fast = 32.0F;
  params.beta_slow = 1.0F;
  Tensor y(a.dimensions());
  const er::ggml::Extents ne{a.dimension(0), a.dimension(1), a.dimension(2), a.dimension(3)};
  er::ggml::rope_ext(er::ggml::dense(y.data(), ne), er::ggml::dense(a.data(), ne), positions,
                     params);
  return y;
}

Tensor ggml_as_core(const Tensor& a, const std::vector<std::int32_t>& positions) {
  er::Powers powers;
  powers.rotary_dims = 32;       // n_dims
  powers.base = 500000.0;        // freq_base
  powers.linear_scale = 0.25;    // freq_scale
  er::GgmlYarn yarn;             // ext_factor 1, beta_fast 32, beta_slow 1
  yarn.original_context = 4096;  // n_ctx_orig
  const er::Cache<float> cache(er::Frequencies(powers, yarn), er::Positions::ids(positions));
  return er::rotate(a, cache, er::split_half.with_rotary_dims(32));
}

// An ONNX node: X [batch, heads, sequence, head], caches [rows, head/2] gathered by position_ids
// [batch, sequence], interleaved = 1.
RowMajorTensor onnx_node(const RowMajorTensor& x, const std::vector<float>& cos_cache,
                         const std::vector<float>& sin_cache,
                         const std::vector<std::int64_t>& position_ids) {
  const std::int64_t width = x.dimension(3) / 2;
  const std::int64_t rows = static_cast<std::int64_t>(cos_cache.size()) / width;
  const er::onnx::Dims shape{x.dimension(0), x.dimension(1), x.dimension(2), x.dimension(3)};
  RowMajorTensor y(x.dimensions());
  er::onnx::RotaryEmbedding node;
  node.interleaved = 1;
  er::onnx::Inputs inputs;
  inputs.X = er::onnx::tensor(x.data(), shape);
  inputs.cos_cache = er::onnx::tensor(cos_cache.data(), {rows, width});
  inputs.sin_cache = er::onnx::tensor(sin_cache.data(), {rows, width});
  inputs.position_ids =
      er::onnx::PositionIds{position_ids.data(), {x.dimension(0), x.dimension(2)}};
  er::onnx::run(node, inputs, er::onnx::tensor(y.data(), shape));
  return y;
}

RowMajorTensor onnx_as_core(const RowMajorTensor& x, const std::vector<float>& cos_cache,
                            const std::vector<float>& sin_cache,
                            const std::vector<std::int64_t>& position_ids) {
  const Eigen::Index batch = x.dimension(0), sequence = x.dimension(2), width = x.dimension(3) / 2;
  RowMajorTensor cos(batch, 1, sequence, width),
      sin(batch, 1, sequence, width);  // 1: the same for every head
  for (Eigen::Index b = 0; b < batch; ++b) {
    for (Eigen::Index s = 0; s < sequence; ++s) {
      const auto row =
          static_cast<Eigen::Index>(position_ids[static_cast<std::size_t>(b * sequence + s)]);
      for (Eigen::Index k = 0; k < width; ++k) {
        cos(b, 0, s, k) = cos_cache[static_cast<std::size_t>(row * width + k)];
        sin(b, 0, s, k) = sin_cache[static_cast<std::size_t>(row * width + k)];
      }
    }
  }
  return er::rotate(x, er::table_of(cos, sin), er::interleaved);
}

// An aclnn call: x in BSND, cos and sin [1, S, 1, D] as wide as x, mode 3 (interleave-half), and
// its gradient.
struct AclnnResult {
  RowMajorTensor y, dx, dcos, dsin;
};

AclnnResult aclnn_call(const RowMajorTensor& x, const RowMajorTensor& cos,
                       const RowMajorTensor& sin, const RowMajorTensor& dy) {
  const auto dims = [](const RowMajorTensor& t) {
    return er::aclnn::Dims{t.dimension(0), t.dimension(1), t.dimension(2), t.dimension(3)};
  };
  const auto in = [&](const RowMajorTensor& t) { return er::aclnn::tensor(t.data(), dims(t)); };
  const auto out = [&](RowMajorTensor& t) { return er::aclnn::tensor(t.data(), dims(t)); };
  AclnnResult result{RowMajorTensor(x.dimensions()), RowMajorTensor(x.dimensions()),
                     RowMajorTensor(cos.dimensions()), RowMajorTensor(cos.dimensions())};
  const auto mode = er::aclnn::Mode::interleave_half;
  er::aclnn::rotary_position_embedding(out(result.y), {in(x), in(cos), in(sin)}, mode);
  er::aclnn::rotary_position_embedding_grad({out(result.dx), out(result.dcos), out(result.dsin)},
                                            {in(dy), in(cos), in(sin), in(x)}, mode);
  return result;
}

AclnnResult aclnn_as_core(const RowMajorTensor& x, const RowMajorTensor& cos,
                          const RowMajorTensor& sin, const RowMajorTensor& dy) {
  const auto table = er::table_of(cos, sin);
  AclnnResult result{er::rotate(x, table, er::interleaved_to_split_half),
                     er::rotate_backward(dy, table, er::interleaved_to_split_half),
                     RowMajorTensor(cos.dimensions()), RowMajorTensor(cos.dimensions())};
  const er::Index D = x.dimension(3), S = x.dimension(1);
  er::table_gradient(er::TableGradient<float>{result.dcos.data(), result.dsin.data(), D, {1, S, 1}},
                     x, dy, er::interleaved_to_split_half);
  return result;
}

template <class A, class B>
bool equal(const A& a, const B& b) {
  const Eigen::Tensor<bool, 0, A::Layout> same = (a == b).all();
  return same();
}

int main() {
  Tensor a(80, 4, 3, 1);
  a.setRandom();
  const bool ggml = equal(ggml_call(a, {4095, 7, 100000}), ggml_as_core(a, {4095, 7, 100000}));

  RowMajorTensor x(2, 4, 3, 8), cos(1, 4, 1, 8), sin(1, 4, 1, 8), dy(2, 4, 3, 8);
  x.setRandom();
  cos.setRandom();
  sin.setRandom();
  dy.setRandom();
  const er::Cache<float> rows(er::Frequencies::powers({8}), er::Positions::range(0, 50));
  const std::vector<float> cos_cache(rows.cos(), rows.cos() + 50 * 4),
      sin_cache(rows.sin(), rows.sin() + 50 * 4);
  const std::vector<std::int64_t> ids{0, 9, 49, 3, 3, 1};
  const bool onnx =
      equal(onnx_node(x, cos_cache, sin_cache, ids), onnx_as_core(x, cos_cache, sin_cache, ids));

  const AclnnResult call = aclnn_call(x, cos, sin, dy);
  const AclnnResult core = aclnn_as_core(x, cos, sin, dy);
  const bool aclnn = equal(call.y, core.y) && equal(call.dx, core.dx) &&
                     equal(call.dcos, core.dcos) && equal(call.dsin, core.dsin);

  fmt::print("ggml {}, ONNX {}, aclnn {}\n", ggml ? "equal" : "DIFFERENT",
             onnx ? "equal" : "DIFFERENT", aclnn ? "equal" : "DIFFERENT");
  return ggml && onnx && aclnn ? 0 : 1;
}
