// SPDX-License-Identifier: Apache-2.0
//
// The rotation of tokens whose places are listed, for tensors whose types are values: what a
// serving framework's operator for q, k, position ids and slots of a paged cache needs.
//
//   any::rotate_tokens({{q, q}, {k_pages, k, slots}}, table, ids, split_half)
//
//   token t of x [tokens, heads, D] is rotated by row ids[t] of the table [rows, entries], and
//   written to slot slots[t] of y [slots, heads, D], or nowhere where that is -1
//
// Rows of the table may lie any distance apart, so cosines and sines may stand in one row.
#pragma once

#include <initializer_list>

#include "eigen_rope/any/tensor.hpp"
#include "eigen_rope/choices/direction.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/rows/index_list.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::any {

/// The rows of one tensor in a rotate_tokens() call: where they are written, and where read.
///
/// Slowest first, the axes of both are [tokens or slots, heads, D]. Several axes may count tokens,
/// or slots: pages of [pages, page size, heads, D] have pages times page size slots. Strides may be
/// any.
///
/// \code{.cpp}
/// std::vector<float> keys(tokens * heads * D), pages(64 * 16 * heads * D);
/// const std::vector<std::int64_t> slots(tokens, 5);
/// const er::any::ConstTensor k{er::ScalarType::f32, keys.data(), {tokens, heads, D}};
/// const er::any::Tensor k_pages{er::ScalarType::f32, pages.data(), {64, 16, heads, D}};
/// const er::any::TokenRows to_pages{k_pages, k, slots};
/// \endcode
///
/// \see rotate_tokens()
struct TokenRows {
  Tensor to{};         ///< What is written.
  ConstTensor from{};  ///< What is read, of the same type and order; `to` itself is in place.
  /// The slot of each token, or -1 for one that is not written. Without a list, token t has slot t.
  IndexList slots{};
};

/// Rotates the tokens of one or more tensors, by the table rows and into the slots that lists name.
///
/// It has the bits and the error bound of eigen_rope::rotate_tokens() for views of the same memory.
///
/// \code{.cpp}
/// // A cache of cosines and sines as vLLM keeps it: [positions, cosines and sines of all pairs].
/// std::vector<float> cos_sin(4096 * D), q(tokens * heads * D);
/// er::any::Table table{er::ScalarType::f32, cos_sin.data(), cos_sin.data() + D / 2};
/// table.shape = {4096, D / 2};
/// table.strides = {D, 1};
/// const er::any::Tensor rows{er::ScalarType::f32, q.data(), {tokens, heads, D}};
/// const std::vector<std::int64_t> ids(tokens, 17);
/// er::any::rotate_tokens({{rows, rows}}, table, ids, er::split_half);
/// \endcode
///
/// \param tensors    what to rotate, all of one type and of the same number of tokens; a list in
///                   braces
/// \param table      of x's type, or of f32 where x has 16 bits. All axes but that of its entries
///                   count rows, in the order of the list
/// \param ids        the table row that each token reads; {} where token t reads row t, or all read
///                   the only one
/// \param pairing    which elements form a pair, and the window of each row that is rotated. It
///                   must not name an axis
/// \param direction  forward, backward (the gradient) or inverse
/// \param device     Eigen's DefaultDevice or ThreadPoolDevice, or a Device
///
/// - Errors:   eigen_rope::Error, before anything is written, under the conditions of
///             eigen_rope::rotate_tokens(), and those of rotate_to() for types, strides and
///             alignment.
/// - Aliasing: that of eigen_rope::rotate_tokens().
/// - Cost:     one pass over the tensors, and O(tokens) for the lists. A table is copied first if
///             its entries lie apart or its rows at no even distance. Nothing is allocated for up
///             to 4 tensors of up to 256 tokens.
///
/// \see TokenRows, \ref cookbook "Cookbook"
EIGEN_ROPE_API void rotate_tokens(std::initializer_list<TokenRows> tensors, const Table& table,
                                  const IndexList& ids, Pairing pairing,
                                  Direction direction = Direction::forward,
                                  const Device& device = Device());

}  // namespace eigen_rope::EIGEN_ROPE_ABI::any
