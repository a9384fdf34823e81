// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/pairing.hpp"

#include <fmt/core.h>

#include <ostream>

namespace eigen_rope::EIGEN_ROPE_ABI {

const char* name_of(PairKind kind) {
  switch (kind) {
    case PairKind::split_half: return "split_half";
    case PairKind::interleaved: return "interleaved";
    case PairKind::quarter: return "quarter";
    case PairKind::interleaved_to_split_half: break;
  }
  return "interleaved_to_split_half";
}

std::string Pairing::text() const {
  std::string text = name_of(kind_);
  if (!whole_row_) {
    text += fmt::format(", {} dims from {}", rotary_dims_, offset_);
  } else if (offset_ != 0) {
    text += fmt::format(", from {}", offset_);
  }
  const bool has_window = !whole_row_ || offset_ != 0;
  if (!fastest_axis_) text += fmt::format("{} along axis {}", has_window ? "," : "", axis_);
  return text;
}

std::ostream& operator<<(std::ostream& stream, const Pairing& pairing) {
  return stream << pairing.text();
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
