// SPDX-License-Identifier: Apache-2.0
//
// Views of Eigen's matrices, for the functions that take rows anywhere in memory.
//
//   namespace er = eigen_rope;
//   er::rotate_inplace(er::tokens_in_rows(q, heads), cache, er::split_half);
//
//   tokens_in_rows     a matrix of tokens x features: one token in each row
//   tokens_in_columns  a matrix of features x tokens: one token in each column
//
// Several heads lie side by side in the features of a token, as a projection leaves them. Both
// storage orders, maps, references and blocks are viewed where they are, and nothing is copied. The
// view has the axes feature, head and token, which is what a cache has by default. This header does
// not need Eigen's Tensor module.
#pragma once

#include <Eigen/Core>
#include <string>
#include <type_traits>

#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rows/strided_view.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace detail {

/// The elements of a matrix, const unless they may be written.
template <class Matrix>
using MatrixElement = std::conditional_t<std::is_const_v<std::remove_reference_t<Matrix>> ||
                                             (std::decay_t<Matrix>::Flags & Eigen::LvalueBit) == 0,
                                         const typename std::decay_t<Matrix>::Scalar,
                                         typename std::decay_t<Matrix>::Scalar>;

template <class Matrix>
inline constexpr bool has_memory = (std::decay_t<Matrix>::Flags & Eigen::DirectAccessBit) != 0;

/// Whether a temporary of this class owns the elements.
template <class Matrix>
inline constexpr bool is_temporary_memory =
    !std::is_lvalue_reference_v<Matrix> &&
    std::is_base_of_v<Eigen::PlainObjectBase<std::decay_t<Matrix>>, std::decay_t<Matrix>>;

/// Where the features and the tokens of a matrix lie.
struct MatrixAxis {
  Index count;
  Index stride;
};

template <class Scalar>
StridedView<Scalar> view_of_tokens(Scalar* data, MatrixAxis features, MatrixAxis tokens,
                                   Index heads) {
  if (heads <= 0) fail("the number of heads must be positive", static_cast<std::int64_t>(heads));
  if (features.count % heads != 0) {
    fail("the features of a token must be a multiple of its " + std::to_string(heads) + " heads",
         static_cast<std::int64_t>(features.count));
  }
  const Index head_size = features.count / heads;
  StridedView<Scalar> view{data, {head_size, heads, tokens.count}, {}};
  view.strides = {head_size * features.stride, tokens.stride};
  view.feature_stride = features.stride;
  return view;
}

template <class Matrix>
void require_matrix() {
  static_assert(has_memory<Matrix>,
                "[rope] a matrix must have elements in memory: evaluate an expression first, as in "
                "auto q = (x * w).eval()");
  static_assert(!is_temporary_memory<Matrix>,
                "[rope] a matrix must outlive its view: give it a name first");
}

}  // namespace detail

/// Views a matrix of tokens x features, one token in each row.
///
///     shape [features / heads, heads, tokens]
///
/// The view's scalar is that of the matrix, and const where the matrix cannot be written.
///
/// \code{.cpp}
/// Eigen::MatrixXf rows = Eigen::MatrixXf::Random(tokens, heads * D);
/// er::rotate_inplace(er::tokens_in_rows(rows, heads), cache, er::split_half);
/// const auto dx = er::tokens_in_rows(rows.leftCols(D));  // of the first head alone
/// er::rotate_inplace(dx, cache, er::split_half, er::Direction::backward);
/// \endcode
///
/// \param matrix  a Matrix, Array, Map, Ref or Block in either storage order; it must outlive the
///                view, which is read-only where the matrix is
/// \param heads   how many heads lie side by side in the columns
///
/// - Errors:   eigen_rope::Error unless heads is positive and divides the number of columns.
/// - Cost:     nothing is copied.
///
/// \see tokens_in_columns(), \ref index_order "Features on any axis"
template <class Matrix>
StridedView<detail::MatrixElement<Matrix>> tokens_in_rows(Matrix&& matrix, Index heads = 1) {
  detail::require_matrix<Matrix>();
  return detail::view_of_tokens<detail::MatrixElement<Matrix>>(
      matrix.data(), {matrix.cols(), matrix.colStride()}, {matrix.rows(), matrix.rowStride()},
      heads);
}

/// Views a matrix of features x tokens, one token in each column.
///
///     shape [features / heads, heads, tokens]
///
/// \code{.cpp}
/// Eigen::MatrixXf columns = Eigen::MatrixXf::Random(heads * D, tokens);
/// er::rotate_inplace(er::tokens_in_columns(columns, heads), cache, er::split_half);
/// \endcode
///
/// Parameters and errors are those of tokens_in_rows(), with rows and columns exchanged.
template <class Matrix>
StridedView<detail::MatrixElement<Matrix>> tokens_in_columns(Matrix&& matrix, Index heads = 1) {
  detail::require_matrix<Matrix>();
  return detail::view_of_tokens<detail::MatrixElement<Matrix>>(
      matrix.data(), {matrix.rows(), matrix.rowStride()}, {matrix.cols(), matrix.colStride()},
      heads);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
