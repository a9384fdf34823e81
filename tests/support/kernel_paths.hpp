// SPDX-License-Identifier: Apache-2.0
//
// Every way a compiled kernel may go about one call: each instruction set, with stores through the
// cache and past it.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "eigen_rope/machine/streaming.hpp"
#include "support/only_target.hpp"

namespace eigen_rope::test {

enum class Path { through_the_cache, past_the_cache };

/// Calls visit(path) for every target and path, chosen while it runs.
template <class Visit>
void on_every_path(const Visit& visit) {
  static const std::vector<std::string> targets = kernel_targets();
  for (const std::string& target : targets) {
    const OnlyTarget only(target);
    set_streaming_threshold(~std::size_t{0});
    visit(Path::through_the_cache);
    set_streaming_threshold(0);
    visit(Path::past_the_cache);
  }
  reset_streaming_threshold();
}

}  // namespace eigen_rope::test
