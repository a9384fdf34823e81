// SPDX-License-Identifier: Apache-2.0
//
// Every recorded tiny model as a file, read, against what llama.cpp's graph did with it: rows,
// window, pairing, sections, rates, magnitude, layers and logits. The expected rates are formed
// here by ggml's definition from the numbers of the executed node.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "eigen_rope/models/gguf.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "support/gguf_recording.hpp"
#include "support/temporary_folder.hpp"

namespace eigen_rope::test::gguf_llama_cpp_tests {
namespace {

using models::LayerRope;
using models::ModelRope;
using models::Strictness;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The graph's numbers are float32, and some of them are products of several.
constexpr double kTolerance = 2e-6;

/// Divisors of a file that has some: all different, none 1.
double divisor(Index pair) { return 1.5 + 0.25 * static_cast<double>(pair); }
double long_divisor(Index pair) { return 2.5 + 0.5 * static_cast<double>(pair); }
double short_divisor(Index pair) { return 1.25 + 0.125 * static_cast<double>(pair); }

enum class Divisors { none, one, two };

struct Outcome {
  std::optional<ModelRope> model{};
  std::string refusal{};
};

Outcome read(const GgufWriter& writer, Strictness strictness) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "m.gguf";
  writer.save(path);
  Outcome outcome;
  try {
    outcome.model = models::read_gguf(path, strictness);
  } catch (const Error& error) {
    outcome.refusal = error.what();
  }
  return outcome;
}

double number(const Json& node, const char* key, double otherwise) {
  return node.contains(key) ? node.at(key).get<double>() : otherwise;
}

/// What the node divides a pair's rate by besides.
double divisor_of(const Json& node, Index pair, Divisors divisors) {
  if (divisors == Divisors::none || !node.contains("factors")) return 1;
  const std::string name = node.at("factors");
  if (divisors == Divisors::one) return name == "rope_freqs.weight" ? divisor(pair) : 1;
  if (name == "rope_factors_long.weight") return long_divisor(pair);
  return name == "rope_factors_short.weight" ? short_divisor(pair) : 1;
}

/// ggml's rate of a pair.
double rate_of(const Json& node, Index pair, Divisors divisors) {
  const auto dims = node.at("dims").get<double>();
  const auto base = node.at("base").get<double>();
  const double rate =
      std::pow(base, -2.0 * static_cast<double>(pair) / dims) / divisor_of(node, pair, divisors);
  const double divided = number(node, "scale", 1) * rate;
  const double ext = number(node, "ext", 0);
  if (ext == 0) return divided;
  const auto end = [&](const char* beta) {
    return dims *
           std::log(node.at("context").get<double>() / (node.at(beta).get<double>() * 2 * M_PI)) /
           (2 * std::log(base));
  };
  const double low = std::max(0.0, std::floor(end("fast")));
  const double high = std::min(dims - 1, std::ceil(end("slow")));
  const double along = (static_cast<double>(pair) - low) / std::max(0.001, high - low);
  const double mix = (1 - std::clamp(along, 0.0, 1.0)) * ext;
  return divided * (1 - mix) + rate * mix;
}

double magnitude_of(const Json& node) {
  const double given = number(node, "attn", 1);
  return number(node, "ext", 0) == 0 ? given
                                     : given * (1 + 0.1 * std::log(1 / number(node, "scale", 1)));
}

bool near(double a, double b) { return std::abs(a - b) <= kTolerance * std::abs(b); }

/// What a layer says that the node does not do, empty where they agree.
std::string difference(const LayerRope& layer, const Json& node, Index context, Divisors divisors) {
  const Index dims = node.at("dims");
  if (layer.head_dims != node.at("q").at(1).get<Index>())
    return "rows of " + std::to_string(layer.head_dims);
  if (layer.powers.rotary_dims != dims)
    return "rotary dims " + std::to_string(layer.powers.rotary_dims);
  const std::string mode = node.at("mode");
  if (!layer.pairing) return "no pairing";
  if ((layer.pairing->kind() == PairKind::interleaved) != (mode == "normal")) return "pairing";
  if (layer.pairing->offset() != node.at("q").at(0).get<Index>())
    return "offset " + std::to_string(layer.pairing->offset());
  if (layer.sections.has_value() != (mode == "mrope" || mode == "imrope")) return "sections";
  if (layer.sections) {
    if (layer.sections->lengths() != node.at("sections").get<std::vector<Index>>())
      return "lengths of sections";
    if ((layer.sections->pattern() == SectionPattern::interleaved_ggml) != (mode == "imrope"))
      return "pattern of sections";
  }
  const Frequencies frequencies = layer.frequencies(context);
  if (!near(frequencies.attention_factor().high, magnitude_of(node))) {
    return "magnitude " + std::to_string(frequencies.attention_factor().high) + ", not " +
           std::to_string(magnitude_of(node));
  }
  for (Index k = 0; k < dims / 2; ++k) {
    const double got = frequencies.rates()[static_cast<std::size_t>(k)].high;
    if (!near(got, rate_of(node, k, divisors))) {
      return "rate " + std::to_string(k) + " is " + std::to_string(got) + ", not " +
             std::to_string(rate_of(node, k, divisors));
    }
  }
  return {};
}

std::map<Index, const Json*> nodes_by_layer(const Json& graph) {
  std::map<Index, const Json*> nodes;
  for (const Json& node : graph.at("rotations")) {
    for (const Index layer : numbers_of_ranges(node.at("layers"))) nodes[layer] = &node;
  }
  return nodes;
}

std::map<Index, const LayerRope*> layers_by_number(const ModelRope& model, Index count) {
  std::map<Index, const LayerRope*> layers;
  for (const LayerRope& layer : model.layers) {
    if (layer.layers.empty()) {
      for (Index i = 0; i < count; ++i) layers[i] = &layer;
    }
    for (const Index i : layer.layers) layers[i] = &layer;
  }
  return layers;
}

/// The logits' multiplier of each layer, relative to the unscaled model's.
std::map<Index, double> logits_by_layer(const Json& graph) {
  std::map<Index, double> logits;
  for (const Json& entry : graph.at("logits")) {
    for (const Index layer : numbers_of_ranges(entry.at(1))) logits[layer] = entry.at(0);
  }
  return logits;
}

/// 1 / sqrt(d) is another one there.
bool has_other_rows(const std::string& variant) {
  return variant == "wide" || variant == "whole_rows" || variant == "window_flags_rows";
}

std::string difference(const ModelRope& got, const RecordedModel& model, const Json& base,
                       Divisors divisors) {
  const std::map<Index, const Json*> nodes = nodes_by_layer(model.graph);
  const Index count = model.number("block_count", 0);
  const std::map<Index, const LayerRope*> layers = layers_by_number(got, count);
  const std::map<Index, double> logits = logits_by_layer(model.graph);
  const std::map<Index, double> plain = logits_by_layer(base);
  const Index context = model.number("context_length", 0);
  for (Index i = 0; i < count; ++i) {
    const auto node = nodes.find(i);
    const auto layer = layers.find(i);
    const std::string at = "layer " + std::to_string(i) + ": ";
    if ((node == nodes.end()) != (layer == layers.end()))
      return at + (node == nodes.end() ? "does not rotate" : "rotates");
    if (node == nodes.end()) continue;
    const std::string what = difference(*layer->second, *node->second, context, divisors);
    if (!what.empty()) return at + what;
    const bool comparable =
        logits.count(i) != 0 && plain.count(i) != 0 && !has_other_rows(model.variant);
    if (comparable && !near(layer->second->softmax_multiplier, logits.at(i) / plain.at(i))) {
      return at + "softmax multiplier " + std::to_string(layer->second->softmax_multiplier) +
             ", not " + std::to_string(logits.at(i) / plain.at(i));
    }
  }
  return {};
}

std::vector<std::string> architectures() {
  std::vector<std::string> names;
  for (const auto& entry : llama_cpp_recording().at("architectures").items())
    names.push_back(entry.key());
  return names;
}

/// Letters and digits only, as names of tests must be.
std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

class GgufLlamaCpp : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Architectures, GgufLlamaCpp, ::testing::ValuesIn(architectures()),
                         test_name);

