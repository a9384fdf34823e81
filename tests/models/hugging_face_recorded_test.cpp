// SPDX-License-Identifier: Apache-2.0
//
// The families' table and the reader against what transformers' own classes answered
// (data/models/recorded/hugging_face.json, written by scripts/record_models/hugging_face.py): every
// model type is in the table, every fact is the recorded one, and every recorded configuration is
// read with the recorded rates, magnitude, pairing, softmax multiplier, sections and layers, or
// refused. The totals stand in docs/configurations.md; with EIGEN_ROPE_WRITE_TOTALS=1 in the
// environment this test writes them there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "eigen_rope/models/hugging_face.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "models/families.hpp"
#include "tool/io/terminal.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

using Json = nlohmann::json;

const Json& recording() {
  static const Json json = [] {
    std::ifstream file(EIGEN_ROPE_TEST_DATA "/models/recorded/hugging_face.json");
    return Json::parse(file);
  }();
  return json;
}

bool is_rotating(const Json& record) { return record.value("rotates", false); }

PairKind kind_of(const std::string& name) {
  if (name == "half") return PairKind::split_half;
  return name == "interleaved" ? PairKind::interleaved : PairKind::interleaved_to_split_half;
}

Json patched(Json config, const Json& patch) {
  for (const auto& [key, value] : patch.items()) {
    if (value.is_null()) {
      config.erase(key);
    } else {
      config[key] = value;
    }
  }
  return config;
}

/// The configuration of a variant; nothing for one that is not of this type.
std::optional<Json> configuration(const std::string& name, const Json& record,
                                  const std::string& label) {
  const Json needed = record.value("only_with", Json::object());
  // A list of layers belongs to the small model alone.
  if (needed.contains("layer_types") && (label == "empty" || label == "default")) return {};
  if (label == "empty") return patched(Json{{"model_type", name}}, needed);
  if (label == "default") return patched(record.at("default_config"), needed);
  if (record.contains("patches") && record["patches"].contains(label))
    return patched(record.at("config"), record["patches"][label]);
  const Json& shared = recording()["variants"].at(std::to_string(record.at("pairs").get<int>()));
  if (!shared.contains(label)) return {};
  return patched(record.at("config"), shared[label]);
}

/// transformers computes in float: base^(2k / d), whose rounded exponent counts ln(rate) times, and
/// a few roundings for the scaling.
double float_error(double rate) {
  constexpr double unit_roundoff = 0x1p-24;
  return (2 * std::abs(std::log(std::abs(rate))) + 32) * unit_roundoff * std::abs(rate);
}

std::string differing_rate(const Frequencies& mine, const Json& entry) {
  const Json& theirs = recording()["rates"].at(entry[1].get<std::size_t>());
  const std::size_t count = theirs.is_object() ? theirs["n"].get<std::size_t>() : theirs.size();
  if (mine.rates().size() != count)
    return "pairs " + std::to_string(mine.rates().size()) + " for " + std::to_string(count);
  for (std::size_t k = 0; k < count; ++k) {
    const std::string at = std::to_string(k);
    if (theirs.is_object() && !theirs["at"].contains(at)) continue;
    const double rate =
        theirs.is_object() ? theirs["at"][at].get<double>() : theirs[k].get<double>();
    const double own = mine.rates()[k].high;
    if (rate == 0 ? own != 0 : !(std::abs(own - rate) <= float_error(rate))) {
      return "rate " + at + ": " + std::to_string(own) + " for " + std::to_string(rate);
    }
  }
  if (std::abs(mine.attention_factor().high - entry[2].get<double>()) > 1e-6) return "magnitude";
  return "";
}

/// Empty where the layer is one of `places`, the entries of the answer that may turn it.
std::string compare_layer(const LayerRope& layer, const Json& answer,
                          const std::set<std::size_t>& places) {
  std::string difference;
  for (const std::size_t place : places) {
    if (place >= answer.size()) return "a layer that no rotary module turns";
    const std::string found = differing_rate(layer.frequencies(), answer[place]);
    if (!found.empty()) difference = found + " (" + layer.layer_type + ")";
  }
  return difference;
}

std::set<std::size_t> places_of(const LayerRope& layer, const Json& answer,
                                const std::string& layers) {
  std::set<std::size_t> places;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool own = layer.layers.empty() || std::find(layer.layers.begin(), layer.layers.end(),
                                                       static_cast<Index>(i)) != layer.layers.end();
    if (!own || layers[i] == '-') continue;
    constexpr int hexadecimal = 16;
    places.insert(std::isxdigit(static_cast<unsigned char>(layers[i])) != 0
                      ? std::stoul(std::string(1, layers[i]), nullptr, hexadecimal)
                      : answer.size());
  }
  if (!places.empty() || !layers.empty()) return places;
  for (std::size_t i = 0; i < answer.size(); ++i) {
    if (answer[i][0] == layer.layer_type) return {i};
  }
  for (std::size_t i = 0; i < answer.size(); ++i) places.insert(i);
  return places;
}

