// SPDX-License-Identifier: Apache-2.0
//
// What the tests of a rotation share: random values and tables, the windows and pairings to go
// through, and comparisons that count in ulp of a pair's magnitude. Pairs are spelled out here once
// more, from the definition, so that nothing is compared with itself.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "eigen_rope/choices/direction.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/numbers/shape.hpp"
#include "eigen_rope/rotation/detail/tensor.hpp"
#include "eigen_rope/rotation/rotate.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::test {

/// The library's own implementations agree to the bit whatever the flags. Of Eigen's own operations
/// products and sums may be fused: they differ by what one rounding of each product, of the
/// determinant and of the quotient can make.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
inline constexpr double kStockUlps = 16;
#else
inline constexpr double kStockUlps = 0;
#endif

/// The distance of 1 to the next number. Not NumTraits' for half, which Eigen 3.4 gives as 2^-13.
template <class Scalar>
long double epsilon() {
  if constexpr (std::is_same_v<Scalar, Eigen::half>) {
    return std::ldexp(1.0L, -10);
  } else {
    return static_cast<long double>(Eigen::NumTraits<Scalar>::epsilon());
  }
}

/// Uniform numbers, the same on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double operator()(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine_() >> 11) * 0x1p-53);
  }

 private:
  std::mt19937_64 engine_;
};

template <class Scalar>
std::vector<Scalar> random_values(Index count, std::uint64_t seed, double low = -1,
                                  double high = 1) {
  Random random(seed);
  std::vector<Scalar> values(static_cast<std::size_t>(count));
  for (Scalar& value : values) value = static_cast<Scalar>(random(low, high));
  return values;
}

/// A table that owns its entries, of any width and outer extents.
template <class Scalar>
struct Table {
  std::vector<Scalar> cos, sin;
  Index width = 0;
  Shape outer{};

  TableView<Scalar> view() const { return {cos.data(), sin.data(), width, outer}; }
};

/// Arbitrary coefficients: no two entries belong to one angle, so a mistaken index shows. The
/// determinant is at least 0.3 everywhere, whichever two entries make a pair.
template <class Scalar>
Table<Scalar> random_table(Index width, const Shape& outer, std::uint64_t seed) {
  const Index size = width * outer.size();
  return {random_values<Scalar>(size, seed, 0.75, 1.25),
          random_values<Scalar>(size, seed + 1, -0.5, 0.5), width, outer};
}

/// Extents of an Eigen tensor from a shape, whose feature axis is first.
template <int rank, int layout>
Eigen::DSizes<Eigen::Index, rank> sizes_of(const Shape& shape) {
  Eigen::DSizes<Eigen::Index, rank> sizes;
  for (int axis = 0; axis < rank; ++axis)
    sizes[layout == static_cast<int>(Eigen::ColMajor) ? axis : rank - 1 - axis] = shape[axis];
  return sizes;
}

template <class Scalar, int rank, int layout = Eigen::ColMajor>
Eigen::Tensor<Scalar, rank, layout> random_tensor(const Shape& shape, std::uint64_t seed) {
  Eigen::Tensor<Scalar, rank, layout> tensor(sizes_of<rank, layout>(shape));
  const std::vector<Scalar> values = random_values<Scalar>(shape.size(), seed);
  std::copy(values.begin(), values.end(), tensor.data());
  return tensor;
}

/// The node of any direction: its type does not depend on it.
template <class X, class AnyTable>
auto rotation(const X& x, const AnyTable& table, Pairing pairing, Direction direction) {
  if (direction == Direction::forward) return eigen_rope::rotate(x, table, pairing);
  if (direction == Direction::backward) return eigen_rope::rotate_backward(x, table, pairing);
  return eigen_rope::rotate_inverse(x, table, pairing);
}

inline constexpr std::array<PairKind, 4> every_kind{PairKind::split_half, PairKind::interleaved,
                                                    PairKind::quarter,
                                                    PairKind::interleaved_to_split_half};
inline constexpr std::array<Direction, 3> every_direction{Direction::forward, Direction::backward,
                                                          Direction::inverse};

/// A row and its window.
struct Row {
  Index length;
  Index offset;
  Index dims;
};