/// Models that say nothing but what llama.cpp reads: strict must not refuse them. Three graphs
/// leave out a scaling of the file.
bool must_be_read(const std::string& architecture, const std::string& variant) {
  if (architecture == "cogvlm" || architecture == "deepseek2-ocr") return variant == "missing";
  if (architecture == "deepseek4" &&
      (variant == "attn_factor" || variant == "yarn_scaled" || variant == "linear_scaled"))
    return false;
  static const std::set<std::string> names{
      "base",           "missing",       "none",        "linear",       "linear_older",
      "linear_untyped", "attn_factor",   "yarn",        "yarn_scaled",  "finetuned",
      "window",         "window_linear", "window_yarn", "linear_scaled"};
  return names.count(variant) != 0;
}

TEST_P(GgufLlamaCpp, EveryVariantIsReadAsItsGraphOrRefused) {
  const std::vector<RecordedModel> recorded = recorded_models(GetParam());
  if (recorded.empty()) {
    RecordedModel model{GetParam(), "base", llama_cpp_recording().at("start"), Json()};
    EXPECT_THAT(read(written(model), Strictness::strict).refusal, ::testing::Not(IsEmpty()));
    return;
  }
  const Json base = recorded.front().graph;
  for (const RecordedModel& model : recorded) {
    if (model.graph.contains("error")) continue;
    SCOPED_TRACE(model.name());
    const Outcome strict = read(written(model), Strictness::strict);
    const Outcome lenient = read(written(model), Strictness::lenient);
    if (model.graph.at("rotations").empty()) {
      EXPECT_THAT(strict.refusal, HasSubstr("does not rotate"));
      EXPECT_THAT(lenient.refusal, HasSubstr("does not rotate"));
      continue;
    }
    if (must_be_read(model.architecture, model.variant)) {
      EXPECT_THAT(strict.refusal, IsEmpty());
    }
    if (strict.model) {
      EXPECT_THAT(difference(*strict.model, model, base, Divisors::none), IsEmpty());
    }
    if (lenient.model) {
      EXPECT_THAT(difference(*lenient.model, model, base, Divisors::none), IsEmpty());
    }
    // What strict refuses and lenient reads, lenient says.
    if (!strict.model && lenient.model) {
      EXPECT_THAT(lenient.model->warnings, ::testing::Not(IsEmpty()));
    }
    EXPECT_TRUE(lenient.model || model.variant == "longrope_long" ||
                model.variant == "longrope_short" || model.variant == "no_sections")
        << lenient.refusal;
  }
}

