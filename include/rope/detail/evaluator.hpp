// SPDX-License-Identifier: Apache-2.0
//
// How Eigen evaluates a RotateOp: four ways to the same bits.
//
//   direct   the node is the whole right-hand side and x has raw data: row kernels straight into the destination
//   blocks   nested: row kernels into a scratch of some rows, from x itself or from whole rows of x evaluated into scratch
//   packets  nested with raw x, where Eigen's packets are wide, or in an expression that cannot be tiled; float and double; see packets.hpp
//   coeff    everything else, and the reference for the three above
//
// Evaluators are shared between threads: nothing here changes after evalSubExprsIfNeeded.
#pragma once

#include <optional>
#include <type_traits>

#include "rope/detail/coefficient.hpp"
#include "rope/detail/node.hpp"
#include "rope/detail/overlap.hpp"
#include "rope/detail/packets.hpp"
#include "rope/device.hpp"

namespace Eigen {

template <class X, class TableScalar, class Device>
struct TensorEvaluator<const rope::RotateOp<X, TableScalar>, Device> {
  using XprType = rope::RotateOp<X, TableScalar>;
  using Argument = TensorEvaluator<X, Device>;
  using Index = typename XprType::Index;
  using Scalar = typename XprType::Scalar;
  using XScalar = std::remove_const_t<typename X::Scalar>;
  using CoeffReturnType = Scalar;
  using PacketReturnType = typename PacketType<Scalar, Device>::type;
  static constexpr int NumDims = internal::traits<XprType>::NumDimensions;
  static constexpr int PacketSize = PacketType<Scalar, Device>::size;
  using Dimensions = DSizes<Index, NumDims>;
  using Storage = StorageMemory<Scalar, Device>;
  using EvaluatorPointerType = typename Storage::Type;

  static constexpr int Layout = Argument::Layout;
  static constexpr bool IsAligned = false;
  static constexpr bool PacketAccess =
      bool(Argument::PacketAccess) && rope::detail::has_packet_rotation<XScalar, TableScalar, Scalar, PacketReturnType>;
  // Blocks are raw memory, filled without constructors.
  static constexpr bool BlockAccess = bool(Argument::BlockAccess) && rope::detail::is_plain<XScalar> && rope::detail::is_plain<TableScalar>;
  // Measured (docs/design.md): what it takes to find its row pays for a packet of 64 bytes, not for one of 16.
  static constexpr bool PreferBlockAccess = BlockAccess && !(PacketAccess && bool(Argument::RawAccess) && sizeof(PacketReturnType) > 32);
  static constexpr bool CoordAccess = false;
  static constexpr bool RawAccess = false;

  using TensorBlockDesc = internal::TensorBlockDescriptor<NumDims, Index>;
  using TensorBlockScratch = internal::TensorBlockScratchAllocator<Device>;
  using ArgTensorBlock = typename Argument::TensorBlock;
  using TensorBlock = std::conditional_t<BlockAccess, internal::TensorMaterializedBlock<Scalar, NumDims, Layout, Index>,
                                         internal::TensorBlockNotImplemented>;

  TensorEvaluator(const XprType& op, const Device& device) : x_(op.expression(), device), parameters_(&op.parameters()), device_(device) {
    for (rope::detail::AxisNumber i{0}; i.value < NumDims; ++i.value) dimensions_[i] = x_.dimensions()[i];
  }

  const Dimensions& dimensions() const { return dimensions_; }

  // Inlined down to its constants where the node is nested and has no destination.
  EIGEN_ALWAYS_INLINE bool evalSubExprsIfNeeded(EvaluatorPointerType destination) {
    if (destination == nullptr) {
      x_.evalSubExprsIfNeeded(nullptr);
      prepare();
      return true;
    }
    return evaluate_into(destination);
  }

#ifdef EIGEN_USE_THREADS
  template <class Done>
  void evalSubExprsIfNeededAsync(EvaluatorPointerType destination, Done done) {
    refuse_overlap(destination);
    // The node is gone with the statement, perhaps before x is evaluated.
    x_.evalSubExprsIfNeededAsync(nullptr, [this, destination, done, parameters = *parameters_](bool) {
      parameters_ = &parameters;
      if (destination == nullptr || raw_x() == nullptr) {
        prepare();
        return done(true);
      }
      const DirectRotation rotation = make_direct(destination);
      device_.parallelForAsync(
          rotation.walk.rows, rope::detail::row_cost(bytes_per_row()), [rotation](Index begin, Index end) { rotation.rows(begin, end); },
          [done] { done(false); });
    });
  }
#endif

  void cleanup() { x_.cleanup(); }

  CoeffReturnType coeff(Index index) const { return rope::detail::rotated_coefficient<Scalar, XScalar>(*plan_, x_, index); }

