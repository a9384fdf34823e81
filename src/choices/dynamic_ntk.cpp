// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/dynamic_ntk.hpp"

#include <utility>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

DynamicNtk::DynamicNtk(const Powers<>& powers, const DynamicNtkScaling<>& scaling)
    : powers_(powers),
      scaling_(scaling),
      length_(scaling.original_context),
      frequencies_(Frequencies(powers, scaling, scaling.original_context)) {}

CachedKeys DynamicNtk::update(Index length) {
  if (length < 0) detail::fail("length must not be negative", static_cast<std::int64_t>(length));
  const Index original = scaling_.original_context;
  const bool restore = length < original && length_ > original;
  if (length <= length_ && !restore) return CachedKeys::keep;
  const Index next = restore ? original : length;
  frequencies_ = Frequencies(powers_, scaling_, next);
  length_ = next;
  return CachedKeys::rerotate;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
