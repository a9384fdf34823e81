// SPDX-License-Identifier: Apache-2.0
//
// A rotation inside every kind of Eigen's operations gives, on every device, the bits of the same
// operation on a tensor that holds the rotation, evaluated on the calling thread, for tensors of a
// few rows and for those that are split into parts and blocks. What a device may sum in an order of
// its own is tested with integers: their sums are exact.
#define EIGEN_USE_THREADS

#include <gtest/gtest.h>

#include <array>

#include "support/cache_sides.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test::rotate_parents_tests {
namespace {

using Tensor = Eigen::Tensor<float, 3>;

/// A few rows, and several parts and blocks.
const std::array<Shape, 3> shapes{{{12, 3, 5}, {64, 7, 33}, {128, 8, 140}}};

template <class Scalar, int rank>
void expect_bits(const char* parent, const Eigen::Tensor<Scalar, rank>& expected,
                 const Eigen::Tensor<Scalar, rank>& actual) {
  ASSERT_EQ(expected.dimensions(), actual.dimensions()) << parent;
  for (Index i = 0; i < expected.size(); ++i)
    ASSERT_EQ(expected.data()[i], actual.data()[i]) << parent << ", element " << i;
}

/// The tensor that the expression gives on the device.
template <class Scalar, int rank, class Device, class Expression>
Eigen::Tensor<Scalar, rank> evaluated(const Device& device, const Expression& expression) {
  const Eigen::TensorEvaluator<const Expression, Eigen::DefaultDevice> evaluator(
      expression, Eigen::DefaultDevice());
  Eigen::Tensor<Scalar, rank> y;
  if constexpr (rank > 0) {
    Eigen::DSizes<Eigen::Index, rank> sizes;
    for (detail::AxisNumber axis{0}; axis.value < rank; ++axis.value)
      sizes[axis] = evaluator.dimensions()[axis];
    y.resize(sizes);
  }
  y.device(device) = expression;
  return y;
}

/// f(rotation) on the device, and f(tensor that holds it) on the calling thread.
template <class Scalar, int rank, class Device, class Node, class Function>
void compare(const char* parent, const Device& device, const Node& node, const Tensor& alone,
             const Function& f) {
  expect_bits(parent, evaluated<Scalar, rank>(Eigen::DefaultDevice(), f(alone)),
              evaluated<Scalar, rank>(device, f(node)));
}

template <class Device, class Node>
void every_parent(const Device& device, const Node& node, const Tensor& alone) {
  const Index D = alone.dimension(0);
  const Index H = alone.dimension(1);
  const Index S = alone.dimension(2);
  const Tensor b = random_tensor<float, 3>(Shape{D, H, S}, 31);
  const Tensor c = random_tensor<float, 3>(Shape{D, H, S}, 32);
  const Table<float> second = random_table<float>(D / 2, Shape{1, S}, 37);
  using Array3 = Eigen::array<Eigen::Index, 3>;
  const auto check = [&](const char* parent, const auto& f) {
    compare<float, 3>(parent, device, node, alone, f);
  };

  check("chain", [&](const auto& r) { return r * 2.F + b; });
  check("chain, other side", [&](const auto& r) { return b - r.abs(); });
  check("chain of functions", [&](const auto& r) { return (r * 0.5F).cwiseMax(c) + b; });
  check("constant", [&](const auto& r) { return r + b.constant(0.25F); });
  check("itself twice", [&](const auto& r) { return r * r; });
  check("broadcast", [&](const auto& r) { return r.broadcast(Array3{1, 2, 3}); });
  check("broadcast of features", [&](const auto& r) { return r.broadcast(Array3{2, 1, 1}); });
  check("shuffle", [&](const auto& r) { return r.shuffle(Array3{2, 0, 1}); });
  check("shuffle of a chain", [&](const auto& r) { return (r + b).shuffle(Array3{2, 1, 0}); });
  check("slice", [&](const auto& r) { return r.slice(Array3{0, 1, 1}, Array3{D, H - 1, S - 2}); });
  check("slice of features", [&](const auto& r) {
    return r.slice(Array3{D / 4, 0, 1}, Array3{D / 2, H, S - 1});
  });
  check("slices in a chain", [&](const auto& r) {
    const auto part = [&](Index head) { return r.slice(Array3{0, head, 0}, Array3{D, H - 1, S}); };
    return part(0) * 2.F + part(1);
  });
  check("slice of a slice", [&](const auto& r) {
    return r.slice(Array3{0, 0, 1}, Array3{D, H, S - 1})
        .slice(Array3{0, 1, 0}, Array3{D, 1, S - 1});
  });
  check("stride", [&](const auto& r) { return r.stride(Array3{2, 1, 2}); });
  check("strided slice", [&](const auto& r) {
    return r.stridedSlice(Array3{0, 0, 1}, Array3{D, H, S}, Array3{1, 2, 2});
  });
  check("reverse", [&](const auto& r) {
    return r.reverse(Eigen::array<bool, 3>{true, false, true});
  });
  check("pad", [&](const auto& r) {
    return r.pad(Eigen::array<std::pair<Index, Index>, 3>{
        std::make_pair(1, 2), std::make_pair(0, 1), std::make_pair(2, 0)});
  });
  check("inflate", [&](const auto& r) { return r.inflate(Array3{1, 2, 1}); });
  check("concatenation", [&](const auto& r) { return r.concatenate(b, 1); });
  check("concatenation, other side", [&](const auto& r) { return b.concatenate(r, 2); });
  check("select", [&](const auto& r) { return (b > c).select(r, b); });
  check("select by it", [&](const auto& r) { return (r > b).select(b, c); });
  check("reshape",
        [&](const auto& r) { return r.reshape(Eigen::DSizes<Eigen::Index, 3>(H, D, S)); });
  check("scan", [&](const auto& r) { return r.cumsum(0); });
  check("evaluated", [&](const auto& r) { return r.eval() * 2.F; });
  check("rotation", [&](const auto& r) { return eigen_rope::rotate(r, second, interleaved); });
  compare<Eigen::half, 3>("cast", device, node, alone,
                          [&](const auto& r) { return r.template cast<Eigen::half>(); });
  compare<double, 3>("cast to double", device, node, alone,
                     [&](const auto& r) { return r.template cast<double>() * 2.0; });
  // Eigen's own slice of a tensor cannot be cast in blocks.
  const Array3 offsets{0, 1, 1}, extents{D, H - 1, S - 1};
  const Tensor part = alone.slice(offsets, extents);
  expect_bits("cast of a slice", evaluated<double, 3>(Eigen::DefaultDevice(), part.cast<double>()),
              evaluated<double, 3>(device, node.slice(offsets, extents).template cast<double>()));
  compare<float, 2>("chip", device, node, alone, [&](const auto& r) { return r.chip(S / 2, 2); });
  compare<float, 2>("chip of features", device, node, alone,
                    [&](const auto& r) { return r.chip(D / 2, 0); });
  compare<float, 2>("sum, inner", device, node, alone,
                    [&](const auto& r) { return (r + b).sum(Eigen::array<int, 1>{0}); });
  compare<float, 2>("sum, static inner", device, node, alone,
                    [&](const auto& r) { return r.sum(Eigen::IndexList<Eigen::type2index<0>>()); });
  compare<float, 2>("sum, outer", device, node, alone,
                    [&](const auto& r) { return (r + b).sum(Eigen::array<int, 1>{2}); });
  compare<float, 1>("maximum, two axes", device, node, alone, [&](const auto& r) {
    return r.maximum(Eigen::array<int, 2>{0, 1});
  });
  compare<Eigen::DenseIndex, 2>("argmax", device, node, alone,
                                [&](const auto& r) { return r.argmax(0); });
  const Eigen::Tensor<float, 1> kernel = random_tensor<float, 1>(Shape{3}, 34);
  check("convolution",
        [&](const auto& r) { return r.convolve(kernel, Eigen::array<Eigen::Index, 1>{2}); });
}

template <int rank>
Eigen::Tensor<float, rank> integers(const Shape& shape, std::uint64_t seed) {
  return (random_tensor<float, rank>(shape, seed) * 8.F).round();
}

/// Turns by 0 to 3 right angles.
Table<float> right_angles(Index width, const Shape& outer, std::uint64_t seed) {
  constexpr std::array<float, 4> cos_of{1, 0, -1, 0};
  constexpr std::array<float, 4> sin_of{0, 1, 0, -1};
  Table<float> table{{}, {}, width, outer};
  for (const double turns : random_values<double>(width * outer.size(), seed, 0, 4)) {
    table.cos.push_back(cos_of[static_cast<std::size_t>(turns)]);
    table.sin.push_back(sin_of[static_cast<std::size_t>(turns)]);
  }
  return table;
}

/// Sums of integers, which the rotation keeps: exact in any order.
template <class Device>
void every_sum(const Device& device) {
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(shape.text());
    const Index D = shape[0];
    using Pair = Eigen::IndexPair<int>;
    const Tensor x = integers<3>(shape, 40);
    const auto table = right_angles(D / 2, Shape{1, shape[2]}, 41);
    const auto node = eigen_rope::rotate(x, table, split_half);
    const Tensor alone = node;
    compare<float, 0>("sum, full", device, node, alone,
                      [&](const auto& r) { return r.abs().sum(); });
    const Eigen::Tensor<float, 2> w = integers<2>(Shape{D, 5}, 33);
    const Eigen::array<Pair, 1> features{Pair(0, 0)};
    compare<float, 3>("contraction, left", device, node, alone,
                      [&](const auto& r) { return r.contract(w, features); });
    compare<float, 3>("contraction, right", device, node, alone,
                      [&](const auto& r) { return w.contract(r, features); });
    compare<float, 2>("contraction, both", device, node, alone, [&](const auto& r) {
      return r.contract(r, Eigen::array<Pair, 2>{Pair(0, 0), Pair(1, 1)});
    });
  }
}

