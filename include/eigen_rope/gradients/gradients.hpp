// SPDX-License-Identifier: Apache-2.0
//
// The backward pass of a rotation: every gradient in one pass over memory.
//
//   eigen_rope::rotate_inplace(q, cache, eigen_rope::split_half);
//                       the forward pass keeps q's output only
//   auto d = eigen_rope::gradients_inplace(q, dq, cache, eigen_rope::split_half);
//                       dq becomes dL/dx, and d.angle has the sums
//
// With y = rotate(x), g = dL/dy, pair (a, b) -> (A, B) and angle t:
//
//   dx        the transposed rotation of g                      as eigen_rope::rotate_backward
//   d angle   y_A g_B - y_B g_A                                 one per pair and table row
//   d log m   y_A g_A + y_B g_B
//                       m times the gradient of the attention factor, likewise
//   d cos     g_A x_a + g_B x_b     d sin = g_B x_a - g_A x_b
//                       one per table entry (table_gradient.hpp for full-width tables)
//
// summed over every axis the table broadcasts along. Half-width tables need only y, so x may be
// overwritten by the rotation; full-width ones, and the gradient of a table with a zero magnitude,
// need x. From d angle follow the gradients of positions and rates (parameter_gradients.hpp), and
// from those the base, the factors and the scalings (scaling_gradients.hpp). Eigen's tensors can be
// given where tensor_view.hpp is included as well. tangent.hpp has the gradient of the gradient,
// which closes under the same operations.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "eigen_rope/gradients/detail/backward.hpp"
#include "eigen_rope/gradients/gradient_options.hpp"
#include "eigen_rope/gradients/table_gradient.hpp"
#include "eigen_rope/numbers/detail/rounded.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "eigen_rope/rows/detail/rows_of.hpp"

namespace eigen_rope {

/// What was asked for; the rest is empty. Sum: double for float, double and the 16-bit types,
/// otherwise the scalar itself.
template <class Sum>
struct Gradients {
  /// Pairs, and the table's extents outside the feature axis, fastest first.
  Index pairs = 0;
  Shape outer{};  ///< Of the table.
  /// pairs * outer.size() entries each, pairs fastest. With full-width tables: as if both members
  /// of a pair turned and grew together.
  std::vector<Sum> angle{};
  std::vector<Sum> log_magnitude{};  ///< As angle.
  /// width * outer.size() entries each, where the table has `width` a row.
  Index width = 0;
  std::vector<Sum> cos{};  ///< With respect to the table's cosines.
  std::vector<Sum> sin{};  ///< With respect to the table's sines.
};

namespace detail {

/// Whether the set has the part.
constexpr bool wants(Wanted set, Wanted part) {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(part)) != 0;
}

/// One table row's share of the results.
template <class Sum, class TableScalar>
class GradientRow {
 public:
  GradientRow(const RowPlan& plan, const TableView<TableScalar>& table, Gradients<Sum>& result)
      : plan_(plan), runs_(pair_runs(plan)), table_(table), result_(result) {}

  /// From x: dcos and dsin come first, and the others from them.
  template <class C>
  void from_input(Index row, const PairSums<C>& sums) const {
    const TableScalar* cos = table_.cos + row * table_.width;
    const TableScalar* sin = table_.sin + row * table_.width;
    if (!result_.cos.empty()) {
      for_each_table_entry(plan_, sums, [&](Index entry, const Sum& dcos, const Sum& dsin) {
        result_.cos[place(row * table_.width + entry)] = dcos;
        result_.sin[place(row * table_.width + entry)] = dsin;
      });
    }
    if (result_.angle.empty() && result_.log_magnitude.empty()) return;
    for_each_pair([&](Index k, const PairSlots& slots) {
      if (plan_.full_width) {
        const Sum cos_a = converted<Sum>(cos[slots.A]);
        const Sum cos_b = converted<Sum>(cos[slots.B]);
        const Sum sin_a = converted<Sum>(sin[slots.A]);
        const Sum sin_b = converted<Sum>(sin[slots.B]);
        const Sum turned_a =
            rounded_sum_of_products<Sum>(cos_a, sums.crossed(slots.A), sin_a, sums.direct(slots.A));
        const Sum turned_b = rounded_sum_of_products<Sum>(cos_b, sums.crossed(slots.B), -sin_b,
                                                          sums.direct(slots.B));
        const Sum grown_a = rounded_sum_of_products<Sum>(cos_a, sums.direct(slots.A), -sin_a,
                                                         sums.crossed(slots.A));
        const Sum grown_b =
            rounded_sum_of_products<Sum>(cos_b, sums.direct(slots.B), sin_b, sums.crossed(slots.B));
        put(row, k, turned_b - turned_a, grown_a + grown_b);
      } else {
        const Sum c = converted<Sum>(cos[k]);
        const Sum s = converted<Sum>(sin[k]);
        const Sum dcos = sums.dot(slots);
        const Sum dsin = sums.cross(slots);
        put(row, k, rounded_sum_of_products<Sum>(c, dsin, -s, dcos),
            rounded_sum_of_products<Sum>(c, dcos, s, dsin));
      }
    });
  }

