// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/scaling.hpp"

#include <string_view>

namespace eigen_rope::EIGEN_ROPE_ABI {

const char* scaling_name(const Scaling& scaling) {
  if (std::holds_alternative<GgmlYarn<>>(scaling)) return Yarn<>::name;
  return std::visit([](const auto& one) { return one.name; }, scaling);
}

std::optional<Index> original_context(const Scaling& scaling) {
  std::optional<Index> result;
  const auto take = [&](const char* name, const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Index>) {
      if (std::string_view(name) == "original_context") result = value;
    }
  };
  std::visit([&](const auto& one) { one.for_each_parameter(take, one); }, scaling);
  return result;
}

bool depends_on_length(const Scaling& scaling) {
  return std::visit([](const auto& one) { return one.uses_length; }, scaling);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
