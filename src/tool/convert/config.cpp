// SPDX-License-Identifier: Apache-2.0
//
// What config.json and the options say of a model's attention, as one description of which nothing
// is contradicted.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <system_error>
#include <utility>

#include "eigen_rope/models/hugging_face.hpp"
#include "eigen_rope/models/projections.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "tool/convert/plan.hpp"
#include "tool/io/file_error.hpp"
#include "tool/io/json_file.hpp"
#include "tool/io/text_part.hpp"

namespace eigen_rope::tool {
namespace fs = std::filesystem;
namespace {

// Rows of all heads of a layer: what verification keeps of it must fit in memory.
constexpr eigen_rope::Index most_rows = eigen_rope::Index{1} << 18;

constexpr const char* codegen = "codegen";

// What a configuration says; empty where it does not.
struct ConfigFacts {
  fs::path path{};
  std::string architecture{};
  std::optional<eigen_rope::Index> heads{}, key_heads{}, rotary_dims{};
  std::optional<HeadWindow> query{}, key{};
  std::optional<PairKind> pairing{};
  std::optional<QkvOrder> order{};
  bool latent = false, pairing_is_recorded = false;
  double base = 10000;
  std::vector<std::string> warnings{};
};

std::optional<eigen_rope::Index> count_in(const Json& text, const char* name) {
  const auto found = text.find(name);
  if (found == text.end() || !found->is_number_unsigned()) return std::nullopt;
  return static_cast<eigen_rope::Index>(
      std::min<std::uint64_t>(found->get<std::uint64_t>(), std::uint64_t{1} << 40));
}

bool flag_in(const Json& text, const char* name, bool otherwise) {
  const auto found = text.find(name);
  return found == text.end() || !found->is_boolean() ? otherwise : found->get<bool>();
}

// The whole heads of latent attention: q is [nope, rope] in every head, the one key [latent, rope].
void describe_latent(const Json& text, eigen_rope::Index rotary_dims, ConfigFacts& facts) {
  const std::optional<eigen_rope::Index> plain = count_in(text, "qk_nope_head_dim"),
                                         rank = count_in(text, "kv_lora_rank");
  facts.latent = true;
  facts.query.reset();
  facts.key.reset();
  facts.key_heads.reset();
  if (!plain || !rank) return;
  facts.query = HeadWindow{*plain + rotary_dims, *plain};
  facts.key = HeadWindow{*rank + rotary_dims, *rank};
  facts.key_heads = 1;
}

std::optional<QkvOrder> order_of(models::FusedQkv fused) {
  if (fused == models::FusedQkv::grouped) return QkvOrder::grouped;
  if (fused == models::FusedQkv::concatenated) return QkvOrder::concatenated;
  return std::nullopt;
}

// All kinds of layers must rotate the same window, as no tensor says of which kind its layer is.
ConfigFacts facts_of(const fs::path& path, const models::ModelRope& model) {
  ConfigFacts facts;
  facts.path = path;
  facts.architecture = model.architecture;
  facts.warnings = model.warnings;
  if (model.layers.empty())
    refuse(path.string(),
           fmt::format("is of a model that does not rotate ({}): nothing is to convert",
                       model.architecture));
  const Json config = read_json(path);
  const Json& text = text_part(config);
  if (model.heads > 0) facts.heads = model.heads;
  if (model.key_heads > 0 || model.heads > 0)
    facts.key_heads = model.key_heads == 0 ? model.heads : model.key_heads;
  for (const models::LayerRope& layer : model.layers) {
    const HeadWindow window{layer.head_dims, layer.pairing ? layer.pairing->offset() : 0};
    const eigen_rope::Index rotary = layer.powers.rotary_dims;
    if (facts.query && (window.dims != facts.query->dims || window.offset != facts.query->offset ||
                        rotary != *facts.rotary_dims)) {
      refuse(path.string(),
             fmt::format("all layers must rotate alike to be converted at once, got {} and {} of "
                         "{} and {} dims",
                         *facts.rotary_dims, rotary, facts.query->dims, window.dims));
    }
    if (layer.pairing && facts.pairing && layer.pairing->kind() != *facts.pairing) {
      refuse(path.string(),
             fmt::format("all layers must pair alike to be converted at once, got {} and {}",
                         name_of(*facts.pairing), name_of(layer.pairing->kind())));
    }
    if (layer.pairing) facts.pairing = layer.pairing->kind();
    facts.query = facts.key = window;
    facts.rotary_dims = rotary;
    facts.base = layer.powers.base;
  }
  const std::optional<eigen_rope::Index> split = count_in(text, "qk_rope_head_dim");
  if ((split && *split > 0) || models::has_latent_attention(model.architecture))
    describe_latent(text, *facts.rotary_dims, facts);
  const auto interleave = text.find("rope_interleave");
  facts.pairing_is_recorded = facts.pairing && interleave != text.end() && interleave->is_boolean();
  facts.order = order_of(models::fused_qkv(model.architecture));
  // Falcon groups rows in all of its three forms. Older files name as many key heads as query
  // heads, and have one.
  if (model.architecture == "falcon") {
    facts.order = QkvOrder::grouped;
    if (!flag_in(text, "new_decoder_architecture", false)) {
      facts.key_heads =
          flag_in(text, "multi_query", true) ? std::optional<eigen_rope::Index>(1) : facts.heads;
    }
  }
  // Four blocks, each of queries, values and keys: no order that is known here.
  if (model.architecture == codegen) facts.order.reset();
  return facts;
}

models::ModelRope read_model(const fs::path& path, const ConvertOptions& options) {
  try {
    return models::read_hugging_face(path, options.strictness);
  } catch (const Error& strict) {
    if (options.strictness == models::Strictness::lenient) throw;
    try {
      models::read_hugging_face(path, models::Strictness::lenient);
    } catch (const Error&) {
      throw strict;
    }
    throw FileError(fmt::format("{}; --lenient does so", strict.what()));
  }
}

// Options over what a configuration says. Each contradiction is refused, or becomes a warning where
// the options are forced.
class Chooser {
 public:
  Chooser(const ConvertOptions& options, const ConfigFacts* facts,
          std::vector<std::string>& warnings)
      : options_(options), facts_(facts), warnings_(warnings) {}