  /// From y: the table's gradient is that of angle and magnitude, turned back and divided by m^2.
  template <class C>
  void from_output(Index row, const PairSums<C>& sums) const {
    if (!result_.angle.empty()) {
      for_each_pair([&](Index k, const PairSlots& slots) {
        result_.angle[place(row * result_.pairs + k)] = sums.cross(slots);
      });
    }
    if (!result_.log_magnitude.empty()) {
      for_each_pair([&](Index k, const PairSlots& slots) {
        result_.log_magnitude[place(row * result_.pairs + k)] = sums.dot(slots);
      });
    }
    if (result_.cos.empty()) return;
    for_each_pair([&](Index k, const PairSlots& slots) {
      const Sum angle = sums.cross(slots);
      const Sum log_magnitude = sums.dot(slots);
      const Sum c = converted<Sum>(table_.cos[row * table_.width + k]);
      const Sum s = converted<Sum>(table_.sin[row * table_.width + k]);
      const Sum m2 = rounded_sum_of_products(c, c, s, s);
      result_.cos[place(row * table_.width + k)] =
          rounded_sum_of_products<Sum>(c, log_magnitude, -s, angle) / m2;
      result_.sin[place(row * table_.width + k)] =
          rounded_sum_of_products(c, angle, s, log_magnitude) / m2;
    });
  }

 private:
  static std::size_t place(Index i) { return static_cast<std::size_t>(i); }

  /// visit(pair, slots), of the slots only A and B.
  template <class Visit>
  void for_each_pair(const Visit& visit) const {
    for (const Run& run : runs_) {
      for (Index k = 0; k < run.count; ++k) {
        const Index A = run.out_a + k * run.out_step;
        const Index B = run.out_b + k * run.out_step;
        visit(run.table_a + k, PairSlots{A, B, A, B});
      }
    }
  }

  void put(Index row, Index k, const Sum& angle, const Sum& log_magnitude) const {
    const std::size_t entry = place(row * result_.pairs + k);
    if (!result_.angle.empty()) result_.angle[entry] = angle;
    if (!result_.log_magnitude.empty()) result_.log_magnitude[entry] = log_magnitude;
  }

  RowPlan plan_;
  Runs runs_;
  const TableView<TableScalar>& table_;
  Gradients<Sum>& result_;
};

/// `wanted` entries, keeping the memory of an earlier pass. Their number must have been checked.
template <class Sum>
void resize_for(std::vector<Sum>& values, bool wanted, Index width, const Shape& outer) {
  values.resize(wanted ? static_cast<std::size_t>(width * outer.size()) : 0);
}

/// What sums over rows of U and G are held in.
template <class U, class G>
using SumOf = SumScalar<ComputeScalar<RowScalar<U>, RowScalar<G>>>;

/// dx is a null pointer where it is not wanted. The result is not touched before everything is
/// checked.
template <class Sum, class U, class G, class TableScalar>
void backward(Gradients<Sum>& result, const StridedView<std::remove_const_t<G>>* dx,
              const StridedView<U>& u, const StridedView<G>& g, const TableView<TableScalar>& table,
              Pairing pairing, const GradientOptions& options) {
  using C = ComputeScalar<std::remove_const_t<U>, std::remove_const_t<G>>;
  const Wanted wanted = options.wanted;
  const bool from_output = options.from == GradientsFrom::output;
  const auto pass = make_backward_pass(options.from, u, g, dx, table.width, table.outer, pairing);
  const bool sums_wanted = wanted != Wanted::nothing;
  if (from_output && pass.plan.full_width && sums_wanted) {
    fail(
        "full-width tables need the rotation's input (options.from = "
        "eigen_rope::GradientsFrom::input) for more than dx, as y does not "
        "tell their members apart; table width",
        static_cast<std::int64_t>(table.width));
  }
  checked_product("the number of bytes of the gradients", checked_table_size(table), sizeof(Sum));
  if (from_output && wants(wanted, Wanted::table)) require_invertible(pass.plan, table);
  if (pass.dx != nullptr) refuse_table_overlap(table, *dx, pass.dx_strides);
  result.pairs = pass.plan.rotary_dims / 2;
  result.outer = table.outer;
  result.width = table.width;
  resize_for(result.angle, wants(wanted, Wanted::angle), result.pairs, table.outer);
  resize_for(result.log_magnitude, wants(wanted, Wanted::log_magnitude), result.pairs, table.outer);
  resize_for(result.cos, wants(wanted, Wanted::table), result.width, table.outer);
  resize_for(result.sin, wants(wanted, Wanted::table), result.width, table.outer);
  const Products products =
      from_output && wanted == Wanted::angle ? Products::difference : Products::all;
  const GradientRow<Sum, TableScalar> gradient_row(pass.plan, table, result);
  run_backward(
      pass, table, products, sums_wanted, options.device, [&](Index row, const PairSums<C>& sums) {
        from_output ? gradient_row.from_output(row, sums) : gradient_row.from_input(row, sums);
      });
}

}  // namespace detail

