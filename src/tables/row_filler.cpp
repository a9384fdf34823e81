// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/tables/detail/row_filler.hpp"

#include <fmt/core.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "eigen_rope/numbers/detail/rounding.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "tables/table_kernels.hpp"
#include "tables/turns.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {
namespace {

// Beyond these the products of turns could not keep the table's error bound, or would overflow.
constexpr double max_rate = 0x1p40;
constexpr double max_position = 0x1p63;

// What the kernels ask of rates, magnitude and positions.
constexpr double least_rate = 0x1p-60;
constexpr double least_magnitude = 0x1p-20;
constexpr double largest_magnitude = 0x1p20;
constexpr double least_position = 0x1p-20;
constexpr double largest_product = 0x1p44;
constexpr double largest_integer = 0x1p53;

// Pairs whose positions or angles are gathered for the kernels at a time.
constexpr Index pairs_at_once = 8 * table_lanes;

// Shorter runs of consecutive positions are filled row by row.
constexpr Index worthwhile_run = 3;

template <class Scalar>
constexpr bool has_kernel = sizeof(Scalar) <= sizeof(float);

}  // namespace

bool is_table_rate(double rate) { return std::abs(rate) <= max_rate; }

void require_table_rate(std::size_t pair, double rate) {
  if (!is_table_rate(rate))
    fail(fmt::format("rate {} must be at most 2^40 radians per token in size for a table", pair),
         rate);
}

void require_table_position(double position) {
  if (std::abs(position) > max_position)
    fail("positions must be at most 2^63 in size for a table", position);
}

template <class Scalar>
void exact_entry(DoubleDouble turns, DoubleDouble m, DoubleDouble position, Scalar& cos,
                 Scalar& sin) {
  const CosSin v = cos_sin_of_turns(position, turns);
  cos = round_once<Scalar>(v.cos * m);
  sin = round_once<Scalar>(v.sin * m);
}

RowFiller::RowFiller(const Frequencies& frequencies) : m_(frequencies.attention_factor()) {
  const auto width = static_cast<std::size_t>(padded_pairs(frequencies.pairs()));
  turns_.reserve(static_cast<std::size_t>(frequencies.pairs()));
  rates_.resize(2 * width);
  double largest = 0;
  bool representable =
      std::abs(m_.high) >= least_magnitude && std::abs(m_.high) <= largest_magnitude;
  for (const DoubleDouble rate : frequencies.rates()) {
    const std::size_t k = turns_.size();
    require_table_rate(k, rate.high);
    const DoubleDouble turns = rate_in_turns(rate);
    turns_.push_back(turns);
    rates_[k] = 4 * turns.high;
    rates_[width + k] = 4 * turns.low;
    const double size = std::abs(rates_[k]);
    representable = representable && (size == 0 ? turns.low == 0 : size >= least_rate);
    largest = std::max(largest, size);
  }
  if (!representable) return;
  reach_ = std::min(largest_integer, largest > 0 ? largest_product / largest : largest_integer);
  series_ = quarter_turn_series(1);
  offsets_.resize(2 * width * static_cast<std::size_t>(table_offsets));
  fill_table_offsets(kernel_rates(0, pairs()), offsets_.data());
  series_ = quarter_turn_series(m_.high);
}

bool RowFiller::reaches(DoubleDouble position) const {
  const double size = std::abs(position.high);
  return position.low == 0 && size <= reach_ && (size == 0 || size >= least_position);
}

TableRates RowFiller::kernel_rates(Index first, Index count) const {
  return {count,   rates_.data() + first, rates_.data() + padded_pairs(pairs()) + first,
          series_, turns_.data() + first, m_};
}

bool RowFiller::reaches(std::int64_t first, Index count) const {
  return count >= worthwhile_run && reaches(DoubleDouble::from_integer(first)) &&
         reaches(DoubleDouble::from_integer(first + (count - 1)));
}

template <class Scalar>
bool RowFiller::fill_columns([[maybe_unused]] std::int64_t first, [[maybe_unused]] Index count,
                             [[maybe_unused]] Index pair_step, [[maybe_unused]] Scalar* cos,
                             [[maybe_unused]] Scalar* sin) const {
  if constexpr (has_kernel<Scalar>) {
    if (reaches(first, count)) {
      fill_table_columns(kernel_rates(0, pairs()), offsets_.data(), static_cast<double>(first),
                         count, pair_step, cos, sin);
      return true;
    }
  }
  return false;
}

