// SPDX-License-Identifier: Apache-2.0
//
// What a converted model computes: q.k by loops written here, from the files, against the model it
// was made from.
#include "tool/convert/convert.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/model_files.hpp"
#include "tool/io/byte_files.hpp"
#include "tool/io/file_error.hpp"
#include "tool/io/json_file.hpp"

namespace eigen_rope::tool::convert_tests {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the helpers of these tests
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::int64_t dims = 16, hidden = 6;
const std::string layer_0 = "model.layers.0.self_attn.", layer_1 = "model.layers.1.self_attn.";

struct Slots {
  std::size_t a, b, A, B;
};

// From the published definitions: pairs k and k + P, 2k and 2k + 1, or the former inside each half
// of the window.
Slots slots(PairKind kind, std::size_t k, std::size_t pairs) {
  if (kind == PairKind::split_half) return {k, k + pairs, k, k + pairs};
  if (kind == PairKind::interleaved) return {2 * k, 2 * k + 1, 2 * k, 2 * k + 1};
  if (kind == PairKind::interleaved_to_split_half) return {2 * k, 2 * k + 1, k, k + pairs};
  const std::size_t half = k / (pairs / 2), within = k % (pairs / 2), first = half * pairs + within;
  return {first, first + pairs / 2, first, first + pairs / 2};
}

struct Window {
  std::size_t rotary, offset, dims;
};

Numbers rotated(const Numbers& x, std::int64_t position, PairKind kind, const Window& window) {
  Numbers y = x;
  const std::size_t pairs = window.rotary / 2;
  for (std::size_t head = 0; head < x.size(); head += window.dims) {
    const double* in = x.data() + head + window.offset;
    double* out = y.data() + head + window.offset;
    for (std::size_t k = 0; k < pairs; ++k) {
      const Slots s = slots(kind, k, pairs);
      const double angle = static_cast<double>(position) *
                           std::pow(10000.0, -static_cast<double>(k) / static_cast<double>(pairs));
      out[s.A] = std::cos(angle) * in[s.a] - std::sin(angle) * in[s.b];
      out[s.B] = std::cos(angle) * in[s.b] + std::sin(angle) * in[s.a];
    }
  }
  return y;
}

// Of each query head at several positions: the sum over the window and, where heads are alike, what
// lies outside it.
struct Logits {
  Numbers sums{}, sizes{};
};

Logits logits(const Numbers& q, const Numbers& k, PairKind kind, const Window& q_window,
              const Window& k_window) {
  Logits result;
  const bool alike = q_window.dims == k_window.dims;
  const std::size_t count = alike ? q_window.dims : q_window.rotary,
                    q_begin = alike ? 0 : q_window.offset, k_begin = alike ? 0 : k_window.offset;
  const std::size_t heads = q.size() / q_window.dims, group = heads / (k.size() / k_window.dims);
  for (const auto& [q_position, k_position] :
       {std::pair(3, 3), std::pair(11, 4), std::pair(-2, 900)}) {
    const Numbers rq = rotated(q, q_position, kind, q_window),
                  rk = rotated(k, k_position, kind, k_window);
    for (std::size_t head = 0; head < heads; ++head) {
      double sum = 0, size = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const double product =
            rq[head * q_window.dims + q_begin + i] * rk[head / group * k_window.dims + k_begin + i];
        sum += product;
        size += std::abs(product);
      }
      result.sums.push_back(sum);
      result.sizes.push_back(size);
    }
  }
  return result;
}

// The products are the same, their order is not: two sums of n terms of total size S differ by at
// most 2 (n + 1) u S.
void expect_same(const Logits& before, const Logits& after, std::size_t terms) {
  ASSERT_EQ(before.sums.size(), after.sums.size());
  for (std::size_t i = 0; i < before.sums.size(); ++i) {
    const double bound =
        static_cast<double>(terms + 1) * std::numeric_limits<double>::epsilon() * before.sizes[i];
    EXPECT_NEAR(before.sums[i], after.sums[i], bound) << i;
  }
}

// With a pairing the weights are not for, most logits are others.
void expect_different(const Logits& before, const Logits& after) {
  double largest = 0;
  for (std::size_t i = 0; i < before.sums.size(); ++i)
    largest = std::max(largest, std::abs(before.sums[i] - after.sums[i]));
  EXPECT_GT(largest, 1e-3);
}

