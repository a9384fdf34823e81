// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/numbers/strides.hpp"

#include <fmt/core.h>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

void Strides::fail_too_many(std::size_t count) {
  detail::fail(fmt::format("there must be at most {} strides", max_rank),
               static_cast<std::int64_t>(count));
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
