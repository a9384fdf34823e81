// SPDX-License-Identifier: Apache-2.0
//
// The recorded calls at and beyond the edge of the operators' definition: which work, with what
// result, and what the others are told.
//
// ai.onnx follows its text, and the strict reading where that is silent; com.microsoft follows what
// ONNX Runtime 1.30 does. The exceptions are named below.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "support/error_of.hpp"
#include "support/onnx_cases.hpp"

namespace eigen_rope::onnx_edge_calls_tests {
namespace {

using test::OnnxCase;

struct EdgeCall {
  OnnxCase call;
  std::string key;  ///< unique: operator and name
  bool works;
};

/// Calls that work here although the text or the runtime says otherwise or nothing.
const std::set<std::string> extensions = {
    "ai.onnx RotaryEmbedding: float64",     // all operators take double
    "ai.onnx RotaryEmbedding: zero heads",  // an empty tensor like the empty batch, which is valid
    "com.microsoft RotaryEmbedding: bfloat16",  // refused there for want of a kernel only
};

bool should_work(const nlohmann::json& entry, const std::string& key) {
  if (extensions.count(key) != 0) return true;
  if (entry.at("domain") == "ai.onnx") return entry.at("spec") == "valid";
  return entry.at("onnxruntime_1_30").at("outcome") == "accepted";
}

/// The recorded ids, or 0, 1, 2, ... within the cache where only a shape is recorded.
void fill_ids(test::OnnxTensor& ids, const nlohmann::json& input, std::int64_t rows) {
  ids.bytes.assign(ids.count() * test::onnx_element_size(ids.dtype), 0);
  for (std::size_t i = 0; i < ids.count(); ++i) {
    const bool recorded = input.contains("values");
    const std::int64_t id = recorded ? input.at("values").at(i).get<std::int64_t>()
                                     : static_cast<std::int64_t>(i) % rows;
    if (ids.dtype == "int64") ids.set(i, id);
    if (ids.dtype == "int32") ids.set(i, static_cast<std::int32_t>(id));
  }
}

OnnxCase call_of(const nlohmann::json& entry) {
  OnnxCase c = test::onnx_reader::head_of(entry);
  std::int64_t rows = 1;
  for (const nlohmann::json& input : entry.at("inputs")) {
    if (input.at("name") == "cos_cache")
      rows = std::max(rows, input.at("shape").at(0).get<std::int64_t>());
  }
  for (const nlohmann::json& input : entry.at("inputs")) {
    test::OnnxTensor tensor{
        input.at("name"), input.at("dtype"), input.at("shape").get<onnx::Dims>(), {}};
    if (tensor.name == "position_ids") {
      fill_ids(tensor, input, rows);
    } else {
      test::fill_onnx_tensor(tensor, static_cast<unsigned>(c.inputs.size() + 1));
    }
    c.inputs.push_back(std::move(tensor));
  }
  c.output = c.inputs[0];
  return c;
}

std::vector<EdgeCall> edge_calls() {
  std::vector<EdgeCall> calls;
  for (const nlohmann::json& entry : nlohmann::json::parse(
           test::file_bytes(std::string(EIGEN_ROPE_TEST_DATA) + "/golden/onnx/errors.json"))) {
    OnnxCase c = call_of(entry);
    const std::string key = c.node.domain + " " + c.node.op_type + ": " + c.name;
    calls.push_back({std::move(c), key, should_work(entry, key)});
  }
  return calls;
}

struct Outcome {
  std::string error;
  std::vector<unsigned char> bytes;
};

/// Runs the call into memory filled with `before`.
Outcome outcome_of(const OnnxCase& c, unsigned char before) {
  Outcome outcome{"", std::vector<unsigned char>(c.output.bytes.size(), before)};
  const onnx::Tensor y{test::onnx_scalar_type(c.output.dtype), outcome.bytes.data(),
                       c.output.shape};
  outcome.error = test::error_of([&] { onnx::run(c.node, c.values(), y); });
  return outcome;
}

/// Half a unit in the last place of the result, the roundings of the terms in the scalar they are
/// computed in (once more for this test's own in double), and half a subnormal of float16.
double tolerance(const std::string& dtype, const test::ExactElement& exact) {
  const int digits = dtype == "float64"   ? 53
                     : dtype == "float32" ? 24
                     : dtype == "float16" ? 11
                                          : 8;
  const double terms = 3 * std::ldexp(exact.terms, dtype == "float64" ? -53 : -24);
  const double subnormal = dtype == "float16" ? std::ldexp(1.0, -25) : 0.0;
  return std::ldexp(std::abs(exact.value) + terms, -digits) + terms + subnormal;
}

// Every message, word for word.
const std::map<std::string, std::string> messages = {
    {"ai.onnx RotaryEmbedding: rank 2 input", "[rope] X must have rank 3 or 4, got [3, 8]"},
    {"ai.onnx RotaryEmbedding: rank 5 input",
     "[rope] X must have rank 3 or 4, got [1, 1, 2, 3, 8]"},
    {"ai.onnx RotaryEmbedding: 3D, num_heads missing",
     "[rope] num_heads must be set for X of rank 3, got 0"},
    {"ai.onnx RotaryEmbedding: 3D, num_heads missing, rotary_embedding_dim set",
     "[rope] num_heads must be set for X of rank 3, got 0"},
    {"ai.onnx RotaryEmbedding: 3D, num_heads=0",
     "[rope] num_heads must be set for X of rank 3, got 0"},
    {"ai.onnx RotaryEmbedding: 3D, num_heads=-1", "[rope] num_heads must not be negative, got -1"},
    {"ai.onnx RotaryEmbedding: 3D, hidden not divisible by num_heads",
     "[rope] num_heads must divide the last extent 8 of X, got 3"},
    {"ai.onnx RotaryEmbedding: 3D, hidden=6,num_heads=2 -> head_size 3 odd",
     "[rope] the head size must be even, got 3"},
    {"ai.onnx RotaryEmbedding: 4D, head_size 5 odd, full rotation, cache width 2",
     "[rope] the head size must be even, got 5"},
    {"ai.onnx RotaryEmbedding: 4D, head_size 5 odd, rotary_embedding_dim 4",
     "[rope] the head size must be even, got 5"},
    {"ai.onnx RotaryEmbedding: 4D, rotary_embedding_dim 3 odd (cache width 1)",
     "[rope] rotary_embedding_dim must be even, got 3"},
    {"ai.onnx RotaryEmbedding: 4D, rotary_embedding_dim 3 odd interleaved",
     "[rope] rotary_embedding_dim must be even, got 3"},
    {"ai.onnx RotaryEmbedding: rotary_embedding_dim > head_size",
     "[rope] rotary_embedding_dim must be at most the head size 8, got 10"},
    {"ai.onnx RotaryEmbedding: rotary_embedding_dim negative",
     "[rope] rotary_embedding_dim must not be negative, got -2"},
    {"ai.onnx RotaryEmbedding: 4D with inconsistent num_heads attr=7",
     "[rope] num_heads must be X's 2 or not set, got 7"},
    {"ai.onnx RotaryEmbedding: interleaved=2", "[rope] interleaved must be 0 or 1, got 2"},
    {"ai.onnx RotaryEmbedding: interleaved=-1", "[rope] interleaved must be 0 or 1, got -1"},
    {"ai.onnx RotaryEmbedding: cache wider than rotary/2, full",
     "[rope] cos_cache must have 4 columns (rotary dims / 2), got 6"},
    {"ai.onnx RotaryEmbedding: cache wider than rotary/2, partial (v1.18 rule)",
     "[rope] cos_cache must have 2 columns (rotary dims / 2), got 4"},
    {"ai.onnx RotaryEmbedding: cache narrower than head/2, rotary_embedding_dim absent",
     "[rope] cos_cache must have 4 columns (rotary dims / 2), got 2"},
    {"ai.onnx RotaryEmbedding: cos/sin last dim differ",
     "[rope] sin_cache must have cos_cache's shape [5, 4], got [5, 3]"},
    {"ai.onnx RotaryEmbedding: cos/sin first dim differ",
     "[rope] sin_cache must have cos_cache's shape [5, 4], got [6, 4]"},
    {"ai.onnx RotaryEmbedding: pos given, cos 3D",
     "[rope] cos_cache must be [rows, columns] with position_ids, got [1, 3, 4]"},
    {"ai.onnx RotaryEmbedding: pos given, sin 3D only",
     "[rope] sin_cache must have cos_cache's shape [5, 4], got [1, 3, 4]"},
    {"ai.onnx RotaryEmbedding: no pos, cos 2D (S,D/2)",
     "[rope] cos_cache must be [1, 3, columns] (batch, sequence) without position_ids, got [3, 4]"},
    {"ai.onnx RotaryEmbedding: no pos, cos 3D, sin 2D",
     "[rope] sin_cache must have cos_cache's shape [1, 3, 4], got [3, 4]"},
    {"ai.onnx RotaryEmbedding: no pos, cache batch 1 with batch 2 (broadcast)",
     "[rope] cos_cache must be [2, 3, columns] (batch, sequence) without position_ids, got [1, 3, "
     "4]"},
    {"ai.onnx RotaryEmbedding: no pos, cache seq 1 with S=3 (broadcast)",
     "[rope] cos_cache must be [2, 3, columns] (batch, sequence) without position_ids, got [2, 1, "
     "4]"},
    {"ai.onnx RotaryEmbedding: no pos, cache seq longer than S",
     "[rope] cos_cache must be [2, 3, columns] (batch, sequence) without position_ids, got [2, 5, "
     "4]"},
    {"ai.onnx RotaryEmbedding: no pos, sin shape differs",
     "[rope] sin_cache must have cos_cache's shape [2, 3, 4], got [2, 3, 3]"},
    {"ai.onnx RotaryEmbedding: no pos, width wrong",
     "[rope] cos_cache must have 4 columns (rotary dims / 2), got 2"},
    {"ai.onnx RotaryEmbedding: position_ids (1,S) with batch 2 (broadcast)",
     "[rope] position_ids must be [2, 3] (batch, sequence), got [1, 3]"},
    {"ai.onnx RotaryEmbedding: position_ids rank 1 (S)",
     "[rope] position_ids must be [1, 3] (batch, sequence), got [3]"},
    {"ai.onnx RotaryEmbedding: position_ids scalar [1]",
     "[rope] position_ids must be [1, 3] (batch, sequence), got [1]"},
    {"ai.onnx RotaryEmbedding: position_ids (B,1)",
     "[rope] position_ids must be [2, 3] (batch, sequence), got [2, 1]"},
    {"ai.onnx RotaryEmbedding: position_ids int32", "[rope] position_ids must be int64, got int32"},
    {"ai.onnx RotaryEmbedding: position id == max",
     "[rope] position_ids must be at least 0 and below the caches' 5 rows, got 5 at index 1"},
    {"ai.onnx RotaryEmbedding: position id -1 (numpy wraps to last row)",
     "[rope] position_ids must be at least 0 and below the caches' 5 rows, got -1 at index 1"},
    {"ai.onnx RotaryEmbedding: position id 2^40",
     "[rope] position_ids must be at least 0 and below the caches' 5 rows, got 1099511627776 at "
     "index 1"},
    {"ai.onnx RotaryEmbedding: head_size 0", "[rope] the head size must be positive, got 0"},
    {"ai.onnx RotaryEmbedding: X float16, cache float32 (mixed)",
     "[rope] cos_cache must have X's type f16, got f32"},
    {"ai.onnx RotaryEmbedding: scale attribute on ai.onnx op",
     "[rope] attributes of RotaryEmbedding must be among interleaved, num_heads, "
     "rotary_embedding_dim, got scale"},
    {"com.microsoft RotaryEmbedding: 3D, num_heads absent, hidden % head != 0",
     "[rope] X's last extent must be a multiple of 8 (twice the cache's columns) where num_heads "
     "is not set, got 12"},
    {"com.microsoft RotaryEmbedding: 4D, cache width 2 with head 8, rotary_embedding_dim 0",
     "[rope] cos_cache must have 4 columns (rotary dims / 2), got 2"},
    {"com.microsoft RotaryEmbedding: 4D, cache width 8 with head 8",
     "[rope] cos_cache must have 4 columns (rotary dims / 2), got 8"},
    {"com.microsoft RotaryEmbedding: 3D num_heads=2 cache width 8 hidden 8",
     "[rope] cos_cache must have 2 columns (rotary dims / 2), got 8"},
    {"com.microsoft RotaryEmbedding: rotary_embedding_dim set, num_heads absent",
     "[rope] num_heads must be set with rotary_embedding_dim, got 0"},
    {"com.microsoft RotaryEmbedding: rotary_embedding_dim 4, cache width 3",
     "[rope] cos_cache must have 2 columns (rotary dims / 2) or 4 (head size / 2), got 3"},
    {"com.microsoft RotaryEmbedding: rotary_embedding_dim > head",
     "[rope] rotary_embedding_dim must be at most the head size 8, got 10"},
    {"com.microsoft RotaryEmbedding: rotary_embedding_dim negative",
     "[rope] rotary_embedding_dim must not be negative, got -2"},
    {"com.microsoft RotaryEmbedding: position_ids [1] offset, S beyond cache",
     "[rope] position_ids must leave the sequence's 3 positions within the caches' 5 rows, got 3"},
    {"com.microsoft RotaryEmbedding: position_ids rank 1 len 3",
     "[rope] position_ids must be [1, 3] (batch, sequence, or one element), got [3]"},
    {"com.microsoft RotaryEmbedding: position_ids rank 3",
     "[rope] position_ids must be [1, 3] (batch, sequence, or one element), got [1, 1, 3]"},
    {"com.microsoft RotaryEmbedding: position id OOB",
     "[rope] position_ids must be at least 0 and below the caches' 5 rows, got 5 at index 1"},
    {"com.microsoft RotaryEmbedding: position id negative",
     "[rope] position_ids must be at least 0 and below the caches' 5 rows, got -1 at index 1"},
    {"com.microsoft RotaryEmbedding: S > cache rows, not packed",
     "[rope] cos_cache must have at least 7 rows (the sequence) unless is_packed_batching is 1, "
     "got 5"},
    {"com.microsoft RotaryEmbedding: hidden not divisible num_heads",
     "[rope] num_heads must divide the last extent 5 of X, got 2"},
    {"com.microsoft RotaryEmbedding: rank 2", "[rope] X must have rank 3 or 4, got [3, 8]"},
    {"com.microsoft RotaryEmbedding: cos rank 3",
     "[rope] cos_cache must be [rows, columns] with position_ids, got [1, 3, 4]"},
    {"com.microsoft RotaryEmbedding: cos sin differ",
     "[rope] sin_cache must have cos_cache's shape [5, 4], got [5, 3]"},
    {"com.microsoft MRotaryEmbedding: section sum wrong",
     "[rope] mrope_section must add up to 4 (rotary dims / 2), got [1, 1, 1]"},
    {"com.microsoft MRotaryEmbedding: section absent",
     "[rope] attribute mrope_section is required, got none"},
    {"com.microsoft MRotaryEmbedding: section 2 values",
     "[rope] mrope_section must have 3 lengths, got [2, 2]"},
    {"com.microsoft MRotaryEmbedding: section negative",
     "[rope] mrope_section must not have negative lengths, got [-1, 3, 2]"},
    {"com.microsoft MRotaryEmbedding: layout 2", "[rope] mrope_layout must be 0 or 1, got 2"},
    {"com.microsoft MRotaryEmbedding: position_ids (B,S)",
     "[rope] position_ids must be [3, 1, 3] (time height width, batch, sequence), got [1, 3]"},
    {"com.microsoft MRotaryEmbedding: position_ids (2,B,S)",
     "[rope] position_ids must be [3, 1, 3] (time height width, batch, sequence), got [2, 1, 3]"},
    {"com.microsoft MRotaryEmbedding: position oob",
     "[rope] position_ids must be at least 0 and below the caches' 5 rows, got 9 at index 5"},
    {"com.microsoft MRotaryEmbedding: odd rotary",
     "[rope] rotary_embedding_dim must be even, got 3"},
    {"com.microsoft MRotaryEmbedding: rank3 no heads",
     "[rope] num_heads must be set for X of rank 3, got 0"},
};

TEST(OnnxEdgeCalls, EveryRecordedCallIsDecided) {
  const std::vector<EdgeCall> calls = edge_calls();
  EXPECT_EQ(calls.size(), 91U);
  std::set<std::string> keys;
  for (const EdgeCall& edge : calls) {
    EXPECT_TRUE(keys.insert(edge.key).second) << edge.key << " is there twice";
    EXPECT_EQ(messages.count(edge.key), edge.works ? 0U : 1U) << edge.key;
  }
  for (const auto& [key, message] : messages) EXPECT_EQ(keys.count(key), 1U) << key;
  for (const std::string& key : extensions) EXPECT_EQ(keys.count(key), 1U) << key;
}

TEST(OnnxEdgeCalls, RefusedCallsSayWhyAndWriteNothing) {
  for (const EdgeCall& edge : edge_calls()) {
    if (edge.works) continue;
    const Outcome outcome = outcome_of(edge.call, 0xCD);
    const auto message = messages.find(edge.key);
    EXPECT_EQ(outcome.error, message == messages.end() ? "(not in the table)" : message->second)
        << edge.key;
    EXPECT_THAT(outcome.bytes, testing::Each(0xCD)) << edge.key;
  }
}

TEST(OnnxEdgeCalls, ValidCallsWriteEveryElementRight) {
  for (const EdgeCall& edge : edge_calls()) {
    if (!edge.works) continue;
    test::OnnxTensor ours = edge.call.output;
    Outcome outcome = outcome_of(edge.call, 0xCD);
    ASSERT_EQ(outcome.error, "no eigen_rope::Error") << edge.key;
    // An element left alone would differ between the two.
    EXPECT_EQ(outcome_of(edge.call, 0x32).bytes, outcome.bytes) << edge.key;
    ours.bytes = std::move(outcome.bytes);
    const std::vector<test::ExactElement> exact = test::onnx_formula(edge.call);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double allowed = exact[i].copied ? 0.0 : tolerance(ours.dtype, exact[i]);
      EXPECT_NEAR(ours[i], exact[i].value, allowed) << edge.key << ", element " << i;
    }
  }
}

}  // namespace
}  // namespace eigen_rope::onnx_edge_calls_tests
