// SPDX-License-Identifier: Apache-2.0
//
// Rows of a table, written where the caller says: nothing but the rows is written, every entry is,
// and positions and angles are not read beyond their end. Every number of pairs up to four vectors
// and every rest behind a run of bases, on every kernel target, for every scalar. Tables that own
// their memory (Cache, TokenRow, GrowingCache) are filled by these.
#include <gtest/gtest.h>

#include "eigen_rope/tables/cache.hpp"
#include "eigen_rope/tables/detail/row_filler.hpp"
#include "support/bits.hpp"
#include "support/guarded.hpp"
#include "support/only_target.hpp"

namespace eigen_rope::test {
namespace {

/// Up to four vectors of 64 bytes of double and of what is stored; bases go 128 pairs at a time.
std::vector<Index> every_width() {
  std::vector<Index> widths;
  for (Index pairs = 1; pairs <= 66; ++pairs) widths.push_back(pairs);
  for (Index pairs = 127; pairs <= 138; ++pairs) widths.push_back(pairs);
  widths.push_back(257);
  return widths;
}

Frequencies frequencies_of(Index pairs) { return Frequencies::powers({2 * pairs, 5e5, 1, 1.25}); }

/// Whole numbers, and ones that leave the kernels.
std::vector<double> positions_of(Index pairs) {
  std::vector<double> positions;
  for (Index k = 0; k < pairs; ++k)
    positions.push_back(k % 7 == 6 ? 0.1 * static_cast<double>(k)
                                   : static_cast<double>(1000 - 37 * k));
  return positions;
}

template <class Scalar>
class TableGuard : public testing::Test {
 protected:
  /// Calls fill(cos, sin) for poisoned rows on both sides, and compares them.
  template <class Fill>
  void check(const std::vector<Scalar>& expected_cos, const std::vector<Scalar>& expected_sin,
             const Fill& fill) {
    for (const Against against : both_sides) {
      const Guarded<Scalar> cos(poisoned<Scalar>(expected_cos.size()), against);
      const Guarded<Scalar> sin(poisoned<Scalar>(expected_sin.size()), against);
      fill(cos.data(), sin.data(), against);
      const auto size = static_cast<Index>(expected_cos.size());
      ASSERT_EQ(bits_of(cos.data(), size), bits_of(expected_cos.data(), size));
      ASSERT_EQ(bits_of(sin.data(), size), bits_of(expected_sin.data(), size));
      ASSERT_TRUE(cos.margins_untouched() && sin.margins_untouched());
      ++combinations_;
    }
  }

  /// Calls visit(pairs) on every target.
  template <class Visit>
  void on_every_target(const Visit& visit) {
    // Wider scalars are formed without kernels.
    const bool has_kernels = sizeof(Scalar) <= sizeof(float);
    for (const std::string& target :
         has_kernels ? kernel_targets() : std::vector<std::string>{kernel_target()}) {
      const OnlyTarget only(target);
      for (const Index pairs : every_width()) {
        SCOPED_TRACE(target + ", " + std::to_string(pairs) + " pairs");
        visit(pairs);
        ASSERT_FALSE(testing::Test::HasFatalFailure());
      }
    }
  }

 private:
  Combinations combinations_;
};

using Scalars = testing::Types<float, double, long double, Eigen::half, Eigen::bfloat16>;
TYPED_TEST_SUITE(TableGuard, Scalars);

/// Entries of a table that owns its memory.
template <class Scalar>
struct Entries {
  explicit Entries(const Cache<Scalar>& table)
      : cos(table.cos(), table.cos() + table.pairs() * table.outer().size()),
        sin(table.sin(), table.sin() + table.pairs() * table.outer().size()) {}

  std::vector<Scalar> cos, sin;
};

TYPED_TEST(TableGuard, ConsecutivePositions) {
  this->on_every_target([&](Index pairs) {
    const Frequencies f = frequencies_of(pairs);
    const detail::RowFiller filler(f);
    for (const Index count : {Index{1}, Index{3}, Index{17}}) {
      const Entries<TypeParam> expected(Cache<TypeParam>(f, Positions::range(-2, count)));
      this->check(expected.cos, expected.sin,
                  [&](auto* cos, auto* sin, Against) { filler.fill_range(-2, count, cos, sin); });
    }
  });
}

TYPED_TEST(TableGuard, OnePosition) {
  this->on_every_target([&](Index pairs) {
    const Frequencies f = frequencies_of(pairs);
    const detail::RowFiller filler(f);
    for (const double position : {3.0, -0.1, 1e15}) {
      const Entries<TypeParam> expected(
          Cache<TypeParam>(f, Positions::ids(std::vector<double>{position})));
      this->check(expected.cos, expected.sin,
                  [&](auto* cos, auto* sin, Against) { filler.fill_one(position, cos, sin); });
    }
  });
}

TYPED_TEST(TableGuard, APositionForEachPair) {
  this->on_every_target([&](Index pairs) {
    const Frequencies f = frequencies_of(pairs);
    const detail::RowFiller filler(f);
    const std::vector<double> ids = positions_of(pairs);
    const std::vector<DoubleDouble> positions(ids.begin(), ids.end());
    const Entries<TypeParam> rows(Cache<TypeParam>(f, Positions::ids(ids)));
    std::vector<TypeParam> cos_row, sin_row;
    for (Index k = 0; k < pairs; ++k) {
      cos_row.push_back(rows.cos[static_cast<std::size_t>(k * pairs + k)]);
      sin_row.push_back(rows.sin[static_cast<std::size_t>(k * pairs + k)]);
    }
    this->check(cos_row, sin_row, [&](auto* cos, auto* sin, Against against) {
      const Guarded<DoubleDouble> guarded(positions, against);
      filler.fill_mixed(guarded.data(), cos, sin);
    });
  });
}

TYPED_TEST(TableGuard, AnAngleForEachPair) {
  this->on_every_target([&](Index pairs) {
    const auto size = static_cast<std::size_t>(pairs);
    const detail::RowFiller filler(frequencies_of(pairs));
    std::vector<DoubleDouble> turns;
    for (Index k = 0; k < pairs; ++k)
      turns.push_back(DoubleDouble(0.01 * static_cast<double>(k) - 0.3));
    std::vector<TypeParam> cos_row(size), sin_row(size);
    filler.fill_turns(turns.data(), cos_row.data(), sin_row.data());
    this->check(cos_row, sin_row, [&](auto* cos, auto* sin, Against against) {
      const Guarded<DoubleDouble> guarded(turns, against);
      filler.fill_turns(guarded.data(), cos, sin);
    });
  });
}

/// Runs of rows, single ones, and ones of several axes.
TYPED_TEST(TableGuard, WholeTables) {
  const std::vector<Positions> several{
      Positions::ids(std::vector<double>{0, 1, 2, 3, 4, 9, 10, 0.5, 7, 6, 5}),
      Positions::multi_axis(std::vector<int>{0, 1, 2, 3, 7, 7, 0, 1, 2, 9, 7, 7},
                            Sections(SectionPattern::contiguous, {1, 1}))};
  this->on_every_target([&](Index pairs) {
    const Frequencies f = frequencies_of(pairs);
    for (const Positions& positions : several) {
      const Entries<TypeParam> expected(Cache<TypeParam>(f, positions));
      this->check(expected.cos, expected.sin, [&](auto* cos, auto* sin, Against) {
        detail::fill_table(f, positions, Layout::bsnd(), cos, sin);
      });
    }
  });
}

}  // namespace
}  // namespace eigen_rope::test
