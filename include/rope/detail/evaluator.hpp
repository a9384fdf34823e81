// SPDX-License-Identifier: Apache-2.0
//
// How Eigen evaluates a RotateOp. The row kernels do all of it, in one of three places:
//
//   direct      the node is the whole right-hand side and x has raw data: into the destination
//   block       Eigen evaluates the statement in blocks: whole rows into the block, from x itself
//   temporary   whatever else surrounds the node (coefficients, packets, data(), blocks that cut a
//               row): all of it once, in memory of the device, before Eigen writes anything
//
// So every way gives the same bits, and x is read before the elements computed from it are written:
// a statement is right wherever it is right with the rotation left out (`x = x * 2` is, so
// `x = rotate(x, ...) * 2` is; `x = x.shuffle(...)` is not). Copies of an evaluator share its state.
#pragma once

#include <atomic>
#include <memory>
#include <type_traits>

#include "rope/detail/node.hpp"
#include "rope/detail/overlap.hpp"
#include "rope/detail/temporary.hpp"
#include "rope/device.hpp"

// Of the one branch in Eigen's loops that is taken once. A compiler that thinks it likelier, or that what it calls may write memory,
// keeps the loop's sums in memory for its sake.
#define ROPE_NEVER(condition) __builtin_expect_with_probability(condition, 0, 1.0)
#define ROPE_COLD_AND_PURE __attribute__((cold, noinline, pure))

namespace rope::detail {

template <class X>
inline constexpr bool is_rotation = false;
template <class X, class TableScalar>
inline constexpr bool is_rotation<RotateOp<X, TableScalar>> = true;

}  // namespace rope::detail

namespace Eigen {
namespace internal {

// A destination of another scalar is refused in one sentence, by evalSubExprsIfNeeded: neither packets nor blocks may be tried before.
template <class Device, class Y, class X, class TableScalar>
struct IsVectorizable<Device, const TensorAssignOp<Y, const rope::RotateOp<X, TableScalar>>> {
  using Evaluator = TensorEvaluator<const TensorAssignOp<Y, const rope::RotateOp<X, TableScalar>>, Device>;
  static constexpr bool fits = std::is_same_v<typename Y::Scalar, typename rope::RotateOp<X, TableScalar>::Scalar>;
  static constexpr bool value = fits && bool(Evaluator::PacketAccess);
};
template <class Device, class Y, class X, class TableScalar>
struct IsTileable<Device, const TensorAssignOp<Y, const rope::RotateOp<X, TableScalar>>> {
  using Evaluator = TensorEvaluator<const TensorAssignOp<Y, const rope::RotateOp<X, TableScalar>>, Device>;
  static constexpr bool fits = IsVectorizable<Device, const TensorAssignOp<Y, const rope::RotateOp<X, TableScalar>>>::fits;
  static constexpr bool blocks = fits && bool(Evaluator::BlockAccess) && bool(Evaluator::PreferBlockAccess);
  static constexpr TiledEvaluation value = blocks ? TiledEvaluation::On : TiledEvaluation::Off;
};

}  // namespace internal

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
  static constexpr bool PacketAccess = PacketSize > 1;
  // Blocks are raw memory, filled without constructors.
  static constexpr bool BlockAccess = rope::detail::is_plain<XScalar> && rope::detail::is_plain<TableScalar>;
  static constexpr bool PreferBlockAccess = BlockAccess;
  static constexpr bool CoordAccess = false;
  static constexpr bool RawAccess = true;

  using TensorBlockDesc = internal::TensorBlockDescriptor<NumDims, Index>;
  using TensorBlockScratch = internal::TensorBlockScratchAllocator<Device>;
  using ArgTensorBlock = typename Argument::TensorBlock;
  using TensorBlock = std::conditional_t<BlockAccess, internal::TensorMaterializedBlock<Scalar, NumDims, Layout, Index>,
                                         internal::TensorBlockNotImplemented>;

  TensorEvaluator(const XprType& op, const Device& device) : x_(op.expression(), device), parameters_(op.parameters()), device_(device) {
    for (rope::detail::AxisNumber i{0}; i.value < NumDims; ++i.value) dimensions_[i] = x_.dimensions()[i];
  }

  const Dimensions& dimensions() const { return dimensions_; }

