// SPDX-License-Identifier: Apache-2.0
#include "scaling_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <set>
#include <system_error>
#include <vector>

#include "files.hpp"
#include "rope/error.hpp"
#include "rope/models/gguf.hpp"
#include "rope/models/hugging_face.hpp"
#include "scaling_fields.hpp"
#include "terminal.hpp"

namespace rope::tool {
namespace fs = std::filesystem;
namespace {

struct Type {
  const char* name;
  Scaling scaling;
  std::vector<const char*> required;  // besides rotary_dims
};

const std::vector<Type>& types() {
  static const std::vector<Type> all{{"default", Unscaled{}, {}},
                                     {"linear", Linear{}, {"factor"}},
                                     {"proportional", Proportional{}, {"rotated_pairs"}},
                                     {"dynamic", DynamicNtkScaling{}, {"factor", "original_context"}},
                                     {"ntk", NtkScaling{}, {"factor"}},
                                     {"yarn", HfYarn{}, {"factor", "original_context"}},
                                     {"ggml_yarn", Yarn{}, {"linear_scale", "original_context"}},
                                     {"llama3", Llama3{}, {"factor", "original_context"}},
                                     {"longrope", LongRope{}, {"short_factor", "long_factor", "original_context"}}};
  return all;
}

struct Synonym {
  std::string_view word, name;
};
constexpr Synonym synonyms[] = {{"dims", "rotary_dims"},
                                {"rope_theta", "base"},
                                {"theta", "base"},
                                {"freq_base", "base"},
                                {"freq_scale", "linear_scale"},
                                {"freq_factors", "factors"},
                                {"head_dim", "head_dims"},
                                {"original", "original_context"},
                                {"original_max_position_embeddings", "original_context"},
                                {"max_position_embeddings", "context"},
                                {"pairs", "rotated_pairs"},
                                {"low", "low_freq_factor"},
                                {"high", "high_freq_factor"},
                                {"short", "short_factor"},
                                {"long", "long_factor"}};

struct Setting {
  std::string key, value;
};

class Word {
 public:
  explicit Word(std::string type) : type_(std::move(type)) {}

  std::string rule(const std::string& key, std::string_view what) const { return fmt::format("{}: {} {}", type_, key, what); }

  void read(const Setting& setting, double& value) const { value = number(setting.key, setting.value); }
  void read(const Setting& setting, std::optional<double>& value) const { value = number(setting.key, setting.value); }
  void read(const Setting& setting, rope::Index& value) const {
    const char* end = setting.value.data() + setting.value.size();
    const auto [stop, error] = std::from_chars(setting.value.data(), end, value);
    if (error != std::errc() || stop != end) detail::fail(rule(setting.key, "must be a whole number"), std::string_view(setting.value));
  }
  template <class Number>
  void read(const Setting& setting, std::vector<Number>& values) const {
    std::string_view rest = setting.value;
    for (bool more = true; more;) {
      const std::size_t slash = rest.find('/');
      more = slash != std::string_view::npos;
      Number value{};
      read({setting.key, std::string(rest.substr(0, slash))}, value);
      values.push_back(value);
      if (more) rest.remove_prefix(slash + 1);
    }
  }
  template <class Enum, std::enable_if_t<std::is_enum_v<Enum>, int> = 0>
  void read(const Setting& setting, Enum& value) const {
    std::vector<std::string> names;
    for (const auto& [one, name] : EnumNames<Enum>::names) {
      names.emplace_back(name);
      if (setting.value != name) continue;
      value = one;
      return;
    }
    detail::fail(rule(setting.key, fmt::format("must be {}", fmt::join(names, " or "))), std::string_view(setting.value));
  }

 private:
  double number(const std::string& key, const std::string& text) const {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || !std::isfinite(value))
      detail::fail(rule(key, "must be a finite number"), std::string_view(text));
    return value;
  }

  std::string type_;
};

std::string_view full_name_of(std::string_view key) {
  for (const Synonym& synonym : synonyms) {
    if (synonym.word == key) return synonym.name;
  }
  return key;
}

const Type* type_named(std::string_view name) {
  const auto found = std::find_if(types().begin(), types().end(), [&](const Type& type) { return type.name == name; });
  return found == types().end() ? nullptr : &*found;
}

std::string type_names() {
  std::vector<std::string> names;
  for (const Type& type : types()) names.emplace_back(type.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<Setting> settings_of(const std::string& type, std::string_view text) {
  std::vector<Setting> settings;
  std::set<std::string> seen;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view one = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos || equals == 0) detail::fail(type + ": parameters must be key=value", one);
    settings.push_back({std::string(full_name_of(one.substr(0, equals))), std::string(one.substr(equals + 1))});
    if (!seen.insert(settings.back().key).second) detail::fail(fmt::format("{}: {} must be given once", type, settings.back().key));
  }
  return settings;
}

/// The object's member of this name, if it has one, read from the setting.
template <class Object>
bool set_field(Object& object, const Setting& setting, const Word& word, std::vector<std::string>& keys) {
  bool known = false;
  for_each_field(object, [&](const char* name, auto& value) {
    keys.emplace_back(name);
    if (setting.key != name) return;
    known = true;
    word.read(setting, value);
  });
  return known;
}

bool begins_as_gguf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  char magic[4] = {};
  return file.read(magic, sizeof magic) && std::string_view(magic, sizeof magic) == "GGUF";
}

}  // namespace

