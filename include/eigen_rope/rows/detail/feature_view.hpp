// SPDX-License-Identifier: Apache-2.0
//
// Views whose features are moved to axis 0, where everything below a user's call expects them.
#pragma once

#include <string>

#include "eigen_rope/rows/detail/feature_axis.hpp"
#include "eigen_rope/rows/strided_view.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// The view with axis `place` moved to the front. Its strides must be as many as its outer axes, or
/// it is returned as it is, to be refused later.
template <class Scalar>
StridedView<Scalar> features_first(const StridedView<Scalar>& view, int place) {
  if (place == 0 || static_cast<int>(view.strides.size()) != view.shape.rank() - 1) return view;
  StridedView<Scalar> moved{view.data, features_first(view.shape, place), {}};
  moved.feature_stride = view.strides[static_cast<std::size_t>(place - 1)];
  moved.strides.push_back(view.feature_stride);
  for (int axis = 1; axis < view.shape.rank(); ++axis) {
    if (axis != place) moved.strides.push_back(view.strides[static_cast<std::size_t>(axis - 1)]);
  }
  return moved;
}

/// The view with the feature axis of the pairing, which counts axes in this order, in front.
///
/// - Errors:   eigen_rope::Error for an axis outside the view.
template <class Scalar>
StridedView<Scalar> features_first(const StridedView<Scalar>& view, const Pairing& pairing,
                                   IndexOrder order = IndexOrder::fastest_first) {
  if (!pairing.axis()) return view;
  return features_first(view, feature_place(pairing, view.shape.rank(), order));
}

/// Throws eigen_rope::Error unless a function that takes features on the fastest axis only is given
/// a table that has them there.
template <class Scalar>
void require_fastest_features(const std::string& function, const TableView<Scalar>& table) {
  check_feature_axis(table.outer, table.feature_axis);
  if (rows_inside(table.outer, table.feature_axis) == 1) return;
  fail(function + " takes features on the fastest axis only",
       "a table that has them behind " + std::to_string(table.feature_axis) + " axes");
}

/// Likewise unless the pairing names no axis, either.
template <class Scalar>
void require_fastest_features(const std::string& function, const Pairing& pairing,
                              const TableView<Scalar>& table) {
  if (pairing.axis())
    fail(function + " takes features on the fastest axis only", "pairing " + pairing.text());
  require_fastest_features(function, table);
}

/// For messages about rows and a table, which must outlive it.
inline AxisContext axis_context(const Shape& rows, Index table_width, const Shape& table_outer,
                                const Pairing& pairing,
                                IndexOrder order = IndexOrder::fastest_first) {
  return {rows.begin(), rows.rank(), table_width, &table_outer, &pairing, order};
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
