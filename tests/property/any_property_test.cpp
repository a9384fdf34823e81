// SPDX-License-Identifier: Apache-2.0
//
// Whatever is drawn, a call that is typed at run time has the bits of the definition, and of the
// typed call for gradients, for tensors in either order, features on any axis and tables whose
// entries lie anywhere.
#include <gtest/gtest.h>
// After GoogleTest, which it needs.
#include <rapidcheck/gtest.h>

#include <cstring>

#include "eigen_rope/any/any.hpp"
#include "eigen_rope/forms/reference.hpp"
#include "support/any_tensor.hpp"
#include "support/axis_cases.hpp"
#include "support/rotation_cases.hpp"
#include "support/rotation_problem.hpp"

namespace eigen_rope::test::any_property_tests {
namespace {

/// An array whose axes lie in memory in a drawn order, with gaps, some of them backwards.
template <class Scalar>
class Scattered {
 public:
  /// `extents` and the axes of `elements` are counted from the features outwards.
  Scattered(const std::vector<Index>& extents, unsigned order, unsigned backwards, Index gap)
      : extents_(extents), strides_(extents.size()) {
    std::vector<std::size_t> axes;
    for (std::size_t axis = 0; axis < extents.size(); ++axis)
      axes.insert(axes.begin() + static_cast<std::ptrdiff_t>((order >> (2 * axis)) % (axis + 1)),
                  axis);
    Index stride = 1 + gap;
    for (const std::size_t axis : axes) {
      const bool back = (backwards >> axis & 1U) != 0;
      strides_[axis] = back ? -stride : stride;
      if (back) first_ += stride * std::max<Index>(0, extents[axis] - 1);
      stride = stride * std::max<Index>(1, extents[axis]) + gap;
    }
    memory_.assign(static_cast<std::size_t>(stride), static_cast<Scalar>(77));
  }

  StridedView<Scalar> view() {
    StridedView<Scalar> view{memory_.data() + first_, {}, {}, strides_[0]};
    for (std::size_t axis = 0; axis < extents_.size(); ++axis) {
      view.shape.push_back(extents_[axis]);
      if (axis > 0) view.strides.push_back(strides_[axis]);
    }
    return view;
  }
  void put(const std::vector<Scalar>& dense) {
    for (std::size_t i = 0; i < dense.size(); ++i) memory_[place(i)] = dense[i];
  }
  std::vector<Scalar> get(std::size_t count) const {
    std::vector<Scalar> dense(count);
    for (std::size_t i = 0; i < count; ++i) dense[i] = memory_[place(i)];
    return dense;
  }
  std::vector<Scalar> memory_{};

 private:
  std::size_t place(std::size_t element) const {
    auto rest = static_cast<Index>(element);
    Index at = first_;
    for (std::size_t axis = 0; axis < extents_.size(); ++axis) {
      at += rest % extents_[axis] * strides_[axis];
      rest /= extents_[axis];
    }
    return static_cast<std::size_t>(at);
  }

  std::vector<Index> extents_;
  std::vector<Index> strides_;
  Index first_ = 0;
};

std::vector<Index> extents_of(const Shape& shape) {
  return {shape.begin(), shape.begin() + shape.rank()};
}

template <class Scalar>
bool same_bytes(const std::vector<Scalar>& a, const std::vector<Scalar>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Scalar)) == 0);
}

/// How memory is drawn besides the problem.
struct Drawn {
  unsigned x_order = 0, y_order = 0, table_order = 0, table_backwards = 0;
  Index gap = 0;
  any::Order order = any::Order::slowest_first;
  any::Order tables = any::Order::slowest_first;
  bool repeated = false;  ///< axes along which the table broadcasts have a stride of 0
  int feature_place = 0, table_place = 0;

  static Drawn of() {
    const auto place = rc::gen::inRange(0U, 1U << 16);
    const auto order = rc::gen::element(any::Order::slowest_first, any::Order::fastest_first);
    return {*place,
            *place,
            *place,
            *rc::gen::inRange(0U, 8U),
            *rc::gen::inRange<Index>(0, 3),
            *order,
            *order,
            *rc::gen::arbitrary<bool>(),
            *rc::gen::inRange(0, 5),
            *rc::gen::inRange(0, 5)};
  }
};

/// The table as memory that is scattered, and the view of it.
template <class Entry>
struct ScatteredTable {
  Scattered<Entry> cos, sin;
  any::Table view{};