TestModel llama(const std::string& dtype, std::int64_t heads, std::int64_t key_heads, bool norms) {
  TestModel model;
  unsigned seed = 1;
  model.push_back({"model.embed_tokens.weight", random_tensor(dtype, {10, hidden}, seed++)});
  for (const std::string& layer : {layer_1, layer_0}) {
    // Not in the order of q, k: files rarely are.
    model.push_back(
        {layer + "v_proj.weight", random_tensor(dtype, {key_heads * dims, hidden}, seed++)});
    model.push_back(
        {layer + "k_proj.weight", random_tensor(dtype, {key_heads * dims, hidden}, seed++)});
    model.push_back({layer + "q_proj.bias", random_tensor(dtype, {heads * dims}, seed++)});
    model.push_back(
        {layer + "q_proj.weight", random_tensor(dtype, {heads * dims, hidden}, seed++)});
    model.push_back(
        {layer + "o_proj.weight", random_tensor(dtype, {hidden, heads * dims}, seed++)});
    model.push_back({layer + "k_proj.bias", random_tensor(dtype, {key_heads * dims}, seed++)});
    if (!norms) continue;
    model.push_back({layer + "q_norm.weight", random_tensor(dtype, {dims}, seed++)});
    // Over the whole projection, as some families have it.
    model.push_back({layer + "k_norm.weight", random_tensor(dtype, {key_heads * dims}, seed++)});
  }
  model.push_back({"model.norm.weight", random_tensor("F32", {hidden}, seed++)});
  return model;
}

const TestTensor* find(const ReadModel& model, const std::string& name) {
  for (const auto& [found, tensor] : model.tensors) {
    if (found == name) return &tensor;
  }
  return nullptr;
}

Numbers projected(const ReadModel& model, const std::string& layer, const std::string& which) {
  const Numbers x =
      which == "q" ? Numbers{1, -2, 0.5, 3, -1, 0.25} : Numbers{-1, 1, 2, 0.75, -0.5, 2};
  Numbers result = times(model.at(layer + which + "_proj.weight"), x);
  if (const TestTensor* bias = find(model, layer + which + "_proj.bias")) {
    const Numbers values = numbers_of(*bias);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += values[i];
  }
  if (const TestTensor* norm = find(model, layer + which + "_norm.weight")) {
    const Numbers values = numbers_of(*norm);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] *= values[i % values.size()];
  }
  return result;
}

ReadModel unconverted(const TestModel& model) {
  ReadModel result;
  result.tensors = model;
  return result;
}

class Convert : public testing::Test {
 protected:
  ConvertReport convert_model(const TestModel& model, ConvertOptions options) {
    write_bytes(folder / "in.safetensors", file_of(model));
    options.existing = Existing::replaced;
    return convert(folder / "in.safetensors", folder / "out.safetensors", options, Writing::whole);
  }
  ReadModel converted() const { return read_model(folder / "out.safetensors"); }

  TemporaryFolder folder{};
};

ConvertOptions options_for(PairKind from, PairKind to, std::int64_t heads, std::int64_t key_heads) {
  ConvertOptions options;
  options.from = from;
  options.to = to;
  options.heads = heads;
  options.key_heads = key_heads;
  options.head_dims = dims;
  return options;
}

void expect_same_order(const TestModel& before, const ReadModel& after) {
  ASSERT_EQ(before.size(), after.tensors.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].first, after.tensors[i].first);
    EXPECT_EQ(before[i].second.dtype, after.tensors[i].second.dtype);
    EXPECT_EQ(before[i].second.shape, after.tensors[i].second.shape);
  }
}

