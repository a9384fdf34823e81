// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/rows/detail/token_places.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {
namespace {

/// The tokens by their slots, in a table of hashes with open addresses.
class TokensBySlot {
 public:
  explicit TokensBySlot(Index tokens) {
    while (Index{1} << bits_ < 2 * tokens) ++bits_;
    const std::size_t size = std::size_t{1} << bits_;
    if (size > few_.size()) {
      many_.assign(size, none);
      places_ = many_.data();
    } else {
      std::fill_n(few_.data(), size, none);
      places_ = few_.data();
    }
  }

  /// The token that has this slot already; or this one, which has it from now on.
  Index first_with(const IndexList& slots, Index token) {
    const std::int64_t slot = slots[token];
    const std::uint64_t mask = (std::uint64_t{1} << bits_) - 1;
    std::uint64_t at = (static_cast<std::uint64_t>(slot) * 0x9E3779B97F4A7C15u) >> (64 - bits_);
    for (;; at = (at + 1) & mask) {
      if (places_[at] == none) return places_[at] = token;
      if (slots[places_[at]] == slot) return places_[at];
    }
  }

 private:
  static constexpr Index none = -1;

  int bits_ = 4;
  std::array<Index, 512> few_;
  std::vector<Index> many_;
  Index* places_;
};

void check_distinct(const IndexList& slots) {
  const Index tokens = slots.size();
  Index ascending = 1;
  while (ascending < tokens && slots[ascending - 1] < slots[ascending]) ++ascending;
  if (ascending >= tokens) return;
  TokensBySlot seen(tokens);
  for (Index token = 0; token < tokens; ++token) {
    if (slots[token] < 0) continue;
    const Index first = seen.first_with(slots, token);
    if (first != token) {
      fail(fmt::format("slots must differ: slots[{}] must not repeat slots[{}]", token, first),
           slots[token]);
    }
  }
}

/// From the first byte to the last one, with elements of this size.
std::size_t bytes_of(const Footprint& footprint, std::size_t element) {
  std::size_t bytes = element;
  for (std::size_t i = 0; i < footprint.count; ++i)
    bytes += footprint.axes[i].bytes * static_cast<std::size_t>(footprint.axes[i].extent - 1);
  return bytes;
}

std::size_t longest_stride(const Footprint& footprint) {
  return footprint.count == 0 ? 0 : footprint.axes[footprint.count - 1].bytes;
}

/// How far `to` is behind `from`, counted round a period of so many bytes.
std::size_t distance_within(std::size_t period, std::uintptr_t from, std::uintptr_t to) {
  if (to >= from) return (to - from) % period;
  return period - 1 - (from - to - 1) % period;
}

}  // namespace

Index tokens_of(const Shape& shape) {
  if (shape.rank() <= axes_of_token) {
    fail(
        "a view of tokens must have axes of features, heads and tokens, in this order, got shape " +
        shape.text());
  }
  Index tokens = 1;
  for (int axis = axes_of_token; axis < shape.rank(); ++axis)
    tokens = checked_product("the number of tokens", tokens, shape[axis]);
  return tokens;
}

void check_slots(const IndexList& slots, Index tokens, Index slots_there) {
  if (slots.size() != tokens) {
    fail(fmt::format("there must be one slot for each of the {} tokens, or none", tokens),
         static_cast<std::int64_t>(slots.size()));
  }
  for (Index token = 0; token < tokens; ++token) {
    const std::int64_t slot = slots[token];
    if (slot < -1 || slot >= slots_there) {
      fail(slots_there == 0
               ? fmt::format("slots[{}] must be -1, as there are no slots", token)
               : fmt::format("slots[{}] must be -1 or from 0 to {}", token, slots_there - 1),
           slot);
    }
  }
  check_distinct(slots);
}

void check_table_rows(const IndexList& ids, Index tokens, Index rows) {
  if (ids.empty()) {
    if (rows == tokens || rows == 1 || tokens == 0) return;
    fail(fmt::format("the table must have one row, or one for each of the {} tokens, where no list "
                     "says which row each token reads",
                     tokens),
         static_cast<std::int64_t>(rows));
  }
  if (ids.size() != tokens) {
    fail(fmt::format("there must be one table row for each of the {} tokens, or no list", tokens),
         static_cast<std::int64_t>(ids.size()));
  }
  for (Index token = 0; token < tokens; ++token) {
    const std::int64_t row = ids[token];
    if (row >= 0 && row < rows) continue;
    fail(rows == 0
             ? fmt::format("ids[{}] must not be given, as the table has no rows", token)
             : fmt::format("ids[{}] must be a row of the table, from 0 to {}", token, rows - 1),
         row);
  }
}

Footprint::Footprint(const Stretch& touched, const Shape& shape, const Strides& strides,
                     Index feature_stride, std::size_t element)
    : stretch(touched) {
  if (touched.bytes == 0) return;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const Index stride = axis == 0 ? feature_stride : strides[static_cast<std::size_t>(axis - 1)];
    if (shape[axis] == 1 || stride == 0) continue;
    const Axis found{static_cast<std::size_t>(stride < 0 ? -stride : stride) * element,
                     shape[axis]};
    std::size_t at = count++;
    for (; at > 0 && found.bytes < axes[at - 1].bytes; --at) axes[at] = axes[at - 1];
    axes[at] = found;
  }
}

bool may_share(const Footprint& a, const Footprint& b) {
  if (!overlap(a.stretch, b.stretch)) return false;
  const std::size_t a_element = a.stretch.bytes - bytes_of(a, 0);
  const std::size_t b_element = b.stretch.bytes - bytes_of(b, 0);
  Footprint a_inside = a;
  Footprint b_inside = b;
  std::uintptr_t a_begin = a.stretch.begin;
  std::uintptr_t b_begin = b.stretch.begin;
  // What repeats along the longest stride is apart if one period of it is.
  while (a_inside.count > 0 || b_inside.count > 0) {
    const std::size_t stride = std::max(longest_stride(a_inside), longest_stride(b_inside));
    for (Footprint* inside : {&a_inside, &b_inside})
      if (longest_stride(*inside) == stride) --inside->count;
    const std::size_t a_bytes = bytes_of(a_inside, a_element);
    const std::size_t b_bytes = bytes_of(b_inside, b_element);
    const std::size_t b_behind_a = distance_within(stride, a_begin, b_begin);
    const std::size_t a_behind_b = distance_within(stride, b_begin, a_begin);
    const bool b_fits = a_bytes <= stride && b_behind_a + b_bytes <= stride;
    const bool a_fits = b_bytes <= stride && a_behind_b + a_bytes <= stride;
    if (b_fits && b_behind_a >= a_bytes) return false;
    if (a_fits && a_behind_b >= b_bytes) return false;
    if (!b_fits && !a_fits) return true;
    a_begin = b_fits ? 0 : a_behind_b;
    b_begin = b_fits ? b_behind_a : 0;
  }
  return true;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
