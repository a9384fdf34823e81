// SPDX-License-Identifier: Apache-2.0
//
// What llama.cpp does with tiny models of every architecture
// (tests/data/models/recorded/llama_cpp.json), and those models as GGUF files. The file is
// described beside it, in llama_cpp.md. Nothing here knows how models are read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "eigen_rope/numbers/shape.hpp"
#include "support/gguf_writer.hpp"

namespace eigen_rope::test {

using Json = nlohmann::ordered_json;

inline const Json& llama_cpp_recording() {
  static const Json recording = [] {
    std::ifstream stream(std::filesystem::path(EIGEN_ROPE_TEST_DATA) / "models" / "recorded" /
                         "llama_cpp.json");
    return Json::parse(stream);
  }();
  return recording;
}

/// One tiny model: its metadata without the architecture's name, and what its graph did.
struct RecordedModel {
  std::string architecture;
  std::string variant;
  Json keys;
  Json graph;

  std::string name() const { return architecture + "/" + variant; }
  Index number(const std::string& key, Index otherwise) const {
    return keys.contains(key) ? keys.at(key).get<Index>() : otherwise;
  }
};

inline void apply_changes(Json& keys, const Json& changes) {
  for (const auto& [key, value] : changes.items()) {
    if (value.is_null()) {
      keys.erase(key);
    } else {
      keys[key] = value;
    }
  }
}

/// The models of one architecture; none where it is not recorded.
inline std::vector<RecordedModel> recorded_models(const std::string& architecture) {
  const Json& recording = llama_cpp_recording();
  const Json& entry = recording.at("architectures").at(architecture);
  std::vector<RecordedModel> models;
  if (entry.contains("not_recorded")) return models;
  for (std::size_t i = 0; i < entry.at("graphs").size(); ++i) {
    for (const std::string variant : entry.at("variants").at(i)) {
      RecordedModel model{architecture, variant, recording.at("start"), entry.at("graphs").at(i)};
      apply_changes(model.keys, entry.at("keys"));
      const bool own = entry.contains("own") && entry.at("own").contains(variant);
      apply_changes(model.keys,
                    own ? entry.at("own").at(variant) : recording.at("variants").at(variant));
      models.push_back(std::move(model));
    }
  }
  return models;
}

/// The model as a file without weights.
inline GgufWriter written(const RecordedModel& model) {
  GgufWriter w;
  w.text("general.architecture", model.architecture);
  for (const auto& [key, value] : model.keys.items()) {
    const std::string name = model.architecture + "." + key;
    if (value.is_string()) {
      w.text(name, value.get<std::string>());
    } else if (value.is_boolean()) {
      w.boolean(name, value.get<bool>());
    } else if (value.is_number_float()) {
      w.float32(name, value.get<float>());
    } else if (value.is_number()) {
      w.uint32(name, value.get<std::uint32_t>());
    } else if (value.is_array() && value.at(0).is_boolean()) {
      std::vector<int> flags;
      for (const bool flag : value) flags.push_back(flag ? 1 : 0);
      w.booleans(name, flags);
    } else if (value.is_array()) {
      w.int32s(name, value.get<std::vector<std::int32_t>>());
    }
  }
  return w;
}

/// The numbers in a text as 0-3,8.
inline std::vector<Index> numbers_of_ranges(const std::string& text) {
  std::vector<Index> numbers;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t used = 0;
    const Index first = std::stoll(text.substr(at), &used);
    at += used;
    Index last = first;
    if (at < text.size() && text[at] == '-') {
      last = std::stoll(text.substr(at + 1), &used);
      at += used + 1;
    }
    for (Index i = first; i <= last; ++i) numbers.push_back(i);
    ++at;
  }
  return numbers;
}

}  // namespace eigen_rope::test
