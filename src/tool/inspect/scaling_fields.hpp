// SPDX-License-Identifier: Apache-2.0
//
// The parameters of scalings as people read and write them. Their names and order are the library's
// (for_each_parameter), and so are the formulas and the ranges.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "choices/enum_values.hpp"
#include "eigen_rope/choices/scaling.hpp"

namespace eigen_rope::tool {

using detail::EnumValues;

/// As scaling_name, but ggml's YaRN is told from Hugging Face's: ggml_yarn.
std::string type_name_of(const Scaling& scaling);

/// Tokens the scaling stretches its original context to, factor times that; 0 where it does not
/// say.
double effective_context(const Powers<>& powers, const Scaling& scaling);

/// A field as people read it: 4096, 0.5, rounded, `none` for an absent one, `64 numbers, 1 to 64.3`
/// for a long list.
std::string text_of_field(double value);
std::string text_of_field(eigen_rope::Index value);
std::string text_of_field(const std::optional<double>& value);
std::string text_of_field(const std::vector<double>& values);
std::string text_of_field(const std::vector<eigen_rope::Index>& values);
template <class Enum, std::enable_if_t<std::is_enum_v<Enum>, int> = 0>
std::string text_of_field(Enum value) {
  return name_of(value);
}

}  // namespace eigen_rope::tool