  ScatteredTable(const Table<Entry>& table, const RotationProblem& p, const Drawn& drawn)
      : cos(extents(table), drawn.table_order, drawn.table_backwards, drawn.gap),
        sin(extents(table), drawn.table_order, drawn.table_backwards, drawn.gap) {
    cos.put(table.cos);
    sin.put(table.sin);
    StridedView<Entry> rows = cos.view();
    if (drawn.repeated) {
      Shape whole{rows.shape[0]};
      for (std::size_t axis = 0; axis < p.outer.size(); ++axis) {
        const bool broadcast = rows.shape[static_cast<int>(axis) + 1] == 1;
        const Index extent = broadcast ? std::max<Index>(1, p.outer[axis]) : p.outer[axis];
        if (broadcast) rows.strides[axis] = 0;
        whole.push_back(extent);
      }
      rows.shape = whole;
    }
    const int rank = rows.shape.rank();
    const int place = drawn.table_place % rank;
    const auto listed = any_tensor<any::ConstTensor>(rows, drawn.tables, place);
    view = {scalar_type<Entry>,
            rows.data,
            sin.view().data,
            listed.shape,
            listed.strides,
            drawn.tables,
            listed_axis(place, rank, drawn.tables)};
  }

  static std::vector<Index> extents(const Table<Entry>& table) {
    std::vector<Index> all{table.width};
    for (const Index extent : extents_of(table.outer)) all.push_back(extent);
    return all;
  }
};

template <class Scalar, class Entry>
void equals_the_definition(const RotationProblem& p) {
  const Drawn drawn = Drawn::of();
  const Shape shape = p.shape();
  const Table<Entry> table =
      random_table<Entry>(p.table_width(), broadcast_outer(p.outer_shape(), p.table_axes), p.seed);
  const auto values = random_values<Scalar>(shape.size(), p.seed + 2);
  std::vector<Scalar> expected(values.size());
  reference::rotate(values.data(), expected.data(), shape, table.view(), p.pairing(), p.direction);

  Scattered<Scalar> x(extents_of(shape), drawn.x_order, p.backwards, drawn.gap);
  x.put(values);
  Scattered<Scalar> y = p.place == Place::in_place
                            ? x
                            : Scattered<Scalar>(extents_of(shape), drawn.y_order, 0, drawn.gap);
  Scattered<Scalar> wanted = y;
  wanted.put(expected);
  const ScatteredTable<Entry> entries(table, p, drawn);
  const int place = drawn.feature_place % shape.rank();
  const Pairing pairing = p.pairing().along(listed_axis(place, shape.rank(), drawn.order));
  const auto to = any_tensor<any::Tensor>(y.view(), drawn.order, place);
  if (p.place == Place::in_place) {
    any::rotate_inplace(to, entries.view, pairing, p.direction);
  } else {
    any::rotate_to(to, any_tensor<any::ConstTensor>(x.view(), drawn.order, place), entries.view,
                   pairing, p.direction);
  }
  const Case c{
      {p.row_length(), p.offset, p.dims()}, p.pairing(), p.width == Width::full, p.direction};
  const std::vector<Scalar> got = y.get(values.size());
  const auto same = same_rotation(expected.data(), got.data(), values.data(), shape, c);
  if (!same) RC_FAIL(same.message());
  y.put(expected);
  RC_ASSERT(same_bytes(y.memory_, wanted.memory_));
}

RC_GTEST_PROP(AnyProperty, Float, (const RotationProblem& p)) {
  equals_the_definition<float, float>(p);
}
RC_GTEST_PROP(AnyProperty, Double, (const RotationProblem& p)) {
  equals_the_definition<double, double>(p);
}
RC_GTEST_PROP(AnyProperty, Half, (const RotationProblem& p)) {
  equals_the_definition<Eigen::half, float>(p);
}
RC_GTEST_PROP(AnyProperty, Bfloat16WithItsOwnTable, (const RotationProblem& p)) {
  equals_the_definition<Eigen::bfloat16, Eigen::bfloat16>(p);
}

