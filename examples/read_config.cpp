// SPDX-License-Identifier: Apache-2.0
//
// What a model's config.json says about its rotation, and rotating queries with it:
//
//   read_config [config.json]        without a file: Llama 3.1 8B's parameters
#include <fmt/core.h>

#include <cmath>
#include <eigen_rope/tables/cache.hpp>
#include <eigen_rope/models/hugging_face.hpp>
#include <eigen_rope/rotation/rotate.hpp>

namespace {

constexpr const char* llama_3_1 = R"({
  "model_type": "llama", "head_dim": 128, "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 32,
  "max_position_embeddings": 131072, "rope_theta": 500000.0,
  "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                   "original_max_position_embeddings": 8192}
})";

const char* name_of(eigen_rope::PairKind kind) {
  switch (kind) {
    case eigen_rope::PairKind::half: return "half";
    case eigen_rope::PairKind::interleaved: return "interleaved";
    case eigen_rope::PairKind::quarter: return "quarter";
    case eigen_rope::PairKind::interleaved_to_half: return "interleaved to half";
  }
  return "";
}

void print(const eigen_rope::models::LayerRope& layer, const eigen_rope::Frequencies& frequencies) {
  fmt::print("{}: {} of {} dims, base {}, {}, pairs {}\n", layer.layer_type.empty() ? "all layers" : layer.layer_type,
             layer.powers.rotary_dims, layer.head_dims, layer.powers.base, eigen_rope::scaling_name(layer.scaling),
             layer.pairing ? name_of(layer.pairing->kind()) : "not known");
  fmt::print("  rates from {:.6g} to {:.6g} radians a token, magnitude {:.6g}, softmax multiplier {:.6g}\n",
             static_cast<double>(frequencies.rates().front()), static_cast<double>(frequencies.rates().back()),
             static_cast<double>(frequencies.attention_factor()), layer.softmax_multiplier);
  if (layer.sections) fmt::print("  {} positions a token\n", layer.sections->axes());
}

// Whether rotated queries have m times their length.
bool rotates(const eigen_rope::models::LayerRope& layer, const eigen_rope::Frequencies& frequencies) {
  constexpr int heads = 2;
  constexpr int tokens = 16;
  constexpr float tolerance = 1e-4F;
  Eigen::Tensor<float, 3> q(layer.head_dims, heads, tokens);
  q.setRandom();
  const eigen_rope::Positions positions = eigen_rope::Positions::range(100, tokens);
  const eigen_rope::CosSinCache<float> cache(frequencies, positions);
  const eigen_rope::Pairing pairing = layer.pairing.value_or(eigen_rope::half.with_rotary_dims(layer.powers.rotary_dims));
  const Eigen::Tensor<float, 3> y = eigen_rope::rotate(q, cache, pairing);
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
    const eigen_rope::models::ModelRope model = argc > 1 ? eigen_rope::models::read_hugging_face(argv[1]) : eigen_rope::models::parse_hugging_face(llama_3_1);
    fmt::print("{}: {} layers, {} query and {} key heads, context {}\n", model.architecture, model.layer_count, model.heads,
               model.key_heads, model.context);
    bool right = true;
    for (const eigen_rope::models::LayerRope& layer : model.layers) {
      const eigen_rope::Frequencies frequencies = layer.frequencies(model.context);
      print(layer, frequencies);
      right = right && rotates(layer, frequencies);
    }
    for (const std::string& warning : model.warnings) fmt::print("warning: {}\n", warning);
    return right ? 0 : 1;
  } catch (const eigen_rope::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