TEST_F(Convert, KeepsLogitsAndComesBackForEveryPairOfPairingsWindowHeadsAndType) {
  const PairKind kinds[] = {PairKind::split_half, PairKind::interleaved, PairKind::quarter,
                            PairKind::interleaved_to_split_half};
  const Window windows[] = {{16, 0, 16}, {8, 0, 16}, {8, 4, 16}};
  int cases = 0;
  for (const char* dtype : {"F64", "F32", "F16", "BF16"}) {
    for (const std::int64_t key_heads : {4, 2, 1}) {
      for (const Window& window : windows) {
        for (const PairKind from : kinds) {
          for (const PairKind to : kinds) {
            const bool same_reads = from != PairKind::split_half && from != PairKind::quarter &&
                                    to != PairKind::split_half && to != PairKind::quarter;
            if (from == to || same_reads) continue;
            const bool moves = from == PairKind::interleaved_to_split_half ||
                               to == PairKind::interleaved_to_split_half;
            const TestModel model = llama(dtype, 4, key_heads, !moves);
            ConvertOptions options = options_for(from, to, 4, key_heads);
            options.rotary_dims = window.rotary;
            options.offset = window.offset;
            convert_model(model, options);
            const ReadModel before = unconverted(model), after = converted();
            expect_same_order(model, after);
            for (const std::string& layer : {layer_0, layer_1}) {
              const Numbers q = projected(before, layer, "q"), k = projected(before, layer, "k");
              const Numbers new_q = projected(after, layer, "q"),
                            new_k = projected(after, layer, "k");
              const Logits wanted = logits(q, k, from, window, window);
              expect_same(wanted, logits(new_q, new_k, to, window, window), dims);
              expect_different(wanted, logits(new_q, new_k, from, window, window));
              for (const char* name : {"v_proj.weight", "o_proj.weight"})
                EXPECT_EQ(before.at(layer + name).bytes, after.at(layer + name).bytes);
            }
            for (const char* name : {"model.embed_tokens.weight", "model.norm.weight"})
              EXPECT_EQ(before.at(name).bytes, after.at(name).bytes);

            std::swap(options.from, options.to);
            options.existing = Existing::replaced;
            convert(folder / "out.safetensors", folder / "back.safetensors", options,
                    Writing::whole);
            const ReadModel back = read_model(folder / "back.safetensors");
            for (const auto& [name, tensor] : model)
              EXPECT_EQ(tensor.bytes, back.at(name).bytes) << name;
            ++cases;
          }
        }
      }
    }
  }
  EXPECT_EQ(cases, 4 * 3 * 3 * 10);
}

