// SPDX-License-Identifier: Apache-2.0
//
// What makes it a rotation: inverse and transpose undo it, norms are kept, angles add, and scores
// depend on distances only.
//
// Bounds are in ulp of the pair's magnitude: epsilon times sqrt(a^2 + b^2), times the factors of m
// that the result carries. One rotation errs by at most 1.21 ulp in each member (both products half
// an ulp of their own, members adding up to sqrt(2); the sum half) and by sqrt(2) times that in the
// plane; the table's own rounding moves a pair by at most 0.71 ulp. 16-bit scalars with float
// tables only round results: 0.5 ulp in each member, and a little for float.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "eigen_rope/tables/cache.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test {
namespace {

constexpr double kAttentionFactor = 1.3;

/// Forward 1.71 in the plane; back 1.21, determinant 1, quotient 0.5.
constexpr double kInverseUlps = 4.5;
/// Forward 1.71, back 1.21; cos^2 + sin^2 of rounded entries 1.42.
constexpr double kTransposeUlps = 4.5;
/// Table 0.71, rotation 1.71.
constexpr double kNormUlps = 2.5;
/// Three rotations, each with a table of its own, two of them one after the other.
constexpr double kCompositionUlps = 3 * 2.5;
/// Of the sum of the products of magnitudes: a rotation on either side.
constexpr double kAdjointUlps = 2 * 1.75;
/// Four rotated vectors.
constexpr double kDistanceUlps = 4 * 2.5;

/// Where long double has 113 bits a table's entries have 83 of them right
/// (eigen_rope/tables/cache.hpp).
template <class Scalar>
double of_table(double ulps) {
  return ulps * std::max(1.0, 0x1p-82 / static_cast<double>(epsilon<Scalar>()));
}

template <class TableScalar>
Cache<TableScalar> cache_for(Index dims, std::int64_t start, Index tokens,
                             double attention_factor) {
  return {Frequencies::powers({dims, 10000.0, 1.0, attention_factor}),
          Positions::range(start, tokens), Layout::sd()};
}

template <class Scalar>
std::vector<long double> scaled_magnitudes(const Eigen::Tensor<Scalar, 2>& x, const Case& c,
                                           double factor) {
  std::vector<long double> magnitudes =
      pair_magnitudes(x.data(), Shape{x.dimension(0), x.dimension(1)}, c);
  for (long double& magnitude : magnitudes) magnitude *= static_cast<long double>(factor);
  return magnitudes;
}

template <class Scalar>
long double dot(const Eigen::Tensor<Scalar, 2>& x, const Eigen::Tensor<Scalar, 2>& y) {
  long double sum = 0;
  for (Index i = 0; i < x.size(); ++i)
    sum += static_cast<long double>(x.data()[i]) * static_cast<long double>(y.data()[i]);
  return sum;
}

/// The windows and pairings, once each.
std::vector<Case> forward_cases() {
  std::vector<Case> cases;
  for (const Case& c : cases_of(every_row)) {
    if (!c.full_width && c.direction == Direction::forward) cases.push_back(c);
  }
  return cases;
}

/// Magnitudes where a result of the transposed directions lies: the slots x is read from.
Case backward(Case c) {
  c.direction = Direction::backward;
  return c;
}

template <class Scalar>
class Identities : public ::testing::Test {};

template <class X, class Table>
struct Pair {
  using XScalar = X;
  using TableScalar = Table;
};

using Scalars =
    ::testing::Types<Pair<float, float>, Pair<double, double>, Pair<long double, long double>,
                     Pair<Eigen::half, float>, Pair<Eigen::bfloat16, float>>;

struct ScalarNames {
  template <class T>
  static std::string GetName(int index) {
    return std::array<const char*, 5>{"Float", "Double", "LongDouble", "HalfWithFloatTable",
                                      "Bfloat16WithFloatTable"}[static_cast<std::size_t>(index)];
  }
};
TYPED_TEST_SUITE(Identities, Scalars, ScalarNames);

/// inverse(rotate(x)) = x and transpose(rotate(x)) = m^2 x.
TYPED_TEST(Identities, InverseAndTransposeUndo) {
  using Scalar = typename TypeParam::XScalar;
  using Tensor = Eigen::Tensor<Scalar, 2>;
  std::uint64_t seed = 10;
  for (const Case& c : forward_cases()) {
    SCOPED_TRACE(c.text());
    const Shape shape{c.row.length, 9};
    const Tensor x = random_tensor<Scalar, 2>(shape, ++seed);
    const auto cache =
        cache_for<typename TypeParam::TableScalar>(c.row.dims, 100, 9, kAttentionFactor);
    const Tensor y = rotate(x, cache, c.pairing);
    const Tensor undone = rotate_inverse(y, cache, c.pairing);
    const Tensor transposed = rotate_backward(y, cache, c.pairing);

    // Magnitudes stand at the slots that x came from.
    std::vector<long double> of_x(static_cast<std::size_t>(shape.size()), 0.0L);
    std::vector<long double> times_m2(static_cast<std::size_t>(shape.size()));
    for (Index i = 0; i < shape.size(); ++i)
      times_m2[static_cast<std::size_t>(i)] = static_cast<long double>(x.data()[i]);
    for (Index begin = c.row.offset; begin < shape.size(); begin += c.row.length) {
      for (Index k = 0; k < c.row.dims / 2; ++k) {
        const Members m = members_of(c.pairing.kind(), k, c.row.dims);
        const auto a = static_cast<long double>(x.data()[begin + m.a]);
        const auto b = static_cast<long double>(x.data()[begin + m.b]);
        for (const Index slot : {m.a, m.b}) {
          of_x[static_cast<std::size_t>(begin + slot)] = std::sqrt(a * a + b * b);
          times_m2[static_cast<std::size_t>(begin + slot)] *=
              static_cast<long double>(kAttentionFactor) * kAttentionFactor;
        }
      }
    }
    ASSERT_TRUE(within_ulps(x.data(), undone.data(), of_x, kInverseUlps));
    for (long double& magnitude : of_x)
      magnitude *= static_cast<long double>(kAttentionFactor) * kAttentionFactor;
    ASSERT_TRUE(
        within_ulps(times_m2.data(), transposed.data(), of_x, of_table<Scalar>(kTransposeUlps)));
  }
}

/// With m = 1 the backward pass is the inverse: backward(forward(x)) = x, for every pairing.
TEST(RotateIdentities, BackwardOfForwardIsTheIdentity) {
  constexpr double tolerance =
      8 * 0x1p-52;  // of a pair's magnitude: the table's rounding and four products, twice
  const auto cache = cache_for<double>(32, 1000, 9, 1.0);
  const Eigen::Tensor<double, 2> x = random_tensor<double, 2>(Shape{32, 9}, 77);
  for (const Pairing pairing : {split_half, interleaved, quarter, interleaved_to_split_half}) {
    const Eigen::Tensor<double, 2> back =
        rotate_backward(rotate(x, cache, pairing), cache, pairing);
    for (Index i = 0; i < x.size(); ++i)
      EXPECT_NEAR(back.data()[i], x.data()[i], 2 * tolerance) << "element " << i;
  }
}

/// With m = 1 every pair keeps its norm.
TYPED_TEST(Identities, NormOfEachPairIsKept) {
  using Scalar = typename TypeParam::XScalar;
  using Tensor = Eigen::Tensor<Scalar, 2>;
  std::uint64_t seed = 20;
  for (const Case& c : forward_cases()) {
    SCOPED_TRACE(c.text());
    const Shape shape{c.row.length, 9};
    const Tensor x = random_tensor<Scalar, 2>(shape, ++seed);
    const auto cache = cache_for<typename TypeParam::TableScalar>(c.row.dims, 7, 9, 1.0);
    const Tensor y = rotate(x, cache, c.pairing);
    const auto before = pair_magnitudes(x.data(), shape, c);
    const auto after = pair_magnitudes(y.data(), shape, backward(c));
    // Both hold a pair's norm at two slots; for interleaved_to_split_half not the same ones, so
    // pair by pair.
    for (Index begin = c.row.offset; begin < shape.size(); begin += c.row.length) {
      for (Index k = 0; k < c.row.dims / 2; ++k) {
        const Members m = members_of(c.pairing.kind(), k, c.row.dims);
        const long double norm = before[static_cast<std::size_t>(begin + m.A)];
        const long double norm_after = after[static_cast<std::size_t>(begin + m.a)];
        ASSERT_GT(norm, 0);
        ASSERT_LE(std::abs(norm_after - norm),
                  of_table<Scalar>(kNormUlps) * epsilon<Scalar>() * norm)
            << "pair " << k;
      }
    }
  }
}

/// R(p) R(q) = R(p + q), for pairings that keep their slots.
TYPED_TEST(Identities, AnglesAdd) {
  using Scalar = typename TypeParam::XScalar;
  using TableScalar = typename TypeParam::TableScalar;
  using Tensor = Eigen::Tensor<Scalar, 2>;
  std::uint64_t seed = 30;
  for (const Case& c : forward_cases()) {
    if (c.pairing.kind() == PairKind::interleaved_to_split_half) continue;
    SCOPED_TRACE(c.text());
    const Tensor x = random_tensor<Scalar, 2>(Shape{c.row.length, 5}, ++seed);
    const Cache<TableScalar> by_17(Frequencies::powers({c.row.dims}),
                                   Positions::ids(std::vector<int>(5, 17)), Layout::sd());
    const auto by_s = cache_for<TableScalar>(c.row.dims, -2, 5, 1.0);
    const auto by_both = cache_for<TableScalar>(c.row.dims, 15, 5, 1.0);
    const Tensor once = rotate(x, by_s, c.pairing);
    const Tensor twice = rotate(once, by_17, c.pairing);
    const Tensor at_once = rotate(x, by_both, c.pairing);
    ASSERT_TRUE(within_ulps(at_once.data(), twice.data(), scaled_magnitudes(x, c, 1.0),
                            of_table<Scalar>(kCompositionUlps)));
  }
}

/// The sum over all pairs of both magnitudes' product, and what is outside the window exactly.
template <class Scalar>
long double magnitude_product(const Eigen::Tensor<Scalar, 2>& x,
                              const Eigen::Tensor<Scalar, 2>& y) {
  return std::sqrt(dot(x, x)) * std::sqrt(dot(y, y));
}

/// <R x, y> = <x, R^T y>.
TYPED_TEST(Identities, TransposeIsTheAdjoint) {
  using Scalar = typename TypeParam::XScalar;
  using Tensor = Eigen::Tensor<Scalar, 2>;
  std::uint64_t seed = 40;
  for (const Case& c : cases_of(every_row)) {
    if (c.direction != Direction::forward) continue;
    SCOPED_TRACE(c.text());
    const Shape shape{c.row.length, 6};
    const Tensor x = random_tensor<Scalar, 2>(shape, ++seed);
    const Tensor y = random_tensor<Scalar, 2>(shape, ++seed);
    const auto table = random_table<typename TypeParam::TableScalar>(c.width(), Shape{6}, ++seed);
    const Tensor rotated = rotate(x, table, c.pairing);
    const Tensor back = rotate_backward(y, table, c.pairing);
    constexpr double largest_coefficients = 1.35;  // sqrt(1.25^2 + 0.5^2)
    ASSERT_LE(std::abs(dot(rotated, y) - dot(x, back)),
              kAdjointUlps * epsilon<Scalar>() * largest_coefficients * magnitude_product(x, y));
  }
}

/// The score of a query at p and a key at q is that at p + shift and q + shift.
TYPED_TEST(Identities, ScoresDependOnDistance) {
  using Scalar = typename TypeParam::XScalar;
  using TableScalar = typename TypeParam::TableScalar;
  using Tensor = Eigen::Tensor<Scalar, 2>;
  constexpr Index dims = 64;
  const Tensor query = random_tensor<Scalar, 2>(Shape{dims, 1}, 50);
  const Tensor key = random_tensor<Scalar, 2>(Shape{dims, 1}, 51);
  const auto score = [&](Pairing pairing, std::int64_t p, std::int64_t q) {
    const Tensor rotated_query = rotate(query, cache_for<TableScalar>(dims, p, 1, 1.0), pairing);
    const Tensor rotated_key = rotate(key, cache_for<TableScalar>(dims, q, 1, 1.0), pairing);
    return dot(rotated_query, rotated_key);
  };
  for (const PairKind kind : every_kind) {
    const Pairing pairing(kind);
    for (const std::int64_t distance : {0, 1, 13, 700}) {
      const long double expected = score(pairing, distance, 0);
      for (const std::int64_t shift : {1, 1000, 123456}) {
        // Angles err by 2^-63 of the position at most.
        const long double angles = 4 * static_cast<long double>(shift + distance) * 0x1p-63L;
        const long double allowed =
            (kDistanceUlps * epsilon<Scalar>() + angles) * magnitude_product(query, key);
        ASSERT_LE(std::abs(score(pairing, shift + distance, shift) - expected), allowed)
            << distance << " apart, shifted by " << shift;
      }
      ASSERT_GT(std::abs(score(pairing, distance + 1, 0) - expected),
                kDistanceUlps * epsilon<float>())
          << "scores must not be constant";
    }
  }
}

}  // namespace
}  // namespace eigen_rope::test
