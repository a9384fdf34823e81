// SPDX-License-Identifier: Apache-2.0
//
// What every target holds the library to: a result, or a refusal in one sentence.
//
//   [rope] <what and rule>, got <value>   one line without control characters, shorter than 600
//                                         bytes
//
// A broken promise is an exception nobody catches: libFuzzer takes it for a crash, GoogleTest for a
// failure.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>

#include "eigen_rope/models/model_rope.hpp"
#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::fuzz {

class BrokenPromise : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void require(bool kept, std::string_view promise) {
  if (!kept) throw BrokenPromise("broken promise: " + std::string(promise));
}

inline bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

inline void require_sentence(std::string_view sentence) {
  constexpr std::string_view prefix = "[rope] ";
  constexpr std::size_t longest = 600;
  const char* broken = nullptr;
  if (sentence.substr(0, prefix.size()) != prefix) broken = "a refusal begins with [rope]: ";
  if (sentence.size() >= longest) broken = "a refusal is shorter than 600 bytes: ";
  if (std::any_of(sentence.begin(), sentence.end(), is_control))
    broken = "a refusal is one line without control characters: ";
  if (broken != nullptr) require(false, broken + std::string(sentence));
}

enum class Outcome { done, refused };

/// Calls, and checks the sentence if it refuses with one of `Refusals`. Whatever else is thrown
/// passes through.
template <class Refusal = Error, class... Refusals, class Call>
Outcome attempt(const Call& call) {
  try {
    if constexpr (sizeof...(Refusals) == 0) {
      call();
    } else if (attempt<Refusals...>(call) == Outcome::refused) {
      return Outcome::refused;
    }
    return Outcome::done;
  } catch (const Refusal& refusal) {
    require_sentence(refusal.what());
    return Outcome::refused;
  }
}

/// What holds for every model that a reader returns.
inline void require_consistent(const models::ModelRope& model) {
  require(!model.layers.empty(), "a model has a layer");
  require(model.context >= 0 && model.layer_count >= 0 && model.heads >= 0 && model.key_heads >= 0,
          "counts are not negative");
  for (const std::string& warning : model.warnings) {
    require(std::none_of(warning.begin(), warning.end(), is_control),
            "a warning is one line without control characters");
  }
  for (const models::LayerRope& layer : model.layers) {
    const Index dims = layer.powers.rotary_dims;
    require(dims > 0 && dims % 2 == 0 && dims <= layer.head_dims,
            "the rotated dims are even and fit a head");
    for (std::size_t i = 0; i < layer.layers.size(); ++i) {
      require(layer.layers[i] >= 0 && layer.layers[i] < model.layer_count,
              "layers are below their count");
      require(i == 0 || layer.layers[i - 1] < layer.layers[i], "layers ascend");
    }
    if (layer.pairing)
      require(layer.pairing->offset() >= 0 && layer.pairing->offset() <= layer.head_dims - dims,
              "the window fits a head");
    const Frequencies frequencies = layer.frequencies(model.context);
    require(frequencies.pairs() == dims / 2, "there is a rate for each pair");
    for (const DoubleDouble& rate : frequencies.rates())
      require(std::isfinite(static_cast<double>(rate)), "rates are finite");
    require(std::isfinite(static_cast<double>(frequencies.attention_factor())),
            "the attention factor is finite");
  }
}

}  // namespace eigen_rope::fuzz
