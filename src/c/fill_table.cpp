// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "c/arguments.hpp"
#include "c/choices.hpp"
#include "c/status.hpp"
#include "eigen_rope/any/any.hpp"
#include "eigen_rope/c/eigen_rope.h"
#include "eigen_rope/tables/cache.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::c {
namespace {

/// The place of the entries of a row among `rank` axes, counted from the slowest.
int table_axis(const Layout& layout, int rank) { return rank - 1 - layout.feature_axis(); }

void write_table_shape(const Frequencies& frequencies, const Positions& positions,
                       const Layout& layout, std::int64_t* shape, std::int32_t* ndim) {
  const Shape outer = detail::table_outer(frequencies, positions, layout);
  const int rank = outer.rank() + 1;
  const int entries = table_axis(layout, rank);
  int axis = outer.rank();
  for (int i = 0; i < rank; ++i) shape[i] = i == entries ? frequencies.pairs() : outer[--axis];
  *ndim = rank;
}

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::c

namespace c = eigen_rope::c;

eigen_rope_status eigen_rope_table_shape(const eigen_rope_frequencies* frequencies,
                                         const eigen_rope_positions* positions, const char* layout,
                                         std::int64_t* shape, std::int32_t* ndim) noexcept {
  return c::status_of([&] {
    c::require_given(frequencies, "frequencies");
    c::require_given(positions, "positions");
    c::require_given(layout, "layout");
    c::require_given(shape, "shape");
    c::require_given(ndim, "ndim");
    c::write_table_shape(frequencies->value, positions->value, eigen_rope::any::layout_of(layout),
                         shape, ndim);
  });
}

eigen_rope_status eigen_rope_fill_table(const eigen_rope_tensor* cos, const eigen_rope_tensor* sin,
                                        const eigen_rope_frequencies* frequencies,
                                        const eigen_rope_positions* positions,
                                        const char* layout) noexcept {
  return c::status_of([&] {
    c::require_given(frequencies, "frequencies");
    c::require_given(positions, "positions");
    c::require_given(layout, "layout");
    eigen_rope::any::TableMemory memory;
    c::tell(memory, {cos, sin});
    const eigen_rope::Layout& axes = eigen_rope::any::layout_of(layout);
    if (axes.feature_axis() > 0) memory.feature_axis = c::table_axis(axes, memory.shape.rank());
    eigen_rope::any::fill_table(memory, frequencies->value, positions->value, axes);
  });
}
