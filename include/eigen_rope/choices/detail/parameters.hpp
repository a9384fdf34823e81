// SPDX-License-Identifier: Apache-2.0
//
// What every class of parameters (powers, and each scaling) has in common. A class lists its
// parameters once, for as many objects at a time as the visitor takes:
//
//   template <class Visit, class... Objects>
//   static void for_each_parameter(Visit&& visit, Objects&... objects) {
//     visit("factor", objects.factor...);
//   }
//
// From that list follow ==, the printed form, the conversion to another scalar, and whatever reads
// or writes parameters by name. A parameter is a number, a count of tokens, pairs or dims (Index),
// an enum, an optional number, or a list of numbers or counts.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "eigen_rope/numbers/detail/passive.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// A value for another scalar; to double only what branches would see.
template <class To, class From>
To scalar_cast(const From& value) {
  if constexpr (std::is_same_v<To, double>) {
    return passive(value);
  } else {
    return To(value);
  }
}

/// One parameter from that of another scalar.
template <class To, class From>
void assign_parameter(To& to, const From& from) {
  if constexpr (std::is_same_v<To, From>) {
    to = from;
  } else {
    to = scalar_cast<To>(from);
  }
}
template <class To, class From>
void assign_parameter(std::optional<To>& to, const std::optional<From>& from) {
  to.reset();
  if (from) to = scalar_cast<To>(*from);
}
template <class To, class From>
void assign_parameter(std::vector<To>& to, const std::vector<From>& from) {
  to.clear();
  to.reserve(from.size());
  for (const From& value : from) to.push_back(scalar_cast<To>(value));
}

/// `yarn:factor=4,original_context=4096`: parameters as eigen-rope inspect reads them.
class EIGEN_ROPE_API ParameterText {
 public:
  explicit ParameterText(const char* type) : text_(type) {}

  void add(const char* name, double value);
  void add(const char* name, Index value);
  void add(const char* name, const char* value);
  void add(const char* name, const std::optional<double>& value);  ///< Nothing where there is none.
  void add(const char* name, const std::vector<double>& values);   ///< Likewise.
  void add(const char* name, const std::vector<Index>& values);    ///< Likewise.
  const std::string& text() const { return text_; }

 private:
  void add_text(const char* name, const std::string& value);

  std::string text_;
  bool empty_ = true;
};

EIGEN_ROPE_API std::ostream& print(std::ostream& stream, const std::string& text);

/// The base of such a class, a template of its scalar. `Derived::name` is the word for it.
template <class Derived>
class Parameters;
template <template <class> class Class, class S>
// A class without constructors of its own is made by braces.
// NOLINTNEXTLINE(bugprone-crtp-constructor-accessibility)
class Parameters<Class<S>> {
  using Derived = Class<S>;

 public:
  /// The same parameters as constants of another scalar; to double, their values without
  /// derivatives.
  template <class T>
  Class<T> cast() const {
    Class<T> result;
    Class<T>::for_each_parameter(
        [](const char* /*name*/, auto& to, const auto& from) { assign_parameter(to, from); },
        result, static_cast<const Derived&>(*this));
    return result;
  }

  /// `yarn:factor=4,original_context=4096`: the name and every parameter, with all digits; absent
  /// ones and empty lists are left out.
  std::string text() const {
    ParameterText result(Derived::name);
    Derived::for_each_parameter(
        [&](const char* name, const auto& value) {
          using Value = std::decay_t<decltype(value)>;
          if constexpr (std::is_enum_v<Value>) {
            result.add(name, name_of(value));
          } else {
            result.add(name, value);
          }
        },
        static_cast<const Derived&>(*this));
    return result.text();
  }

  /// Every parameter is the same.
  friend bool operator==(const Derived& a, const Derived& b) {
    bool same = true;
    Derived::for_each_parameter(
        [&](const char* /*name*/, const auto& x, const auto& y) { same = same && x == y; }, a, b);
    return same;
  }
  friend bool operator!=(const Derived& a, const Derived& b) { return !(a == b); }
  /// Writes text().
  friend std::ostream& operator<<(std::ostream& stream, const Derived& parameters) {
    return print(stream, parameters.text());
  }
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
