// SPDX-License-Identifier: Apache-2.0
//
// Scalings in one word, as the command line has them; two, with a line end between them, for
// `eigen-rope compare`.
#include "inspected.hpp"
#include "promise.hpp"
#include "targets.hpp"
#include "tool/compare/compare.hpp"
#include "tool/compare/report.hpp"
#include "tool/inspect/scaling_text.hpp"

namespace eigen_rope::fuzz {
namespace {

std::optional<models::ModelRope> parsed(Bytes bytes) {
  std::optional<models::ModelRope> model;
  attempt([&] { model = tool::parse_scaling(bytes); });
  if (!model) return model;
  require_consistent(*model);
  require(model->layers.size() == 1, "a scaling is one layer");
  return model;
}

void compare_and_print(const models::ModelRope& a, const models::ModelRope& b) {
  if (!is_small(a) || !is_small(b)) return;
  tool::InspectOptions options;
  if (a.context == 0 && b.context == 0) options.length = 4096;
  std::optional<tool::Comparison> comparison;
  if (attempt([&] { comparison = tool::compare({"a", a}, {"b", b}, options); }) == Outcome::refused)
    return;
  require(comparison->layers.size() == 1, "two layers are one comparison");
  const tool::LayerComparison& layers = comparison->layers.front();
  if (layers.first_apart)
    require(*layers.first_apart > 0 && *layers.first_apart < comparison->length,
            "the first position apart is one");
  require_report(tool::text_of(*comparison, {}), tool::json_of(*comparison));
}

}  // namespace

void fuzz_scaling_text(Bytes bytes) {
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  const std::optional<models::ModelRope> a = parsed(bytes.substr(0, end));
  if (!a) return;
  if (end == bytes.size()) return inspect_and_print(*a);
  const std::optional<models::ModelRope> b = parsed(bytes.substr(end + 1));
  if (b) compare_and_print(*a, *b);
}

}  // namespace eigen_rope::fuzz
