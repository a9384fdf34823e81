// SPDX-License-Identifier: Apache-2.0
//
// Scalings in one word, as the command line has them.
#include "inspected.hpp"
#include "promise.hpp"
#include "scaling_text.hpp"
#include "targets.hpp"

namespace rope::fuzz {

void fuzz_scaling_text(Bytes bytes) {
  std::optional<models::ModelRope> model;
  attempt([&] { model = tool::parse_scaling(bytes); });
  if (!model) return;
  require_consistent(*model);
  require(model->layers.size() == 1, "a scaling is one layer");
  inspect_and_print(*model);
}

}  // namespace rope::fuzz
