// SPDX-License-Identifier: Apache-2.0
#include "c/arguments.hpp"
#include "c/status.hpp"
#include "eigen_rope/any/choices.hpp"
#include "eigen_rope/c/eigen_rope.h"

namespace c = eigen_rope::c;

eigen_rope_status eigen_rope_pairing_of(const char* name, std::int32_t* pairing) noexcept {
  return c::status_of([&] {
    c::require_given(name, "name");
    c::require_given(pairing, "pairing");
    switch (eigen_rope::any::pairing_of(name).kind()) {
      case eigen_rope::PairKind::split_half: *pairing = EIGEN_ROPE_SPLIT_HALF; return;
      case eigen_rope::PairKind::interleaved: *pairing = EIGEN_ROPE_INTERLEAVED; return;
      case eigen_rope::PairKind::quarter: *pairing = EIGEN_ROPE_QUARTER; return;
      case eigen_rope::PairKind::interleaved_to_split_half:
        *pairing = EIGEN_ROPE_INTERLEAVED_TO_SPLIT_HALF;
        return;
    }
  });
}

eigen_rope_status eigen_rope_direction_of(const char* name, std::int32_t* direction) noexcept {
  return c::status_of([&] {
    c::require_given(name, "name");
    c::require_given(direction, "direction");
    switch (eigen_rope::any::direction_of(name)) {
      case eigen_rope::Direction::forward: *direction = EIGEN_ROPE_FORWARD; return;
      case eigen_rope::Direction::backward: *direction = EIGEN_ROPE_BACKWARD; return;
      case eigen_rope::Direction::inverse: *direction = EIGEN_ROPE_INVERSE; return;
    }
  });
}