template <class Scalar>
void RowFiller::fill_range(std::int64_t first, Index count, Scalar* cos, Scalar* sin) const {
  if (count <= 0) return;
  if constexpr (has_kernel<Scalar>) {
    if (reaches(first, count)) {
      fill_table_rows(kernel_rates(0, pairs()), offsets_.data(), static_cast<double>(first), count,
                      cos, sin);
      return;
    }
  }
  for (Index i = 0; i < count; ++i)
    fill_one(DoubleDouble::from_integer(first + i), cos + i * pairs(), sin + i * pairs());
}

template <class Scalar>
void RowFiller::fill_one(DoubleDouble position, Scalar* cos, Scalar* sin) const {
  if constexpr (has_kernel<Scalar>) {
    if (reaches(position)) {
      fill_table_row(kernel_rates(0, pairs()), &position.high, RowPositions::one_for_all, cos, sin);
      return;
    }
  }
  for (Index k = 0; k < pairs(); ++k)
    exact_entry(turns_[static_cast<std::size_t>(k)], m_, position, cos[k], sin[k]);
}

template <class Scalar>
void RowFiller::fill_mixed(const DoubleDouble* positions, Scalar* cos, Scalar* sin) const {
  for (Index begin = 0; begin < pairs(); begin += pairs_at_once) {
    const Index end = std::min(pairs(), begin + pairs_at_once);
    if constexpr (has_kernel<Scalar>) {
      std::array<double, pairs_at_once> doubles;
      bool reached = true;
      for (Index k = begin; k < end; ++k) {
        doubles[static_cast<std::size_t>(k - begin)] = positions[k].high;
        reached = reached && reaches(positions[k]);
      }
      if (reached) {
        fill_table_row(kernel_rates(begin, end - begin), doubles.data(), RowPositions::one_each,
                       cos + begin, sin + begin);
        continue;
      }
    }
    for (Index k = begin; k < end; ++k)
      exact_entry(turns_[static_cast<std::size_t>(k)], m_, positions[k], cos[k], sin[k]);
  }
}

template <class Scalar>
void RowFiller::fill_turns(const DoubleDouble* turns, Scalar* cos, Scalar* sin) const {
  constexpr double once = 1;
  for (Index begin = 0; begin < pairs(); begin += pairs_at_once) {
    const Index end = std::min(pairs(), begin + pairs_at_once);
    if constexpr (has_kernel<Scalar>) {
      alignas(static_cast<std::size_t>(cache_line)) std::array<double, pairs_at_once> high{};
      alignas(static_cast<std::size_t>(cache_line)) std::array<double, pairs_at_once> low{};
      bool reached = reaches(once);
      for (Index k = begin; k < end; ++k) {
        const DoubleDouble angle = turns[k];
        high[static_cast<std::size_t>(k - begin)] = 4 * angle.high;
        low[static_cast<std::size_t>(k - begin)] = 4 * angle.low;
        reached = reached && (angle.high == 0 || std::abs(4 * angle.high) >= least_rate);
      }
      if (reached) {
        fill_table_row({end - begin, high.data(), low.data(), series_, turns + begin, m_}, &once,
                       RowPositions::one_for_all, cos + begin, sin + begin);
        continue;
      }
    }
    for (Index k = begin; k < end; ++k) exact_entry(turns[k], m_, once, cos[k], sin[k]);
  }
}

#define EIGEN_ROPE_INSTANTIATE(Scalar)                                                             \
  template void exact_entry(DoubleDouble, DoubleDouble, DoubleDouble, Scalar&, Scalar&);           \
  template EIGEN_ROPE_API void RowFiller::fill_range(std::int64_t, Index, Scalar*, Scalar*) const; \
  template EIGEN_ROPE_API bool RowFiller::fill_columns(std::int64_t, Index, Index, Scalar*,        \
                                                       Scalar*) const;                             \
  template EIGEN_ROPE_API void RowFiller::fill_one(DoubleDouble, Scalar*, Scalar*) const;          \
  template EIGEN_ROPE_API void RowFiller::fill_mixed(const DoubleDouble*, Scalar*, Scalar*) const; \
  template EIGEN_ROPE_API void RowFiller::fill_turns(const DoubleDouble*, Scalar*, Scalar*) const;
EIGEN_ROPE_INSTANTIATE(float)
EIGEN_ROPE_INSTANTIATE(double)
EIGEN_ROPE_INSTANTIATE(long double)
EIGEN_ROPE_INSTANTIATE(Eigen::half)
EIGEN_ROPE_INSTANTIATE(Eigen::bfloat16)
#undef EIGEN_ROPE_INSTANTIATE

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
