// SPDX-License-Identifier: Apache-2.0

#include "any/dense_rotation.hpp"
#include "any/places.hpp"
#include "any/table_copy.hpp"
#include "eigen_rope/any/any.hpp"
#include "eigen_rope/choices/default_axis.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "eigen_rope/rows/detail/plan.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace {

using detail::AnyTablePlaces;
using detail::EntriesOfRow;
using detail::IndexOrder;

/// A call that a TableView of the table's own memory may not serve.
template <class Scalar>
struct Call {
  const StridedView<Scalar>& y;
  const StridedView<const Scalar>& x;
  const any::Table& table;
  const AnyTablePlaces& places;
  const Pairing& pairing;
  IndexOrder order;
};

/// Throws where rotate_to() does, for what the copy, or a smaller extent, would hide.
template <class Scalar>
void check_before_copy(const Call<Scalar>& call) {
  const AnyTablePlaces& places = call.places;
  detail::naming_other_axes(
      detail::axis_context(call.x.shape, places.width, places.given, call.pairing, call.order),
      [&] {
        const auto y = detail::features_first(call.y, call.pairing, call.order);
        const auto x = detail::features_first(call.x, call.pairing, call.order);
        detail::check_extents_and_strides(y, x);
        (void)detail::make_row_plan(x.shape[0], places.width, call.pairing, Direction::forward);
        const bool rows_in_pieces = x.feature_stride != 1 || y.feature_stride != 1;
        detail::check_table_broadcasts(x.shape.outer(), places.given,
                                       detail::features_behind(rows_in_pieces ? 1 : 0),
                                       detail::features_behind(places.feature_axis));
      });
  if (detail::copied_entries(places) == 0 || call.x.shape.size() == 0) return;
  detail::require_table_data(call.table);
  if (call.x.data == nullptr || call.y.data == nullptr)
    detail::fail("a strided view must have data, got a null pointer");
  detail::refuse_table_overlap(call.table, places, detail::stretch_of(call.y));
}

template <class Scalar, class Entry>
[[gnu::noinline]] void rotate_with_copy(const Call<Scalar>& call, EntriesOfRow wanted,
                                        Direction direction, const Device& device) {
  check_before_copy(call);
  if (call.x.shape.size() == 0) return;
  detail::with_table<Entry>(call.table, call.places, wanted, [&](const TableView<Entry>& table) {
    detail::rotate_views(call.y, call.x, table, call.pairing, direction, device, call.order);
  });
}

/// The distance of neighbours in a row.
template <class Scalar>
Index row_step(const StridedView<Scalar>& view, const Pairing& pairing, IndexOrder order) {
  const int place = detail::feature_place(pairing, view.shape.rank(), order);
  return place == 0 ? view.feature_stride : view.strides[static_cast<std::size_t>(place - 1)];
}

template <class Scalar, class Entry>
void rotate_with(const any::Tensor& y, const any::ConstTensor& x, const any::Table& table,
                 const Pairing& pairing, Direction direction, const Device& device) {
  detail::PlacedRotation<Scalar, Entry, Scalar> rotation;
  if (detail::make_dense_rotation(rotation, {y, x, table, pairing, direction}))
    return detail::rotate_placed(rotation, device);
  const StridedView<const Scalar> from = detail::read_view<Scalar>(x);
  const StridedView<Scalar> to =
      detail::lie_alike(y, x) ? StridedView<Scalar>{detail::checked_data<Scalar>(y), from.shape,
                                                    from.strides, from.feature_stride}
                              : detail::written_view<Scalar>(y);
  const IndexOrder order = detail::index_order(x.order);
  const AnyTablePlaces places = detail::places_of(table, detail::SharedElements::allowed);
  if (default_axis() != DefaultAxis::fastest) {
    detail::refuse_ambiguous_axis(
        detail::axis_context(from.shape, places.width, places.given, pairing, order));
  }
  const bool rows_in_pieces =
      row_step(from, pairing, order) != 1 || row_step(to, pairing, order) != 1;
  const EntriesOfRow wanted =
      rows_in_pieces ? EntriesOfRow::anywhere : EntriesOfRow::next_to_each_other;
  if (detail::must_copy(places, wanted) || places.repeats()) {
    return rotate_with_copy<Scalar, Entry>({to, from, table, places, pairing, order}, wanted,
                                           direction, device);
  }
  detail::with_table_itself<Entry>(table, places, [&](const TableView<Entry>& entries) {
    detail::rotate_views(to, from, entries, pairing, direction, device, order);
  });
}

}  // namespace

void any::rotate_to(const Tensor& y, const ConstTensor& x, const Table& table, Pairing pairing,
                    Direction direction, const Device& device) {
  detail::require_type("the destination", y.type, "x", x.type);
  detail::with_scalars("x", x.type, table.type, [&](auto scalar, auto entry) {
    rotate_with<typename decltype(scalar)::type, typename decltype(entry)::type>(
        y, x, table, pairing, direction, device);
  });
}

void any::rotate_inplace(const Tensor& x, const Table& table, Pairing pairing, Direction direction,
                         const Device& device) {
  rotate_to(x, x, table, pairing, direction, device);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
