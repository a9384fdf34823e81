// SPDX-License-Identifier: Apache-2.0
#include "tool/plan/training_model.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <system_error>

#include "eigen_rope/models/hugging_face.hpp"
#include "eigen_rope/models/projections.hpp"
#include "tool/inspect/layer_kinds.hpp"
#include "tool/io/file_error.hpp"
#include "tool/io/file_kind.hpp"
#include "tool/io/text_part.hpp"

namespace eigen_rope::tool {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t largest_width = std::uint64_t{1} << 24;
constexpr eigen_rope::Index most_layers = 1 << 16;

/// Which layers of a family see only the last sliding_window tokens where the file has no types.
enum class Windows { typed_layers, all_layers };

/// What transformers does where a family's file does not say it.
struct DenseFamily {
  const char* name;
  MlpKind mlp;
  HeadMatrix head = HeadMatrix::own;
  Windows windows = Windows::typed_layers;
};

constexpr std::array dense_families{
    DenseFamily{"arcee", MlpKind::plain},
    DenseFamily{"cohere", MlpKind::gated, HeadMatrix::tied},
    DenseFamily{"cohere2", MlpKind::gated, HeadMatrix::tied},
    DenseFamily{"exaone4", MlpKind::gated},
    DenseFamily{"gemma", MlpKind::gated, HeadMatrix::tied},
    DenseFamily{"gemma2", MlpKind::gated, HeadMatrix::tied},
    DenseFamily{"gemma3_text", MlpKind::gated, HeadMatrix::tied},
    DenseFamily{"glm", MlpKind::gated},
    DenseFamily{"glm4", MlpKind::gated},
    DenseFamily{"gpt_neox", MlpKind::plain},
    DenseFamily{"granite", MlpKind::gated},
    DenseFamily{"llama", MlpKind::gated},
    DenseFamily{"mistral", MlpKind::gated, HeadMatrix::own, Windows::all_layers},
    DenseFamily{"nemotron", MlpKind::plain},
    DenseFamily{"olmo", MlpKind::gated},
    DenseFamily{"olmo2", MlpKind::gated},
    DenseFamily{"olmo3", MlpKind::gated},
    DenseFamily{"persimmon", MlpKind::plain},
    DenseFamily{"phi", MlpKind::plain},
    DenseFamily{"phi3", MlpKind::gated, HeadMatrix::own, Windows::all_layers},
    DenseFamily{"qwen2", MlpKind::gated},
    DenseFamily{"qwen2_vl_text", MlpKind::gated},
    DenseFamily{"qwen3", MlpKind::gated},
    DenseFamily{"qwen3_vl_text", MlpKind::gated},
    DenseFamily{"smollm3", MlpKind::gated},
    DenseFamily{"stablelm", MlpKind::gated},
    DenseFamily{"starcoder2", MlpKind::plain, HeadMatrix::tied, Windows::all_layers},
};

const DenseFamily* dense_family(const std::string& name) {
  const auto* const found =
      std::find_if(dense_families.begin(), dense_families.end(),
                   [&](const DenseFamily& family) { return name == family.name; });
  return found == dense_families.end() ? nullptr : found;
}

/// Nothing where the file does not say it.
const Json* entry_of(const Json& text, const char* name) {
  const auto found = text.find(name);
  return found == text.end() || found->is_null() ? nullptr : &*found;
}

eigen_rope::Index width_of(const fs::path& file, const char* name, const Json& entry) {
  if (!entry.is_number_unsigned() || entry.get<std::uint64_t>() < 1 ||
      entry.get<std::uint64_t>() > largest_width) {
    refuse(file.string(), fmt::format("{} must be a whole number from 1 to {}, got {}", name,
                                      largest_width, entry.dump()));
  }
  return entry.get<eigen_rope::Index>();
}

/// The first of these names that the file has.
eigen_rope::Index width_in(const fs::path& file, const Json& text,
                           std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const Json* entry = entry_of(text, name)) return width_of(file, name, *entry);
  }
  refuse(file.string(),
         fmt::format("{} must be given, for a plan to count parameters", *names.begin()));
}

