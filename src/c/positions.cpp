// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/positions.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "c/arguments.hpp"
#include "c/choices.hpp"
#include "c/status.hpp"
#include "eigen_rope/any/choices.hpp"
#include "eigen_rope/c/eigen_rope.h"

namespace eigen_rope::EIGEN_ROPE_ABI::c {
namespace {

any::PositionType position_type_of(const eigen_rope_tensor_type& type) {
  if (type.lanes == 1 && (type.bits == 32 || type.bits == 64)) {
    const bool narrow = type.bits == 32;
    if (type.code == EIGEN_ROPE_INT)
      return narrow ? any::PositionType::i32 : any::PositionType::i64;
    if (type.code == EIGEN_ROPE_FLOAT)
      return narrow ? any::PositionType::f32 : any::PositionType::f64;
  }
  detail::fail("positions must be of int32, int64, float32 or float64", name_of(type));
}

SectionPattern section_pattern_of(std::int32_t pattern) {
  switch (pattern) {
    case EIGEN_ROPE_CONTIGUOUS: return SectionPattern::contiguous;
    case EIGEN_ROPE_VISION: return SectionPattern::vision;
    case EIGEN_ROPE_INTERLEAVED_GGML: return SectionPattern::interleaved_ggml;
    case EIGEN_ROPE_INTERLEAVED_HF: return SectionPattern::interleaved_hf;
    default:
      detail::fail(
          "the section pattern must be 0 (none), 1 (contiguous), 2 (vision), 3 "
          "(interleaved_ggml) or 4 (interleaved_hf)",
          std::int64_t{pattern});
  }
}

std::optional<Sections> sections_of(const eigen_rope_position_list& list) {
  if (list.section_count < 0)
    detail::fail("the number of sections must not be negative", list.section_count);
  if (list.section_pattern == EIGEN_ROPE_NO_SECTIONS) {
    if (list.section_count != 0)
      detail::fail("there must be no sections without a pattern", list.section_count);
    return std::nullopt;
  }
  const SectionPattern pattern = section_pattern_of(list.section_pattern);
  if (list.section_count > 0) require_given(list.sections, "sections");
  constexpr std::int64_t most = 4;  // more are refused by their number
  return Sections(
      pattern,
      std::vector<Index>(list.sections, list.sections + std::min(list.section_count, most + 1)));
}

Positions positions_of(const eigen_rope_position_list* given) {
  eigen_rope_position_list room;
  const auto& list = known_members(given, "list", position_list_1, room);
  any::PositionIds ids;
  ids.type = position_type_of(list.dtype);
  ids.data = list.data;
  ids.count = static_cast<Index>(list.count);
  ids.batches = Batches{list.batches == 0 ? 1 : static_cast<Index>(list.batches)};
  ids.sections = sections_of(list);
  return any::positions(ids);
}

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::c

namespace c = eigen_rope::c;

eigen_rope_status eigen_rope_positions_range(std::int64_t first, std::int64_t tokens,
                                             eigen_rope_positions** positions) noexcept {
  return c::status_of([&] {
    c::require_given(positions, "positions");
    *positions = c::handle_of<eigen_rope_positions>(
        eigen_rope::Positions::range(first, static_cast<eigen_rope::Index>(tokens)));
  });
}

eigen_rope_status eigen_rope_positions_of(const eigen_rope_position_list* list,
                                          eigen_rope_positions** positions) noexcept {
  return c::status_of([&] {
    c::require_given(positions, "positions");
    *positions = c::handle_of<eigen_rope_positions>(c::positions_of(list));
  });
}

eigen_rope_status eigen_rope_positions_packed(const std::int64_t* cu_seqlens, std::int64_t count,
                                              const std::int64_t* starts,
                                              eigen_rope_positions** positions) noexcept {
  return c::status_of([&] {
    c::require_given(positions, "positions");
    const eigen_rope::NumberList<std::int64_t> ends{cu_seqlens,
                                                    static_cast<eigen_rope::Index>(count)};
    if (starts == nullptr) {
      *positions = c::handle_of<eigen_rope_positions>(eigen_rope::Positions::packed(ends));
    } else {
      const auto sequences = static_cast<eigen_rope::Index>(std::max<std::int64_t>(count - 1, 0));
      *positions = c::handle_of<eigen_rope_positions>(
          eigen_rope::Positions::packed(ends, {starts, sequences}));
    }
  });
}

void eigen_rope_positions_destroy(eigen_rope_positions* positions) noexcept { delete positions; }
