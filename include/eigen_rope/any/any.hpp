// SPDX-License-Identifier: Apache-2.0
//
// The library for tensors whose scalar, rank and strides are values: bindings to other languages,
// readers of files, operators of other systems.
//
//   any::rotate_to(y, x, table, split_half)        rotation, backward and inverse
//   any::gradients_to(dx, y, dy, table, ...)       dx, d angle, d log m, d cos, d sin in one pass
//   any::table_gradient(memory, x, dy, ...)        d cos and d sin in the caller's memory
//   any::fill_table(memory, frequencies, ...)      a table in the caller's memory
//   any::rotate_tokens({{q, q}, ...}, table, ids)  by position ids, into the slots of a paged cache
//
// Each call chooses the templates of the C++ interface for the types it is given and runs them, so
// results have the same bits, and errors the same words. Everything is checked before the first
// element is written. All tensors of a call have one type. Neither Eigen's Tensor module nor any
// template is needed to call them.
#pragma once

#include "eigen_rope/any/choices.hpp"
#include "eigen_rope/any/rotate_tokens.hpp"
#include "eigen_rope/any/scalar_type.hpp"
#include "eigen_rope/any/tensor.hpp"
#include "eigen_rope/choices/direction.hpp"
#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/layout.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/choices/positions.hpp"
#include "eigen_rope/gradients/gradient_options.hpp"
#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::any {

/// Rotates the tensor `x` and writes the result to `y`.
///
/// It has the bits and the error bound of eigen_rope::rotate_to() for views of the same memory.
///
/// \code{.cpp}
/// std::vector<float> z(batch * tokens * heads * D);
/// const er::any::ConstTensor from{er::ScalarType::f32, q.data(), {batch, tokens, heads, D}};
/// const er::any::Tensor to{er::ScalarType::f32, z.data(), {batch, tokens, heads, D}};
/// er::any::rotate_to(to, from, er::any::table_of(cache), er::any::pairing_of("split_half"));
/// \endcode
///
/// \param y          of x's type and shape; its order may be the other one
/// \param x          the tensor to rotate; strides of 0 repeat rows
/// \param table      of x's type, or of f32 where x has 16 bits
/// \param pairing    which elements form a pair, and the window of each row that is rotated;
///                   along() counts axes in the order of x
/// \param direction  forward, backward (the gradient) or inverse
/// \param device     Eigen's DefaultDevice or ThreadPoolDevice, or a Device
///
/// - Errors:   eigen_rope::Error, before anything is written, under the conditions of
///             eigen_rope::rotate_to(); for types that do not go together; for a tensor without
///             axes; unless there are as many strides as axes, or none; and for data that is not
///             aligned to its type.
/// - Aliasing: that of eigen_rope::rotate_to(): y may be x itself, and must not overlap x or the
///             table otherwise.
/// - Cost:     one pass over x, and for the inverse what rotate_inverse() adds. A table is copied
///             first if it is not dense, apart from axes that it broadcasts along, or if its
///             entries lie apart and those of x and y do not. A copy of up to 8 KiB is on the
///             stack: a call of one token allocates nothing.
///
/// \see rotate_inplace(), \ref cookbook "Cookbook"
EIGEN_ROPE_API void rotate_to(const Tensor& y, const ConstTensor& x, const Table& table,
                              Pairing pairing, Direction direction = Direction::forward,
                              const Device& device = Device());

/// Rotates a tensor in place.
///
/// Parameters, errors, aliasing and cost are those of rotate_to(x, x, ...).
///
/// \code{.cpp}
/// // The queries of a fused buffer [tokens, q and k and v, heads, D]:
/// std::vector<float> qkv(tokens * 3 * heads * D);
/// er::any::Tensor rows{er::ScalarType::f32, qkv.data(), {tokens, heads, D}};
/// rows.strides = {3 * heads * D, D, 1};
/// er::any::rotate_inplace(rows, er::any::table_of(cache), er::split_half);
/// \endcode
EIGEN_ROPE_API void rotate_inplace(const Tensor& x, const Table& table, Pairing pairing,
                                   Direction direction = Direction::forward,
                                   const Device& device = Device());

/// Computes the gradients of angles, magnitudes or the table from dL/dy and the rotation's output.
///
/// It has the bits and the error bound of eigen_rope::gradients() for views of the same memory.
///
/// \code{.cpp}
/// const er::any::ConstTensor output{er::ScalarType::f32, y.data(), {batch, tokens, heads, D}};
/// const er::any::ConstTensor dL{er::ScalarType::f32, dy.data(), {batch, tokens, heads, D}};
/// const auto d = er::any::gradients(output, dL, er::any::table_of(cache), er::split_half);
/// const std::vector<double> of_rates = er::rate_gradients(d, positions);
/// \endcode
///
/// \param y        the rotation's output, or its input x with GradientsFrom::input
/// \param g        dL/dy, of y's type and shape
/// \param table    what the forward rotation read
/// \param pairing  the pairing of the forward rotation; along() counts axes in the order of y
/// \param options  what to compute, whether y or x is given, and where to run
/// \param memory   an earlier result, moved here, whose memory is used again
/// \returns        the gradients in the order of the table. Axes that it broadcasts along, by a
///                 stride of 0 too, have extent 1, and entries of a table that was copied are
///                 fastest
///
/// - Errors:   eigen_rope::Error, before anything is written, under the conditions of
///             eigen_rope::gradients(), and those of rotate_to() for types, strides and alignment.
/// - Cost:     one pass over y (or x) and g, and the copy of a table that is not dense.
///
/// \see gradients_to(), \ref gradients "Gradients"
EIGEN_ROPE_API Gradients<double> gradients(const ConstTensor& y, const ConstTensor& g,
                                           const Table& table, Pairing pairing,
                                           const GradientOptions& options = {},
                                           Gradients<double>&& memory = {});

