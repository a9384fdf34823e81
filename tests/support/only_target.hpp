// SPDX-License-Identifier: Apache-2.0
//
// One kernel target for the length of a scope.
#pragma once

#include <string>

#include "eigen_rope/machine/kernel_target.hpp"

namespace eigen_rope::test {

class OnlyTarget {
 public:
  explicit OnlyTarget(const std::string& name) { set_kernel_target(name); }
  ~OnlyTarget() { set_kernel_target(""); }
  OnlyTarget(const OnlyTarget&) = delete;
  OnlyTarget& operator=(const OnlyTarget&) = delete;
};

}  // namespace eigen_rope::test
