// SPDX-License-Identifier: Apache-2.0
//
// Tables in Hugging Face's form, cos and sin of cat(f, f): what they mean with every pairing, and
// what is none.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "eigen_rope/rotation/rotate.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "support/error_of.hpp"

namespace eigen_rope::test::cache_from_halves_tests {
namespace {

constexpr Index D = 8;
constexpr Index P = D / 2;
constexpr Index heads = 2;
constexpr Index tokens = 3;

double angle(Index token, Index pair) {
  return static_cast<double>(token) * std::pow(100.0, -static_cast<double>(pair) / P);
}

/// Entry i of a token's row is that of pair i mod P, as transformers' `torch.cat((freqs, freqs),
/// dim=-1)` has it.
template <class Scalar>
struct Repeated {
  Eigen::Tensor<Scalar, 3> cos{D, 1, tokens};
  Eigen::Tensor<Scalar, 3> sin{D, 1, tokens};

  Repeated() {
    for (Index s = 0; s < tokens; ++s) {
      for (Index i = 0; i < D; ++i) {
        cos(i, 0, s) = static_cast<Scalar>(std::cos(angle(s, i % P)));
        sin(i, 0, s) = static_cast<Scalar>(std::sin(angle(s, i % P)));
      }
    }
  }
  Cache<Scalar> halves() const { return Cache<Scalar>::from_halves(table_of(cos, sin)); }
};

TEST(CacheFromHalves, TurnsPairsOfEveryKindByTheirAngle) {
  Eigen::Tensor<double, 3> x(D, heads, tokens);
  x.setRandom();
  const Cache<double> table = Repeated<double>().halves();
  EXPECT_EQ(table.pairs(), P);
  for (const PairKind kind : {PairKind::split_half, PairKind::interleaved, PairKind::quarter,
                              PairKind::interleaved_to_split_half}) {
    const Eigen::Tensor<double, 3> y = rotate(x, table, Pairing(kind));
    for (Index s = 0; s < tokens; ++s) {
      for (Index h = 0; h < heads; ++h) {
        for (Index k = 0; k < P; ++k) {
          const PairSlots slots = pair_slots(kind, k, D);
          const double a = x(slots.a, h, s);
          const double b = x(slots.b, h, s);
          const double c = std::cos(angle(s, k));
          const double d = std::sin(angle(s, k));
          constexpr double bound =
              4 * std::numeric_limits<double>::epsilon();  // |a|, |b| <= 1, two products and a sum
          EXPECT_NEAR(y(slots.A, h, s), c * a - d * b, bound) << static_cast<int>(kind);
          EXPECT_NEAR(y(slots.B, h, s), c * b + d * a, bound) << static_cast<int>(kind);
        }
      }
    }
  }
}

TEST(CacheFromHalves, KeepsEntriesAndExtents) {
  const Repeated<Eigen::half> repeated;
  const Cache<Eigen::half> table = repeated.halves();
  ASSERT_EQ(table.outer(), (Shape{1, tokens}));
  for (Index s = 0; s < tokens; ++s) {
    for (Index k = 0; k < P; ++k) {
      EXPECT_EQ(table.cos()[s * P + k], repeated.cos(k, 0, s));
      EXPECT_EQ(table.sin()[s * P + k], repeated.sin(k, 0, s));
    }
  }
}

TEST(CacheFromHalves, OfNoTokens) {
  const Eigen::Tensor<float, 3> none(D, 1, 0);
  const auto table = Cache<float>::from_halves(table_of(none, none));
  EXPECT_EQ(table.pairs(), P);
  EXPECT_EQ(table.outer(), (Shape{1, 0}));
}

TEST(CacheFromHalves, RefusesHalvesThatDiffer) {
  Repeated<float> cos;
  cos.cos(1, 0, 2) = 0.5F;
  cos.cos(1 + P, 0, 2) = 0.25F;
  EXPECT_EQ(error_of([&] { (void)cos.halves(); }),
            "[rope] a table of two halves must repeat its first half: cos[1] and cos[5] of row 2 "
            "must be equal, got 0.5 and 0.25");
  Repeated<double> sin;
  sin.sin(P, 0, 0) = 3;
  EXPECT_EQ(error_of([&] { (void)sin.halves(); }),
            "[rope] a table of two halves must repeat its first half: sin[0] and sin[4] of row 0 "
            "must be equal, got 0 and 3");
}

/// One entry per rotated element in the elements' order, as the full-width tables of interleaved
/// pairs have them.
TEST(CacheFromHalves, RefusesInterleavedTables) {
  Repeated<double> table;
  for (Index s = 0; s < tokens; ++s) {
    for (Index i = 0; i < D; ++i) table.cos(i, 0, s) = std::cos(angle(s, i / 2));
  }
  EXPECT_EQ(error_of([&] { (void)table.halves(); }).substr(0, 108),
            "[rope] a table of two halves must repeat its first half: cos[0] and cos[4] of row 1 "
            "must be equal, got 0.540");
}

TEST(CacheFromHalves, RefusesWidthsWithoutHalves) {
  const std::vector<float> entries(9, 1.0F);
  for (const Index width : {Index{9}, Index{0}}) {
    EXPECT_EQ(error_of([&] {
                (void)Cache<float>::from_halves({entries.data(), entries.data(), width, Shape{1}});
              }),
              "[rope] the width of a table of two halves must be even and positive, got " +
                  std::to_string(width));
  }
  EXPECT_EQ(error_of([] {
              (void)Cache<float>::from_halves({nullptr, nullptr, 8, Shape{1}});
            }),
            "[rope] the table must have cos and sin, got a null pointer");
}

}  // namespace
}  // namespace eigen_rope::test::cache_from_halves_tests
