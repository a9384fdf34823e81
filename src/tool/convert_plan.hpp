// SPDX-License-Identifier: Apache-2.0
//
// What `rope convert` will do to a model: which tensors hold rows of queries and keys, and where each row goes.
//
// With pair k of a head at slots (a, b) of the old pairing and (a', b') of the new one, old row a becomes new row a' and old row b new
// row b', for every head and every tensor with a row for each of its elements: weights [out, in], biases and norms [out] or
// [head dims], LoRA's B [out, rank]. Both q and k move, so q.k stays. Everything that cannot be shown to be safe is refused (FileError).
// Nothing is written here (convert_write.hpp) and nothing proven on numbers (convert_verify.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "byte_files.hpp"
#include "rope/pairing.hpp"
#include "rope/scalar_type.hpp"
#include "safetensors.hpp"

namespace rope::tool {

/// One file of a model.
struct Shard {
  InputFile file;
  SafetensorsHeader header{};
};

/// A file, or a folder of files with an index.
struct Model {
  std::filesystem::path path{};
  std::vector<Shard> shards{};
  /// model.safetensors.index.json; empty if there is none.
  std::filesystem::path index{};
  /// Is it a folder that was named, so that a folder has to be made?
  bool folder = false;
};

/// `path` is a file, a folder with model.safetensors or an index, or such an index. Refuses files that do not agree with the index.
Model open_model(const std::filesystem::path& path);

/// How the rows of a fused projection lie.
enum class QkvOrder {
  /// All of q, all of k, all of v.
  concatenated,
  /// For each key head: its query heads, the key, the value.
  grouped,
};

/// What the user said; what is missing comes from config.json.
struct ConvertOptions {
  PairKind from = PairKind::half;
  PairKind to = PairKind::interleaved;
  /// Regular expressions for the names of modules. With any of the first three, only those given are used.
  std::string query{}, key{}, fused{};
  /// Tensors that stay though their names say they belong to a query or key.
  std::string keep{};
  std::optional<QkvOrder> order{};
  std::optional<rope::Index> heads{}, key_heads{}, head_dims{}, key_head_dims{}, rotary_dims{}, offset{}, key_offset{};
  /// Empty: config.json beside the model, if anything is missing.
  std::filesystem::path config{};
};

/// Elements of a head and where its rotated window begins.
struct HeadWindow {
  rope::Index dims = 0;
  rope::Index offset = 0;
};

struct AttentionShape {
  rope::Index heads = 0, key_heads = 0;
  rope::Index rotary_dims = 0;
  HeadWindow query{}, key{};
};

/// From the options and, where they leave something open, from config.json. Refuses what does not fit together.
AttentionShape attention_shape(const ConvertOptions& options, const Model& model);

enum class Role { query, key };

/// How a tensor enters q = (W x + bias + sum of B z) * magnitude * norm + norm bias.
enum class Part { weight, bias, lora_b, magnitude, norm, norm_bias };
const char* name_of(Part part);

/// A head of a tensor: its rows from `first_row` on.
struct HeadRows {
  Role role = Role::query;
  rope::Index head = 0;
  std::uint64_t first_row = 0;
  /// One for all heads: the norm of a head.
  bool shared = false;
};

struct ConvertedTensor {
  std::size_t shard = 0, entry = 0;
  std::string name{};
  Part part = Part::weight;
  ScalarType type = ScalarType::f32;
  std::uint64_t columns = 1;
  std::vector<HeadRows> heads{};

  std::uint64_t row_bytes() const { return columns * size_of(type); }
};

/// The tensors that make q and k of one layer.
struct ConvertedLayer {
  /// What their names begin with.
  std::string name{};
  std::vector<ConvertedTensor> tensors{};

  bool has(Role role) const;
};

struct ConvertPlan {
  PairKind from = PairKind::half;
  PairKind to = PairKind::interleaved;
  AttentionShape shape{};
  std::vector<ConvertedLayer> layers{};
};

ConvertPlan make_plan(const ConvertOptions& options, const AttentionShape& shape, const Model& model);

/// Element d of a head, as converted, is element source[d] of the head as it was. `window.offset` + `rotary_dims` <= `window.dims`.
std::vector<rope::Index> source_elements(PairKind from, PairKind to, const HeadWindow& window, rope::Index rotary_dims);

/// The metadata key under which a file's pairing is recorded.
inline constexpr const char* pairing_record = "rope_pairing";

}  // namespace rope::tool
