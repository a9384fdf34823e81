// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/frequencies.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "c/arguments.hpp"
#include "c/choices.hpp"
#include "c/status.hpp"
#include "choices/enum_values.hpp"
#include "eigen_rope/c/eigen_rope.h"
#include "eigen_rope/numbers/error.hpp"
#include "numbers/joined.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::c {
namespace {

/// The value of a parameter, for a member of whichever type has its name.
class Value {
 public:
  Value(std::string_view scaling, const eigen_rope_parameter& parameter)
      : scaling_(scaling), parameter_(parameter) {}

  void read(double& value) const { value = number("a number"); }
  void read(std::optional<double>& value) const { value = number("a number"); }
  void read(Index& value) const { value = whole(number("a whole number")); }
  void read(std::vector<double>& values) const {
    const double* const first = list();
    values.assign(first, first + parameter_.list_count);
  }
  void read(std::vector<Index>& values) const {
    const double* const first = list();
    values.clear();
    for (std::int64_t i = 0; i < parameter_.list_count; ++i) values.push_back(whole(first[i]));
  }
  template <class Enum, std::enable_if_t<std::is_enum_v<Enum>, int> = 0>
  void read(Enum& value) const {
    std::vector<const char*> names;
    for (const Enum one : detail::EnumValues<Enum>::all) {
      names.push_back(name_of(one));
      if (parameter_.word == nullptr || std::string_view(parameter_.word) != names.back()) continue;
      value = one;
      return;
    }
    refuse(detail::joined(names, " or "));
  }

 private:
  /// The rule that a parameter has broken, and what it is.
  [[noreturn]] void refuse(std::string_view rule) const {
    const std::string sentence = fmt::format("{}: {} must be {}", scaling_, parameter_.name, rule);
    if (parameter_.word != nullptr) detail::fail(sentence, std::string_view(parameter_.word));
    if (parameter_.list != nullptr)
      detail::fail(sentence, fmt::format("a list of {} numbers", parameter_.list_count));
    detail::fail(sentence, parameter_.number);
  }
  double number(std::string_view rule) const {
    if (parameter_.word != nullptr || parameter_.list != nullptr) refuse(rule);
    return parameter_.number;
  }
  /// Whole numbers up to 2^53 are doubles.
  Index whole(double number) const {
    if (!(std::abs(number) <= 0x1p53) || std::floor(number) != number) {
      detail::fail(fmt::format("{}: {} must be a whole number", scaling_, parameter_.name), number);
    }
    return static_cast<Index>(number);
  }
  const double* list() const {
    if (parameter_.word != nullptr || parameter_.list == nullptr) refuse("a list");
    if (parameter_.list_count < 0) {
      detail::fail(
          fmt::format("{}: the number of {} must not be negative", scaling_, parameter_.name),
          parameter_.list_count);
    }
    detail::checked_product("the number of bytes of a list", parameter_.list_count,
                            sizeof(DoubleDouble));
    return parameter_.list;
  }

