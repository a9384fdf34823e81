// SPDX-License-Identifier: Apache-2.0
//
// A converted file, written from beginning to end through buffers of a few MiB: memory does not depend on the model's size.
//
// The tensors keep their order and places; the rows of those planned move within their heads, everything else is copied bit for bit. The
// metadata is kept and gets two entries: rope_pairing, the pairing it is for now, and rope_conversion, what was done.
#pragma once

#include <filesystem>

#include "convert_plan.hpp"

namespace rope::tool {

/// Writes shard number `shard`, converted, to `destination`, which must be new or empty; on the disk when it returns. Throws FileError.
void write_converted(const ConvertPlan& plan, const Model& model, std::size_t shard, const std::filesystem::path& destination);

/// A copy of a file, on the disk when it returns. Throws FileError.
void copy_whole(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace rope::tool
