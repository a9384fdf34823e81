// SPDX-License-Identifier: Apache-2.0
#include "tool/inspect/scaling_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iostream>
#include <set>
#include <system_error>
#include <variant>
#include <vector>

#include "eigen_rope/models/gguf.hpp"
#include "eigen_rope/models/hugging_face.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "numbers/joined.hpp"
#include "tool/inspect/scaling_fields.hpp"
#include "tool/io/count_text.hpp"
#include "tool/io/file_error.hpp"
#include "tool/io/file_kind.hpp"
#include "tool/io/suggestion.hpp"
#include "tool/io/terminal.hpp"

namespace eigen_rope::tool {
namespace fs = std::filesystem;
namespace {

struct Type {
  const char* name;
  Scaling scaling;
  std::vector<const char*> required;  // besides rotary_dims
};

template <class... Scalings>
std::vector<Type> types_of(const std::variant<Scalings...>* /*any*/) {
  return {
      Type{Scalings::name, Scalings(), {Scalings::required.begin(), Scalings::required.end()}}...};
}

const std::vector<Type>& types() {
  static const std::vector<Type> all = types_of(static_cast<const Scaling*>(nullptr));
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

  std::string rule(const std::string& key, std::string_view what) const {
    return fmt::format("{}: {} {}", type_, key, what);
  }

  void read(const Setting& setting, double& value) const {
    value = number(setting.key, setting.value);
  }
  void read(const Setting& setting, std::optional<double>& value) const {
    value = number(setting.key, setting.value);
  }
  void read(const Setting& setting, eigen_rope::Index& value) const {
    const std::optional<eigen_rope::Index> count = parse_count(setting.value);
    if (count) value = *count;
    if (!count)
      detail::fail(rule(setting.key, "must be a whole number"), std::string_view(setting.value));
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
    for (const Enum one : EnumValues<Enum>::all) {
      names.emplace_back(name_of(one));
      if (setting.value != names.back()) continue;
      value = one;
      return;
    }
    detail::fail(rule(setting.key, fmt::format("must be {}", detail::joined(names, " or "))),
                 setting.value + did_you_mean(setting.value, names));
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
  const auto found = std::find_if(types().begin(), types().end(),
                                  [&](const Type& type) { return type.name == name; });
  return found == types().end() ? nullptr : &*found;
}

std::vector<Setting> settings_of(const std::string& type, std::string_view text) {
  std::vector<Setting> settings;
  std::set<std::string> seen;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view one = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos || equals == 0)
      detail::fail(type + ": parameters must be key=value", one);
    settings.push_back(
        {std::string(full_name_of(one.substr(0, equals))), std::string(one.substr(equals + 1))});
    if (!seen.insert(settings.back().key).second)
      detail::fail(fmt::format("{}: {} must be given once", type, settings.back().key));
  }
  return settings;
}

/// The object's member of this name, if it has one, read from the setting.
template <class Object>
bool set_field(Object& object, const Setting& setting, const Word& word,
               std::vector<std::string>& keys) {
  bool known = false;
  object.for_each_parameter(
      [&](const char* name, auto& value) {
        keys.emplace_back(name);
        if (setting.key != name) return;
        known = true;
        word.read(setting, value);
      },
      object);
  return known;
}

/// Standard input, a pipe or a device, to its end.
std::string text_of_stream(const fs::path& path, const std::string& name) {
  constexpr std::size_t most = std::size_t{64} << 20;
  std::ifstream opened;
  if (path != "-") opened.open(path, std::ios::binary);
  std::istream& stream = path == "-" ? std::cin : opened;
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 16);
  while (stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) ||
         stream.gcount() > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.size() > most) refuse(name, "a configuration must have at most 64 MiB");
  }
  if (!stream.eof()) refuse(name, "cannot be read");
  return text;
}

models::ModelRope read_stream(const fs::path& path, models::Strictness strictness) {
  const std::string name = path == "-" ? "standard input" : path.string();
  const std::string text = text_of_stream(path, name);
  refuse_other_kinds(name, std::string_view(text).substr(0, telling_bytes));
  if (text.compare(0, 4, "GGUF") == 0)
    refuse(name, "a GGUF file must be given by its name: it is not read from beginning to end");
  try {
    return models::parse_hugging_face(text, strictness);
  } catch (const Error& refusal) {
    constexpr std::string_view mark = "[rope] ";
    const std::string_view sentence = refusal.what();
    refuse(name, sentence.substr(sentence.substr(0, mark.size()) == mark ? mark.size() : 0));
  }
}

/// The words before the parameters; a name that cannot be one of a scaling is a path.
std::string_view type_word_of(std::string_view name) { return name.substr(0, name.find(':')); }

std::vector<std::string> names_of_types() {
  std::vector<std::string> names;
  for (const Type& type : types()) names.emplace_back(type.name);
  return names;
}

}  // namespace

