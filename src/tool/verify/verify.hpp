// SPDX-License-Identifier: Apache-2.0
//
// Every recording below some folders, compared with what this library computes.
//
// A recording is a cases.json, or a cases.tsv where there is none, of ggml, ONNX or Ascend; its
// fields tell which. An inv_freq.json has the rates of scalings. errors.json is known but not run.
// Finds and dispatches; reading and comparing are elsewhere.
#pragma once

#include <filesystem>
#include <vector>

#include "tool/verify/ggml.hpp"
#include "tool/verify/report.hpp"

namespace eigen_rope::tool {

/// Throws FileError for a folder that holds no recording, and for every file that cannot be used. A
/// path may also be a file of scalings, of any name that ends in .json. What is met twice is run
/// once.
Report verify(const std::vector<std::filesystem::path>& paths, PrecisionChoice precision);

}  // namespace eigen_rope::tool
