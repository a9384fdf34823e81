// SPDX-License-Identifier: Apache-2.0
//
// A scalar of x and that of its table, as one type: what tests of all such pairs are made for.
#pragma once

namespace eigen_rope::test {

template <class S, class E>
struct ScalarAndEntry {
  using Scalar = S;
  using Entry = E;
};

}  // namespace eigen_rope::test
