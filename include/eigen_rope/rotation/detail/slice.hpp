// SPDX-License-Identifier: Apache-2.0
//
// How Eigen evaluates a slice of a rotation:
//
//   y = rotate(x).slice(offsets, extents)
//
// Eigen's evaluator of slices asks for the raw data of what it slices before anything else, and a
// rotation then makes all of its elements (evaluator.hpp). Where they outgrow the caches, this one
// asks for blocks instead: whole rows are rotated from x to where the slice is assigned. Elements
// that are made already are copied there at once, and not by way of a block.
#pragma once

#include "eigen_rope/rotation/detail/evaluator.hpp"
#include "eigen_rope/rotation/detail/node.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// A rotation whose raw data are those that it has without making them.
template <class X, class TableScalar>
class RotationToSlice : public RotateOp<X, TableScalar> {
 public:
  using Nested = RotationToSlice;
  explicit RotationToSlice(const RotateOp<X, TableScalar>& rotation)
      : RotateOp<X, TableScalar>(rotation) {}
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail

namespace Eigen {
namespace internal {

template <class X, class TableScalar>
struct traits<eigen_rope::detail::RotationToSlice<X, TableScalar>>
    : traits<eigen_rope::RotateOp<X, TableScalar>> {};

}  // namespace internal

template <class X, class TableScalar, class Device>
struct TensorEvaluator<const eigen_rope::detail::RotationToSlice<X, TableScalar>, Device>
    : TensorEvaluator<const eigen_rope::RotateOp<X, TableScalar>, Device> {
  using Base = TensorEvaluator<const eigen_rope::RotateOp<X, TableScalar>, Device>;
  using XprType = eigen_rope::detail::RotationToSlice<X, TableScalar>;
  static constexpr bool RawAccess = false;

  TensorEvaluator(const XprType& op, const Device& device) : Base(op, device) {}

  typename Base::EvaluatorPointerType data() const { return this->data_if_made(); }
};

template <class Offsets, class Extents, class X, class TableScalar, class Device>
struct TensorEvaluator<
    const TensorSlicingOp<Offsets, Extents, const eigen_rope::RotateOp<X, TableScalar>>, Device>
    : TensorEvaluator<
          const TensorSlicingOp<Offsets, Extents,
                                const eigen_rope::detail::RotationToSlice<X, TableScalar>>,
          Device> {
  using Rotation = eigen_rope::detail::RotationToSlice<X, TableScalar>;
  using OfRotation = TensorSlicingOp<Offsets, Extents, const Rotation>;
  using Base = TensorEvaluator<const OfRotation, Device>;
  using XprType = TensorSlicingOp<Offsets, Extents, const eigen_rope::RotateOp<X, TableScalar>>;
  using TensorBlock = typename Base::TensorBlock;
  using TensorBlockDesc = typename Base::TensorBlockDesc;
  using TensorBlockScratch = typename Base::TensorBlockScratch;

  TensorEvaluator(const XprType& op, const Device& device)
      : Base(OfRotation(Rotation(op.expression()), op.startIndices(), op.sizes()), device) {}

  /// Eigen's would be as large as the last-level cache.
  internal::TensorBlockResourceRequirements getResourceRequirements() const {
    return this->m_impl.getResourceRequirements();
  }

  /// As Eigen's, which does not say that the slice is the whole right-hand side.
  TensorBlock block(TensorBlockDesc& descriptor, TensorBlockScratch& scratch,
                    bool root_of_expr_ast = false) const {
    TensorBlockDesc of_rotation = descriptor.WithOffset(this->srcCoeff(descriptor.offset()));
    TensorBlock block = this->m_impl.block(of_rotation, scratch, root_of_expr_ast);
    if (!of_rotation.HasDestinationBuffer()) descriptor.DropDestinationBuffer();
    return block;
  }
};

}  // namespace Eigen