  /// `known` unless the option says otherwise; nothing if neither does.
  std::optional<eigen_rope::Index> count(const char* option, const char* what,
                                         std::optional<eigen_rope::Index> said,
                                         std::optional<eigen_rope::Index> known) const {
    if (said && known && *said != *known)
      contradict(fmt::format("{} {}", *known, what), option, fmt::format("{}", *said));
    return said ? said : known;
  }

  void contradict(const std::string& known, const char* option, const std::string& said) const {
    if (options_.contradiction == Contradiction::refused) {
      refuse(facts_->path.string(),
             fmt::format("says {}, {} must agree, got {}; --force takes the option", known, option,
                         said));
    }
    warnings_.push_back(
        fmt::format("{} says {}: {} {} overrides it", facts_->path.string(), known, option, said));
  }

 private:
  const ConvertOptions& options_;
  const ConfigFacts* facts_;
  std::vector<std::string>& warnings_;
};

// The model's own records of an earlier conversion come before its configuration. Some files with a
// record and some without are refused.
bool is_recorded(const Model& model) {
  const auto recorded = [](const Shard& shard) {
    return shard.header.metadata_value(pairing_record).has_value();
  };
  const auto count = std::count_if(model.shards.begin(), model.shards.end(), recorded);
  if (count == 0) return false;
  const auto without = std::find_if_not(model.shards.begin(), model.shards.end(), recorded);
  if (without == model.shards.end()) return true;
  refuse(without->file.path().string(),
         fmt::format("must record {} as other files of the model do", pairing_record));
}

// --config beside a config.json of the model's own.
void require_agreement(const ConfigFacts& given, const ConfigFacts& beside, const Chooser& choose) {
  const auto compare = [&](const char* what, std::optional<eigen_rope::Index> a,
                           std::optional<eigen_rope::Index> b) {
    if (a && b && *a != *b)
      choose.contradict(fmt::format("{} {}", *b, what), "--config",
                        fmt::format("{} {}", given.path.string(), *a));
  };
  const auto dims = [](const std::optional<HeadWindow>& w) {
    return w ? std::optional<eigen_rope::Index>(w->dims) : std::nullopt;
  };
  const auto offset = [](const std::optional<HeadWindow>& w) {
    return w ? std::optional<eigen_rope::Index>(w->offset) : std::nullopt;
  };
  compare("heads", given.heads, beside.heads);
  compare("key heads", given.key_heads, beside.key_heads);
  compare("rotary dims", given.rotary_dims, beside.rotary_dims);
  compare("dims a head", dims(given.query), dims(beside.query));
  compare("as the offset", offset(given.query), offset(beside.query));
  compare("dims a key head", dims(given.key), dims(beside.key));
  compare("as the key offset", offset(given.key), offset(beside.key));
  if (given.pairing && beside.pairing && !same_pairs(*given.pairing, *beside.pairing)) {
    choose.contradict(fmt::format("{} pairs", name_of(*beside.pairing)), "--config",
                      fmt::format("{} {}", given.path.string(), name_of(*given.pairing)));
  }
}

// The configuration that counts, if there is one.
std::optional<ConfigFacts> read_configs(const ConvertOptions& options, const Model& model,
                                        std::vector<std::string>& warnings) {
  const auto read = [&](const fs::path& path) -> std::optional<ConfigFacts> {
    try {
      return facts_of(path, read_model(path, options));
    } catch (const std::runtime_error& refusal) {
      if (options.contradiction == Contradiction::refused) throw;
      warnings.push_back(fmt::format("nothing was taken from a configuration: {}",
                                     std::string(refusal.what()).substr(7)));
    } catch (const Error& refusal) {
      if (options.contradiction == Contradiction::refused) throw;
      warnings.push_back(fmt::format("nothing was taken from a configuration: {}",
                                     std::string(refusal.what()).substr(7)));
    }
    return std::nullopt;
  };
  const fs::path beside = config_beside(model);
  std::error_code ignored;
  const bool same =
      options.config.empty() || beside.empty() || fs::equivalent(options.config, beside, ignored);
  std::optional<ConfigFacts> facts;
  if (!options.config.empty()) {
    facts = read(options.config);
  } else if (!beside.empty()) {
    facts = read(beside);
  }
  if (!facts || same) return facts;
  const std::optional<ConfigFacts> other = read(beside);
  if (other) require_agreement(*facts, *other, Chooser(options, &*other, warnings));
  return facts;
}

void require_count(const char* option, std::optional<eigen_rope::Index> value) {
  if (!value || *value <= 0) {
    detail::fail(fmt::format("{} must be given and > 0, here or in a config.json", option),
                 value.value_or(0));
  }
}

void require_window(const char* what, const HeadWindow& window, eigen_rope::Index rotary_dims) {
  if (window.offset < 0 || rotary_dims > window.dims - window.offset) {
    detail::fail(fmt::format("the rotated window must fit a {} head of {} dims", what, window.dims),
                 fmt::format("{} dims from {} on", rotary_dims, window.offset));
  }
}

void require_sense(const ConvertOptions& options, const AttentionShape& shape) {
  if (shape.heads % shape.key_heads != 0) {
    detail::fail(fmt::format("heads must be a multiple of key heads, {}", shape.key_heads),
                 shape.heads);
  }
  for (const auto& [heads, window] :
       {std::pair(shape.heads, shape.query), std::pair(shape.key_heads, shape.key)}) {
    if (heads > most_rows || window.dims > most_rows || heads * window.dims > most_rows) {
      detail::fail(fmt::format("a layer must have at most {} rows of queries", most_rows),
                   fmt::format("{} x {}", heads, window.dims));
    }
  }
  const bool quarters = options.from == PairKind::quarter || options.to == PairKind::quarter;
  if (shape.rotary_dims % (quarters ? 4 : 2) != 0) {
    detail::fail(
        quarters ? "rotary dims must be a multiple of 4 for quarter" : "rotary dims must be even",
        shape.rotary_dims);
  }
  require_window("query", shape.query, shape.rotary_dims);
  require_window("key", shape.key, shape.rotary_dims);
}

// Heads, windows and their widths. Without a configuration the options say everything.
AttentionShape chosen_shape(const ConvertOptions& options, const std::optional<ConfigFacts>& facts,
                            const Chooser& choose) {
  const auto dims = [](const std::optional<HeadWindow>& w) {
    return w ? std::optional<eigen_rope::Index>(w->dims) : std::nullopt;
  };
  const auto offset = [](const std::optional<HeadWindow>& w) {
    return w ? std::optional<eigen_rope::Index>(w->offset) : std::nullopt;
  };
  const ConfigFacts known = facts.value_or(ConfigFacts{});
  const std::optional<eigen_rope::Index> heads =
      choose.count("--heads", "heads", options.heads, known.heads);
  std::optional<eigen_rope::Index> key_heads =
      choose.count("--kv-heads", "key heads", options.key_heads, known.key_heads);
  if (!key_heads) key_heads = heads;
  const std::optional<eigen_rope::Index> head_dims =
      choose.count("--head-dims", "dims a head", options.head_dims, dims(known.query));
  const std::optional<eigen_rope::Index> begin =
      choose.count("--offset", "as the offset", options.offset, offset(known.query));
  // Where the heads of keys are not those of queries, the options for queries say nothing about
  // them.
  const bool apart = known.latent && known.key;
  const std::optional<eigen_rope::Index> key_dims =
      options.key_head_dims || !apart
          ? choose.count("--key-head-dims", "dims a key head",
                         options.key_head_dims ? options.key_head_dims : head_dims,
                         options.key_head_dims ? dims(known.key) : std::nullopt)
          : dims(known.key);
  const std::optional<eigen_rope::Index> key_begin =
      options.key_offset || !apart
          ? choose.count("--key-offset", "as the key offset",
                         options.key_offset ? options.key_offset : begin,
                         options.key_offset ? offset(known.key) : std::nullopt)
          : offset(known.key);
  std::optional<eigen_rope::Index> rotary =
      choose.count("--rotary-dims", "rotary dims", options.rotary_dims, known.rotary_dims);
  if (!rotary && head_dims) {
    const eigen_rope::Index first = begin.value_or(0);
    rotary = *head_dims -
             (first > 0 && *head_dims > 0 ? first : 0);  // what is negative is refused below
  }
  if (known.latent && !known.query && !(head_dims && options.key_head_dims)) {
    refuse(known.path.string(),
           "has latent attention without qk_nope_head_dim and kv_lora_rank: --q, --k, --kv-heads, "
           "--head-dims, --offset, "
           "--key-head-dims and --key-offset must describe it");
  }
  require_count("--heads", heads);
  require_count("--kv-heads", key_heads);
  require_count("--head-dims", head_dims);
  require_count("--key-head-dims", key_dims);
  require_count("--rotary-dims", rotary);
  return {*heads,
          *key_heads,
          *rotary,
          {*head_dims, begin.value_or(0)},
          {*key_dims, key_begin.value_or(0)}};
}

}  // namespace

const char* name_of(QkvOrder order) {
  return order == QkvOrder::grouped ? "grouped" : "concatenated";
}

bool same_pairs(PairKind a, PairKind b) {
  const HeadWindow window{16, 0};
  const std::vector<eigen_rope::Index> source = source_elements(a, b, window, window.dims);
  return std::is_sorted(source.begin(), source.end());
}

Description describe(const ConvertOptions& options, const Model& model) {
  Description description;
  const bool recorded = is_recorded(model);
  const std::optional<ConfigFacts> facts = read_configs(options, model, description.warnings);
  const Chooser choose(options, facts ? &*facts : nullptr, description.warnings);
  description.shape = chosen_shape(options, facts, choose);
  description.order = options.order;
  if (facts) {
    // In a folder config.json is converted too, so that its own word counts as much as the files'
    // record.
    const bool counts = !recorded || (facts->pairing_is_recorded && model.folder);
    if (facts->pairing && counts && !same_pairs(*facts->pairing, options.from)) {
      choose.contradict(fmt::format("{} pairs ({})", name_of(*facts->pairing), facts->architecture),
                        "--from", name_of(options.from));
    }
    if (facts->order && options.order && *facts->order != *options.order) {
      choose.contradict(
          fmt::format("{} rows of q, k and v ({})", name_of(*facts->order), facts->architecture),
          "--qkv-order", name_of(*options.order));
    }
    if (facts->architecture == codegen && options.order) {
      choose.contradict("codegen, whose qkv_proj has four blocks of queries, values and keys",
                        "--qkv-order", name_of(*options.order));
    }
    if (!options.order) description.order = facts->order;
    if (!facts->pairing && !recorded) {
      description.warnings.push_back(
          fmt::format("how {} (model_type) pairs is not known: --from {} is believed",
                      facts->architecture, name_of(options.from)));
    }
    description.base = facts->base;
    description.family_pairing = facts->pairing;
    description.pairing_in_config = facts->pairing_is_recorded;
    description.latent = facts->latent;
    description.config = facts->path;
    description.warnings.insert(description.warnings.end(), facts->warnings.begin(),
                                facts->warnings.end());
  }
  require_sense(options, description.shape);
  return description;
}

}  // namespace eigen_rope::tool
