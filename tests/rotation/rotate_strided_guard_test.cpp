// SPDX-License-Identifier: Apache-2.0
//
// Rows anywhere in memory: nothing but their elements is read or written. Heads side by side inside
// a fused row, heads outside tokens, gaps, rows backwards, rows of x shared, in place, on any
// device, in pieces. Buffers end and begin with a row of the view, against pages that cannot be
// touched; what lies between rows is as it was before, bit for bit.
#define EIGEN_USE_THREADS
#include <gtest/gtest.h>

#include <functional>

#include "eigen_rope/forms/reference.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "support/guarded_table.hpp"
#include "support/kernel_paths.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test::rotate_strided_guard_tests {
namespace {

constexpr std::array<Row, 8> rows{{{2, 0, 2},
                                   {10, 0, 10},
                                   {36, 0, 36},
                                   {64, 0, 64},
                                   {128, 0, 128},
                                   {80, 8, 32},
                                   {12, 3, 8},
                                   {37, 5, 32}}};

/// A device that gives out rows in small pieces of changing size, the last ones first.
struct Pieces {
  struct Cost {
    double loaded, stored, cycles;
  };
  using Work = std::function<void(Index, Index)>;

  int numThreads() const { return 3; }
  void parallelFor(Index count, const Cost&, const Work& work) const {
    for (Index last = count, size = 1; last > 0; last -= size, size = size % 4 + 1) {
      size = std::min(size, last);
      work(last - size, last);
    }
  }
  void parallelFor(Index count, const Cost& cost, const std::function<Index(Index)>&,
                   const Work& work) const {
    parallelFor(count, cost, work);
  }
};

/// Strides of the two outer axes, for rows of so many elements.
using Arrangement = std::vector<Index>;

/// Three heads and two tokens, rows apart.
std::vector<Arrangement> arrangements(Index length) {
  return {
      {length, 5 * length + 1},               // three of five heads side by side, and an element
      {2 * (length + 3), length + 3},         // heads outside tokens, gaps behind rows
      {2 * length, length},                   // heads outside tokens, dense
      {2 * length, 6 * length},               // every other row
      {length + 2, -(3 * (length + 2) + 5)},  // tokens backwards
      {-(2 * length + 7), length},            // heads backwards, outside tokens
      {-length, -3 * length},                 // dense, backwards
  };
}

/// Besides, rows that share elements: one for all heads, one for all tokens, one for all.
std::vector<Arrangement> arrangements_to_read(Index length) {
  std::vector<Arrangement> all = arrangements(length);
  for (const Arrangement& shared :
       {Arrangement{0, length + 1}, Arrangement{length, 0}, Arrangement{0, 0}})
    all.push_back(shared);
  return all;
}

/// What a view covers from its first element to its last.
class Place {
 public:
  Place(const Shape& shape, const Arrangement& strides) : shape_(shape), strides_(strides) {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const Index reach = strides[axis] * (shape[static_cast<int>(axis) + 1] - 1);
      (reach < 0 ? before_ : after_) += std::abs(reach);
    }
  }

  std::size_t size() const { return static_cast<std::size_t>(before_ + after_ + shape_[0]); }
  template <class Scalar>
  StridedView<Scalar> view(Scalar* buffer) const {
    return {buffer + before_, shape_, strides_};
  }

  /// Calls visit(element of the dense tensor, element of the buffer).
  template <class Visit>
  void for_each_element(const Visit& visit) const {
    std::size_t dense = 0;
    for (Index j = 0; j < shape_[2]; ++j)
      for (Index i = 0; i < shape_[1]; ++i)
        for (Index d = 0; d < shape_[0]; ++d) {
          visit(dense++, static_cast<std::size_t>(before_ + d + i * strides_[0] + j * strides_[1]));
        }
  }
  /// The rows of a dense tensor, where they lie in a buffer.
  template <class Scalar>
  std::vector<Scalar> spread(const std::vector<Scalar>& dense, std::vector<Scalar> buffer) const {
    for_each_element([&](std::size_t from, std::size_t to) { buffer[to] = dense[from]; });
    return buffer;
  }
  template <class Scalar>
  std::vector<Scalar> gathered(const std::vector<Scalar>& buffer) const {
    std::vector<Scalar> dense(static_cast<std::size_t>(shape_.size()));
    for_each_element([&](std::size_t to, std::size_t from) { dense[to] = buffer[from]; });
    return dense;
  }

 private:
  Shape shape_;
  Arrangement strides_;
  Index before_ = 0;
  Index after_ = 0;
};

/// The rows of the view, and that nothing else is other than before.
template <class Scalar>
void expect_only_rows_written(const std::vector<Scalar>& expected,
                              const std::vector<Scalar>& values, const Place& place,
                              const std::vector<Scalar>& before, const std::vector<Scalar>& actual,
                              const Shape& shape, const Case& c) {
  const std::vector<Scalar> dense = place.gathered(actual);
  ASSERT_TRUE(same_rotation(expected.data(), dense.data(), values.data(), shape, c));
  const std::vector<Scalar> only_rows = place.spread(dense, before);
  ASSERT_EQ(std::memcmp(static_cast<const void*>(only_rows.data()),
                        static_cast<const void*>(actual.data()), actual.size() * sizeof(Scalar)),
            0)
      << "something was written between the rows";
}