/// Calls check(node, tensor that holds the rotation) for each shape.
template <class Argument, class Check>
void for_each_size(const Argument& argument, const Check& check) {
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(shape.text());
    const Tensor x = random_tensor<float, 3>(shape, 35);
    const auto table = random_table<float>(shape[0] / 2, Shape{1, shape[2]}, 36);
    const Tensor alone = eigen_rope::rotate(x, table, split_half);
    ASSERT_NO_FATAL_FAILURE(check(eigen_rope::rotate(argument(x), table, split_half), alone));
  }
}

constexpr auto itself = [](const Tensor& x) -> const Tensor& { return x; };

EIGEN_ROPE_ON_BOTH_SIDES_OF_THE_CACHES(RotateParents);

TEST_P(RotateParents, OnTheCallingThread) {
  for_each_size(itself, [](const auto& node, const Tensor& alone) {
    every_parent(Eigen::DefaultDevice(), node, alone);
  });
  every_sum(Eigen::DefaultDevice());
}

TEST_P(RotateParents, OnOneAndThreeThreads) {
  for (const int threads : {1, 3}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    Eigen::ThreadPool pool(threads);
    const Eigen::ThreadPoolDevice device(&pool, threads);
    for_each_size(
        itself, [&](const auto& node, const Tensor& alone) { every_parent(device, node, alone); });
    every_sum(device);
  }
}