std::string compare_layer_sets(const ModelRope& model, const std::string& layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool mine =
        std::any_of(model.layers.begin(), model.layers.end(), [&](const LayerRope& layer) {
          return layer.layers.empty() || std::find(layer.layers.begin(), layer.layers.end(),
                                                   static_cast<Index>(i)) != layer.layers.end();
        });
    if (mine != (layers[i] != '-'))
      return "layer " + std::to_string(i) + (mine ? " is called rotated" : " is left out");
  }
  return "";
}

/// What differs between a model that was read and the recorded answer; empty for nothing.
std::string compare(const ModelRope& model, const Json& record, const std::string& label) {
  const Json& answer = record["answers"][label];
  const Json& runs = record["layers"];
  std::string layers = runs.value(label, std::string());
  if (layers.rfind("error", 0) == 0) layers.clear();
  std::string difference = compare_layer_sets(model, layers);
  if (!difference.empty()) return difference;
  for (const LayerRope& layer : model.layers) {
    difference = compare_layer(layer, answer, places_of(layer, answer, layers));
    if (!difference.empty()) return difference;
    const bool other = record.contains("pairings") && record["pairings"].contains(label);
    if (!layer.pairing ||
        layer.pairing->kind() != kind_of(other ? record["pairings"][label] : record["pairing"]))
      return "pairing";
    if (layer.pairing->rotary_dims(layer.head_dims) != 2 * layer.frequencies().pairs())
      return "window";
    const bool scaled = label == "new_yarn_mscale" || label == "old_yarn_mscale";
    if (scaled && record["softmax"].is_number() && std::get_if<Yarn<>>(&layer.scaling) != nullptr &&
        std::abs(layer.softmax_multiplier / record["softmax"].get<double>() - 1) > 1e-6) {
      return "softmax multiplier";
    }
    if (!scaled && layer.softmax_multiplier != 1 && !record["softmax"].is_number())
      return "softmax multiplier";
  }
  return "";
}

std::string names_of(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += " " + name;
  return text;
}

TEST(HuggingFaceRecorded, TheTableHoldsEveryTypeThatRotatesAndNoOther) {
  std::set<std::string> missing;
  std::set<std::string> more;
  for (const auto& [name, record] : recording()["types"].items()) {
    if (is_rotating(record) != (find_family(name) != nullptr))
      (is_rotating(record) ? missing : more).insert(name);
    const bool silent =
        !is_rotating(record) && (!record.contains("not_recorded") || record.contains("input"));
    EXPECT_EQ(silent, find_silent_family(name) != nullptr) << name;
  }
  for (const Family* family = families_begin(); family != families_end(); ++family) {
    if (!recording()["types"].contains(family->model_type))
      more.insert(std::string(family->model_type));
  }
  EXPECT_EQ(names_of(missing), "");
  EXPECT_EQ(names_of(more), "");
}

TEST(HuggingFaceRecorded, EveryFactOfTheTableIsTheRecordedOne) {
  const std::map<std::string, FusedQkv> orders{{"none", FusedQkv::none},
                                               {"grouped", FusedQkv::grouped},
                                               {"concatenated", FusedQkv::concatenated}};
  for (const auto& [name, record] : recording()["types"].items()) {
    if (!is_rotating(record)) continue;
    const Family& family = *find_family(name);
    EXPECT_EQ(family.pairs, kind_of(record["pairing"])) << name;
    const auto order = orders.find(record["fused"]);
    EXPECT_EQ(fused_qkv(name), order == orders.end() ? FusedQkv::unknown : order->second) << name;
    EXPECT_EQ(family.latent, record["config"].value("qk_rope_head_dim", 0) > 0) << name;
    if (record.contains("default_sections") && family.mrope != MropeOrder::none &&
        family.mrope != MropeOrder::other) {
      EXPECT_THAT(record["default_sections"].get<std::vector<Index>>(),
                  testing::ElementsAreArray(family.sections))
          << name;
    }
    EXPECT_EQ(family.mrope != MropeOrder::none, record.contains("section_axes")) << name;
  }
}

struct Totals {
  int types = 0, equal = 0, refused = 0, wrong = 0, lenient_wrong = 0;
  int cases = 0, cases_equal = 0, cases_refused = 0, cases_wrong = 0;
  std::string differences{};
};

/// Whether one of the warnings begins with the key that the strict reader's refusal begins with.
bool names_the_key_of(const std::string& refusal, const std::vector<std::string>& warnings) {
  const std::string after_mark = refusal.substr(refusal.find("] ") + 2);
  const std::string key = after_mark.substr(0, after_mark.find(' ') + 1);
  return std::any_of(warnings.begin(), warnings.end(),
                     [&](const std::string& warning) { return warning.rfind(key, 0) == 0; });
}

