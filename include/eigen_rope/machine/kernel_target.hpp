// SPDX-License-Identifier: Apache-2.0
//
// Which instruction set the compiled kernels run with.
//
// The library holds each kernel once per instruction set and takes the best the processor has.
// Names, best first: AVX3 (AVX-512 with BW, DQ and VL), AVX2, SSE4, NEON, SCALAR (no vectors;
// always there). The environment variable EIGEN_ROPE_KERNEL_TARGET forces one for the whole
// program. Every target gives the same bits (a NaN's payload excepted), so this is for tests, for
// measuring, and for finding out.
#pragma once

#include <string>
#include <vector>

#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope {

/// The targets that were compiled and that this processor has, best first.
EIGEN_ROPE_API std::vector<std::string> kernel_targets();

/// The one in use.
///
/// - Errors:   eigen_rope::Error if EIGEN_ROPE_KERNEL_TARGET names none of kernel_targets().
EIGEN_ROPE_API std::string kernel_target();

/// Uses `name` from now on in the whole process; an empty name goes back to the environment's
/// choice, or the best.
///
/// - Errors:   eigen_rope::Error unless `name` is one of kernel_targets().
/// - Threads:  safe while other threads rotate: each call of a kernel takes one target or the
///             other.
EIGEN_ROPE_API void set_kernel_target(const std::string& name);

namespace detail {

/// Throws eigen_rope::Error if EIGEN_ROPE_KERNEL_TARGET is wrong: called where an expression is
/// made, so that kernels in other threads never throw.
EIGEN_ROPE_API void require_kernel_target();

}  // namespace detail
}  // namespace eigen_rope
