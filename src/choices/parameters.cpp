// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/detail/parameters.hpp"

#include <fmt/core.h>

#include <ostream>

#include "numbers/joined.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

void ParameterText::add_text(const char* name, const std::string& value) {
  text_ += fmt::format("{}{}={}", empty_ ? ':' : ',', name, value);
  empty_ = false;
}

void ParameterText::add(const char* name, double value) {
  add_text(name, fmt::format("{}", value));
}
void ParameterText::add(const char* name, Index value) { add_text(name, fmt::format("{}", value)); }
void ParameterText::add(const char* name, const char* value) { add_text(name, value); }
void ParameterText::add(const char* name, const std::optional<double>& value) {
  if (value) add(name, *value);
}
void ParameterText::add(const char* name, const std::vector<double>& values) {
  if (!values.empty()) add_text(name, detail::joined(values, "/"));
}
void ParameterText::add(const char* name, const std::vector<Index>& values) {
  if (!values.empty()) add_text(name, detail::joined(values, "/"));
}

std::ostream& print(std::ostream& stream, const std::string& text) { return stream << text; }

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
