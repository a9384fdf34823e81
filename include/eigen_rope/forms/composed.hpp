// SPDX-License-Identifier: Apache-2.0
//
// The rotation in stock Eigen Tensor operations only, as a user would write it without this
// library.
//
//   a, b = the members of every pair            two slices (half), two strided slices
//                                               (interleaved), four slices (quarter)
//   y    = join(c_A a - s_A b, c_B b + s_B a)   broadcasts, products, concatenation
//
// x has shape [D, ...], a and b have [R/2, ...], and the result has x's shape. This form serves to
// read and to compare with: Eigen evaluates slices and concatenations coefficient by coefficient,
// so it is 40 to 1000 times slower than memory allows. Split-half pairs take 3 casts, 2 slices, 4
// broadcasts, 4 products, 2 sums and 1 concatenation; the temporaries are 4 tensors of one member's
// coefficients, [R/2, ...] with the table's extents, 8 for the gradient and 9 for the inverse.
// Interleaved pairs of float and double have a stock form at the speed of a loop, the product of
// complex numbers in composed_complex.hpp. The table is built in the same style in
// composed_table.hpp.
#pragma once

#include <type_traits>
#include <utility>

#include "eigen_rope/choices/direction.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/rotation/detail/node.hpp"
#include "eigen_rope/rows/detail/feature_view.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::composed {
namespace detail {

template <int rank>
using Sizes = Eigen::DSizes<Eigen::Index, rank>;

template <int rank, int layout>
inline constexpr int feature_axis = layout == static_cast<int>(Eigen::ColMajor) ? 0 : rank - 1;

template <int rank>
Sizes<rank> filled(Eigen::Index value) {
  Sizes<rank> sizes;
  sizes.fill(value);
  return sizes;
}

/// Sizes with another number of features.
template <int layout, int rank>
Sizes<rank> with_features(Sizes<rank> sizes, Index count) {
  sizes[feature_axis<rank, layout>] = count;
  return sizes;
}

/// Features first .. first+count-1 of every row.
template <int layout, int rank, class Expression>
auto features(const Expression& e, const Sizes<rank>& sizes, Index first, Index count) {
  return e.slice(with_features<layout>(filled<rank>(0), first),
                 with_features<layout>(sizes, count));
}

/// Every other feature from `first` on.
template <int layout, int rank, class Expression>
auto every_other(const Expression& e, const Sizes<rank>& sizes, Index first) {
  return e.stridedSlice(with_features<layout>(filled<rank>(0), first), sizes,
                        with_features<layout>(filled<rank>(1), 2));
}

/// Takes the pairs of a window of these sizes apart, and puts them together.
template <PairKind kind, int layout, int rank>
struct Members;

template <int layout, int rank>
struct Members<PairKind::split_half, layout, rank> {
  Sizes<rank> sizes;
  Index pairs;

  template <class E>
  auto first(const E& e) const {
    return features<layout>(e, sizes, 0, pairs);
  }
  template <class E>
  auto second(const E& e) const {
    return features<layout>(e, sizes, pairs, pairs);
  }
  template <class A, class B>
  auto join(const A& a, const B& b) const {
    return a.concatenate(b, feature_axis<rank, layout>);
  }
};

template <int layout, int rank>
struct Members<PairKind::interleaved, layout, rank> {
  Sizes<rank> sizes;
  Index pairs;

  template <class E>
  auto first(const E& e) const {
    return every_other<layout>(e, sizes, 0);
  }
  template <class E>
  auto second(const E& e) const {
    return every_other<layout>(e, sizes, 1);
  }
  /// [P, ...] and [P, ...] -> [1, P, ...] each -> [2, P, ...] -> [2P, ...]
  template <class A, class B>
  auto join(const A& a, const B& b) const {
    constexpr bool col_major = layout == static_cast<int>(Eigen::ColMajor);
    Sizes<rank + 1> apart;
    constexpr auto last = static_cast<std::size_t>(rank);
    for (std::size_t i = 0; i < last; ++i) apart[col_major ? i + 1 : i] = sizes[i];
    apart[col_major ? std::size_t{1} : last - 1] = pairs;
    apart[col_major ? std::size_t{0} : last] = 1;
    return a.reshape(apart).concatenate(b.reshape(apart), col_major ? 0 : rank).reshape(sizes);
  }
};

template <int layout, int rank>
struct Members<PairKind::quarter, layout, rank> {
  Sizes<rank> sizes;
  Index pairs;

