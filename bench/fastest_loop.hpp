// SPDX-License-Identifier: Apache-2.0
//
// The fastest of the loops written by hand (hand/hand.hpp) for one call, found by timing them.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "case.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/machine/kernel_target.hpp"
#include "hand/hand.hpp"
#include "timing.hpp"

namespace bench {

/// Whether the loop can do the call, and every row of y begins where its stores may.
template <class T>
bool fits(const HandLoop& loop, const HandCall& call) {
  const auto aligned = [&](std::ptrdiff_t elements) {
    return static_cast<std::size_t>(elements) * sizeof(T) % loop.alignment == 0;
  };
  const bool listed = call.slots != nullptr || call.rows != nullptr;
  if (listed && loop.order != HandOrder::token_by_token) return false;
  if (call.heads % 4 != 0 && loop.order == HandOrder::four_heads) return false;
  return aligned(call.y_head) && aligned(call.y_token) &&
         reinterpret_cast<std::uintptr_t>(call.y) % loop.alignment == 0;
}

template <class T>
constexpr HandScalar hand_scalar = HandScalar::f32;
template <>
inline constexpr HandScalar hand_scalar<double> = HandScalar::f64;
template <>
inline constexpr HandScalar hand_scalar<Eigen::half> = HandScalar::f16;
template <>
inline constexpr HandScalar hand_scalar<Eigen::bfloat16> = HandScalar::bf16;

inline HandPairs hand_pairs(eigen_rope::Pairing pairing) {
  return pairing.kind() == eigen_rope::PairKind::split_half ? HandPairs::split_half
                                                            : HandPairs::interleaved;
}

/// The fastest of the loops for which can_run(loop) holds. Several rounds, in which the loops take
/// turns; the least of each loop's times counts, because others on the machine can only slow one.
template <class Loop, class Call, class CanRun>
Loop fastest_of(const Loop* loops, int count, const Call& call, std::size_t bytes,
                const CanRun& can_run) {
  constexpr int rounds = 9;
  int best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < count; ++i) {
      if (!can_run(loops[i])) continue;
      const auto run = loops[i].run;
      const double seconds = seconds_of_call(bytes, [run, &call] { run(call); });
      if (seconds < least) {
        least = seconds;
        best = i;
      }
    }
  }
  return loops[best];
}

template <class T>
HandLoops loops_for(const CaseShape& shape, eigen_rope::Pairing pairing) {
  return hand_loops(eigen_rope::kernel_target().c_str(), hand_scalar<T>, hand_pairs(pairing),
                    shape.head_size, shape.rotary_dims);
}

template <class T>
HandLoop fastest_loop(const HandLoops& loops, const HandCall& call, std::size_t bytes) {
  return fastest_of(loops.loop, loops.count, call, bytes,
                    [&](const HandLoop& loop) { return fits<T>(loop, call); });
}

}  // namespace bench
