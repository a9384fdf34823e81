// SPDX-License-Identifier: Apache-2.0
//
// What one row's rotation does, checked once and laid out for a loop.
//
// A pairing over a row of D elements becomes one or two runs: stretches of pairs whose members,
// results and table entries each advance by a constant step. split_half is one run of step 1,
// interleaved one of step 2, quarter two of step 1, interleaved_to_split_half one that reads in
// steps of 2 and writes in steps of 1. Backward and inverse swap where a run reads and writes. A
// plan knows neither data nor a scalar type.
#pragma once

#include <array>

#include "eigen_rope/choices/direction.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// `count` pairs; the k-th has its members at in_a + k in_step and in_b + k in_step of the window,
/// its results likewise at out, and its coefficients at table_a + k table_step and table_b + k
/// table_step of a table row.
struct Run {
  Index in_a, in_b, in_step;
  Index out_a, out_b, out_step;
  Index table_a, table_b, table_step;
  Index count;

  /// `pairs` of its pairs, from pair `k` on.
  Run part(Index k, Index pairs) const {
    Run result = *this;
    result.in_a += k * in_step;
    result.in_b += k * in_step;
    result.out_a += k * out_step;
    result.out_b += k * out_step;
    result.table_a += k * table_step;
    result.table_b += k * table_step;
    result.count = pairs;
    return result;
  }
};

/// Small, because every expression carries one.
struct RowPlan {
  Index row_length = 0;
  Index offset = 0;
  Index rotary_dims = 0;
  PairKind kind = PairKind::split_half;
  Direction direction = Direction::forward;
  bool full_width = false;

  /// Reads and writes different slots: in place, a row needs a copy.
  bool permutes() const { return kind == PairKind::interleaved_to_split_half; }
};

struct Runs {
  int count;
  std::array<Run, 2> run;

  const Run* begin() const { return run.data(); }
  const Run* end() const { return run.data() + count; }
};

EIGEN_ROPE_API Runs runs_of(const RowPlan& plan);

/// Whether the window fits a row of `row_length`, and `table_width` is one entry per pair or one
/// per rotated element.
inline bool fits_row(Index row_length, Index table_width, const Pairing& pairing) {
  const Index offset = pairing.offset();
  if (offset < 0 || offset > row_length) return false;
  const Index dims = pairing.rotary_dims(row_length);
  return dims >= 0 && (dims != 0 || row_length == 0) && dims <= row_length - offset &&
         dims % (pairing.kind() == PairKind::quarter ? 4 : 2) == 0 &&
         (table_width == dims || table_width == dims / 2);
}

/// Throws eigen_rope::Error where the window does not fit a row of `row_length`, or `table_width`
/// is neither one entry per pair nor one per rotated element.
EIGEN_ROPE_API void check_row(Index row_length, Index table_width, const Pairing& pairing);

/// - Errors:   eigen_rope::Error as check_row() throws it.
inline RowPlan make_row_plan(Index row_length, Index table_width, const Pairing& pairing,
                             Direction direction) {
  check_row(row_length, table_width, pairing);
  const Index dims = pairing.rotary_dims(row_length);
  return {row_length, pairing.offset(), dims, pairing.kind(), direction, table_width != dims / 2};
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
