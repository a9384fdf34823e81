// SPDX-License-Identifier: Apache-2.0
//
// The ONNX operators touch nothing but their inputs and outputs, and write every element of Y, dX
// and the gradients of the caches: each lies against a page that cannot be touched, the last rows
// of the caches are read, outputs begin as poison. Every operator, type, pairing, rank, kind of
// positions and width of caches.
#include <gtest/gtest.h>

#include "eigen_rope/operators/onnx.hpp"
#include "support/guarded.hpp"
#include "support/kernel_paths.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::onnx {
namespace {

using test::Against;
using test::Guarded;

constexpr std::int64_t kBatch = 2;
constexpr std::int64_t kHeads = 3;
constexpr std::int64_t kSequence = 5;
constexpr std::int64_t kCacheRows = 9;

std::size_t size_of(const Dims& shape) {
  std::size_t size = 1;
  for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
  return size;
}

/// Shapes and ids of a node; no shape of ids for none.
template <class Node>
struct Setting {
  Node node;
  Dims x, cache, ids_shape;
  std::vector<std::int64_t> ids;

  std::string text() const {
    return "X " + testing::PrintToString(x) + ", cache " + testing::PrintToString(cache);
  }
};

/// Ids up to the last row; in the order of the cache, where it need not be gathered, or not.
std::vector<std::int64_t> some_ids(std::int64_t count, bool in_order) {
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < count; ++i) {
    ids.push_back(in_order ? kCacheRows - kSequence + i % kSequence
                           : (kCacheRows - 1 + 4 * i) % kCacheRows);
  }
  return ids;
}

std::vector<Dims> x_shapes(std::int64_t head) {
  return {{kBatch, kHeads, kSequence, head}, {kBatch, kSequence, kHeads * head}};
}

std::vector<Setting<RotaryEmbedding>> settings_of(std::int64_t head, std::int64_t rotary,
                                                  std::int64_t interleaved,
                                                  const RotaryEmbedding&) {
  std::vector<Setting<RotaryEmbedding>> all;
  for (const Dims& x : x_shapes(head)) {
    for (const std::int64_t wider : {0, 3}) {
      RotaryEmbedding node;
      node.interleaved = interleaved;
      node.num_heads = kHeads;
      node.rotary_embedding_dim = rotary == head ? 0 : rotary;
      node.wide_cache = wider == 0 ? WideCache::refuse : WideCache::slice;
      const std::int64_t columns = rotary / 2 + wider;
      all.push_back({node, x, {kBatch, kSequence, columns}, {}, {}});
      for (const bool in_order : {false, true}) {
        all.push_back({node,
                       x,
                       {kCacheRows, columns},
                       {kBatch, kSequence},
                       some_ids(kBatch * kSequence, in_order)});
      }
    }
  }
  return all;
}

std::vector<Setting<ContribRotaryEmbedding>> settings_of(std::int64_t head, std::int64_t rotary,
                                                         std::int64_t interleaved,
                                                         const ContribRotaryEmbedding&) {
  std::vector<Setting<ContribRotaryEmbedding>> all;
  for (const Dims& x : x_shapes(head)) {
    for (const double scale : {1.0, 0.5}) {
      ContribRotaryEmbedding node;
      node.interleaved = interleaved;
      node.num_heads = kHeads;
      node.rotary_embedding_dim = rotary == head ? 0 : rotary;
      node.scale = scale;
      for (const std::int64_t columns : {rotary / 2, head / 2}) {
        all.push_back({node, x, {kCacheRows, columns}, {1}, {kCacheRows - kSequence}});
        all.push_back({node,
                       x,
                       {kCacheRows, columns},
                       {kBatch, kSequence},
                       some_ids(kBatch * kSequence, false)});
      }
    }
  }
  return all;
}

std::vector<Setting<MRotaryEmbedding>> settings_of(std::int64_t head, std::int64_t rotary,
                                                   std::int64_t interleaved,
                                                   const MRotaryEmbedding&) {
  std::vector<Setting<MRotaryEmbedding>> all;
  for (const Dims& x : x_shapes(head)) {
    for (const std::int64_t layout : {0, 1}) {
      MRotaryEmbedding node;
      node.interleaved = interleaved;
      node.num_heads = kHeads;
      node.rotary_embedding_dim = rotary == head ? 0 : rotary;
      node.mrope_layout = layout;
      const std::int64_t third = rotary / 2 / 3;
      node.mrope_section = {rotary / 2 - 2 * third, third, third};
      all.push_back({node,
                     x,
                     {kCacheRows, rotary / 2},
                     {3, kBatch, kSequence},
                     some_ids(3 * kBatch * kSequence, false)});
    }
  }
  return all;
}

