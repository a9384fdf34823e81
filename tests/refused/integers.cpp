// SPDX-License-Identifier: Apache-2.0
//
// Whole numbers cannot be rotated, and nothing else would refuse them: one sentence for each place they can be given to.
#include "refused/refused.hpp"

#include <complex>
#include <cstdint>
#include <vector>

#include <rope/composed.hpp>
#include <rope/reference.hpp>
#include <rope/rope.hpp>

namespace {

template <class Scalar>
using Rows = Eigen::Tensor<Scalar, 3>;

template <class Scalar>
Rows<Scalar> rows() {
  return Rows<Scalar>(8, 2, 3);
}

enum Count { none };

[[maybe_unused]] void rotates(const rope::CosSinCache<float>& cache, const rope::TangentTable<float>& tangent) {
  const rope::Shape shape{8, 2, 3};
  const auto x = rows<WRONG(int, float)>();
  (void)rope::rotate(x, cache, rope::half);                              // refused: x must hold floating-point or differentiable numbers
  (void)rope::transpose(rows<WRONG(long, float)>(), cache, rope::half);  // refused: x must hold
  (void)rope::inverse(rows<WRONG(short, float)>(), cache, rope::half);   // refused: x must hold
  (void)rope::rotate(rows<WRONG(bool, float)>(), cache, rope::half);     // refused: x must hold

  auto y = rows<WRONG(unsigned, float)>();
  rope::rotate_to(y, rows<WRONG(unsigned, float)>(), cache, rope::half);  // refused: x must hold
  auto in_place = rows<WRONG(signed char, float)>();
  rope::rotate_inplace(in_place, cache, rope::half);  // refused: x must hold
  rope::StridedView<WRONG(unsigned char, float)> view{nullptr, shape, {8, 16}};
  rope::rotate_inplace(view, cache, rope::half);  // refused: x must hold
  rope::StridedView<WRONG(std::complex<int>, std::complex<float>)> complex{nullptr, shape, {8, 16}};
  rope::rotate_to(complex, complex, cache, rope::half);  // refused: x must hold
  rope::StridedView<WRONG(unsigned short, double)> dx{nullptr, shape, {8, 16}};
  rope::jvp_to(dx, dx, dx, cache, tangent, rope::half);  // refused: x must hold

  const rope::StridedView<WRONG(long long, float)> g{nullptr, shape, {8, 16}};
  (void)rope::gradients(rope::output(g), g, cache, rope::half, rope::Wanted::angle);  // refused: x must hold
  rope::TableGradient<float> gradient;
  const rope::StridedView<WRONG(char16_t, float)> input{nullptr, shape, {8, 16}};
  rope::table_gradient(gradient, input, input, rope::half);  // refused: x must hold

  WRONG(wchar_t, float) row[8] = {};
  rope::reference::rotate(row, row, rope::Shape{8}, cache.view(), rope::half);      // refused: x must hold
  (void)rope::composed::rotate(rows<WRONG(char32_t, float)>(), cache, rope::half);  // refused: x must hold
}

[[maybe_unused]] void moves(const rope::Placement& here) {
  auto keys = rows<WRONG(char, float)>();
  rope::rerotate(keys, here, here, rope::half);  // refused: a cache must hold
}

[[maybe_unused]] void makes_tables(const rope::Frequencies& frequencies, const rope::Positions& positions) {
  (void)rope::CosSinCache<WRONG(int, float)>(frequencies, positions);           // refused: a cache must hold floating-point
  (void)rope::CosSinCache<WRONG(bool, double)>::from_rates({1}, 1, positions);  // refused: a cache must hold
  (void)rope::CosSinCache<WRONG(Count, float)>::from_angles({}, {}, 1, {});     // refused: a cache must hold
  const rope::GrowingCache<WRONG(int, float)> growing(frequencies);             // refused: a growing cache must hold float,
  const rope::TokenRow<WRONG(int, float)> row(frequencies);                     // refused: a token row must hold float,
  const auto entries = rows<WRONG(int, float)>();
  (void)rope::table_of(entries, entries);  // refused: a table must hold
  const std::vector<WRONG(long, double)> angles;
  const rope::CosSinCache<float> cache(frequencies, positions);
  (void)rope::tangent_of(cache, angles);                                         // refused: tangents must be
  const rope::TableView<WRONG(std::complex<long>, std::complex<double>)> table;  // refused: a table must hold
  (void)rope::rotate(rows<std::complex<double>>(), table, rope::half);
  (void)rope::power_rates(rope::BasicPowers<WRONG(int, float)>{});  // refused: the parameters of rates must be
}

/// Integers given as positions are right.
[[maybe_unused]] void accepts(const rope::Frequencies& frequencies) {
  (void)rope::Positions::ids(std::vector<std::int32_t>{1, 2});
  rope::TokenRow<float> row(frequencies);
  (void)row.at(7);
}

}  // namespace
