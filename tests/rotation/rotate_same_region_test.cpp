// SPDX-License-Identifier: Apache-2.0
//
// Assignments whose two sides are the same memory, element for element: right for every scalar,
// with one thread and with four, whatever Eigen evaluates the statement by. Expected is the same by
// way of a copy: nothing that is read has been written.
#define EIGEN_USE_THREADS

#include <gtest/gtest.h>

#include "support/cache_sides.hpp"
#include "support/rotation_cases.hpp"

// After the Tensor module, which it needs.
#include <unsupported/Eigen/AutoDiff>

namespace eigen_rope::test::rotate_same_region_tests {
namespace {

using Sizes = Eigen::DSizes<Eigen::Index, 3>;
using Differentiable = Eigen::AutoDiffScalar<Eigen::Matrix<double, 2, 1>>;

template <class Scalar>
using Tensor = Eigen::Tensor<Scalar, 3>;

template <class Scalar>
Tensor<Scalar> values(const Shape& shape, std::uint64_t seed) {
  Tensor<Scalar> tensor(sizes_of<3, Eigen::ColMajor>(shape));
  const std::vector<double> numbers = random_values<double>(shape.size(), seed);
  for (Index i = 0; i < shape.size(); ++i) {
    tensor.data()[i] = static_cast<Scalar>(numbers[static_cast<std::size_t>(i)]);
    if constexpr (std::is_same_v<Scalar, Differentiable>)
      tensor.data()[i].derivatives() << static_cast<double>(1 + i % 7),
          -0.5 * static_cast<double>(i % 5);
  }
  return tensor;
}

template <class Scalar>
struct TableScalarOf {
  using type = Scalar;
};
template <>
struct TableScalarOf<Eigen::half> {
  using type = float;
};
template <>
struct TableScalarOf<Eigen::bfloat16> {
  using type = float;
};
template <>
struct TableScalarOf<Differentiable> {
  using type = double;
};

template <class Scalar>
bool same(const Scalar& a, const Scalar& b) {
  return a == b;
}
bool same(const Differentiable& a, const Differentiable& b) {
  return a.value() == b.value() && a.derivatives() == b.derivatives();
}

template <class Scalar>
void expect_same(const Tensor<Scalar>& expected, const Tensor<Scalar>& actual, const char* form) {
  for (Index i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(same(expected.data()[i], actual.data()[i])) << form << ", element " << i;
  }
}

/// `statement(t)` must leave what `by_copy(copy of t, t)` leaves, where the copy is only read.
template <class Scalar, class Statement, class ByCopy>
void compare(const char* form, const Tensor<Scalar>& before, const Statement& statement,
             const ByCopy& by_copy) {
  Tensor<Scalar> actual = before;
  statement(actual);
  Tensor<Scalar> expected = before;
  by_copy(before, expected);
  expect_same(expected, actual, form);
}

template <class Scalar, class Device>
void every_form(const Row& row, const Shape& outer, const Device& device) {
  using TableScalar = typename TableScalarOf<Scalar>::type;
  const Shape shape{row.length, outer[0], outer[1]};
  const Shape around{row.length, outer[0] + 3, outer[1] + 2};
  const Sizes offset(0, 2, 1);
  const Sizes extents = sizes_of<3, Eigen::ColMajor>(shape);
  const Eigen::array<Eigen::Index, 3> every_other{1, 2, 1};
  const Shape doubled{row.length, 2 * outer[0], outer[1]};
  const Scalar two(2);
  const bool is_long = row.length > 10000;
  for (const PairKind kind :
       {PairKind::split_half, PairKind::interleaved, PairKind::interleaved_to_split_half}) {
    if (is_long && kind == PairKind::interleaved) continue;
    const Pairing pairing = Pairing(kind).with_offset(row.offset).with_rotary_dims(row.dims);
    SCOPED_TRACE(::testing::Message()
                 << "kind " << static_cast<int>(kind) << ", rows of " << row.length);
    const auto table = random_table<TableScalar>(row.dims / 2, Shape{1, outer[1]}, 7);
    const auto rotated = [&](const auto& e) { return eigen_rope::rotate(e, table, pairing); };
    const auto copied = [&](const auto& e) -> Tensor<Scalar> {
      return eigen_rope::rotate(Tensor<Scalar>(e), table, pairing);
    };

    const Tensor<Scalar> x = values<Scalar>(shape, 1);
    const Tensor<Scalar> larger = values<Scalar>(around, 2);
    const Tensor<Scalar> wider = values<Scalar>(doubled, 3);
    const auto whole = [&](const char* form, const auto& statement, const auto& of_rotated) {
      compare<Scalar>(form, x, statement,
                      [&](const auto& before, auto& y) { y = of_rotated(before, copied(before)); });
    };
    whole(
        "x = rotate(x)", [&](auto& t) { t.device(device) = rotated(t); },
        [](const auto&, const auto& r) { return r; });
    whole(
        "x = rotate(x) * 2", [&](auto& t) { t.device(device) = rotated(t) * two; },
        [&](const auto&, const auto& r) -> Tensor<Scalar> { return r * two; });
    whole(
        "x = 2 * rotate(x)", [&](auto& t) { t.device(device) = two * rotated(t); },
        [&](const auto&, const auto& r) -> Tensor<Scalar> { return two * r; });
    whole(
        "x += rotate(x)", [&](auto& t) { t.device(device) += rotated(t); },
        [](const auto& before, const auto& r) -> Tensor<Scalar> { return before + r; });
    whole(
        "x -= rotate(x)", [&](auto& t) { t.device(device) -= rotated(t); },
        [](const auto& before, const auto& r) -> Tensor<Scalar> { return before - r; });
    whole(
        "x = rotate(x) + x * 2", [&](auto& t) { t.device(device) = rotated(t) + t * two; },
        [&](const auto& before, const auto& r) -> Tensor<Scalar> { return r + before * two; });
    whole(
        "x = rotate(x) + constant",
        [&](auto& t) { t.device(device) = rotated(t) + t.constant(two); },
        [&](const auto& before, const auto& r) -> Tensor<Scalar> {
          return r + before.constant(two);
        });
    whole(
        "x = rotate(x * 2)", [&](auto& t) { t.device(device) = rotated(t * two); },
        [&](const auto& before, const auto&) { return copied(before * two); });
    whole(
        "x = rotate(x + constant)",
        [&](auto& t) { t.device(device) = rotated(t + t.constant(two)); },
        [&](const auto& before, const auto&) { return copied(before + before.constant(two)); });
    whole(
        "x = rotate(x + constant) * 2",
        [&](auto& t) { t.device(device) = rotated(t + t.constant(two)) * two; },
        [&](const auto& before, const auto&) -> Tensor<Scalar> {
          return copied(before + before.constant(two)) * two;
        });
    whole(
        "x = rotate(rotate(x)) * 2", [&](auto& t) { t.device(device) = rotated(rotated(t)) * two; },
        [&](const auto&, const auto& r) -> Tensor<Scalar> { return copied(r) * two; });

    compare<Scalar>(
        "t.slice = rotate(t.slice)", larger,
        [&](auto& t) {
          t.slice(offset, extents).device(device) = rotated(t.slice(offset, extents));
        },
        [&](const auto& before, auto& y) {
          y.slice(offset, extents) = copied(before.slice(offset, extents));
        });
    compare<Scalar>(
        "t.slice = rotate(t.slice) * 2", larger,
        [&](auto& t) {
          t.slice(offset, extents).device(device) = rotated(t.slice(offset, extents)) * two;
        },
        [&](const auto& before, auto& y) {
          y.slice(offset, extents) = copied(before.slice(offset, extents)) * two;
        });
    compare<Scalar>(
        "t.slice += rotate(t.slice)", larger,
        [&](auto& t) {
          t.slice(offset, extents).device(device) =
              t.slice(offset, extents) + rotated(t.slice(offset, extents));
        },
        [&](const auto& before, auto& y) {
          y.slice(offset, extents) =
              before.slice(offset, extents) + copied(before.slice(offset, extents));
        });
    compare<Scalar>(
        "t.stride = rotate(t.stride)", wider,
        [&](auto& t) { t.stride(every_other).device(device) = rotated(t.stride(every_other)); },
        [&](const auto& before, auto& y) {
          y.stride(every_other) = copied(before.stride(every_other));
        });
    compare<Scalar>(
        "t.stride = rotate(t.stride) * 2", wider,
        [&](auto& t) {
          t.stride(every_other).device(device) = rotated(t.stride(every_other)) * two;
        },
        [&](const auto& before, auto& y) {
          y.stride(every_other) = copied(before.stride(every_other)) * two;
        });
    const Eigen::DSizes<Eigen::Index, 3> flat(row.length, outer[0], outer[1]);
    compare<Scalar>(
        "x.reshape = rotate(x).reshape", x,
        [&](auto& t) { t.reshape(flat).device(device) = rotated(t).reshape(flat); },
        [&](const auto& before, auto& y) { y = copied(before); });
  }
}

template <class Scalar>
void with_one_and_four_threads(const Row& row, const Shape& outer) {
  ASSERT_NO_FATAL_FAILURE(every_form<Scalar>(row, outer, Eigen::DefaultDevice()));
  for (const int threads : {1, 4}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    Eigen::ThreadPool pool(threads);
    const Eigen::ThreadPoolDevice device(&pool, threads);
    ASSERT_NO_FATAL_FAILURE(every_form<Scalar>(row, outer, device));
  }
}

/// Few rows, and enough of them for several blocks and threads.
template <class Scalar>
void small_and_many() {
  ASSERT_NO_FATAL_FAILURE(with_one_and_four_threads<Scalar>({12, 3, 8}, Shape{3, 4}));
  ASSERT_NO_FATAL_FAILURE(with_one_and_four_threads<Scalar>({64, 0, 64}, Shape{16, 40}));
}

EIGEN_ROPE_ON_BOTH_SIDES_OF_THE_CACHES(RotateSameRegion);

TEST_P(RotateSameRegion, Float) { small_and_many<float>(); }
TEST_P(RotateSameRegion, Double) { small_and_many<double>(); }
TEST_P(RotateSameRegion, Half) { small_and_many<Eigen::half>(); }
TEST_P(RotateSameRegion, Bfloat16) { small_and_many<Eigen::bfloat16>(); }
TEST_P(RotateSameRegion, LongDouble) { small_and_many<long double>(); }
TEST_P(RotateSameRegion, Differentiable) {
  ASSERT_NO_FATAL_FAILURE(with_one_and_four_threads<Differentiable>({12, 3, 8}, Shape{3, 4}));
  ASSERT_NO_FATAL_FAILURE(with_one_and_four_threads<Differentiable>({16, 0, 16}, Shape{8, 40}));
}

/// The blocks that Eigen gives to four threads cut these rows: a row's elements are read by one
/// thread and written by another.
TEST_P(RotateSameRegion, RowsLongerThanABlock) {
  ASSERT_NO_FATAL_FAILURE(with_one_and_four_threads<float>({65536, 0, 65536}, Shape{1, 2}));
  ASSERT_NO_FATAL_FAILURE(with_one_and_four_threads<double>({70002, 6, 65536}, Shape{1, 1}));
}

/// A concatenation, and a select without packets, write elements of x before they ask for the
/// rotation's first. With threads, and within the caches, it is made before that; beyond, on the
/// calling thread, such a statement is refused if it is not right.
template <class Device>
void select_and_concatenate(const Device& device, bool may_be_refused) {
  const Row row{64, 0, 64};
  const Shape shape{row.length, 16, 40};
  const auto table = random_table<float>(32, Shape{1, 40}, 7);
  const Tensor<float> x = values<float>(shape, 1);
  const Tensor<float> r = eigen_rope::rotate(x, table, split_half);
  Tensor<float> mask(x.dimensions());
  for (Index i = 0; i < mask.size(); ++i) mask.data()[i] = i < 100 || i % 3 == 0 ? 0.F : 1.F;
  const Sizes whole(0, 0, 0);
  const Sizes first(64, 16, 7);
  const Sizes rest(64, 16, 33);
  const Sizes behind(0, 0, 7);
  const Tensor<float> selected = (mask > 0.5F).select(r, x * 3.F);
  const Tensor<float> concatenated =
      (x.slice(whole, first) * 3.F).concatenate(r.slice(behind, rest), 2);
  Tensor<float> t = x;
  const auto select = [&] {
    t.device(device) = (mask > 0.5F).select(eigen_rope::rotate(t, table, split_half), t * 3.F);
  };
  const auto concatenate = [&] {
    t.device(device) =
        (t.slice(whole, first) * 3.F)
            .concatenate(eigen_rope::rotate(t, table, split_half).slice(behind, rest), 2);
  };
  const auto right_or_refused = [&](const auto& statement, const Tensor<float>& expected,
                                    const char* form) {
    t = x;
    try {
      statement();
      expect_same(expected, t, form);
    } catch (const Error&) {
      EXPECT_TRUE(may_be_refused) << form;
    }
  };
  right_or_refused(select, selected, "select");
  right_or_refused(concatenate, concatenated, "concatenation");
}

TEST_P(RotateSameRegion, SelectedAndConcatenated) {
  select_and_concatenate(Eigen::DefaultDevice(), GetParam() == CacheSide::beyond);
  Eigen::ThreadPool pool(3);
  select_and_concatenate(Eigen::ThreadPoolDevice(&pool, 3), false);
}

/// Parts of one tensor that overlap without being the same are seen where they are memory in one
/// piece.
TEST_P(RotateSameRegion, OtherOverlapsAreRefused) {
  Tensor<float> t = values<float>(Shape{8, 3, 6}, 4);
  const Tensor<float> before = t;
  const auto table = random_table<float>(4, Shape{}, 5);
  const Sizes extents(8, 3, 4);
  EXPECT_THROW(t.slice(Sizes(0, 0, 1), extents) =
                   eigen_rope::rotate(t.slice(Sizes(0, 0, 0), extents), table, split_half),
               Error);
  expect_same(before, t, "refused");
}

}  // namespace
}  // namespace eigen_rope::test::rotate_same_region_tests
