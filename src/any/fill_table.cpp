// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "any/places.hpp"
#include "any/table_copy.hpp"
#include "eigen_rope/any/any.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/tables/cache.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace {

template <class Entry>
void fill_with(const any::TableMemory& memory, const detail::AnyTablePlaces& places,
               const Frequencies& frequencies, const Positions& positions, const Layout& layout) {
  const detail::EntryPlaces made(places.width, places.outer, layout.feature_axis());
  const detail::EntryPlaces wanted(places.width, places.outer, places.feature_axis);
  if (places.dense && made.step() == wanted.step()) {
    return detail::fill_table(frequencies, positions, layout, static_cast<Entry*>(memory.cos),
                              static_cast<Entry*>(memory.sin));
  }
  detail::TableBuffer<Entry> buffer(places, made);
  detail::fill_table(frequencies, positions, layout, buffer.cos(), buffer.sin());
  buffer.store(memory);
}

}  // namespace

void any::fill_table(const TableMemory& memory, const Frequencies& frequencies,
                     const Positions& positions, const Layout& layout) {
  const detail::AnyTablePlaces places = detail::places_of(memory, detail::SharedElements::refused);
  const Shape outer = detail::table_outer(frequencies, positions, layout);
  if (!places.has_extents(frequencies.pairs(), outer)) {
    const auto text = [](Index width, const Shape& extents) {
      return "width " + std::to_string(width) + " and outer extents " + extents.text();
    };
    detail::fail("the memory must have the table's " + text(frequencies.pairs(), outer),
                 text(places.width, places.outer));
  }
  if (detail::copied_entries(places) == 0) return;
  if (memory.cos == nullptr || memory.sin == nullptr)
    detail::fail("the memory of a table must have cos and sin, got a null pointer");
  if (overlap(detail::stretch_of(memory, places, memory.cos),
              detail::stretch_of(memory, places, memory.sin)))
    detail::fail("cos and sin must not overlap");
  detail::with_scalar(memory.type, [&](auto tag) {
    fill_with<typename decltype(tag)::type>(memory, places, frequencies, positions, layout);
  });
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
