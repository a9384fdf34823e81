// SPDX-License-Identifier: Apache-2.0
//
// A converted file, written from beginning to end through buffers of a few MiB: memory does not
// depend on the model's size.
//
// The tensors keep their order and places; the rows of those planned move within their heads,
// everything else is copied bit for bit. The metadata is kept and gets two entries: rope_pairing,
// the pairing it is for now, and rope_conversion, what was done. Files keep their permissions. A
// row of q or k that is not finite ends the work when it is met.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

#include "tool/convert/plan.hpp"
#include "tool/convert/progress.hpp"

namespace eigen_rope::tool {

/// Writes shard number `shard`, converted, to `destination`, which must be new or empty; on the
/// disk when it returns. Throws FileError.
void write_converted(const ConvertPlan& plan, const Model& model, std::size_t shard,
                     const std::filesystem::path& destination, Progress& progress);

/// A copy of a file, with its permissions, on the disk when it returns. Throws FileError.
void copy_whole(const std::filesystem::path& from, const std::filesystem::path& to);

/// The first element that is not finite, of `count` elements of this type.
std::optional<std::size_t> first_not_finite(const std::byte* elements, std::size_t count,
                                            ScalarType type);

/// Refuses it by name: the file, the tensor and the row.
[[noreturn]] void refuse_not_finite(const std::filesystem::path& file, const std::string& tensor,
                                    std::uint64_t row);

}  // namespace eigen_rope::tool