  template <class E>
  auto first(const E& e) const {
    return features<layout>(e, sizes, 0, pairs / 2)
        .concatenate(features<layout>(e, sizes, pairs, pairs / 2), feature_axis<rank, layout>);
  }
  template <class E>
  auto second(const E& e) const {
    return features<layout>(e, sizes, pairs / 2, pairs / 2)
        .concatenate(features<layout>(e, sizes, pairs + pairs / 2, pairs / 2),
                     feature_axis<rank, layout>);
  }
  template <class A, class B>
  auto join(const A& a, const B& b) const {
    constexpr int axis = feature_axis<rank, layout>;
    const Sizes<rank> half_sizes = with_features<layout>(sizes, pairs);
    return features<layout>(a, half_sizes, 0, pairs / 2)
        .concatenate(features<layout>(b, half_sizes, 0, pairs / 2), axis)
        .concatenate(features<layout>(a, half_sizes, pairs / 2, pairs / 2), axis)
        .concatenate(features<layout>(b, half_sizes, pairs / 2, pairs / 2), axis);
  }
};

/// What y_A = c_A a - s_A b and y_B = c_B b + s_B a take, each [pairs, ...].
template <class Tensor>
struct Coefficients {
  Tensor cos_A, cos_B, sin_A, sin_B;
};

/// One member's entries, [pairs, ...]: half of a full-width table, all of a half-width one. Cast
/// before they are sliced: evaluated together, Eigen 3.4 puts the slice's 16-bit values where the
/// cast's floats belong.
template <class Compute, class Split, class Table>
auto member(const Split& split, const Table& table, bool full_width, bool second) {
  constexpr int rank = Table::NumDimensions;
  constexpr int layout = static_cast<int>(Table::Layout);
  using Result = Eigen::Tensor<Compute, rank, layout>;
  Result entries = table.template cast<Compute>();
  if (!full_width) return entries;
  return second ? Result(split.second(entries)) : Result(split.first(entries));
}

/// The coefficients with which the forward formula is the rotation of this direction. The inverse
/// is the transpose divided by the determinant.
template <class Tensor>
Coefficients<Tensor> in_direction(Coefficients<Tensor>&& c, Direction direction) {
  if (direction == Direction::forward) return std::move(c);
  if (direction == Direction::backward) return {c.cos_A, c.cos_B, -c.sin_B, -c.sin_A};
  const Tensor determinant = c.cos_A * c.cos_B + c.sin_A * c.sin_B;
  return {c.cos_B / determinant, c.cos_A / determinant, -c.sin_A / determinant,
          -c.sin_B / determinant};
}

/// y's window = the rotation of x's: pairs taken apart by `in`, joined by `out`; the coefficients
/// still broadcast by `repeats`.
template <class Y, class X, class Tensor, class In, class Out, int rank, class Device>
void assign_rotated(Y&& y, const X& x, const Coefficients<Tensor>& c, const Sizes<rank>& repeats,
                    const In& in, const Out& out, const Device& device) {
  using YScalar = typename std::decay_t<Y>::Scalar;
  const auto a = in.first(x).template cast<typename Tensor::Scalar>();
  const auto b = in.second(x).template cast<typename Tensor::Scalar>();
  y.device(device) = out.join(c.cos_A.broadcast(repeats) * a - c.sin_A.broadcast(repeats) * b,
                              c.cos_B.broadcast(repeats) * b + c.sin_B.broadcast(repeats) * a)
                         .template cast<YScalar>();
}

}  // namespace detail