void refuse_what_is_not_dense(const fs::path& file, const Json& text,
                              const std::string& architecture) {
  for (const char* name :
       {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"}) {
    const Json* entry = entry_of(text, name);
    if (entry != nullptr && *entry != 0 && *entry != 1)
      refuse(file.string(), fmt::format("{} says that the model is a mixture of experts, which a "
                                        "plan does not know how to cut",
                                        name));
  }
  if (models::has_latent_attention(architecture) || entry_of(text, "qk_rope_head_dim") != nullptr)
    refuse(
        file.string(),
        fmt::format("is of a model with latent attention ({}), whose keys and values a plan does "
                    "not know",
                    architecture));
}

/// The type of each layer; empty ones where the file has no types.
std::vector<std::string> types_of_layers(const fs::path& file, const Json& text,
                                         const models::ModelRope& rope,
                                         const std::vector<int>& kinds) {
  std::vector<std::string> types;
  types.reserve(kinds.size());
  for (const int kind : kinds)
    types.push_back(kind == not_rotated ? ""
                                        : rope.layers[static_cast<std::size_t>(kind)].layer_type);
  const Json* listed = entry_of(text, "layer_types");
  if (listed == nullptr) return types;
  const bool usable =
      listed->is_array() && listed->size() == kinds.size() &&
      std::all_of(listed->begin(), listed->end(), [](const Json& one) { return one.is_string(); });
  if (!usable)
    refuse(file.string(),
           fmt::format("layer_types must name a type for each of {} layers", kinds.size()));
  return listed->get<std::vector<std::string>>();
}

/// How far a layer of this type sees; 0 for all before it.
eigen_rope::Index window_of(const fs::path& file, const Json& text, const std::string& type,
                            const DenseFamily* family) {
  if (type == "sliding_attention") return width_in(file, text, {"sliding_window"});
  if (!type.empty() && type != "full_attention") {
    refuse(file.string(),
           fmt::format("has layers of type {}, whose work a plan does not know", type));
  }
  const Json* window = entry_of(text, "sliding_window");
  const bool all = type.empty() && window != nullptr && family != nullptr &&
                   family->windows == Windows::all_layers;
  return all ? width_of(file, "sliding_window", *window) : 0;
}

std::vector<LayerGroup> groups_of(const fs::path& file, const Json& text,
                                  const models::ModelRope& rope, const DenseFamily* family) {
  const std::optional<std::vector<int>> kinds = kinds_of_layers(rope);
  if (!kinds || kinds->size() > static_cast<std::size_t>(most_layers))
    refuse(file.string(),
           fmt::format("num_hidden_layers must be a whole number from 1 to {}, for a "
                       "plan to count layers",
                       most_layers));
  const std::vector<std::string> types = types_of_layers(file, text, rope, *kinds);
  std::vector<LayerGroup> groups;
  for (std::size_t i = 0; i < kinds->size(); ++i) {
    const bool rotates = (*kinds)[i] != not_rotated;
    const models::LayerRope& kind =
        rope.layers[rotates ? static_cast<std::size_t>((*kinds)[i]) : 0];
    LayerGroup layer;
    layer.layer_type = types[i];
    layer.head_dims = kind.head_dims;
    layer.rotary_dims = rotates ? kind.powers.rotary_dims : 0;
    layer.window = window_of(file, text, types[i], family);
    layer.table = (*kinds)[i];
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const LayerGroup& group) {
      return group.layer_type == layer.layer_type && group.head_dims == layer.head_dims &&
             group.table == layer.table && group.window == layer.window;
    });
    ++(same == groups.end() ? groups.emplace_back(layer) : *same).count;
  }
  return groups;
}

fs::path config_of(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) refuse(path.string(), "must be a config.json or a folder with one");
  fs::path file = fs::is_directory(path, error) ? path / "config.json" : path;
  if (beginning_of(file).compare(0, 4, "GGUF") == 0)
    refuse(path.string(), "is a GGUF file: give the config.json, which has the model's widths");
  return file;
}

}  // namespace

eigen_rope::Index TrainingModel::layer_count() const {
  eigen_rope::Index count = 0;
  for (const LayerGroup& group : layers) count += group.count;
  return count;
}

TrainingModel read_training_model(const fs::path& path, models::Strictness strictness,
                                  std::optional<MlpKind> mlp) {
  const fs::path file = config_of(path);
  const Json config = read_json(file);
  const models::ModelRope rope = models::read_hugging_face(file, strictness);
  const Json& text = text_part(config);
  if (rope.layers.empty())
    refuse(file.string(), fmt::format("is of a model that does not rotate ({}): there is no "
                                      "rotation to plan for",
                                      rope.architecture));
  refuse_what_is_not_dense(file, text, rope.architecture);
  const Json* type = entry_of(text, "model_type");
  const std::string name =
      type != nullptr && type->is_string() ? type->get<std::string>() : rope.architecture;
  const DenseFamily* family = dense_family(name);
  if (family == nullptr && !mlp)
    refuse(file.string(),
           fmt::format("is of a family whose MLP a plan does not know ({}): give --mlp", name));
  TrainingModel model;
  model.architecture = rope.architecture;
  model.context = rope.context;
  model.warnings = rope.warnings;
  model.width = width_in(file, text, {"hidden_size", "n_embd"});
  model.mlp_width = width_in(file, text, {"intermediate_size", "n_inner", "ffn_hidden_size"});
  model.vocabulary = width_in(file, text, {"vocab_size"});
  model.heads = width_in(file, text, {"num_attention_heads", "n_head"});
  model.key_heads = rope.key_heads > 0 ? rope.key_heads : model.heads;
  if (model.heads % model.key_heads != 0)
    refuse(file.string(), fmt::format("num_attention_heads must be a multiple of "
                                      "num_key_value_heads ({}), got {}",
                                      model.key_heads, model.heads));
  model.mlp = mlp ? *mlp : family->mlp;
  model.head = family == nullptr ? HeadMatrix::own : family->head;
  if (const Json* tied = entry_of(text, "tie_word_embeddings");
      tied != nullptr && tied->is_boolean())
    model.head = tied->get<bool>() ? HeadMatrix::tied : HeadMatrix::own;
  if (rope.layers.front().pairing) model.pairing = rope.layers.front().pairing->kind();
  model.layers = groups_of(file, text, rope, family);
  return model;
}

}  // namespace eigen_rope::tool
