// SPDX-License-Identifier: Apache-2.0
//
// The two-step calls of Ascend's rotary operators, for code being ported: same names, arguments and
// status numbers.
//
//   aclnnRotaryPositionEmbeddingGetWorkspaceSize(&x, &cos, &sin, mode, &out, &size, &executor);
//                       checks everything; size is always 0
//   aclnnRotaryPositionEmbedding(nullptr, size, executor, nullptr);
//                       runs, and releases the executor
//
// Nothing throws: the status says which kind of rule was broken and aclGetRecentErrMsg() which. All
// functions may be called from any thread. An adapter to aclnn.hpp, which new code should use;
// execution is synchronous, on the CPU.
#pragma once

#include <cstdint>

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/operators/aclnn.hpp"

namespace eigen_rope::aclnn {

/// A description; copied by GetWorkspaceSize, so that only the data it points to must outlive the
/// execution.
using aclTensor = Tensor;
using aclnnStatus = std::int32_t;  ///< What every call returns.
/// A number that looks like a pointer: never dereferenced, never used twice.
struct aclOpExecutor;
/// nullptr for the calling thread, or the address of a eigen_rope::Device to run on.
using aclrtStream = void*;

inline constexpr aclnnStatus ACLNN_SUCCESS = 0;  ///< Done.
/// A required pointer is null: an argument, or the data of a tensor that has elements; or one of
/// dcos and dsin without the other or x.
inline constexpr aclnnStatus ACLNN_ERR_PARAM_NULLPTR = 161001;
/// A wrong type, strides that cannot be, memory that overlaps; or an executor that is unknown, used
/// up, or another operation's.
inline constexpr aclnnStatus ACLNN_ERR_PARAM_INVALID = 161002;
/// A rank, shape, mode or layout the operator does not have; or any failure that is not the
/// caller's, such as too little memory.
inline constexpr aclnnStatus ACLNN_ERR_INNER_TILING_ERROR = 561002;

/// The sentence of the calling thread's last failed call; empty before the first. Valid until the
/// thread's next failed call.
EIGEN_ROPE_API const char* aclGetRecentErrMsg() noexcept;

/// Releases an executor that will not be run. Unknown or used ones are refused with
/// ACLNN_ERR_PARAM_INVALID.
EIGEN_ROPE_API aclnnStatus aclDestroyAclOpExecutor(const aclOpExecutor* executor) noexcept;

/// Checks the whole call. On success *workspaceSize is 0 and *executor awaits its execution; on
/// failure neither is written.
EIGEN_ROPE_API aclnnStatus aclnnRotaryPositionEmbeddingGetWorkspaceSize(
    const aclTensor* x, const aclTensor* cos, const aclTensor* sin, std::int64_t mode,
    const aclTensor* out, std::uint64_t* workspaceSize, aclOpExecutor** executor) noexcept;

/// Runs what the executor was made for and releases it, whether that succeeds or not. An executor
/// of another operation is refused and stays usable. The workspace may be null.
EIGEN_ROPE_API aclnnStatus aclnnRotaryPositionEmbedding(void* workspace,
                                                        std::uint64_t workspaceSize,
                                                        aclOpExecutor* executor,
                                                        aclrtStream stream) noexcept;

/// xOptional may be null; then dcos and dsin must be null or have no elements (as ported code
/// passes them).
EIGEN_ROPE_API aclnnStatus aclnnRotaryPositionEmbeddingGradGetWorkspaceSize(
    const aclTensor* dy, const aclTensor* cos, const aclTensor* sin, const aclTensor* xOptional,
    std::int64_t mode, const aclTensor* dx, const aclTensor* dcos, const aclTensor* dsin,
    std::uint64_t* workspaceSize, aclOpExecutor** executor) noexcept;
/// The second step of the gradient.
EIGEN_ROPE_API aclnnStatus aclnnRotaryPositionEmbeddingGrad(void* workspace,
                                                            std::uint64_t workspaceSize,
                                                            aclOpExecutor* executor,
                                                            aclrtStream stream) noexcept;

/// Mode half. query and key are rotated where they lie.
EIGEN_ROPE_API aclnnStatus aclnnApplyRotaryPosEmbGetWorkspaceSize(
    const aclTensor* query, const aclTensor* key, const aclTensor* cos, const aclTensor* sin,
    std::int64_t layout, std::uint64_t* workspaceSize, aclOpExecutor** executor) noexcept;
/// The second step.
EIGEN_ROPE_API aclnnStatus aclnnApplyRotaryPosEmb(void* workspace, std::uint64_t workspaceSize,
                                                  aclOpExecutor* executor,
                                                  aclrtStream stream) noexcept;

/// rotaryMode is "half", "interleave", "quarter" or "interleave-half".
EIGEN_ROPE_API aclnnStatus aclnnApplyRotaryPosEmbV2GetWorkspaceSize(
    const aclTensor* query, const aclTensor* key, const aclTensor* cos, const aclTensor* sin,
    std::int64_t layout, const char* rotaryMode, std::uint64_t* workspaceSize,
    aclOpExecutor** executor) noexcept;
/// The second step of version 2.
EIGEN_ROPE_API aclnnStatus aclnnApplyRotaryPosEmbV2(void* workspace, std::uint64_t workspaceSize,
                                                    aclOpExecutor* executor,
                                                    aclrtStream stream) noexcept;

}  // namespace eigen_rope::aclnn
