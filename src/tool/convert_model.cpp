// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <system_error>
#include <utility>

#include "convert_plan.hpp"
#include "file_error.hpp"
#include "gradcheck_problem.hpp"
#include "json_file.hpp"
#include "rope/error.hpp"
#include "rope/models/hugging_face.hpp"

namespace rope::tool {
namespace fs = std::filesystem;
namespace {

constexpr const char* single_name = "model.safetensors";
constexpr const char* index_name = "model.safetensors.index.json";
constexpr std::uint64_t largest_index = 100'000'000;
// Rows of all heads of a layer: what verification keeps of it must fit in memory.
constexpr rope::Index most_rows = rope::Index{1} << 18;

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Shard open_shard(const fs::path& path) {
  InputFile file(path);
  SafetensorsHeader header = read_safetensors_header(file);
  return {std::move(file), std::move(header)};
}

// Names of tensors and of the files they are in.
std::map<std::string, std::string> read_weight_map(const fs::path& index) {
  const std::uint64_t bytes = InputFile(index).size();
  if (bytes > largest_index) refuse(index.string(), fmt::format("must have at most {} bytes, got {}", largest_index, bytes));
  const Json content = read_json(index);
  const bool usable = content.is_object() && content.contains("weight_map") && content["weight_map"].is_object();
  if (!usable) refuse(index.string(), "must have an object weight_map");
  std::map<std::string, std::string> map;
  for (const auto& [tensor, name] : content["weight_map"].items()) {
    const std::string shard = name.is_string() ? name.get<std::string>() : "";
    if (shard.empty() || fs::path(shard).filename() != shard || shard == "." || shard == "..") {
      refuse(index.string(), fmt::format("weight_map must name files beside it, got {} for tensor \"{}\"", name.dump(), tensor));
    }
    map.emplace(tensor, shard);
  }
  if (map.empty()) refuse(index.string(), "weight_map must name a tensor");
  return map;
}

void open_shards(Model& model) {
  std::map<std::string, std::string> missing = read_weight_map(model.index);
  std::vector<std::string> names;
  names.reserve(missing.size());
  for (const auto& [tensor, shard] : missing) names.push_back(shard);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const std::string& name : names) {
    const Shard& shard = model.shards.emplace_back(open_shard(model.index.parent_path() / name));
    for (const SafetensorsEntry& tensor : shard.header.tensors) {
      const auto found = missing.find(tensor.name);
      if (found == missing.end() || found->second != name) {
        refuse(model.index.string(), fmt::format("weight_map must say that tensor \"{}\" is in {}", tensor.name, name));
      }
      missing.erase(found);
    }
  }
  if (missing.empty()) return;
  refuse(model.index.string(), fmt::format("tensor \"{}\" must be in {}", missing.begin()->first, missing.begin()->second));
}

// The one file of a folder without an index.
fs::path only_file(const fs::path& folder) {
  if (fs::exists(folder / single_name)) return folder / single_name;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors") found.push_back(entry.path());
  }
  if (found.size() == 1) return found.front();
  refuse(folder.string(), fmt::format("must have {}, {} or one other .safetensors file, got {}", index_name, single_name, found.size()));
}

fs::path config_beside(const Model& model) {
  const fs::path folder = fs::is_directory(model.path) ? model.path : model.path.parent_path();
  const fs::path config = folder / "config.json";
  std::error_code ignored;
  return fs::exists(config, ignored) ? config : fs::path();
}

// Counts and windows from config.json. All kinds of layers must rotate the same window, as no tensor says of which kind its layer is.
AttentionShape read_config(const fs::path& config, const std::function<void(PairKind)>& check_pairing) {
  const models::ModelRope model = models::read_hugging_face(config, models::Strictness::lenient);
  AttentionShape shape;
  shape.heads = model.heads;
  shape.key_heads = model.key_heads == 0 ? model.heads : model.key_heads;
  bool first = true;
  for (const models::LayerRope& layer : model.layers) {
    const HeadWindow window{layer.head_dims, layer.pairing ? layer.pairing->offset() : 0};
    const rope::Index rotary = layer.powers.rotary_dims;
    if (!first && (window.dims != shape.query.dims || window.offset != shape.query.offset || rotary != shape.rotary_dims)) {
      refuse(config.string(), fmt::format("all layers must rotate alike to be converted at once, got {} and {} of {} and {} dims",
                                          shape.rotary_dims, rotary, shape.query.dims, window.dims));
    }
    if (layer.pairing) check_pairing(layer.pairing->kind());
    shape.query = shape.key = window;
    shape.rotary_dims = rotary;
    first = false;
  }
  return shape;
}