/// One pair; sizes that no vector width divides; head sizes of models; partial rotation; windows
/// that begin anywhere.
inline constexpr std::array<Row, 17> every_row{{{2, 0, 2},
                                                {4, 0, 4},
                                                {10, 0, 10},
                                                {18, 0, 18},
                                                {36, 0, 36},
                                                {70, 0, 70},
                                                {64, 0, 64},
                                                {128, 0, 128},
                                                {80, 0, 20},
                                                {80, 0, 32},
                                                {80, 8, 32},
                                                {80, 48, 32},
                                                {12, 3, 8},
                                                {33, 1, 32},
                                                {37, 5, 32},
                                                {5, 2, 2},
                                                {9, 4, 4}}};

/// Pairs that one vector of the widest target takes: 64 bytes of what is computed in, or of
/// bfloat16.
template <class Scalar>
inline constexpr Index vector_pairs = std::is_same_v<Scalar, double>            ? 8
                                      : std::is_same_v<Scalar, Eigen::bfloat16> ? 32
                                                                                : 16;

/// Every number of pairs up to four vectors, and eight vectors, the most that registers hold, with
/// every rest up to one more.
template <class Scalar>
std::vector<Row> every_tail() {
  constexpr Index vector = vector_pairs<Scalar>;
  std::vector<Row> rows;
  for (Index pairs = 1; pairs <= 9 * vector; ++pairs) {
    if (pairs <= 4 * vector || pairs >= 8 * vector) rows.push_back({2 * pairs, 0, 2 * pairs});
  }
  return rows;
}

/// A window of two pairs, with every number of elements from none to four vectors of 64 bytes
/// before it and, the other way round, behind.
template <class Scalar>
std::vector<Row> every_margin() {
  constexpr Index most = 4 * 64 / static_cast<Index>(sizeof(Scalar));
  std::vector<Row> rows;
  for (Index before = 0; before <= most; ++before) rows.push_back({most + 4, before, 4});
  return rows;
}

/// One way to rotate a row.
struct Case {
  Row row;
  Pairing pairing;
  bool full_width;
  Direction direction;

  Index width() const { return full_width ? row.dims : row.dims / 2; }
  std::string text() const {
    static constexpr std::array<const char*, 4> kinds{"split_half", "interleaved", "quarter",
                                                      "interleaved_to_split_half"};
    static constexpr std::array<const char*, 3> directions{"forward", "backward", "inverse"};
    std::ostringstream out;
    out << directions[static_cast<std::size_t>(direction)] << ' '
        << kinds[static_cast<std::size_t>(pairing.kind())] << " of " << row.dims << " at "
        << row.offset << " in " << row.length << (full_width ? ", full width" : ", half width");
    return out.str();
  }
};

/// Every pairing that the rows allow, with both widths of table, in every direction. A window that
/// runs to the row's end is left to the default: it must mean the same.
template <class Rows>
std::vector<Case> cases_of(const Rows& rows) {
  std::vector<Case> cases;
  for (const Row& row : rows) {
    for (const PairKind kind : every_kind) {
      if (kind == PairKind::quarter && row.dims % 4 != 0) continue;
      Pairing pairing = Pairing(kind).with_offset(row.offset);
      if (row.offset + row.dims != row.length) pairing = pairing.with_rotary_dims(row.dims);
      for (const bool full_width : {false, true}) {
        for (const Direction direction : every_direction)
          cases.push_back({row, pairing, full_width, direction});
      }
    }
  }
  return cases;
}

/// A row of `length` in front of outer extents.
inline Shape with_row(Index length, const Shape& outer) {
  Shape shape{length};
  for (int axis = 0; axis < outer.rank(); ++axis) shape.push_back(outer[axis]);
  return shape;
}

/// The table extents that vary on the axes whose bit is set in `mask`.
inline Shape broadcast_outer(const Shape& outer, unsigned mask) {
  Shape result;
  for (int axis = 0; axis < outer.rank(); ++axis)
    result.push_back((mask >> axis) & 1U ? outer[axis] : 1);
  return result;
}

/// Pair k of a window of `dims` elements: read from a and b, written to A and B.
struct Members {
  Index a, b, A, B;
};

inline Members members_of(PairKind kind, Index k, Index dims) {
  switch (kind) {
    case PairKind::split_half: return {k, k + dims / 2, k, k + dims / 2};
    case PairKind::interleaved: return {2 * k, 2 * k + 1, 2 * k, 2 * k + 1};
    case PairKind::interleaved_to_split_half: return {2 * k, 2 * k + 1, k, k + dims / 2};
    case PairKind::quarter: break;
  }
  // Half pairing within the window's first half, then within its second.
  const Index quarter_pairs = dims / 4;
  const Index start = k < quarter_pairs ? 0 : dims / 2;
  const Index within = k % quarter_pairs;
  return {start + within, start + within + quarter_pairs, start + within,
          start + within + quarter_pairs};
}