template <class Scalar>
void gradients_are_those_of_dense_memory(const RotationProblem& p) {
  const Drawn drawn = Drawn::of();
  const Shape shape = p.shape();
  const Table<Scalar> table =
      random_table<Scalar>(p.table_width(), broadcast_outer(p.outer_shape(), p.table_axes), p.seed);
  const auto x_values = random_values<Scalar>(shape.size(), p.seed + 2);
  const auto g_values = random_values<Scalar>(shape.size(), p.seed + 3);
  GradientOptions options;
  options.from = GradientsFrom::input;
  options.wanted = Wanted::angle | Wanted::log_magnitude | Wanted::table;
  const std::vector<Index> extents = extents_of(shape);
  const Strides dense = detail::dense_strides(shape[0], shape.outer());
  std::vector<Scalar> dx_expected(x_values.size());
  const StridedView<const Scalar> x_rows{x_values.data(), shape, dense};
  const StridedView<const Scalar> g_rows{g_values.data(), shape, dense};
  const auto expected = gradients_to(StridedView<Scalar>{dx_expected.data(), shape, dense}, x_rows,
                                     g_rows, table.view(), p.pairing(), options);

  Scattered<Scalar> x(extents, drawn.x_order, p.backwards, drawn.gap);
  Scattered<Scalar> g(extents, drawn.y_order, 0, drawn.gap);
  x.put(x_values);
  g.put(g_values);
  Scattered<Scalar> dx = g;
  const ScatteredTable<Scalar> entries(table, p, drawn);
  const int place = drawn.feature_place % shape.rank();
  const Pairing pairing = p.pairing().along(listed_axis(place, shape.rank(), drawn.order));
  const auto from = any_tensor<any::ConstTensor>(x.view(), drawn.order, place);
  const auto of = any_tensor<any::ConstTensor>(g.view(), drawn.order, place);
  const auto got = any::gradients_to(any_tensor<any::Tensor>(dx.view(), drawn.order, place), from,
                                     of, entries.view, pairing, options);
  RC_ASSERT(same_bytes(dx.get(dx_expected.size()), dx_expected));
  const detail::EntryPlaces pairs(got.pairs, got.outer, got.feature_axis);
  const detail::EntryPlaces places(got.width, got.outer, got.feature_axis);
  RC_ASSERT(got.pairs == expected.pairs);
  RC_ASSERT(got.width == expected.width);
  RC_ASSERT(got.outer.size() == expected.outer.size());
  for (Index row = 0; row < got.outer.size(); ++row) {
    const auto at = [](Index i) { return static_cast<std::size_t>(i); };
    for (Index k = 0; k < got.pairs; ++k) {
      RC_ASSERT(got.angle[at(pairs.at(row, k))] == expected.angle[at(row * got.pairs + k)]);
      RC_ASSERT(got.log_magnitude[at(pairs.at(row, k))] ==
                expected.log_magnitude[at(row * got.pairs + k)]);
    }
    for (Index k = 0; k < got.width; ++k) {
      RC_ASSERT(got.cos[at(places.at(row, k))] == expected.cos[at(row * got.width + k)]);
      RC_ASSERT(got.sin[at(places.at(row, k))] == expected.sin[at(row * got.width + k)]);
    }
  }

  std::vector<double> dcos(expected.cos.size()), dsin(expected.cos.size());
  table_gradient(TableGradient<double>{dcos.data(), dsin.data(), table.width, table.outer}, x_rows,
                 g_rows, p.pairing());
  const std::vector<Index> table_extents = ScatteredTable<Scalar>::extents(table);
  Scattered<double> cos(table_extents, drawn.table_order, drawn.table_backwards, drawn.gap);
  Scattered<double> sin = cos;
  const int rank = static_cast<int>(table_extents.size());
  const int table_place = drawn.table_place % rank;
  const auto listed = any_tensor<any::Tensor>(cos.view(), drawn.tables, table_place);
  any::table_gradient({ScalarType::f64, listed.data, sin.view().data, listed.shape, listed.strides,
                       drawn.tables, listed_axis(table_place, rank, drawn.tables)},
                      from, of, pairing);
  RC_ASSERT(same_bytes(cos.get(dcos.size()), dcos));
  RC_ASSERT(same_bytes(sin.get(dsin.size()), dsin));
}

RC_GTEST_PROP(AnyProperty, GradientsOfFloat, (const RotationProblem& p)) {
  gradients_are_those_of_dense_memory<float>(p);
}
RC_GTEST_PROP(AnyProperty, GradientsOfHalf, (const RotationProblem& p)) {
  gradients_are_those_of_dense_memory<Eigen::half>(p);
}

}  // namespace
}  // namespace eigen_rope::test::any_property_tests
