// SPDX-License-Identifier: Apache-2.0
#include "tool/convert/plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <regex>

#include "eigen_rope/numbers/error.hpp"
#include "numbers/joined.hpp"
#include "tool/io/file_error.hpp"

namespace eigen_rope::tool {
namespace {

// Names of modules in published models. A module's name is what stands between two dots.
constexpr const char* query_names = "(?:^|\\.)(?:q_proj|wq|attn_q|query|query_proj|to_q|q_lin)";
constexpr const char* key_names = "(?:^|\\.)(?:k_proj|wk|attn_k|key|key_proj|to_k|k_lin)";
constexpr const char* fused_names =
    "(?:^|\\.)(?:qkv_proj|query_key_value|c_attn|wqkv|Wqkv|qkv|attn_qkv|qkv_lin)";
constexpr const char* query_norms = "(?:attn_)?(?:q|query)_?(?:layer)?norm";
constexpr const char* key_norms = "(?:attn_)?(?:k|key)_?(?:layer)?norm";
// What else may lie beside a query: its name says that it depends on the elements of q or k, unless
// it is the way to a latent query.
constexpr const char* suspects =
    "indexer|(?:attn_)?(?:q|k|qk|qkv|query|key|queries|keys|rope|rotary)(?:_.*|[0-9].*)?";
constexpr const char* harmless = "q_a_proj|q_a_layernorm|q_a_norm|k_b_proj|rotary_emb";

// Where attention is latent, the modules that make the rotated elements.
constexpr const char* latent_query_names = "(?:^|\\.)(?:q_proj|q_b_proj)";
constexpr const char* latent_key_names = "(?:^|\\.)kv_a_proj_with_mqa";

// Regular expressions of the standard library use the stack for every character.
constexpr std::size_t longest_name = 1000;
// Verification keeps one number for each column.
constexpr std::uint64_t most_columns = std::uint64_t{1} << 20;

std::regex compiled(const std::string& expression, const char* option) {
  try {
    return std::regex(expression);
  } catch (const std::regex_error&) {
    detail::fail(fmt::format("{} must be a regular expression", option), expression);
  }
}

// A module found in a tensor's name: "model.layers.0.self_attn." + "q_proj" + ".weight"
struct Module {
  std::string layer{}, component{}, rest{};
};

// Finds modules by a regular expression that ends where a module's name does.
class ModuleFinder {
 public:
  ModuleFinder(const std::string& expression, const char* option) {
    if (expression.empty()) return;
    compiled(expression, option);
    expression_ = compiled("(?:" + expression + ")$", option);
  }

  bool used() const { return expression_.has_value(); }

  std::optional<Module> find(const std::string& name) const {
    for (std::size_t end = name.size(); used() && end != std::string::npos && end > 0;
         end = name.rfind('.', end - 1)) {
      if (!std::regex_search(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(end),
                             *expression_))
        continue;
      const std::size_t dot = name.rfind('.', end - 1);
      const std::size_t begin = dot == std::string::npos ? 0 : dot + 1;
      return Module{name.substr(0, begin), name.substr(begin, end - begin), name.substr(end)};
    }
    return std::nullopt;
  }

