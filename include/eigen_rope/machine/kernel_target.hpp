// SPDX-License-Identifier: Apache-2.0
//
// The instruction set that the compiled kernels run with.
//
// The library holds each kernel once per instruction set and takes the best one that the processor
// has. The names, best first, are AVX3 (AVX-512 with BW, DQ and VL), AVX2, SSE4, NEON and SCALAR,
// which uses no vectors and is always there. The environment variable EIGEN_ROPE_KERNEL_TARGET
// forces one of them for the whole program. All targets give the same bits, except for a NaN's
// payload, so a choice matters only for measuring and for finding the cause of a difference.
#pragma once

#include <string>
#include <vector>

#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// Returns the names of the targets that were compiled and that this processor has, best first.
///
/// \code{.cpp}
/// for (const std::string& name : er::kernel_targets()) std::cout << name << "\n";
/// \endcode
///
/// \see set_kernel_target(), \ref performance "Performance"
EIGEN_ROPE_API std::vector<std::string> kernel_targets();

/// Returns the name of the target in use.
///
/// \code{.cpp}
/// std::cout << "kernels run with " << er::kernel_target() << "\n";
/// \endcode
///
/// - Errors:   eigen_rope::Error if EIGEN_ROPE_KERNEL_TARGET decides and names none of
///             kernel_targets().
EIGEN_ROPE_API std::string kernel_target();

/// Chooses the target of all kernels from now on, in the whole process.
///
/// \code{.cpp}
/// er::set_kernel_target("SCALAR");
/// y = er::rotate(x, cache, er::split_half);  // without vector instructions
/// er::set_kernel_target("");                 // the environment's or the best again
/// \endcode
///
/// \param name  one of kernel_targets(); empty for the one that EIGEN_ROPE_KERNEL_TARGET names, or
///              the best where it names none
///
/// - Errors:   eigen_rope::Error, which leaves the target as it was, if `name` is none of
///             kernel_targets(), or if it is empty and EIGEN_ROPE_KERNEL_TARGET names none of them.
/// - Threads:  safe while other threads rotate: each call of a kernel takes one target or the
///             other.
EIGEN_ROPE_API void set_kernel_target(const std::string& name);

namespace detail {

/// Throws eigen_rope::Error if EIGEN_ROPE_KERNEL_TARGET is wrong: called where an expression is
/// made, so that kernels in other threads never throw.
EIGEN_ROPE_API void require_kernel_target();

}  // namespace detail
}  // namespace eigen_rope::EIGEN_ROPE_ABI
