// SPDX-License-Identifier: Apache-2.0
//
// config.json. What strict reading takes, lenient reading takes as well, to the same rates.
#include <algorithm>

#include "eigen_rope/models/hugging_face.hpp"
#include "inspected.hpp"
#include "promise.hpp"
#include "targets.hpp"

namespace eigen_rope::fuzz {

void fuzz_config_json(Bytes bytes) {
  std::optional<models::ModelRope> strict, lenient;
  attempt([&] { strict = models::parse_hugging_face(bytes, models::Strictness::strict); });
  attempt([&] { lenient = models::parse_hugging_face(bytes, models::Strictness::lenient); });
  require(!strict || lenient, "lenient reading takes what strict reading takes");
  if (!lenient) return;
  require_consistent(*lenient);
  if (strict) {
    require(strict->layers.size() == lenient->layers.size(),
            "strict and lenient reading find the same layers");
    for (std::size_t i = 0; i < strict->layers.size(); ++i) {
      const std::vector<DoubleDouble> rates =
          strict->layers[i].frequencies(strict->context).rates();
      const std::vector<DoubleDouble> others =
          lenient->layers[i].frequencies(lenient->context).rates();
      require(rates == others, "strict and lenient reading find the same rates");
    }
  }
  inspect_and_print(*lenient);
}

}  // namespace eigen_rope::fuzz