void read_case(const std::string& name, const Json& record, const std::string& label,
               const Json& config, Totals& totals, bool& saved, bool& wrong) {
  ++totals.cases;
  const std::string text = config.dump();
  std::string refusal;
  try {
    const std::string difference = compare(parse_hugging_face(text), record, label);
    ++(difference.empty() ? totals.cases_equal : totals.cases_wrong);
    if (!difference.empty()) {
      wrong = true;
      totals.differences += name + " " + label + ": " + difference + "\n";
    }
  } catch (const Error& error) {
    refusal = error.what();
    ++totals.cases_refused;
    if (label == "saved" || label == "default") {
      saved = false;
      if (std::getenv("EIGEN_ROPE_SHOW_REFUSED") != nullptr)
        std::cout << name << " " << label << " refused: " << error.what() << "\n";
    }
  }
  try {
    const ModelRope lenient = parse_hugging_face(text, Strictness::lenient);
    const std::string difference = compare(lenient, record, label);
    if (!difference.empty() && (refusal.empty() || !names_the_key_of(refusal, lenient.warnings))) {
      ++totals.lenient_wrong;
      totals.differences += name + " " + label +
                            " leniently without a warning of it: " + difference + "; " + refusal +
                            "\n";
    }
  } catch (const Error&) {
    // Refused by both.
  }
}

// A composite around a text that rotates: its file holds the text's configuration, and the answer
// is the text's.
void read_composite(const std::string& name, const Json& record, Totals& totals) {
  const std::string type = record["text"][1];
  if (!recording()["types"].contains(type)) return;
  const Json& text = recording()["types"][type];
  if (!is_rotating(text) || !text.contains("answers") || !text["answers"]["saved"].is_array())
    return;
  ++totals.types;
  bool saved = true;
  bool wrong = false;
  const Json config{{"model_type", name}, {record["text"][0].get<std::string>(), text["config"]}};
  read_case(name, text, "saved", config, totals, saved, wrong);
  ++(wrong ? totals.wrong : saved ? totals.equal : totals.refused);
}

Totals read_all() {
  Totals totals;
  for (const auto& [name, record] : recording()["types"].items()) {
    if (record.contains("text")) read_composite(name, record, totals);
    if (!is_rotating(record) || !record.contains("answers")) continue;
    ++totals.types;
    bool saved = true;
    bool wrong = false;
    for (const auto& [label, answer] : record["answers"].items()) {
      if (answer.is_string()) continue;  // transformers refuses it, too
      if (const std::optional<Json> config = configuration(name, record, label)) {
        read_case(name, record, label, *config, totals, saved, wrong);
      }
    }
    ++(wrong ? totals.wrong : saved ? totals.equal : totals.refused);
  }
  return totals;
}

/// As it stands in the page.
std::string text_of(const Totals& totals) {
  std::ostringstream line;
  line << "Of " << totals.types << " types of text whose rotary modules answered, " << totals.equal
       << " are read alike by the strict reader, " << totals.refused
       << " are refused as their class saves them, and " << totals.wrong << " are wrong. Of "
       << totals.cases << " configurations, " << totals.cases_equal << " are equal, "
       << totals.cases_refused << " are refused, and " << totals.cases_wrong
       << " are wrong (transformers " << recording()["transformers"].get<std::string>() << ", "
       << recording()["date"].get<std::string>() << ").";
  return tool::wrapped(line.str(), 100, "");
}

TEST(HuggingFaceRecorded, EveryConfigurationIsReadAsTransformersDoesOrRefused) {
  const Totals totals = read_all();
  EXPECT_EQ(totals.cases_wrong, 0) << totals.differences;
  EXPECT_EQ(totals.lenient_wrong, 0) << totals.differences;
  constexpr double wanted = 245.0 / 255;  // the share of types that must be read alike
  EXPECT_GE(totals.equal, wanted * totals.types) << totals.differences;
  const std::string path = EIGEN_ROPE_TEST_DATA "/../../docs/configurations.md";
  std::ifstream file(path);
  std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::string begin = "<!-- totals -->\n";
  const std::size_t from = page.find(begin) + begin.size();
  const std::size_t to = page.find("<!-- end of totals -->");
  ASSERT_NE(to, std::string::npos);
  const std::string text = text_of(totals);
  std::cout << text;
  if (std::getenv("EIGEN_ROPE_WRITE_TOTALS") != nullptr)
    std::ofstream(path) << std::string(page).replace(from, to - from, text);
  EXPECT_EQ(page.substr(from, to - from), text) << "EIGEN_ROPE_WRITE_TOTALS=1 writes it";
}

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