std::vector<float> values_of(double (*formula)(Index), Index pairs) {
  std::vector<float> values;
  for (Index k = 0; k < pairs; ++k) values.push_back(static_cast<float>(formula(k)));
  return values;
}

/// The pairs of the layers that are divided, 0 where none is.
Index divided_pairs(const Json& graph, const std::string& beginning) {
  for (const Json& node : graph.at("rotations")) {
    if (node.contains("factors") && node.at("factors").get<std::string>().rfind(beginning, 0) == 0)
      return node.at("dims").get<Index>() / 2;
  }
  return 0;
}

TEST_P(GgufLlamaCpp, DivisorsAreTakenWhereTheGraphTakesThem) {
  for (const RecordedModel& model : recorded_models(GetParam())) {
    if (model.graph.contains("error") || model.graph.at("rotations").empty()) continue;
    if (model.variant.rfind("base", 0) != 0 && model.variant.rfind("window", 0) != 0 &&
        model.variant.rfind("longrope", 0) != 0 && model.variant != "yarn" &&
        model.variant != "linear") {
      continue;
    }
    SCOPED_TRACE(model.name());
    const Json base = recorded_models(GetParam()).front().graph;
    const Index one = divided_pairs(model.graph, "rope_freqs");
    const Index two = divided_pairs(model.graph, "rope_factors");
    GgufWriter w = written(model);
    const Index pairs =
        one + two > 0 ? one + two : model.graph.at("rotations").at(0).at("dims").get<Index>() / 2;
    if (two > 0) {
      w.tensor("rope_factors_long.weight", {static_cast<std::uint64_t>(pairs)}, 0,
               w.floats(values_of(long_divisor, pairs)));
      w.tensor("rope_factors_short.weight", {static_cast<std::uint64_t>(pairs)}, 0,
               w.floats(values_of(short_divisor, pairs)));
    } else {
      w.tensor("rope_freqs.weight", {static_cast<std::uint64_t>(pairs)}, 0,
               w.floats(values_of(divisor, pairs)));
    }
    const Outcome strict = read(w, Strictness::strict);
    const Outcome lenient = read(w, Strictness::lenient);
    const Divisors divisors = one > 0 ? Divisors::one : two > 0 ? Divisors::two : Divisors::none;
    if (divisors == Divisors::none) {
      EXPECT_THAT(strict.refusal, ::testing::Not(IsEmpty()));
    }
    if (strict.model) {
      EXPECT_THAT(difference(*strict.model, model, base, divisors), IsEmpty());
    }
    if (lenient.model) {
      EXPECT_THAT(difference(*lenient.model, model, base, divisors), IsEmpty());
    }
  }
}

}  // namespace
}  // namespace eigen_rope::test::gguf_llama_cpp_tests