/// Writes dL/dx to `dx` and returns the other gradients, from one pass over memory.
///
/// \code{.cpp}
/// const er::any::ConstTensor output{er::ScalarType::f32, y.data(), {batch, tokens, heads, D}};
/// const er::any::Tensor dL{er::ScalarType::f32, dy.data(), {batch, tokens, heads, D}};
/// const auto table = er::any::table_of(cache);
/// const auto d = er::any::gradients_to(dL, output, dL, table, er::split_half);  // dy becomes dx
/// \endcode
///
/// \param dx       of y's type and shape
/// \param y        the rotation's output, or its input x with GradientsFrom::input
/// \param g        dL/dy, of y's type and shape
/// \param table    what the forward rotation read
/// \param pairing  the pairing of the forward rotation; along() counts axes in the order of y
/// \param options  what to compute besides dx, whether y or x is given, and where to run
/// \param memory   an earlier result, moved here, whose memory is used again
/// \returns        what gradients() returns
///
/// - Errors:   eigen_rope::Error, before anything is written, under the conditions of
///             eigen_rope::gradients_to(), and those of rotate_to() for types, strides and
///             alignment.
/// - Aliasing: that of eigen_rope::gradients_to(): dx may be g or y itself, and must not overlap
///             them or the table otherwise.
/// - Cost:     one pass over y (or x), g and dx, and the copy of a table that is not dense.
///
/// \see gradients(), \ref gradients "Gradients"
EIGEN_ROPE_API Gradients<double> gradients_to(const Tensor& dx, const ConstTensor& y,
                                              const ConstTensor& g, const Table& table,
                                              Pairing pairing, const GradientOptions& options = {},
                                              Gradients<double>&& memory = {});

/// Computes the gradient with respect to a rotation's table and overwrites `gradient` with it.
///
/// It has the bits and the error bound of eigen_rope::table_gradient() for views of the same
/// memory.
///
/// \code{.cpp}
/// std::vector<double> dcos(tokens * D / 2), dsin(tokens * D / 2);
/// const er::any::TableMemory gradient{
///     er::ScalarType::f64, dcos.data(), dsin.data(), {tokens, 1, D / 2}};
/// const er::any::ConstTensor input{er::ScalarType::f32, x.data(), {batch, tokens, heads, D}};
/// const er::any::ConstTensor dL{er::ScalarType::f32, dy.data(), {batch, tokens, heads, D}};
/// er::any::table_gradient(gradient, input, dL, er::split_half);
/// \endcode
///
/// \param gradient  memory of the table's shape, of x's type or f64
/// \param x, g      the rotation's input and dL/dy, of the same type and shape
/// \param pairing   the pairing of the forward rotation; along() counts axes in the order of x
/// \param device    table rows are split among threads, with the same bits for any number
///
/// - Errors:   eigen_rope::Error, before anything is written, under the conditions of
///             eigen_rope::table_gradient(), and those of rotate_to() for types, strides and
///             alignment.
/// - Aliasing: cos and sin of `gradient` must not overlap each other, x or g.
/// - Cost:     one pass over x and g, and one over `gradient` where it is not dense.
///
/// \see gradients(), \ref gradients "Gradients"
EIGEN_ROPE_API void table_gradient(const TableMemory& gradient, const ConstTensor& x,
                                   const ConstTensor& g, Pairing pairing,
                                   const Device& device = Device());

/// Writes the table of these frequencies at these positions to the caller's memory.
///
/// The entries are those of a Cache, with its bits and its error bound.
///
/// \code{.cpp}
/// std::vector<float> cosines(tokens * D / 2), sines(tokens * D / 2);
/// er::any::TableMemory memory{er::ScalarType::f32, cosines.data(), sines.data()};
/// memory.shape = {tokens, 1, D / 2};  // for x of [batch, tokens, heads, D]
/// er::any::fill_table(memory, frequencies, positions, er::Layout::tnd());
/// \endcode
///
/// \param memory       of the shape of the table: a width of frequencies.pairs(), and besides it
/// the
///                     extents that Cache::outer() has for these positions and this layout. Missing
///                     slowest axes count as 1
/// \param frequencies  the rate of each pair, in radians per token, and m
/// \param positions    where each token stands
/// \param layout       what the axes of x outside the feature axis count. Which axis of the memory
///                     holds the entries of a row, `memory` says
///
/// - Errors:   eigen_rope::Error, before anything is written, under the conditions of Cache; for
///             memory of another shape, null pointers, strides that do not fit or let entries share
///             memory, overlapping cos and sin, and data that is not aligned to its type.
/// - Cost:     O(batches * tokens * pairs).
///
/// \see Cache
EIGEN_ROPE_API void fill_table(const TableMemory& memory, const Frequencies& frequencies,
                               const Positions& positions, const Layout& layout = Layout::bsnd());

}  // namespace eigen_rope::EIGEN_ROPE_ABI::any
