// SPDX-License-Identifier: Apache-2.0
//
// Reads the recorded answers of ggml's operator, data/golden/ggml: cases.json and the arrays it
// points to. A missing, short or malformed file is an exception, never an empty list.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "eigen_rope/numbers/shape.hpp"
#include "support/file_bytes.hpp"

namespace eigen_rope::test {

struct GoldenCase {
  int id;
  std::string group;
  bool is_half;  ///< the operation ran in half; its data is stored widened to float
  Shape shape;   ///< [D, H, S, B]
  Index n_dims;
  std::string mode;
  Index mode_number;
  Index n_offs;
  bool backward;
  Index n_ctx_orig;
  double freq_base, freq_scale, ext_factor, attn_factor, beta_fast, beta_slow;
  std::vector<Index> sections;
  std::vector<float> freq_factors;  ///< empty for none
  std::vector<std::int32_t> positions;
  std::vector<float> input, output;
  double nmse_vs_double;
};

class GoldenReader {
 public:
  explicit GoldenReader(std::string folder)
      : folder_(std::move(folder)),
        index_(nlohmann::json::parse(file_bytes(folder_ + "/cases.json"))) {}

  /// The cases of one group, or all for an empty name.
  std::vector<GoldenCase> read(const std::string& group = "") {
    std::vector<GoldenCase> cases;
    for (const nlohmann::json& entry : index_.at("cases")) {
      if (group.empty() || entry.at("group") == group) cases.push_back(read_case(entry));
    }
    return cases;
  }

 private:
  const std::string& bytes(const std::string& name) {
    const auto found = files_.find(name);
    return found != files_.end() ? found->second : files_[name] = file_bytes(folder_ + "/" + name);
  }

  template <class Element>
  std::vector<Element> array(const nlohmann::json& place, const std::string& dtype) {
    if (place.at("dtype") != dtype) throw std::runtime_error("expected an array of " + dtype);
    const std::string& file = bytes(place.at("file"));
    const auto offset = place.at("offset").get<std::size_t>();
    std::vector<Element> elements(place.at("count").get<std::size_t>());
    if (offset > file.size() || elements.size() > (file.size() - offset) / sizeof(Element))
      throw std::runtime_error("an array ends early");
    if (elements.empty()) throw std::runtime_error("an array is empty");
    std::memcpy(elements.data(), file.data() + offset, elements.size() * sizeof(Element));
    return elements;
  }

  GoldenCase read_case(const nlohmann::json& entry) {
    GoldenCase c;
    c.id = entry.at("id");
    c.group = entry.at("group");
    c.is_half = entry.at("type") == "f16";
    for (const Index extent : entry.at("ne")) c.shape.push_back(extent);
    c.n_dims = entry.at("n_dims");
    c.mode = entry.at("mode_name");
    c.mode_number = entry.at("mode");
    c.n_offs = entry.at("n_offs");
    c.backward = entry.at("direction") == "backward";
    c.n_ctx_orig = entry.at("n_ctx_orig");
    // Float parameters as passed: the decimal numbers name float32 values.
    const auto widened = [&](const char* name) {
      return static_cast<double>(entry.at(name).get<float>());
    };
    c.freq_base = widened("freq_base");
    c.freq_scale = widened("freq_scale");
    c.ext_factor = widened("ext_factor");
    c.attn_factor = widened("attn_factor");
    c.beta_fast = widened("beta_fast");
    c.beta_slow = widened("beta_slow");
    c.sections = entry.at("sections").get<std::vector<Index>>();
    if (!entry.at("freq_factors").is_null())
      c.freq_factors = array<float>(entry.at("freq_factors"), "f32");
    c.positions = array<std::int32_t>(entry.at("positions"), "i32");
    c.input = array<float>(entry.at("input"), "f32");
    c.output = array<float>(entry.at("output"), "f32");
    c.nmse_vs_double = entry.at("nmse_vs_double");
    const auto size = static_cast<std::size_t>(c.shape.size());
    if (c.input.size() != size || c.output.size() != size)
      throw std::runtime_error("an array does not fit its shape");
    return c;
  }

  std::string folder_;
  nlohmann::json index_;
  std::map<std::string, std::string> files_;
};

}  // namespace eigen_rope::test
