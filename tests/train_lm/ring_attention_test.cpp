// SPDX-License-Identifier: Apache-2.0
//
// Attention by blocks on one rank, forward and backward, against the definition: every score of
// every head, in loops. Also the shards of a ring.
#include "ring_attention.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "attention.hpp"
#include "random.hpp"

namespace train_lm {
namespace {

constexpr Index heads = 2;
constexpr Index head_dim = 6;
constexpr Index dim = heads * head_dim;

Matrix<double> random_matrix(Index count, Index tokens, std::uint64_t seed) {
  Matrix<double> x(count, tokens);
  for (Index i = 0; i < x.size(); ++i)
    x.data()[i] = random_normal(seed, Stream::weights, 0, static_cast<std::uint64_t>(i));
  return x;
}

/// The attention's results by definition.
struct ByDefinition {
  ByDefinition(const Matrix<double>& qk, const Matrix<double>& v, const Matrix<double>& d_o)
      : o(Matrix<double>::Zero(dim, v.cols())),
        dqk(Matrix<double>::Zero(2 * dim, v.cols())),
        dv(Matrix<double>::Zero(dim, v.cols())) {
    const double scale = 1 / std::sqrt(static_cast<double>(head_dim));
    for (Index h = 0; h < heads; ++h) {
      const Index q = h * head_dim, k = dim + h * head_dim;
      for (Index j = 0; j < v.cols(); ++j) {
        std::vector<double> p;
        double sum = 0;
        for (Index i = 0; i <= j; ++i) {
          p.push_back(
              std::exp(scale * qk.col(j).segment(q, head_dim).dot(qk.col(i).segment(k, head_dim))));
          sum += p.back();
        }
        for (Index i = 0; i <= j; ++i)
          o.col(j).segment(q, head_dim) +=
              p[static_cast<std::size_t>(i)] / sum * v.col(i).segment(q, head_dim);
        const double mean = o.col(j).segment(q, head_dim).dot(d_o.col(j).segment(q, head_dim));
        for (Index i = 0; i <= j; ++i) {
          const double share = p[static_cast<std::size_t>(i)] / sum;
          const double dp = v.col(i).segment(q, head_dim).dot(d_o.col(j).segment(q, head_dim));
          const double ds = share * (dp - mean) * scale;
          dv.col(i).segment(q, head_dim) += share * d_o.col(j).segment(q, head_dim);
          dqk.col(j).segment(q, head_dim) += ds * qk.col(i).segment(k, head_dim);
          dqk.col(i).segment(k, head_dim) += ds * qk.col(j).segment(q, head_dim);
        }
      }
    }
  }

  Matrix<double> o, dqk, dv;
};

double largest_difference(const Matrix<double>& a, const Matrix<double>& b) {
  return (a - b).cwiseAbs().maxCoeff();
}

class ByBlocks : public testing::TestWithParam<Index> {};

// Sums of some hundred products of numbers near 1.
constexpr double sum_rounding = 1e-13;

TEST_P(ByBlocks, IsTheDefinition) {
  const Index tokens = GetParam();
  Matrix<double> qk = random_matrix(2 * dim, tokens, 1);
  const Matrix<double> v = random_matrix(dim, tokens, 2);
  const Matrix<double> d_o = random_matrix(dim, tokens, 3);
  const ByDefinition expected(qk, v, d_o);
  Ranks alone;
  ContextRing ring(alone, tokens);
  RingAttention<double> blocks;
  blocks.resize(heads, head_dim, ring);
  Attention<double> attention;
  attention.resize(heads, head_dim, tokens, &blocks);
  Laps laps(Profiling::off);
  Matrix<double> o(dim, tokens), dqk(2 * dim, tokens), dv(dim, tokens);
  for (int again = 0; again < 2; ++again) {  // whatever the buffers held
    attention.forward(qk, v, nullptr, o, laps);
    attention.backward(qk, v, o, d_o, nullptr, dqk, dv, laps);
    EXPECT_LE(largest_difference(o, expected.o), sum_rounding);
    EXPECT_LE(largest_difference(dqk, expected.dqk), 10 * sum_rounding);
    EXPECT_LE(largest_difference(dv, expected.dv), 10 * sum_rounding);
  }
}

// One block of queries and keys, more, and more than one tile of keys.
INSTANTIATE_TEST_SUITE_P(Tokens, ByBlocks, testing::Values(1, 2, 31, 32, 33, 256, 257, 600));

TEST(ByBlocks, LargeScoresDoNotOverflow) {
  constexpr Index tokens = 40;
  Matrix<float> qk = (random_matrix(2 * dim, tokens, 1) * 30).cast<float>();
  const Matrix<float> v = random_matrix(dim, tokens, 2).cast<float>();
  Ranks alone;
  ContextRing ring(alone, tokens);
  RingAttention<float> blocks;
  blocks.resize(heads, head_dim, ring);
  SoftmaxRows<float> softmax;
  Laps laps(Profiling::off);
  Matrix<float> o(dim, tokens), dqk(2 * dim, tokens), dv(dim, tokens);
  blocks.forward(qk, v, softmax, o, laps);
  blocks.backward(qk, v, softmax, o, v, dqk, dv, laps);
  EXPECT_TRUE(o.allFinite());
  EXPECT_TRUE(dqk.allFinite());
  EXPECT_TRUE(dv.allFinite());
}

/// A rank of a grid, without the others.
class OneOf : public Ranks {
 public:
  OneOf(int rank, int of_ranks, eigen_rope::Sharding sharding) {
    rank_ = rank;
    grid_ = {1, of_ranks, sharding};
  }
};

TEST(ContextRing, ShardsHaveEveryTokenOnceAtItsPosition) {
  for (const auto sharding : {eigen_rope::Sharding::contiguous, eigen_rope::Sharding::zigzag}) {
    for (const int ranks : {1, 2, 3, 4}) {
      for (const Index length : {2, 5, 16, 37}) {
        std::vector<int> seen(static_cast<std::size_t>(length), 0);
        for (int rank = 0; rank < ranks; ++rank) {
          OneOf one(rank, ranks, sharding);
          const ContextRing ring(one, length);
          ASSERT_EQ(ring.steps(), ranks);
          ASSERT_EQ(ring.positions().tokens(), ring.places());
          EXPECT_TRUE(std::is_sorted(ring.queries().begin(), ring.queries().end()));
          for (Index place = 0; place < ring.places(); ++place) {
            const Index token = ring.tokens()[static_cast<std::size_t>(place)];
            if (token < 0) continue;
            ++seen[static_cast<std::size_t>(token)];
            EXPECT_EQ(static_cast<double>(ring.positions().at(0, 0, place)), token);
          }
        }
        EXPECT_EQ(seen, std::vector<int>(seen.size(), 1)) << ranks << " " << length;
      }
    }
  }
}

// In each step a rank works on the block that the one before it had in the step before.
TEST(ContextRing, BlocksGoRound) {
  constexpr int ranks = 3;
  const auto ring_of = [](OneOf& one) { return ContextRing(one, 17); };
  for (int rank = 0; rank < ranks; ++rank) {
    OneOf here(rank, ranks, eigen_rope::Sharding::zigzag);
    OneOf before((rank + ranks - 1) % ranks, ranks, eigen_rope::Sharding::zigzag);
    EXPECT_EQ(ring_of(here).keys(0), ring_of(here).queries());
    for (Index step = 1; step < ranks; ++step)
      EXPECT_EQ(ring_of(here).keys(step), ring_of(before).keys(step - 1));
  }
}

}  // namespace
}  // namespace train_lm
