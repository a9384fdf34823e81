// SPDX-License-Identifier: Apache-2.0
//
// Slices, chips, splits and exchanged axes of views, one after the other, against a list of all
// elements in which each step is done index by index.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>
#include <vector>

#include "eigen_rope/rows/strided_view.hpp"

namespace eigen_rope::test::view_parts_tests {
namespace {

/// The elements of an array in the order of its indices, the first index fastest, and its extents.
struct Listed {
  std::vector<Index> extents;
  std::vector<int> elements;

  /// The index of element `i` along each axis.
  std::vector<Index> index(std::size_t i) const {
    std::vector<Index> result;
    auto rest = static_cast<Index>(i);
    for (const Index extent : extents) {
      result.push_back(rest % extent);
      rest /= extent;
    }
    return result;
  }
  std::size_t place(const std::vector<Index>& at) const {
    Index place = 0;
    for (std::size_t axis = extents.size(); axis-- > 0;) place = place * extents[axis] + at[axis];
    return static_cast<std::size_t>(place);
  }

  Listed slice(std::size_t axis, Index first, Index count) const {
    Listed part{extents, {}};
    part.extents[axis] = count;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Index at = index(i)[axis];
      if (at >= first && at < first + count) part.elements.push_back(elements[i]);
    }
    return part;
  }
  Listed chip(std::size_t axis, Index at) const {
    Listed part = slice(axis, at, 1);
    part.extents.erase(part.extents.begin() + static_cast<std::ptrdiff_t>(axis));
    return part;
  }
  Listed split(std::size_t axis, Index extent) const {
    Listed parts = *this;
    parts.extents[axis] = extents[axis] / extent;
    parts.extents.insert(parts.extents.begin() + static_cast<std::ptrdiff_t>(axis), extent);
    return parts;
  }
  Listed swap_axes(std::size_t a, std::size_t b) const {
    Listed turned = *this;
    std::swap(turned.extents[a], turned.extents[b]);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      std::vector<Index> at = index(i);
      std::swap(at[a], at[b]);
      turned.elements[turned.place(at)] = elements[i];
    }
    return turned;
  }
};

/// What the definition of StridedView says that its elements are.
Listed listed(const StridedView<const int>& view) {
  Listed all;
  for (int axis = 0; axis < view.shape.rank(); ++axis) all.extents.push_back(view.shape[axis]);
  for (std::size_t i = 0; i < static_cast<std::size_t>(view.shape.size()); ++i) {
    const std::vector<Index> at = all.index(i);
    Index place = at[0] * view.feature_stride;
    for (std::size_t axis = 1; axis < at.size(); ++axis) place += at[axis] * view.strides[axis - 1];
    all.elements.push_back(view.data[place]);
  }
  return all;
}

class Draw {
 public:
  /// From `low` to `high`.
  Index of(Index low, Index high) {
    return std::uniform_int_distribution<Index>(low, high)(engine_);
  }
  Index divisor_of(Index number) {
    std::vector<Index> divisors;
    for (Index d = 1; d <= std::max<Index>(number, 1); ++d)
      if (number % d == 0) divisors.push_back(d);
    return divisors[static_cast<std::size_t>(of(0, static_cast<Index>(divisors.size()) - 1))];
  }

 private:
  std::mt19937 engine_{20260301};
};

TEST(ViewParts, AreTheElementsThatTheirIndicesSay) {
  Draw draw;
  std::vector<int> memory(4096);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<int>(i);
  std::array<int, 4> done{};
  int empty = 0;
  for (int round = 0; round < 500; ++round) {
    Shape shape;
    for (Index axes = draw.of(1, 4); axes > 0; --axes) shape.push_back(draw.of(1, 7));
    StridedView<const int> view = strided_view(static_cast<const int*>(memory.data()), shape);
    if (draw.of(0, 1) == 1) {  // backwards, and not from the first element
      view.data += 3000;
      for (std::size_t i = 0; i < view.strides.size(); ++i) view.strides[i] = -view.strides[i];
    }
    Listed expected = listed(view);
    for (int step = 0; step < 5; ++step) {
      const int rank = view.shape.rank();
      const int axis = static_cast<int>(draw.of(0, rank - 1));
      const auto i = static_cast<std::size_t>(axis);
      const Index extent = view.shape[axis];
      const auto operation = static_cast<std::size_t>(draw.of(0, 3));
      if ((operation == 1 && (rank == 1 || extent == 0)) || (operation == 2 && rank == max_rank))
        continue;
      ++done[operation];
      if (operation == 0) {
        const Index first = draw.of(0, extent);
        const Index count = draw.of(0, extent - first);
        view = view.slice(axis, first, count);
        expected = expected.slice(i, first, count);
      } else if (operation == 1) {
        const Index index = draw.of(0, extent - 1);
        view = view.chip(axis, index);
        expected = expected.chip(i, index);
      } else if (operation == 2) {
        const Index part = draw.divisor_of(extent);
        view = view.split(axis, part);
        expected = expected.split(i, part);
      } else {
        const int other = static_cast<int>(draw.of(0, rank - 1));
        view = view.swap_axes(axis, other);
        expected = expected.swap_axes(i, static_cast<std::size_t>(other));
      }
      const Listed got = listed(view);
      ASSERT_EQ(got.extents, expected.extents);
      ASSERT_EQ(got.elements, expected.elements);
      empty += got.elements.empty() ? 1 : 0;
    }
  }
  for (const int count : done) EXPECT_GT(count, 100);
  EXPECT_GT(empty, 100);
}

TEST(ViewParts, EmptyPartsBeginWhereTheViewDoes) {
  int memory[6] = {};
  const StridedView<int> view = strided_view(memory, {2, 3});
  EXPECT_EQ(view.slice(1, 3, 0).data, memory);
  EXPECT_EQ(view.slice(1, 3, 0).slice(0, 1, 1).data, memory);
  const StridedView<int> nothing = strided_view(static_cast<int*>(nullptr), {2, 3});
  EXPECT_EQ(nothing.slice(1, 1, 2).data, nullptr);
  EXPECT_EQ(nothing.chip(1, 2).data, nullptr);
}

/// A rotation in place compares strides, so those of a part that is the whole must be the whole's.
TEST(ViewParts, TheWholeHasTheStridesOfTheWhole) {
  int memory[24] = {};
  const StridedView<int> view = strided_view(memory, {4, 3, 2});
  const auto same = [](const StridedView<int>& a, const StridedView<int>& b) {
    return a.data == b.data && a.shape == b.shape && a.strides == b.strides &&
           a.feature_stride == b.feature_stride;
  };
  EXPECT_TRUE(same(view.slice(1, 0, 3), view));
  EXPECT_TRUE(same(view.swap_axes(0, 2).swap_axes(2, 0), view));
  EXPECT_TRUE(same(view.split(0, 4), strided_view(memory, {4, 1, 3, 2})));
  EXPECT_TRUE(same(view.split(2, 1), strided_view(memory, {4, 3, 1, 2})));
  EXPECT_TRUE(same(strided_view(memory, {24}).split(0, 12).split(0, 4), view));
}

}  // namespace
}  // namespace eigen_rope::test::view_parts_tests
