// SPDX-License-Identifier: Apache-2.0
//
// The parameters of each scaling under their C++ names, listed once: what is printed, compared, written as JSON and read from a command
// line.
//
//   for_each_field(yarn, [](const char* name, auto& value) { ... });
//
// A value is a double, a eigen_rope::Index, an optional or a list of them, or an enum. Not the formulas, and no check of any range:
// those are the library's.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "eigen_rope/choices/scaling_choice.hpp"

namespace eigen_rope::tool {

/// The names of an enum's values, in order.
template <class Enum>
struct EnumNames;
template <>
struct EnumNames<RampEnds> {
  static constexpr std::array names{std::pair{RampEnds::rounded, "rounded"}, std::pair{RampEnds::exact, "exact"}};
};
template <>
struct EnumNames<YarnMagnitude> {
  static constexpr std::array names{std::pair{YarnMagnitude::hugging_face, "hugging_face"}, std::pair{YarnMagnitude::deepseek, "deepseek"},
                                    std::pair{YarnMagnitude::given, "given"}};
};
template <>
struct EnumNames<LongRopeMagnitude> {
  static constexpr std::array names{std::pair{LongRopeMagnitude::from_factor, "from_factor"}, std::pair{LongRopeMagnitude::given, "given"}};
};

template <class Enum>
const char* name_of_value(Enum value) {
  for (const auto& [one, name] : EnumNames<Enum>::names) {
    if (one == value) return name;
  }
  return "?";
}

/// Powers or a scaling, const or not.
template <class Object, class Visit>
void for_each_field(Object& object, const Visit& visit) {
  using Type = std::remove_const_t<Object>;
  if constexpr (std::is_same_v<Type, Powers>) {
    visit("rotary_dims", object.rotary_dims);
    visit("base", object.base);
    visit("linear_scale", object.linear_scale);
    visit("attention_factor", object.attention_factor);
    visit("factors", object.factors);
    visit("exponents", object.exponents);
    visit("exponent_dims", object.exponent_dims);
  } else if constexpr (std::is_same_v<Type, Linear>) {
    visit("factor", object.factor);
  } else if constexpr (std::is_same_v<Type, Proportional>) {
    visit("factor", object.factor);
    visit("rotated_pairs", object.rotated_pairs);
  } else if constexpr (std::is_same_v<Type, DynamicNtkScaling>) {
    visit("factor", object.factor);
    visit("original_context", object.original_context);
  } else if constexpr (std::is_same_v<Type, NtkScaling>) {
    visit("factor", object.factor);
    visit("mixed_b", object.mixed_b);
  } else if constexpr (std::is_same_v<Type, Yarn>) {
    visit("factor", object.factor);
    visit("original_context", object.original_context);
    visit("beta_fast", object.beta_fast);
    visit("beta_slow", object.beta_slow);
    visit("ends", object.ends);
    visit("magnitude", object.magnitude);
    visit("mscale", object.mscale);
    visit("mscale_all_dim", object.mscale_all_dim);
    visit("extrapolation", object.extrapolation);
  } else if constexpr (std::is_same_v<Type, GgmlYarn>) {
    visit("ext_factor", object.ext_factor);
    visit("original_context", object.original_context);
    visit("beta_fast", object.beta_fast);
    visit("beta_slow", object.beta_slow);
    visit("ends", object.ends);
  } else if constexpr (std::is_same_v<Type, Llama3>) {
    visit("factor", object.factor);
    visit("low_freq_factor", object.low_freq_factor);
    visit("high_freq_factor", object.high_freq_factor);
    visit("original_context", object.original_context);
  } else if constexpr (std::is_same_v<Type, LongRope>) {
    visit("short_factor", object.short_factor);
    visit("long_factor", object.long_factor);
    visit("original_context", object.original_context);
    visit("factor", object.factor);
    visit("magnitude", object.magnitude);
  } else {
    static_assert(std::is_same_v<Type, Unscaled>, "a scaling without fields");
  }
}

/// As scaling_name, but ggml's YaRN is told from Hugging Face's: ggml_yarn.
std::string type_name_of(const Scaling& scaling);

/// Tokens the scaling stretches its original context to, factor times that; 0 where it does not say.
double effective_context(const Powers& powers, const Scaling& scaling);

/// A field as people read it: 4096, 0.5, rounded, `none` for an absent one, `64 numbers, 1 to 64.3` for a long list.
std::string text_of_field(double value);
std::string text_of_field(eigen_rope::Index value);
std::string text_of_field(const std::optional<double>& value);
std::string text_of_field(const std::vector<double>& values);
std::string text_of_field(const std::vector<eigen_rope::Index>& values);
template <class Enum, std::enable_if_t<std::is_enum_v<Enum>, int> = 0>
std::string text_of_field(Enum value) {
  return name_of_value(value);
}

}  // namespace eigen_rope::tool
