// SPDX-License-Identifier: Apache-2.0
//
// A rotation inside another expression: what the copies of its evaluator share, unless all elements
// are made at once from x's raw data (evaluator.hpp).
//
//   elements    the whole result, one element after another, in memory of the device
//   block       whole rows of it, computed from x into a block of Eigen's
//
// The elements are made before Eigen's loops begin where they stay in the caches, and otherwise by
// whoever reads the first of them, so that a statement which Eigen evaluates in blocks needs no
// memory for them. Rows come from x itself where x has raw data, otherwise through Eigen's blocks
// or packets of x. x has been evaluated (evalSubExprsIfNeeded) and outlives all of this.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "eigen_rope/machine/streaming.hpp"
#include "eigen_rope/rotation/detail/dense_rows.hpp"
#include "eigen_rope/rotation/detail/node.hpp"
#include "eigen_rope/rotation/detail/temporary.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// Blocks of whole rows and about so many bytes.
template <class Scalar>
Eigen::internal::TensorBlockResourceRequirements blocks_of(Index row_length, std::size_t bytes) {
  const std::size_t row = static_cast<std::size_t>(row_length) * sizeof(Scalar);
  // Eigen adds for memory what surrounds the node.
  return Eigen::internal::TensorBlockResourceRequirements::withShapeAndSize<Scalar>(
      Eigen::internal::TensorBlockShapeType::kSkewedInnerDims, (std::max)(row, bytes),
      Eigen::TensorOpCost(0, 0, 0.2));
}