/// For each element of the result, sqrt(a^2 + b^2) of its pair in x; 0 outside the window.
template <class Scalar>
std::vector<long double> pair_magnitudes(const Scalar* x, const Shape& shape, const Case& c) {
  std::vector<long double> magnitudes(static_cast<std::size_t>(shape.size()), 0.0L);
  for (Index begin = c.row.offset; begin < shape.size(); begin += c.row.length) {
    for (Index k = 0; k < c.row.dims / 2; ++k) {
      const Members m = members_of(c.pairing.kind(), k, c.row.dims);
      const bool forward = c.direction == Direction::forward;
      const auto a = static_cast<long double>(x[begin + (forward ? m.a : m.A)]);
      const auto b = static_cast<long double>(x[begin + (forward ? m.b : m.B)]);
      const long double magnitude = std::sqrt(a * a + b * b);
      magnitudes[static_cast<std::size_t>(begin + (forward ? m.A : m.a))] = magnitude;
      magnitudes[static_cast<std::size_t>(begin + (forward ? m.B : m.b))] = magnitude;
    }
  }
  return magnitudes;
}

/// The same value with the same sign; for numbers that are not NaN, the same bits.
template <class Scalar>
bool same_number(const Scalar& a, const Scalar& b) {
  if constexpr (std::is_same_v<Scalar, long double>) {
    return a == b && std::signbit(a) == std::signbit(b);  // ten bytes of sixteen mean something
  } else {
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
}

/// Whether two arrays hold the same bits; names the first element that differs.
template <class Scalar>
::testing::AssertionResult same_bits(const Scalar* expected, const Scalar* actual, Index count) {
  const auto bytes = static_cast<std::size_t>(count) * sizeof(Scalar);
  if (bytes == 0 || std::memcmp(static_cast<const void*>(expected),
                                static_cast<const void*>(actual), bytes) == 0) {
    return ::testing::AssertionSuccess();
  }
  for (Index i = 0; i < count; ++i) {
    if (same_number(expected[i], actual[i])) continue;
    return ::testing::AssertionFailure()
           << "element " << i << ": expected " << static_cast<long double>(expected[i]) << ", got "
           << static_cast<long double>(actual[i]) << " (difference "
           << static_cast<long double>(actual[i]) - static_cast<long double>(expected[i]) << ")";
  }
  return ::testing::AssertionSuccess();
}

template <class Scalar, int rank, int layout>
::testing::AssertionResult same_bits(const Eigen::Tensor<Scalar, rank, layout>& expected,
                                     const Eigen::Tensor<Scalar, rank, layout>& actual) {
  for (int i = 0; i < rank; ++i) {
    if (expected.dimension(i) == actual.dimension(i)) continue;
    return ::testing::AssertionFailure()
           << "dimension " << i << ": expected " << expected.dimension(i) << ", got "
           << actual.dimension(i);
  }
  return same_bits(expected.data(), actual.data(), expected.size());
}

/// |actual - expected| <= ulps * epsilon * magnitude for every element, magnitudes as
/// pair_magnitudes() gives them; the same bits where that is 0.
template <class Expected, class Scalar>
::testing::AssertionResult within_ulps(const Expected* expected, const Scalar* actual,
                                       const std::vector<long double>& magnitudes, double ulps) {
  for (std::size_t i = 0; i < magnitudes.size(); ++i) {
    const auto e = static_cast<long double>(expected[i]);
    const auto a = static_cast<long double>(actual[i]);
    const long double allowed = static_cast<long double>(ulps) * epsilon<Scalar>() * magnitudes[i];
    if (allowed == 0 ? a == e && std::signbit(a) == std::signbit(e) : std::abs(a - e) <= allowed)
      continue;
    return ::testing::AssertionFailure()
           << "element " << i << ": expected " << e << ", got " << a << ", "
           << (a - e) / epsilon<Scalar>() / magnitudes[i] << " ulp of the pair's magnitude where "
           << ulps << " are allowed";
  }
  return ::testing::AssertionSuccess();
}

/// Two implementations of one rotation of x.
template <class XScalar, class Scalar>
::testing::AssertionResult same_rotation(const Scalar* expected, const Scalar* actual,
                                         const XScalar*, const Shape& shape, const Case&) {
  return same_bits(expected, actual, shape.size());
}

}  // namespace eigen_rope::test