  template <int LoadMode>
  EIGEN_ALWAYS_INLINE PacketReturnType packet(Index index) const {
    return rope::detail::rotated_packet<PacketReturnType>(*plan_, x_, index);
  }

  TensorOpCost costPerCoeff(bool vectorized) const {
    // Partners and table rows have just been read: they cost cycles, not memory. Other arguments than raw ones are evaluated twice.
    const double cycles = vectorized ? 9 : 15;
    const TensorOpCost rotation(0, 0, cycles, vectorized, PacketSize);
    const TensorOpCost argument = x_.costPerCoeff(vectorized);
    return bool(Argument::RawAccess) ? argument + rotation : argument + argument + rotation;
  }

  // A block and its rows of x should fill the first-level cache, to spread what Eigen spends on one; but where memory sets the pace, x, the
  // destination and whatever else the expression reads must advance together, a few rows at a time (docs/design.md).
  internal::TensorBlockResourceRequirements getResourceRequirements() const {
    constexpr std::size_t small_block = Argument::RawAccess ? 2048 : 8192;
    const std::size_t cache = device_.firstLevelCacheSize();
    const bool is_small = static_cast<std::size_t>(dimensions_.TotalSize()) * sizeof(Scalar) <= 8 * cache;
    const std::size_t row = static_cast<std::size_t>(row_length()) * sizeof(Scalar);
    return internal::TensorBlockResourceRequirements::merge(
        internal::TensorBlockResourceRequirements::skewed<Scalar>(numext::maxi(row, is_small ? cache / 2 : small_block)),
        x_.getResourceRequirements());
  }

  TensorBlock block(TensorBlockDesc& descriptor, TensorBlockScratch& scratch, bool root_of_expr_ast = false) const {
    static_assert(BlockAccess, "[rope] this scalar has no block access");
    // The destination is ours only as the whole right-hand side: a cast around us hands down one of another scalar.
    if (!root_of_expr_ast) descriptor.DropDestinationBuffer();
    const rope::Shape shape = rope::detail::shape_of<Layout>(descriptor.dimensions());
    if (shape[0] != row_length()) return block_of_coefficients(descriptor, shape, scratch);

    const OuterAxes outer = rope::detail::outer_axes_of<Layout>(descriptor.dimensions());
    OuterAxes x_strides;
    const XScalar* x = raw_x();
    if (x != nullptr) {
      x += descriptor.offset();
      x_strides = strides_;
    } else {
      x = rows_of_argument(descriptor, scratch);
      x_strides = rope::detail::dense_strides<NumDims>(shape[0], outer);
    }

    const auto storage = TensorBlock::prepareStorage(descriptor, scratch, /*allow_strided_storage=*/true);
    const OuterAxes y_strides = rope::detail::outer_axes_of<Layout>(storage.strides());

    // The table keeps its own extents; only where the block begins in it, and how far it runs, differ.
    const Index table = plan_->search.place_in_table(descriptor.offset());
    const rope::detail::Walk walk = rope::detail::make_walk<NumDims>(outer, x_strides, y_strides, table_strides_);
    rope::detail::rotate_walk(plan_->row, walk, x, storage.data(), plan_->cos + table, plan_->sin + table, 0, walk.rows);
    return storage.AsTensorMaterializedBlock();
  }

  EvaluatorPointerType data() const { return nullptr; }

 private:
  using Parameters = typename XprType::Parameters;
  using Plan = std::conditional_t<PacketAccess, rope::detail::PacketPlan<TableScalar>, rope::detail::CoefficientPlan<TableScalar>>;
  using OuterAxes = rope::detail::OuterAxes<NumDims>;

  const XScalar* raw_x() const { return x_.data(); }

  static EIGEN_DONT_INLINE Plan make_plan(const Parameters& parameters, const OuterAxes& extents, const OuterAxes& strides) {
    bool empty = parameters.plan.row_length == 0;
    for (int axis = 0; axis < NumDims - 1; ++axis) empty = empty || extents[static_cast<std::size_t>(axis)] == 0;
    if (empty) return Plan();
    const rope::detail::Walk walk = rope::detail::make_walk<NumDims>(extents, strides, strides, parameters.table_strides);
    const rope::detail::RowSearch search(parameters.plan.row_length, walk);
    return Plan(rope::detail::CoefficientPlan<TableScalar>{parameters.plan, parameters.cos, parameters.sin, search});
  }

  /// What construction does not need: Eigen also makes evaluators only to ask for dimensions. From copies: Eigen's loop holds the evaluator
  /// in a local variable, of which compilers lose sight once its address is passed to a function.
  EIGEN_ALWAYS_INLINE void prepare() {
    const Parameters parameters = *parameters_;
    const OuterAxes extents = rope::detail::outer_axes_of<Layout>(dimensions_);
    const OuterAxes strides = rope::detail::dense_strides<NumDims>(parameters.plan.row_length, extents);
    const Plan plan = make_plan(parameters, extents, strides);
    strides_ = strides;
    table_strides_ = parameters.table_strides;
    plan_.emplace(plan);
  }

