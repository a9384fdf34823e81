// SPDX-License-Identifier: Apache-2.0
//
// What `eigen-rope convert` will do to a model: which tensors hold rows of queries and keys, and
// where each row goes.
//
// With pair k of a head at slots (a, b) of the old pairing and (a', b') of the new one, old row a
// becomes new row a' and old row b new row b', for every head and every tensor with a row for each
// of its elements: weights [out, in], biases and norms [out] or [head dims], LoRA's B [out, rank].
// Both q and k move, so q.k stays. Everything that cannot be shown to be safe is refused
// (FileError). Nothing is written here (write.hpp) and nothing proven on numbers (verify.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "eigen_rope/any/scalar_type.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/models/model_rope.hpp"
#include "tool/io/byte_files.hpp"
#include "tool/io/safetensors.hpp"

namespace eigen_rope::tool {

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
  /// Where its config.json is looked for; empty: the folder the model is in.
  std::filesystem::path config_folder{};
};

/// `path` is a file, a folder with model.safetensors or an index, or such an index. Refuses files
/// that do not agree with the index.
Model open_model(const std::filesystem::path& path);

/// How the rows of a fused projection lie.
enum class QkvOrder {
  /// All of q, all of k, all of v.
  concatenated,
  /// For each key head: its query heads, the key, the value.
  grouped,
};

const char* name_of(QkvOrder order);

/// What becomes of an option that contradicts config.json.
enum class Contradiction { refused, overridden };

/// What becomes of a file that is where the result shall be.
enum class Existing { refused, replaced };

/// What the user said; what is missing comes from config.json.
struct ConvertOptions {
  PairKind from = PairKind::split_half;
  PairKind to = PairKind::interleaved;
  /// Regular expressions for the names of modules. With any of the first three, only those given
  /// are used.
  std::string query{}, key{}, fused{};
  /// Tensors that stay though their names say they belong to a query or key.
  std::string keep{};
  std::optional<QkvOrder> order{};
  std::optional<eigen_rope::Index> heads{}, key_heads{}, head_dims{}, key_head_dims{},
      rotary_dims{}, offset{}, key_offset{};
  /// A configuration elsewhere. One beside the model is read as well and must agree.
  std::filesystem::path config{};
  models::Strictness strictness = models::Strictness::strict;
  Contradiction contradiction = Contradiction::refused;
  Existing existing = Existing::refused;
};

/// Elements of a head and where its rotated window begins.
struct HeadWindow {
  eigen_rope::Index dims = 0;
  eigen_rope::Index offset = 0;
};

struct AttentionShape {
  eigen_rope::Index heads = 0, key_heads = 0;
  eigen_rope::Index rotary_dims = 0;
  HeadWindow query{}, key{};
};

/// What is known of a model's attention, from config.json and the options together.
struct Description {
  AttentionShape shape{};
  /// Empty where neither the family nor the options say it.
  std::optional<QkvOrder> order{};
  /// The base of the model's angles.
  double base = 10000;
  /// How transformers pairs the rows of this family; empty where that is not known or there is no
  /// configuration.
  std::optional<PairKind> family_pairing{};
  /// Does the file itself record that pairing (rope_interleave), and not only name the family?
  bool pairing_in_config = false;
  /// DeepSeek's attention, whose query and key heads differ outside the window.
  bool latent = false;
  /// What was read; empty where there is no configuration.
  std::filesystem::path config{};
  /// A sentence each.
  std::vector<std::string> warnings{};
};

/// Reads config.json beside the model whenever it is there (config.cpp). Refuses options that
/// contradict it unless they are forced, and what does not fit together.
Description describe(const ConvertOptions& options, const Model& model);

/// The folder a model's files lie in.
std::filesystem::path folder_of(const Model& model);
/// The configuration beside a model; empty if there is none.
std::filesystem::path config_beside(const Model& model);

/// Do both pairings read the same slots as pairs? interleaved and interleaved_to_split_half do.
bool same_pairs(PairKind a, PairKind b);

enum class Role { query, key };

/// What the rows of a tensor belong to.
enum class Projection { query, key, fused };

/// How a tensor enters q = (W x + bias + sum of B z) * magnitude * norm + norm bias.
enum class Part { weight, bias, lora_b, magnitude, norm, norm_bias };
const char* name_of(Part part);

/// A head of a tensor: its rows from `first_row` on.
struct HeadRows {
  Role role = Role::query;
  eigen_rope::Index head = 0;
  std::uint64_t first_row = 0;
  /// One for all heads: the norm of a head.
  bool shared = false;
};

struct ConvertedTensor {
  std::size_t shard = 0, entry = 0;
  std::string name{};
  Projection projection = Projection::query;
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
  PairKind from = PairKind::split_half;
  PairKind to = PairKind::interleaved;
  AttentionShape shape{};
  /// How fused projections are read, where there are any.
  std::optional<QkvOrder> order{};
  std::vector<ConvertedLayer> layers{};
};

/// Refuses models that are known not to rotate, in any case those with a table of learned positions
/// and no word of a rotation.
ConvertPlan make_plan(const ConvertOptions& options, const Description& description,
                      const Model& model);

/// Element d of a head, as converted, is element source[d] of the head as it was. `window.offset` +
/// `rotary_dims` <= `window.dims`.
std::vector<eigen_rope::Index> source_elements(PairKind from, PairKind to, const HeadWindow& window,
                                               eigen_rope::Index rotary_dims);

/// The metadata key under which a file's pairing is recorded.
inline constexpr const char* pairing_record = "rope_pairing";
/// The name of the pairing that a file records; none where it records none. Files that were
/// converted before version 0.1 say `half` for `split_half`, which is read as such.
std::optional<std::string> recorded_pairing(const SafetensorsHeader& header);

}  // namespace eigen_rope::tool
