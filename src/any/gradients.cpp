// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/gradients/gradients.hpp"

#include <string>
#include <utility>

#include "any/places.hpp"
#include "any/table_copy.hpp"
#include "eigen_rope/any/any.hpp"
#include "eigen_rope/choices/default_axis.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rows/detail/plan.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace {

using detail::AnyTablePlaces;
using detail::EntriesOfRow;
using detail::IndexOrder;
using detail::Stretch;

/// Calls compute(), with other axes named in its errors.
template <class Scalar, class Compute>
void along_axis(const StridedView<const Scalar>& rows, Index table_width, const Shape& table_outer,
                const Pairing& pairing, IndexOrder order, const Compute& compute) {
  const detail::AxisContext context =
      detail::axis_context(rows.shape, table_width, table_outer, pairing, order);
  if (default_axis() != DefaultAxis::fastest) detail::refuse_ambiguous_axis(context);
  detail::naming_other_axes(context, compute);
}

template <class Scalar, class Entry>
void backward_with(Gradients<double>& result, const any::Tensor* dx, const any::ConstTensor& y,
                   const any::ConstTensor& g, const any::Table& table, const Pairing& pairing,
                   const GradientOptions& options) {
  const IndexOrder order = detail::index_order(y.order);
  const auto read = detail::read_view<Scalar>(y);
  const auto u_rows = detail::features_first(read, pairing, order);
  const auto g_rows = detail::features_first(detail::read_view<Scalar>(g), pairing, order);
  StridedView<Scalar> dx_rows;
  if (dx != nullptr)
    dx_rows = detail::features_first(detail::written_view<Scalar>(*dx), pairing, order);
  const StridedView<Scalar>* const to = dx == nullptr ? nullptr : &dx_rows;
  const AnyTablePlaces places = detail::places_of(table, detail::SharedElements::allowed);
  along_axis(read, places.width, places.given, pairing, order, [&] {
    if (!places.dense || places.repeats()) {
      // What the copy, or a smaller extent, would hide.
      (void)detail::make_backward_pass(options.from, u_rows, g_rows, to, places.width, places.given,
                                       pairing, places.feature_axis);
      if (detail::copied_entries(places) != 0) {
        detail::require_table_data(table);
        if (to != nullptr) detail::refuse_table_overlap(table, places, detail::stretch_of(*to));
      }
    }
    detail::with_table<Entry>(
        table, places, EntriesOfRow::anywhere, [&](const TableView<Entry>& entries) {
          detail::backward(result, to, u_rows, g_rows, entries, pairing, options);
        });
  });
}

Gradients<double> backward(const any::Tensor* dx, const any::ConstTensor& y,
                           const any::ConstTensor& g, const any::Table& table,
                           const Pairing& pairing, const GradientOptions& options,
                           Gradients<double>&& memory) {
  const char* const of = options.from == GradientsFrom::input ? "x" : "y";
  detail::require_type("g", g.type, of, y.type);
  if (dx != nullptr) detail::require_type("dx", dx->type, of, y.type);
  detail::with_scalars(of, y.type, table.type, [&](auto scalar, auto entry) {
    backward_with<typename decltype(scalar)::type, typename decltype(entry)::type>(
        memory, dx, y, g, table, pairing, options);
  });
  return std::move(memory);
}

template <class Scalar, class Sum>
void table_gradient_with(const any::TableMemory& gradient, const any::ConstTensor& x,
                         const any::ConstTensor& g, const Pairing& pairing, const Device& device) {
  const IndexOrder order = detail::index_order(x.order);
  const auto read = detail::read_view<Scalar>(x);
  const auto x_rows = detail::features_first(read, pairing, order);
  const auto g_rows = detail::features_first(detail::read_view<Scalar>(g), pairing, order);
  const AnyTablePlaces places = detail::places_of(gradient, detail::SharedElements::refused);
  const auto compute = [&](const TableGradient<Sum>& sums) {
    detail::table_gradient_of_rows(sums, x_rows, g_rows, pairing, device, [&](const auto& check) {
      along_axis(read, places.width, places.given, pairing, order, check);
    });
  };
  if (places.dense) {
    return compute({static_cast<Sum*>(gradient.cos), static_cast<Sum*>(gradient.sin), places.width,
                    places.outer, places.feature_axis});
  }
  along_axis(read, places.width, places.given, pairing, order, [&] {
    (void)detail::make_backward_pass<const Scalar, const Scalar>(
        GradientsFrom::input, x_rows, g_rows, nullptr, places.width, places.given, pairing, 0);
  });
  if (gradient.cos == nullptr || gradient.sin == nullptr)
    detail::fail("the table's gradient must have data, got a null pointer");
  const Stretch cos = detail::stretch_of(gradient, places, gradient.cos);
  const Stretch sin = detail::stretch_of(gradient, places, gradient.sin);
  for (const Stretch& part : {cos, sin}) {
    if (overlap(part, detail::stretch_of(x_rows)) || overlap(part, detail::stretch_of(g_rows)))
      detail::fail("the table's gradient must not overlap x or g");
  }
  if (overlap(cos, sin)) detail::fail("the gradients of cos and sin must not overlap");
  detail::TableBuffer<Sum> buffer(places, {places.width, places.outer, 0});
  compute({buffer.cos(), buffer.sin(), places.width, places.outer, 0});
  buffer.store(gradient);
}

}  // namespace

Gradients<double> any::gradients(const ConstTensor& y, const ConstTensor& g, const Table& table,
                                 Pairing pairing, const GradientOptions& options,
                                 Gradients<double>&& memory) {
  return backward(nullptr, y, g, table, pairing, options, std::move(memory));
}

Gradients<double> any::gradients_to(const Tensor& dx, const ConstTensor& y, const ConstTensor& g,
                                    const Table& table, Pairing pairing,
                                    const GradientOptions& options, Gradients<double>&& memory) {
  return backward(&dx, y, g, table, pairing, options, std::move(memory));
}

void any::table_gradient(const TableMemory& gradient, const ConstTensor& x, const ConstTensor& g,
                         Pairing pairing, const Device& device) {
  detail::require_type("g", g.type, "x", x.type);
  detail::with_scalar(x.type, [&](auto tag) {
    using Scalar = typename decltype(tag)::type;
    if (gradient.type == x.type)
      return table_gradient_with<Scalar, Scalar>(gradient, x, g, pairing, device);
    if (gradient.type == ScalarType::f64)
      return table_gradient_with<Scalar, double>(gradient, x, g, pairing, device);
    detail::fail(
        std::string("the table's gradient must have x's type ") + name_of(x.type) + " or f64",
        name_of(gradient.type));
  });
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
