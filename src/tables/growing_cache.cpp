// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/tables/growing_cache.hpp"

#include <fmt/core.h>

#include <Eigen/Core>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <vector>

#include "eigen_rope/machine/kernel_target.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/tables/detail/row_filler.hpp"
#include "machine/mutex_of_process.hpp"
#include "tables/turns.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace {

/// A position as an index of rows; throws unless it is a whole number in [0, max_tokens).
std::int64_t whole(DoubleDouble position, Index max_tokens) {
  const auto value = static_cast<double>(position);
  if (position.high != std::floor(position.high) || position.low != std::floor(position.low)) {
    detail::fail("positions of a growing cache must be whole numbers", value);
  }
  if (position.high < 0) detail::fail("positions of a growing cache must not be negative", value);
  // max_tokens is an integer, and so are both parts: no rounding can bring a larger position below
  // it.
  if (position.high >= static_cast<double>(max_tokens)) {
    detail::fail(
        fmt::format("positions of a growing cache must be below its max_tokens {}", max_tokens),
        value);
  }
  return static_cast<std::int64_t>(position.high) + static_cast<std::int64_t>(position.low);
}

}  // namespace

template <class Scalar>
struct GrowingCache<Scalar>::State {
  State(const Frequencies& f, const Layout& l, const Growth& g)
      : frequencies(f), filler(f), layout(l), growth(g) {
    // What is made once in a process is made now: a child forked while another thread makes it
    // would wait for it for ever.
    detail::require_kernel_target();
    (void)detail::cos_sin_of_turns(DoubleDouble(), DoubleDouble());
  }

  Frequencies frequencies;
  detail::RowFiller filler;
  Layout layout;
  Growth growth;
  detail::MutexOfProcess
      growing;  // who holds it may put a block in front of the newest; nothing else changes
};

template <class Scalar>
GrowingCache<Scalar>::GrowingCache(const Frequencies& frequencies, const Layout& layout,
                                   const Growth& growth)
    : pairs_(frequencies.pairs()),
      axes_(layout.axes()),
      determinants_(detail::determinants_for(frequencies.attention_factor().high)),
      state_(std::make_unique<State>(frequencies, layout, growth)) {
  if (growth.first_tokens < 1)
    detail::fail("first tokens must be at least 1", static_cast<std::int64_t>(growth.first_tokens));
  if (growth.max_tokens < growth.first_tokens) {
    detail::fail(fmt::format("max tokens must be at least first tokens ({})", growth.first_tokens),
                 static_cast<std::int64_t>(growth.max_tokens));
  }
  while (layout[token_axis_] != AxisRole::token) ++token_axis_;
  newest_.store(new Block, std::memory_order_release);
}

template <class Scalar>
GrowingCache<Scalar>::~GrowingCache() {
  for (const Block* block = newest_.load(); block != nullptr;) {
    const Block* older = block->older;
    delete block;
    block = older;
  }
}

template <class Scalar>
auto GrowingCache<Scalar>::grow(std::int64_t first, Index tokens, Size size) const -> const Block* {
  if (first < 0) detail::fail("positions of a growing cache must not be negative", first);
  if (tokens < 0) detail::fail("tokens must not be negative", static_cast<std::int64_t>(tokens));
  const Growth& growth = state_->growth;
  if (first > growth.max_tokens - tokens) {
    detail::fail(fmt::format("positions of a growing cache must be below its max_tokens {}",
                             growth.max_tokens),
                 fmt::format("start {} and {} tokens", first, tokens));
  }
  const auto end = static_cast<Index>(first + tokens);

  const std::lock_guard<std::mutex> lock(state_->growing.get());
  const Block& old = *newest_.load(std::memory_order_acquire);
  if (end <= old.tokens) return &old;
  const Index twice = old.tokens > growth.max_tokens / 2 ? growth.max_tokens : 2 * old.tokens;
  const Index wanted = size == Size::exact ? end : std::max({end, twice, growth.first_tokens});
  const auto entries =
      detail::checked_product("the number of entries in the table", wanted, pairs_);
  detail::checked_product("the number of bytes in the table", entries, sizeof(long double));

  auto block = std::make_unique<Block>();
  block->tokens = wanted;
  const auto extend = [&](detail::AlignedVector<Scalar>& grown,
                          const detail::AlignedVector<Scalar>& rows) {
    grown.reserve(static_cast<std::size_t>(entries));
    grown.assign(rows.begin(), rows.end());
    grown.resize(static_cast<std::size_t>(entries));
  };
  extend(block->cos, old.cos);
  extend(block->sin, old.sin);
  const Index begin = old.tokens * pairs_;
  state_->filler.fill_range(old.tokens, wanted - old.tokens, block->cos.data() + begin,
                            block->sin.data() + begin);
  block->older = &old;
  // One store: a child that is forked meanwhile has the old blocks or all of them.
  newest_.store(block.get(), std::memory_order_release);
  return block.release();
}

template <class Scalar>
Cache<Scalar> GrowingCache<Scalar>::gather(const Positions& positions) const {
  std::int64_t end = 0;
  for (int axis = 0; positions.tokens() > 0 && axis < positions.axes(); ++axis) {
    for (Index b = 0; b < positions.batches(); ++b) {
      for (Index s = 0; s < positions.tokens(); ++s) {
        end = std::max(end, whole(positions.at(axis, b, s), state_->growth.max_tokens) + 1);
      }
    }
  }
  // Refuses what the layout cannot hold before anything grows.
  detail::table_outer(state_->frequencies, positions, state_->layout);
  const TableView<Scalar> all = rows(0, static_cast<Index>(end));
  std::vector<int> axes(static_cast<std::size_t>(pairs_));
  for (Index k = 0; k < pairs_; ++k) axes[static_cast<std::size_t>(k)] = positions.axis(k);
  return detail::make_cache<Scalar>(
      state_->frequencies, positions, state_->layout, [&](Scalar* cos, Scalar* sin) {
        detail::for_each_table_row(
            positions, state_->layout, [&](Index row, Index batch, Index token) {
              for (Index k = 0; k < pairs_; ++k) {
                const DoubleDouble position =
                    positions.at(axes[static_cast<std::size_t>(k)], batch, token);
                const auto entry =
                    static_cast<Index>(whole(position, state_->growth.max_tokens)) * pairs_ + k;
                cos[row * pairs_ + k] = all.cos[entry];
                sin[row * pairs_ + k] = all.sin[entry];
              }
            });
      });
}

template <class Scalar>
void GrowingCache<Scalar>::reserve(Index tokens) const {
  grow(0, tokens, Size::exact);
}

template <class Scalar>
std::size_t GrowingCache<Scalar>::bytes() const {
  std::size_t entries = 0;
  for (const Block* block = newest_.load(std::memory_order_acquire); block != nullptr;
       block = block->older) {
    entries += block->cos.capacity() + block->sin.capacity();
  }
  return entries * sizeof(Scalar);
}

template class GrowingCache<float>;
template class GrowingCache<double>;
template class GrowingCache<long double>;
template class GrowingCache<Eigen::half>;
template class GrowingCache<Eigen::bfloat16>;

}  // namespace eigen_rope::EIGEN_ROPE_ABI
