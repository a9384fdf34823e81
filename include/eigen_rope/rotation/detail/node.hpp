// SPDX-License-Identifier: Apache-2.0
//
// The expression class behind eigen_rope::rotate: parameters, no evaluation (that is
// evaluator.hpp).
//
// Everything that can be refused is refused here, once, when the expression is made; Eigen builds
// an evaluator twice for every assignment, so evaluators only read what is decided here.
#pragma once

#include <array>
#include <type_traits>
#include <utility>

#include "eigen_rope/numbers/detail/scalars.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rotation/detail/tensor.hpp"
#include "eigen_rope/rows/detail/determinant.hpp"
#include "eigen_rope/rows/detail/plan.hpp"
#include "eigen_rope/rows/detail/walk.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope {

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
  OuterAxes<rank> table_strides;
};

/// \param x  extents, the feature axis first
template <class TableScalar, std::size_t rank>
NodeParameters<TableScalar, static_cast<int>(rank)> make_parameters(
    const std::array<Index, rank>& x, const TableView<TableScalar>& table, const Pairing& pairing,
    Direction direction) {
  NodeParameters<TableScalar, static_cast<int>(rank)> parameters{
      make_row_plan(x[0], table.width, pairing, direction), table.cos, table.sin, 0, {}};
  auto stride =
      static_cast<std::size_t>(table.width);  // unsigned: the table's size is checked below
  bool broadcasts = table.outer.rank() < static_cast<int>(rank);
  for (std::size_t axis = 1; axis < rank; ++axis) {
    const Index extent = table.outer[static_cast<int>(axis) - 1];
    broadcasts = broadcasts && (extent == 1 || extent == x[axis]);
    parameters.table_strides[axis - 1] = extent == 1 ? 0 : static_cast<Index>(stride);
    stride *= static_cast<std::size_t>(extent);
  }
  if (!broadcasts) {
    Shape outer;
    for (std::size_t axis = 1; axis < rank; ++axis) outer.push_back(x[axis]);
    check_table_broadcasts(outer, table.outer);
  }
  parameters.table_size = checked_table_size(table);
  if (direction == Direction::inverse) require_invertible(parameters.plan, table);
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
}  // namespace eigen_rope

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

namespace eigen_rope {

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
      : x_(x), parameters_(detail::make_parameters(extents_of(x), table, pairing, direction)) {
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

}  // namespace eigen_rope
