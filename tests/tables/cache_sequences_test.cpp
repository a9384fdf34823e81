// SPDX-License-Identifier: Apache-2.0
//
// A table in which each sequence has frequencies of its own: the bits of the tables of single
// sequences.
#include <gtest/gtest.h>

#include <vector>

#include "eigen_rope/rotation/rotate.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "support/bits.hpp"
#include "support/error_of.hpp"

namespace eigen_rope::test::cache_sequences_tests {
namespace {

constexpr Index D = 12, pairs = D / 2, tokens = 5;

std::vector<Frequencies> three_sequences() {
  const DynamicNtkScaling<> scaling{2.0, 64};
  Yarn<> yarn;
  yarn.factor = 4.0;
  yarn.original_context = 64;
  return {Frequencies({D, 10000.0}, scaling, 32), Frequencies({D, 10000.0}, scaling, 900),
          Frequencies({D, 500.0}, yarn)};
}

/// Positions that each batch has for itself: runs, gaps and repeats.
const std::vector<int> of_batches{0, 1, 2, 3, 4, 7, 8, 9, 3, 3, 100, 2, 101, 102, 103};

template <class Scalar>
class CacheOfSequences : public testing::Test {};
using Scalars = testing::Types<float, double, long double, Eigen::half, Eigen::bfloat16>;
TYPED_TEST_SUITE(CacheOfSequences, Scalars);

/// Compares the entries of each sequence in a table of all with those of its own table. Both
/// layouts have `layout`'s order of axes.
template <class Scalar>
void expect_single_tables(const Positions& positions, const Layout& layout) {
  const std::vector<Frequencies> sequences = three_sequences();
  const Cache<Scalar> all(sequences, positions, layout);
  for (Index batch = 0; batch < 3; ++batch) {
    std::vector<int> ids;
    for (Index token = 0; token < tokens; ++token)
      ids.push_back(static_cast<int>(
          static_cast<double>(positions.at(0, positions.batches() == 1 ? 0 : batch, token))));
    const Cache<Scalar> own(sequences[static_cast<std::size_t>(batch)], Positions::ids(ids),
                            Layout::sd());
    const bool tokens_outside = detail::has_tokens_outside_batches(layout);
    const detail::EntryPlaces places(all.view());
    for (Index token = 0; token < tokens; ++token) {
      const Index row = tokens_outside ? token * 3 + batch : batch * tokens + token;
      for (Index k = 0; k < pairs; ++k) {
        EXPECT_EQ(bits_of(all.cos() + places.at(row, k), 1),
                  bits_of(own.cos() + token * pairs + k, 1));
        EXPECT_EQ(bits_of(all.sin() + places.at(row, k), 1),
                  bits_of(own.sin() + token * pairs + k, 1));
      }
    }
  }
}

TYPED_TEST(CacheOfSequences, HasTheBitsOfSingleTables) {
  for (const Layout& layout : {Layout::bsnd(), Layout::bnsd(), Layout::sbnd(), Layout::dnsb(),
                               Layout{AxisRole::batch, AxisRole::feature, AxisRole::token}}) {
    expect_single_tables<TypeParam>(Positions::range(-2, tokens), layout);
    expect_single_tables<TypeParam>(Positions::per_batch(of_batches, Batches{3}), layout);
  }
}

TEST(CacheOfSequences, OfOneSequenceIsThatOfItsFrequencies) {
  const Frequencies one = Frequencies::powers({D});
  const Positions positions = Positions::per_batch(of_batches, Batches{3});
  const Cache<float> listed(std::vector<Frequencies>{one}, positions);
  const Cache<float> plain(one, positions);
  ASSERT_EQ(listed.outer(), plain.outer());
  EXPECT_EQ(bits_of(listed.cos(), pairs * 3 * tokens), bits_of(plain.cos(), pairs * 3 * tokens));
  EXPECT_EQ(bits_of(listed.sin(), pairs * 3 * tokens), bits_of(plain.sin(), pairs * 3 * tokens));
}

// A magnitude of 0 in one sequence has no inverse, whatever the others have.
TEST(CacheOfSequences, KnowsItsDeterminantsOfAllSequences) {
  const Frequencies plain = Frequencies::powers({D});
  const Frequencies none = Frequencies::powers({D, 10000.0, 1, 0});
  const Cache<float> good({plain, plain}, Positions::range(0, tokens));
  EXPECT_EQ(good.view().determinants, detail::Determinants::nonzero);
  const Cache<float> bad({plain, none}, Positions::range(0, tokens));
  Eigen::Tensor<float, 4> x(D, 1, tokens, 2);
  x.setConstant(1);
  Eigen::Tensor<float, 4> y = rotate_inverse(x, good, split_half);
  EXPECT_EQ(error_of([&] { y = rotate_inverse(x, bad, split_half); }),
            "[rope] the table must have cos_A cos_B + sin_A sin_B != 0 everywhere to be inverted, "
            "got 0");
}

}  // namespace
}  // namespace eigen_rope::test::cache_sequences_tests
