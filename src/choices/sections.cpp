// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/sections.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ostream>
#include <utility>

#include "eigen_rope/numbers/error.hpp"
#include "numbers/joined.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

Sections::Sections(SectionPattern pattern, std::vector<Index> lengths)
    : pattern_(pattern), lengths_(std::move(lengths)) {
  const auto count = static_cast<std::int64_t>(lengths_.size());
  if (pattern_ == SectionPattern::interleaved_hf && count != 3)
    detail::fail("interleaved_hf sections must be 3 (t, h, w)", count);
  if (pattern_ == SectionPattern::interleaved_ggml && count != 4)
    detail::fail("interleaved_ggml sections must be 4 (t, h, w, e)", count);
  if (count < 1 || count > 4) detail::fail("sections must be 1 to 4", count);
  for (const Index length : lengths_) {
    if (length < 0)
      detail::fail("section lengths must not be negative", static_cast<std::int64_t>(length));
    if (length >= detail::max_section_total - total_) {
      detail::fail("section lengths must sum to less than 2^31",
                   fmt::format("[{}]", detail::joined(lengths_, ", ")));
    }
    total_ += length;
  }
  if (std::all_of(lengths_.begin(), lengths_.begin() + std::min<std::int64_t>(count, 3),
                  [](Index n) { return n == 0; })) {
    detail::fail("sections must not be 0 on all of the first three axes",
                 fmt::format("[{}]", detail::joined(lengths_, ", ")));
  }
}

Sections::Place Sections::contiguous_place(Index q) const {
  Index start = 0;
  int axis = 0;
  while (q >= start + lengths_[static_cast<std::size_t>(axis)])
    start += lengths_[static_cast<std::size_t>(axis++)];
  return {axis, start};
}

int Sections::axis(Index pair) const {
  const Index q = pattern_ == SectionPattern::interleaved_hf ? pair : pair % total_;
  switch (pattern_) {
    case SectionPattern::contiguous:
    case SectionPattern::vision: return contiguous_place(q).axis;
    case SectionPattern::interleaved_ggml:
    case SectionPattern::interleaved_hf: break;
  }
  if (q % 3 == 1 && q < 3 * lengths_[1]) return 1;
  if (q % 3 == 2 && q < 3 * lengths_[2]) return 2;
  if (pattern_ == SectionPattern::interleaved_hf || (q % 3 == 0 && q < 3 * lengths_[0])) return 0;
  return 3;
}

Index Sections::exponent(Index pair) const {
  if (pattern_ != SectionPattern::vision) return pair;
  const Index q = pair % total_;
  return q - contiguous_place(q).start;
}

std::vector<Index> Sections::exponents(Index pairs) const {
  if (pairs < 0) detail::fail("pairs must not be negative", static_cast<std::int64_t>(pairs));
  detail::checked_product("the number of bytes of all exponents", pairs, sizeof(Index));
  std::vector<Index> result;
  result.reserve(static_cast<std::size_t>(pairs));
  for (Index pair = 0; pair < pairs; ++pair) result.push_back(exponent(pair));
  return result;
}

const char* name_of(SectionPattern pattern) {
  switch (pattern) {
    case SectionPattern::contiguous: return "contiguous";
    case SectionPattern::vision: return "vision";
    case SectionPattern::interleaved_ggml: return "interleaved_ggml";
    case SectionPattern::interleaved_hf: break;
  }
  return "interleaved_hf";
}

std::string Sections::text() const {
  return fmt::format("{} [{}]", name_of(pattern_), detail::joined(lengths_, ", "));
}

std::ostream& operator<<(std::ostream& stream, const Sections& sections) {
  return stream << sections.text();
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
