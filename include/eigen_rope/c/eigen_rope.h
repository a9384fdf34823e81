/* SPDX-License-Identifier: Apache-2.0
 *
 * The library in plain C, for bindings to other languages: what eigen_rope/any/any.hpp has.
 *
 *   eigen_rope_rotate(&y, &x, &cos, &sin, &how)           rotation, backward and inverse
 *   eigen_rope_rotate_tokens(q_and_k, 2, &cos, ...)       by position ids, into slots of a cache
 *   eigen_rope_backward(&results, &y, &g, &cos, ...)      dx, d angle, d log m, d cos, d sin
 *   eigen_rope_table_gradient(&dcos, &dsin, &x, ...)      d cos and d sin in x's type or float64
 *   eigen_rope_fill_table(&cos, &sin, frequencies, ...)   a table in the caller's memory
 *
 * Every function that can fail returns a status, and throws nothing. Nothing is written before
 * everything was checked. eigen_rope_last_message() says what was refused, in the words that the
 * C++ interface has. Results have the bits of the C++ interface. A call of one token allocates
 * nothing. All functions may be called from any number of threads at once, as long as no two of
 * them write the same memory. The types are in types.h.
 */
#ifndef EIGEN_ROPE_C_EIGEN_ROPE_H
#define EIGEN_ROPE_C_EIGEN_ROPE_H

#include <stddef.h>
#include <stdint.h>