  bool evalSubExprsIfNeeded(EvaluatorPointerType destination) {
    refuse_overlap(destination);
    x_.evalSubExprsIfNeeded(nullptr);
    if (destination == nullptr || raw_x() == nullptr) {
      prepare();
      return true;
    }
    const DirectRotation rotation = make_direct(destination);
    rope::Device(device_).for_range(rotation.walk.rows, bytes_per_row(),
                                    [&rotation](Index begin, Index end) { rotation.rows(begin, end); });
    return false;
  }

  template <class Other, std::enable_if_t<!std::is_same_v<Other, Scalar>, int> = 0>
  bool evalSubExprsIfNeeded(Other*) {
    static_assert(
        std::is_same_v<Other, Scalar>,
        "[rope] the destination must have the rotation's scalar: cast the rotation, as in y = rope::rotate(x, ...).cast<double>()");
    return false;
  }

#ifdef EIGEN_USE_THREADS
  template <class Done>
  void evalSubExprsIfNeededAsync(EvaluatorPointerType destination, Done done) {
    refuse_overlap(destination);
    x_.evalSubExprsIfNeededAsync(nullptr, [this, destination, done](bool) {
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

  void cleanup() {
    if (temporary_ != nullptr) temporary_->release();
    x_.cleanup();
  }

  EIGEN_ALWAYS_INLINE CoeffReturnType coeff(Index index) const { return whole()[index]; }

  template <int LoadMode>
  EIGEN_ALWAYS_INLINE PacketReturnType packet(Index index) const {
    return internal::ploadu<PacketReturnType>(whole() + index);
  }

  /// What Eigen reads from the temporary. The rotation itself is done by then.
  TensorOpCost costPerCoeff(bool vectorized) const { return TensorOpCost(sizeof(Scalar), 0, 0, vectorized, PacketSize); }

  // A block, its rows of x, and what the expression reads and writes beside them fill most of the first-level cache (docs/design.md).
  internal::TensorBlockResourceRequirements getResourceRequirements() const {
    const std::size_t row = static_cast<std::size_t>(row_length()) * sizeof(Scalar);
    const std::size_t size = numext::maxi(row, static_cast<std::size_t>(device_.firstLevelCacheSize()) / 6);
    constexpr auto shape = internal::TensorBlockShapeType::kSkewedInnerDims;
    const TensorOpCost cost(0, 0, 0.2);  // in the caches; what Eigen would add for memory is already counted for what surrounds the node
    const auto requirements = internal::TensorBlockResourceRequirements::withShapeAndSize<Scalar>(shape, size, cost);
    if constexpr (bool(Argument::BlockAccess)) {
      return internal::TensorBlockResourceRequirements::merge(requirements, x_.getResourceRequirements());
    } else {
      return requirements;
    }
  }

  TensorBlock block(TensorBlockDesc& descriptor, TensorBlockScratch& scratch, bool root_of_expr_ast = false) const {
    static_assert(BlockAccess, "[rope] this scalar has no block access");
    // The destination is ours only as the whole right-hand side: a cast around us hands down one of another scalar.
    if (!root_of_expr_ast) descriptor.DropDestinationBuffer();
    constexpr rope::detail::AxisNumber feature_axis{Layout == static_cast<int>(ColMajor) ? 0 : NumDims - 1};
    const bool cuts_rows = descriptor.dimensions()[feature_axis] != row_length();  // their other elements are not in the block
    if (cuts_rows || (temporary_ != nullptr && temporary_->is_made())) {
      return TensorBlock::materialize(whole(), dimensions_, descriptor, scratch);
    }
    const auto storage = TensorBlock::prepareStorage(descriptor, scratch, /*allow_strided_storage=*/true);
    rotate_box(descriptor, storage.data(), rope::detail::outer_axes_of<Layout>(storage.strides()), scratch);
    return storage.AsTensorMaterializedBlock();
  }

  EvaluatorPointerType data() const { return is_nested_ ? const_cast<Scalar*>(whole()) : nullptr; }

 private:
  using Parameters = typename XprType::Parameters;
  using OuterAxes = rope::detail::OuterAxes<NumDims>;

  using Temporary = rope::detail::Temporary<Scalar, Device>;

  /// A rotation's own data would be the temporary that blocks of it do without.
  const XScalar* raw_x() const {
    if constexpr (rope::detail::is_rotation<std::remove_const_t<X>>) {
      return nullptr;
    } else {
      return x_.data();
    }
  }

  /// x has been evaluated, and the node turns out to be nested. What threads share must be there before they are.
  void prepare() {
    is_nested_ = true;
    raw_x_ = raw_x();
    if constexpr (rope::detail::has_pool<Device>) temporary_ = std::make_shared<Temporary>(device_);
  }

  void refuse_overlap(const Scalar* destination) const {
    if (destination == nullptr) return;
    const Index size = dimensions_.TotalSize();
    rope::detail::refuse_partial_overlap(raw_x(), destination, size);
    rope::detail::refuse_table_overlap(parameters_.cos, parameters_.table_size, destination, size);
    rope::detail::refuse_table_overlap(parameters_.sin, parameters_.table_size, destination, size);
  }

  OuterAxes outer_extents() const { return rope::detail::outer_axes_of<Layout>(dimensions_); }
  OuterAxes dense_strides() const { return rope::detail::dense_strides<NumDims>(row_length(), outer_extents()); }
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
    const OuterAxes extents = outer_extents();
    const OuterAxes dense = dense_strides();
    DirectRotation rotation{parameters_.plan, raw_x(),
                            destination,      parameters_.cos,
                            parameters_.sin,  rope::detail::make_walk<NumDims>(extents, dense, dense, parameters_.table_strides)};
    const double bytes = static_cast<double>(rotation.walk.rows) * bytes_per_row();
    rotation.walk.stores = rope::detail::stores_for(rotation.x, rotation.y, bytes);
    return rotation;
  }

  /// All elements, one after another. Eigen's loops ask for each of them anew.
  EIGEN_ALWAYS_INLINE const Scalar* whole() const {
    constexpr auto order = rope::detail::has_pool<Device> ? std::memory_order_acquire : std::memory_order_relaxed;
    const Scalar* elements = whole_.elements.load(order);
    return ROPE_NEVER(elements == nullptr) ? whole_of(this) : elements;
  }

  /// Pure to its callers, to whom it returns one address and nothing else. Without memory for the result the program ends.
  ROPE_COLD_AND_PURE static const Scalar* whole_of(const TensorEvaluator* evaluator) noexcept(BlockAccess) {
    return evaluator->keep_whole();
  }

  EIGEN_DONT_INLINE const Scalar* keep_whole() const {
    const Scalar* elements = make_whole();
    whole_.elements.store(elements, std::memory_order_release);
    return elements;
  }

  const Scalar* make_whole() const {
    if (temporary_ == nullptr) temporary_ = std::make_shared<Temporary>(device_);
    const Index size = dimensions_.TotalSize();
    if constexpr (BlockAccess && bool(Argument::BlockAccess)) {
      if (raw_x_ == nullptr) {
        using Mapper = internal::TensorBlockMapper<NumDims, Layout, Index>;
        const Mapper boxes(dimensions_, getResourceRequirements());
        const OuterAxes strides = dense_strides();
        return temporary_->make(size, size == 0 ? 0 : boxes.blockCount(), [this, &boxes, &strides](Scalar* y, Index part) {
          TensorBlockScratch scratch(device_);
          const TensorBlockDesc box = boxes.blockDescriptor(part);
          rotate_box(box, y + box.offset(), strides, scratch);
        });
      }
    }
    constexpr Index bytes_of_part = 1 << 20;  // enough to pay for waking a thread
    const OuterAxes strides = dense_strides();
    rope::detail::Walk walk = rope::detail::make_walk<NumDims>(outer_extents(), strides, strides, parameters_.table_strides);
    const Index rows = walk.rows;
    const Index rows_of_part = bytes_of_part / (static_cast<Index>(bytes_per_row()) + 1) + 1;
    if (raw_x_ != nullptr) {  // otherwise it is rotated in place
      walk.stores = rope::detail::stores_for(raw_x_, static_cast<const Scalar*>(nullptr), static_cast<double>(rows) * bytes_per_row());
    }
    return temporary_->make(size, (rows + rows_of_part - 1) / rows_of_part, [this, &walk, rows, rows_of_part](Scalar* y, Index part) {
      rotate_rows(walk, y, part * rows_of_part, numext::mini(rows, (part + 1) * rows_of_part));
    });
  }

  /// Rows begin..end-1 of the whole result.
  void rotate_rows(const rope::detail::Walk& walk, Scalar* y, Index begin, Index end) const {
    if (raw_x_ != nullptr) {
      rope::detail::rotate_walk(parameters_.plan, walk, raw_x_, y, parameters_.cos, parameters_.sin, begin, end);
    } else {
      const Index length = row_length();
      evaluate_argument(begin * length, (end - begin) * length, y + begin * length);
      rope::detail::rotate_walk(parameters_.plan, walk, static_cast<const Scalar*>(y), y, parameters_.cos, parameters_.sin, begin, end);
    }
  }

  /// The rows of a box that cuts none.
  void rotate_box(const TensorBlockDesc& box, Scalar* y, const OuterAxes& y_strides, TensorBlockScratch& scratch) const {
    const OuterAxes extents = rope::detail::outer_axes_of<Layout>(box.dimensions());
    OuterAxes x_strides = dense_strides();
    const XScalar* x = raw_x_;
    if (x != nullptr) {
      x += box.offset();
    } else if constexpr (bool(Argument::BlockAccess)) {
      x = rows_of_argument(box, scratch);
      x_strides = rope::detail::dense_strides<NumDims>(row_length(), extents);
    } else {
      rows_of_argument_by_coefficients(box, y, y_strides);
      x = y;
      x_strides = y_strides;
    }
    // The table keeps its own extents; only where the box begins in it, and how far it runs, differ.
    const Index table = place_in_table(box.offset() / row_length());
    const rope::detail::Walk walk = rope::detail::make_walk<NumDims>(extents, x_strides, y_strides, parameters_.table_strides);
    rope::detail::rotate_walk(parameters_.plan, walk, x, y, parameters_.cos + table, parameters_.sin + table, 0, walk.rows);
  }

  /// Where the table row of the row with linear index `row` begins.
  Index place_in_table(Index row) const {
    const OuterAxes extents = outer_extents();
    Index place = 0;
    for (std::size_t axis = 0; axis + 1 < static_cast<std::size_t>(NumDims); ++axis) {
      const Index next = row / extents[axis];
      place += (row - next * extents[axis]) * parameters_.table_strides[axis];
      row = next;
    }
    return place;
  }

  /// The argument's rows under the box, dense, in scratch or wherever the argument already has them.
  const XScalar* rows_of_argument(const TensorBlockDesc& box, TensorBlockScratch& scratch) const {
    TensorBlockDesc of_argument(box.offset(), box.dimensions());
    ArgTensorBlock argument = x_.block(of_argument, scratch);
    const XScalar* rows = argument.data();
    if (rows == nullptr) {
      auto* memory = static_cast<XScalar*>(scratch.allocate(static_cast<std::size_t>(box.size()) * sizeof(XScalar)));
      using Assignment = internal::TensorBlockAssignment<XScalar, NumDims, typename ArgTensorBlock::XprType, Index>;
      Assignment::Run(Assignment::target(box.dimensions(), internal::strides<Layout>(box.dimensions()), memory), argument.expr());
      rows = memory;
    }
    argument.cleanup();
    return rows;
  }

  /// The same to y, for an argument that has no blocks.
  void rows_of_argument_by_coefficients(const TensorBlockDesc& box, Scalar* y, const OuterAxes& y_strides) const {
    const OuterAxes extents = rope::detail::outer_axes_of<Layout>(box.dimensions());
    const rope::detail::Walk walk = rope::detail::make_walk<NumDims>(extents, dense_strides(), y_strides, OuterAxes{});
    for (Index row = 0; row < walk.rows; ++row) {
      const rope::detail::RowPlace place = rope::detail::place_of_row(walk, row);
      evaluate_argument(box.offset() + place.x, row_length(), y + place.y);
    }
  }

  /// `count` elements of x from linear `index` on.
  void evaluate_argument(Index index, Index count, Scalar* y) const {
    Index i = 0;
    if constexpr (bool(Argument::PacketAccess) && std::is_same_v<XScalar, Scalar> && PacketSize > 1) {
      for (; i + PacketSize <= count; i += PacketSize) internal::pstoreu(y + i, x_.template packet<Unaligned>(index + i));
    }
    for (; i < count; ++i) y[i] = rope::detail::converted<Scalar>(x_.coeff(index + i));
  }

  Argument x_;
  Dimensions dimensions_;
  Parameters parameters_;  // copied: some of Eigen's operations (argmax) and asynchronous evaluations outlive the expression
  bool is_nested_ = false;
  const XScalar* raw_x_ = nullptr;  // where the node is nested
  mutable std::shared_ptr<Temporary> temporary_;
  /// Where all elements are, once this evaluator has asked for them.
  struct Whole {
    std::atomic<const Scalar*> elements{nullptr};
    Whole() = default;
    Whole(const Whole& other) : elements(other.elements.load(std::memory_order_acquire)) {}
  };
  mutable Whole whole_;
  const Device EIGEN_DEVICE_REF device_;
};

}  // namespace Eigen

#undef ROPE_NEVER
#undef ROPE_COLD_AND_PURE
