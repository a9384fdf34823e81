// SPDX-License-Identifier: Apache-2.0
//
// The sum of two rows, written where a result goes.
//
//   y[i] = a[i] + b[i]
//
// a and b are what two rotations left in the first-level cache, so that only y is memory's: large
// results go past the cache in whole lines. float and double are compiled once in the library; here
// stands the template for all other scalars, which has no streaming stores. After streamed rows the
// caller calls flush_streamed_rows() (rows.hpp).
#pragma once

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/rows/detail/rows.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

// Compiled once, with the instructions of the machine it runs on; the same bits as the template.
EIGEN_ROPE_API void add_rows(const float* a, const float* b, float* y, Index count, Stores stores);
EIGEN_ROPE_API void add_rows(const double* a, const double* b, double* y, Index count,
                             Stores stores);

/// Any scalar.
template <class Y>
void add_rows(const Y* a, const Y* b, Y* y, Index count, Stores) {
  for (Index i = 0; i < count; ++i) y[i] = static_cast<Y>(a[i] + b[i]);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
