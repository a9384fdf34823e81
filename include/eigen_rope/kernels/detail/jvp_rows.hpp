// SPDX-License-Identifier: Apache-2.0
//
// Two rotations and their sum in one loop, for rows that share a row of the table.
//
//   dy = rotate(dx, table) + rotate(x, tangent)
//
// Each rotation is rounded as it is alone, and so is the sum. x and dx are read and dy is written
// once, at the same time; two rotations one after the other read and write in turns, which takes
// half as long again beyond the caches. Compiled once in the library for float, for whole vectors
// of pairs and half-width tables. The caller has another way for everything else, chooses the rows,
// and copies what lies outside the windows.
#pragma once

#include <type_traits>

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/rows/detail/rows.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// `count` rows. Pointers are the windows', steps are from one row to the next.
struct JvpRows {
  const float* x;
  const float* dx;
  float* dy;
  Index count;
  Index x_step;
  Index dx_step;
  Index dy_step;
  const float* cos;
  const float* sin;
  const float* tangent_cos;
  const float* tangent_sin;
  Stores stores;
};

/// False, and nothing done, for plans, rows and targets it has no loop for. The answer depends on
/// the plan, the stores, and whether dy's rows begin on cache lines.
EIGEN_ROPE_API bool add_rotations(const RowPlan& plan, const JvpRows& rows);

/// Scalars of x, dx, both tables and dy for which it may do something.
template <class... Scalars>
inline constexpr bool may_add_rotations = std::conjunction_v<std::is_same<Scalars, float>...>;

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
