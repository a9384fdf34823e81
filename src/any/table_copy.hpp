// SPDX-License-Identifier: Apache-2.0
//
// A table of any type as a TableView, copied where no TableView can say where its entries lie, and
// memory of the caller's where that is so.
// Private to the room.
#pragma once

#include <cstddef>

#include "any/places.hpp"
#include "eigen_rope/numbers/detail/uninitialised.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rows/detail/view_overlap.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// Whether rows of x, or of y, need the entries of a row next to each other.
enum class EntriesOfRow { next_to_each_other, anywhere };

inline bool must_copy(const AnyTablePlaces& places, EntriesOfRow wanted) {
  return !places.dense || (wanted == EntriesOfRow::next_to_each_other &&
                           rows_inside(places.outer, places.feature_axis) != 1);
}

/// The number of entries of cos, and of sin, that a copy has.
inline Index copied_entries(const AnyTablePlaces& places) {
  return checked_product("the number of entries in the table", places.width, places.outer.size());
}

/// Calls use(view) with a table that must not be copied.
template <class Entry, class Use>
void with_table_itself(const any::Table& table, const AnyTablePlaces& places, const Use& use) {
  use(TableView<Entry>{static_cast<const Entry*>(table.cos), static_cast<const Entry*>(table.sin),
                       places.width, places.outer, table.determinants, places.feature_axis});
}

/// Calls use(view) with a copy, whose entries lie next to each other. A small one is on the stack.
template <class Entry, class Use>
[[gnu::noinline]] void with_table_copy(const any::Table& table, const AnyTablePlaces& places,
                                       const Use& use) {
  constexpr std::size_t small_bytes = 8192;
  alignas(64) std::byte small[small_bytes];
  UninitialisedVector<Entry> large;
  const Index size = copied_entries(places);
  Index bytes = checked_product("the number of bytes in the table", size, 2 * sizeof(Entry));
  auto* cos = reinterpret_cast<Entry*>(small);
  if (static_cast<std::size_t>(bytes) > small_bytes) {
    large.resize(static_cast<std::size_t>(2 * size));
    cos = large.data();
  }
  Entry* sin = cos + size;
  if (size != 0)
    for_each_table_place(places, [&](Index row, Index place) {
      for (Index k = 0; k < places.width; ++k) {
        cos[row * places.width + k] =
            static_cast<const Entry*>(table.cos)[place + k * places.entry];
        sin[row * places.width + k] =
            static_cast<const Entry*>(table.sin)[place + k * places.entry];
      }
    });
  use(TableView<Entry>{cos, sin, places.width, places.outer, table.determinants, 0});
}

template <class Entry, class Use>
void with_table(const any::Table& table, const AnyTablePlaces& places, EntriesOfRow wanted,
                const Use& use) {
  if (!must_copy(places, wanted)) return with_table_itself<Entry>(table, places, use);
  with_table_copy<Entry>(table, places, use);
}

/// The memory of cos, or of sin. The table must not be empty.
inline Stretch stretch_of(const any::Table& table, const AnyTablePlaces& places, const void* part) {
  Shape rows{places.width};
  for (int axis = 0; axis < places.given.rank(); ++axis) rows.push_back(places.given[axis]);
  return stretch_of(part, size_of(table.type), span_of(rows, places.strides, places.entry));
}

inline void require_table_data(const any::Table& table) {
  if (table.cos == nullptr || table.sin == nullptr)
    fail("the table must have cos and sin, got a null pointer");
}

/// Throws where `destination` overlaps cos or sin. The table must not be empty.
inline void refuse_table_overlap(const any::Table& table, const AnyTablePlaces& places,
                                 const Stretch& destination) {
  for (const void* part : {table.cos, table.sin}) {
    if (overlap(stretch_of(table, places, part), destination))
      fail("the destination must not overlap the table");
  }
}

/// Writes the entries of a table, which lie in `from` as `entries` says, to their places.
template <class Entry>
void store_entries(const AnyTablePlaces& places, const EntryPlaces& entries, const Entry* from,
                   Entry* to) {
  for_each_table_place(places, [&](Index row, Index place) {
    for (Index k = 0; k < places.width; ++k)
      to[place + k * places.entry] = from[entries.at(row, k)];
  });
}

/// Memory for a table of which no view can say where its entries lie, dense; store() takes them
/// there.
template <class Entry>
class TableBuffer {
 public:
  TableBuffer(const AnyTablePlaces& places, const EntryPlaces& entries)
      : places_(places), entries_(entries), size_(copied_entries(places)) {
    checked_product("the number of bytes in the table", size_, 2 * sizeof(Entry));
    values_.resize(static_cast<std::size_t>(2 * size_));
  }

  Entry* cos() { return values_.data(); }
  Entry* sin() { return values_.data() + size_; }

  void store(const any::TableMemory& memory) {
    if (size_ == 0) return;
    store_entries<Entry>(places_, entries_, cos(), static_cast<Entry*>(memory.cos));
    store_entries<Entry>(places_, entries_, sin(), static_cast<Entry*>(memory.sin));
  }

 private:
  const AnyTablePlaces& places_;
  EntryPlaces entries_;
  Index size_;
  UninitialisedVector<Entry> values_;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
