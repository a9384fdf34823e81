// SPDX-License-Identifier: Apache-2.0
//
// The expression class behind rope::rotate: parameters, no evaluation (that is evaluator.hpp).
//
// Everything that can be refused is refused here, once, when the expression is made; Eigen builds an evaluator twice for every
// assignment, so evaluators only copy what is decided here.
#pragma once

#include <type_traits>
#include <utility>

#include "rope/detail/determinant.hpp"
#include "rope/detail/plan.hpp"
#include "rope/detail/scalars.hpp"
#include "rope/detail/tensor.hpp"
#include "rope/detail/walk.hpp"
#include "rope/error.hpp"
#include "rope/table.hpp"

namespace rope {

/// A lazy rotation; made by rope::rotate, rope::transpose and rope::inverse.
template <class XExpression, class TableScalar>
class RotateOp;

namespace detail {

/// All a node knows besides x.
template <class TableScalar>
struct NodeParameters {
  RowPlan plan;
  TableView<TableScalar> table;
};

template <class TableScalar>
NodeParameters<TableScalar> make_parameters(const Shape& x, const TableView<TableScalar>& table, Pairing pairing, Direction direction) {
  const NodeParameters<TableScalar> parameters{make_row_plan(x[0], table.width, pairing, direction), table};
  check_table_broadcasts(x.outer(), table.outer);
  if (direction == Direction::inverse) require_invertible(parameters.plan, table);
  return parameters;
}

template <class X, class TableScalar>
auto make_node(const X& x, const TableView<TableScalar>& table, Pairing pairing, Direction direction) {
  const Eigen::TensorEvaluator<const X, Eigen::DefaultDevice> evaluator(x, Eigen::DefaultDevice());
  constexpr int layout = Eigen::internal::traits<X>::Layout;
  return RotateOp<const X, TableScalar>(x, make_parameters(shape_of<layout>(evaluator.dimensions()), table, pairing, direction));
}

template <int layout, class Map>
auto table_of_raw(const Map& cos, const Map& sin) {
  using Scalar = std::remove_const_t<typename Map::Scalar>;
  const Shape shape = shape_of<layout>(cos.dimensions());
  const Shape sin_shape = shape_of<layout>(sin.dimensions());
  if (shape != sin_shape) fail("cos and sin must have the same shape", shape.text() + " and " + sin_shape.text());
  return TableView<Scalar>{cos.data(), sin.data(), shape[0], shape.outer()};
}

}  // namespace detail
}  // namespace rope

namespace Eigen::internal {

template <class X, class TableScalar>
struct traits<rope::RotateOp<X, TableScalar>> : traits<X> {
  using Scalar = rope::detail::ResultScalar<std::remove_const_t<typename traits<X>::Scalar>, TableScalar>;
  using StorageKind = typename traits<X>::StorageKind;
  using Index = typename traits<X>::Index;
  static constexpr int NumDimensions = traits<X>::NumDimensions;
  static constexpr int Layout = traits<X>::Layout;
  enum { Flags = 0 };
  using PointerType = Scalar*;
};

template <class X, class TableScalar>
struct eval<rope::RotateOp<X, TableScalar>, Eigen::Dense> {
  using type = const rope::RotateOp<X, TableScalar>&;
};

}  // namespace Eigen::internal

namespace rope {

template <class XExpression, class TableScalar>
class RotateOp : public Eigen::TensorBase<RotateOp<XExpression, TableScalar>, Eigen::ReadOnlyAccessors> {
 public:
  using Traits = Eigen::internal::traits<RotateOp>;
  using Scalar = typename Traits::Scalar;
  using RealScalar = typename Eigen::NumTraits<Scalar>::Real;
  using CoeffReturnType = Scalar;
  using StorageKind = typename Traits::StorageKind;
  using Index = typename Traits::Index;
  using Nested = typename Eigen::internal::ref_selector<RotateOp>::type;

  RotateOp(const XExpression& x, const detail::NodeParameters<TableScalar>& parameters) : x_(x), parameters_(parameters) {}

  const std::remove_const_t<std::remove_reference_t<typename XExpression::Nested>>& expression() const { return x_; }
  const detail::NodeParameters<TableScalar>& parameters() const { return parameters_; }

 private:
  typename XExpression::Nested x_;
  detail::NodeParameters<TableScalar> parameters_;
};

}  // namespace rope
