// SPDX-License-Identifier: Apache-2.0
//
// Cosine and sine of position * rate to about 2^-85, by counting in turns.
//
// A rate in radians is divided by 2 pi once per pair (rate_in_turns). Then the angle of an entry is
// reduced exactly by dropping whole turns from the error-free product, and what is left splits into
// k/128 of a turn, looked up, and a rest of at most 1/256, for which a few terms of the
// series are enough. Private to the library.
#pragma once

#include "eigen_rope/numbers/double_double.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// cos and sin as double-doubles.
struct CosSin {
  DoubleDouble cos;
  DoubleDouble sin;
};

/// rate / (2 pi)
DoubleDouble rate_in_turns(DoubleDouble rate);

/// position * turns less whole turns, at most 2 in size. Only the two small cross terms of the
/// product are rounded.
DoubleDouble part_of_turn(DoubleDouble position, DoubleDouble turns);

/// cos and sin of 2 pi * position * turns.
CosSin cos_sin_of_turns(DoubleDouble position, DoubleDouble turns);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
