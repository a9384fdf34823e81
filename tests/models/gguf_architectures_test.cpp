// SPDX-License-Identifier: Apache-2.0
//
// The table of architectures against the recording of llama.cpp, both ways: none is missing, none
// is more, and each fact is what the executed graphs show. What variants of files make of the facts
// is in gguf_llama_cpp_test.cpp.
#include <gmock/gmock.h>

#include <set>

#include "models/gguf_architectures.hpp"
#include "support/gguf_recording.hpp"

namespace eigen_rope::test::gguf_architectures_tests {
namespace {

using models::find_architecture;
using models::gguf_architectures;
using models::GgufArchitecture;
using models::GgufRope;

const Json& entries() { return llama_cpp_recording().at("architectures"); }

/// The graph of a variant; null where the architecture has none of it.
const Json* graph_of(const std::string& architecture, const std::string& variant) {
  const Json& entry = entries().at(architecture);
  if (entry.contains("not_recorded")) return nullptr;
  for (std::size_t i = 0; i < entry.at("graphs").size(); ++i) {
    for (const std::string name : entry.at("variants").at(i)) {
      if (name == variant) return &entry.at("graphs").at(i);
    }
  }
  return nullptr;
}

bool rotates(const Json& graph) {
  return !graph.contains("error") && !graph.at("rotations").empty();
}

std::set<std::string> words_of(const Json* graph, const char* key) {
  std::set<std::string> words;
  if (graph == nullptr || !rotates(*graph)) return words;
  for (const Json& node : graph->at("rotations")) {
    if (node.contains(key)) words.insert(node.at(key).get<std::string>());
  }
  return words;
}

TEST(GgufArchitectures, TheTableHasTheRecordingsNamesAndNoOthers) {
  std::set<std::string> recorded;
  for (const auto& entry : entries().items()) recorded.insert(entry.key());
  std::set<std::string> known;
  std::string before;
  for (const GgufArchitecture& architecture : gguf_architectures()) {
    EXPECT_LT(before, architecture.name);
    before = std::string(architecture.name);
    known.insert(before);
  }
  EXPECT_EQ(known, recorded);
}

TEST(GgufArchitectures, WhatIsNotRecordedIsNotClaimed) {
  for (const GgufArchitecture& architecture : gguf_architectures()) {
    const bool claimed =
        architecture.rope != GgufRope::unrecorded && architecture.rope != GgufRope::vision_tower;
    EXPECT_EQ(claimed, !entries().at(std::string(architecture.name)).contains("not_recorded"))
        << architecture.name;
  }
}

TEST(GgufArchitectures, ThoseThatNeverRotateHaveNoGraphThatDoes) {
  for (const GgufArchitecture& architecture : gguf_architectures()) {
    const Json& entry = entries().at(std::string(architecture.name));
    if (entry.contains("not_recorded")) continue;
    bool any = false;
    for (const Json& graph : entry.at("graphs")) any = any || rotates(graph);
    EXPECT_EQ(architecture.rope != GgufRope::none, any) << architecture.name;
  }
}

/// The mode of a graph, empty where it has none.
std::string mode_of(const std::string& architecture, const std::string& variant) {
  const std::set<std::string> modes = words_of(graph_of(architecture, variant), "mode");
  EXPECT_LE(modes.size(), 1U) << architecture;
  return modes.empty() ? std::string() : *modes.begin();
}

std::string expected_mode(GgufRope rope, bool first, bool second) {
  switch (rope) {
    case GgufRope::normal: return "normal";
    case GgufRope::neox: return "neox";
    case GgufRope::mrope: return "mrope";
    case GgufRope::imrope: return "imrope";
    case GgufRope::normal_or_mrope: return first && second ? "mrope" : "normal";
    case GgufRope::neox_or_mrope: return first && second ? "mrope" : "neox";
    case GgufRope::neox_or_mrope_by_any: return first ? "mrope" : "neox";
    case GgufRope::none:
    case GgufRope::unrecorded:
    case GgufRope::vision_tower: break;
  }
  return "";
}

TEST(GgufArchitectures, RowsPairAsInTheGraphs) {
  for (const GgufArchitecture& architecture : gguf_architectures()) {
    const std::string name(architecture.name);
    const bool given = entries().at(name).contains("keys") &&
                       entries().at(name).at("keys").contains("rope.dimension_sections");
    const std::string base = mode_of(name, "base");
    if (!base.empty()) {
      EXPECT_EQ(base, expected_mode(architecture.rope, given, given)) << name;
    }
    const std::string sections = mode_of(name, "sections");
    if (!sections.empty()) {
      EXPECT_EQ(sections, expected_mode(architecture.rope, true, true)) << name;
    }
    const std::string first = mode_of(name, "sections_first");
    if (!first.empty()) {
      EXPECT_EQ(first, expected_mode(architecture.rope, true, false)) << name;
    }
  }
}

TEST(GgufArchitectures, DivisorsAreThoseOfTheGraphs) {
  for (const GgufArchitecture& architecture : gguf_architectures()) {
    const std::string name(architecture.name);
    if (entries().at(name).contains("not_recorded") || architecture.rope == GgufRope::none)
      continue;
    std::set<std::string> tensors;
    for (const Json& graph : entries().at(name).at("graphs"))
      tensors.merge(words_of(&graph, "factors"));
    const bool one = architecture.divisors == models::DivisorTensors::one ||
                     architecture.divisors == models::DivisorTensors::one_or_two;
    const bool two = architecture.divisors == models::DivisorTensors::two ||
                     architecture.divisors == models::DivisorTensors::one_or_two;
    EXPECT_EQ(one, tensors.count("rope_freqs.weight") != 0) << name;
    EXPECT_EQ(two, tensors.count("rope_factors_long.weight") != 0) << name;
    EXPECT_EQ(two, tensors.count("rope_factors_short.weight") != 0) << name;
  }
}

TEST(GgufArchitectures, PartOfARowRotatesWhereTheGraphCanBeBuilt) {
  for (const GgufArchitecture& architecture : gguf_architectures()) {
    const std::string name(architecture.name);
    const Json* partial = graph_of(name, "partial");
    if (partial == nullptr || architecture.rope == GgufRope::none) continue;
    EXPECT_EQ(architecture.partial == models::PartialRows::refused, partial->contains("error"))
        << name;
  }
}

/// Whether a variant's graph is another than the one it is a change of.
bool differs(const std::string& architecture, const std::string& variant, const std::string& from) {
  const Json* graph = graph_of(architecture, variant);
  const Json* other = graph_of(architecture, from);
  return graph != nullptr && other != nullptr && rotates(*graph) && rotates(*other) &&
         *graph != *other;
}

TEST(GgufArchitectures, KeysOfYarnAreReadWhereTheyChangeTheGraph) {
  for (const GgufArchitecture& architecture : gguf_architectures()) {
    const std::string name(architecture.name);
    const Json* yarn = graph_of(name, "yarn");
    if (yarn == nullptr || !rotates(*yarn)) continue;
    EXPECT_EQ(architecture.yarn_keys != models::YarnKeys::none, differs(name, "yarn_betas", "yarn"))
        << name;
    EXPECT_EQ(architecture.yarn_keys == models::YarnKeys::all,
              differs(name, "yarn_ext_factor", "yarn"))
        << name;
    EXPECT_EQ(architecture.yarn_keys == models::YarnKeys::all,
              differs(name, "linear_attn_factor", "linear"))
        << name;
    EXPECT_EQ(architecture.log_multiplier != models::LogMultiplier::not_read,
              differs(name, "yarn_log", "yarn"))
        << name;
  }
}

TEST(GgufArchitectures, LogitsAreMultipliedWhereAScalingChangesThem) {
  for (const GgufArchitecture& architecture : gguf_architectures()) {
    const std::string name(architecture.name);
    const Json* base = graph_of(name, "base");
    const Json* linear = graph_of(name, "linear");
    if (base == nullptr || linear == nullptr || !rotates(*base) || !rotates(*linear)) continue;
    EXPECT_EQ(architecture.logits == models::LogitsRule::squared_magnitude,
              base->at("logits") != linear->at("logits"))
        << name;
  }
}

TEST(GgufArchitectures, AlphaIsReadWhereItChangesTheGraph) {
  for (const GgufArchitecture& architecture : gguf_architectures()) {
    EXPECT_EQ(architecture.alpha != models::AlphaKey::not_read,
              differs(std::string(architecture.name), "alpha", "base"))
        << architecture.name;
  }
}

}  // namespace
}  // namespace eigen_rope::test::gguf_architectures_tests
