// SPDX-License-Identifier: Apache-2.0
//
// Rotations of guarded views: out of place and in place, on every path.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "eigen_rope/rotation/rotate_strided.hpp"
#include "support/kernel_paths.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test {

/// Rotates `from` into `to`, the memory of `y`, which begins as poison, and then `to` in place from
/// `values`. Calls check() after each, until a test fails.
template <class Scalar, class GuardedMemory, class Table, class Check>
void rotate_on_every_path(const StridedView<const Scalar>& from, const StridedView<Scalar>& to,
                          const GuardedMemory& y, const std::vector<Scalar>& values,
                          const Table& table, const Case& c, const Check& check) {
  on_every_path([&](Path path) {
    if (testing::Test::HasFailure()) return;
    y.set_poison();
    rotate_to(to, from, table, c.pairing, c.direction);
    check();
    if (path == Path::past_the_cache) return;
    y.set(values);
    rotate_inplace(to, table, c.pairing, c.direction);
    check();
  });
}

}  // namespace eigen_rope::test
