// SPDX-License-Identifier: Apache-2.0
//
// What transformers itself makes of the published configurations (recorded by
// tests/python/record_hugging_face_rates.py) and what this library does.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "eigen_rope/models/hugging_face.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

using Json = nlohmann::json;

const std::string folder = EIGEN_ROPE_TEST_DATA "/models/";

Json recorded() {
  std::ifstream file(folder + "transformers_rates.json");
  return Json::parse(file);
}

/// transformers computes in float: base^(2k / d), whose rounded exponent counts ln(rate) times, its
/// reciprocal, and a few roundings for the scaling.
double allowed(double rate) {
  constexpr double unit_roundoff = 0x1p-24;
  return (2 * std::abs(std::log(rate)) + 8) * unit_roundoff * rate;
}

TEST(TransformersRates, AreThoseOfEveryFixture) {
  const Json all = recorded();
  std::size_t rates_compared = 0;
  for (const auto& [name, kinds] : all["fixtures"].items()) {
    const ModelRope model = read_hugging_face(folder + "hugging_face/" + name + ".json");
    ASSERT_EQ(model.layers.size(), kinds.size()) << name;
    for (const LayerRope& layer : model.layers) {
      ASSERT_TRUE(kinds.contains(layer.layer_type)) << name << ' ' << layer.layer_type;
      const Json& theirs = kinds[layer.layer_type];
      const Frequencies mine = layer.frequencies();
      EXPECT_NEAR(mine.attention_factor().high, theirs["attention_factor"].get<double>(), 1e-15)
          << name;
      ASSERT_EQ(mine.rates().size(), theirs["inv_freq"].size()) << name;
      for (std::size_t k = 0; k < mine.rates().size(); ++k) {
        const double rate = mine.rates()[k].high;
        if (rate == 0) {
          EXPECT_EQ(theirs["inv_freq"][k].get<double>(), 0) << name << " pair " << k;
        } else {
          EXPECT_NEAR(theirs["inv_freq"][k].get<double>(), rate, allowed(rate))
              << name << " pair " << k;
        }
        ++rates_compared;
      }
    }
  }
  EXPECT_EQ(all["fixtures"].size(), 23u);
  EXPECT_EQ(rates_compared, 1734u);
}

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