#include "eigen_rope/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** \addtogroup reference_c
 *  @{ */

/** Returns the version of the library's binary interface. A program that opens the library when it
 * runs compares it with the EIGEN_ROPE_ABI_VERSION that it was compiled with. */
EIGEN_ROPE_C_API uint32_t eigen_rope_abi_version(void) EIGEN_ROPE_C_NOEXCEPT;

/** Returns the library's version, such as "0.2.0". */
EIGEN_ROPE_C_API const char* eigen_rope_version(void) EIGEN_ROPE_C_NOEXCEPT;

/**
 * Returns the message of the last call on this thread that did not return EIGEN_ROPE_OK; empty if
 * there was none.
 *
 *     if (eigen_rope_rotate(&y, &x, &cos, &sin, &how) != EIGEN_ROPE_OK)
 *       fputs(eigen_rope_last_message(), stderr);  // [rope] rotary dims must be even, got 7
 *
 * It is one line of less than 600 bytes, and stays until another call on this thread fails.
 */
EIGEN_ROPE_C_API const char* eigen_rope_last_message(void) EIGEN_ROPE_C_NOEXCEPT;

/** Writes the pairing of this name to `*pairing`: split_half, interleaved, quarter or
 * interleaved_to_split_half. */
EIGEN_ROPE_C_API eigen_rope_status eigen_rope_pairing_of(const char* name,
                                                         int32_t* pairing) EIGEN_ROPE_C_NOEXCEPT;

/** Writes the direction of this name to `*direction`: forward, backward or inverse. */
EIGEN_ROPE_C_API eigen_rope_status eigen_rope_direction_of(const char* name, int32_t* direction)
    EIGEN_ROPE_C_NOEXCEPT;

/**
 * Makes the frequencies of a scaling.
 *
 *     const eigen_rope_parameter of_llama[] = {{.name = "rotary_dims", .number = 128},
 *                                              {.name = "base", .number = 500000.0},
 *                                              {.name = "factor", .number = 8.0},
 *                                              {.name = "original_context", .number = 8192}};
 *     eigen_rope_frequencies* frequencies = NULL;
 *     eigen_rope_frequencies_create("llama3", of_llama, 4, 0, &frequencies);
 *
 * \param scaling      default, linear, proportional, dynamic, ntk, yarn, ggml_yarn, llama3 or
 *                     longrope
 * \param parameters   the members of eigen_rope::Powers, of which rotary_dims must be given, and
 *                     those of the scaling, by their names; each once, what is left out has its
 *                     usual value
 * \param count        the number of parameters
 * \param length       the number of tokens of the sequence, for scalings that depend on it
 * \param frequencies  becomes what eigen_rope_frequencies_destroy() must be given later
 */
EIGEN_ROPE_C_API eigen_rope_status eigen_rope_frequencies_create(
    const char* scaling, const eigen_rope_parameter* parameters, int64_t count, int64_t length,
    eigen_rope_frequencies** frequencies) EIGEN_ROPE_C_NOEXCEPT;

/**
 * Makes frequencies of rates that are given one by one, such as learned ones.
 *
 * \param rates             radians per token, one for each pair
 * \param count             the number of pairs
 * \param attention_factor  m, which multiplies cos and sin; usually 1
 * \param frequencies       becomes what eigen_rope_frequencies_destroy() must be given later
 */
EIGEN_ROPE_C_API eigen_rope_status
eigen_rope_frequencies_from_rates(const double* rates, int64_t count, double attention_factor,
                                  eigen_rope_frequencies** frequencies) EIGEN_ROPE_C_NOEXCEPT;

/** Writes the number of pairs to `*pairs`. */
EIGEN_ROPE_C_API eigen_rope_status eigen_rope_frequencies_pairs(
    const eigen_rope_frequencies* frequencies, int64_t* pairs) EIGEN_ROPE_C_NOEXCEPT;

/**
 * Writes each pair's rate, in radians per token and rounded to double, and the attention factor.
 *
 * \param rates             `count` numbers
 * \param count             the number of pairs
 * \param attention_factor  one number
 */
EIGEN_ROPE_C_API eigen_rope_status
eigen_rope_frequencies_rates(const eigen_rope_frequencies* frequencies, double* rates,
                             int64_t count, double* attention_factor) EIGEN_ROPE_C_NOEXCEPT;

/** Frees frequencies; does nothing for NULL. */
EIGEN_ROPE_C_API void eigen_rope_frequencies_destroy(eigen_rope_frequencies* frequencies)
    EIGEN_ROPE_C_NOEXCEPT;

/** Makes the positions first, first + 1, ... of `tokens` tokens, which all sequences share. */
EIGEN_ROPE_C_API eigen_rope_status eigen_rope_positions_range(
    int64_t first, int64_t tokens, eigen_rope_positions** positions) EIGEN_ROPE_C_NOEXCEPT;

/**
 * Makes positions from numbers, which are copied: one for each token, or one for each batch and
 * token, or one for each axis, batch and token.
 *
 *     eigen_rope_position_list ids = {.struct_size = sizeof ids, .data = numbers, .count = 6};
 *     ids.dtype = (eigen_rope_tensor_type){EIGEN_ROPE_INT, 64, 1};
 *     ids.batches = 2;  // of three tokens
 *     eigen_rope_positions_of(&ids, &positions);
 */
EIGEN_ROPE_C_API eigen_rope_status eigen_rope_positions_of(
    const eigen_rope_position_list* list, eigen_rope_positions** positions) EIGEN_ROPE_C_NOEXCEPT;

/**
 * Makes the positions of packed sequences, which stand side by side.
 *
 * \param cu_seqlens  where each sequence begins, and behind them where the last one ends
 * \param count       how many numbers cu_seqlens has, one more than there are sequences
 * \param starts      the position of each sequence's first token; NULL: 0 each
 * \param positions   becomes what eigen_rope_positions_destroy() must be given later
 */
EIGEN_ROPE_C_API eigen_rope_status
eigen_rope_positions_packed(const int64_t* cu_seqlens, int64_t count, const int64_t* starts,
                            eigen_rope_positions** positions) EIGEN_ROPE_C_NOEXCEPT;

/** Frees positions; does nothing for NULL. */
EIGEN_ROPE_C_API void eigen_rope_positions_destroy(eigen_rope_positions* positions)
    EIGEN_ROPE_C_NOEXCEPT;

/**
 * Writes the extents of a table for these frequencies, positions and layout.
 *
 * \param layout  bsnd, bnsd, sbnd, tnd, bsd, sd, dnsb, dsnb, dns, dsb or ds: what the axes of x
 *                count, from the slowest to the fastest (batch, tokens s or t, heads n, features d)
 * \param shape   EIGEN_ROPE_MAX_RANK numbers, of which ndim are written: the number of pairs where
 *                the layout has d, and 1 on axes that share positions
 * \param ndim    becomes the number of axes
 */
EIGEN_ROPE_C_API eigen_rope_status eigen_rope_table_shape(const eigen_rope_frequencies* frequencies,
                                                          const eigen_rope_positions* positions,
                                                          const char* layout, int64_t* shape,
                                                          int32_t* ndim) EIGEN_ROPE_C_NOEXCEPT;

/**
 * Writes the cosines and sines of frequencies at positions, times m.
 *
 * cos and sin have the extents of eigen_rope_table_shape(), the entries of a row on the same axis.
 * Their slowest axes of extent 1 may be missing if d is not among them. Both have one type, one
 * shape and the same strides; no two entries may share memory.
 */
EIGEN_ROPE_C_API eigen_rope_status eigen_rope_fill_table(const eigen_rope_tensor* cos,
                                                         const eigen_rope_tensor* sin,
                                                         const eigen_rope_frequencies* frequencies,
                                                         const eigen_rope_positions* positions,
                                                         const char* layout) EIGEN_ROPE_C_NOEXCEPT;

/**
 * Rotates x and writes the result to y, which may be x itself.
 *
 *     y_A = c_A x_a - s_A x_b          y_B = c_B x_b + s_B x_a
 *
 * \param y         of x's type and shape; must be x or not overlap it, nor the table
 * \param x         [..., D], of float32, float64, float16 or bfloat16
 * \param cos, sin  of x's type, or of float32 for an x of 16 bits; one type, shape and strides for
 *                  both. One axis has an entry for each pair, or for each rotated element. The
 *                  others are those of x without its features, or of extent 1 or stride 0; slowest
 *                  ones may be missing
 * \param rotation  pairing, direction, window, axes and threads
 */
EIGEN_ROPE_C_API eigen_rope_status eigen_rope_rotate(
    const eigen_rope_tensor* y, const eigen_rope_tensor* x, const eigen_rope_tensor* cos,
    const eigen_rope_tensor* sin, const eigen_rope_rotation* rotation) EIGEN_ROPE_C_NOEXCEPT;

/**
 * Rotates the tokens of one or more tensors, by the table rows and into the slots that lists name.
 *
 * Token t of each tensor is rotated by row ids[t] of the table, and written to slot slots[t] of its
 * destination, or nowhere where that is -1. So one call rotates queries in place, and rotates keys
 * on their way into a paged cache:
 *
 *     const eigen_rope_token_rows q_and_k[] = {
 *         {.struct_size = sizeof(eigen_rope_token_rows), .to = &q},
 *         {.struct_size = sizeof(eigen_rope_token_rows),
 *          .to = &k_pages, .from = &k, .slots = &slots}};
 *     eigen_rope_rotate_tokens(q_and_k, 2, &cos, &sin, &ids, &how);
 *
 * A destination without slots may be what it is read from. Apart from that no destination may
 * overlap anything else that the call reads or writes, and no two tokens may have one slot. A call
 * of up to 4 tensors and 256 tokens allocates nothing, if the entries of the table's rows are
 * neighbours and its rows lie at even distances.
 *
 * \param tensors   `count` structs, one behind the other and of one struct_size; all tensors are of
 *                  one type, and read the same number of tokens
 * \param count     the number of tensors; their numbers of heads, and of features, may differ
 * \param cos, sin  of the tensors' type, or of float32 where that has 16 bits; [rows, entries], one
 *                  type, shape and strides for both. Rows may lie any distance apart, so that one
 *                  buffer may have cosines and behind them sines in each of its rows
 * \param ids       the row of the table that each token reads; NULL: token t reads row t, or all
 *                  read the only one
 * \param rotation  pairing, direction, window, the table's axis and threads; no axis of the tensors
 */
EIGEN_ROPE_C_API eigen_rope_status eigen_rope_rotate_tokens(
    const eigen_rope_token_rows* tensors, int64_t count, const eigen_rope_tensor* cos,
    const eigen_rope_tensor* sin, const eigen_rope_index_list* ids,
    const eigen_rope_rotation* rotation) EIGEN_ROPE_C_NOEXCEPT;

/**
 * Writes the extents of a gradient that eigen_rope_backward() computes: those of cos, but with 1
 * where a stride is 0, and for angles and magnitudes with the number of pairs on the table's axis.
 *
 * \param of        EIGEN_ROPE_OF_ANGLES or EIGEN_ROPE_OF_TABLE
 * \param y         the tensor that eigen_rope_backward() is given
 * \param cos       the cosines of the table
 * \param rotation  the forward rotation
 * \param shape     EIGEN_ROPE_MAX_RANK numbers, of which ndim are written
 * \param ndim      becomes the number of axes
 */
EIGEN_ROPE_C_API eigen_rope_status eigen_rope_gradient_shape(int32_t of, const eigen_rope_tensor* y,
                                                             const eigen_rope_tensor* cos,
                                                             const eigen_rope_rotation* rotation,
                                                             int64_t* shape,
                                                             int32_t* ndim) EIGEN_ROPE_C_NOEXCEPT;

/**
 * Computes the gradients of a loss L in one pass over y and dL/dy.
 *
 * \param results   the memory of each gradient that is wanted
 * \param y         the rotation's output, or its input x with EIGEN_ROPE_FROM_INPUT
 * \param g         dL/dy, of y's type and shape
 * \param cos, sin  what the forward rotation read
 * \param rotation  the forward rotation; its direction is not looked at
 */
EIGEN_ROPE_C_API eigen_rope_status eigen_rope_backward(
    const eigen_rope_gradients* results, const eigen_rope_tensor* y, const eigen_rope_tensor* g,
    const eigen_rope_tensor* cos, const eigen_rope_tensor* sin,
    const eigen_rope_rotation* rotation) EIGEN_ROPE_C_NOEXCEPT;

/**
 * Computes the gradients with respect to cos and sin, of half or full width.
 *
 * \param dcos, dsin  of the table's shape, and of x's type or float64; they must not overlap each
 *                    other, x or g
 * \param x, g        the rotation's input and dL/dy, of one type and shape
 * \param rotation    the forward rotation; its direction is not looked at
 */
EIGEN_ROPE_C_API eigen_rope_status eigen_rope_table_gradient(
    const eigen_rope_tensor* dcos, const eigen_rope_tensor* dsin, const eigen_rope_tensor* x,
    const eigen_rope_tensor* g, const eigen_rope_rotation* rotation) EIGEN_ROPE_C_NOEXCEPT;

/** @} */

#ifdef __cplusplus
}
#endif

#endif
