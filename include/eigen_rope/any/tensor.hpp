// SPDX-License-Identifier: Apache-2.0
//
// Tensors and tables whose scalar, rank and strides are known only when the program runs: what a
// file, another library or another language hands over.
//
//   eigen_rope::any::Tensor q;
//   q.type = eigen_rope::ScalarType::bf16;
//   q.data = pointer;
//   q.shape = {batch, tokens, heads, D};    slowest axis first, as PyTorch and NumPy list them
//
// They own no memory, allocate nothing, and say no more than where elements lie. What they are
// checked for, and when, is up to the functions of any.hpp. tensor() makes one of the arrays of
// extents and strides that others keep.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "eigen_rope/any/scalar_type.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"
#include "eigen_rope/numbers/strides.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::any {

/// In which order a tensor's extents and strides are listed.
enum class Order {
  slowest_first,  ///< The order of NumPy, PyTorch, ONNX and RowMajor: [batch, tokens, heads, D].
  fastest_first   ///< The order of Fortran, ggml, Julia and ColMajor: [D, heads, tokens, batch].
};

/// A view of a tensor that is read; it does not own its memory.
///
///     element (i_0, i_1, ...) = data[i_0 * strides[0] + i_1 * strides[1] + ...]
///
/// \code{.cpp}
/// er::any::ConstTensor x{er::ScalarType::f32, q.data(), {batch, tokens, heads, D}};
/// x.strides = {tokens * heads * D, heads * D, D, 1};  // what none would mean, too
/// \endcode
///
/// The feature axis is the last of a slowest-first list and the first of a fastest-first one,
/// unless Pairing::along() names another, which counts in the order of the list.
///
/// \see Tensor, rotate_to()
struct ConstTensor {
  ScalarType type = ScalarType::f32;  ///< The scalar of the elements.
  const void* data = nullptr;         ///< The address of element (0, 0, ...).
  Shape shape{};                      ///< The extents, 1 to max_rank of them, in `order`.
  /// The distance of neighbours along each axis, in elements and in `order`; of any sign. None
  /// means that elements lie one behind the other. 0 repeats what is read along an axis, which no
  /// output and no feature axis may do.
  Strides strides{};
  Order order = Order::slowest_first;  ///< How `shape` and `strides` are listed.
};

/// A view of a tensor that is written; it does not own its memory.
///
/// \code{.cpp}
/// std::vector<float> z(batch * tokens * heads * D);
/// const er::any::Tensor y{er::ScalarType::f32, z.data(), {batch, tokens, heads, D}};
/// \endcode
///
/// \see ConstTensor, rotate_to()
struct Tensor {
  ScalarType type = ScalarType::f32;   ///< The scalar of the elements.
  void* data = nullptr;                ///< The address of element (0, 0, ...).
  Shape shape{};                       ///< The extents, 1 to max_rank of them, in `order`.
  Strides strides{};                   ///< The distances of neighbours, as in ConstTensor.
  Order order = Order::slowest_first;  ///< How `shape` and `strides` are listed.

  /// Returns a view of the same tensor for reading.
  // NOLINTNEXTLINE(google-explicit-constructor): reading what may be written
  operator ConstTensor() const { return {type, data, shape, strides, order}; }
};

/// A view of the cosines and sines that a rotation reads; it does not own their memory.
///
/// cos and sin have the same type, shape and strides. One axis holds the entries of a row, one for
/// each pair or one for each rotated element. The others are those of x without its feature axis,
/// in the same order, and each has x's extent, or 1, or a stride of 0, which all broadcast. Missing
/// slowest axes count as 1.
///
/// \code{.cpp}
/// std::vector<float> cosines(tokens * D / 2, 1.0f), sines(tokens * D / 2, 0.0f);
/// er::any::Table table{er::ScalarType::f32, cosines.data(), sines.data()};
/// table.shape = {tokens, 1, D / 2};  // for x of [batch, tokens, heads, D]
/// \endcode
///
/// \see table_of(), TableView
struct Table {
  ScalarType type = ScalarType::f32;   ///< x's, or f32 for an x of 16 bits.
  const void* cos = nullptr;           ///< The cosines of the angles times the attention factor m.
  const void* sin = nullptr;           ///< The sines of the angles times m.
  Shape shape{};                       ///< The extents, in `order`.
  Strides strides{};                   ///< The distances of neighbours, in `order`; none if dense.
  Order order = Order::slowest_first;  ///< How `shape` and `strides` are listed.
  /// The axis of `shape` with the entries of a row; without it the fastest one.
  std::optional<int> feature_axis{};
  /// What is known of the determinants, as in TableView.
  detail::Determinants determinants = detail::Determinants::unknown;
};

/// The caller's memory for cosines and sines, or for gradients with respect to them.
///
/// fill_table() and table_gradient() write it. No two entries may share memory.
///
/// \code{.cpp}
/// std::vector<float> cosines(tokens * D / 2), sines(tokens * D / 2);
/// const er::any::TableMemory memory{
///     er::ScalarType::f32, cosines.data(), sines.data(), {tokens, 1, D / 2}};
/// er::any::fill_table(memory, frequencies, positions, er::Layout::tnd());
/// \endcode
struct TableMemory {
  ScalarType type = ScalarType::f32;   ///< The scalar of the entries.
  void* cos = nullptr;                 ///< Where the cosines, or dL/dcos, are written.
  void* sin = nullptr;                 ///< Where the sines, or dL/dsin, are written.
  Shape shape{};                       ///< The extents, in `order`.
  Strides strides{};                   ///< The distances of neighbours, in `order`; none if dense.
  Order order = Order::slowest_first;  ///< How `shape` and `strides` are listed.
  std::optional<int> feature_axis{};   ///< The axis with the entries of a row, as in Table.

