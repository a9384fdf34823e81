// SPDX-License-Identifier: Apache-2.0
//
// Rotations write the reference's bits wherever y begins, and nothing else. Rows are joined to
// whole vectors, past the caches and, where there are enough of them, through the caches. Past
// them, other rows wait in memory and leave it in whole lines, which begin and end anywhere in a
// row.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "eigen_rope/forms/reference.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "support/kernel_paths.hpp"
#include "support/memory_on_lines.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test {
namespace {

enum class Order { tokens_outside, heads_outside };

/// Rows [D, heads, tokens] that lie in one order or the other, `gap` elements apart.
struct Layout3 {
  Order order;
  Index gap;

  std::vector<Index> strides(Index D, Index heads, Index tokens) const {
    const Index row = D + gap;
    if (order == Order::tokens_outside) return {row, row * heads};
    return {row * tokens, row};
  }
};

struct Problem {
  Index D, heads, tokens;
  Pairing pairing = split_half;
  Direction direction = Direction::forward;
  Index table_width = 0;
  Layout3 x{}, y{};
  /// Elements behind the beginning of a line.
  Index x_offset = 0, y_offset = 0;

  std::string text() const {
    return std::to_string(D) + " x " + std::to_string(heads) + " x " + std::to_string(tokens) +
           ", " + std::string(name_of(pairing.kind())) + ", direction " +
           std::to_string(static_cast<int>(direction)) + ", table " + std::to_string(table_width) +
           ", x " + std::to_string(x.order == Order::heads_outside) + " gap " +
           std::to_string(x.gap) + " offset " + std::to_string(x_offset) + ", y " +
           std::to_string(y.order == Order::heads_outside) + " gap " + std::to_string(y.gap) +
           " offset " + std::to_string(y_offset);
  }
};

template <class Scalar>
void compare(const Problem& p, std::uint64_t seed) {
  using TableScalar = std::conditional_t<std::is_same_v<Scalar, double>, double, float>;
  const Shape shape{p.D, p.heads, p.tokens};
  const auto dense = random_values<Scalar>(shape.size(), seed);
  const auto table = random_table<TableScalar>(p.table_width, Shape{1, p.tokens}, seed + 1);
  std::vector<Scalar> expected(dense.size());
  reference::rotate(dense.data(), expected.data(), shape, table.view(), p.pairing, p.direction);

  const auto size_of_rows = [&](const Layout3& layout) {
    return (p.D + layout.gap) * p.heads * p.tokens;
  };
  const std::vector<Index> x_strides = p.x.strides(p.D, p.heads, p.tokens);
  const std::vector<Index> y_strides = p.y.strides(p.D, p.heads, p.tokens);
  MemoryOnLines<Scalar> x_memory(size_of_rows(p.x), p.x_offset);
  MemoryOnLines<Scalar> y_memory(size_of_rows(p.y), p.y_offset);
  Scalar* const x = x_memory.tensor();
  std::vector<Scalar> wanted = y_memory.all();
  const auto wanted_y = wanted.begin() + y_memory.begin();
  for (Index t = 0; t < p.tokens; ++t) {
    for (Index h = 0; h < p.heads; ++h) {
      const Index row = (t * p.heads + h) * p.D;
      std::copy_n(dense.begin() + row, p.D, x + h * x_strides[0] + t * x_strides[1]);
      std::copy_n(expected.begin() + row, p.D, wanted_y + h * y_strides[0] + t * y_strides[1]);
    }
  }
  rotate_to(StridedView<Scalar>{y_memory.tensor(), shape, y_strides},
            StridedView<const Scalar>{x, shape, x_strides}, table, p.pairing, p.direction);
  ASSERT_TRUE(same_bits(wanted.data(), y_memory.all().data(), static_cast<Index>(wanted.size())))
      << p.text();
}

/// On every instruction set, past the caches.
template <class Visit>
void past_the_caches(const Visit& visit) {
  on_every_path([&](Path path) {
    if (path == Path::past_the_cache) visit();
  });
}

constexpr Direction directions[] = {Direction::forward, Direction::backward, Direction::inverse};
constexpr Order orders[] = {Order::tokens_outside, Order::heads_outside};

/// Every element of a line that y can begin at; rows of whole lines, and rows that are not.
template <class Scalar>
void begin_anywhere() {
  on_every_path([](Path) {
    std::uint64_t seed = 1;
    constexpr Index line = 64 / sizeof(Scalar);
    for (const Index D : {Index{64}, Index{128}, Index{70}}) {
      for (const Order order : orders) {
        for (Index offset = 0; offset < line; ++offset) {
          Problem p{D, 6, 17};
          p.pairing = offset % 2 == 0 ? split_half : interleaved;
          p.table_width = D / 2;
          p.x = p.y = {order, 0};
          p.x_offset = offset * 7 % line;
          p.y_offset = offset;
          compare<Scalar>(p, seed += 2);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  });
}

TEST(RotateLines, FloatsBeginAnywhere) { begin_anywhere<float>(); }
TEST(RotateLines, DoublesBeginAnywhere) { begin_anywhere<double>(); }
TEST(RotateLines, HalvesBeginAnywhere) { begin_anywhere<Eigen::half>(); }
TEST(RotateLines, Bfloat16sBeginAnywhere) { begin_anywhere<Eigen::bfloat16>(); }

/// Rows of 16-bit elements are joined through the caches only where there are many.
template <class Scalar>
void many_begin_anywhere() {
  on_every_path([](Path) {
    for (const Order order : orders) {
      for (const Index offset : {1, 8}) {
        Problem p{128, 8, 520, offset == 1 ? interleaved : split_half};
        p.table_width = 64;
        p.x = p.y = {order, 0};
        p.y_offset = offset;
        compare<Scalar>(p, static_cast<std::uint64_t>(offset));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  });
}

TEST(RotateLines, ManyHalvesBeginAnywhere) { many_begin_anywhere<Eigen::half>(); }
TEST(RotateLines, ManyBfloat16sBeginAnywhere) { many_begin_anywhere<Eigen::bfloat16>(); }

/// Sizes, windows, tables, layouts and gaps at random.
template <class Scalar>
void any_rows() {
  past_the_caches([] {
    std::mt19937 random(20261125);
    const auto any = [&](std::initializer_list<Index> of) {
      return of.begin()[random() % of.size()];
    };
    for (int i = 0; i < 120; ++i) {
      Problem p{any({2, 6, 16, 34, 48, 64, 80, 96, 128, 130, 240, 256, 640, 2052, 5000}),
                any({1, 2, 3, 4, 5, 9}), any({1, 2, 7, 33})};
      if (p.D > 1000) p.tokens = any({1, 3});
      p.pairing = any({0, 1}) == 0 ? split_half : interleaved;
      if (any({0, 1, 2}) == 0) p.pairing = interleaved_to_split_half;
      if (p.D % 4 == 0 && any({0, 1, 2, 3}) == 0) p.pairing = quarter;
      Index rotary = p.D;
      if (p.D >= 64 && any({0, 1}) == 0) {
        const Index offset = any({0, 3, 16});
        rotary = any({4, 16, 32, 40});
        p.pairing = p.pairing.with_rotary_dims(rotary).with_offset(offset);
      }
      p.direction = directions[random() % 3];
      p.table_width = any({0, 1}) == 0 ? rotary / 2 : rotary;
      p.x = {orders[random() % 2], any({0, 0, 5})};
      p.y = {orders[random() % 2], any({0, 0, 0, 16, 3})};
      p.x_offset = static_cast<Index>(random() % 32);
      p.y_offset = any({0, 0, 1, 3, 4, 8, 13, 21, 31});
      compare<Scalar>(p, random());
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

TEST(RotateLines, AnyFloats) { any_rows<float>(); }
TEST(RotateLines, AnyDoubles) { any_rows<double>(); }
TEST(RotateLines, AnyHalves) { any_rows<Eigen::half>(); }
TEST(RotateLines, AnyBfloat16s) { any_rows<Eigen::bfloat16>(); }

}  // namespace
}  // namespace eigen_rope::test