  EIGEN_DONT_INLINE bool evaluate_into(EvaluatorPointerType destination) {
    refuse_overlap(destination);
    x_.evalSubExprsIfNeeded(nullptr);
    if (raw_x() == nullptr) {
      prepare();
      return true;
    }
    const DirectRotation rotation = make_direct(destination);
    rope::Device(device_).for_range(rotation.walk.rows, bytes_per_row(),
                                    [&rotation](Index begin, Index end) { rotation.rows(begin, end); });
    return false;
  }

  void refuse_overlap(const Scalar* destination) const {
    if (destination == nullptr) return;
    const Index size = dimensions_.TotalSize();
    rope::detail::refuse_partial_overlap(raw_x(), destination, size);
    rope::detail::refuse_table_overlap(parameters_->cos, parameters_->table_size, destination, size);
    rope::detail::refuse_table_overlap(parameters_->sin, parameters_->table_size, destination, size);
  }

  Index row_length() const { return dimensions_[Layout == static_cast<int>(ColMajor) ? 0 : NumDims - 1]; }
  double bytes_per_row() const { return static_cast<double>(row_length()) * (sizeof(XScalar) + sizeof(Scalar)); }

  /// From the raw data of x to the destination, both dense.
  struct DirectRotation {
    rope::detail::RowPlan plan;
    const XScalar* x;
    Scalar* y;
    const TableScalar* cos;
    const TableScalar* sin;
    rope::detail::Walk walk;

    void rows(Index begin, Index end) const { rope::detail::rotate_walk(plan, walk, x, y, cos, sin, begin, end); }
  };

  DirectRotation make_direct(Scalar* destination) const {
    const OuterAxes extents = rope::detail::outer_axes_of<Layout>(dimensions_);
    const OuterAxes dense = rope::detail::dense_strides<NumDims>(row_length(), extents);
    const Parameters& parameters = *parameters_;
    DirectRotation rotation{parameters.plan, raw_x(),
                            destination,     parameters.cos,
                            parameters.sin,  rope::detail::make_walk<NumDims>(extents, dense, dense, parameters.table_strides)};
    const double bytes = static_cast<double>(rotation.walk.rows) * bytes_per_row();
    rotation.walk.stores = rope::detail::stores_for(rotation.x, rotation.y, bytes);
    return rotation;
  }

  /// The argument's rows under the block, dense, in scratch or wherever the argument already has them.
  const XScalar* rows_of_argument(const TensorBlockDesc& descriptor, TensorBlockScratch& scratch) const {
    TensorBlockDesc of_argument(descriptor.offset(), descriptor.dimensions());
    ArgTensorBlock argument = x_.block(of_argument, scratch);
    const XScalar* rows = argument.data();
    if (rows == nullptr) {
      auto* memory = static_cast<XScalar*>(scratch.allocate(static_cast<std::size_t>(descriptor.size()) * sizeof(XScalar)));
      using Assignment = internal::TensorBlockAssignment<XScalar, NumDims, typename ArgTensorBlock::XprType, Index>;
      Assignment::Run(Assignment::target(descriptor.dimensions(), internal::strides<Layout>(descriptor.dimensions()), memory),
                      argument.expr());
      rows = memory;
    }
    argument.cleanup();
    return rows;
  }

  /// A block that cuts the feature axis has partners outside itself.
  TensorBlock block_of_coefficients(TensorBlockDesc& descriptor, const rope::Shape& shape, TensorBlockScratch& scratch) const {
    const rope::Shape whole = rope::detail::shape_of<Layout>(dimensions_);
    const Index offset = descriptor.offset();
    const auto storage = TensorBlock::prepareStorage(descriptor, scratch);
    const Index size = shape.size();
    for (Index i = 0; i < size; ++i) {
      Index rest = i;
      Index index = offset;
      Index stride = 1;
      for (int axis = 0; axis < shape.rank(); ++axis) {
        index += rest % shape[axis] * stride;
        rest /= shape[axis];
        stride *= whole[axis];
      }
      storage.data()[i] = coeff(index);
    }
    return storage.AsTensorMaterializedBlock();
  }

  Argument x_;
  Dimensions dimensions_;
  // Of the expression, which an asynchronous evaluation outlives: what is needed after evalSubExprsIfNeeded is copied there.
  const Parameters* parameters_;
  std::optional<Plan> plan_;  // this and the next two only where the node is nested
  OuterAxes strides_;         // of x's rows
  OuterAxes table_strides_;
  const Device EIGEN_DEVICE_REF device_;
};

}  // namespace Eigen
