// SPDX-License-Identifier: Apache-2.0
#include "models/json_object.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

JsonObject::JsonObject(const Json& json, std::string path, Notes& notes)
    : json_(&json), path_(std::move(path)), notes_(&notes) {
  if (!json.is_object())
    detail::fail(fmt::format("{} must be an object", path_.empty() ? "the file" : path_),
                 shown(json));
}

std::string JsonObject::path(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

const Json* JsonObject::find(const char* name) const {
  const auto entry = json_->find(name);
  return entry == json_->end() || entry->is_null() ? nullptr : &*entry;
}

const char* JsonObject::first_of(std::initializer_list<const char*> names) const {
  for (const char* name : names) {
    if (has(name)) return name;
  }
  return nullptr;
}

std::optional<double> JsonObject::number(const char* name) const {
  const Json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_number()) refuse(name, "must be a number");
  return value->get<double>();
}

std::optional<Index> JsonObject::integer(const char* name, Index least) const {
  const Json* value = find(name);
  if (value == nullptr) return {};
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  Index result = 0;
  if (value->is_number_unsigned() &&
      value->get<std::uint64_t>() > static_cast<std::uint64_t>(most)) {
    refuse(name, "must be a whole number of at most 63 bits");
  }
  if (value->is_number_integer()) {
    result = static_cast<Index>(value->get<std::int64_t>());
  } else {
    constexpr double exact = 9007199254740992.0;  // 2^53
    if (!value->is_number_float() || !(std::abs(value->get<double>()) <= exact) ||
        std::floor(value->get<double>()) != value->get<double>()) {
      refuse(name, "must be a whole number");
    }
    result = static_cast<Index>(value->get<double>());
    mind(name, "must be a whole number without a decimal point",
         fmt::format("{} is taken", result));
  }
  if (result < least) refuse(name, fmt::format("must be at least {}", least));
  return result;
}

std::optional<bool> JsonObject::flag(const char* name) const {
  const Json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_boolean()) refuse(name, "must be true or false");
  return value->get<bool>();
}

std::optional<std::string> JsonObject::text(const char* name) const {
  const Json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_string()) refuse(name, "must be a string");
  return value->get<std::string>();
}

std::optional<std::vector<double>> JsonObject::numbers(const char* name) const {
  const Json* elements = list(name);
  if (elements == nullptr) return {};
  std::vector<double> result;
  result.reserve(elements->size());
  for (const Json& element : *elements) {
    if (!element.is_number())
      detail::fail(fmt::format("{}[{}] must be a number", path(name), result.size()),
                   shown(element));
    result.push_back(element.get<double>());
  }
  return result;
}

std::optional<JsonObject> JsonObject::object(const char* name) const {
  const Json* value = find(name);
  if (value == nullptr) return {};
  return JsonObject(*value, path(name), *notes_);
}

const Json* JsonObject::list(const char* name) const {
  const Json* value = find(name);
  if (value != nullptr && !value->is_array()) refuse(name, "must be a list");
  return value;
}

void JsonObject::refuse(const char* name, std::string_view rule) const {
  detail::fail(fmt::format("{} {}", path(name), rule), value(name));
}

void JsonObject::require(const char* name, std::string_view why) const {
  detail::fail(fmt::format("{} is required {}", path(name), why),
               json_->contains(name) ? "null" : "none");
}

void JsonObject::mind(const char* name, std::string_view rule, std::string_view instead) const {
  notes_->mind(fmt::format("{} {}", path(name), rule), value(name), instead);
}

std::string JsonObject::value(const char* name) const {
  const auto entry = json_->find(name);
  return entry == json_->end() ? "none" : shown(*entry);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