models::ModelRope parse_scaling(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string name(text.substr(0, colon));
  const Type* type = type_named(name);
  if (type == nullptr) detail::fail(fmt::format("a scaling must be one of {}", type_names()), std::string_view(name));
  const Word word(name);
  models::ModelRope model;
  model.architecture = text;
  models::LayerRope layer;
  layer.scaling = type->scaling;
  std::set<std::string> given;
  for (const Setting& setting : settings_of(name, colon == std::string_view::npos ? "" : text.substr(colon + 1))) {
    std::vector<std::string> keys{"head_dims", "context"};
    given.insert(setting.key);
    if (setting.key == "head_dims") {
      word.read(setting, layer.head_dims);
      continue;
    }
    if (setting.key == "context") {
      word.read(setting, model.context);
      if (model.context <= 0) detail::fail(word.rule(setting.key, "must be greater than 0"), model.context);
      continue;
    }
    if (set_field(layer.powers, setting, word, keys)) continue;
    const bool known = std::visit([&](auto& scaling) { return set_field(scaling, setting, word, keys); }, layer.scaling);
    if (!known) detail::fail(fmt::format("{}: a key must be one of {}", name, fmt::join(keys, ", ")), std::string_view(setting.key));
  }
  std::vector<const char*> required = type->required;
  required.insert(required.begin(), "rotary_dims");
  for (const char* key : required) {
    if (given.count(key) == 0) detail::fail(fmt::format("{}: {} must be given", name, key));
  }
  if (given.count("head_dims") == 0) layer.head_dims = layer.powers.rotary_dims;
  constexpr rope::Index most_dims = rope::Index{1} << 20;
  if (layer.powers.rotary_dims > most_dims)
    detail::fail(word.rule("rotary_dims", fmt::format("must be at most {}", most_dims)), layer.powers.rotary_dims);
  (void)layer.frequencies(model.context);
  if (layer.head_dims < layer.powers.rotary_dims)
    detail::fail(word.rule("head_dims", fmt::format("must be at least rotary_dims, {}", layer.powers.rotary_dims)), layer.head_dims);
  const double reach = std::round(effective_context(layer.powers, layer.scaling));
  if (model.context == 0 && reach < 0x1p53) model.context = static_cast<rope::Index>(reach);
  model.layers.push_back(std::move(layer));
  return model;
}

std::string scaling_text_help() {
  std::string text =
      "A scaling is type:key=value,key=value, for example\n"
      "  yarn:dims=128,base=10000,factor=4,original=4096\n\n"
      "Every type has rotary_dims (required), base (10000), linear_scale (required for\n"
      "ggml_yarn), attention_factor, factors, exponents, exponent_dims, head_dims and\n"
      "context. Lists are separated by /. Types, and what else they have (* required):\n";
  for (const Type& type : types()) {
    std::vector<std::string> keys;
    const auto add = [&](const char* name, const auto&) {
      const bool required =
          std::any_of(type.required.begin(), type.required.end(), [&](const char* key) { return std::string_view(key) == name; });
      keys.push_back(std::string(name) + (required ? "*" : ""));
    };
    std::visit([&](const auto& scaling) { for_each_field(scaling, add); }, type.scaling);
    if (keys.empty()) keys.emplace_back("nothing");
    text += wrapped(fmt::format("{}", fmt::join(keys, ", ")), 80, fmt::format("  {:<13}", type.name));
  }
  std::vector<std::string> shorter;
  for (const Synonym& synonym : synonyms) {
    if (synonym.word.size() < synonym.name.size()) shorter.push_back(fmt::format("{} = {}", synonym.word, synonym.name));
  }
  return text + wrapped(fmt::format("Shorter: {}", fmt::join(shorter, ", ")), 80, "");
}

models::ModelRope read_model(const fs::path& path, models::Strictness strictness) {
  std::error_code error;
  if (!fs::exists(path, error)) refuse(path.string(), "must be a config.json, a folder with one, or a GGUF file");
  const bool gguf = fs::is_regular_file(path, error) && begins_as_gguf(path);
  return gguf ? models::read_gguf(path, strictness) : models::read_hugging_face(path, strictness);
}

models::ModelRope read_model_or_scaling(const std::string& name, models::Strictness strictness) {
  std::error_code error;
  if (fs::exists(name, error)) return read_model(name, strictness);
  if (type_named(std::string_view(name).substr(0, name.find(':'))) != nullptr) return parse_scaling(name);
  refuse(name, "must be a config.json, a folder with one, a GGUF file, or a scaling such as yarn:dims=128,factor=4,original=4096");
}

}  // namespace rope::tool
