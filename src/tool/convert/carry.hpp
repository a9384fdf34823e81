// SPDX-License-Identifier: Apache-2.0
//
// The files beside a model's weights (config.json, tokeniser, chat template, licence), which a
// converted folder needs as well.
//
// Every file of the folder is carried along but weights of any format, their indexes, hidden files
// and folders: what holds weights holds them for the old pairing. Copies are bit for bit and keep
// their permissions; only a config.json that records the pairing (rope_interleave) is written anew.
// A converted file, unlike a folder, carries nothing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tool/convert/plan.hpp"

namespace eigen_rope::tool {

struct Carried {
  /// Names in the folder, sorted.
  std::vector<std::string> files{};
  /// Files with weights and folders, which stay where they are.
  std::vector<std::string> left{};
  /// What config.json says otherwise now, as a sentence; empty if it is copied.
  std::string adapted{};
  /// config.json as it shall be, where it is adapted.
  std::string config{};
};

/// What will be carried along to `destination`. Nothing is written. Refuses a config.json that
/// records the pairing and has no word for `to`.
Carried plan_carried(const Model& model, PairKind to, const std::filesystem::path& destination);

/// Throws FileError.
void write_carried(const Carried& carried, const Model& model, const std::filesystem::path& draft);

}  // namespace eigen_rope::tool