/// A call on ordinary memory, and on guarded memory again and again.
template <class Scalar, class Node>
void run_guarded(const Setting<Node>& s, test::Combinations& combinations) {
  SCOPED_TRACE(s.text());
  const auto values = test::random_values<Scalar>(static_cast<Index>(size_of(s.x)), 1);
  const auto gradient = test::random_values<Scalar>(static_cast<Index>(size_of(s.x)), 2);
  const auto cos = test::random_values<Scalar>(static_cast<Index>(size_of(s.cache)), 3, 0.75, 1.25);
  const auto sin = test::random_values<Scalar>(static_cast<Index>(size_of(s.cache)), 4, -0.5, 0.5);
  const auto inputs = [&](const Scalar* x, const Scalar* c, const Scalar* d,
                          const std::int64_t* ids) {
    Inputs all{tensor(x, s.x), tensor(c, s.cache), tensor(d, s.cache), {}};
    if (!s.ids.empty()) all.position_ids = PositionIds{ids, s.ids_shape};
    return all;
  };
  std::vector<Scalar> y(values.size()), dx(values.size()), dcos(cos.size()), dsin(sin.size());
  const Inputs plain = inputs(values.data(), cos.data(), sin.data(), s.ids.data());
  run(s.node, plain, tensor(y.data(), s.x));
  backward(s.node, plain, tensor(gradient.data(), s.x),
           {tensor(dx.data(), s.x), tensor(dcos.data(), s.cache), tensor(dsin.data(), s.cache)});
  for (const Against against : test::both_sides) {
    const Guarded<Scalar> x_memory(values, against);
    const Guarded<Scalar> cos_memory(cos, against);
    const Guarded<Scalar> sin_memory(sin, against);
    const Guarded<std::int64_t> ids_memory(s.ids, against);
    const Guarded<Scalar> g_memory(gradient, against);
    const Guarded<Scalar> y_memory(values, against);
    const Guarded<Scalar> dcos_memory(cos, against);
    const Guarded<Scalar> dsin_memory(sin, against);
    const Inputs guarded =
        inputs(x_memory.data(), cos_memory.data(), sin_memory.data(), ids_memory.data());
    const auto check = [&](const std::vector<Scalar>& expected, const Guarded<Scalar>& actual) {
      ASSERT_TRUE(
          test::same_bits(expected.data(), actual.data(), static_cast<Index>(expected.size())))
          << kernel_target();
      ASSERT_TRUE(actual.margins_untouched()) << kernel_target();
      actual.set_poison();
    };
    test::on_every_path([&](test::Path path) {
      if (testing::Test::HasFailure()) return;
      y_memory.set_poison();
      run(s.node, guarded, tensor(y_memory.data(), s.x));
      check(y, y_memory);
      ++combinations;
      if (path == test::Path::past_the_cache) return;
      y_memory.set(values);
      Inputs same = guarded;
      same.X = tensor(y_memory.data(), s.x);
      run(s.node, same, tensor(y_memory.data(), s.x));
      check(y, y_memory);
      dcos_memory.set_poison();
      dsin_memory.set_poison();
      backward(s.node, guarded, tensor(static_cast<const Scalar*>(g_memory.data()), s.x),
               {tensor(y_memory.data(), s.x), tensor(dcos_memory.data(), s.cache),
                tensor(dsin_memory.data(), s.cache)});
      check(dx, y_memory);
      check(dcos, dcos_memory);
      check(dsin, dsin_memory);
      ++combinations;
      ++combinations;
    });
    ASSERT_TRUE(x_memory.margins_untouched() && g_memory.margins_untouched());
  }
}

template <class Node, class Scalar>
void run_guarded() {
  test::Combinations combinations;
  for (std::int64_t head = 2; head <= 128; head += head < 36 ? 2 : 18) {
    for (const std::int64_t rotary : {head, head / 4 * 2}) {
      if (rotary == 0) continue;
      for (const std::int64_t interleaved : {0, 1}) {
        for (const Setting<Node>& s : settings_of(head, rotary, interleaved, Node())) {
          run_guarded<Scalar>(s, combinations);
          ASSERT_FALSE(testing::Test::HasFailure());
        }
      }
    }
  }
}

TEST(OnnxGuard, RotaryEmbeddingFloat) { run_guarded<RotaryEmbedding, float>(); }
TEST(OnnxGuard, RotaryEmbeddingHalf) { run_guarded<RotaryEmbedding, Eigen::half>(); }
TEST(OnnxGuard, RotaryEmbeddingBfloat16) { run_guarded<RotaryEmbedding, Eigen::bfloat16>(); }
TEST(OnnxGuard, RotaryEmbeddingDouble) { run_guarded<RotaryEmbedding, double>(); }
TEST(OnnxGuard, ContribRotaryEmbeddingFloat) { run_guarded<ContribRotaryEmbedding, float>(); }
TEST(OnnxGuard, ContribRotaryEmbeddingHalf) { run_guarded<ContribRotaryEmbedding, Eigen::half>(); }
TEST(OnnxGuard, MRotaryEmbeddingFloat) { run_guarded<MRotaryEmbedding, float>(); }
TEST(OnnxGuard, MRotaryEmbeddingBfloat16) { run_guarded<MRotaryEmbedding, Eigen::bfloat16>(); }

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::onnx
