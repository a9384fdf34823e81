// SPDX-License-Identifier: Apache-2.0
//
// How Eigen evaluates a RotateOp: four ways to the same bits.
//
//   direct   the node is the whole right-hand side and x has raw data: row kernels straight into the destination
//   blocks   nested: row kernels into a scratch of cache size, from x itself or from whole rows of x evaluated into scratch
//   packets  nested in an expression that cannot be tiled, float and double; see packets.hpp
//   coeff    everything else, and the reference for the three above
//
// Evaluators are shared between threads: nothing here changes after evalSubExprsIfNeeded.
#pragma once

#include <optional>
#include <type_traits>

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
  // Measured: rows through an L1 scratch beat packets that look up their row one by one (docs/design.md).
  static constexpr bool PreferBlockAccess = BlockAccess;
  static constexpr bool CoordAccess = false;
  static constexpr bool RawAccess = false;

  using TensorBlockDesc = internal::TensorBlockDescriptor<NumDims, Index>;
  using TensorBlockScratch = internal::TensorBlockScratchAllocator<Device>;
  using ArgTensorBlock = typename Argument::TensorBlock;
  using TensorBlock = std::conditional_t<BlockAccess, internal::TensorMaterializedBlock<Scalar, NumDims, Layout, Index>,
                                         internal::TensorBlockNotImplemented>;

  TensorEvaluator(const XprType& op, const Device& device) : x_(op.expression(), device), parameters_(op.parameters()), device_(device) {
    for (int i = 0; i < NumDims; ++i) dimensions_[i] = x_.dimensions()[i];
  }

  const Dimensions& dimensions() const { return dimensions_; }

  bool evalSubExprsIfNeeded(EvaluatorPointerType destination) {
    refuse_overlap(destination);
    x_.evalSubExprsIfNeeded(nullptr);
    prepare(destination);
    if (!direct(destination)) return true;
    rope::Device(device_).for_range(walk_.rows, bytes_per_row(),
                                    [this, destination](Index begin, Index end) { rotate_rows(destination, begin, end); });
    return false;
  }

#ifdef EIGEN_USE_THREADS
  template <class Done>
  void evalSubExprsIfNeededAsync(EvaluatorPointerType destination, Done done) {
    refuse_overlap(destination);
    x_.evalSubExprsIfNeededAsync(nullptr, [this, destination, done](bool) {
      prepare(destination);
      if (!direct(destination)) return done(true);
      device_.parallelForAsync(
          walk_.rows, rope::detail::row_cost(bytes_per_row()),
          [this, destination](Index begin, Index end) { rotate_rows(destination, begin, end); }, [done] { done(false); });
    });
  }
