// SPDX-License-Identifier: Apache-2.0
//
// The backward pass of a rotation. One pass over memory computes the gradient with respect to x and
// those of angles, magnitudes and the table. With y = rotate(x), g = dL/dy for a loss L, and a pair
// (a, b) -> (A, B):
//
//   dx       = the transposed rotation of g, which rotate_backward() gives
//   d angle  = y_A g_B - y_B g_A     for each pair and row of the table
//   d log m  = y_A g_A + y_B g_B     for each pair and row of the table
//   d cos    = g_A x_a + g_B x_b     for each entry of a half-width table
//   d sin    = g_B x_a - g_A x_b     for each entry of a half-width table
//
// All but dx are summed over every axis along which the table is broadcast. The sum of d log m over
// all entries is m times the gradient of m itself. table_gradient.hpp has d cos and d sin of a
// full-width table. With a half-width table y is enough, so the rotation may overwrite x. The sums
// of a full-width table, and the gradient of a table that has a zero magnitude, need x.
//
// From d angle follow the gradients of positions and rates (parameter_gradients.hpp), and from
// those the gradients of the base, the factors and the scalings (scaling_gradients.hpp). The
// gradient of the gradient is in tangent.hpp. Include rotation/tensor_view.hpp as well to pass
// Eigen tensors.
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

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The gradients of a loss with respect to what a rotation reads besides x: angles, magnitudes and
/// the table.
///
/// gradients(), gradients_to() and gradients_inplace() return it. The lists that were not asked for
/// are empty.
///
/// \code{.cpp}
/// const er::Gradients<double> d = er::gradients(y, dy, cache, er::split_half);
/// const double of_first_pair_at_token_5 = d.angle[5 * d.pairs];
/// const std::vector<double> of_rates = er::rate_gradients(d, positions);
/// \endcode
///
/// Sum is double for float, double and the 16-bit types, and the scalar itself for others.
///
/// \see rate_gradients(), position_gradients(), attention_factor_gradient(), xpos_gradients()
template <class Sum>
struct Gradients {
  /// The number of rotated pairs of a row.
  Index pairs = 0;
  /// The table's extents outside the feature axis, fastest first.
  Shape outer{};
  /// The gradient per radian of each angle: pairs * outer.size() entries in the order of the table,
  /// so pairs are fastest where feature_axis is 0. With a full-width table an entry is for a turn
  /// of both members of a pair together.
  std::vector<Sum> angle{};
  /// The gradient with respect to the logarithm of each magnitude, in the order of `angle`. With a
  /// full-width table an entry is for both members of a pair growing together.
  std::vector<Sum> log_magnitude{};
  /// The number of entries in a row of the table: pairs, or rotated elements.
  Index width = 0;
  /// The gradient with respect to the table's cosines: width * outer.size() entries, in the table's
  /// order.
  std::vector<Sum> cos{};
  /// The gradient with respect to the table's sines, in the order of `cos`.
  std::vector<Sum> sin{};
  /// How many outer axes are faster than the entries of a row; that of the table.
  int feature_axis = 0;
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
      : plan_(plan),
        runs_(pair_runs(plan)),
        table_(table),
        entries_(table),
        pairs_(result.pairs, table.outer, table.feature_axis),
        result_(result) {}

