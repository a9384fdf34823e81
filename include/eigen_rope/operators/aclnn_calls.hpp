// SPDX-License-Identifier: Apache-2.0
//
// The two-step calls of Ascend's rotary operators, with their names, arguments and status numbers,
// for code that is ported from them.
//
//   aclnnRotaryPositionEmbeddingGetWorkspaceSize(&x, &cos, &sin, mode, &out, &size, &executor);
//                       checks everything; size is always 0
//   aclnnRotaryPositionEmbedding(nullptr, size, executor, nullptr);
//                       runs, and releases the executor
//
// No function throws: the status says which kind of rule was broken, and aclGetRecentErrMsg() says
// which rule. All functions may be called from any thread. The calls run synchronously on the CPU.
// New code should call the functions of aclnn.hpp, which these calls adapt.
#pragma once

#include <cstdint>

#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/operators/aclnn.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::aclnn {

/// The description of a tensor.
///
/// GetWorkspaceSize copies it, so that only the data it points to must outlive the execution.
using aclTensor = Tensor;
using aclnnStatus = std::int32_t;  ///< The status that every call returns.
/// A call that has been checked and waits to be run; a pointer to it is a number that is never
/// dereferenced and never used twice.
struct aclOpExecutor;
/// The stream: nullptr for the calling thread, or the address of an eigen_rope::Device to run on.
using aclrtStream = void*;

inline constexpr aclnnStatus ACLNN_SUCCESS = 0;  ///< The status of a call that is done.
/// The status of a missing pointer: an argument, or the data of a tensor that has elements, is
/// null; or one of dcos and dsin is given without the other or without x.
inline constexpr aclnnStatus ACLNN_ERR_PARAM_NULLPTR = 161001;
/// The status of a wrong type, of strides that cannot be, of memory that overlaps, and of an
/// executor that is unknown, used up or another operation's.
inline constexpr aclnnStatus ACLNN_ERR_PARAM_INVALID = 161002;
/// The status of a rank, shape, mode or layout that the operator does not have, and of any failure
/// that is not the caller's, such as too little memory.
inline constexpr aclnnStatus ACLNN_ERR_INNER_TILING_ERROR = 561002;

/// Returns the sentence that says why the calling thread's last failed call failed.
///
/// It is empty before the first failure and valid until the thread's next failed call.
/// \code{.cpp}
/// if (er::aclnn::aclDestroyAclOpExecutor(nullptr) != er::aclnn::ACLNN_SUCCESS)
///   std::cerr << er::aclnn::aclGetRecentErrMsg() << '\n';
/// \endcode
EIGEN_ROPE_API const char* aclGetRecentErrMsg() noexcept;

/// Releases an executor that will not be run.
///
/// An executor that is never run stays in memory until it is released here. One that is unknown or
/// used is refused with ACLNN_ERR_PARAM_INVALID, and a null pointer with ACLNN_ERR_PARAM_NULLPTR.
/// \code{.cpp}
/// er::aclnn::aclOpExecutor* executor = nullptr;  // from a GetWorkspaceSize call
/// const er::aclnn::aclnnStatus status = er::aclnn::aclDestroyAclOpExecutor(executor);
/// \endcode
EIGEN_ROPE_API aclnnStatus aclDestroyAclOpExecutor(const aclOpExecutor* executor) noexcept;

/// Checks a RotaryPositionEmbedding call and prepares an executor that runs it.
///
/// On success `*workspaceSize` is 0 and `*executor` awaits its execution; on failure neither is
/// written.
/// \code{.cpp}
/// namespace acl = er::aclnn;
/// Eigen::Tensor<float, 2> c(D, tokens), s(D, tokens);  // filled elsewhere
/// const acl::aclTensor in = acl::tensor(x.data(), {batch, tokens, heads, D}),
///                      out = acl::tensor(y.data(), {batch, tokens, heads, D}),
///                      cos = acl::tensor(c.data(), {1, tokens, 1, D}),
///                      sin = acl::tensor(s.data(), {1, tokens, 1, D});
/// std::uint64_t size = 0;
/// acl::aclOpExecutor* executor = nullptr;
/// if (acl::aclnnRotaryPositionEmbeddingGetWorkspaceSize(&in, &cos, &sin, 0, &out, &size,
///                                                       &executor) == acl::ACLNN_SUCCESS)
///   acl::aclnnRotaryPositionEmbedding(nullptr, size, executor, nullptr);
/// \endcode
///
/// \param mode  the number of an aclnn::Mode
/// \see rotary_position_embedding(), whose rules for tensors hold here too
EIGEN_ROPE_API aclnnStatus aclnnRotaryPositionEmbeddingGetWorkspaceSize(
    const aclTensor* x, const aclTensor* cos, const aclTensor* sin, std::int64_t mode,
    const aclTensor* out, std::uint64_t* workspaceSize, aclOpExecutor** executor) noexcept;

/// Runs a prepared RotaryPositionEmbedding call and releases its executor, whether that succeeds or
/// not.
///
/// An executor of another operation is refused and stays usable. The workspace may be null.
/// \code{.cpp}
/// er::aclnn::aclOpExecutor* executor = nullptr;  // from the GetWorkspaceSize call
/// er::Device device(pool);
/// const auto status = er::aclnn::aclnnRotaryPositionEmbedding(nullptr, 0, executor, &device);
/// \endcode
EIGEN_ROPE_API aclnnStatus aclnnRotaryPositionEmbedding(void* workspace,
                                                        std::uint64_t workspaceSize,
                                                        aclOpExecutor* executor,
                                                        aclrtStream stream) noexcept;

