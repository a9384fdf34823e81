// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of a rotation along any axis, with x and every entry of the table as inputs.
//
//   L = sum g y   y_A = c_A x_a - s_A x_b   y_B = c_B x_b + s_B x_a
//
//   dL/dx_a = c_A g_A + s_B g_B   dL/dc_A = sum g_A x_a   dL/ds_A = -sum g_A x_b
//   dL/dx_b = c_B g_B - s_A g_A   dL/dc_B = sum g_B x_b   dL/ds_B = sum g_B x_a
//
// A half-width table has c_A = c_B and s_A = s_B. Other people's differentiation of the library's
// expression must give what these formulas do, what the library's backward pass does along the same
// axis, and what the same expression gives of the transposed tensor.
#pragma once

#include "eigen_rope/gradients/table_gradient.hpp"
#include "eigen_rope/rotation/tensor_view.hpp"
#include "support/whole_way.hpp"

namespace eigen_rope::test::autodiff {

struct AxisProblem {
  Extents extents;
  bool full_width = false;
  Evaluated evaluated = Evaluated::directly;
  /// The storage order, and the axis in the order of its indices.
  int layout = Eigen::ColMajor;
  int axis = 0;
  /// Behind how many outer axes the table has its entries.
  int table_place = 0;
  /// [features, heads, tokens, batches], and [entries, tokens, batches].
  std::vector<double> x, g, cos, sin;

  std::string text() const {
    return "pairing " + std::to_string(static_cast<int>(extents.kind)) +
           (full_width ? ", full width" : ", half width") +
           (evaluated == Evaluated::nested ? ", nested" : "") +
           (layout == static_cast<int>(Eigen::RowMajor) ? ", RowMajor" : ", ColMajor") + ", axis " +
           std::to_string(axis) + ", table " + std::to_string(table_place);
  }
  Index width() const { return full_width ? extents.dims : extents.pairs(); }
  Pairing pairing() const { return pairing_of(extents, 0).along(axis); }
  /// Entries of any scalar, in the order that the problem wants.
  template <class S>
  PlacedTable<S> table(std::vector<S> cosines, std::vector<S> sines) const {
    PlacedTable<S> rows;
    rows.cos = std::move(cosines);
    rows.sin = std::move(sines);
    rows.width = width();
    rows.outer = Shape{1, extents.tokens, extents.batches};
    return rows.with_features_behind(table_place);
  }
};

/// On the fastest axis. Two heads share their entries; two elements of a row do not turn.
inline AxisProblem fastest_axis_problem(PairKind kind, bool full_width) {
  AxisProblem p;
  p.extents = {kind, 6, 1, 4, 2, 3, 2};
  p.full_width = full_width;
  const Index entries = p.width() * p.extents.rows();
  p.x = random_values<double>(p.extents.size(), 31);
  p.g = random_values<double>(p.extents.size(), 32);
  p.cos = random_values<double>(entries, 33);
  p.sin = random_values<double>(entries, 34);
  return p;
}

/// The same on every other axis of both storage orders, with the table's entries of a row next to
/// each other and in the order of x. A third of the rotations are nested.
inline std::vector<AxisProblem> slower_axis_problems(AxisProblem p) {
  std::vector<AxisProblem> problems;
  for (const int place : {1, 2, 3}) {
    for (const int layout : {int{Eigen::ColMajor}, int{Eigen::RowMajor}}) {
      for (const int table_place : {0, place}) {
        p.layout = layout;
        p.axis = layout == static_cast<int>(Eigen::ColMajor) ? place : 3 - place;
        p.table_place = table_place;
        p.evaluated = problems.size() % 3 == 1 ? Evaluated::nested : Evaluated::directly;
        problems.push_back(p);
      }
    }
  }
  return problems;
}

/// x, cos and sin, one after another.
inline std::vector<double> values_of(const AxisProblem& p) {
  std::vector<double> values = p.x;
  values.insert(values.end(), p.cos.begin(), p.cos.end());
  values.insert(values.end(), p.sin.begin(), p.sin.end());
  return values;
}

template <int layout, class S>
S loss_along(const AxisProblem& p, const std::vector<S>& inputs) {
  using Tensor = Eigen::Tensor<S, 4, layout>;
  Reader<S> reader(inputs);
  const Tensor x = tensor_of<S, layout>(p.extents, reader.many(p.x.size()), p.axis);
  std::vector<S> cosines = reader.many(p.cos.size());
  const PlacedTable<S> table = p.table(std::move(cosines), reader.many(p.sin.size()));
  Tensor y(x.dimensions());
  if (p.evaluated == Evaluated::directly) {
    y = eigen_rope::rotate(x, table, p.pairing());
  } else {
    y = -eigen_rope::rotate(-x, table, p.pairing());
  }
  return weighted_sum(values_in_front(p.extents, y, p.axis), p.g);
}

template <class S>
S loss_of(const AxisProblem& p, const std::vector<S>& inputs) {
  return p.layout == static_cast<int>(Eigen::ColMajor) ? loss_along<Eigen::ColMajor>(p, inputs)
                                                       : loss_along<Eigen::RowMajor>(p, inputs);
}

/// A sum of products that may be formed in any order.
struct ProductSum {
  long double value = 0;
  long double magnitude = 0;
  int terms = 0;

