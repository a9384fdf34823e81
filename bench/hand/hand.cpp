// SPDX-License-Identifier: Apache-2.0
#include "hand/hand.hpp"

#include <cstring>

namespace bench {
namespace {

#if defined(__x86_64__)
bool runs_avx512(const char* target) {
  return std::strncmp(target, "AVX3", 4) == 0 && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

bool runs_avx2(const char* target) {
  return std::strncmp(target, "AVX", 3) == 0 && __builtin_cpu_supports("avx2") &&
         __builtin_cpu_supports("fma");
}
#endif

}  // namespace

HandLoops hand_loops([[maybe_unused]] const char* target, [[maybe_unused]] HandScalar scalar,
                     [[maybe_unused]] HandPairs pairs, [[maybe_unused]] std::ptrdiff_t head_size,
                     [[maybe_unused]] std::ptrdiff_t rotary) {
#if defined(__x86_64__)
  HandLoops loops;
  if (runs_avx512(target)) loops = hand_loops_avx512(scalar, pairs, head_size, rotary);
  if (loops.count == 0 && runs_avx2(target))
    loops = hand_loops_avx2(scalar, pairs, head_size, rotary);
  return loops;
#else
  return {};
#endif
}

HandLaneLoops hand_lane_loops([[maybe_unused]] const char* target,
                              [[maybe_unused]] HandScalar scalar) {
#if defined(__x86_64__)
  HandLaneLoops loops;
  if (runs_avx512(target)) add_hand_lane_loops_avx512(loops, scalar);
  if (runs_avx2(target)) add_hand_lane_loops_avx2(loops, scalar);
  return loops;
#else
  return {};
#endif
}

HandCrossings hand_crossings([[maybe_unused]] const char* target,
                             [[maybe_unused]] HandScalar scalar, [[maybe_unused]] HandPairs pairs) {
#if defined(__x86_64__)
  if (runs_avx512(target)) return hand_crossings_avx512(scalar, pairs);
  if (runs_avx2(target)) return hand_crossings_avx2(scalar, pairs);
#endif
  return {};
}

HandGradients hand_gradients([[maybe_unused]] const char* target,
                             [[maybe_unused]] HandPairs pairs) {
#if defined(__x86_64__)
  if (runs_avx512(target)) return hand_gradients_avx512(pairs);
  if (runs_avx2(target)) return hand_gradients_avx2(pairs);
#endif
  return {nullptr, nullptr};
}

}  // namespace bench
