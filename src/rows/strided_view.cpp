// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/rows/strided_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::detail {

void check_strides(const Shape& shape, const Strides& strides, SharedElements shared,
                   Index feature_stride) {
  const int outer_axes = std::max(shape.rank() - 1, 0);
  if (static_cast<int>(strides.size()) != outer_axes) {
    fail(fmt::format("a strided view must have one stride for each of its {} outer axes",
                     outer_axes),
         static_cast<std::int64_t>(strides.size()));
  }
  if (feature_stride == 0) fail("the feature stride of a strided view must not be 0");
  if (shape.rank() == 0 || shape.size() == 0) return;

  // From the smallest stride up, each must step over all that lies inside it. Rows laid out
  // otherwise but still apart are refused too.
  std::array<std::pair<Index, Index>, max_rank> axes;
  std::size_t count = 0;
  const auto add = [&](Index stride, Index extent) {
    if (stride == std::numeric_limits<Index>::min())
      fail("strides must fit 63 bits", static_cast<std::int64_t>(stride));
    if (extent == 1) return;
    const std::pair<Index, Index> found(stride < 0 ? -stride : stride, extent);
    std::size_t at = count++;
    for (; at > 0 && found < axes[at - 1]; --at) axes[at] = axes[at - 1];
    axes[at] = found;
  };
  for (int axis = 0; axis < outer_axes; ++axis)
    add(strides[static_cast<std::size_t>(axis)], shape[axis + 1]);
  constexpr Index longest = std::numeric_limits<Index>::max() / 16;
  // Rows in one piece are the innermost axis, whatever the strides of the others.
  Index inside = feature_stride == 1 ? shape[0] : 1;
  if (feature_stride != 1) add(feature_stride, shape[0]);
  if (inside > longest)
    fail("the span of a strided view must fit 60 bits", fmt::format("rows of {} elements", inside));
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [stride, extent] = axes[i];
    if (shared == SharedElements::refused && stride < inside) {
      fail(fmt::format("strides must step over the {} elements inside them, or rows share elements",
                       inside),
           static_cast<std::int64_t>(stride));
    }
    const Index reach = checked_product("the span of a strided view", stride, extent - 1);
    if (reach > longest - inside) {
      fail("the span of a strided view must fit 60 bits",
           fmt::format("stride {} over {} rows", stride, extent));
    }
    inside += reach;
  }
}

Span span_of(const Shape& shape, const Strides& strides, Index feature_stride) {
  Span span{0, 0};
  const auto add = [&](Index reach) { (reach < 0 ? span.first : span.last) += reach; };
  add(feature_stride * (shape[0] - 1));
  for (int axis = 1; axis < shape.rank(); ++axis)
    add(strides[static_cast<std::size_t>(axis - 1)] * (shape[axis] - 1));
  return span;
}

void fail_beyond_memory(const Span& span) {
  fail("a strided view must lie within the address space (first and last element from its data)",
       fmt::format("{} and {}", span.first, span.last));
}

}  // namespace eigen_rope::detail
