// SPDX-License-Identifier: Apache-2.0
//
// What the tests of `eigen-rope verify` need: one small recording of each format.
//
// The recordings are computed by plain loops in double from the operators' published definitions:
//   ggml   y_i = x_i cos t - x_j sin t,  y_j = x_i sin t + x_j cos t,
//                       t = position * base^(-2k/n_dims)
//   ONNX   the same with c and s from the caches
//   Ascend y_a = x_a cos_a - x_b sin_a,  y_b = x_b cos_b + x_a sin_b,  and its gradients
// Not the recordings under data/golden, whose shapes these avoid.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/run_tool.hpp"
#include "tool/verify/golden_files.hpp"

namespace eigen_rope::tool::test {

inline Outcome run_verify(const fs::path& folder, const std::string& options = "") {
  return run_tool("verify '" + folder.string() + "' " + options);
}

/// data.bin as it grows; each array at a multiple of 64 bytes.
class Data {
 public:
  template <class Element>
  std::int64_t add(const std::vector<Element>& elements) {
    bytes_.resize((bytes_.size() + 63) / 64 * 64);
    const std::size_t offset = bytes_.size();
    bytes_.append(reinterpret_cast<const char*>(elements.data()),
                  elements.size() * sizeof(Element));
    return static_cast<std::int64_t>(offset);
  }
  template <class Element>
  Json tensor(const char* name, const char* role, const char* dtype, const Dims& shape,
              const std::vector<Element>& elements) {
    const std::int64_t offset = add(elements);
    return {{"name", name},   {"role", role},     {"dtype", dtype},
            {"shape", shape}, {"offset", offset}, {"bytes", elements.size() * sizeof(Element)}};
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// A recording in memory: written, perhaps after a change, to a folder.
struct Recording {
  Json index{};
  std::string data{};

  void write(const fs::path& folder) const {
    fs::create_directories(folder);
    write_bytes(folder / "cases.json", index.dump());
    write_bytes(folder / "data.bin", data);
  }
  void set(std::int64_t offset, float value) {
    std::memcpy(&data[static_cast<std::size_t>(offset)], &value, sizeof value);
  }
  float get(std::int64_t offset) const {
    float value;
    std::memcpy(&value, &data[static_cast<std::size_t>(offset)], sizeof value);
    return value;
  }
};

/// Numbers in [-1, 1) without a pattern (a linear congruence).
inline std::vector<float> numbers(std::size_t count, std::uint64_t seed) {
  std::vector<float> result(count);
  std::uint64_t state = seed;
  for (float& value : result) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    value = static_cast<float>(static_cast<std::int64_t>(state >> 40) - (std::int64_t{1} << 23)) *
            0x1p-23F;
  }
  return result;
}

/// ggml normal, D 6 with dims 2..5 rotated, 3 heads, 2 tokens at positions 3 and 7. Without
/// nmse_vs_double: taken to be exact.
inline Recording ggml_recording() {
  const std::vector<float> x = numbers(36, 1);
  const std::vector<std::int32_t> positions{3, 7};
  std::vector<float> y = x;
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t k = 0; k < 2; ++k) {
      const double angle = positions[row / 3] * std::pow(500.0, -2.0 * static_cast<double>(k) / 4);
      const std::size_t i = row * 6 + 2 + 2 * k;
      y[i] = static_cast<float>(x[i] * std::cos(angle) - x[i + 1] * std::sin(angle));
      y[i + 1] = static_cast<float>(x[i] * std::sin(angle) + x[i + 1] * std::cos(angle));
    }
  }
  Data data;
  const auto place = [&](const auto& elements, const char* dtype) -> Json {
    return {{"file", "data.bin"},
            {"offset", data.add(elements)},
            {"count", elements.size()},
            {"dtype", dtype}};
  };
  const Json one = {{"id", 12},
                    {"group", "mine"},
                    {"type", "f32"},
                    {"ne", {6, 3, 2, 1}},
                    {"n_dims", 4},
                    {"mode", 0},
                    {"mode_name", "normal"},
                    {"n_offs", 2},
                    {"direction", "forward"},
                    {"n_ctx_orig", 0},
                    {"freq_base", 500},
                    {"freq_scale", 1},
                    {"ext_factor", 0},
                    {"attn_factor", 1},
                    {"beta_fast", 32},
                    {"beta_slow", 1},
                    {"sections", {0, 0, 0, 0}},
                    {"freq_factors", nullptr},
                    {"input", place(x, "f32")},
                    {"output", place(y, "f32")},
                    {"positions", place(positions, "i32")}};
  return {{{"source", "ggml CPU backend"}, {"cases", Json::array({one})}}, data.bytes()};
}

