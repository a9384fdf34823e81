// SPDX-License-Identifier: Apache-2.0
//
// What is no table is refused wherever a rotation reads one, in a sentence that says what a table is.
#include <vector>

#include <rope/composed.hpp>
#include <rope/rope.hpp>

#include "refused/refused.hpp"

namespace {

[[maybe_unused]] void rotates(const rope::CosSinCache<float>& cache, const rope::Frequencies& frequencies,
                              const rope::GrowingCache<float>& growing, const rope::Positions& positions, const rope::Layout& layout,
                              const std::vector<float>& entries) {
  const Eigen::Tensor<float, 3> x(8, 2, 3);
  (void)rope::rotate(x, WRONG(frequencies, cache), rope::half);  // refused: a table must be a CosSinCache
  (void)rope::transpose(x, WRONG(growing, cache), rope::half);   // refused: a table must be
  (void)rope::inverse(x, WRONG(positions, cache), rope::half);   // refused: a table must be
  (void)rope::tangent_of(WRONG(layout, cache), entries);         // refused: a table must be
  (void)rope::composed::rotate(x, WRONG(7, cache), rope::half);  // refused: a table must be
  Eigen::Tensor<float, 3> y(8, 2, 3);
  rope::rotate_to(y, x, WRONG(entries, cache), rope::half);  // refused: a table must be
  rope::rotate_inplace(y, WRONG(7.0, cache), rope::half);    // refused: a table must be
  const auto rows = rope::view(y);
  rope::rotate_inplace(rows, WRONG(x, cache), rope::half);                                              // refused: a table must be
  (void)rope::gradients(rope::output(rows), rows, WRONG('7', cache), rope::half, rope::Wanted::angle);  // refused: a table must be
  (void)rope::rotate(x, growing.rows(0, 3), rope::half);
}

}  // namespace
