// SPDX-License-Identifier: Apache-2.0
//
// Integers of files that may say anything: nlohmann::json converts 1e300, 0.5 or -1 to whatever the
// processor makes of them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "error.hpp"

namespace train_lm {

/// Throws train_lm::Error for what is no integer, or none that T holds.
template <class T>
T integer(const nlohmann::json& value) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  const bool holds =
      value.is_number_unsigned()
          ? value.get<std::uint64_t>() <= most
          : value.is_number_integer() &&
                value.get<std::int64_t>() >= std::int64_t{std::numeric_limits<T>::min()};
  if (!holds) {
    throw Error(fmt::format("a number must be an integer up to {}, got {}", most,
                            value.is_number() ? value.dump() : value.type_name()));
  }
  return value.get<T>();
}

}  // namespace train_lm
