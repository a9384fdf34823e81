// SPDX-License-Identifier: Apache-2.0
//
// Keys moved where they lie, and rows read through the tables that decoding uses (TokenRow,
// GrowingCache): of a cache of keys whose rows each end, or begin, against a page that cannot be
// touched, exactly the rows of the view are read and written.
#include <gtest/gtest.h>

#include "eigen_rope/rotation/rerotate.hpp"
#include "eigen_rope/tables/growing_cache.hpp"
#include "eigen_rope/tables/token_row.hpp"
#include "support/guarded.hpp"
#include "support/kernel_paths.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test {
namespace {

constexpr Index kHeads = 2;
constexpr Index kTokens = 5;

Frequencies frequencies_of_dims(Index dims) { return Frequencies::powers({dims, 1e4}); }

/// Calls move(view) on keys that are dense and on guarded ones, and compares.
template <class Scalar, class Move>
void compare_with_dense(const Case& c, const Move& move, Combinations& combinations) {
  const Shape shape{c.row.length, kHeads, kTokens};
  const auto values = random_values<Scalar>(shape.size(), static_cast<std::uint64_t>(c.row.length));
  std::vector<Scalar> expected = values;
  move(StridedView<Scalar>{expected.data(), shape, {c.row.length, kHeads * c.row.length}});
  ASSERT_NE(std::memcmp(static_cast<const void*>(expected.data()),
                        static_cast<const void*>(values.data()), values.size() * sizeof(Scalar)),
            0);
  for (const Against against : both_sides) {
    const GuardedRows<Scalar> k(values, static_cast<std::size_t>(c.row.length), against);
    for (const std::string& target : kernel_targets()) {
      const OnlyTarget only(target);
      k.set(values);
      move(StridedView<Scalar>{k.data(), shape, {k.stride(), kHeads * k.stride()}});
      ++combinations;
      ASSERT_TRUE(same_bits(expected.data(), k.values().data(), shape.size())) << target;
      ASSERT_TRUE(k.margins_untouched()) << target;
    }
  }
}

template <class Scalar>
std::vector<Case> ways_to_move() {
  std::vector<Row> rows(every_row.begin(), every_row.end());
  for (const Row& row : every_tail<Scalar>()) {
    if (row.dims <= 4 * vector_pairs<Scalar>) rows.push_back(row);
  }
  std::vector<Case> cases;
  for (const Case& c : cases_of(rows)) {
    if (!c.full_width && c.direction == Direction::forward) cases.push_back(c);
  }
  return cases;
}

template <class Scalar>
void move_guarded() {
  Combinations combinations;
  for (const Case& c : ways_to_move<Scalar>()) {
    SCOPED_TRACE(c.text());
    const Frequencies f = frequencies_of_dims(c.row.dims);
    const Placement from{f, Positions::range(100, kTokens)};
    // All by the same distance, with one row of the table; and each by its own.
    for (const Positions& to :
         {Positions::range(7, kTokens), Positions::ids(std::vector<int>{0, 9, 5, 200, 3})}) {
      compare_with_dense<Scalar>(
          c,
          [&](const StridedView<Scalar>& k) {
            rerotate(k, from, {f, to}, c.pairing);
          },
          combinations);
      ASSERT_FALSE(testing::Test::HasFailure());
    }
  }
}

template <class Scalar>
void decode_guarded() {
  using TableScalar = detail::Widened<Scalar>;
  Combinations combinations;
  for (const Case& c : ways_to_move<Scalar>()) {
    if (c.pairing.kind() == PairKind::interleaved_to_split_half) continue;
    SCOPED_TRACE(c.text());
    const Frequencies f = frequencies_of_dims(c.row.dims);
    TokenRow<TableScalar> row(f);
    const GrowingCache<TableScalar> growing(f, Layout::bsnd(), {kTokens + 3, kTokens + 3});
    compare_with_dense<Scalar>(
        c, [&](const StridedView<Scalar>& k) { rotate_inplace(k, row.at(12345), c.pairing); },
        combinations);
    // The last rows there are.
    compare_with_dense<Scalar>(
        c,
        [&](const StridedView<Scalar>& k) {
          rotate_inplace(k, growing.rows(3, kTokens), c.pairing);
        },
        combinations);
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

TEST(RerotateGuard, Float) { move_guarded<float>(); }
TEST(RerotateGuard, Double) { move_guarded<double>(); }
TEST(RerotateGuard, Half) { move_guarded<Eigen::half>(); }
TEST(RerotateGuard, Bfloat16) { move_guarded<Eigen::bfloat16>(); }

TEST(DecodeGuard, Float) { decode_guarded<float>(); }
TEST(DecodeGuard, Double) { decode_guarded<double>(); }
TEST(DecodeGuard, Half) { decode_guarded<Eigen::half>(); }
TEST(DecodeGuard, Bfloat16) { decode_guarded<Eigen::bfloat16>(); }

}  // namespace
}  // namespace eigen_rope::test