  std::string_view scaling_;
  const eigen_rope_parameter& parameter_;
};

/// Reads the member of this name, if the object has one, and collects the names of all.
template <class Object>
bool read_member(Object& object, std::string_view name, const Value& value,
                 std::vector<const char*>& names) {
  bool known = false;
  Object::for_each_parameter(
      [&](const char* member, auto& into) {
        names.push_back(member);
        if (name != member) return;
        known = true;
        value.read(into);
      },
      object);
  return known;
}

struct Named {
  Scaling scaling;
  std::vector<const char*> required;
};

template <class... Scalings>
Named scaling_named(std::string_view name, const std::variant<Scalings...>* /*any*/) {
  std::optional<Named> found;
  const auto try_one = [&](const auto& scaling) {
    using Class = std::decay_t<decltype(scaling)>;
    if (name == Class::name)
      found = Named{scaling, {Class::required.begin(), Class::required.end()}};
  };
  (try_one(Scalings()), ...);
  if (!found) {
    const std::vector<const char*> names{Scalings::name...};
    detail::fail(fmt::format("a scaling must be one of {}", detail::joined(names, ", ")), name);
  }
  return *found;
}

Frequencies frequencies_of(std::string_view name, const eigen_rope_parameter* parameters,
                           std::int64_t count, std::int64_t length) {
  Named named = scaling_named(name, static_cast<const Scaling*>(nullptr));
  named.required.insert(named.required.begin(), "rotary_dims");
  if (count < 0) detail::fail("the number of parameters must not be negative", count);
  if (count > 0) require_given(parameters, "parameters");
  Powers<> powers;
  std::vector<std::string_view> given;
  for (std::int64_t i = 0; i < count; ++i) {
    require_given(parameters[i].name, "a parameter's name");
    const std::string_view member = parameters[i].name;
    if (std::find(given.begin(), given.end(), member) != given.end())
      detail::fail(fmt::format("{}: {} must be given once", name, member));
    given.push_back(member);
    const Value value(name, parameters[i]);
    std::vector<const char*> names;
    if (read_member(powers, member, value, names)) continue;
    const bool known = std::visit(
        [&](auto& scaling) { return read_member(scaling, member, value, names); }, named.scaling);
    if (!known) {
      detail::fail(
          fmt::format("{}: a parameter must be one of {}", name, detail::joined(names, ", ")),
          member);
    }
  }
  for (const char* member : named.required) {
    if (std::find(given.begin(), given.end(), member) == given.end())
      detail::fail(fmt::format("{}: {} must be given", name, member));
  }
  return Frequencies(powers, named.scaling, static_cast<Index>(length));
}

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::c

namespace c = eigen_rope::c;

eigen_rope_status eigen_rope_frequencies_create(const char* scaling,
                                                const eigen_rope_parameter* parameters,
                                                std::int64_t count, std::int64_t length,
                                                eigen_rope_frequencies** frequencies) noexcept {
  return c::status_of([&] {
    c::require_given(scaling, "scaling");
    c::require_given(frequencies, "frequencies");
    *frequencies =
        c::handle_of<eigen_rope_frequencies>(c::frequencies_of(scaling, parameters, count, length));
  });
}

eigen_rope_status eigen_rope_frequencies_from_rates(const double* rates, std::int64_t count,
                                                    double attention_factor,
                                                    eigen_rope_frequencies** frequencies) noexcept {
  return c::status_of([&] {
    c::require_given(frequencies, "frequencies");
    if (count < 0) eigen_rope::detail::fail("the number of rates must not be negative", count);
    if (count > 0) c::require_given(rates, "rates");
    eigen_rope::detail::checked_product("the number of bytes of all rates", count,
                                        sizeof(eigen_rope::DoubleDouble));
    *frequencies = c::handle_of<eigen_rope_frequencies>(eigen_rope::Frequencies::explicit_rates(
        std::vector<double>(rates, rates + count), attention_factor));
  });
}

eigen_rope_status eigen_rope_frequencies_pairs(const eigen_rope_frequencies* frequencies,
                                               std::int64_t* pairs) noexcept {
  return c::status_of([&] {
    c::require_given(frequencies, "frequencies");
    c::require_given(pairs, "pairs");
    *pairs = frequencies->value.pairs();
  });
}

eigen_rope_status eigen_rope_frequencies_rates(const eigen_rope_frequencies* frequencies,
                                               double* rates, std::int64_t count,
                                               double* attention_factor) noexcept {
  return c::status_of([&] {
    c::require_given(frequencies, "frequencies");
    c::require_given(rates, "rates");
    c::require_given(attention_factor, "attention_factor");
    const eigen_rope::Frequencies& value = frequencies->value;
    if (count != value.pairs()) {
      eigen_rope::detail::fail(
          fmt::format("the number of rates must be that of the pairs, {}", value.pairs()), count);
    }
    std::transform(value.rates().begin(), value.rates().end(), rates,
                   [](const eigen_rope::DoubleDouble& rate) { return rate.high; });
    *attention_factor = value.attention_factor().high;
  });
}

void eigen_rope_frequencies_destroy(eigen_rope_frequencies* frequencies) noexcept {
  delete frequencies;
}
