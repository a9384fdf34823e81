// SPDX-License-Identifier: Apache-2.0
//
// What the opaque types of the C interface are.
// Private to the room.
#pragma once

#include "eigen_rope/c/types.h"
#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/positions.hpp"

struct eigen_rope_frequencies {
  eigen_rope::Frequencies value;
};

struct eigen_rope_positions {
  eigen_rope::Positions value;
};
