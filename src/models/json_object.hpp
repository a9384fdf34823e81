// SPDX-License-Identifier: Apache-2.0
//
// An object of a configuration that knows where it stands, so that every refusal names the key from
// the file's top:
// `[rope] text_config.rope_scaling.factor must be a number, got "4"`.
//
// A value of null is an absent one, as in Hugging Face's code, whose None it is. The callers know
// which keys there are and what they mean.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eigen_rope/numbers/shape.hpp"
#include "models/json_text.hpp"
#include "models/notes.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

/// Refers to the JSON it was made from and to the notes.
class JsonObject {
 public:
  /// `path` is empty for the file's top. Throws eigen_rope::Error unless `json` is an object.
  JsonObject(const Json& json, std::string path, Notes& notes);

  const Json& json() const { return *json_; }
  const std::string& path() const { return path_; }
  std::string path(std::string_view name) const;
  Notes& notes() const { return *notes_; }

  /// nullptr where the key is absent or null.
  const Json* find(const char* name) const;
  bool has(const char* name) const { return find(name) != nullptr; }
  /// The first of `names` that is there; nullptr if none.
  const char* first_of(std::initializer_list<const char*> names) const;

  // Each throws eigen_rope::Error for a value of another kind and gives nothing for an absent one.
  std::optional<double> number(const char* name) const;
  /// Whole and at least `least`. Lenient readers also take 4096.0.
  std::optional<Index> integer(const char* name, Index least) const;
  std::optional<bool> flag(const char* name) const;
  std::optional<std::string> text(const char* name) const;
  std::optional<std::vector<double>> numbers(const char* name) const;
  std::optional<JsonObject> object(const char* name) const;
  /// nullptr where absent.
  const Json* list(const char* name) const;

  /// Throws `<path> <rule>, got <value>`.
  [[noreturn]] void refuse(const char* name, std::string_view rule) const;
  /// Throws that a key is required.
  [[noreturn]] void require(const char* name, std::string_view why) const;
  /// Notes::mind with the same sentence as refuse.
  void mind(const char* name, std::string_view rule, std::string_view instead) const;

 private:
  std::string value(const char* name) const;

  const Json* json_;
  std::string path_;
  Notes* notes_;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
