// SPDX-License-Identifier: Apache-2.0
//
// What this library answers to a gradcheck problem: rotate_to, gradients and everything made from
// them, called as a user would.
//
// Answers are found by name; reference.cpp expects the same ones. Computes no derivative of its own
// but NTK's chain from the stretched base, which the library leaves to its caller.
#pragma once

#include "tool/gradcheck/quantity.hpp"

namespace eigen_rope::tool {

/// Throws eigen_rope::Error as what it calls.
Answers library_answers(const Problem& problem);

}  // namespace eigen_rope::tool
