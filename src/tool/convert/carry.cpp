// SPDX-License-Identifier: Apache-2.0
#include "tool/convert/carry.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <system_error>

#include "tool/convert/write.hpp"
#include "tool/io/file_error.hpp"
#include "tool/io/json_file.hpp"

namespace eigen_rope::tool {
namespace fs = std::filesystem;
namespace {

constexpr const char* config_name = "config.json";
constexpr const char* interleave_key = "rope_interleave";

bool has_ending(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool holds_weights(const std::string& name) {
  static constexpr std::array<std::string_view, 19> ends{
      ".safetensors", ".bin",     ".pt",   ".pth",       ".ckpt",      ".gguf", ".ggml",
      ".h5",          ".msgpack", ".onnx", ".onnx_data", ".ot",        ".npz",  ".npy",
      ".tflite",      ".nemo",    ".zip",  ".tmp",       ".index.json"};
  return std::any_of(ends.begin(), ends.end(),
                     [&](std::string_view end) { return has_ending(name, end); });
}

using Ordered = nlohmann::ordered_json;

// The object that records the pairing: the file itself or its part for the text. nullptr if there
// is none.
Ordered* recording_part(Ordered& top) {
  if (!top.is_object()) return nullptr;
  for (const char* name : {"text_config", "thinker_config", "llm_config", "language_config"}) {
    const auto found = top.find(name);
    if (found != top.end() && found->is_object()) return recording_part(*found);
  }
  const auto found = top.find(interleave_key);
  return found != top.end() && found->is_boolean() ? &top : nullptr;
}

void adapt_config(const fs::path& path, PairKind to, Carried& carried) {
  const Json checked = read_json(path);  // well-formed and not too deep
  if (checked.dump(-1, ' ', false, Json::error_handler_t::replace).find(interleave_key) ==
      std::string::npos)
    return;
  std::ifstream file(path, std::ios::binary);
  Ordered config = Ordered::parse(file);
  Ordered* part = recording_part(config);
  if (part == nullptr) return;
  if (to == PairKind::quarter)
    refuse(path.string(),
           fmt::format("records the pairing as {}, which has no word for quarter", interleave_key));
  const bool before = (*part)[interleave_key].get<bool>(), after = to != PairKind::split_half;
  if (before == after) return;
  (*part)[interleave_key] = after;
  carried.adapted = fmt::format("{} in {} is now {}", interleave_key, config_name, after);
  carried.config = config.dump(2, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

}  // namespace

Carried plan_carried(const Model& model, PairKind to, const fs::path& destination) {
  Carried carried;
  if (!model.folder) return carried;
  const auto is_shard = [&](const std::string& name) {
    return std::any_of(model.shards.begin(), model.shards.end(), [&](const Shard& shard) {
      return shard.file.path().filename().string() == name;
    });
  };
  const fs::path folder = folder_of(model);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.front() == '.' || is_shard(name) || entry.path().filename() == model.index.filename())
      continue;
    if (fs::equivalent(entry.path(), destination, ignored)) continue;
    const bool file = entry.is_regular_file(ignored);
    (file && !holds_weights(name) ? carried.files : carried.left)
        .push_back(file ? name : name + "/");
  }
  std::sort(carried.files.begin(), carried.files.end());
  std::sort(carried.left.begin(), carried.left.end());
  if (std::find(carried.files.begin(), carried.files.end(), config_name) != carried.files.end()) {
    adapt_config(folder / config_name, to, carried);
  }
  return carried;
}

void write_carried(const Carried& carried, const Model& model, const fs::path& draft) {
  const fs::path folder = folder_of(model);
  for (const std::string& name : carried.files) {
    if (name != config_name || carried.config.empty()) {
      copy_whole(folder / name, draft / name);
      continue;
    }
    const InputFile source(folder / name);
    OutputFile out(draft / name, private_mode);
    out.write(reinterpret_cast<const std::byte*>(carried.config.data()), carried.config.size());
    out.set_mode(source.mode());
    out.close();
  }
}

}  // namespace eigen_rope::tool
