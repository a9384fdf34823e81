// SPDX-License-Identifier: Apache-2.0
//
// Calls that are typed at run time have the bits of the typed ones, of every rank, order, feature
// axis and scalar; tables are filled as those of a Cache.
#include "eigen_rope/any/any.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "eigen_rope/choices/default_axis.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "support/any_tensor.hpp"
#include "support/bits.hpp"
#include "support/error_of.hpp"

namespace eigen_rope::test::any_tests {
namespace {

using any::Order;

constexpr std::array<Order, 2> every_order{Order::slowest_first, Order::fastest_first};
constexpr std::array<Index, 6> extents{2, 3, 1, 4, 2, 3};

template <class Scalar>
std::vector<Scalar> ramp(Index count) {
  std::vector<Scalar> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<Scalar>(static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 64);
  return values;
}

Shape listed_shape(const Shape& fastest_first, Order order) {
  return listed<Shape>({fastest_first.begin(), fastest_first.begin() + fastest_first.rank()},
                       order);
}

template <class Scalar>
struct AnyTest : testing::Test {};
using Scalars = testing::Types<float, double, Eigen::half, Eigen::bfloat16>;
TYPED_TEST_SUITE(AnyTest, Scalars);

/// The table varies along the slowest axis that x has besides its features.
TYPED_TEST(AnyTest, EveryRankOrderAndFeatureAxisHasTheBitsOfTheTypedCall) {
  using Scalar = TypeParam;
  constexpr Index D = 10;
  for (int rank = 1; rank <= 6; ++rank) {
    for (int place = 0; place < rank; ++place) {
      Shape shape, outer;
      for (int axis = 0; axis < rank; ++axis) {
        shape.push_back(axis == place ? D : extents[static_cast<std::size_t>(axis)]);
        if (axis != place) outer.push_back(axis + 1 == rank ? shape[axis] : 1);
      }
      const auto cos = ramp<Scalar>(D / 2 * outer.size());
      const auto sin = ramp<Scalar>(D / 2 * outer.size());
      const TableView<Scalar> table{cos.data(), sin.data(), D / 2, outer};
      const auto x = ramp<Scalar>(shape.size());
      for (const Direction direction : {Direction::forward, Direction::backward}) {
        auto expected = x;
        Strides strides;
        Index stride = shape[0];
        for (int axis = 1; axis < rank; ++axis) {
          strides.push_back(stride);
          stride *= shape[axis];
        }
        rotate_inplace(StridedView<Scalar>{expected.data(), shape, strides}, table,
                       interleaved.along(place), direction);
        for (const Order order : every_order) {
          SCOPED_TRACE("rank " + std::to_string(rank) + ", features behind " +
                       std::to_string(place));
          std::vector<Scalar> y(x.size());
          const Pairing pairing = interleaved.along(listed_axis(place, rank, order));
          const any::Tensor to{
              scalar_type<Scalar>, y.data(), listed_shape(shape, order), {}, order};
          const any::ConstTensor from{scalar_type<Scalar>, x.data(), to.shape, {}, order};
          any::rotate_to(to, from, any::table_of(table), pairing, direction);
          EXPECT_EQ(bits_of(y.data(), shape.size()), bits_of(expected.data(), shape.size()));
        }
      }
    }
  }
}

TYPED_TEST(AnyTest, FeaturesAreOnTheFastestAxisUnlessThePairingNamesOne) {
  using Scalar = TypeParam;
  auto expected = ramp<Scalar>(8 * 3);
  auto slowest_first = expected, fastest_first = expected;
  const auto cos = ramp<Scalar>(4);
  const TableView<Scalar> table{cos.data(), cos.data(), 4, {}};
  rotate_inplace(StridedView<Scalar>{expected.data(), {8, 3}, {8}}, table, split_half);
  any::rotate_inplace({scalar_type<Scalar>, slowest_first.data(), {3, 8}}, any::table_of(table),
                      split_half);
  any::rotate_inplace({scalar_type<Scalar>, fastest_first.data(), {8, 3}, {}, Order::fastest_first},
                      any::table_of(table), split_half);
  EXPECT_EQ(bits_of(slowest_first.data(), 24), bits_of(expected.data(), 24));
  EXPECT_EQ(bits_of(fastest_first.data(), 24), bits_of(expected.data(), 24));
}

TYPED_TEST(AnyTest, ViewsInOtherOrdersAreTheSameTensor) {
  using Scalar = TypeParam;
  const auto x = ramp<Scalar>(8 * 3);
  auto expected = x;
  std::vector<Scalar> y(x.size());
  const auto cos = ramp<Scalar>(4);
  const any::Table table{scalar_type<Scalar>, cos.data(), cos.data(), {4}};
  any::rotate_inplace({scalar_type<Scalar>, expected.data(), {3, 8}}, table, split_half);
  any::rotate_to({scalar_type<Scalar>, y.data(), {8, 3}, {}, Order::fastest_first},
                 {scalar_type<Scalar>, x.data(), {3, 8}}, table, split_half);
  EXPECT_EQ(bits_of(y.data(), 24), bits_of(expected.data(), 24));
}

/// Two rows that are one in memory.
TYPED_TEST(AnyTest, AStrideOfZeroRepeatsWhatIsRead) {
  using Scalar = TypeParam;
  const auto x = ramp<Scalar>(8);
  auto row = x;
  std::vector<Scalar> y(16);
  const auto cos = ramp<Scalar>(4);
  const any::Table table{scalar_type<Scalar>, cos.data(), cos.data(), {4}};
  any::rotate_inplace({scalar_type<Scalar>, row.data(), {8}}, table, split_half);
  any::rotate_to({scalar_type<Scalar>, y.data(), {2, 8}},
                 {scalar_type<Scalar>, x.data(), {2, 8}, {0, 1}}, table, split_half);
  EXPECT_EQ(bits_of(y.data(), 8), bits_of(row.data(), 8));
  EXPECT_EQ(bits_of(y.data() + 8, 8), bits_of(row.data(), 8));
}

/// Strides along axes of one element lead nowhere: in place is in place.
TYPED_TEST(AnyTest, StridesOfOneElementMeanNothing) {
  using Scalar = TypeParam;
  auto expected = ramp<Scalar>(3 * 8);
  auto y = expected;
  const auto cos = ramp<Scalar>(4);
  const any::Table table{scalar_type<Scalar>, cos.data(), cos.data(), {4}};
  any::rotate_inplace({scalar_type<Scalar>, expected.data(), {3, 8}}, table, split_half);
  any::rotate_to({scalar_type<Scalar>, y.data(), {1, 3, 8}, {99, 8, 1}},
                 {scalar_type<Scalar>, y.data(), {1, 3, 8}, {0, 8, 1}}, table, split_half);
  EXPECT_EQ(bits_of(y.data(), 24), bits_of(expected.data(), 24));
}

/// More entries than the copy on the stack holds, entries outermost in memory.
TYPED_TEST(AnyTest, LargeTablesThatAreNotDenseAreReadWhereTheyLie) {
  using Scalar = TypeParam;
  constexpr Index D = 64, tokens = 100;
  const auto entries = ramp<Scalar>(D * tokens);
  const Scalar* const cos = entries.data();
  const Scalar* const sin = cos + D / 2 * tokens;
  std::vector<Scalar> cos_apart(entries.size() / 2), sin_apart = cos_apart;
  for (Index s = 0; s < tokens; ++s) {
    for (Index k = 0; k < D / 2; ++k) {
      cos_apart[static_cast<std::size_t>(k * tokens + s)] = cos[s * D / 2 + k];
      sin_apart[static_cast<std::size_t>(k * tokens + s)] = sin[s * D / 2 + k];
    }
  }
  auto expected = ramp<Scalar>(D * tokens);
  auto y = expected;
  const any::Table dense{scalar_type<Scalar>, cos, sin, {tokens, D / 2}};
  const any::Table strided{
      scalar_type<Scalar>, cos_apart.data(), sin_apart.data(), {tokens, D / 2}, {1, tokens}};
  any::rotate_inplace({scalar_type<Scalar>, expected.data(), {tokens, D}}, dense, split_half);
  any::rotate_inplace({scalar_type<Scalar>, y.data(), {tokens, D}}, strided, split_half);
  EXPECT_EQ(bits_of(y.data(), D * tokens), bits_of(expected.data(), D * tokens));
}

TYPED_TEST(AnyTest, FilledTablesAreThoseOfACache) {
  using Scalar = TypeParam;
  constexpr Index D = 12, tokens = 5, batches = 2;
  const Frequencies frequencies = Frequencies::powers({D});
  const std::vector<int> ids{7, 8, 9, 10, 11, 0, 3, 500, 501, 2};
  const Positions positions = Positions::per_batch(ids, Batches{batches});
  for (const Layout& layout : {Layout::bsnd(), Layout::bnsd(), Layout::dnsb(), Layout::dsnb()}) {
    const Cache<Scalar> cache(frequencies, positions, layout);
    const any::Table like = any::table_of(cache);
    const Index size = D / 2 * tokens * batches;
    SCOPED_TRACE(layout.text());
    std::vector<Scalar> cos(static_cast<std::size_t>(size)), sin = cos;
    any::fill_table(
        {like.type, cos.data(), sin.data(), like.shape, {}, like.order, like.feature_axis},
        frequencies, positions, layout);
    EXPECT_EQ(bits_of(cos.data(), size), bits_of(cache.cos(), size));
    EXPECT_EQ(bits_of(sin.data(), size), bits_of(cache.sin(), size));

    // Every other element, the axes listed the other way round.
    std::vector<Scalar> apart(static_cast<std::size_t>(4 * size), Scalar(7));
    Strides strides;
    Index stride = 2;
    for (int axis = 0; axis < like.shape.rank(); ++axis) {
      strides.push_back(stride);
      stride *= like.shape[axis];
    }
    const int rank = like.shape.rank();
    any::TableMemory memory{like.type, apart.data(), apart.data() + 2 * size,
                            listed_shape(like.shape, Order::slowest_first)};
    for (int axis = rank - 1; axis >= 0; --axis)
      memory.strides.push_back(strides[static_cast<std::size_t>(axis)]);
    memory.feature_axis = rank - 1 - *like.feature_axis;
    any::fill_table(memory, frequencies, positions, layout);
    for (Index i = 0; i < size; ++i) {
      const auto at = static_cast<std::size_t>(2 * i);
      EXPECT_EQ(bits_of(&apart[at], 1), bits_of(cache.cos() + i, 1));
      EXPECT_EQ(bits_of(&apart[at + static_cast<std::size_t>(2 * size)], 1),
                bits_of(cache.sin() + i, 1));
      EXPECT_EQ(apart[at + 1], Scalar(7));
    }
  }
}

/// Its shape alone fits either way.
TYPED_TEST(AnyTest, ATableHasItsEntriesOnTheAxisThatItNames) {
  using Scalar = TypeParam;
  constexpr Index D = 8, tokens = D / 2;
  const Frequencies frequencies = Frequencies::powers({D});
  const Positions positions = Positions::range(5, tokens);
  const Cache<Scalar> usual(frequencies, positions, Layout::sd());
  const Cache<Scalar> turned(frequencies, positions, Layout::ds());
  std::vector<Scalar> y(static_cast<std::size_t>(D * tokens), Scalar(0.5F)), expected = y;
  any::rotate_inplace({scalar_type<Scalar>, expected.data(), {tokens, D}}, any::table_of(usual),
                      split_half);
  any::rotate_inplace({scalar_type<Scalar>, y.data(), {tokens, D}}, any::table_of(turned),
                      split_half);
  EXPECT_EQ(bits_of(y.data(), D * tokens), bits_of(expected.data(), D * tokens));
}

/// Memory may have its entries elsewhere than the layout.
TEST(Any, TheMemorySaysWhereEntriesLie) {
  const Frequencies frequencies = Frequencies::powers({6});
  const Positions positions = Positions::range(3, 4);
  const Cache<float> cache(frequencies, positions, Layout::dns());
  std::vector<float> cos(12), sin(12);
  any::TableMemory memory{ScalarType::f32, cos.data(), sin.data(), {3, 4, 1}};
  memory.feature_axis = 0;
  any::fill_table(memory, frequencies, positions, Layout::tnd());
  EXPECT_EQ(bits_of(cos.data(), 12), bits_of(cache.cos(), 12));
  EXPECT_EQ(bits_of(sin.data(), 12), bits_of(cache.sin(), 12));
}

TEST(Any, ErrorsNameAxesInTheOrderOfTheTensor) {
  std::vector<float> x(8 * 3 * 5), cos(4);
  const any::Table table{ScalarType::f32, cos.data(), cos.data(), {4}};
  const auto error = [&](const Shape& shape, Order order) {
    return error_of([&] {
      any::rotate_inplace({ScalarType::f32, x.data(), shape, {}, order}, table, split_half);
    });
  };
  constexpr const char* hint = "(along axis 0 this x fits the table: write .along(0) behind the ";
  EXPECT_NE(error({8, 3, 5}, Order::slowest_first).find(hint), std::string::npos);
  EXPECT_NE(error({3, 5, 8}, Order::fastest_first).find("write .along(2)"), std::string::npos);
}

TEST(Any, AnAxisMustBeNamedWhereSetDefaultAxisSaysSo) {
  std::vector<float> x(8 * 8), cos(4);
  const any::Table table{ScalarType::f32, cos.data(), cos.data(), {4}};
  const any::Tensor tensor{ScalarType::f32, x.data(), {8, 8}};
  set_default_axis(DefaultAxis::fastest_if_no_other_fits);
  const std::string refused = error_of([&] { any::rotate_inplace(tensor, table, split_half); });
  const std::string gradient =
      error_of([&] { (void)any::gradients(tensor, tensor, table, split_half); });
  const std::string named =
      error_of([&] { any::rotate_inplace(tensor, table, split_half.along(1)); });
  set_default_axis(DefaultAxis::fastest);
  EXPECT_EQ(refused,
            "[rope] the feature axis must be named where x fits the table along axis 1 and along "
            "axis 0, too: write .along(axis) behind the pairing, got no axis");
  EXPECT_EQ(gradient, refused);
  EXPECT_EQ(named, "no eigen_rope::Error");
}

/// However many rows there are, and its table has.
TEST(Any, TensorsWithoutFeaturesCostNothing) {
  const any::Tensor rows{ScalarType::f32, nullptr, {Index{1} << 60, 0}};
  const any::Table table{ScalarType::f32, nullptr, nullptr, rows.shape};
  for (const Direction direction : {Direction::forward, Direction::backward, Direction::inverse})
    any::rotate_inplace(rows, table, quarter, direction);
  const auto d = any::gradients(rows, rows, table, quarter, {Wanted::table | Wanted::angle});
  EXPECT_EQ(d.width, 0);
  EXPECT_TRUE(d.cos.empty() && d.angle.empty());
}

/// The members of tensor() are those that the arrays say, whatever the type of their numbers.
TEST(Any, TensorsOfArraysHaveTheirExtentsAndStrides) {
  float memory[24] = {};
  const std::int64_t sizes[] = {2, 3, 4}, steps_of_axes[] = {1, 8, -2};
  const any::Tensor written = any::tensor(ScalarType::f32, memory, 3, sizes, steps_of_axes);
  EXPECT_EQ(written.type, ScalarType::f32);
  EXPECT_EQ(written.data, memory);
  EXPECT_EQ(written.shape, (Shape{2, 3, 4}));
  EXPECT_EQ(written.strides, (Strides{1, 8, -2}));
  EXPECT_EQ(written.order, any::Order::slowest_first);
  const int narrow[] = {2, 3, 4};
  const void* const data = memory;
  const any::ConstTensor read = any::tensor(ScalarType::bf16, data, 3, narrow);
  EXPECT_EQ(read.type, ScalarType::bf16);
  EXPECT_EQ(read.data, data);
  EXPECT_EQ(read.shape, (Shape{2, 3, 4}));
  EXPECT_EQ(read.strides.size(), 0U);
  const std::size_t wide[] = {2, 12};
  EXPECT_EQ(any::tensor(ScalarType::f32, memory, 2, wide).shape, (Shape{2, 12}));
}

TEST(Any, TablesOfTwoTensorsAreTheirs) {
  const double cosines[4] = {1, 2, 3, 4}, sines[4] = {5, 6, 7, 8};
  any::ConstTensor cos{ScalarType::f64, cosines, {2, 2}, {1, 2}, any::Order::fastest_first};
  any::ConstTensor sin = cos;
  sin.data = sines;
  const any::Table table = any::table_of(cos, sin);
  EXPECT_EQ(table.type, ScalarType::f64);
  EXPECT_EQ(table.cos, cosines);
  EXPECT_EQ(table.sin, sines);
  EXPECT_EQ(table.shape, cos.shape);
  EXPECT_EQ(table.strides, cos.strides);
  EXPECT_EQ(table.order, any::Order::fastest_first);
  EXPECT_FALSE(table.feature_axis.has_value());
}

TEST(Any, EmptyTensorsNeedNoMemory) {
  const any::Table table{ScalarType::f32, nullptr, nullptr, {0, 4}, {9, 3}};
  any::rotate_inplace({ScalarType::f32, nullptr, {0, 8}}, table, split_half);
  const auto d = any::gradients({ScalarType::f32, nullptr, {0, 8}},
                                {ScalarType::f32, nullptr, {0, 8}}, table, split_half);
  EXPECT_EQ(d.pairs, 4);
  EXPECT_TRUE(d.angle.empty());
}

}  // namespace
}  // namespace eigen_rope::test::any_tests
