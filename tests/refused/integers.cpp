// SPDX-License-Identifier: Apache-2.0
//
// Whole numbers cannot be rotated, and nothing else would refuse them: one sentence for each place
// they can be given to.
#include "refused/refused.hpp"

#include <complex>
#include <cstdint>
#include <vector>

#include <eigen_rope/eigen_rope.hpp>
#include <eigen_rope/forms/composed.hpp>
#include <eigen_rope/forms/reference.hpp>

namespace {

template <class Scalar>
using Rows = Eigen::Tensor<Scalar, 3>;

template <class Scalar>
Rows<Scalar> rows() {
  return Rows<Scalar>(8, 2, 3);
}

enum Count { none };

[[maybe_unused]] void rotates(const eigen_rope::Cache<float>& cache,
                              const eigen_rope::TangentTable<float>& tangent) {
  const eigen_rope::Shape shape{8, 2, 3};
  const auto x = rows<WRONG(int, float)>();
  // refused: x must hold floating-point or differentiable numbers
  (void)eigen_rope::rotate(x, cache, eigen_rope::split_half);
  // refused: x must hold
  (void)eigen_rope::rotate_backward(rows<WRONG(long, float)>(), cache, eigen_rope::split_half);
  // refused: x must hold
  (void)eigen_rope::rotate_inverse(rows<WRONG(short, float)>(), cache, eigen_rope::split_half);
  // refused: x must hold
  (void)eigen_rope::rotate(rows<WRONG(bool, float)>(), cache, eigen_rope::split_half);

  auto y = rows<WRONG(unsigned, float)>();
  // refused: x must hold
  eigen_rope::rotate_to(y, rows<WRONG(unsigned, float)>(), cache, eigen_rope::split_half);
  auto in_place = rows<WRONG(signed char, float)>();
  // refused: x must hold
  eigen_rope::rotate_inplace(in_place, cache, eigen_rope::split_half);
  eigen_rope::StridedView<WRONG(unsigned char, float)> view{nullptr, shape, {8, 16}};
  // refused: x must hold
  eigen_rope::rotate_inplace(view, cache, eigen_rope::split_half);
  eigen_rope::StridedView<WRONG(std::complex<int>, std::complex<float>)> complex{
      nullptr, shape, {8, 16}};
  // refused: x must hold
  eigen_rope::rotate_to(complex, complex, cache, eigen_rope::split_half);
  eigen_rope::StridedView<WRONG(unsigned short, double)> dx{nullptr, shape, {8, 16}};
  // refused: x must hold
  eigen_rope::jvp_to(dx, dx, dx, cache, tangent, eigen_rope::split_half);

  const eigen_rope::StridedView<WRONG(long long, float)> g{nullptr, shape, {8, 16}};
  // refused: x must hold
  (void)eigen_rope::gradients(g, g, cache, eigen_rope::split_half);
  eigen_rope::TableGradient<float> gradient;
  const eigen_rope::StridedView<WRONG(char16_t, float)> input{nullptr, shape, {8, 16}};
  // refused: x must hold
  eigen_rope::table_gradient(gradient, input, input, eigen_rope::split_half);

  WRONG(wchar_t, float) row[8] = {};
  // refused: x must hold
  eigen_rope::reference::rotate(row, row, eigen_rope::Shape{8}, cache.view(),
                                eigen_rope::split_half);
  // refused: x must hold
  (void)eigen_rope::composed::rotate(rows<WRONG(char32_t, float)>(), cache, eigen_rope::split_half);
}

[[maybe_unused]] void moves(const eigen_rope::Placement& here) {
  auto keys = rows<WRONG(char, float)>();
  // refused: a cache must hold
  eigen_rope::rerotate(keys, here, here, eigen_rope::split_half);
}

[[maybe_unused]] void makes_tables(const eigen_rope::Frequencies& frequencies,
                                   const eigen_rope::Positions& positions) {
  // refused: a cache must hold floating-point
  (void)eigen_rope::Cache<WRONG(int, float)>(frequencies, positions);
  // refused: a cache must hold
  (void)eigen_rope::Cache<WRONG(bool, double)>::from_rates({1}, 1, positions);
  // refused: a cache must hold
  (void)eigen_rope::Cache<WRONG(Count, float)>::from_angles({}, {}, 1, {});
  // refused: a growing cache must hold float,
  const eigen_rope::GrowingCache<WRONG(int, float)> growing(frequencies);
  // refused: a token row must hold float,
  const eigen_rope::TokenRow<WRONG(int, float)> row(frequencies);
  const auto entries = rows<WRONG(int, float)>();
  // refused: a table must hold
  (void)eigen_rope::table_of(entries, entries);
  const std::vector<WRONG(long, double)> angles;
  const eigen_rope::Cache<float> cache(frequencies, positions);
  // refused: tangents must be
  (void)eigen_rope::tangent_of(cache, angles);
  // refused: a table must hold
  const eigen_rope::TableView<WRONG(std::complex<long>, std::complex<double>)> table;
  (void)eigen_rope::rotate(rows<std::complex<double>>(), table, eigen_rope::split_half);
  // refused: the parameters of rates must be
  (void)eigen_rope::Powers<WRONG(int, float)>{}.rates();
}

/// Integers given as positions are right.
[[maybe_unused]] void accepts(const eigen_rope::Frequencies& frequencies) {
  (void)eigen_rope::Positions::ids(std::vector<std::int32_t>{1, 2});
  eigen_rope::TokenRow<float> row(frequencies);
  (void)row.at(7);
}

}  // namespace
