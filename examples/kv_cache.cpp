// SPDX-License-Identifier: Apache-2.0
//
// Decoding: the prompt is rotated once, each new token at its own position. One growing table
// serves q and k of every layer; a single row formed on the fly does without a table; sequences of
// a batch may stand at different positions.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <eigen_rope/eigen_rope.hpp>
#include <vector>

namespace er = eigen_rope;

namespace {

constexpr int D = 64, query_heads = 4, key_heads = 2, layers = 3, prompt = 10, tokens = 600;

using Tensor = Eigen::Tensor<float, 3>;  // [D, heads, tokens]

struct Layer {
  Tensor q{D, query_heads, tokens};
  Tensor keys{D, key_heads, tokens};
};

float largest_difference(const Tensor& a, const Tensor& b) {
  const Eigen::Tensor<float, 0> difference = (a - b).abs().maximum();
  return difference();
}

}  // namespace

int main() {
  const er::Frequencies frequencies = er::Frequencies::powers({D, 500000.0});
  std::vector<Layer> model(layers);
  for (Layer& layer : model) {
    layer.q.setRandom();
    layer.keys.setRandom();
  }
  std::vector<Layer> by_row = model;

  // Every token at once, to compare with.
  const er::Cache<float> full(frequencies, er::Positions::range(0, tokens));
  std::vector<Layer> expected = model;
  for (Layer& layer : expected) {
    er::rotate_inplace(layer.q, full, er::split_half);
    er::rotate_inplace(layer.keys, full, er::split_half);
  }

  // One table for all layers, q and k, and any number of threads. It grows as decoding proceeds.
  const er::GrowingCache<float> cache(frequencies);
  for (Layer& layer : model) {
    for (Tensor* x : {&layer.q, &layer.keys}) {
      const er::StridedView<float> head = er::strided_view(*x).slice(2, 0, prompt);
      er::rotate_inplace(head, cache.rows(0, prompt), er::split_half);
    }
  }
  for (int position = prompt; position < tokens; ++position) {
    for (Layer& layer : model) {
      er::rotate_inplace(layer.q.chip(position, 2), cache.rows(position, 1), er::split_half);
      er::rotate_inplace(layer.keys.chip(position, 2), cache.rows(position, 1), er::split_half);
    }
  }

  // The same without a table: each thread has a row, which every layer reads until the next token.
  er::TokenRow<float> row(frequencies);
  for (int position = 0; position < tokens; ++position) {
    for (Layer& layer : by_row) {
      er::rotate_inplace(layer.q.chip(position, 2), row.at(position), er::split_half);
      er::rotate_inplace(layer.keys.chip(position, 2), row, er::split_half);
    }
  }

  float difference = 0;
  for (std::size_t i = 0; i < model.size(); ++i) {
    for (const Layer* layer : {&model[i], &by_row[i]}) {
      difference = std::max(difference, largest_difference(layer->q, expected[i].q));
      difference = std::max(difference, largest_difference(layer->keys, expected[i].keys));
    }
  }
  fmt::print("token by token, against all at once: {}; the table has grown to {} rows\n",
             difference, cache.tokens());

  // Two sequences, one token each, at positions 7 and 500.
  const er::Cache<float> both = cache.gather(er::Positions::per_batch({7, 500}, er::Batches{2}));
  Eigen::Tensor<float, 4> q(D, query_heads, 1, 2);
  q.setRandom();
  er::rotate_inplace(q, both, er::split_half);
  fmt::print("a table for two sequences has outer extents {}\n", both.outer().text());
  return difference == 0 ? 0 : 1;
}