  /// From x: dcos and dsin come first, and the others from them.
  template <class C>
  void from_input(Index row, const PairSums<C>& sums) const {
    const auto cos = [&](Index entry) {
      return converted<Sum>(table_.cos[entries_.at(row, entry)]);
    };
    const auto sin = [&](Index entry) {
      return converted<Sum>(table_.sin[entries_.at(row, entry)]);
    };
    if (!result_.cos.empty()) {
      for_each_table_entry(plan_, sums, [&](Index entry, const Sum& dcos, const Sum& dsin) {
        result_.cos[place(entries_.at(row, entry))] = dcos;
        result_.sin[place(entries_.at(row, entry))] = dsin;
      });
    }
    if (result_.angle.empty() && result_.log_magnitude.empty()) return;
    for_each_pair([&](Index k, const PairSlots& slots) {
      if (plan_.full_width) {
        const Sum cos_a = cos(slots.A);
        const Sum cos_b = cos(slots.B);
        const Sum sin_a = sin(slots.A);
        const Sum sin_b = sin(slots.B);
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
        const Sum c = cos(k);
        const Sum s = sin(k);
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
    const Index step = pairs_.step();
    if (!result_.angle.empty()) {
      Sum* const angle = result_.angle.data() + pairs_.at(row, 0);
      for_each_pair([&](Index k, const PairSlots& slots) { angle[k * step] = sums.cross(slots); });
    }
    if (!result_.log_magnitude.empty()) {
      Sum* const log_magnitude = result_.log_magnitude.data() + pairs_.at(row, 0);
      for_each_pair(
          [&](Index k, const PairSlots& slots) { log_magnitude[k * step] = sums.dot(slots); });
    }
    if (result_.cos.empty()) return;
    for_each_pair([&](Index k, const PairSlots& slots) {
      const Sum angle = sums.cross(slots);
      const Sum log_magnitude = sums.dot(slots);
      const Index entry = entries_.at(row, k);
      const Sum c = converted<Sum>(table_.cos[entry]);
      const Sum s = converted<Sum>(table_.sin[entry]);
      const Sum m2 = rounded_sum_of_products(c, c, s, s);
      result_.cos[place(entry)] = rounded_sum_of_products<Sum>(c, log_magnitude, -s, angle) / m2;
      result_.sin[place(entry)] = rounded_sum_of_products(c, angle, s, log_magnitude) / m2;
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
    const std::size_t entry = place(pairs_.at(row, k));
    if (!result_.angle.empty()) result_.angle[entry] = angle;
    if (!result_.log_magnitude.empty()) result_.log_magnitude[entry] = log_magnitude;
  }

  RowPlan plan_;
  Runs runs_;
  const TableView<TableScalar>& table_;
  EntryPlaces entries_;
  EntryPlaces pairs_;
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
  const auto pass = make_backward_pass(options.from, u, g, dx, table.width, table.outer, pairing,
                                       table.feature_axis);
  const bool sums_wanted = wanted != Wanted::nothing;
  if (from_output && pass.plan.full_width && sums_wanted) {
    fail(
        "full-width tables need the rotation's input (options.from = "
        "eigen_rope::GradientsFrom::input) for more than dx, as y does not "
        "tell their members apart; table width",
        static_cast<std::int64_t>(table.width));
  }
  const Index table_size = checked_table_size(table);
  checked_product("the number of bytes of the gradients", table_size, sizeof(Sum));
  if (from_output && wants(wanted, Wanted::table)) require_invertible(pass.plan, table);
  if (pass.dx != nullptr) refuse_table_overlap(table, table_size, *dx);
  result.pairs = pass.plan.rotary_dims / 2;
  result.outer = table.outer;
  result.width = table.width;
  result.feature_axis = table.feature_axis;
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

/// Computes the gradients of angles, magnitudes or the table from dL/dy and the rotation's output.
///
///     d.angle = sum of y_A g_B - y_B g_A     d.log_magnitude = sum of y_A g_A + y_B g_B
///
/// Each sum runs over the rows of x that share a row of the table. dx is not computed here:
/// gradients_to() and gradients_inplace() compute it in the same pass.
///
/// \code{.cpp}
/// er::rotate_inplace(q, cache, er::split_half);  // the forward pass; only its output is kept
/// const auto d = er::gradients(q, dy, cache, er::split_half);
/// const std::vector<double> of_rates = er::rate_gradients(d, positions);
/// \endcode
///
/// y and g are each an Eigen::Tensor or Eigen::TensorMap (tensor_view.hpp) or a StridedView.
///
/// \param y        the rotation's output, or its input x with GradientsFrom::input; rows may share
///                 elements
/// \param g        dL/dy, of the same shape; rows may share elements
/// \param table    what the forward rotation read
/// \param pairing  the pairing of the forward rotation, with its window; elements outside the
///                 window add nothing
/// \param options  what to compute, whether y or x is given, and where to run
/// \param memory   an earlier result, moved here, whose memory is used again: fresh pages for the
///                 sums of a large table cost as much as a tenth of the pass. It stays as it is
///                 where something is refused
/// \returns        Gradients of double for float, double, half and bfloat16, of the scalar itself
///                 for others
///
/// - Errors:   eigen_rope::Error before anything is written: where rotate() throws it for windows,
///             shapes and tables that do not fit; for null pointers; from the output, for sums of a
///             full-width table, and for Wanted::table where the table has a zero magnitude.
/// - Threads:  only reads y, g and the table, so several threads may pass the same ones.
/// - Error:    sums of n products of float and 16-bit numbers at most n 2^-53 of the sum of their
///             magnitudes, and 2^-23 more of d angle from y alone, as much as the rounding of y and
///             g to float already costs; of doubles 2^-53 + n^2 2^-106 of it. Gradients that use
///             the table carry its entries' rounding once more (d cos, d sin from y; d angle and d
///             log m from x).
/// - Cost:     one pass over y (or x) and g.
///
/// \see gradients_to(), gradients_inplace(), rate_gradients(), \ref gradients "Gradients"
template <class Y, class G, class Table>
Gradients<detail::SumOf<const Y&, const G&>> gradients(
    const Y& y, const G& g, const Table& table, Pairing pairing,
    const GradientOptions& options = {},
    Gradients<detail::SumOf<const Y&, const G&>>&& memory = {}) {
  const auto& entries = detail::view_of(table);
  const auto u_rows = detail::rows_of(y, pairing);
  const auto g_rows = detail::rows_of(g, pairing);
  detail::along_feature_axis(y, entries.width, entries.outer, pairing, [&] {
    detail::backward(memory, nullptr, u_rows, g_rows, entries, pairing, options);
  });
  return std::move(memory);
}

/// Writes dL/dx to `dx` and returns the other gradients, from one pass over memory.
///
///     dx_a = c_A g_A + s_B g_B     dx_b = c_B g_B - s_A g_A
///
/// With Wanted::nothing dx is all that is computed.
///
/// \code{.cpp}
/// er::GradientOptions options;
/// options.wanted = er::Wanted::angle | er::Wanted::log_magnitude;
/// options.device = pool;
/// const auto d = er::gradients_to(dx, y, dy, cache, er::split_half, options);
/// \endcode
///
/// \param dx       a tensor, map or view of y's shape with g's scalar; elements outside the window
///                 get those of g
/// \param y        the rotation's output, or its input x with GradientsFrom::input
/// \param g        dL/dy, of the same shape
/// \param table    what the forward rotation read
/// \param pairing  the pairing of the forward rotation
/// \param options  what to compute besides dx, whether y or x is given, and where to run
/// \param memory   an earlier result, moved here, whose memory is used again
/// \returns        what gradients() returns
///
/// - Errors:   eigen_rope::Error before anything is written: where gradients() throws it, for a dx
///             of another shape, and for overlap.
/// - Aliasing: dx's rows may be those of g or of y (y is read first), and must not overlap g, y or
///             the table otherwise.
/// - Error:    that of gradients() for the sums, and that of rotate() for dx.
/// - Cost:     one pass over y (or x), g and dx.
///
/// \see rotate_backward() for dx alone, \ref gradients "Gradients"
template <class Dx, class Y, class G, class Table>
Gradients<detail::SumOf<const Y&, const G&>> gradients_to(
    Dx&& dx, const Y& y, const G& g, const Table& table, Pairing pairing,
    const GradientOptions& options = {},
    Gradients<detail::SumOf<const Y&, const G&>>&& memory = {}) {
  const auto& entries = detail::view_of(table);
  const auto u_rows = detail::rows_of(y, pairing);
  const auto g_rows = detail::rows_of(g, pairing);
  const auto dx_rows = detail::written_rows_of(std::forward<Dx>(dx), pairing);
  constexpr bool same_scalar = std::is_same_v<detail::RowScalar<Dx>, detail::RowScalar<const G&>>;
  static_assert(same_scalar || !detail::has_rows<Dx> || !detail::has_rows<const G&>,
                "[rope] dx must have g's scalar");
  if constexpr (same_scalar) {
    detail::along_feature_axis(y, entries.width, entries.outer, pairing, [&] {
      detail::backward(memory, &dx_rows, u_rows, g_rows, entries, pairing, options);
    });
  }
  return std::move(memory);
}

/// Overwrites g with dL/dx and returns the other gradients, from one pass over memory.
///
/// \code{.cpp}
/// er::rotate_inplace(q, cache, er::split_half);  // the forward pass; only its output is kept
/// const auto d = er::gradients_inplace(q, dy, cache, er::split_half);  // dy becomes dL/dx
/// const std::vector<double> of_rates = er::rate_gradients(d, positions);
/// \endcode
///
/// \param y        the rotation's output, or its input x with GradientsFrom::input
/// \param g        dL/dy, of the same shape; becomes dL/dx
/// \param table    what the forward rotation read
/// \param pairing  the pairing of the forward rotation
/// \param options  what to compute besides dx, whether y or x is given, and where to run
/// \param memory   an earlier result, moved here, whose memory is used again
/// \returns        what gradients() returns
///
/// Errors, accuracy and cost are those of gradients_to().
///
/// - Aliasing: g's rows may be those of y, and must not overlap y or the table otherwise.
///
/// \see gradients_to(), \ref gradients "Gradients"
template <class Y, class G, class Table>
Gradients<detail::SumOf<const Y&, G>> gradients_inplace(
    const Y& y, G&& g, const Table& table, Pairing pairing, const GradientOptions& options = {},
    Gradients<detail::SumOf<const Y&, G>>&& memory = {}) {
  const auto& entries = detail::view_of(table);
  const auto u_rows = detail::rows_of(y, pairing);
  const auto g_rows = detail::written_rows_of(std::forward<G>(g), pairing);
  detail::along_feature_axis(y, entries.width, entries.outer, pairing, [&] {
    detail::backward(memory, &g_rows, u_rows, g_rows, entries, pairing, options);
  });
  return std::move(memory);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
