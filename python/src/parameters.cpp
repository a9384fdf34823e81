// SPDX-License-Identifier: Apache-2.0
#include "parameters.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <eigen_rope/numbers/error.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "choices/enum_values.hpp"
#include "words.hpp"

namespace eigen_rope_python {
namespace {

using er::Index;

/// One parameter of an object, with the words for what is wrong with it.
class Parameter {
 public:
  Parameter(nb::handle object, const char* owner, const char* name)
      : value_(object.attr(name)), owner_(owner), name_(name) {}

  void read(double& value) const { value = number(value_); }
  void read(Index& value) const { value = whole(value_); }
  void read(std::optional<double>& value) const {
    value.reset();
    if (!value_.is_none()) value = number(value_);
  }
  void read(std::vector<double>& values) const {
    values.clear();
    for (const nb::handle item : list()) values.push_back(number(item));
  }
  void read(std::vector<Index>& values) const {
    values.clear();
    for (const nb::handle item : list()) values.push_back(whole(item));
  }
  template <class Enum, std::enable_if_t<std::is_enum_v<Enum>, int> = 0>
  void read(Enum& value) const {
    std::string names;
    for (const Enum one : er::detail::EnumValues<Enum>::all) {
      const std::string_view name = er::name_of(one);
      if (nb::isinstance<nb::str>(value_) && nb::cast<std::string>(value_) == name) {
        value = one;
        return;
      }
      names.append(names.empty() ? "" : " or ").append(name);
    }
    er::detail::fail(rule(names.c_str()), text_of(value_));
  }

 private:
  std::string rule(const char* is) const {
    return std::string(owner_) + ": " + name_ + " must be " + is;
  }
  [[noreturn]] void refuse(const char* is, nb::handle got) const {
    fail_type(rule(is), class_name(got));
  }
  double number(nb::handle item) const {
    const double value = PyFloat_AsDouble(item.ptr());
    if (value == -1.0 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      refuse("a number", item);
    }
    return value;
  }
  Index whole(nb::handle item) const {
    const Py_ssize_t value = PyNumber_AsSsize_t(item.ptr(), PyExc_OverflowError);
    if (value == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      refuse("a whole number", item);
    }
    return value;
  }
  nb::iterable list() const {
    nb::iterable items;
    if (nb::isinstance<nb::str>(value_) || !nb::try_cast(value_, items))
      refuse("a list of numbers", value_);
    return items;
  }

  nb::object value_;
  const char* owner_;
  const char* name_;
};

template <class Object>
void read_members(Object& object, nb::handle from) {
  Object::for_each_parameter(
      [&](const char* name, auto& member) { Parameter(from, Object::name, name).read(member); },
      object);
}

nb::object value_of(double value) { return nb::cast(value); }
nb::object value_of(Index value) { return nb::cast(value); }
nb::object value_of(const std::optional<double>& value) { return nb::cast(value); }
template <class Number>
nb::object value_of(const std::vector<Number>& values) {
  return nb::tuple(nb::cast(values));
}
template <class Enum, std::enable_if_t<std::is_enum_v<Enum>, int> = 0>
nb::object value_of(Enum value) {
  return nb::cast(er::name_of(value));
}

template <class Object>
nb::dict members(const Object& object) {
  nb::dict result;
  Object::for_each_parameter(
      [&](const char* name, const auto& member) { result[name] = value_of(member); }, object);
  return result;
}

nb::module_ choices() { return nb::module_::import_("eigen_rope._choices"); }

template <class... Scalings, class Visit>
void for_each_scaling(const std::variant<Scalings...>* /*any*/, const Visit& visit) {
  (visit(Scalings()), ...);
}

}  // namespace

er::Powers<> read_powers(nb::handle powers) {
  if (!nb::isinstance(powers, choices().attr("Powers"))) {
    fail_type("powers must be Powers", class_name(powers));
  }
  er::Powers<> result;
  read_members(result, powers);
  return result;
}

er::Scaling read_scaling(nb::handle scaling) {
  er::Scaling result = er::Unscaled<>();
  if (scaling.is_none()) return result;
  if (!nb::isinstance(scaling, choices().attr("Scaling"))) {
    fail_type("scaling must be a scaling such as Yarn, or None", class_name(scaling));
  }
  const auto name = nb::cast<std::string>(scaling.attr("name"));
  for_each_scaling(&result, [&](auto one) {
    if (name != decltype(one)::name) return;
    read_members(one, scaling);
    result = one;
  });
  return result;
}

nb::object to_python(const er::Powers<>& powers) {
  return choices().attr("Powers")(**members(powers));
}

nb::object to_python(const er::Scaling& scaling) {
  return std::visit(
      [](const auto& one) -> nb::object {
        using Class = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<Class, er::Unscaled<>>) {
          return nb::none();
        } else {
          return choices().attr("SCALINGS")[Class::name](**members(one));
        }
      },
      scaling);
}

nb::dict library_parameters() {
  nb::dict result;
  er::Powers<> powers;
  nb::dict usual = members(powers);
  usual["rotary_dims"] = nb::none();
  result["powers"] = usual;
  const er::Scaling any;
  for_each_scaling(&any, [&](const auto& one) {
    using Class = std::decay_t<decltype(one)>;
    nb::dict parameters = members(one);
    for (const char* name : Class::required)
      if (parameters.contains(name)) parameters[name] = nb::none();
    result[Class::name] = parameters;
  });
  return result;
}

}  // namespace eigen_rope_python
