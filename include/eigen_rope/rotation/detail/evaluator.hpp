// SPDX-License-Identifier: Apache-2.0
//
// How Eigen evaluates a RotateOp. The row kernels do all of it, in one of three places:
//
//   direct      the node is the whole right-hand side and x has raw data: into the destination
//   block       Eigen evaluates the statement in blocks: whole rows into the block, from x itself
//   elements    whatever else surrounds the node (coefficients, packets, data(), blocks that cut a
//               row), and whatever stays in the caches: all of it once, in memory of the device,
//               before Eigen writes anything (nested.hpp)
//
// So every way gives the same bits, and x is read before the elements computed from it are written:
// a statement is right wherever it is right with the rotation left out (`x = x * 2` is, so
// `x = rotate(x, ...) * 2` is; `x = x.shuffle(...)` is not). Copies of an evaluator share its
// state.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/rotation/detail/dense_rows.hpp"
#include "eigen_rope/rotation/detail/nested.hpp"
#include "eigen_rope/rotation/detail/node.hpp"
#include "eigen_rope/rows/detail/overlap.hpp"

// Of the one branch in Eigen's loops that is taken once. A compiler that thinks it likelier, or
// that what it calls may write memory, keeps the loop's sums in memory for its sake.
#define EIGEN_ROPE_NEVER(condition) __builtin_expect_with_probability(condition, 0, 1.0)
#define EIGEN_ROPE_COLD_AND_PURE __attribute__((cold, noinline, pure))

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

template <class X>
inline constexpr bool is_rotation = false;
template <class X, class TableScalar>
inline constexpr bool is_rotation<RotateOp<X, TableScalar>> = true;

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail

namespace Eigen {
namespace internal {

// A destination of another scalar is refused in one sentence, by evalSubExprsIfNeeded: neither
// packets nor blocks may be tried before.
template <class Device, class Y, class X, class TableScalar>
struct IsVectorizable<Device, const TensorAssignOp<Y, const eigen_rope::RotateOp<X, TableScalar>>> {
  using Evaluator =
      TensorEvaluator<const TensorAssignOp<Y, const eigen_rope::RotateOp<X, TableScalar>>, Device>;
  static constexpr bool fits =
      std::is_same_v<typename Y::Scalar, typename eigen_rope::RotateOp<X, TableScalar>::Scalar>;
  static constexpr bool value = fits && bool(Evaluator::PacketAccess);
};
template <class Device, class Y, class X, class TableScalar>
struct IsTileable<Device, const TensorAssignOp<Y, const eigen_rope::RotateOp<X, TableScalar>>> {
  using Evaluator =
      TensorEvaluator<const TensorAssignOp<Y, const eigen_rope::RotateOp<X, TableScalar>>, Device>;
  static constexpr bool fits =
      IsVectorizable<Device,
                     const TensorAssignOp<Y, const eigen_rope::RotateOp<X, TableScalar>>>::fits;
  static constexpr bool blocks =
      fits && bool(Evaluator::BlockAccess) && bool(Evaluator::PreferBlockAccess);
  static constexpr TiledEvaluation value = blocks ? TiledEvaluation::On : TiledEvaluation::Off;
};

}  // namespace internal

template <class X, class TableScalar, class Device>
struct TensorEvaluator<const eigen_rope::RotateOp<X, TableScalar>, Device> {
  using XprType = eigen_rope::RotateOp<X, TableScalar>;
  using DeviceType = Device;
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
  static constexpr bool BlockAccess =
      eigen_rope::detail::is_plain<XScalar> && eigen_rope::detail::is_plain<TableScalar>;
  static constexpr bool PreferBlockAccess = BlockAccess;
  static constexpr bool CoordAccess = false;
  static constexpr bool RawAccess = true;

  using TensorBlockDesc = internal::TensorBlockDescriptor<NumDims, Index>;
  using TensorBlockScratch = internal::TensorBlockScratchAllocator<Device>;
  using ArgTensorBlock = typename Argument::TensorBlock;
  using TensorBlock =
      std::conditional_t<BlockAccess,
                         internal::TensorMaterializedBlock<Scalar, NumDims, Layout, Index>,
                         internal::TensorBlockNotImplemented>;

  TensorEvaluator(const XprType& op, const Device& device)
      : x_(op.expression(), device), parameters_(op.parameters()), device_(device) {
    for (eigen_rope::detail::AxisNumber i{0}; i.value < NumDims; ++i.value)
      dimensions_[i] = x_.dimensions()[i];
  }

  const Dimensions& dimensions() const { return dimensions_; }

  EIGEN_ALWAYS_INLINE bool evalSubExprsIfNeeded(EvaluatorPointerType destination) {
    if (destination != nullptr) refuse_overlap(destination);
    x_.evalSubExprsIfNeeded(nullptr);
    if (destination == nullptr || raw_x() == nullptr) {
      prepare(destination, Waiting::allowed);
      return true;
    }
    rotate_all(parameters_, dimensions_, raw_x(), destination, device_);
    return false;
  }

