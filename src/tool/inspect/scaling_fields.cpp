// SPDX-License-Identifier: Apache-2.0
#include "tool/inspect/scaling_fields.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "numbers/joined.hpp"

namespace eigen_rope::tool {
namespace {

template <class Number>
std::string text_of_list(const std::vector<Number>& values) {
  constexpr std::size_t few = 6;
  if (values.empty()) return "none";
  if (values.size() <= few) return detail::joined(values, " ", "{:.6g}");
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return fmt::format("{} numbers, {:.6g} to {:.6g}", values.size(), *least, *most);
}

}  // namespace

std::string type_name_of(const Scaling& scaling) {
  return std::visit([](const auto& one) { return std::string(one.name); }, scaling);
}

double effective_context(const Powers<>& powers, const Scaling& scaling) {
  return std::visit(
      [&](const auto& one) -> double {
        using Type = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<Type, GgmlYarn<>>) {
          return static_cast<double>(one.original_context) / powers.linear_scale;
        } else if constexpr (std::is_same_v<Type, Yarn<>> || std::is_same_v<Type, Llama3<>> ||
                             std::is_same_v<Type, LongRope<>> ||
                             std::is_same_v<Type, DynamicNtkScaling<>>) {
          return static_cast<double>(one.original_context) * std::max(1.0, one.factor);
        } else {
          return 0;
        }
      },
      scaling);
}

std::string text_of_field(double value) { return fmt::format("{:.10g}", value); }
std::string text_of_field(eigen_rope::Index value) { return fmt::format("{}", value); }
std::string text_of_field(const std::optional<double>& value) {
  return value ? text_of_field(*value) : "none";
}
std::string text_of_field(const std::vector<double>& values) { return text_of_list(values); }
std::string text_of_field(const std::vector<eigen_rope::Index>& values) {
  return text_of_list(std::vector<double>(values.begin(), values.end()));
}

}  // namespace eigen_rope::tool