 private:
  std::optional<std::regex> expression_{};
};

// The part of a projection a tensor is, by what follows the module's name; nothing for LoRA's A,
// which has no row for an element of q.
struct PartOfProjection {
  bool known = false;
  std::optional<Part> part{};
};

PartOfProjection part_of_projection(const std::string& rest) {
  static const std::regex weight("(\\.base_layer)?\\.weight|"), bias("(\\.base_layer)?\\.bias");
  static const std::regex lora_b("\\.(lora_B|lora_up)(\\.[^.]+)?(\\.weight)?"),
      lora_a("\\.(lora_A|lora_down)(\\.[^.]+)?(\\.weight)?");
  static const std::regex magnitude("\\.lora_magnitude_vector(\\.[^.]+)?(\\.weight)?");
  if (std::regex_match(rest, weight)) return {true, Part::weight};
  if (std::regex_match(rest, bias)) return {true, Part::bias};
  if (std::regex_match(rest, lora_b)) return {true, Part::lora_b};
  if (std::regex_match(rest, magnitude)) return {true, Part::magnitude};
  return {std::regex_match(rest, lora_a), std::nullopt};
}

std::optional<ScalarType> scalar_type_named(const std::string& dtype) {
  if (dtype == "F32") return ScalarType::f32;
  if (dtype == "F64") return ScalarType::f64;
  if (dtype == "F16") return ScalarType::f16;
  if (dtype == "BF16") return ScalarType::bf16;
  return std::nullopt;
}

std::uint64_t count_of(const std::vector<std::uint64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

// Collects layers in the order of the files.
class Planner {
 public:
  Planner(const ConvertOptions& options, const Description& description, const Model& model)
      : model_(model),
        shape_(description.shape),
        order_(description.order),
        by_default_(options.query.empty() && options.key.empty() && options.fused.empty()),
        query_(!by_default_         ? options.query
               : description.latent ? latent_query_names
                                    : query_names,
               "--q"),
        key_(!by_default_         ? options.key
             : description.latent ? latent_key_names
                                  : key_names,
             "--k"),
        fused_(by_default_ ? fused_names : options.fused, "--qkv"),
        keep_(compiled(options.keep.empty() ? "(?!)" : options.keep, "--keep")),
        rotates_(options.contradiction == Contradiction::overridden ||
                 description.family_pairing.has_value()) {}

  std::vector<ConvertedLayer> layers() {
    if (!rotates_) check_rotates();
    for_each_tensor([&](std::size_t shard, std::size_t entry) { add_projection(shard, entry); });
    if (layers_.empty()) refuse_nothing_found();
    for_each_tensor([&](std::size_t shard, std::size_t entry) { add_beside(shard, entry); });
    for (const ConvertedLayer& layer : layers_) check(layer);
    return std::move(layers_);
  }

 private:
  const SafetensorsEntry& tensor(std::size_t shard, std::size_t entry) const {
    return model_.shards[shard].header.tensors[entry];
  }

  [[noreturn]] void refuse_tensor(std::size_t shard, std::size_t entry,
                                  const std::string& rule) const {
    refuse(model_.shards[shard].file.path().string(),
           fmt::format("tensor \"{}\" {}", tensor(shard, entry).name, rule));
  }

  template <class Visit>
  void for_each_tensor(Visit&& visit) const {
    for (std::size_t shard = 0; shard < model_.shards.size(); ++shard) {
      for (std::size_t entry = 0; entry < model_.shards[shard].header.tensors.size(); ++entry)
        visit(shard, entry);
    }
  }

  // Learned positions beside the projections, and no word of a rotation.
  void check_rotates() const {
    static const std::regex learned(
        "(.*\\.|)(?:wpe|position_embeddings?|embed_positions|pos_embed(?:dings?)?|positional_"
        "embedding|relative_attention_bias)(?:\\."
        "weight)?");
    constexpr std::string_view group = "embeddings.";
    bool rotary = false;
    std::optional<std::pair<std::size_t, std::size_t>> found;
    for_each_tensor([&](std::size_t shard, std::size_t entry) {
      const std::string& name = tensor(shard, entry).name;
      rotary = rotary || name.find("rotary") != std::string::npos ||
               name.find("inv_freq") != std::string::npos;
      std::smatch match;
      if (found || name.size() > longest_name || !std::regex_match(name, match, learned)) return;
      std::string prefix = match[1];
      if (prefix.size() >= group.size() &&
          prefix.compare(prefix.size() - group.size(), group.size(), group) == 0) {
        prefix.resize(prefix.size() - group.size());
      }
      if (owns_projections(prefix)) found = {shard, entry};
    });
    if (rotary || !found) return;
    refuse_tensor(found->first, found->second,
                  "holds learned positions: the model does not rotate and nothing is to convert; "
                  "--force converts it");
  }

  // Does a projection's name begin so?
  bool owns_projections(const std::string& prefix) const {
    bool found = false;
    for_each_tensor([&](std::size_t shard, std::size_t entry) {
      const std::string& name = tensor(shard, entry).name;
      if (found || name.size() > longest_name || name.compare(0, prefix.size(), prefix) != 0)
        return;
      found = query_.find(name) || key_.find(name) || fused_.find(name);
    });
    return found;
  }

  bool kept(const std::string& name) const { return std::regex_search(name, keep_); }

  ConvertedLayer& layer_named(const std::string& name) {
    const auto [place, added] = places_.emplace(name, layers_.size());
    if (added) layers_.push_back({name, {}});
    return layers_[place->second];
  }

  void add_projection(std::size_t shard, std::size_t entry) {
    const std::string& name = tensor(shard, entry).name;
    if (name.size() > longest_name)
      refuse(model_.shards[shard].file.path().string(),
             fmt::format("names must have at most {} bytes, got {}", longest_name, name.size()));
    if (kept(name)) return;
    const std::optional<Module> query = query_.find(name), key = key_.find(name),
                                fused = fused_.find(name);
    const int roles = (query ? 1 : 0) + (key ? 1 : 0) + (fused ? 1 : 0);
    if (roles == 0) return;
    if (roles > 1) refuse_tensor(shard, entry, "must match one of --q, --k and --qkv, got more");
    const Module& module = query ? *query : key ? *key : *fused;
    const PartOfProjection part = part_of_projection(module.rest);
    // One number is the same for every row.
    if (!part.known && count_of(tensor(shard, entry).shape) == 1) return;
    if (!part.known)
      refuse_tensor(shard, entry,
                    fmt::format("belongs to a projection that is converted and must be a weight, a "
                                "bias or LoRA's, got \"{}\"",
                                module.rest));
    if (!part.part) return;
    if (fused && !order_) {
      refuse_tensor(shard, entry,
                    "is a fused projection of a family whose order is not known: --qkv-order must "
                    "say how its rows lie");
    }
    ConvertedTensor converted = described(shard, entry, *part.part);
    converted.projection = query ? Projection::query : key ? Projection::key : Projection::fused;
    converted.heads = fused ? fused_rows() : rows_of(query ? Role::query : Role::key, 0);
    const std::uint64_t rows =
        fused ? fused_row_count() : row_count(query ? Role::query : Role::key);
    const auto& extents = tensor(shard, entry).shape;
    const bool matrix = converted.part == Part::weight || converted.part == Part::lora_b;
    const bool fits = extents.size() == (matrix ? 2 : 1) && extents[0] == rows;
    if (!fits) {
      refuse_tensor(shard, entry,
                    fmt::format("must have shape [{}{}], got [{}]", rows, matrix ? ", any" : "",
                                detail::joined(extents, ", ")));
    }
    if (matrix) converted.columns = extents[1];
    if (converted.columns > most_columns || converted.columns == 0) {
      refuse_tensor(
          shard, entry,
          fmt::format("must have 1 to {} columns, got {}", most_columns, converted.columns));
    }
    layer_named(module.layer).tensors.push_back(std::move(converted));
  }

  // Norms of q and k, and whatever else beside a projection may depend on the order of elements.
  void add_beside(std::size_t shard, std::size_t entry) {
    static const std::regex query_norm(query_norms), key_norm(key_norms), suspect(suspects),
        safe(harmless);
    const SafetensorsEntry& found = tensor(shard, entry);
    if (kept(found.name) || query_.find(found.name) || key_.find(found.name) ||
        fused_.find(found.name))
      return;
    bool inside = false;
    for (std::size_t begin = 0; begin != std::string::npos;) {
      const std::size_t end = found.name.find('.', begin);
      const std::string component =
          found.name.substr(begin, end == std::string::npos ? end : end - begin);
      const std::string rest = end == std::string::npos ? "" : found.name.substr(end);
      const bool of_query = std::regex_match(component, query_norm),
                 of_key = std::regex_match(component, key_norm);
      const auto layer = places_.find(found.name.substr(0, begin));
      inside = inside || layer != places_.end();
      if (layer != places_.end() && (of_query || of_key)) {
        add_norm(layers_[layer->second], shard, entry, of_query ? Role::query : Role::key, rest);
        return;
      }
      if (layer == places_.end() && (of_query || of_key) && by_default_) {
        refuse_tensor(shard, entry, "must lie beside the projection it belongs to");
      }
      if (inside && std::regex_match(component, suspect) && !std::regex_match(component, safe) &&
          count_of(found.shape) != 1) {
        refuse_tensor(shard, entry,
                      "lies beside converted projections and what it does with them is not known: "
                      "--keep leaves it as it is");
      }
      begin = end == std::string::npos ? end : end + 1;
    }
  }

  void add_norm(ConvertedLayer& layer, std::size_t shard, std::size_t entry, Role role,
                const std::string& rest) {
    const SafetensorsEntry& found = tensor(shard, entry);
    if (!rest.empty() && rest != ".weight" && rest != ".bias")
      refuse_tensor(shard, entry, fmt::format("must be a norm's weight or bias, got \"{}\"", rest));
    ConvertedTensor converted =
        described(shard, entry, rest == ".bias" ? Part::norm_bias : Part::norm);
    converted.projection = role == Role::query ? Projection::query : Projection::key;
    const std::uint64_t dims = static_cast<std::uint64_t>(window_of(role).dims),
                        rows = row_count(role);
    const auto& extents = found.shape;
    const bool of_head = extents == std::vector<std::uint64_t>{dims};
    const bool of_all = extents == std::vector<std::uint64_t>{rows} ||
                        extents == std::vector<std::uint64_t>{rows / dims, dims};
    if (!of_head && !of_all) {
      refuse_tensor(shard, entry,
                    fmt::format("must have shape [{}] or [{}], got [{}]", dims, rows,
                                detail::joined(extents, ", ")));
    }
    if (of_head) {
      converted.heads = {{role, 0, 0, true}};
    } else {
      converted.heads = rows_of(role, 0);
    }
    layer.tensors.push_back(std::move(converted));
  }

  ConvertedTensor described(std::size_t shard, std::size_t entry, Part part) const {
    const SafetensorsEntry& found = tensor(shard, entry);
    const std::optional<ScalarType> type = scalar_type_named(found.dtype);
    if (!type)
      refuse_tensor(
          shard, entry,
          fmt::format("must be F64, F32, F16 or BF16 to be converted, got {}", found.dtype));
    ConvertedTensor converted;
    converted.shard = shard;
    converted.entry = entry;
    converted.name = found.name;
    converted.part = part;
    converted.type = *type;
    return converted;
  }

  HeadWindow window_of(Role role) const { return role == Role::query ? shape_.query : shape_.key; }
  eigen_rope::Index heads_of(Role role) const {
    return role == Role::query ? shape_.heads : shape_.key_heads;
  }
  std::uint64_t row_count(Role role) const {
    return static_cast<std::uint64_t>(heads_of(role) * window_of(role).dims);
  }
  std::uint64_t fused_row_count() const {
    return row_count(Role::query) + 2 * row_count(Role::key);
  }

  std::vector<HeadRows> rows_of(Role role, eigen_rope::Index first_row) const {
    std::vector<HeadRows> rows;
    rows.reserve(static_cast<std::size_t>(heads_of(role)));
    for (eigen_rope::Index head = 0; head < heads_of(role); ++head) {
      rows.push_back(
          {role, head, static_cast<std::uint64_t>(first_row + head * window_of(role).dims), false});
    }
    return rows;
  }

  std::vector<HeadRows> fused_rows() const {
    const eigen_rope::Index dims = shape_.query.dims;
    if (shape_.key.dims != dims)
      detail::fail("query and key heads of a fused projection must have the same dims",
                   shape_.key.dims);
    std::vector<HeadRows> rows = rows_of(Role::query, 0);
    const std::vector<HeadRows> keys = rows_of(Role::key, shape_.heads * dims);
    rows.insert(rows.end(), keys.begin(), keys.end());
    if (order_ == QkvOrder::concatenated) return rows;
    const eigen_rope::Index group = shape_.heads / shape_.key_heads;
    for (HeadRows& head : rows) {
      const bool query = head.role == Role::query;
      const eigen_rope::Index place = query ? head.head / group * (group + 2) + head.head % group
                                            : head.head * (group + 2) + group;
      head.first_row = static_cast<std::uint64_t>(place * dims);
    }
    return rows;
  }

  void check(const ConvertedLayer& layer) const {
    bool adapter = true;
    for (const ConvertedTensor& converted : layer.tensors)
      adapter = adapter && (converted.part == Part::lora_b || converted.part == Part::magnitude);
    // An adapter often changes q alone; its base has the other.
    if (adapter) return;
    for (const Role role : {Role::query, Role::key}) {
      bool weight = false;
      for (const ConvertedTensor& converted : layer.tensors) {
        for (const HeadRows& head : converted.heads)
          weight = weight || (head.role == role && converted.part == Part::weight);
      }
      if (!weight) {
        refuse(model_.path.string(),
               fmt::format(
                   "\"{}\" must have the weights of a query and of a key projection, got no {}",
                   layer.name, role == Role::query ? "query" : "key"));
      }
    }
  }

  [[noreturn]] void refuse_nothing_found() const {
    bool latent = false;
    for_each_tensor([&](std::size_t shard, std::size_t entry) {
      latent = latent || tensor(shard, entry).name.find("kv_a_proj") != std::string::npos;
    });
    refuse(model_.path.string(),
           latent ? "latent attention must be described by --q, --k, --offset, --key-head-dims and "
                    "--key-offset"
                  : "must have query and key projections, got none: --q and --k name them");
  }

  const Model& model_;
  AttentionShape shape_;
  std::optional<QkvOrder> order_;
  bool by_default_;
  ModuleFinder query_, key_, fused_;
  std::regex keep_;
  bool rotates_;  // as far as is known without the tensors
  std::vector<ConvertedLayer> layers_{};
  std::map<std::string, std::size_t> places_{};
};

// What the files themselves record of an earlier conversion.
void check_records(const ConvertOptions& options, const Model& model) {
  for (const Shard& shard : model.shards) {
    const std::optional<std::string> record = recorded_pairing(shard.header);
    if (record && *record != name_of(options.from)) {
      refuse(shard.file.path().string(),
             fmt::format("is recorded as paired {}, --from must say so, got {}", *record,
                         name_of(options.from)));
    }
  }
}

}  // namespace

std::optional<std::string> recorded_pairing(const SafetensorsHeader& header) {
  std::optional<std::string> record = header.metadata_value(pairing_record);
  if (record == "half") record = name_of(PairKind::split_half);
  if (record == "interleaved_to_half") record = name_of(PairKind::interleaved_to_split_half);
  return record;
}

const char* name_of(Part part) {
  switch (part) {
    case Part::weight: return "weight";
    case Part::bias: return "bias";
    case Part::lora_b: return "lora_b";
    case Part::magnitude: return "magnitude";
    case Part::norm: return "norm";
    case Part::norm_bias: break;
  }
  return "norm_bias";
}

bool ConvertedLayer::has(Role role) const {
  for (const ConvertedTensor& tensor : tensors) {
    const bool projection = tensor.part == Part::weight || tensor.part == Part::lora_b;
    for (const HeadRows& head : tensor.heads) {
      if (projection && head.role == role) return true;
    }
  }
  return false;
}

std::vector<eigen_rope::Index> source_elements(PairKind from, PairKind to, const HeadWindow& window,
                                               eigen_rope::Index rotary_dims) {
  std::vector<eigen_rope::Index> source(static_cast<std::size_t>(window.dims));
  std::iota(source.begin(), source.end(), eigen_rope::Index{0});
  for (eigen_rope::Index pair = 0; pair < rotary_dims / 2; ++pair) {
    const PairSlots before = pair_slots(from, pair, rotary_dims),
                    after = pair_slots(to, pair, rotary_dims);
    source[static_cast<std::size_t>(window.offset + after.a)] = window.offset + before.a;
    source[static_cast<std::size_t>(window.offset + after.b)] = window.offset + before.b;
  }
  return source;
}

ConvertPlan make_plan(const ConvertOptions& options, const Description& description,
                      const Model& model) {
  const AttentionShape& shape = description.shape;
  const std::vector<eigen_rope::Index> source =
      source_elements(options.from, options.to, shape.query, shape.rotary_dims);
  if (std::is_sorted(source.begin(), source.end())) {
    detail::fail(
        fmt::format("--from and --to must read pairs from different slots of {} rotary dims",
                    shape.rotary_dims),
        fmt::format("{} and {}", name_of(options.from), name_of(options.to)));
  }
  check_records(options, model);
  ConvertPlan plan{options.from, options.to, shape, description.order,
                   Planner(options, description, model).layers()};
  const bool moves = options.from == PairKind::interleaved_to_split_half ||
                     options.to == PairKind::interleaved_to_split_half;
  for (const ConvertedLayer& layer : plan.layers) {
    for (const ConvertedTensor& tensor : layer.tensors) {
      // A norm may come after the rotation, whose result lies elsewhere than its input with this
      // pairing.
      if (!moves || (tensor.part != Part::norm && tensor.part != Part::norm_bias)) continue;
      refuse(model.path.string(), fmt::format("tensor \"{}\" is a norm, which cannot be shown to "
                                              "be safe with interleaved_to_split_half",
                                              tensor.name));
    }
  }
  return plan;
}

}  // namespace eigen_rope::tool
