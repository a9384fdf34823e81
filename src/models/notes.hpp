// SPDX-License-Identifier: Apache-2.0
//
// What a reader does with what it does not like: throw, or note it and go on; and with the names of
// a file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "eigen_rope/models/model_rope.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

class Notes {
 public:
  explicit Notes(Strictness strictness) : strictness_(strictness) {}

  /// A sentence for ModelRope::warnings, in both modes; one said before is not repeated.
  void warn(std::string sentence);
  /// strict: throws `[rope] rule, got got (read leniently, instead)`. lenient: warns `rule, got
  /// got: instead`.
  void mind(std::string_view rule, std::string_view got, std::string_view instead);

  std::vector<std::string> take() { return std::move(warnings_); }

 private:
  Strictness strictness_;
  std::vector<std::string> warnings_;
};

/// What the strict reader's refusal says of the lenient one.
std::string read_leniently(std::string_view instead);

/// A name of a file, for people: on one line, of at most 100 bytes.
std::string printable(std::string_view name);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
