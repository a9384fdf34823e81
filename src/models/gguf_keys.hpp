// SPDX-License-Identifier: Apache-2.0
//
// The keys of a GGUF file's architecture, A.rope.freq_base under "rope.freq_base", with what to do
// about wrong ones: refuse them, or warn and go on where the caller is lenient. Not what they mean:
// gguf.cpp and gguf_scaling.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eigen_rope/models/model_rope.hpp"
#include "models/gguf_file.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

struct GgufKeys {
  GgufKeys(const std::filesystem::path& path, Strictness how_strict)
      : file(path), strictness(how_strict) {}

  bool strict() const { return strictness == Strictness::strict; }
  std::string key(std::string_view name) const;
  bool has(std::string_view name) const { return file.find(key(name)) != nullptr; }
  void warn(std::string sentence) { warnings.push_back(std::move(sentence)); }

  /// Throws where strict; `instead` says what is done otherwise. `full_key` has the architecture's
  /// name.
  void mend(std::string_view full_key, std::string_view rule, std::string_view got,
            std::string_view instead);
  /// The same with a whole sentence.
  void mend(std::string_view sentence, std::string_view instead);
  /// Why a key is not applied: llama.cpp does not read it for the architecture, or that is not
  /// known.
  std::string not_read() const;
  double positive(std::string_view full_key, double value) const;
  /// From 1 to `most`; empty where the key is missing.
  std::optional<Index> integer_up_to(Index most, std::string_view name);

  GgufFile file;
  Strictness strictness;
  /// general.architecture, once it is read.
  std::string architecture{};
  std::vector<std::string> warnings{};
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
