// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/pairing.hpp"

#include <fmt/format.h>

#include <ostream>

namespace eigen_rope {
namespace {

const char* word_for(PairKind kind) {
  switch (kind) {
    case PairKind::split_half: return "split_half";
    case PairKind::interleaved: return "interleaved";
    case PairKind::quarter: return "quarter";
    case PairKind::interleaved_to_split_half: break;
  }
  return "interleaved_to_split_half";
}

}  // namespace

std::string Pairing::text() const {
  if (whole_row_) return offset_ == 0 ? word_for(kind_) : fmt::format("{}, from {}", word_for(kind_), offset_);
  return fmt::format("{}, {} dims from {}", word_for(kind_), rotary_dims_, offset_);
}

std::ostream& operator<<(std::ostream& stream, const Pairing& pairing) { return stream << pairing.text(); }

}  // namespace eigen_rope
