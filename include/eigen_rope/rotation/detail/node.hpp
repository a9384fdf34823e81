// SPDX-License-Identifier: Apache-2.0
//
// The expression class behind eigen_rope::rotate: parameters, no evaluation (that is
// evaluator.hpp).
//
// Everything that can be refused is refused here, once, when the expression is made; Eigen builds
// an evaluator twice for every assignment, so evaluators only read what is decided here.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "eigen_rope/choices/default_axis.hpp"
#include "eigen_rope/numbers/detail/scalars.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rotation/detail/tensor.hpp"
#include "eigen_rope/rows/detail/determinant.hpp"
#include "eigen_rope/rows/detail/feature_axis.hpp"
#include "eigen_rope/rows/detail/plan.hpp"
#include "eigen_rope/rows/detail/walk.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// A lazy rotation; made by eigen_rope::rotate, eigen_rope::rotate_backward and
/// eigen_rope::rotate_inverse.
template <class XExpression, class TableScalar>
class RotateOp;

namespace detail {

/// All a node knows besides x.
template <class TableScalar, int rank>
struct NodeParameters {
  RowPlan plan;
  const TableScalar* cos;
  const TableScalar* sin;
  /// Entries of either.
  Index table_size;
  /// Of the axes outside the feature axis.
  OuterAxes<rank> table_strides;
  /// The distance of the entries of one row.
  Index entry_step;
  /// How many axes are faster than the feature axis.
  int place;
};

/// \param x  extents, the feature axis first
template <class TableScalar, std::size_t rank>
void fill_parameters(NodeParameters<TableScalar, static_cast<int>(rank)>& parameters,
                     const std::array<Index, rank>& x, const TableView<TableScalar>& table,
                     const Pairing& pairing, Direction direction, int place) {
  constexpr int axes = static_cast<int>(rank) - 1;
  const Index* const outer = x.data() + 1;
  parameters.plan = make_row_plan(x[0], table.width, pairing, direction);
  parameters.cos = table.cos;
  parameters.sin = table.sin;
  parameters.entry_step = table_strides(table.width, table.outer, table.feature_axis, axes,
                                        parameters.table_strides.data());
  parameters.place = place;
  check_table_broadcasts(axes, outer, table.outer, features_behind(place),
                         features_behind(table.feature_axis));
  parameters.table_size = checked_table_size(table);
  if (direction == Direction::inverse) require_invertible(parameters.plan, table);
  if (place == 0) require_entries_in_rows(parameters.entry_step, axes, outer, table.outer);
}

template <class TableScalar, std::size_t rank>
NodeParameters<TableScalar, static_cast<int>(rank)> parameters_of(
    const std::array<Index, rank>& x, const TableView<TableScalar>& table, const Pairing& pairing,
    Direction direction, IndexOrder order) {
  const int place = feature_place(pairing, static_cast<int>(rank), order);
  std::array<Index, rank> moved = x;
  std::rotate(moved.begin(), moved.begin() + place, moved.begin() + place + 1);
  NodeParameters<TableScalar, static_cast<int>(rank)> parameters;
  const AxisContext context{x.data(), static_cast<int>(rank), table.width, &table.outer, &pairing,
                            order};
  naming_other_axes(context,
                    [&] { fill_parameters(parameters, moved, table, pairing, direction, place); });
  if (rank > 1 && default_axis() != DefaultAxis::fastest) refuse_ambiguous_axis(context);
  return parameters;
}

template <class X>
inline constexpr bool is_map = false;
template <class Plain, int options, template <class> class Pointer>
inline constexpr bool is_map<Eigen::TensorMap<Plain, options, Pointer>> = true;

/// Of Eigen's expressions only a map can be over nothing.
template <class X>
void require_data([[maybe_unused]] const X& x) {
  if constexpr (is_map<std::remove_const_t<X>>) {
    if (x.data() != nullptr) return;
    for (int axis = 0; axis < X::NumDimensions; ++axis) {
      if (x.dimension(axis) == 0) return;
    }
    fail("x must have data, got a null pointer");
  }
}

template <class X, class TableScalar>
auto make_node(const X& x, const TableView<TableScalar>& table, const Pairing& pairing,
               Direction direction) {
  return RotateOp<const X, TableScalar>(x, table, pairing, direction);
}

template <int layout, class Map>
auto table_of_raw(const Map& cos, const Map& sin) {
  using Scalar = std::remove_const_t<typename Map::Scalar>;
  const Shape shape = shape_of<layout>(cos.dimensions());
  const Shape sin_shape = shape_of<layout>(sin.dimensions());
  if (shape != sin_shape)
    fail("cos and sin must have the same shape", shape.text() + " and " + sin_shape.text());
  return TableView<Scalar>{cos.data(), sin.data(), shape[0], shape.outer()};
}

}  // namespace detail
}  // namespace eigen_rope::EIGEN_ROPE_ABI

namespace Eigen::internal {

template <class X, class TableScalar>
struct traits<eigen_rope::RotateOp<X, TableScalar>> : traits<X> {
  using Scalar = eigen_rope::detail::ResultScalar<std::remove_const_t<typename traits<X>::Scalar>,
                                                  TableScalar>;
  using StorageKind = typename traits<X>::StorageKind;
  using Index = typename traits<X>::Index;
  static constexpr int NumDimensions = traits<X>::NumDimensions;
  static constexpr int Layout = traits<X>::Layout;
  enum { Flags = 0 };
  using PointerType = Scalar*;
};

template <class X, class TableScalar>
struct eval<eigen_rope::RotateOp<X, TableScalar>, Eigen::Dense> {
  using type = const eigen_rope::RotateOp<X, TableScalar>&;
};

}  // namespace Eigen::internal

namespace eigen_rope::EIGEN_ROPE_ABI {

template <class XExpression, class TableScalar>
class RotateOp
    : public Eigen::TensorBase<RotateOp<XExpression, TableScalar>, Eigen::ReadOnlyAccessors> {
 public:
  using Traits = Eigen::internal::traits<RotateOp>;
  using Scalar = typename Traits::Scalar;
  using RealScalar = typename Eigen::NumTraits<Scalar>::Real;
  using CoeffReturnType = Scalar;
  using StorageKind = typename Traits::StorageKind;
  using Index = typename Traits::Index;
  using Nested = typename Eigen::internal::ref_selector<RotateOp>::type;

  using Parameters = detail::NodeParameters<TableScalar, Traits::NumDimensions>;

  RotateOp(const XExpression& x, const TableView<TableScalar>& table, const Pairing& pairing,
           Direction direction)
      : x_(x),
        parameters_(detail::parameters_of(extents_of(x), table, pairing, direction,
                                          detail::order_of_layout<Traits::Layout>)) {
    detail::require_data(x);
  }

  const std::remove_const_t<std::remove_reference_t<typename XExpression::Nested>>& expression()
      const {
    return x_;
  }
  const Parameters& parameters() const { return parameters_; }

 private:
  static std::array<eigen_rope::Index, Traits::NumDimensions> extents_of(const XExpression& x) {
    const Eigen::TensorEvaluator<const XExpression, Eigen::DefaultDevice> evaluator(
        x, Eigen::DefaultDevice());
    return detail::extents_of<Traits::Layout>(evaluator.dimensions());
  }

  typename XExpression::Nested x_;
  Parameters parameters_;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI
