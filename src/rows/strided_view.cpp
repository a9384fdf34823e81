// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/rows/strided_view.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <utility>

#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rows/detail/view_overlap.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {
namespace {

void check_number_of_strides(const Shape& shape, const Strides& strides) {
  const int outer_axes = std::max(shape.rank() - 1, 0);
  if (static_cast<int>(strides.size()) == outer_axes) return;
  fail(fmt::format("a strided view must have one stride for each of its {} outer axes", outer_axes),
       static_cast<std::int64_t>(strides.size()));
}

/// The extents and distances of all axes, to be changed and put back.
struct AllAxes {
  std::array<Index, max_rank + 1> extents{};
  std::array<Index, max_rank + 1> strides{};
  int rank;

  explicit AllAxes(const ViewPlaces& places) : rank(places.shape.rank()) {
    for (int axis = 0; axis < rank; ++axis) {
      const auto i = static_cast<std::size_t>(axis);
      extents[i] = places.shape[axis];
      strides[i] = axis == 0 ? places.feature_stride : places.strides[i - 1];
    }
  }

  ViewPlaces places() const {
    ViewPlaces places;
    for (int axis = 0; axis < rank; ++axis) {
      const auto i = static_cast<std::size_t>(axis);
      places.shape.push_back(extents[i]);
      if (axis == 0) {
        places.feature_stride = strides[i];
      } else {
        places.strides.push_back(strides[i]);
      }
    }
    return places;
  }
};

/// Whose axis is named in a message.
std::size_t checked_axis(const char* of, const ViewPlaces& places, AxisOfView axis) {
  const int rank = places.shape.rank();
  if (rank == 0) fail("a strided view must have at least the feature axis, got rank 0");
  check_number_of_strides(places.shape, places.strides);
  if (axis.axis < 0 || axis.axis >= rank) {
    fail(fmt::format("the axis of {} must be one of the {} axes of the view, counted from 0", of,
                     rank),
         static_cast<std::int64_t>(axis.named));
  }
  return static_cast<std::size_t>(axis.axis);
}

/// stride * count, which an axis must span.
Index checked_distance(Index stride, Index count) {
  if (count == 0) return 0;
  if (stride == std::numeric_limits<Index>::min())
    fail("strides must fit 63 bits", static_cast<std::int64_t>(stride));
  const Index distance = checked_product("the span of a strided view", std::abs(stride), count);
  return stride < 0 ? -distance : distance;
}

}  // namespace

Index keep_slice(ViewPlaces& places, AxisOfView axis, Index first, Index count) {
  const std::size_t i = checked_axis("a slice", places, axis);
  AllAxes axes(places);
  const Index extent = axes.extents[i];
  if (first < 0 || count < 0 || first > extent || count > extent - first) {
    fail(fmt::format("a slice must lie within the {} elements of axis {}", extent, axis.named),
         fmt::format("{} from {} on", count, first));
  }
  axes.extents[i] = count;
  const bool empty = places.shape.size() == 0 || count == 0;
  places = axes.places();
  return empty ? 0 : checked_distance(axes.strides[i], first);
}

Index keep_chip(ViewPlaces& places, AxisOfView axis, Index index) {
  const std::size_t i = checked_axis("a chip", places, axis);
  AllAxes axes(places);
  if (axes.rank == 1) fail("a view must keep an axis, got the chip of one that has no other");
  const Index extent = axes.extents[i];
  if (index < 0 || index >= extent) {
    fail(fmt::format("a chip must be one of the {} elements of axis {}", extent, axis.named),
         static_cast<std::int64_t>(index));
  }
  const Index stride = axes.strides[i];
  const bool empty = places.shape.size() == 0;
  --axes.rank;
  std::copy(axes.extents.begin() + i + 1, axes.extents.end(), axes.extents.begin() + i);
  std::copy(axes.strides.begin() + i + 1, axes.strides.end(), axes.strides.begin() + i);
  places = axes.places();
  return empty ? 0 : checked_distance(stride, index);
}

void split_axis(ViewPlaces& places, int axis, Index extent) {
  const std::size_t i = checked_axis("a split", places, {axis, axis});
  AllAxes axes(places);
  const Index whole = axes.extents[i];
  if (extent <= 0 || whole % extent != 0) {
    fail(fmt::format("the parts of axis {} must have a positive extent that divides its {} "
                     "elements",
                     axis, whole),
         static_cast<std::int64_t>(extent));
  }
  std::copy_backward(axes.extents.begin() + i, axes.extents.begin() + axes.rank,
                     axes.extents.begin() + axes.rank + 1);
  std::copy_backward(axes.strides.begin() + i, axes.strides.begin() + axes.rank,
                     axes.strides.begin() + axes.rank + 1);
  ++axes.rank;
  axes.extents[i] = extent;
  axes.extents[i + 1] = whole / extent;
  // A single part has no neighbour, whose distance may be anything.
  if (places.shape.size() != 0 && whole != extent) (void)checked_distance(axes.strides[i], extent);
  axes.strides[i + 1] = static_cast<Index>(static_cast<std::size_t>(axes.strides[i]) *
                                           static_cast<std::size_t>(extent));
  places = axes.places();
}

void exchange_axes(ViewPlaces& places, int a, int b) {
  const std::size_t i = checked_axis("an exchange", places, {a, a});
  const std::size_t j = checked_axis("an exchange", places, {b, b});
  AllAxes axes(places);
  std::swap(axes.extents[i], axes.extents[j]);
  std::swap(axes.strides[i], axes.strides[j]);
  places = axes.places();
}

void check_offset(const void* data, std::size_t size, Index offset) {
  (void)stretch_of(data, size, {std::min<Index>(offset, 0), std::max<Index>(offset, 0)});
}

void check_other_strides(const Shape& shape, const Strides& strides, SharedElements shared,
                         Index feature_stride) {
  check_number_of_strides(shape, strides);
  const int outer_axes = std::max(shape.rank() - 1, 0);
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

void fail_beyond_memory(const Span& span) {
  fail("a strided view must lie within the address space (first and last element from its data)",
       fmt::format("{} and {}", span.first, span.last));
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
