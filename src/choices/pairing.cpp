// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/pairing.hpp"

#include <fmt/format.h>

#include <ostream>

namespace eigen_rope {

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
  if (whole_row_)
    return offset_ == 0 ? name_of(kind_) : fmt::format("{}, from {}", name_of(kind_), offset_);
  return fmt::format("{}, {} dims from {}", name_of(kind_), rotary_dims_, offset_);
}

std::ostream& operator<<(std::ostream& stream, const Pairing& pairing) {
  return stream << pairing.text();
}

}  // namespace eigen_rope