  /// Returns a view of the same memory for reading.
  // NOLINTNEXTLINE(google-explicit-constructor): reading what may be written
  operator Table() const { return {type, cos, sin, shape, strides, order, feature_axis}; }
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::any

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// - Errors:   eigen_rope::Error for a rank that is negative or above max_rank, for axes without
///             extents, and for a negative extent.
EIGEN_ROPE_API void require_extents(int rank, const void* extents);

template <class View, class Data, class Integer>
View tensor_of(ScalarType type, Data* data, int rank, const Integer* extents,
               const Integer* strides) {
  static_assert(std::is_integral_v<Integer>, "[rope] extents and strides must be whole numbers");
  require_extents(rank, extents);
  View view{type, data};
  for (int axis = 0; axis < rank; ++axis) {
    view.shape.push_back(static_cast<Index>(extents[axis]));
    if (strides != nullptr) view.strides.push_back(static_cast<Index>(strides[axis]));
  }
  return view;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail

namespace eigen_rope::EIGEN_ROPE_ABI::any {

/// Returns a view of a tensor whose extents and strides are in arrays, slowest axis first, as
/// DLPack, PyTorch, JAX, TensorFlow and ONNX Runtime hand them over.
///
/// \code{.cpp}
/// const std::vector<std::int64_t> sizes{batch, tokens, heads, D};
/// const er::any::Tensor y = er::any::tensor(
///     er::ScalarType::f32, q.data(), static_cast<int>(sizes.size()), sizes.data());
/// \endcode
///
/// \param type     the scalar of the elements
/// \param data     the address of element (0, 0, ...); the view is a ConstTensor where it is const
/// \param rank     how many axes there are
/// \param extents  one for each axis, copied
/// \param strides  one for each axis, in elements, copied; a null pointer if elements lie one
/// behind
///                 the other
///
/// - Errors:   eigen_rope::Error for a rank that is negative or above max_rank, for axes without
///             extents, for a negative extent, and if the number of elements does not fit Index.
template <class Integer>
Tensor tensor(ScalarType type, void* data, int rank, const Integer* extents,
              const Integer* strides = nullptr) {
  return eigen_rope::detail::tensor_of<Tensor>(type, data, rank, extents, strides);
}
/// Returns a view for reading likewise.
template <class Integer>
ConstTensor tensor(ScalarType type, const void* data, int rank, const Integer* extents,
                   const Integer* strides = nullptr) {
  return eigen_rope::detail::tensor_of<ConstTensor>(type, data, rank, extents, strides);
}

/// Returns a table of two tensors, the cosines and the sines, without copying them.
///
/// \code{.cpp}
/// std::vector<float> cosines(tokens * D / 2, 1.0f), sines(tokens * D / 2, 0.0f);
/// const er::any::ConstTensor cos{er::ScalarType::f32, cosines.data(), {tokens, 1, D / 2}};
/// const er::any::ConstTensor sin{er::ScalarType::f32, sines.data(), {tokens, 1, D / 2}};
/// const er::any::Table table = er::any::table_of(cos, sin);
/// \endcode
///
/// \param cos  the cosines of the angles times m; the entries of a row are on the fastest axis
/// \param sin  the sines times m, of the type, the shape, the strides and the order of cos
///
/// - Errors:   eigen_rope::Error if one of those differs.
///
/// \see fill_table()
EIGEN_ROPE_API Table table_of(const ConstTensor& cos, const ConstTensor& sin);

/// Returns a table of the C++ interface as one whose scalar is a value. Nothing is copied, so it
/// must outlive the result.
///
/// \code{.cpp}
/// const er::Cache<float> cosines_and_sines(frequencies, positions);
/// const er::any::Table table = er::any::table_of(cosines_and_sines);
/// \endcode
///
/// \param table  a Cache, a TableView or anything else with a view(); of float, double, Eigen::half
///               or Eigen::bfloat16, with fewer than max_rank outer axes
///
/// - Errors:   eigen_rope::Error for a feature axis that is none of the table's, and for max_rank
///             outer axes.
template <class Entries>
Table table_of(const Entries& table) {
  const auto& view = eigen_rope::detail::view_of(table);
  using Scalar = std::remove_const_t<std::remove_pointer_t<decltype(view.cos)>>;
  eigen_rope::detail::check_feature_axis(view.outer, view.feature_axis);
  Table result{scalar_type<Scalar>, view.cos, view.sin};
  for (int axis = 0; axis <= view.outer.rank(); ++axis) {
    if (axis == view.feature_axis) result.shape.push_back(view.width);
    if (axis < view.outer.rank()) result.shape.push_back(view.outer[axis]);
  }
  result.order = Order::fastest_first;
  result.feature_axis = view.feature_axis;
  result.determinants = view.determinants;
  return result;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::any