/// Rotates `x` in stock Eigen operations and returns a tensor of x's shape.
///
///     y_A = c_A x_a - s_A x_b     y_B = c_B x_b + s_B x_a
///
/// The arithmetic is done in the wider of the two scalars, at least float, and rounded to x's
/// scalar once, as in eigen_rope::rotate(). The two differ in the last places at most:
/// eigen_rope::rotate() fuses the first product of 16-bit scalars with the sum, and a compiler that
/// may fuse Eigen's operations rounds them differently.
/// \code{.cpp}
/// const Eigen::Tensor<float, 4> stock = er::composed::rotate(x, cache, er::split_half);
/// const Eigen::Tensor<float, 4> kernel = er::rotate(x, cache, er::split_half);
/// \endcode
///
/// \param x          a Tensor or TensorMap of shape [D, ...], in either layout
/// \param table      a Cache, a TableView or anything else with a view()
/// \param pairing    which elements form a pair, and the rotated window
/// \param direction  forward, backward (the gradient) or inverse
/// \param device     the Eigen device that evaluates the operations
///
/// - Errors:   eigen_rope::Error if the pairing names an axis or the table has its features on
///             another than the fastest, if the window does not fit D, if the table does not fit x
///             or has no data, or if the direction is inverse and the table cannot be inverted.
/// \see eigen_rope::rotate(), \ref idea "The idea in pictures"
template <class X, class Table, class Device = Eigen::DefaultDevice>
auto rotate(const X& x, const Table& table, Pairing pairing,
            Direction direction = Direction::forward, const Device& device = Device()) {
  constexpr int rank = X::NumDimensions;
  constexpr int layout = static_cast<int>(X::Layout);
  const auto& entries = eigen_rope::detail::view_of(table);
  using XScalar = std::remove_const_t<typename X::Scalar>;
  using TableScalar = std::remove_const_t<std::remove_pointer_t<decltype(entries.cos)>>;
  using Compute = eigen_rope::detail::ComputeScalar<XScalar, TableScalar>;
  using Result = eigen_rope::detail::ResultScalar<XScalar, TableScalar>;
  using Sizes = detail::Sizes<rank>;

  eigen_rope::detail::require_fastest_features("composed::rotate", pairing, entries);
  const Shape shape = eigen_rope::detail::shape_of<layout>(x.dimensions());
  const eigen_rope::detail::RowPlan plan =
      eigen_rope::detail::make_row_plan(shape[0], entries.width, pairing, direction);
  eigen_rope::detail::check_table_broadcasts(shape.outer(), entries.outer);
  (void)eigen_rope::detail::checked_table_size(entries);
  if (direction == Direction::inverse) eigen_rope::detail::require_invertible(plan, entries);
  Sizes sizes;
  Sizes table_sizes;
  Sizes repeats;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const int axis = layout == static_cast<int>(Eigen::ColMajor) ? static_cast<int>(i)
                                                                 : rank - 1 - static_cast<int>(i);
    sizes[i] = shape[axis];
    table_sizes[i] = axis == 0 ? entries.width : entries.outer[axis - 1];
    repeats[i] = axis == 0 || table_sizes[i] == sizes[i] ? 1 : sizes[i];
  }
  Eigen::Tensor<Result, rank, layout> y(sizes);
  if (shape.size() == 0) return y;
  y.device(device) = x.template cast<Result>();

  const Index pairs = plan.rotary_dims / 2;
  const Sizes window_sizes = detail::with_features<layout>(sizes, plan.rotary_dims);
  const Sizes window_offset = detail::with_features<layout>(detail::filled<rank>(0), plan.offset);
  const auto x_window = x.slice(window_offset, window_sizes);
  auto y_window = y.slice(window_offset, window_sizes);
  using TableMap = Eigen::TensorMap<const Eigen::Tensor<TableScalar, rank, layout>>;
  const TableMap cos(entries.cos, table_sizes);
  const TableMap sin(entries.sin, table_sizes);

  const auto apply = [&](auto in_kind, auto out_kind, auto table_kind) {
    const detail::Members<in_kind(), layout, rank> in{window_sizes, pairs};
    const detail::Members<out_kind(), layout, rank> out{window_sizes, pairs};
    const detail::Members<table_kind(), layout, rank> split{table_sizes, pairs};
    const auto member = [&](const TableMap& entries_of, bool second) {
      return detail::member<Compute>(split, entries_of, plan.full_width, second);
    };
    detail::Coefficients<Eigen::Tensor<Compute, rank, layout>> forward{
        member(cos, false), member(cos, true), member(sin, false), member(sin, true)};
    detail::assign_rotated(y_window, x_window, detail::in_direction(std::move(forward), direction),
                           repeats, in, out, device);
  };
  constexpr std::integral_constant<PairKind, PairKind::split_half> by_halves{};
  constexpr std::integral_constant<PairKind, PairKind::interleaved> by_neighbours{};
  constexpr std::integral_constant<PairKind, PairKind::quarter> by_quarters{};
  switch (pairing.kind()) {
    case PairKind::split_half: apply(by_halves, by_halves, by_halves); break;
    case PairKind::interleaved: apply(by_neighbours, by_neighbours, by_neighbours); break;
    case PairKind::quarter: apply(by_quarters, by_quarters, by_quarters); break;
    case PairKind::interleaved_to_split_half:
      if (direction == Direction::forward) {
        apply(by_neighbours, by_halves, by_halves);
      } else {
        apply(by_halves, by_neighbours, by_halves);
      }
      break;
  }
  return y;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::composed
