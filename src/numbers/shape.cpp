// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/numbers/shape.hpp"

#include <fmt/core.h>

#include <ostream>
#include <vector>

#include "eigen_rope/numbers/error.hpp"
#include "numbers/joined.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

void Shape::push_back_checked(Index extent) {
  if (extent < 0) detail::fail("extents must not be negative", static_cast<std::int64_t>(extent));
  if (rank_ == max_rank)
    detail::fail(fmt::format("rank must be at most {}", max_rank), std::int64_t{rank_} + 1);
  size_ = detail::checked_product("the number of elements", size_, extent);
  extents_[static_cast<std::size_t>(rank_++)] = extent;
}

std::string Shape::text() const {
  return fmt::format(
      "[{}]", detail::joined(std::vector<Index>(extents_.begin(), extents_.begin() + rank_), ", "));
}

std::ostream& operator<<(std::ostream& stream, const Shape& shape) {
  return stream << shape.text();
}

bool operator==(const Shape& a, const Shape& b) {
  if (a.rank_ != b.rank_) return false;
  for (int axis = 0; axis < a.rank_; ++axis) {
    if (a[axis] != b[axis]) return false;
  }
  return true;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