  void add(long double product) {
    value += product;
    magnitude += std::abs(product);
    ++terms;
  }
  /// Each product is rounded once, and each term takes part in fewer sums than there are terms.
  Tracked tracked() const { return {value, static_cast<long double>(terms) * magnitude}; }
};

/// By the formulas, for all of values_of().
inline List derivatives_by_hand(const AxisProblem& p) {
  const Extents& e = p.extents;
  std::vector<ProductSum> dx(p.x.size()), dcos(p.cos.size()), dsin(p.sin.size());
  for_each_copied(e, [&](std::size_t i) { dx[i].add(p.g[i]); });
  for_each_pair(e, [&](const closed_form::Place& at) {
    const auto entry = [&](std::size_t slot) {
      if (!p.full_width) return at.angle;
      const auto row = static_cast<Index>(at.angle) / e.pairs();
      const Index within = static_cast<Index>(slot) % e.features - e.offset;
      return static_cast<std::size_t>(row * e.dims + within);
    };
    const std::size_t A = entry(at.A), B = entry(at.B);
    const long double a = p.x[at.a], b = p.x[at.b], g_A = p.g[at.A], g_B = p.g[at.B];
    dx[at.a].add(p.cos[A] * g_A);
    dx[at.a].add(p.sin[B] * g_B);
    dx[at.b].add(p.cos[B] * g_B);
    dx[at.b].add(-p.sin[A] * g_A);
    dcos[A].add(g_A * a);
    dcos[B].add(g_B * b);
    dsin[A].add(-g_A * b);
    dsin[B].add(g_B * a);
  });
  List result;
  for (const auto* part : {&dx, &dcos, &dsin})
    for (const ProductSum& sum : *part) result.push_back(sum.tracked());
  return result;
}

/// By the library's backward pass along the same axis.
template <int layout>
std::vector<double> library_along(const AxisProblem& p) {
  using Tensor = Eigen::Tensor<double, 4, layout>;
  const Tensor x = tensor_of<double, layout>(p.extents, p.x, p.axis);
  const Tensor g = tensor_of<double, layout>(p.extents, p.g, p.axis);
  const PlacedTable<double> table = p.table(p.cos, p.sin);
  const Tensor dx = eigen_rope::rotate_backward(g, table, p.pairing());
  std::vector<double> dcos(p.cos.size()), dsin(p.sin.size());
  table_gradient(
      TableGradient<double>{dcos.data(), dsin.data(), table.width, table.outer, table.feature_axis},
      x, g, p.pairing());
  std::vector<double> result = values_in_front(p.extents, dx, p.axis);
  for (const auto* part : {&dcos, &dsin}) {
    const std::vector<double> rows = by_rows(*part, table.width, table.outer, table.feature_axis);
    result.insert(result.end(), rows.begin(), rows.end());
  }
  return result;
}

inline std::vector<double> derivatives_by_library(const AxisProblem& p) {
  return p.layout == static_cast<int>(Eigen::ColMajor) ? library_along<Eigen::ColMajor>(p)
                                                       : library_along<Eigen::RowMajor>(p);
}

/// Each within what `bounds` allow.
inline void expect_derivatives(const AxisProblem& p, const std::vector<double>& actual,
                               const std::vector<double>& expected, const List& bounds,
                               const char* of) {
  ASSERT_EQ(actual.size(), bounds.size());
  ASSERT_EQ(expected.size(), bounds.size());
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    ASSERT_LE(distance(actual[i], {static_cast<long double>(expected[i]), bounds[i].error}), 1)
        << (i < p.x.size() ? "dL/dx" : "dL/dtable") << ", input " << i << ": " << actual[i] << ", "
        << of << ' ' << expected[i];
  }
}

/// gradient(problem) is what a library finds of loss_of(problem) in all of values_of(problem).
template <class Gradient>
void expect_along_every_axis(const Gradient& gradient) {
  for (const PairKind kind : every_kind) {
    for (const bool full_width : {false, true}) {
      const AxisProblem fastest = fastest_axis_problem(kind, full_width);
      const List by_hand = derivatives_by_hand(fastest);
      std::vector<double> exact;
      for (const Tracked& derivative : by_hand)
        exact.push_back(static_cast<double>(derivative.value));
      const std::vector<double> of_fastest = gradient(fastest);
      expect_derivatives(fastest, of_fastest, exact, by_hand, "on the fastest axis, by hand");
      for (const AxisProblem& p : slower_axis_problems(fastest)) {
        SCOPED_TRACE(p.text());
        const std::vector<double> actual = gradient(p);
        expect_derivatives(p, actual, exact, by_hand, "by hand");
        expect_derivatives(p, actual, derivatives_by_library(p), by_hand, "by the backward pass");
        expect_derivatives(p, actual, of_fastest, by_hand, "of the transposed tensor");
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace eigen_rope::test::autodiff
