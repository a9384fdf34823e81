// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/positions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <ostream>
#include <utility>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope {

Positions Positions::range(std::int64_t start, Index tokens) {
  if (tokens < 0) detail::fail("tokens must not be negative", static_cast<std::int64_t>(tokens));
  if (tokens > 0 && start > std::numeric_limits<std::int64_t>::max() - (tokens - 1)) {
    detail::fail("positions must fit 64 bits",
                 fmt::format("start {} and {} tokens", start, tokens));
  }
  detail::checked_product("the number of bytes of all positions", tokens, sizeof(DoubleDouble));
  std::vector<DoubleDouble> values;
  values.reserve(static_cast<std::size_t>(tokens));
  for (Index s = 0; s < tokens; ++s) values.push_back(DoubleDouble::from_integer(start + s));
  return Positions(std::move(values), 1, std::nullopt);
}

Positions::Positions(std::vector<DoubleDouble> values, Index batches,
                     std::optional<Sections> sections)
    : values_(std::move(values)), batches_(batches), sections_(std::move(sections)) {
  if (batches_ < 0)
    detail::fail("batches must not be negative", static_cast<std::int64_t>(batches_));
  const auto count = static_cast<Index>(values_.size());
  const Index rows = detail::checked_product("axes x batches", axes(), batches_);
  if (rows == 0 ? count != 0 : count % rows != 0) {
    detail::fail(
        fmt::format("the number of positions must be a multiple of axes x batches ({} x {})",
                    axes(), batches_),
        static_cast<std::int64_t>(count));
  }
  tokens_ = rows == 0 ? 0 : count / rows;
}

DoubleDouble Positions::finite(double id) {
  detail::require_finite("position", id);
  return id;
}

std::string Positions::text() const {
  std::string text = fmt::format("{} tokens", tokens_);
  if (batches_ != 1) text = fmt::format("{} batches of {}", batches_, text);
  return axes() == 1 ? text : fmt::format("{} on {} axes", text, axes());
}

bool operator==(const Positions& a, const Positions& b) {
  return a.batches_ == b.batches_ && a.tokens_ == b.tokens_ && a.sections_ == b.sections_ &&
         a.values_ == b.values_;
}

std::ostream& operator<<(std::ostream& stream, const Positions& positions) {
  return stream << positions.text();
}

}  // namespace eigen_rope
