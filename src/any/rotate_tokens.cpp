// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/rotation/rotate_tokens.hpp"

#include <cstddef>
#include <initializer_list>

#include "any/places.hpp"
#include "any/rotate_tokens.hpp"
#include "any/table_copy.hpp"
#include "eigen_rope/any/any.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace {

using detail::AnyTablePlaces;

/// The distance of neighbouring rows, counted along all outer axes, or 0 if it is no even one.
Index row_distance(const AnyTablePlaces& places) {
  Index rows = 1;
  Index distance = places.width;
  if (places.width == 0 || places.given.size() == 0) return distance;  // strides may be anything
  for (int axis = 0; axis < places.given.rank(); ++axis) {
    const Index extent = places.given[axis];
    if (extent == 1) continue;
    const Index stride = places.strides[static_cast<std::size_t>(axis)];
    if (rows == 1) distance = stride;
    if (stride != distance * rows) return 0;
    rows *= extent;
  }
  return distance;
}

template <class Scalar, class Entry>
void rotate_with(const any::TokenRows* tensors, std::size_t count, const any::Table& table,
                 const IndexList& ids, const Pairing& pairing, Direction direction,
                 const Device& device) {
  detail::Few<TokenRows<Scalar>> rows(count);
  for (TokenRows<Scalar>& one : rows) {
    one = {detail::written_view<Scalar>(tensors->to), detail::read_view<Scalar>(tensors->from),
           tensors->slots};
    ++tensors;
  }
  const AnyTablePlaces places = detail::places_of(table, detail::SharedElements::allowed);
  if (detail::copied_entries(places) != 0) detail::require_table_data(table);
  const auto rotate = [&](const detail::TokenTable<Entry>& entries) {
    detail::rotate_token_rows<Scalar>(rows.begin(), rows.end(), entries, ids, pairing, direction,
                                      device);
  };
  const Index distance = row_distance(places);
  if (places.entry == 1 && distance >= places.width) {
    const Index reach = detail::checked_product("the number of entries in the table",
                                                places.given.size(), distance);
    detail::checked_product("the number of bytes of the table", reach, sizeof(Entry));
    return rotate({static_cast<const Entry*>(table.cos), static_cast<const Entry*>(table.sin),
                   places.width, places.given.size(), distance, table.determinants});
  }
  if (places.repeats())
    detail::fail("the rows of a table of tokens must not repeat, got a stride of 0");
  for (const TokenRows<Scalar>& one : rows) {
    check_strides(one.to, detail::SharedElements::refused);
    if (places.given.size() != 0 && places.width != 0)
      detail::refuse_table_overlap(table, places, detail::stretch_of(one.to));
  }
  detail::with_table_copy<Entry>(
      table, places, [&](const TableView<Entry>& copy) { rotate(detail::token_table_of(copy)); });
}

}  // namespace

void detail::rotate_tokens(const any::TokenRows* tensors, std::size_t count,
                           const any::Table& table, const IndexList& ids, const Pairing& pairing,
                           Direction direction, const Device& device) {
  if (count == 0) return;
  const ScalarType type = tensors->from.type;
  for (std::size_t i = 0; i < count; ++i) {
    const any::TokenRows& rows = tensors[i];
    require_type("each tensor", rows.from.type, "the first x", type);
    require_type("the destination", rows.to.type, "x", rows.from.type);
    if (rows.to.order != rows.from.order) fail("the destination must list its axes in x's order");
  }
  with_scalars("x", type, table.type, [&](auto scalar, auto entry) {
    rotate_with<typename decltype(scalar)::type, typename decltype(entry)::type>(
        tensors, count, table, ids, pairing, direction, device);
  });
}

void any::rotate_tokens(std::initializer_list<TokenRows> tensors, const Table& table,
                        const IndexList& ids, Pairing pairing, Direction direction,
                        const Device& device) {
  detail::rotate_tokens(tensors.begin(), tensors.size(), table, ids, pairing, direction, device);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