  template <class Other, std::enable_if_t<!std::is_same_v<Other, Scalar>, int> = 0>
  bool evalSubExprsIfNeeded(Other*) {
    static_assert(std::is_same_v<Other, Scalar>,
                  "[rope] the destination must have the rotation's scalar: cast the rotation, as "
                  "in y = eigen_rope::rotate(x, ...).cast<double>()");
    return false;
  }

#ifdef EIGEN_USE_THREADS
  template <class Done>
  void evalSubExprsIfNeededAsync(EvaluatorPointerType destination, Done done) {
    if (destination != nullptr) refuse_overlap(destination);
    x_.evalSubExprsIfNeededAsync(nullptr, [this, destination, done](bool) {
      if (destination == nullptr || raw_x() == nullptr) {
        prepare(destination, Waiting::not_allowed);
        return done(true);
      }
      const auto rotation = eigen_rope::detail::make_dense_rotation<Layout>(
          parameters_, dimensions_, raw_x(), destination);
      device_.parallelForAsync(
          rotation.block.rows.rows, eigen_rope::detail::row_cost(bytes_of_row(parameters_)),
          [rotation](Index begin, Index end) { rotation.rows(begin, end); },
          [done] { done(false); });
    });
  }
#endif

  /// Throws eigen_rope::Error if the statement was not right.
  EIGEN_ALWAYS_INLINE void cleanup() {
    memory_.release();
    if (nested_ != nullptr) nested_->release();
    x_.cleanup();
    if (nested_ != nullptr) nested_->require_unchanged_argument();
  }

  EIGEN_ALWAYS_INLINE CoeffReturnType coeff(Index index) const { return elements()[index]; }

  template <int LoadMode>
  EIGEN_ALWAYS_INLINE PacketReturnType packet(Index index) const {
    return internal::ploadu<PacketReturnType>(elements() + index);
  }

  /// What Eigen reads from the elements. The rotation itself is done by then: threads are asked
  /// before they read coefficients.
  TensorOpCost costPerCoeff(bool vectorized) const {
    if constexpr (eigen_rope::detail::has_pool<Device>) {
      if (nested_ != nullptr && elements_ == nullptr) elements_ = nested_->elements();
    }
    return TensorOpCost(sizeof(Scalar), 0, 0, vectorized, PacketSize);
  }

  internal::TensorBlockResourceRequirements getResourceRequirements() const {
    if (nested_ != nullptr) return nested_->block_requirements();
    return eigen_rope::detail::blocks_of<Scalar>(
        parameters_.plan.row_length, static_cast<std::size_t>(device_.firstLevelCacheSize()));
  }

  TensorBlock block(TensorBlockDesc& descriptor, TensorBlockScratch& scratch,
                    bool root_of_expr_ast = false) const {
    static_assert(BlockAccess, "[rope] this scalar has no block access");
    // The destination is ours only as the whole right-hand side: a cast around us hands down one of
    // another scalar.
    if (!root_of_expr_ast) descriptor.DropDestinationBuffer();
    if (nested_ == nullptr || nested_->made() != nullptr ||
        !nested_->has_whole_rows(descriptor)) {  // a row's other elements are not in the block
      return TensorBlock::materialize(elements(), dimensions_, descriptor, scratch);
    }
    const auto storage =
        TensorBlock::prepareStorage(descriptor, scratch, /*allow_strided_storage=*/true);
    nested_->rotate_box(descriptor, storage.data(),
                        eigen_rope::detail::outer_axes_of<Layout>(storage.strides()), scratch);
    return storage.AsTensorMaterializedBlock();
  }

  EvaluatorPointerType data() const {
    return nested_ != nullptr || elements_ != nullptr ? const_cast<Scalar*>(elements()) : nullptr;
  }

 protected:
  /// The elements that were made before Eigen's loops, or nullptr.
  EvaluatorPointerType data_if_made() const { return const_cast<Scalar*>(elements_); }

 private:
  using Parameters = typename XprType::Parameters;

  using Nested = eigen_rope::detail::NestedRotation<TensorEvaluator>;
  using Memory = eigen_rope::detail::DeviceMemory<Scalar, Device>;

  /// Whether the calling thread may wait for tasks of the device. A task of its own may not.
  enum class Waiting { allowed, not_allowed };

  /// A rotation's own data would be the temporary that blocks of it do without.
  const XScalar* raw_x() const {
    if constexpr (eigen_rope::detail::is_rotation<std::remove_const_t<X>>) {
      return nullptr;
    } else {
      return x_.data();
    }
  }

