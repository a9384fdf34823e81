// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "tool/convert/plan.hpp"
#include "tool/io/file_error.hpp"
#include "tool/io/json_file.hpp"

namespace eigen_rope::tool {
namespace fs = std::filesystem;
namespace {

constexpr const char* single_name = "model.safetensors";
constexpr const char* index_name = "model.safetensors.index.json";
constexpr std::uint64_t largest_index = 100'000'000;

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
  if (bytes > largest_index)
    refuse(index.string(), fmt::format("must have at most {} bytes, got {}", largest_index, bytes));
  const Json content = read_json(index);
  const bool usable =
      content.is_object() && content.contains("weight_map") && content["weight_map"].is_object();
  if (!usable) refuse(index.string(), "must have an object weight_map");
  std::map<std::string, std::string> map;
  for (const auto& [tensor, name] : content["weight_map"].items()) {
    const std::string shard = name.is_string() ? name.get<std::string>() : "";
    if (shard.empty() || fs::path(shard).filename() != shard || shard == "." || shard == "..") {
      refuse(index.string(),
             fmt::format("weight_map must name files beside it, got {} for tensor \"{}\"",
                         name.dump(), tensor));
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
        refuse(model.index.string(),
               fmt::format("weight_map must say that tensor \"{}\" is in {}", tensor.name, name));
      }
      missing.erase(found);
    }
  }
  if (missing.empty()) return;
  refuse(model.index.string(), fmt::format("tensor \"{}\" must be in {}", missing.begin()->first,
                                           missing.begin()->second));
}

// The one file of a folder without an index.
fs::path only_file(const fs::path& folder) {
  if (fs::exists(folder / single_name)) return folder / single_name;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors") found.push_back(entry.path());
  }
  if (found.size() == 1) return found.front();
  refuse(folder.string(), fmt::format("must have {}, {} or one other .safetensors file, got {}",
                                      index_name, single_name, found.size()));
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

fs::path folder_of(const Model& model) {
  const fs::path folder = model.folder && model.index.empty()
                              ? model.path
                              : (model.folder ? model.index : model.path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

fs::path config_beside(const Model& model) {
  const fs::path folder = model.config_folder.empty() ? folder_of(model) : model.config_folder;
  std::error_code ignored;
  return fs::exists(folder / "config.json", ignored) ? folder / "config.json" : fs::path();
}

}  // namespace eigen_rope::tool