TEST_F(Convert, HeadsLargerThanTheBufferMoveRowByRow) {
  constexpr std::int64_t columns = (1 << 17) + 1;
  constexpr std::size_t row_bytes = 2 * columns;
  static_assert(dims * row_bytes > buffer_bytes);
  // Each row a number of its own, whatever its column.
  const auto rows = [](int first) {
    TestTensor tensor{"BF16", {dims, columns}, {}};
    for (int row = 0; row < dims; ++row) {
      const Eigen::bfloat16 value(static_cast<float>(first + row));
      for (std::int64_t i = 0; i < columns; ++i)
        tensor.bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    return tensor;
  };
  const TestModel model{{layer_0 + "q_proj.weight", rows(1)},
                        {layer_0 + "k_proj.weight", rows(65)}};
  convert_model(model, options_for(PairKind::split_half, PairKind::interleaved, 1, 1));
  const ReadModel after = converted();
  for (const auto& [name, tensor] : model) {
    for (std::size_t row = 0; row < dims; ++row) {
      const std::size_t old_row = row / 2 + row % 2 * dims / 2;
      EXPECT_TRUE(after.at(name).bytes.substr(row * row_bytes, row_bytes) ==
                  tensor.bytes.substr(old_row * row_bytes, row_bytes))
          << name << ", row " << row;
    }
  }
}

TEST_F(Convert, ReportsABoundForEveryLayerAndRecordsWhatWasDone) {
  const ConvertReport report = convert_model(
      llama("F32", 4, 2, true), options_for(PairKind::split_half, PairKind::interleaved, 4, 2));
  ASSERT_EQ(report.checks.size(), 2U);
  for (const LayerCheck& check : report.checks) {
    EXPECT_LE(check.difference, check.bound);
    EXPECT_GT(check.bound, 0);
    EXPECT_LT(check.bound, 1e-9);
  }
  EXPECT_EQ(report.plan.layers[0].tensors.size(), 6U);
  const ReadModel after = converted();
  EXPECT_EQ(after.metadata["format"], "pt");
  EXPECT_EQ(after.metadata["rope_pairing"], "interleaved");
  EXPECT_EQ(after.metadata["rope_conversion"],
            "split_half to interleaved: 4 heads, 2 key heads, 16 rotary dims, query heads of 16 "
            "from 0, key heads of 16 from 0");
  EXPECT_THAT(text_of(report), HasSubstr("model.layers.0.self_attn "));

  write_json(report, folder / "report.json");
  const Json json = Json::parse(file_bytes(folder / "report.json"));
  EXPECT_EQ(json["verified"], true);
  EXPECT_EQ(json["layers"][1]["verification"]["bound"], report.checks[1].bound);
  EXPECT_EQ(json["layers"][0]["tensors"][0]["heads"].size(), 2U);  // k_proj comes first in the file
}

TEST_F(Convert, DryRunWritesNothing) {
  write_bytes(folder / "in.safetensors", file_of(llama("F32", 4, 2, false)));
  const ConvertReport report =
      convert(folder / "in.safetensors", folder / "out.safetensors",
              options_for(PairKind::split_half, PairKind::interleaved, 4, 2), Writing::plan_only);
  EXPECT_EQ(report.plan.layers.size(), 2U);
  EXPECT_TRUE(report.checks.empty());
  EXPECT_THAT(text_of(report), HasSubstr("nothing was written"));
  EXPECT_FALSE(fs::exists(folder / "out.safetensors"));
}

TEST_F(Convert, FusedProjectionsMoveQAndKAndLeaveV) {
  constexpr std::size_t heads = 4, key_heads = 2, group = heads / key_heads;
  const Window window{dims, 0, dims};
  for (const QkvOrder order : {QkvOrder::concatenated, QkvOrder::grouped}) {
    const std::string name = "transformer.h.0.attn.c_attn.";
    const TestModel model{{name + "weight", random_tensor("F32", {8 * dims, hidden}, 3)},
                          {name + "bias", random_tensor("F32", {8 * dims}, 4)}};
    ConvertOptions options =
        options_for(PairKind::split_half, PairKind::interleaved, heads, key_heads);
    options.order = order;
    convert_model(model, options);
    // First rows, in heads of `dims`: of query h, key h, value h.
    const auto place = [&](char role, std::size_t head) {
      if (order == QkvOrder::concatenated)
        return role == 'q' ? head : role == 'k' ? heads + head : heads + key_heads + head;
      return role == 'q' ? head / group * (group + 2) + head % group
                         : head * (group + 2) + group + (role == 'k' ? 0 : 1);
    };
    const auto rows = [&](const ReadModel& read, char role, std::size_t count) {
      const Numbers all = times(read.at(name + "weight"), {1, -2, 0.5, 3, -1, 0.25}),
                    bias = numbers_of(read.at(name + "bias"));
      Numbers result;
      for (std::size_t head = 0; head < count; ++head) {
        for (std::size_t d = 0; d < dims; ++d)
          result.push_back(all[place(role, head) * dims + d] + bias[place(role, head) * dims + d]);
      }
      return result;
    };
    const ReadModel before = unconverted(model), after = converted();
    expect_same(logits(rows(before, 'q', heads), rows(before, 'k', key_heads), PairKind::split_half,
                       window, window),
                logits(rows(after, 'q', heads), rows(after, 'k', key_heads), PairKind::interleaved,
                       window, window),
                dims);
    EXPECT_EQ(rows(before, 'v', key_heads), rows(after, 'v', key_heads));
  }
}

TEST_F(Convert, AdaptersMoveWithTheirBase) {
  const std::string base = "base_model.model." + layer_0;
  constexpr std::int64_t rank = 3;
  // Only q and v are adapted, as is usual.
  const TestModel model{
      {base + "q_proj.lora_A.weight", random_tensor("F32", {rank, hidden}, 1)},
      {base + "q_proj.lora_B.weight", random_tensor("F32", {4 * dims, rank}, 2)},
      {base + "q_proj.lora_magnitude_vector", random_tensor("F32", {4 * dims}, 3)},
      {base + "v_proj.lora_A.weight", random_tensor("F32", {rank, hidden}, 4)},
      {base + "v_proj.lora_B.weight", random_tensor("F32", {2 * dims, rank}, 5)}};
  convert_model(model, options_for(PairKind::split_half, PairKind::interleaved, 4, 2));
  const ReadModel before = unconverted(model), after = converted();
  EXPECT_EQ(before.at(base + "q_proj.lora_A.weight").bytes,
            after.at(base + "q_proj.lora_A.weight").bytes);
  EXPECT_EQ(before.at(base + "v_proj.lora_B.weight").bytes,
            after.at(base + "v_proj.lora_B.weight").bytes);
  const Window window{dims, 0, dims};
  const auto change = [&](const ReadModel& read) {
    Numbers q = times(read.at(base + "q_proj.lora_B.weight"), {1, -2, 3});
    const Numbers magnitude = numbers_of(read.at(base + "q_proj.lora_magnitude_vector"));
    for (std::size_t i = 0; i < q.size(); ++i) q[i] *= magnitude[i];
    return q;
  };
  // Against keys of the base, which has been converted too.
  const TestTensor key = random_tensor("F64", {2 * dims}, 6);
  const Numbers k = numbers_of(key);
  Numbers new_k(k.size());
  for (std::size_t head = 0; head < k.size(); head += dims) {
    for (std::size_t pair = 0; pair < dims / 2; ++pair) {
      new_k[head + 2 * pair] = k[head + pair];
      new_k[head + 2 * pair + 1] = k[head + pair + dims / 2];
    }
  }
  expect_same(logits(change(before), k, PairKind::split_half, window, window),
              logits(change(after), new_k, PairKind::interleaved, window, window), dims);
}

TEST_F(Convert, LatentAttentionMovesTheRotatedEndsOnly) {
  constexpr std::int64_t plain = 8, rotary = 4, rank = 6, heads = 3;
  const TestModel model{
      {layer_0 + "q_a_proj.weight", random_tensor("F32", {5, hidden}, 1)},
      {layer_0 + "q_a_layernorm.weight", random_tensor("F32", {5}, 2)},
      {layer_0 + "q_b_proj.weight", random_tensor("F32", {heads * (plain + rotary), hidden}, 3)},
      {layer_0 + "kv_a_proj_with_mqa.weight", random_tensor("F32", {rank + rotary, hidden}, 4)},
      {layer_0 + "kv_a_layernorm.weight", random_tensor("F32", {rank}, 5)},
      {layer_0 + "kv_b_proj.weight", random_tensor("F32", {heads * 16, rank}, 6)}};
  ConvertOptions options = options_for(PairKind::interleaved, PairKind::split_half, heads, 1);
  options.query = "q_b_proj";
  options.key = "kv_a_proj_with_mqa";
  options.head_dims = plain + rotary;
  options.rotary_dims = rotary;
  options.offset = plain;
  options.key_head_dims = rank + rotary;
  options.key_offset = rank;
  convert_model(model, options);
  const ReadModel before = unconverted(model), after = converted();
  const Window q_window{rotary, plain, plain + rotary}, k_window{rotary, rank, rank + rotary};
  const auto q = [&](const ReadModel& read) {
    return times(read.at(layer_0 + "q_b_proj.weight"), {1, -2, 0.5, 3, -1, 0.25});
  };
  const auto k = [&](const ReadModel& read) {
    return times(read.at(layer_0 + "kv_a_proj_with_mqa.weight"), {-1, 1, 2, 0.75, -0.5, 2});
  };
  const Logits wanted = logits(q(before), k(before), PairKind::interleaved, q_window, k_window);
  expect_same(wanted, logits(q(after), k(after), PairKind::split_half, q_window, k_window), rotary);
  expect_different(wanted, logits(q(after), k(after), PairKind::interleaved, q_window, k_window));
  const Numbers old_k = k(before), new_k = k(after), old_q = q(before), new_q = q(after);
  for (std::size_t i = 0; i < rank; ++i) EXPECT_EQ(old_k[i], new_k[i]);
  for (std::size_t i = 0; i < old_q.size(); ++i) {
    if (i % (plain + rotary) < plain) {
      EXPECT_EQ(old_q[i], new_q[i]) << i;
    }
  }
  for (const char* name :
       {"q_a_proj.weight", "q_a_layernorm.weight", "kv_a_layernorm.weight", "kv_b_proj.weight"}) {
    EXPECT_EQ(before.at(layer_0 + name).bytes, after.at(layer_0 + name).bytes);
  }
}

TEST_F(Convert, AFolderKeepsItsIndexAndQAndKMayLieInDifferentFiles) {
  const TestModel model = llama("F32", 4, 2, true);
  TestModel parts[2];
  Json map;
  for (const auto& [name, tensor] : model) {
    const std::size_t part = name.find("q_") != std::string::npos ? 0 : 1;
    parts[part].push_back({name, tensor});
    map[name] = part == 0 ? "a.safetensors" : "b.safetensors";
  }
  const fs::path in = folder / "in", out = folder / "out";
  fs::create_directory(in);
  write_bytes(in / "a.safetensors", file_of(parts[0]));
  write_bytes(in / "b.safetensors", file_of(parts[1]));
  const std::string index = Json{{"weight_map", map}}.dump();
  write_bytes(in / "model.safetensors.index.json", index);
  write_bytes(in / "vocab.txt", "a b c");
  const ConvertOptions options = options_for(PairKind::split_half, PairKind::interleaved, 4, 2);
  for (const fs::path& named : {in, in / "model.safetensors.index.json"}) {
    convert(named, out, options, Writing::whole);
    EXPECT_EQ(file_bytes(out / "model.safetensors.index.json"), index);
    EXPECT_EQ(file_bytes(out / "vocab.txt"), "a b c");
    // As one file it becomes the same.
    convert_model(model, options);
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(out)) {
      ++files;
      if (entry.path().extension() != ".safetensors") continue;
      const ReadModel read = read_model(entry.path());
      EXPECT_EQ(read.metadata["rope_pairing"], "interleaved");
      for (const auto& [name, tensor] : read.tensors)
        EXPECT_EQ(tensor.bytes, read_model(folder / "out.safetensors").at(name).bytes) << name;
    }
    EXPECT_EQ(files, 4U);
    EXPECT_THAT([&] { convert(named, out, options, Writing::whole); },
                ThrowsMessage<FileError>(HasSubstr("must be a new or empty folder")));
    fs::remove_all(out);
    fs::remove(folder / "out.safetensors");
  }
}