/// Checks a RotaryPositionEmbeddingGrad call and prepares an executor that runs it.
///
/// On success `*workspaceSize` is 0 and `*executor` awaits its execution; on failure neither is
/// written.
/// \code{.cpp}
/// namespace acl = er::aclnn;
/// acl::aclTensor g, cos, sin, d;  // views of dy, the tables and dx, as for the forward call
/// std::uint64_t size = 0;
/// acl::aclOpExecutor* executor = nullptr;
/// const auto status = acl::aclnnRotaryPositionEmbeddingGradGetWorkspaceSize(
///     &g, &cos, &sin, nullptr, 0, &d, nullptr, nullptr, &size, &executor);
/// \endcode
///
/// \param xOptional  the forward input, or null; then dcos and dsin must be null or tensors without
///                   elements, as ported code passes them
/// \param mode       the number of an aclnn::Mode
/// \see rotary_position_embedding_grad(), whose rules for tensors hold here too
EIGEN_ROPE_API aclnnStatus aclnnRotaryPositionEmbeddingGradGetWorkspaceSize(
    const aclTensor* dy, const aclTensor* cos, const aclTensor* sin, const aclTensor* xOptional,
    std::int64_t mode, const aclTensor* dx, const aclTensor* dcos, const aclTensor* dsin,
    std::uint64_t* workspaceSize, aclOpExecutor** executor) noexcept;
/// Runs a prepared RotaryPositionEmbeddingGrad call and releases its executor, whether that
/// succeeds or not.
///
/// An executor of another operation is refused and stays usable. The workspace may be null.
/// \code{.cpp}
/// er::aclnn::aclOpExecutor* executor = nullptr;  // from the GetWorkspaceSize call
/// er::aclnn::aclnnRotaryPositionEmbeddingGrad(nullptr, 0, executor, nullptr);
/// \endcode
EIGEN_ROPE_API aclnnStatus aclnnRotaryPositionEmbeddingGrad(void* workspace,
                                                            std::uint64_t workspaceSize,
                                                            aclOpExecutor* executor,
                                                            aclrtStream stream) noexcept;

/// Checks an ApplyRotaryPosEmb call and prepares an executor that rotates query and key in place.
///
/// The mode is Mode::half. On success `*workspaceSize` is 0 and `*executor` awaits its execution;
/// on failure neither is written.
/// \code{.cpp}
/// namespace acl = er::aclnn;
/// acl::aclTensor query, key, cos, sin;  // views of q, k and the tables
/// std::uint64_t size = 0;
/// acl::aclOpExecutor* executor = nullptr;
/// const auto status = acl::aclnnApplyRotaryPosEmbGetWorkspaceSize(
///     &query, &key, &cos, &sin, std::int64_t(acl::Layout::bsnd), &size, &executor);
/// \endcode
///
/// \param layout  the number of an aclnn::Layout
/// \see apply_rotary_pos_emb(), whose rules for tensors hold here too
EIGEN_ROPE_API aclnnStatus aclnnApplyRotaryPosEmbGetWorkspaceSize(
    const aclTensor* query, const aclTensor* key, const aclTensor* cos, const aclTensor* sin,
    std::int64_t layout, std::uint64_t* workspaceSize, aclOpExecutor** executor) noexcept;
/// Runs a prepared ApplyRotaryPosEmb call and releases its executor, whether that succeeds or not.
///
/// An executor of another operation is refused and stays usable. The workspace may be null.
/// \code{.cpp}
/// er::aclnn::aclOpExecutor* executor = nullptr;  // from the GetWorkspaceSize call
/// er::aclnn::aclnnApplyRotaryPosEmb(nullptr, 0, executor, nullptr);
/// \endcode
EIGEN_ROPE_API aclnnStatus aclnnApplyRotaryPosEmb(void* workspace, std::uint64_t workspaceSize,
                                                  aclOpExecutor* executor,
                                                  aclrtStream stream) noexcept;

/// Checks an ApplyRotaryPosEmbV2 call and prepares an executor that rotates query and key in place.
///
/// On success `*workspaceSize` is 0 and `*executor` awaits its execution; on failure neither is
/// written.
/// \code{.cpp}
/// namespace acl = er::aclnn;
/// acl::aclTensor query, key, cos, sin;  // views of q, k and the tables
/// std::uint64_t size = 0;
/// acl::aclOpExecutor* executor = nullptr;
/// const auto status = acl::aclnnApplyRotaryPosEmbV2GetWorkspaceSize(
///     &query, &key, &cos, &sin, std::int64_t(acl::Layout::bsnd), "interleave", &size, &executor);
/// \endcode
///
/// \param layout      the number of an aclnn::Layout
/// \param rotaryMode  "half", "interleave", "quarter" or "interleave-half"
/// \see apply_rotary_pos_emb(), whose rules for tensors hold here too
EIGEN_ROPE_API aclnnStatus aclnnApplyRotaryPosEmbV2GetWorkspaceSize(
    const aclTensor* query, const aclTensor* key, const aclTensor* cos, const aclTensor* sin,
    std::int64_t layout, const char* rotaryMode, std::uint64_t* workspaceSize,
    aclOpExecutor** executor) noexcept;
/// Runs a prepared ApplyRotaryPosEmbV2 call and releases its executor, whether that succeeds or
/// not.
///
/// An executor of another operation is refused and stays usable. The workspace may be null.
/// \code{.cpp}
/// er::aclnn::aclOpExecutor* executor = nullptr;  // from the GetWorkspaceSize call
/// er::aclnn::aclnnApplyRotaryPosEmbV2(nullptr, 0, executor, nullptr);
/// \endcode
EIGEN_ROPE_API aclnnStatus aclnnApplyRotaryPosEmbV2(void* workspace, std::uint64_t workspaceSize,
                                                    aclOpExecutor* executor,
                                                    aclrtStream stream) noexcept;

}  // namespace eigen_rope::EIGEN_ROPE_ABI::aclnn