template <class Scalar, class TableScalar>
void rotate_guarded() {
  Combinations combinations;
  const Pieces pieces;
  std::uint64_t seed = 600;
  for (const Case& c : cases_of(rows)) {
    const Shape shape{c.row.length, 3, 2};
    const std::vector<Arrangement> to_write = arrangements(c.row.length);
    const std::vector<Arrangement> to_read = arrangements_to_read(c.row.length);
    for (std::size_t written = 0; written < to_write.size(); ++written) {
      const auto varies = static_cast<unsigned>(++seed % 4);
      const auto table =
          random_table<TableScalar>(c.width(), broadcast_outer(shape.outer(), varies), seed);
      const Place y_place(shape, to_write[written]);
      // In place, and from another; over the cases, from all.
      for (const std::size_t read : {written, seed % to_read.size()}) {
        SCOPED_TRACE(c.text() + ", arrangement " + std::to_string(read) + " to " +
                     std::to_string(written));
        const Place x_place(shape, to_read[read]);
        const std::vector<Scalar> x_buffer =
            x_place.spread(random_values<Scalar>(shape.size(), seed),
                           std::vector<Scalar>(x_place.size(), Scalar(77)));
        const std::vector<Scalar> values = x_place.gathered(x_buffer);
        std::vector<Scalar> expected(values.size());
        reference::rotate(values.data(), expected.data(), shape, table.view(), c.pairing,
                          c.direction);
        for (const Against against : both_sides) {
          const GuardedTable<TableScalar> guarded_table(table, against);
          const Guarded<Scalar> x(x_buffer, against);
          const std::vector<Scalar> unwritten = poisoned<Scalar>(y_place.size());
          const Guarded<Scalar> y(unwritten, against);
          on_every_path([&](Path path) {
            for (const Device& device : {Device(), Device(pieces)}) {
              if (testing::Test::HasFailure()) return;
              y.set_poison();
              rotate_to(y_place.view(y.data()), x_place.template view<const Scalar>(x.data()),
                        guarded_table, c.pairing, c.direction, device);
              expect_only_rows_written(expected, values, y_place, unwritten, y.values(), shape, c);
              ++combinations;
              if (path == Path::past_the_cache || read != written) continue;
              y.set(x_buffer);
              rotate_inplace(y_place.view(y.data()), guarded_table, c.pairing, c.direction, device);
              expect_only_rows_written(expected, values, y_place, x_buffer, y.values(), shape, c);
              ++combinations;
            }
          });
          ASSERT_FALSE(testing::Test::HasFailure());
          ASSERT_TRUE(y.margins_untouched() && x.margins_untouched());
        }
      }
    }
  }
}

TEST(RotateStridedGuard, Float) { rotate_guarded<float, float>(); }
TEST(RotateStridedGuard, Double) { rotate_guarded<double, double>(); }
TEST(RotateStridedGuard, Half) { rotate_guarded<Eigen::half, float>(); }
TEST(RotateStridedGuard, Bfloat16) { rotate_guarded<Eigen::bfloat16, float>(); }
TEST(RotateStridedGuard, HalfWithHalfTable) { rotate_guarded<Eigen::half, Eigen::half>(); }

/// Enough rows that every thread of a pool gets some.
template <class Scalar>
void rotate_with_threads() {
  Combinations combinations;
  Eigen::ThreadPool pool(3);
  const Eigen::ThreadPoolDevice threads(&pool, 3);
  std::uint64_t seed = 700;
  for (const Case& c : cases_of(std::array<Row, 2>{{{128, 0, 128}, {37, 5, 32}}})) {
    if (c.direction == Direction::inverse) continue;
    SCOPED_TRACE(c.text());
    const Shape shape{c.row.length, 3, 500};
    const auto table = random_table<Scalar>(c.width(), broadcast_outer(shape.outer(), 2), ++seed);
    const Place place(shape, {c.row.length, 5 * c.row.length + 1});
    const std::vector<Scalar> values = random_values<Scalar>(shape.size(), ++seed);
    std::vector<Scalar> expected(values.size());
    reference::rotate(values.data(), expected.data(), shape, table.view(), c.pairing, c.direction);
    for (const Against against : both_sides) {
      const GuardedTable<Scalar> guarded_table(table, against);
      const std::vector<Scalar> unwritten = poisoned<Scalar>(place.size());
      const Guarded<Scalar> x(place.spread(values, unwritten), against);
      const Guarded<Scalar> y(unwritten, against);
      rotate_to(place.view(y.data()), place.template view<const Scalar>(x.data()), guarded_table,
                c.pairing, c.direction, threads);
      expect_only_rows_written(expected, values, place, unwritten, y.values(), shape, c);
      rotate_inplace(place.view(x.data()), guarded_table, c.pairing, c.direction, threads);
      expect_only_rows_written(expected, values, place, unwritten, x.values(), shape, c);
      ASSERT_FALSE(testing::Test::HasFailure());
      ++combinations;
      ++combinations;
    }
  }
}

TEST(RotateStridedGuard, FloatWithThreads) { rotate_with_threads<float>(); }
TEST(RotateStridedGuard, HalfWithThreads) { rotate_with_threads<Eigen::half>(); }

}  // namespace
}  // namespace eigen_rope::test::rotate_strided_guard_tests