TEST_F(Convert, NamesTheTensorThatIsNotFinite) {
  constexpr double infinity = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  for (const char* dtype : {"F64", "F32", "F16", "BF16"}) {
    for (const double value : {nan, infinity, -infinity}) {
      for (const char* name : {"k_proj.weight", "q_proj.bias", "k_norm.weight"}) {
        TestModel model = llama(dtype, 4, 2, true);
        constexpr std::size_t row = 21;
        for (auto& entry : model) {
          if (entry.first != layer_0 + name) continue;
          auto& tensor = entry.second;
          const std::size_t columns = tensor.shape.size() == 2 ? hidden : 1;
          eigen_rope::detail::with_scalar(scalar_of(dtype), [&](auto tag) {
            using Scalar = typename decltype(tag)::type;
            const Scalar wrong = static_cast<Scalar>(value);
            std::memcpy(tensor.bytes.data() + ((row + 1) * columns - 1) * sizeof wrong, &wrong,
                        sizeof wrong);
          });
        }
        EXPECT_THAT(
            [&] {
              convert_model(model, options_for(PairKind::split_half, PairKind::interleaved, 4, 2));
            },
            ThrowsMessage<FileError>(
                "[rope] " + (folder / "in.safetensors").string() + ": tensor \"" + layer_0 + name +
                "\" must hold finite numbers to be verified, got NaN or infinity in row 21"));
        EXPECT_FALSE(fs::exists(folder / "out.safetensors"));
      }
    }
  }
}

TEST_F(Convert, WhatIsNotMovedMayBeNotFinite) {
  TestModel model = llama("F32", 4, 2, false);
  for (auto& [name, tensor] : model) {
    if (name == layer_0 + "o_proj.weight") std::memcpy(tensor.bytes.data(), "\x00\x00\xc0\x7f", 4);
  }
  convert_model(model, options_for(PairKind::split_half, PairKind::interleaved, 4, 2));
}

}  // namespace
}  // namespace eigen_rope::tool::convert_tests
