// SPDX-License-Identifier: Apache-2.0
//
// A model whose layers rotate in two ways, as Gemma 3: five layers that look back over a sliding
// window, with base 10000, then one that sees everything, with base 1000000 and all rates divided
// by 8. Each kind has frequencies and a growing table of its own; layers of a kind share both.
#include <fmt/core.h>

#include <eigen_rope/eigen_rope.hpp>
#include <eigen_rope/models/model_rope.hpp>

namespace er = eigen_rope;

namespace {

constexpr int D = 256, heads = 4, layers = 12, steps = 300;

er::models::ModelRope gemma3() {
  er::models::ModelRope model;
  model.architecture = "gemma3_text";
  model.layers.resize(2);
  er::models::LayerRope& sliding = model.layers[0];
  sliding.layer_type = "sliding_attention";
  sliding.head_dims = D;
  sliding.powers = {D, 10000.0};
  er::models::LayerRope& full = model.layers[1];
  full.layer_type = "full_attention";
  full.head_dims = D;
  full.powers = {D, 1000000.0};
  full.scaling = er::Linear{8.0};
  for (er::Index layer = 0; layer < layers; ++layer)
    (layer % 6 == 5 ? full : sliding).layers.push_back(layer);
  return model;
}

using Token = Eigen::Tensor<float, 3>;  // [D, heads, 1]

}  // namespace

int main() {
  const er::models::ModelRope model = gemma3();
  const er::models::LayerRope& sliding = model.layers[0];
  const er::models::LayerRope& full = model.layers[1];
  const er::GrowingCache<float> sliding_table(sliding.frequencies());
  const er::GrowingCache<float> full_table(full.frequencies());
  for (const er::models::LayerRope& kind : model.layers) {
    const er::Frequencies f = kind.frequencies();
    fmt::print("{:<18} {:>2} layers, fastest pair {:.4g}, slowest {:.4g} radians per token\n",
               kind.layer_type, kind.layers.size(), static_cast<double>(f.rates().front()),
               static_cast<double>(f.rates().back()));
  }

  Token q(D, heads, 1), sliding_q(D, heads, 1), full_q(D, heads, 1);
  q.setRandom();
  for (int position = 0; position < steps; ++position) {
    for (std::size_t layer = 0; layer < layers; ++layer) {
      const bool sees_everything = layer % 6 == 5;
      Token& own = sees_everything ? full_q : sliding_q;
      own = er::rotate(q, (sees_everything ? full_table : sliding_table).rows(position, 1),
                       er::split_half);
    }
  }

  // What the two tables hold is what each kind's own frequencies give, and nothing of the other's.
  const auto alone = [&](const er::Frequencies& frequencies) {
    Token result = er::rotate(q, er::Cache<float>(frequencies, er::Positions::range(steps - 1, 1)),
                              er::split_half);
    return result;
  };
  const auto same = [](const Token& a, const Token& b) {
    const Eigen::Tensor<bool, 0> result = (a == b).all();
    return result();
  };
  const bool own = same(sliding_q, alone(er::Frequencies::powers({D, 1e4}))) &&
                   same(full_q, alone(er::Frequencies({D, 1e6}, er::Linear{8.0})));
  const bool apart =
      sliding_table.rows(0, 1).cos != full_table.rows(0, 1).cos && !same(sliding_q, full_q);
  fmt::print("tables of {} and {} tokens, each its own: {}\n", sliding_table.tokens(),
             full_table.tokens(), own && apart);
  return own && apart ? 0 : 1;
}