template <class Evaluator>
class NestedRotation
    : public Temporary<typename Evaluator::Scalar, typename Evaluator::DeviceType> {
 public:
  using Scalar = typename Evaluator::Scalar;
  using XScalar = typename Evaluator::XScalar;
  using Device = typename Evaluator::DeviceType;
  using Argument = typename Evaluator::Argument;
  using Dimensions = typename Evaluator::Dimensions;
  using Parameters = typename Evaluator::XprType::Parameters;
  using BlockDescriptor = typename Evaluator::TensorBlockDesc;
  using BlockScratch = typename Evaluator::TensorBlockScratch;
  static constexpr int rank = Evaluator::NumDims;
  static constexpr int layout = Evaluator::Layout;

  /// `raw_x` is nullptr where x has to be evaluated piece by piece.
  NestedRotation(Argument x, const XScalar* raw_x, const Dimensions& dimensions,
                 const Parameters& parameters, const Device& device)
      : Base(device),
        x_(std::move(x)),
        raw_x_(raw_x),
        dimensions_(dimensions),
        parameters_(parameters) {}

  /// Whether the elements are to be made at once. Where they stay in the caches, reading them there
  /// costs no more than asking for each coefficient whether they are made; beyond, blocks save the
  /// memory. The result alone stays there up to 1.5 times the size from which x and y together are
  /// stored past them. Blocks are raw memory: only scalars without constructors have any. Eigen's
  /// blocks cut rows that do not lie along the fastest axis.
  static bool wants_elements(int place, Index size, bool is_whole_right_hand_side) {
    const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(Scalar);
    return !Evaluator::BlockAccess || place != 0 ||
           !(is_whole_right_hand_side || streams(bytes - bytes / 3));
  }

  /// Before Eigen's loops begin, where elements may be made later.
  void remember_beginning() {
    if constexpr (Evaluator::BlockAccess) {
      if (raw_x_ != nullptr) std::copy_n(raw_x_, beginning(), beginning_of_x_.begin());
    }
  }

  /// For elements that are made when Eigen has begun to write. A select or a concatenation may have
  /// written to x before it asks for them; what is done then is not right, and
  /// require_unchanged_argument() says so when the statement ends: Eigen's loops must not see a
  /// throw.
  const Scalar* late_elements() {
    if constexpr (Evaluator::BlockAccess) {
      const std::size_t bytes = static_cast<std::size_t>(beginning()) * sizeof(XScalar);
      argument_changed_ =
          raw_x_ != nullptr && std::memcmp(raw_x_, beginning_of_x_.data(), bytes) != 0;
    }
    return elements();
  }

  /// Throws eigen_rope::Error if the first elements of x were no longer those of the statement's
  /// beginning when they were needed.
  void require_unchanged_argument() const {
    if (!argument_changed_) return;
    fail(
        "a rotation inside a select or a concatenation must not be assigned to its own x where x "
        "outgrows the caches: put .eval() behind "
        "it");
  }

  /// All elements, made by the first who asks.
  const Scalar* elements() {
    const Index size = dimensions_.TotalSize();
    if constexpr (Evaluator::BlockAccess && bool(Argument::BlockAccess)) {
      if (raw_x_ == nullptr && features_are_fastest()) {
        using Mapper = Eigen::internal::TensorBlockMapper<rank, layout, Index>;
        const Mapper boxes(dimensions_, block_requirements());
        const OuterAxes<rank> strides = dense();
        return this->make(size, size == 0 ? 0 : boxes.blockCount(),
                          [this, &boxes, &strides](Scalar* y, Index part) {
                            BlockScratch scratch(this->device());
                            const BlockDescriptor box = boxes.blockDescriptor(part);
                            rotate_box(box, y + box.offset(), strides, scratch);
                          });
      }
    }
    constexpr Index bytes_of_part = 1 << 20;  // enough to pay for waking a thread
    const Index rows = size == 0 ? 0 : size / row_length();
    const Index rows_of_part =
        bytes_of_part / (row_length() * static_cast<Index>(sizeof(XScalar) + sizeof(Scalar)) + 1) +
        1;
    return this->make(size, (rows + rows_of_part - 1) / rows_of_part,
                      [this, rows, rows_of_part](Scalar* y, Index part) {
                        rotate_rows_of(y, part * rows_of_part,
                                       (std::min)(rows, (part + 1) * rows_of_part));
                      });
  }

  /// A block, its rows of x, and what the expression reads and writes beside them fill most of the
  /// first-level cache (docs/design.md).
  Eigen::internal::TensorBlockResourceRequirements block_requirements() const {
    const auto cache = static_cast<std::size_t>(this->device().firstLevelCacheSize());
    const auto requirements =
        blocks_of<Scalar>(row_length(), this->made() != nullptr ? cache : cache / 6);
    if constexpr (bool(Argument::BlockAccess)) {
      return Eigen::internal::TensorBlockResourceRequirements::merge(requirements,
                                                                     x_.getResourceRequirements());
    } else {
      return requirements;
    }
  }

  bool has_whole_rows(const BlockDescriptor& box) const {
    constexpr AxisNumber feature_axis{layout == static_cast<int>(Eigen::ColMajor) ? 0 : rank - 1};
    return box.dimensions()[feature_axis] == row_length();
  }

  /// The rows of a box that cuts none.
  void rotate_box(const BlockDescriptor& box, Scalar* y, const OuterAxes<rank>& y_strides,
                  BlockScratch& scratch) const {
    const OuterAxes<rank> extents = outer_axes_of<layout>(box.dimensions());
    OuterAxes<rank> x_strides = dense();
    const XScalar* x = raw_x_;
    if (x != nullptr) {
      x += box.offset();
    } else if constexpr (bool(Argument::BlockAccess)) {
      x = rows_of_argument(box, scratch);
      x_strides = dense_strides<rank>(row_length(), extents);
    } else {
      rows_of_argument_by_coefficients(box, y, y_strides);
      x = y;
      x_strides = y_strides;
    }
    // The table keeps its own extents; only where the box begins in it, and how far it runs,
    // differ.
    const Index table = place_in_table(box.offset() / row_length());
    const Walk walk = make_walk<rank>(extents, x_strides, y_strides, parameters_.table_strides);
    rotate_walk(parameters_.plan, walk, x, y, parameters_.cos + table, parameters_.sin + table, 0,
                walk.rows);
  }

 private:
  using Base = Temporary<Scalar, Device>;

  bool features_are_fastest() const { return parameters_.place == 0; }

  OuterAxes<rank> outer_extents() const { return outer_axes_of<layout>(dimensions_); }
  OuterAxes<rank> dense() const { return dense_strides<rank>(row_length(), outer_extents()); }
  Index row_length() const { return parameters_.plan.row_length; }

  /// Rows begin..end-1 of the whole result.
  void rotate_rows_of(Scalar* y, Index begin, Index end) const {
    if (raw_x_ != nullptr) {
      make_dense_rotation<layout>(parameters_, dimensions_, raw_x_, y).rows(begin, end);
    } else {
      const auto rotation =
          make_dense_rotation<layout>(parameters_, dimensions_, static_cast<const Scalar*>(y), y);
      evaluate_rows(rotation, begin, end);
      rotation.rows(begin, end);
    }
  }

  /// Evaluates rows begin..end-1 of the argument into y.
  template <class Rotation>
  void evaluate_rows(const Rotation& rotation, Index begin, Index end) const {
    const Index length = row_length();
    Scalar* y = rotation.block.y;
    if (features_are_fastest())
      return evaluate_argument(begin * length, (end - begin) * length, y + begin * length);
    while (begin < end) {
      const RowPlace at = place_of_row(rotation.block.rows, begin);
      const Index lanes = (std::min)(end - begin, even_rows(rotation.block.rows, begin));
      const bool next_to_each_other = first_level(rotation.block.rows).y == 1;
      for (Index d = 0; d < length; ++d) {
        const Index from = at.y + d * rotation.block.features.y;
        const Index together = next_to_each_other ? lanes : 1;
        for (Index lane = 0; lane < lanes; lane += together) {
          const Index index = from + lane * first_level(rotation.block.rows).y;
          evaluate_argument(index, together, y + index);
        }
      }
      begin += lanes;
    }
  }

  /// Where the table row of the row with linear index `row` begins.
  Index place_in_table(Index row) const {
    const OuterAxes<rank> extents = outer_extents();
    Index place = 0;
    for (std::size_t axis = 0; axis + 1 < static_cast<std::size_t>(rank); ++axis) {
      const Index next = row / extents[axis];
      place += (row - next * extents[axis]) * parameters_.table_strides[axis];
      row = next;
    }
    return place;
  }

  /// The argument's rows under the box, dense, in scratch or wherever the argument already has
  /// them.
  const XScalar* rows_of_argument(const BlockDescriptor& box, BlockScratch& scratch) const {
    using Block = typename Argument::TensorBlock;
    BlockDescriptor of_argument(box.offset(), box.dimensions());
    Block argument = x_.block(of_argument, scratch);
    const XScalar* rows = argument.data();
    if (rows == nullptr) {
      auto* memory = static_cast<XScalar*>(
          scratch.allocate(static_cast<std::size_t>(box.size()) * sizeof(XScalar)));
      using Assignment =
          Eigen::internal::TensorBlockAssignment<XScalar, rank, typename Block::XprType, Index>;
      const auto strides = Eigen::internal::strides<layout>(box.dimensions());
      Assignment::Run(Assignment::target(box.dimensions(), strides, memory), argument.expr());
      rows = memory;
    }
    argument.cleanup();
    return rows;
  }

  /// The same to y, for an argument that has no blocks.
  void rows_of_argument_by_coefficients(const BlockDescriptor& box, Scalar* y,
                                        const OuterAxes<rank>& y_strides) const {
    const OuterAxes<rank> extents = outer_axes_of<layout>(box.dimensions());
    const Walk walk = make_walk<rank>(extents, dense(), y_strides, OuterAxes<rank>{});
    for (Index row = 0; row < walk.rows; ++row) {
      const RowPlace place = place_of_row(walk, row);
      evaluate_argument(box.offset() + place.x, row_length(), y + place.y);
    }
  }

  /// `count` elements of x from linear `index` on.
  void evaluate_argument(Index index, Index count, Scalar* y) const {
    constexpr int packet = Evaluator::PacketSize;
    Index i = 0;
    if constexpr (bool(Argument::PacketAccess) && std::is_same_v<XScalar, Scalar> && packet > 1) {
      for (; i + packet <= count; i += packet)
        Eigen::internal::pstoreu(y + i, x_.template packet<Eigen::Unaligned>(index + i));
    }
    for (; i < count; ++i) y[i] = converted<Scalar>(x_.coeff(index + i));
  }

  Index beginning() const {
    return (std::min)(dimensions_.TotalSize(), static_cast<Index>(beginning_of_x_.size()));
  }

  Argument x_;
  const XScalar* raw_x_;
  std::array<XScalar, Evaluator::BlockAccess ? 64 : 0> beginning_of_x_;
  bool argument_changed_ = false;
  Dimensions dimensions_;
  Parameters parameters_;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