  /// What a nested node holds: the elements, or what makes them.
  struct Held {
    Scalar* elements = nullptr;
    std::shared_ptr<Nested> nested;
  };

  /// x has been evaluated, and the node turns out to be nested. Here nothing may take the
  /// evaluator's address, and what it holds must come from one call: then Eigen's loops keep the
  /// elements' address in a register, and compilers know it before the loop.
  EIGEN_ALWAYS_INLINE void prepare(const Scalar* destination, Waiting waiting) {
    Held held = hold(x_, raw_x(), dimensions_, parameters_, &device_, destination, waiting);
    nested_ = std::move(held.nested);
    if (nested_ == nullptr) memory_.hold(device_, held.elements, dimensions_.TotalSize());
    elements_ = held.elements;
  }

  EIGEN_DONT_INLINE static Held hold(Argument x, const XScalar* raw_x, Dimensions dimensions,
                                     Parameters parameters, const Device* device,
                                     const Scalar* destination, Waiting waiting) {
    Held held;
    const bool at_once =
        Nested::wants_elements(parameters.place, dimensions.TotalSize(),
                               /*is_whole_right_hand_side=*/destination != nullptr);
    if (at_once && raw_x != nullptr && waiting == Waiting::allowed) {
      Memory memory;
      memory.allocate(*device, dimensions.TotalSize());
      rotate_all(parameters, dimensions, raw_x, memory.data(), *device);
      held.elements = memory.give();
      return held;
    }
    held.nested = std::make_shared<Nested>(std::move(x), raw_x, dimensions, parameters, *device);
    if (at_once) {
      held.elements = const_cast<Scalar*>(held.nested->elements());
    } else {
      held.nested->remember_beginning();
    }
    return held;
  }

  /// All elements, one after another. Eigen's loops ask for each of them anew.
  EIGEN_ALWAYS_INLINE const Scalar* elements() const {
    const Scalar* elements = eigen_rope::detail::published(elements_);
    if constexpr (eigen_rope::detail::has_pool<Device>) {
      // made() loads atomically, which would keep the whole loop from being vectorised.
      return EIGEN_ROPE_NEVER(elements == nullptr) ? elements_of(this) : elements;
    } else {
      if (!EIGEN_ROPE_NEVER(elements == nullptr)) return elements;
      const Scalar* late = nested_->made();
      return EIGEN_ROPE_NEVER(late == nullptr) ? make_elements(nested_.get()) : late;
    }
  }

  // Pure to their callers, to whom they return one address and nothing else. Without memory for the
  // elements the program ends.
  EIGEN_ROPE_COLD_AND_PURE static const Scalar* make_elements(Nested* nested) noexcept {
    return nested->late_elements();
  }
  EIGEN_ROPE_COLD_AND_PURE static const Scalar* elements_of(
      const TensorEvaluator* evaluator) noexcept {
    const Scalar* made = evaluator->nested_->made();
    const Scalar* elements = made != nullptr ? made : evaluator->nested_->elements();
    // Of an evaluator that threads share (blocks of a reversal are read by coefficients), the next
    // block then finds them.
    eigen_rope::detail::publish(evaluator->elements_, elements);
    return elements;
  }

  void refuse_overlap(const Scalar* destination) const {
    const Index size = dimensions_.TotalSize();
    eigen_rope::detail::refuse_partial_overlap(raw_x(), destination, size);
    eigen_rope::detail::refuse_table_overlap(parameters_.cos, parameters_.table_size, destination,
                                             size);
    eigen_rope::detail::refuse_table_overlap(parameters_.sin, parameters_.table_size, destination,
                                             size);
  }

  /// From the raw data of x to y, both dense.
  static void rotate_all(const Parameters& parameters, const Dimensions& dimensions,
                         const XScalar* x, Scalar* y, const Device& device) {
    const auto rotation =
        eigen_rope::detail::make_dense_rotation<Layout>(parameters, dimensions, x, y);
    eigen_rope::Device(device).for_range(
        rotation.block.rows.rows, bytes_of_row(parameters),
        [&rotation](Index begin, Index end) { rotation.rows(begin, end); });
  }

  static double bytes_of_row(const Parameters& parameters) {
    return eigen_rope::detail::bytes_of_row<XScalar, Scalar>(parameters.plan.row_length);
  }

  Argument x_;
  Dimensions dimensions_;
  // Copied, because some of Eigen's operations (argmax) and asynchronous evaluations outlive the
  // expression.
  Parameters parameters_;
  Memory memory_;                             // of the elements, made before Eigen's loops
  std::shared_ptr<Nested> nested_;            // of a nested node otherwise; shared by copies
  mutable const Scalar* elements_ = nullptr;  // where they are made
  const Device EIGEN_DEVICE_REF device_;
};

}  // namespace Eigen

#undef EIGEN_ROPE_NEVER
#undef EIGEN_ROPE_COLD_AND_PURE