/// ONNX, half pairs: X [1, 2, 3, 6] of which 4 dims rotate, caches [5, 2].
inline Recording onnx_recording() {
  const std::vector<float> x = numbers(36, 2), cos = numbers(10, 3), sin = numbers(10, 4);
  const std::vector<std::int64_t> ids{4, 0, 2};
  std::vector<float> y = x;
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t k = 0; k < 2; ++k) {
      const double c = cos[static_cast<std::size_t>(ids[row % 3]) * 2 + k],
                   s = sin[static_cast<std::size_t>(ids[row % 3]) * 2 + k];
      const std::size_t i = row * 6 + k, j = i + 2;
      y[i] = static_cast<float>(x[i] * c - x[j] * s);
      y[j] = static_cast<float>(x[i] * s + x[j] * c);
    }
  }
  Data data;
  Json tensors = Json::array({data.tensor("X", "input", "float32", {1, 2, 3, 6}, x),
                              data.tensor("cos_cache", "input", "float32", {5, 2}, cos),
                              data.tensor("sin_cache", "input", "float32", {5, 2}, sin),
                              data.tensor("position_ids", "input", "int64", {1, 3}, ids),
                              data.tensor("Y", "output", "float32", {1, 2, 3, 6}, y)});
  const Json one = {{"name", "mine"},
                    {"domain", "ai.onnx"},
                    {"op", "RotaryEmbedding"},
                    {"opset", 23},
                    {"attributes", {{"rotary_embedding_dim", 4}}},
                    {"max_abs_err_vs_f64", 1e-7},
                    {"tensors", tensors}};
  return {{{"data", "data.bin"}, {"cases", Json::array({one})}}, data.bytes()};
}

/// Ascend's half mode, TND [3, 2, 4], tables [3, 1, 4] whose members of a pair differ.
inline Recording aclnn_recording() {
  const std::vector<float> x = numbers(24, 5), dy = numbers(24, 6), cos = numbers(12, 7),
                           sin = numbers(12, 8);
  std::vector<double> y(24), dx(24), dcos(12), dsin(12);
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t j = 0; j < 2; ++j) {
      const std::size_t a = row * 4 + j, b = a + 2, A = row / 2 * 4 + j, B = A + 2;
      const double xa = x[a], xb = x[b], ga = dy[a], gb = dy[b];
      y[a] = xa * cos[A] - xb * sin[A];
      y[b] = xb * cos[B] + xa * sin[B];
      dx[a] = cos[A] * ga + sin[B] * gb;
      dx[b] = cos[B] * gb - sin[A] * ga;
      dcos[A] += ga * xa;
      dcos[B] += gb * xb;
      dsin[A] -= ga * xb;
      dsin[B] += gb * xa;
    }
  }
  Data data;
  Json tensors = Json::array({data.tensor("x", "input", "float32", {3, 2, 4}, x),
                              data.tensor("cos", "input", "float32", {3, 1, 4}, cos),
                              data.tensor("sin", "input", "float32", {3, 1, 4}, sin),
                              data.tensor("dy", "input", "float32", {3, 2, 4}, dy),
                              data.tensor("y", "output", "float64", {3, 2, 4}, y),
                              data.tensor("dx", "output", "float64", {3, 2, 4}, dx),
                              data.tensor("dcos", "output", "float64", {3, 1, 4}, dcos),
                              data.tensor("dsin", "output", "float64", {3, 1, 4}, dsin)});
  const Json one = {{"name", "mine"},  {"op", "RotaryPositionEmbedding"},
                    {"mode", 0},       {"mode_name", "half"},
                    {"layout", "TND"}, {"tensors", tensors}};
  return {Json::array({one}), data.bytes()};
}

}  // namespace eigen_rope::tool::test
