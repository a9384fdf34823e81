// SPDX-License-Identifier: Apache-2.0
//
// Rotations of views from one order of axes into another: features slowest in x and fastest in y,
// the other way round, and planes of neighbouring rows that lie apart on one side alone. Elements
// have the bits of the definition, and what lies between them stays. Every kernel target, through
// the caches and past them.
#include <gtest/gtest.h>

#include <vector>

#include "eigen_rope/forms/reference.hpp"
#include "eigen_rope/numbers/detail/aligned.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "support/axis_cases.hpp"
#include "support/kernel_paths.hpp"

namespace eigen_rope::test::rotate_orders_tests {
namespace {

/// Where the elements of [D, rows, others] lie: element 0 at `first`, neighbours so far apart.
struct Order {
  Index first;
  Index feature;
  Index row;
  Index other;

  Index place(const Shape& shape, Index i) const {
    const Index d = i % shape[0];
    const Index r = i / shape[0] % shape[1];
    const Index o = i / shape[0] / shape[1];
    return first + d * feature + r * row + o * other;
  }
  template <class Scalar>
  StridedView<Scalar> view(Scalar* memory, const Shape& shape) const {
    return {memory + first, shape, {row, other}, feature};
  }
};

const std::vector<Row> few_elements{{8, 0, 8}, {13, 3, 8}};
/// More pairs than are rotated together, in rows that are whole lines and in rows that are not.
const std::vector<Row> many_elements{{128, 0, 128}, {136, 0, 128}};

const std::vector<Row> long_rows{{256, 0, 256}};

using MakeOrder = Order (*)(const Shape& shape);

Order features_fastest(const Shape& shape) { return {0, 1, shape[0], shape[0] * shape[1]}; }
Order features_between(const Shape& shape) { return {0, shape[1], 1, shape[0] * shape[1]}; }
Order features_slowest(const Shape& shape) { return {0, shape[1] * shape[2], 1, shape[1]}; }
/// Features that lie 4 KiB or 8 KiB apart.
Order features_on_pages(const Shape& shape) { return {0, 2048, 1, shape[1]}; }
/// [D, heads, tokens]: the heads of a token follow each other.
Order heads_inside_tokens(const Shape& shape) { return {0, 1, shape[0] * shape[2], shape[0]}; }
/// [D, tokens, heads], of which the heads lie a multiple of 2 KiB apart.
Order heads_on_pages(const Shape& shape) {
  return {0, 1, shape[0], (shape[0] * shape[1] / 1024 + 1) * 1024};
}
/// Five elements lie between the planes of neighbouring rows.
Order planes_apart(const Shape& shape) { return {0, shape[1] * shape[2] + 5, 1, shape[1]}; }
/// Memory of a vector begins on an even element.
Order from_an_odd_element(const Shape& shape) { return {1, shape[1] * shape[2], 1, shape[1]}; }

template <class Scalar>
std::vector<Scalar> in_order(const std::vector<Scalar>& dense, const Shape& shape,
                             const Order& order) {
  const auto untouched = static_cast<Scalar>(77);
  std::vector<Scalar> memory(static_cast<std::size_t>(order.place(shape, shape.size() - 1) + 3),
                             untouched);
  for (Index i = 0; i < shape.size(); ++i)
    memory[static_cast<std::size_t>(order.place(shape, i))] = dense[static_cast<std::size_t>(i)];
  return memory;
}

template <class Scalar>
void rotate_between(MakeOrder of_x, MakeOrder of_y, const std::vector<Index>& row_counts,
                    const std::vector<Row>& lengths = few_elements) {
  using TableScalar = Widened<Scalar>;
  std::uint64_t seed = 300;
  for (const Index rows : row_counts) {
    for (const Case& c : cases_of(lengths)) {
      const Shape shape{c.row.length, rows, 3};
      const std::vector<Scalar> dense = random_values<Scalar>(shape.size(), ++seed);
      const Order from = of_x(shape);
      const Order to = of_y(shape);
      const std::vector<Scalar> x = in_order(dense, shape, from);
      const std::vector<Scalar> y_before =
          in_order(std::vector<Scalar>(dense.size(), static_cast<Scalar>(77)), shape, to);
      for (const unsigned table_axes : {0U, 1U, 2U, 3U}) {
        PlacedTable<TableScalar> table;
        static_cast<Table<TableScalar>&>(table) = random_table<TableScalar>(
            c.width(), broadcast_outer(shape.outer(), table_axes), ++seed);
        std::vector<Scalar> rotated(dense.size());
        reference::rotate(dense.data(), rotated.data(), shape, table.view(), c.pairing,
                          c.direction);
        const std::vector<Scalar> expected = in_order(rotated, shape, to);
        // Where the features are fastest on both sides, the table's are, too.
        const int places = from.feature == 1 && to.feature == 1 ? 1 : 3;
        for (int place = 0; place < places; ++place) {
          const PlacedTable<TableScalar> placed = table.with_features_behind(place);
          SCOPED_TRACE(c.text() + ", " + std::to_string(rows) + " rows, table varies on " +
                       std::to_string(table_axes) + ", features behind " + std::to_string(place));
          on_every_path([&](Path) {
            if (testing::Test::HasFailure()) return;
            detail::AlignedVector<Scalar> y(y_before.begin(), y_before.end());
            rotate_to(to.view(y.data(), shape), from.view(x.data(), shape), placed, c.pairing,
                      c.direction);
            EXPECT_TRUE(same_bits(expected.data(), y.data(), static_cast<Index>(y.size())))
                << kernel_target();
          });
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

/// Less than a tile of elements that are moved together, whole tiles, and a rest behind them.
const std::vector<Index> around_tiles{3, 8, 19, 130};
/// Whole lines of every scalar, more than are rotated together.
const std::vector<Index> some_lines{160};
/// Whole vectors of every scalar.
const std::vector<Index> whole_vectors{64};
/// Of so many rows the entries of four pairs are more than stay in the second-level cache, and
/// those of three are not.
const std::vector<Index> many_rows{2600};

TEST(RotateOrders, HeadsOnPages) {
  rotate_between<float>(heads_on_pages, heads_on_pages, {1, 2, 16}, many_elements);
  rotate_between<double>(heads_on_pages, heads_on_pages, {1, 2, 16}, many_elements);
  rotate_between<Eigen::half>(heads_on_pages, heads_on_pages, {16}, many_elements);
  rotate_between<float>(heads_inside_tokens, heads_on_pages, {16}, many_elements);
}

TEST(RotateOrders, FromSlowestFeaturesToFastest) {
  rotate_between<float>(features_slowest, features_fastest, around_tiles);
  rotate_between<double>(features_slowest, features_fastest, around_tiles);
  rotate_between<Eigen::bfloat16>(features_slowest, features_fastest, around_tiles);
}

TEST(RotateOrders, FromFastestFeaturesToSlowest) {
  rotate_between<float>(features_fastest, features_slowest, around_tiles);
  rotate_between<double>(features_fastest, features_slowest, around_tiles);
  rotate_between<Eigen::half>(features_fastest, features_slowest, around_tiles);
}

// Such features share a place of the first-level cache.
TEST(RotateOrders, FromFeaturesThatAreWholePagesApart) {
  rotate_between<Eigen::half>(features_on_pages, features_fastest, some_lines, long_rows);
}

TEST(RotateOrders, ToFeaturesThatAreWholePagesApart) {
  rotate_between<float>(features_fastest, features_on_pages, {19, 160}, {{72, 2, 70}});
  rotate_between<Eigen::bfloat16>(features_fastest, features_on_pages, {19, 300}, {{72, 2, 70}});
  rotate_between<Eigen::half>(heads_inside_tokens, features_on_pages, {33}, many_elements);
}

// Columns of 16-bit elements are copied before they are transposed where x is large: 8 lines of 32
// columns at a time, and at first as many rows as end with a line.
TEST(RotateOrders, FromColumnsThatAreCopied) {
  rotate_between<Eigen::half>(features_slowest, features_fastest, {300});
  rotate_between<Eigen::bfloat16>(from_an_odd_element, heads_inside_tokens, {300}, {{72, 2, 70}});
}

// Of larger elements, 32 lines of a column are read.
TEST(RotateOrders, FromLongColumns) {
  rotate_between<float>(features_slowest, features_fastest, {520});
  rotate_between<double>(from_an_odd_element, features_fastest, {260});
}

// Two heads of so many elements are passed together, and then the third; of interleaved
// doubles, all three.
TEST(RotateOrders, FromFastestFeaturesOfHeadsInsideTokens) {
  rotate_between<float>(heads_inside_tokens, features_slowest, some_lines, long_rows);
  rotate_between<double>(heads_inside_tokens, features_slowest, {40}, long_rows);
  rotate_between<Eigen::bfloat16>(heads_inside_tokens, features_slowest, some_lines, long_rows);
}

TEST(RotateOrders, ToFastestFeaturesOfHeadsInsideTokens) {
  rotate_between<float>(features_slowest, heads_inside_tokens, some_lines, long_rows);
  rotate_between<Eigen::half>(features_slowest, heads_inside_tokens, some_lines, long_rows);
}

TEST(RotateOrders, FromSlowestFeaturesToTheMiddle) {
  rotate_between<float>(features_slowest, features_between, around_tiles);
}

// Entries that other rows read again are taken some pairs at a time.
TEST(RotateOrders, MoreEntriesThanStayClose) {
  rotate_between<double>(features_between, features_between, many_rows);
}

TEST(RotateOrders, PlanesApartInTheDestinationAlone) {
  rotate_between<float>(features_slowest, planes_apart, whole_vectors);
  rotate_between<Eigen::bfloat16>(features_slowest, planes_apart, whole_vectors);
}

TEST(RotateOrders, PlanesApartInTheSourceAlone) {
  rotate_between<float>(planes_apart, features_slowest, whole_vectors);
  rotate_between<Eigen::bfloat16>(planes_apart, features_slowest, whole_vectors);
}

TEST(RotateOrders, RowsOfManyElements) {
  const std::vector<Index> rows{40};
  rotate_between<float>(features_fastest, features_slowest, rows, many_elements);
  rotate_between<float>(features_slowest, features_fastest, rows, many_elements);
  rotate_between<Eigen::bfloat16>(features_fastest, features_slowest, rows, many_elements);
  rotate_between<Eigen::bfloat16>(features_slowest, features_fastest, rows, many_elements);
}

// Past the caches the first whole line begins behind an odd number of rows.
TEST(RotateOrders, LinesThatBeginBehindAnOddNumberOfRows) {
  rotate_between<Eigen::bfloat16>(features_slowest, from_an_odd_element, whole_vectors);
  rotate_between<Eigen::half>(features_slowest, from_an_odd_element, whole_vectors);
}

}  // namespace
}  // namespace eigen_rope::test::rotate_orders_tests
