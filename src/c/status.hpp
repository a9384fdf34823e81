// SPDX-License-Identifier: Apache-2.0
//
// Calls of the C interface: what they throw becomes a status and the thread's message.
// Private to the room.
#pragma once

#include "eigen_rope/c/types.h"

namespace eigen_rope::EIGEN_ROPE_ABI::c {

/// The status of the exception that is being handled, whose text becomes the thread's message.
/// Allocates nothing.
eigen_rope_status status_of_exception() noexcept;

/// Calls call() and returns its status.
template <class Call>
eigen_rope_status status_of(const Call& call) noexcept {
  try {
    call();
  } catch (...) {
    return status_of_exception();
  }
  return EIGEN_ROPE_OK;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::c
