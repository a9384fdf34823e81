// SPDX-License-Identifier: Apache-2.0
//
// Every recording below some folders, compared with what this library computes.
//
// A recording is a cases.json, or a cases.tsv where there is none, of ggml, ONNX or Ascend; its fields tell which. inv_freq.json and
// errors.json are known but not run. Finds and dispatches; reading and comparing are elsewhere.
#pragma once

#include <filesystem>
#include <vector>

#include "report.hpp"
#include "verify_ggml.hpp"

namespace rope::tool {

/// Throws FileError for a folder that holds no recording, and for every file that cannot be used. Folders met twice are run once.
Report verify(const std::vector<std::filesystem::path>& folders, PrecisionChoice precision);

}  // namespace rope::tool
