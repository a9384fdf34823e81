// SPDX-License-Identifier: Apache-2.0
//
// What a model's config.json says about its rotation, and rotating queries with it:
//
//   read_config [config.json]        without a file: Llama 3.1 8B's parameters
#include <fmt/core.h>

#include <cmath>
#include <eigen_rope/models/hugging_face.hpp>
#include <eigen_rope/rotation/rotate.hpp>
#include <eigen_rope/tables/cache.hpp>

namespace er = eigen_rope;

namespace {

constexpr const char* llama_3_1 = R"({
  "model_type": "llama", "head_dim": 128, "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 32,
  "max_position_embeddings": 131072, "rope_theta": 500000.0,
  "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                   "original_max_position_embeddings": 8192}
})";

void print(const er::models::LayerRope& layer, const er::Frequencies& frequencies) {
  fmt::print("{}: {} of {} dims, base {}, {}, pairs {}\n",
             layer.layer_type.empty() ? "all layers" : layer.layer_type, layer.powers.rotary_dims,
             layer.head_dims, layer.powers.base, er::scaling_name(layer.scaling),
             layer.pairing ? er::name_of(layer.pairing->kind()) : "not known");
  fmt::print(
      "  rates from {:.6g} to {:.6g} radians a token, magnitude {:.6g}, softmax multiplier "
      "{:.6g}\n",
      static_cast<double>(frequencies.rates().front()),
      static_cast<double>(frequencies.rates().back()),
      static_cast<double>(frequencies.attention_factor()), layer.softmax_multiplier);
  if (layer.sections) fmt::print("  {} positions a token\n", layer.sections->axes());
}

// Whether rotated queries have m times their length.
bool rotates(const er::models::LayerRope& layer, const er::Frequencies& frequencies) {
  constexpr int heads = 2;
  constexpr int tokens = 16;
  constexpr float tolerance = 1e-4F;
  Eigen::Tensor<float, 3> q(layer.head_dims, heads, tokens);
  q.setRandom();
  const er::Positions positions = er::Positions::range(100, tokens);
  const er::Cache<float> cache(frequencies, positions);
  const er::Pairing pairing =
      layer.pairing.value_or(er::split_half.with_rotary_dims(layer.powers.rotary_dims));
  const Eigen::Tensor<float, 3> y = er::rotate(q, cache, pairing);
  const Eigen::array<Eigen::Index, 3> start{0, 0, 0};
  const Eigen::array<Eigen::Index, 3> window{layer.powers.rotary_dims, heads, tokens};
  const Eigen::Tensor<float, 0> before = q.slice(start, window).square().sum();
  const Eigen::Tensor<float, 0> after = y.slice(start, window).square().sum();
  const auto m = static_cast<float>(static_cast<double>(frequencies.attention_factor()));
  return std::abs(after() - m * m * before()) <= tolerance * after();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const er::models::ModelRope model = argc > 1 ? er::models::read_hugging_face(argv[1])
                                                 : er::models::parse_hugging_face(llama_3_1);
    fmt::print("{}: {} layers, {} query and {} key heads, context {}\n", model.architecture,
               model.layer_count, model.heads, model.key_heads, model.context);
    bool right = true;
    for (const er::models::LayerRope& layer : model.layers) {
      const er::Frequencies frequencies = layer.frequencies(model.context);
      print(layer, frequencies);
      right = right && rotates(layer, frequencies);
    }
    for (const std::string& warning : model.warnings) fmt::print("warning: {}\n", warning);
    return right ? 0 : 1;
  } catch (const er::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
