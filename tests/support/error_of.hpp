// SPDX-License-Identifier: Apache-2.0
//
// The message of a refusal, so that a test can compare it as a whole.
#pragma once

#include <string>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::test {

/// The message of the eigen_rope::Error that `call` throws. No message equals the text for no
/// error; any other exception passes through.
template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no eigen_rope::Error";
}

}  // namespace eigen_rope::test
