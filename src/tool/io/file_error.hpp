// SPDX-License-Identifier: Apache-2.0
//
// How a file that cannot be used is refused: one sentence that names it, `[rope] <file>: <rule>`,
// on one line and of bounded length whatever words of the file it repeats.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace eigen_rope::tool {

/// A file or folder that cannot be used.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws FileError. `where` is the file, and the case or tensor in it if there is one.
[[noreturn]] void refuse(const std::string& where, std::string_view rule);

}  // namespace eigen_rope::tool
