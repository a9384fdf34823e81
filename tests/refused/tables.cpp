// SPDX-License-Identifier: Apache-2.0
//
// What is no table is refused wherever a rotation reads one, in a sentence that says what a table
// is.
#include <vector>

#include <eigen_rope/eigen_rope.hpp>
#include <eigen_rope/forms/composed.hpp>

#include "refused/refused.hpp"

namespace {

[[maybe_unused]] void rotates(const eigen_rope::Cache<float>& cache,
                              const eigen_rope::Frequencies& frequencies,
                              const eigen_rope::GrowingCache<float>& growing,
                              const eigen_rope::Positions& positions,
                              const eigen_rope::Layout& layout, const std::vector<float>& entries) {
  const Eigen::Tensor<float, 3> x(8, 2, 3);
  // refused: a table must be a Cache
  (void)eigen_rope::rotate(x, WRONG(frequencies, cache), eigen_rope::split_half);
  // refused: a table must be
  (void)eigen_rope::rotate_backward(x, WRONG(growing, cache), eigen_rope::split_half);
  // refused: a table must be
  (void)eigen_rope::rotate_inverse(x, WRONG(positions, cache), eigen_rope::split_half);
  // refused: a table must be
  (void)eigen_rope::tangent_of(WRONG(layout, cache), entries);
  // refused: a table must be
  (void)eigen_rope::composed::rotate(x, WRONG(7, cache), eigen_rope::split_half);
  Eigen::Tensor<float, 3> y(8, 2, 3);
  // refused: a table must be
  eigen_rope::rotate_to(y, x, WRONG(entries, cache), eigen_rope::split_half);
  // refused: a table must be
  eigen_rope::rotate_inplace(y, WRONG(7.0, cache), eigen_rope::split_half);
  const auto rows = eigen_rope::strided_view(y);
  // refused: a table must be
  eigen_rope::rotate_inplace(rows, WRONG(x, cache), eigen_rope::split_half);
  // refused: a table must be
  (void)eigen_rope::gradients(y, x, WRONG('7', cache), eigen_rope::split_half);
  (void)eigen_rope::rotate(x, growing.rows(0, 3), eigen_rope::split_half);
}

}  // namespace