#endif

  void cleanup() { x_.cleanup(); }

  CoeffReturnType coeff(Index index) const {
    const rope::detail::RowPlan& plan = parameters_.plan;
    const Index row = index / plan.row_length;
    const Index begin = row * plan.row_length;
    const Index slot = index - begin - plan.offset;
    if (slot < 0 || slot >= plan.rotary_dims) return static_cast<Scalar>(x_.coeff(index));
    return rotated(begin, slot, rope::detail::place_of_row(walk_, row).table);
  }

  template <int LoadMode>
  EIGEN_ALWAYS_INLINE PacketReturnType packet(Index index) const {
    return rope::detail::rotate_packet<PacketReturnType>(parameters_, *search_, x_, index, [this](Index i) { return gather(i); });
  }

  TensorOpCost costPerCoeff(bool vectorized) const {
    // Two members of x, two coefficients, four operations, and finding the row.
    const double row_search = 8.0 / (vectorized ? PacketSize : 1);
    return x_.costPerCoeff(vectorized) + x_.costPerCoeff(vectorized) +
           TensorOpCost(2.0 * sizeof(TableScalar), 0, 4.0 + row_search, vectorized, PacketSize);
  }

  internal::TensorBlockResourceRequirements getResourceRequirements() const {
    return internal::TensorBlockResourceRequirements::merge(
        internal::TensorBlockResourceRequirements::skewed<Scalar>(device_.firstLevelCacheSize()), x_.getResourceRequirements());
  }

  TensorBlock block(TensorBlockDesc& descriptor, TensorBlockScratch& scratch, bool root_of_expr_ast = false) const {
    static_assert(BlockAccess, "[rope] this scalar has no block access");
    // The destination is ours only as the whole right-hand side: a cast around us hands down one of another scalar.
    if (!root_of_expr_ast) descriptor.DropDestinationBuffer();
    const rope::Shape shape = rope::detail::shape_of<Layout>(descriptor.dimensions());
    if (shape[0] != parameters_.plan.row_length) return block_of_coefficients(descriptor, shape, scratch);

    const rope::Shape outer = shape.outer();
    rope::detail::Strides x_strides;
    const XScalar* x = raw_x();
    if (x != nullptr) {
      x += descriptor.offset();
      x_strides = dense_x_strides();
    } else {
      x = rows_of_argument(descriptor, scratch);
      x_strides = rope::detail::dense_strides(shape[0], outer);
    }

    const auto storage = TensorBlock::prepareStorage(descriptor, scratch, /*allow_strided_storage=*/true);
    const rope::detail::Strides y_strides = outer_strides(storage.strides());

    // The table keeps its own extents; only where the block begins in it, and how far it runs, differ.
    const TableBlock table = table_of_block(descriptor.offset(), outer);
    const rope::detail::Walk walk = rope::detail::make_walk(outer, x_strides, y_strides, table.strides);
    rope::detail::rotate_walk(parameters_.plan, walk, x, storage.data(), parameters_.table.cos + table.begin,
                              parameters_.table.sin + table.begin, 0, walk.rows);
    return storage.AsTensorMaterializedBlock();
  }

  EvaluatorPointerType data() const { return nullptr; }

 private:
  struct TableBlock {
    Index begin;
    rope::detail::Strides strides;
  };

  const XScalar* raw_x() const { return x_.data(); }

  /// What evaluation needs and construction does not: Eigen also makes evaluators only to ask for dimensions.
  void prepare(EvaluatorPointerType destination) {
    const rope::Shape outer = rope::detail::shape_of<Layout>(dimensions_).outer();
    const rope::detail::Strides dense = rope::detail::dense_strides(parameters_.plan.row_length, outer);
    walk_ = rope::detail::make_walk(outer, dense, dense, rope::detail::table_strides(parameters_.table.width, parameters_.table.outer));
    if (PacketAccess && !direct(destination) && dimensions_.TotalSize() > 0) search_.emplace(parameters_.plan.row_length, walk_);
  }

  bool direct(EvaluatorPointerType destination) const { return destination != nullptr && raw_x() != nullptr; }

  void refuse_overlap(const Scalar* destination) const {
    if (destination == nullptr) return;
    const Index size = dimensions_.TotalSize();
    rope::detail::refuse_partial_overlap(raw_x(), destination, size);
    const Index table_size = parameters_.table.width * parameters_.table.outer.size();
    rope::detail::refuse_table_overlap(parameters_.table.cos, table_size, destination, size);
    rope::detail::refuse_table_overlap(parameters_.table.sin, table_size, destination, size);
  }

  double bytes_per_row() const { return static_cast<double>(parameters_.plan.row_length) * (sizeof(XScalar) + sizeof(Scalar)); }

  void rotate_rows(Scalar* destination, Index begin, Index end) const {
    rope::detail::rotate_walk(parameters_.plan, walk_, raw_x(), destination, parameters_.table.cos, parameters_.table.sin, begin, end);
  }

  /// A packet that straddles an edge.
  EIGEN_DONT_INLINE PacketReturnType gather(Index index) const {
    EIGEN_ALIGN_MAX Scalar values[PacketSize];
    for (int i = 0; i < PacketSize; ++i) values[i] = coeff(index + i);
    return internal::pload<PacketReturnType>(values);
  }

  /// The result in `slot` of the window of the row that begins at `begin`.
  Scalar rotated(Index begin, Index slot, Index table) const {
    using C = rope::detail::ComputeScalar<XScalar, TableScalar>;
    const rope::detail::RowPlan& plan = parameters_.plan;
    const rope::PairKind kind = plan.kind;
    const bool forward = plan.direction == rope::Direction::forward;
    const rope::PairKind written = forward && plan.permutes() ? rope::PairKind::half : kind;
    const rope::SlotOwner owner = rope::slot_owner(written, slot, plan.rotary_dims);
    const rope::PairSlots slots = rope::pair_slots(kind, owner.pair, plan.rotary_dims);
    const Index window = begin + plan.offset;
    const Index table_a = table + (plan.full_width ? slots.A : owner.pair);
    const Index table_b = table + (plan.full_width ? slots.B : owner.pair);
    const C a = static_cast<C>(x_.coeff(window + (forward ? slots.a : slots.A)));
    const C b = static_cast<C>(x_.coeff(window + (forward ? slots.b : slots.B)));
    const C cos_a = static_cast<C>(parameters_.table.cos[table_a]);
    const C cos_b = static_cast<C>(parameters_.table.cos[table_b]);
    const C sin_a = static_cast<C>(parameters_.table.sin[table_a]);
    const C sin_b = static_cast<C>(parameters_.table.sin[table_b]);
    C out_a, out_b;
    rope::detail::rotate_pair<C>(plan.direction, a, b, cos_a, cos_b, sin_a, sin_b, out_a, out_b);
    // Not a conditional expression: differentiable scalars may have expression types of their own.
    if (owner.second) return static_cast<Scalar>(out_b);
    return static_cast<Scalar>(out_a);
  }

  rope::detail::Strides dense_x_strides() const {
    return rope::detail::dense_strides(parameters_.plan.row_length, rope::detail::shape_of<Layout>(dimensions_).outer());
  }

  rope::detail::Strides outer_strides(const Dimensions& strides) const {
    rope::detail::Strides result{};
    for (int axis = 1; axis < NumDims; ++axis) {
      result[static_cast<std::size_t>(axis - 1)] = strides[Layout == static_cast<int>(ColMajor) ? axis : NumDims - 1 - axis];
    }
    return result;
  }

  TableBlock table_of_block(Index offset, const rope::Shape& block_outer) const {
    const rope::Shape x_outer = rope::detail::shape_of<Layout>(dimensions_).outer();
    TableBlock block{0, rope::detail::table_strides(parameters_.table.width, parameters_.table.outer)};
    Index row = offset / parameters_.plan.row_length;
    for (int axis = 0; axis < block_outer.rank(); ++axis) {
      block.begin += row % x_outer[axis] * block.strides[static_cast<std::size_t>(axis)];
      row /= x_outer[axis];
    }
    return block;
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
  rope::detail::NodeParameters<TableScalar> parameters_;
  rope::detail::Walk walk_;
  std::optional<rope::detail::RowSearch> search_;
  const Device EIGEN_DEVICE_REF device_;
};

}  // namespace Eigen
