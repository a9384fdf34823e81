// SPDX-License-Identifier: Apache-2.0
//
// What a run may be, said once: for the options, which people type, and for checkpoints, which are
// files and may say anything.
#pragma once

#include <cstdint>

namespace train_lm {

template <class T>
struct Limits {
  T least, most;
  constexpr bool hold(T value) const { return value >= least && value <= most; }  // not of NaN
};

inline constexpr Limits<std::int64_t> vocabulary_limits{1, 256};
inline constexpr Limits<std::int64_t> layers_limits{1, 64};
inline constexpr Limits<std::int64_t> dim_limits{1, 4096};
inline constexpr Limits<std::int64_t> context_limits{2, 1 << 16};
inline constexpr Limits<std::int64_t> batch_limits{1, 1 << 16};
inline constexpr Limits<std::int64_t> steps_limits{1, 10'000'000};
inline constexpr Limits<std::int64_t> threads_limits{0, 1024};
inline constexpr Limits<std::int64_t> ranks_limits{1, 1024};
inline constexpr Limits<double> rank_timeout_limits{0.1, 1e6};
inline constexpr Limits<double> rope_factor_limits{1.0, 1e6};
inline constexpr Limits<double> rope_base_limits{1.0001, 1e12};
inline constexpr Limits<double> rates_factor_limits{0.0, 1e6};
inline constexpr Limits<double> learning_rate_limits{0.0, 1.0};

}  // namespace train_lm
