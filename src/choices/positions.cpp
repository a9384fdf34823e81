// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/positions.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <ostream>
#include <utility>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace {

void require_count(Index tokens) {
  detail::checked_product("the number of bytes of all positions", tokens, sizeof(DoubleDouble));
}

void require_reachable(std::int64_t start, Index tokens) {
  if (tokens > 0 && start > std::numeric_limits<std::int64_t>::max() - (tokens - 1)) {
    detail::fail("positions must fit 64 bits",
                 fmt::format("start {} and {} tokens", start, tokens));
  }
}

void append_range(std::vector<DoubleDouble>& values, std::int64_t start, Index tokens) {
  for (Index s = 0; s < tokens; ++s) values.push_back(DoubleDouble::from_integer(start + s));
}

}  // namespace

void detail::require_list(const void* data, Index count) {
  if (count < 0) {
    fail("the length of a list of numbers must not be negative", static_cast<std::int64_t>(count));
  }
  if (data == nullptr && count > 0) {
    fail("a list of numbers must have data", fmt::format("a null pointer and count {}", count));
  }
  require_count(count);
}

Positions Positions::range(std::int64_t start, Index tokens) {
  if (tokens < 0) detail::fail("tokens must not be negative", static_cast<std::int64_t>(tokens));
  require_reachable(start, tokens);
  require_count(tokens);
  std::vector<DoubleDouble> values;
  values.reserve(static_cast<std::size_t>(tokens));
  append_range(values, start, tokens);
  return Positions(std::move(values), 1, std::nullopt);
}

Positions Positions::packed(const NumberList<std::int64_t>& cu_seqlens,
                            const NumberList<std::int64_t>& starts) {
  const std::vector<std::int64_t>&begins = cu_seqlens.values(), &firsts = starts.values();
  detail::require_cu_seqlens(begins);
  const std::size_t sequences = begins.size() - 1;
  if (firsts.size() != sequences) {
    detail::fail(fmt::format("starts must have one position for each sequence ({})", sequences),
                 static_cast<std::int64_t>(firsts.size()));
  }
  for (std::size_t i = 0; i < sequences; ++i)
    require_reachable(firsts[i], begins[i + 1] - begins[i]);
  require_count(begins.back());
  std::vector<DoubleDouble> values;
  values.reserve(static_cast<std::size_t>(begins.back()));
  for (std::size_t i = 0; i < sequences; ++i)
    append_range(values, firsts[i], begins[i + 1] - begins[i]);
  return Positions(std::move(values), 1, std::nullopt);
}

Positions Positions::packed(const NumberList<std::int64_t>& cu_seqlens) {
  const std::size_t ends = cu_seqlens.values().size();
  return packed(cu_seqlens, std::vector<std::int64_t>(ends == 0 ? 0 : ends - 1));
}

Positions Positions::shard(const ContextShard& shard) const {
  return gathered(shard_tokens(shard, tokens_));
}

Positions Positions::shard(const ContextShard& shard,
                           const NumberList<std::int64_t>& cu_seqlens) const {
  const std::vector<Index> places = shard_tokens(shard, cu_seqlens);
  if (cu_seqlens.values().back() != tokens_) {
    detail::fail(fmt::format("cu_seqlens must end with the number of tokens ({})", tokens_),
                 cu_seqlens.values().back());
  }
  return gathered(places);
}

Positions Positions::gathered(const std::vector<Index>& tokens) const {
  std::vector<DoubleDouble> values;
  // Without tokens there may be any number of batches.
  const Index rows = tokens.empty() ? 0 : axes() * batches_;
  values.reserve(static_cast<std::size_t>(rows) * tokens.size());
  for (Index row = 0; row < rows; ++row) {
    for (const Index token : tokens) {
      values.push_back(token < 0 ? DoubleDouble(0)
                                 : values_[static_cast<std::size_t>(row * tokens_ + token)]);
    }
  }
  return Positions(std::move(values), batches_, sections_);
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

}  // namespace eigen_rope::EIGEN_ROPE_ABI