/// The temporary is made of whatever x is: an expression in blocks, one that has none, and another
/// rotation.
TEST_P(RotateParents, OfArgumentsWithoutData) {
  Eigen::ThreadPool pool(3);
  const Eigen::ThreadPoolDevice device(&pool, 3);
  const auto check = [&](const auto& node, const Tensor& alone) {
    const Eigen::array<Eigen::Index, 3> order{2, 1, 0};
    const auto reverse = [&](const auto& r) {
      return r.reverse(Eigen::array<bool, 3>{true, true, true});
    };
    const auto shuffle = [&](const auto& r) { return r.shuffle(order); };
    compare<float, 3>("reverse", Eigen::DefaultDevice(), node, alone, reverse);
    compare<float, 3>("reverse", device, node, alone, reverse);
    compare<float, 3>("shuffle", device, node, alone, shuffle);
    expect_bits("sum", evaluated<float, 0>(device, alone.sum()),
                evaluated<float, 0>(device, node.sum()));
  };
  for_each_size([](const Tensor& x) { return x * 0.5F + x * 0.5F; }, check);
  for_each_size([](const Tensor& x) { return x + x.constant(0.F); }, check);
  const auto unit = [](const Tensor& x) {
    Table<float> table{std::vector<float>(static_cast<std::size_t>(x.dimension(0) / 2), 1.F),
                       {},
                       x.dimension(0) / 2,
                       Shape{}};
    table.sin.assign(table.cos.size(), 0.F);
    return table;
  };
  for (const Index tokens : {Index{5}, Index{140}}) {
    const Tensor x = random_tensor<float, 3>(Shape{128, 8, tokens}, 38);
    const Table<float> identity = unit(x);
    const auto table = random_table<float>(64, Shape{1, tokens}, 39);
    const Tensor alone = eigen_rope::rotate(x, table, split_half);
    check(eigen_rope::rotate(eigen_rope::rotate(x, identity, split_half), table, split_half),
          alone);
  }
}

}  // namespace
}  // namespace eigen_rope::test::rotate_parents_tests
