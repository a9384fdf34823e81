// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/rows/detail/plan.hpp"

#include <fmt/core.h>

#include <utility>

#include "eigen_rope/machine/kernel_target.hpp"
#include "eigen_rope/machine/streaming.hpp"
#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {
namespace {

void check_window(Index row_length, const Pairing& pairing) {
  const Index offset = pairing.offset();
  if (offset < 0) fail("window offset must not be negative", static_cast<std::int64_t>(offset));
  if (offset > row_length) {
    fail(fmt::format("window offset must be at most the head size {}", row_length),
         static_cast<std::int64_t>(offset));
  }
  const Index dims = pairing.rotary_dims(row_length);
  if (dims < 0 || (dims == 0 && row_length > 0))
    fail("rotary dims must be positive", static_cast<std::int64_t>(dims));
  if (dims % 2 != 0) fail("rotary dims must be even", static_cast<std::int64_t>(dims));
  if (pairing.kind() == PairKind::quarter && dims % 4 != 0) {
    fail("rotary dims must be divisible by 4 for quarter pairing", static_cast<std::int64_t>(dims));
  }
  if (dims > row_length - offset) {
    fail(fmt::format("rotary dims must be at most {} (head size {} less window offset {})",
                     row_length - offset, row_length, offset),
         static_cast<std::int64_t>(dims));
  }
}

}  // namespace

void check_row(Index row_length, Index table_width, const Pairing& pairing) {
  require_kernel_target();
  require_streaming_threshold();
  if (fits_row(row_length, table_width, pairing)) return;
  check_window(row_length, pairing);
  const Index dims = pairing.rotary_dims(row_length);
  if (row_length == 0 && table_width != 0) {
    fail("table width must be 0 for an x without features (head size 0)",
         static_cast<std::int64_t>(table_width));
  }
  if (table_width != dims / 2 && table_width != dims) {
    fail(fmt::format("table width must be {} (one entry per pair) or {} (one per rotated element)",
                     dims / 2, dims),
         static_cast<std::int64_t>(table_width));
  }
}

Runs runs_of(const RowPlan& plan) {
  Runs runs;
  runs.count = plan.kind == PairKind::quarter ? 2 : 1;
  const Index pairs = plan.rotary_dims / 2 / runs.count;
  const Index in_step = plan.kind == PairKind::interleaved || plan.permutes() ? 2 : 1;
  const Index out_step = plan.kind == PairKind::interleaved ? 2 : 1;
  for (int i = 0; i < runs.count; ++i) {
    const Index first = i * pairs;
    const PairSlots slot = pair_slots(plan.kind, first, plan.rotary_dims);
    Run& run = runs.run[static_cast<std::size_t>(i)];
    run = {slot.a, slot.b, in_step, slot.A, slot.B, out_step, first, first, 1, pairs};
    if (plan.full_width) {
      run.table_a = slot.A;
      run.table_b = slot.B;
      run.table_step = run.out_step;
    }
    if (plan.direction != Direction::forward) {
      std::swap(run.in_a, run.out_a);
      std::swap(run.in_b, run.out_b);
      std::swap(run.in_step, run.out_step);
    }
  }
  return runs;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
