// SPDX-License-Identifier: Apache-2.0
//
// Lists of table rows and slots for rotations of tokens, and what must hold of the slots after one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "operand.hpp"
#include "promise.hpp"
#include "take.hpp"

namespace eigen_rope::fuzz {

/// Mostly `count` numbers from 0 to below - 1.
inline std::vector<std::int64_t> some_numbers(std::int64_t count, std::int64_t below, Take& take) {
  if (take.one_in(16)) return {};
  if (take.one_in(16)) ++count;
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  for (std::int64_t& number : numbers) {
    number = take.byte() % std::max<std::int64_t>(below, 1);
    if (take.one_in(64)) number = take.integer();
  }
  return numbers;
}

/// The bytes of each slot that no token has must be those of before. `pages` has four axes: pages,
/// slots of a page, heads, features.
inline void require_other_slots_unwritten(const Operand& pages,
                                          const std::vector<std::int64_t>& slots) {
  // Slots without elements can be more than a loop can visit.
  if (pages.shape[2] == 0 || pages.shape[3] == 0) return;
  const std::int64_t per_page = pages.shape[1];
  const std::size_t size = size_of(pages.type);
  for (std::int64_t slot = 0; slot < pages.shape[0] * per_page; ++slot) {
    if (std::find(slots.begin(), slots.end(), slot) != slots.end()) continue;
    for (std::int64_t head = 0; head < pages.shape[2]; ++head) {
      for (std::int64_t d = 0; d < pages.shape[3]; ++d) {
        const std::int64_t at = slot / per_page * pages.strides[0] +
                                slot % per_page * pages.strides[1] + head * pages.strides[2] +
                                d * pages.strides[3];
        const std::byte* element = pages.data + at * static_cast<std::int64_t>(size);
        require(is_pattern(element, pages.type), "other slots are not written");
      }
    }
  }
}

}  // namespace eigen_rope::fuzz