// What config.json knows of an architecture must not be contradicted, unless the files record that they were converted.
void check_pairing(PairKind kind, const ConvertOptions& options, const Model& model, const fs::path& config) {
  for (const Shard& shard : model.shards) {
    if (shard.header.metadata_value(pairing_record)) return;
  }
  const HeadWindow window{16, 0};
  const std::vector<rope::Index> source = source_elements(kind, options.from, window, window.dims);
  if (std::is_sorted(source.begin(), source.end())) return;
  refuse(config.string(),
         fmt::format("is of an architecture with {} pairs, --from must agree, got {}", name_of(kind), name_of(options.from)));
}

void require_count(const char* option, rope::Index value) {
  if (value <= 0) detail::fail(fmt::format("{} must be given and > 0, here or in a config.json", option), value);
}

void require_window(const char* what, const HeadWindow& window, rope::Index rotary_dims) {
  if (window.offset < 0 || rotary_dims > window.dims - window.offset) {
    detail::fail(fmt::format("the rotated window must fit a {} head of {} dims", what, window.dims),
                 fmt::format("{} dims from {} on", rotary_dims, window.offset));
  }
}

}  // namespace

Model open_model(const fs::path& path) {
  Model model;
  model.path = path;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    model.folder = true;
    if (fs::exists(path / index_name, ignored)) model.index = path / index_name;
  } else if (ends_with(path.filename().string(), ".index.json")) {
    model.folder = true;
    model.index = path;
  }
  if (!model.index.empty()) {
    open_shards(model);
  } else {
    model.shards.push_back(open_shard(model.folder ? only_file(path) : path));
  }
  return model;
}

AttentionShape attention_shape(const ConvertOptions& options, const Model& model) {
  AttentionShape shape;
  const bool complete = options.heads && options.head_dims;
  const fs::path config = !options.config.empty() ? options.config : complete ? fs::path() : config_beside(model);
  if (!config.empty()) {
    shape = read_config(config, [&](PairKind kind) { check_pairing(kind, options, model, config); });
  }

  if (options.heads) {
    shape.heads = *options.heads;
    if (config.empty()) shape.key_heads = shape.heads;
  }
  if (options.key_heads) shape.key_heads = *options.key_heads;
  if (options.head_dims) {
    shape.query.dims = shape.key.dims = *options.head_dims;
    const rope::Index offset = options.offset.value_or(0);
    const bool subtract = offset > 0 && *options.head_dims > 0;  // what is negative is refused below
    if (config.empty()) shape.rotary_dims = *options.head_dims - (subtract ? offset : 0);
  }
  if (options.offset) shape.query.offset = shape.key.offset = *options.offset;
  if (options.key_head_dims) shape.key.dims = *options.key_head_dims;
  if (options.key_offset) shape.key.offset = *options.key_offset;
  if (options.rotary_dims) shape.rotary_dims = *options.rotary_dims;

  require_count("--heads", shape.heads);
  require_count("--kv-heads", shape.key_heads);
  require_count("--head-dims", shape.query.dims);
  require_count("--key-head-dims", shape.key.dims);
  require_count("--rotary-dims", shape.rotary_dims);
  if (shape.heads % shape.key_heads != 0) {
    detail::fail(fmt::format("heads must be a multiple of key heads, {}", shape.key_heads), shape.heads);
  }
  for (const auto& [heads, window] : {std::pair(shape.heads, shape.query), std::pair(shape.key_heads, shape.key)}) {
    if (heads > most_rows || window.dims > most_rows || heads * window.dims > most_rows) {
      detail::fail(fmt::format("a layer must have at most {} rows of queries", most_rows), fmt::format("{} x {}", heads, window.dims));
    }
  }
  const bool quarters = options.from == PairKind::quarter || options.to == PairKind::quarter;
  if (shape.rotary_dims % (quarters ? 4 : 2) != 0) {
    detail::fail(quarters ? "rotary dims must be a multiple of 4 for quarter" : "rotary dims must be even", shape.rotary_dims);
  }
  require_window("query", shape.query, shape.rotary_dims);
  require_window("key", shape.key, shape.rotary_dims);
  return shape;
}

}  // namespace rope::tool