/// The gradients of a loss from that with respect to a rotation's output: the sums alone.
///
/// y, g and dx of these functions are each an Eigen::Tensor or Eigen::TensorMap (tensor_view.hpp)
/// or a StridedView.
///
/// \param y        the rotation's output, or with GradientsFrom::input its input x; rows may share
///                 elements. The window must be rotated; what is outside passes its gradient on
///                 unchanged
/// \param g        dL/dy, of the same shape; rows may share elements
/// \param table    what the forward rotation read
/// \param options  what to sum, what y is, and where to run
/// \param memory   an earlier result, moved here, whose memory is used again: fresh pages for the
///                 sums of a large table cost as much as a tenth of the pass. It stays as it is
///                 where something is refused
/// \returns        Gradients of double for float, double, half and bfloat16, of the scalar itself
///                 for others
///
/// - Errors:   eigen_rope::Error before anything is written: as rotate() for windows, shapes and
///             tables that do not fit; for null pointers and overlap; from the output, for sums of
///             a full-width table, and for Wanted::table where the table has a zero magnitude.
/// - Threads:  reads its arguments only.
/// - Error:    sums of n products of float and 16-bit numbers at most n 2^-53 of the sum of their
///             magnitudes, and 2^-23 more of d angle from y alone, as much as the rounding of y and
///             g to float already costs; of doubles 2^-53 + n^2 2^-106 of it. Gradients that use
///             the table carry its entries' rounding once more (d cos, d sin from y; d angle and d
///             log m from x). dx as rotate().
/// - Cost:     one pass over y (or x), g and dx.
template <class Y, class G, class Table>
Gradients<detail::SumOf<const Y&, const G&>> gradients(
    const Y& y, const G& g, const Table& table, Pairing pairing,
    const GradientOptions& options = {},
    Gradients<detail::SumOf<const Y&, const G&>>&& memory = {}) {
  const auto u_rows = detail::rows_of(y);
  const auto g_rows = detail::rows_of(g);
  detail::backward(memory, nullptr, u_rows, g_rows, detail::view_of(table), pairing, options);
  return std::move(memory);
}

/// The same, and dL/dx goes to `dx`: of y's shape, with g's scalar. With Wanted::nothing dx is all
/// that is computed.
///
/// - Aliasing: dx's rows may be those of g or of y (y is read first), and must not overlap g, y or
///             the table otherwise.
template <class Dx, class Y, class G, class Table>
Gradients<detail::SumOf<const Y&, const G&>> gradients_to(
    Dx&& dx, const Y& y, const G& g, const Table& table, Pairing pairing,
    const GradientOptions& options = {},
    Gradients<detail::SumOf<const Y&, const G&>>&& memory = {}) {
  const auto u_rows = detail::rows_of(y);
  const auto g_rows = detail::rows_of(g);
  const auto dx_rows = detail::written_rows_of(std::forward<Dx>(dx));
  constexpr bool same_scalar = std::is_same_v<detail::RowScalar<Dx>, detail::RowScalar<const G&>>;
  static_assert(same_scalar || !detail::has_rows<Dx> || !detail::has_rows<const G&>,
                "[rope] dx must have g's scalar");
  if constexpr (same_scalar)
    detail::backward(memory, &dx_rows, u_rows, g_rows, detail::view_of(table), pairing, options);
  return std::move(memory);
}

/// The same, and g becomes dL/dx.
template <class Y, class G, class Table>
Gradients<detail::SumOf<const Y&, G>> gradients_inplace(
    const Y& y, G&& g, const Table& table, Pairing pairing, const GradientOptions& options = {},
    Gradients<detail::SumOf<const Y&, G>>&& memory = {}) {
  const auto u_rows = detail::rows_of(y);
  const auto g_rows = detail::written_rows_of(std::forward<G>(g));
  detail::backward(memory, &g_rows, u_rows, g_rows, detail::view_of(table), pairing, options);
  return std::move(memory);
}

}  // namespace eigen_rope