models::ModelRope parse_scaling(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string name(text.substr(0, colon));
  const Type* type = type_named(name);
  if (type == nullptr)
    detail::fail(fmt::format("a scaling must be one of {}", detail::joined(names_of_types(), ", ")),
                 name + did_you_mean(name, names_of_types()));
  const Word word(name);
  models::ModelRope model;
  model.architecture = text;
  models::LayerRope layer;
  layer.scaling = type->scaling;
  std::set<std::string> given;
  for (const Setting& setting :
       settings_of(name, colon == std::string_view::npos ? "" : text.substr(colon + 1))) {
    std::vector<std::string> keys{"head_dims", "context"};
    given.insert(setting.key);
    if (setting.key == "head_dims") {
      word.read(setting, layer.head_dims);
      continue;
    }
    if (setting.key == "context") {
      word.read(setting, model.context);
      if (model.context <= 0)
        detail::fail(word.rule(setting.key, "must be greater than 0"), model.context);
      continue;
    }
    if (set_field(layer.powers, setting, word, keys)) continue;
    const bool known = std::visit(
        [&](auto& scaling) { return set_field(scaling, setting, word, keys); }, layer.scaling);
    if (known) continue;
    std::vector<std::string> words = keys;
    for (const Synonym& synonym : synonyms) {
      if (std::find(keys.begin(), keys.end(), synonym.name) != keys.end())
        words.emplace_back(synonym.word);
    }
    detail::fail(fmt::format("{}: a key must be one of {}", name, detail::joined(keys, ", ")),
                 setting.key + did_you_mean(setting.key, words));
  }
  std::vector<const char*> required = type->required;
  required.insert(required.begin(), "rotary_dims");
  for (const char* key : required) {
    if (given.count(key) == 0) detail::fail(fmt::format("{}: {} must be given", name, key));
  }
  if (given.count("head_dims") == 0) layer.head_dims = layer.powers.rotary_dims;
  constexpr eigen_rope::Index most_dims = eigen_rope::Index{1} << 20;
  if (layer.powers.rotary_dims > most_dims)
    detail::fail(word.rule("rotary_dims", fmt::format("must be at most {}", most_dims)),
                 layer.powers.rotary_dims);
  (void)layer.frequencies(model.context);
  if (layer.head_dims < layer.powers.rotary_dims)
    detail::fail(word.rule("head_dims", fmt::format("must be at least rotary_dims, {}",
                                                    layer.powers.rotary_dims)),
                 layer.head_dims);
  const double reach = std::round(effective_context(layer.powers, layer.scaling));
  if (model.context == 0 && reach < 0x1p53) model.context = static_cast<eigen_rope::Index>(reach);
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
          std::any_of(type.required.begin(), type.required.end(),
                      [&](const char* key) { return std::string_view(key) == name; });
      keys.push_back(std::string(name) + (required ? "*" : ""));
    };
    std::visit([&](const auto& scaling) { scaling.for_each_parameter(add, scaling); },
               type.scaling);
    if (keys.empty()) keys.emplace_back("nothing");
    text += wrapped(detail::joined(keys, ", "), 80, fmt::format("  {:<13}", type.name));
  }
  std::vector<std::string> shorter;
  for (const Synonym& synonym : synonyms) {
    if (synonym.word.size() < synonym.name.size())
      shorter.push_back(fmt::format("{} = {}", synonym.word, synonym.name));
  }
  return text + wrapped(fmt::format("Shorter: {}", detail::joined(shorter, ", ")), 80, "");
}

models::ModelRope read_model(const fs::path& path, models::Strictness strictness) {
  std::error_code error;
  if (path == "-" || fs::is_other(path, error)) return read_stream(path, strictness);
  if (!fs::exists(path, error))
    refuse(path.string(), "must be a config.json, a folder with one, or a GGUF file");
  const fs::path file = fs::is_directory(path, error) ? path / "config.json" : path;
  const std::string beginning = beginning_of(file);
  refuse_other_kinds(file, beginning);
  if (file.extension() == ".safetensors")
    refuse(file.string(), "holds weights: give the config.json beside it, or the folder");
  const bool configuration =
      !beginning.empty() &&
      beginning[std::min(beginning.find_first_not_of(" \t\r\n"), beginning.size() - 1)] == '{';
  // What is called .gguf and is no configuration either is told what a GGUF file must be.
  const bool gguf =
      beginning.compare(0, 4, "GGUF") == 0 || (file.extension() == ".gguf" && !configuration);
  return gguf ? models::read_gguf(path, strictness) : models::read_hugging_face(path, strictness);
}

models::ModelRope read_model_or_scaling(const std::string& name, models::Strictness strictness) {
  std::error_code error;
  if (name == "-" || fs::exists(name, error)) return read_model(name, strictness);
  const std::string type(type_word_of(name));
  if (type_named(type) != nullptr) return parse_scaling(name);
  const std::string suggestion = did_you_mean(type, names_of_types());
  const bool meant_as_scaling = name.find('=') != std::string::npos || !suggestion.empty();
  if (meant_as_scaling && name.find(':') != std::string::npos) {
    refuse(name, fmt::format("there is no such file, and no scaling {}: it must be one of {}{}",
                             type, detail::joined(names_of_types(), ", "), suggestion));
  }
  refuse(name,
         "must be a config.json, a folder with one, a GGUF file, or a scaling such as "
         "yarn:dims=128,factor=4,original=4096" +
             suggestion);
}

}  // namespace eigen_rope::tool
