// SPDX-License-Identifier: Apache-2.0
//
// Attributes are checked alone as they are with inputs: what check() refuses, run() refuses with
// the same sentence, and what it lets pass is not among the attributes' mistakes.
#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <vector>

#include "eigen_rope/operators/onnx.hpp"
#include "support/error_of.hpp"

namespace eigen_rope::test::onnx_attributes_tests {
namespace {

/// A change of a node, and the sentence without its prefix.
template <class Node>
struct Mistake {
  void (*make)(Node& node);
  std::string sentence;
};

template <class Node>
std::vector<Mistake<Node>> common_mistakes() {
  return {
      {[](Node& node) { node.interleaved = 2; }, "interleaved must be 0 or 1, got 2"},
      {[](Node& node) { node.interleaved = -1; }, "interleaved must be 0 or 1, got -1"},
      {[](Node& node) { node.num_heads = -3; }, "num_heads must not be negative, got -3"},
      {[](Node& node) { node.rotary_embedding_dim = -2; },
       "rotary_embedding_dim must not be negative, got -2"},
      {[](Node& node) { node.rotary_embedding_dim = 5; },
       "rotary_embedding_dim must be even, got 5"},
  };
}

template <class Node>
std::vector<Mistake<Node>> contrib_mistakes() {
  std::vector<Mistake<Node>> all = common_mistakes<Node>();
  all.push_back({[](Node& node) {
                   node.num_heads = 0;
                   node.rotary_embedding_dim = 4;
                 },
                 "num_heads must be set with rotary_embedding_dim, got 0"});
  all.push_back({[](Node& node) { node.scale = std::numeric_limits<double>::infinity(); },
                 "scale must be finite, got inf"});
  return all;
}

template <class Node>
void expect_refused(const Node& good, const std::vector<Mistake<Node>>& mistakes) {
  EXPECT_EQ(error_of([&] { onnx::check(good); }), "no eigen_rope::Error");
  for (const auto& [make, sentence] : mistakes) {
    Node node = good;
    make(node);
    EXPECT_EQ(error_of([&] { onnx::check(node); }), "[rope] " + sentence);
    EXPECT_EQ(error_of([&] { onnx::run(node, onnx::Inputs(), onnx::Tensor()); }),
              "[rope] " + sentence);
  }
}

TEST(OnnxAttributes, OfTheStandard) {
  onnx::RotaryEmbedding good;
  good.interleaved = 1;
  good.rotary_embedding_dim = 4;  // X of rank 4 says how many heads there are
  expect_refused(good, common_mistakes<onnx::RotaryEmbedding>());
}

TEST(OnnxAttributes, OfTheContribOperator) {
  using Node = onnx::ContribRotaryEmbedding;
  Node good;
  good.num_heads = 2;
  good.rotary_embedding_dim = 4;
  good.is_packed_batching = 1;
  good.scale = -0.5;
  auto mistakes = contrib_mistakes<Node>();
  mistakes.push_back({[](Node& node) { node.is_packed_batching = 2; },
                      "is_packed_batching must be 0 or 1, got 2"});
  expect_refused(good, mistakes);
}

TEST(OnnxAttributes, OfSeveralAxes) {
  using Node = onnx::MRotaryEmbedding;
  Node good;
  good.mrope_section = {2, 0, 2};
  auto mistakes = contrib_mistakes<Node>();
  mistakes.push_back(
      {[](Node& node) { node.mrope_layout = 3; }, "mrope_layout must be 0 or 1, got 3"});
  mistakes.push_back(
      {[](Node& node) { node.mrope_section = {}; }, "mrope_section must have 3 lengths, got []"});
  mistakes.push_back({[](Node& node) {
                        node.mrope_section = {4, -1, 1};
                      },
                      "mrope_section must not have negative lengths, got [4, -1, 1]"});
  expect_refused(good, mistakes);
}

}  // namespace
}  // namespace eigen_rope::test::onnx_attributes_tests
