// SPDX-License-Identifier: Apache-2.0
//
// The rotation of tokens whose places are listed, of several tensors in one call.
//
//   eigen_rope::rotate_tokens({TokenRows{q}, TokenRows{k_pages, k, slots}}, table, ids,
//   split_half);
//
//   token t of x   [D, heads, tokens]     is rotated by row ids[t] of the table
//   and written to [D, heads, slots]      at slot slots[t], or nowhere where that is -1
//
// The table may be that of all positions a model has: its rows are read where they lie. The slots
// may be those of a paged key cache. Everything is checked before the first element is written.
// This header does not need Eigen's Tensor module.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <type_traits>

#include "eigen_rope/choices/direction.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "eigen_rope/rows/detail/placed_rotation.hpp"
#include "eigen_rope/rows/detail/token_places.hpp"
#include "eigen_rope/rows/index_list.hpp"
#include "eigen_rope/rows/strided_view.hpp"
#include "eigen_rope/rows/table.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// The rows of one tensor in a rotate_tokens() call: where they are read, and where written.
///
/// Axis 0 of a view holds the features, axis 1 the heads. All axes behind them count tokens, or
/// slots, the fastest one first: pages of [D, heads, page size, pages] have page size times pages
/// slots, and slot s lies at s % page size of page s / page size. Strides may be any, so heads may
/// also lie outside tokens in memory.
///
/// \code{.cpp}
/// std::vector<float> keys(D * heads * tokens), pages(D * heads * 16 * 64);
/// const auto k = er::strided_view(keys.data(), {D, heads, tokens});
/// const auto k_pages = er::strided_view(pages.data(), {D, heads, 16, 64});
/// const std::vector<std::int64_t> slots(tokens, -1);
/// const er::TokenRows to_pages{k_pages, k, slots};
/// const er::TokenRows in_place{k};
/// \endcode
///
/// \see rotate_tokens(), StridedView, strided_view()
template <class Scalar>
struct TokenRows {
  StridedView<Scalar> to;          ///< What is written: [D, heads, slots...].
  StridedView<const Scalar> from;  ///< What is read: [D, heads, tokens...].
  /// The slot of each token, or -1 for one that is not written. Without a list, token t has slot t.
  IndexList slots{};

  /// Makes a tensor without rows, which must still be set.
  TokenRows() = default;
  /// Makes a tensor that is rotated in place.
  explicit TokenRows(const StridedView<Scalar>& rows) : TokenRows(rows, rows) {}
  /// Makes a tensor whose rows are rotated and written elsewhere.
  ///
  /// \param written  where they go
  /// \param read     the rows to rotate, a view of Scalar or const Scalar
  /// \param listed   the slot of each token; the integers must outlive this object
  template <class X>
  TokenRows(const StridedView<Scalar>& written, const StridedView<X>& read,
            const IndexList& listed = {})
      : to(written),
        from{read.data, read.shape, read.strides, read.feature_stride},
        slots(listed) {}
};

namespace detail {

/// A table whose rows are `step` entries apart. Its bytes must have been counted.
template <class Scalar>
struct TokenTable {
  const Scalar* cos;
  const Scalar* sin;
  Index width;
  Index rows;
  Index step;
  Determinants determinants;
};

template <class Scalar>
TokenTable<Scalar> token_table_of(const TableView<Scalar>& table) {
  (void)checked_table_size(table);
  const Index apart = rows_inside(table.outer, table.feature_axis);
  if (apart != 1) {
    fail("the table of tokens must have the entries of a row next to each other",
         std::to_string(apart) + " apart");
  }
  return {table.cos, table.sin, table.width, table.outer.size(), table.width, table.determinants};
}

/// One tensor's rotation by tokens.
template <class Scalar, class TableScalar>
class TokenRotation {
 public:
  /// Of what check_tokens() has let pass, and not empty.
  TokenRotation(const TokenRows<Scalar>& tensor, const TokenTable<TableScalar>& table,
                const IndexList& ids, const Pairing& pairing, Direction direction)
      : tensor_(tensor),
        table_(table),
        ids_(ids),
        one_row_(ids.empty() && table.rows == 1),
        from_(tensor.from.shape, tensor.from.strides),
        to_(tensor.to.shape, tensor.to.strides) {
    rotation_.plan = make_row_plan(tensor.from.shape[0], table.width, pairing, direction);
    rotation_.block.features = {tensor.from.feature_stride, tensor.to.feature_stride, 1};
  }

  /// Tokens first..last-1 of a call that reads and writes so many bytes, as many tokens together as
  /// lie evenly.
  void rotate(Index first, Index last, double bytes) {
    stores_ = stores_for(tensor_.from.data, tensor_.to.data, bytes);
    RowPlace next;
    bool found = find_next(first, last, next);
    while (found) {
      const RowPlace place = next;
      RowPlace before = place;
      RowSteps tokens{1, 0, 0, 0};
      while ((found = find_next(first, last, next))) {
        const RowSteps apart{2, next.x - before.x, next.y - before.y, next.table - before.table};
        if (tokens.count == 1) tokens = {1, apart.x, apart.y, apart.table};
        if (apart.x != tokens.x || apart.y != tokens.y || apart.table != tokens.table) break;
        before = next;
        ++tokens.count;
      }
      if (found) ask_for_entries(next);
      rotate_even(place, tokens);
    }
    if (stores_ == Stores::streaming) flush_streamed_rows();
  }

 private:
  /// Where the first token from `token` on lies that has a slot; `token` becomes the one behind it.
  bool find_next(Index& token, Index last, RowPlace& place) const {
    while (token < last) {
      const Index at = token++;
      const Index slot = tensor_.slots.empty() ? at : tensor_.slots[at];
      if (slot < 0) continue;
      const Index row = one_row_ ? 0 : ids_.empty() ? at : ids_[at];
      place = {from_.place(at), to_.place(slot), row * table_.step};
      return true;
    }
    return false;
  }

  /// Asks for the table row of a later token: rows in any order show the processor no stream.
  /// Always inline, as GCC drops calls of functions that do nothing else.
  EIGEN_ALWAYS_INLINE void ask_for_entries([[maybe_unused]] const RowPlace& token) const {
#ifdef __GNUC__
    constexpr auto line = (std::max)(Index{1}, 64 / static_cast<Index>(sizeof(TableScalar)));
    for (Index entry = token.table; entry < token.table + table_.width; entry += line) {
      __builtin_prefetch(table_.cos + entry);
      __builtin_prefetch(table_.sin + entry);
    }
#endif
  }

  void rotate_even(const RowPlace& place, const RowSteps& tokens) {
    auto& block = rotation_.block;
    block.x = tensor_.from.data + place.x;
    block.y = tensor_.to.data + place.y;
    block.cos = table_.cos + place.table;
    block.sin = table_.sin + place.table;
    const RowSteps heads{tensor_.from.shape[1], tensor_.from.strides[0], tensor_.to.strides[0], 0};
    if (block.features.follow_each_other()) {
      const bool tokens_inside =
          heads.count == 1 || (std::abs(tokens.x) < std::abs(heads.x) &&
                               std::abs(tokens.y) < std::abs(heads.y) && tokens.count > 1);
      return rotate_rows(rotation_.plan,
                         RowBlock<Scalar, TableScalar>{
                             block.x, block.y, block.cos, block.sin, tokens_inside ? tokens : heads,
                             tokens_inside ? heads : tokens, stores_, Fence::of_caller});
    }
    const std::array<Index, 2> extents{heads.count, tokens.count};
    const std::array<Index, 2> x{heads.x, tokens.x};
    const std::array<Index, 2> y{heads.y, tokens.y};
    const std::array<Index, 2> entries{0, tokens.table};
    fill_lane_walk(block.rows, 2, extents.data(), x.data(), y.data(), entries.data());
    block.rows.stores = stores_;
    rotation_.rows(0, block.rows.rows);
  }

  const TokenRows<Scalar>& tensor_;
  const TokenTable<TableScalar>& table_;
  const IndexList& ids_;
  bool one_row_;
  TokenAxes from_;
  TokenAxes to_;
  PlacedRotation<Scalar, TableScalar, Scalar> rotation_;
  Stores stores_ = Stores::cached;
};

/// Throws where rotate_tokens() does for one tensor by itself.
template <class Scalar, class TableScalar>
void check_tokens(const TokenRows<Scalar>& tensor, const TokenTable<TableScalar>& table,
                  const Pairing& pairing, Direction direction, Index tokens) {
  const StridedView<Scalar>& to = tensor.to;
  const StridedView<const Scalar>& from = tensor.from;
  const Index own_tokens = tokens_of(from.shape);
  const Index slots = tokens_of(to.shape);
  if (from.shape[0] != to.shape[0] || from.shape[1] != to.shape[1]) {
    fail("the destination must have x's features and heads " +
             Shape{from.shape[0], from.shape[1]}.text(),
         Shape{to.shape[0], to.shape[1]}.text());
  }
  check_strides(to, SharedElements::refused);
  check_strides(from, SharedElements::allowed);
  if (own_tokens != tokens) {
    fail("all tensors of a call must have the same number of tokens, " + std::to_string(tokens),
         static_cast<std::int64_t>(own_tokens));
  }
  if (!tensor.slots.empty()) {
    check_slots(tensor.slots, tokens, slots);
  } else if (slots != tokens) {
    fail("the destination must have one slot for each of the " + std::to_string(tokens) +
             " tokens where no list says which slot each token has",
         static_cast<std::int64_t>(slots));
  }
  const RowPlan plan = make_row_plan(from.shape[0], table.width, pairing, direction);
  if (direction == Direction::inverse) {
    // Rows of this width are as far apart as those of the table.
    require_invertible(plan, TableView<TableScalar>{table.cos, table.sin, table.step,
                                                    Shape{table.rows}, table.determinants});
  }
  if (from.shape.size() == 0) return;
  if (from.data == nullptr || to.data == nullptr)
    fail("a strided view must have data, got a null pointer");
  (void)stretch_of(from);
  if (table.rows == 0) return;
  const Stretch written = stretch_of(to);
  const Index entries = (table.rows - 1) * table.step + table.width;
  for (const TableScalar* part : {table.cos, table.sin}) {
    if (overlap(stretch_of(part, entries), written))
      fail("the destination must not overlap the table");
  }
}

/// Throws where one of the tensors is written where another one, or it itself, is read or written.
template <class Scalar>
void refuse_token_overlap(const TokenRows<Scalar>& written, const TokenRows<Scalar>& other) {
  if (written.to.shape.size() == 0 || other.from.shape.size() == 0) return;
  const Footprint to = footprint_of(written.to);
  const bool itself = &written == &other;
  const bool in_place = itself && written.slots.empty() && same_rows(written.from, written.to) &&
                        written.from.shape == written.to.shape;
  if (!in_place && may_share(to, footprint_of(other.from))) {
    fail(itself ? "x and the destination must be the same rows or not overlap at all (distance in "
                  "bytes)"
                : "a destination must not overlap another tensor of the call (distance in bytes)",
         static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(written.to.data) -
                                   reinterpret_cast<std::uintptr_t>(other.from.data)));
  }
  if (!itself && may_share(to, footprint_of(other.to))) {
    fail("the destinations of a call must not overlap (distance in bytes)",
         static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(written.to.data) -
                                   reinterpret_cast<std::uintptr_t>(other.to.data)));
  }
}

template <class Scalar, class TableScalar>
void rotate_token_rows(const TokenRows<Scalar>* tensors, const TokenRows<Scalar>* end,
                       const TokenTable<TableScalar>& table, const IndexList& ids,
                       const Pairing& pairing, Direction direction, const Device& device) {
  if (tensors == end) return;
  if (pairing.axis()) {
    fail("the pairing of tokens must name no axis, as their features have a fixed one",
         static_cast<std::int64_t>(*pairing.axis()));
  }
  const Index tokens = tokens_of(tensors->from.shape);
  check_table_rows(ids, tokens, table.rows);
  for (const TokenRows<Scalar>* tensor = tensors; tensor != end; ++tensor)
    check_tokens(*tensor, table, pairing, direction, tokens);
  double bytes_per_token = 0;
  for (const TokenRows<Scalar>* written = tensors; written != end; ++written) {
    const Shape& shape = written->from.shape;
    bytes_per_token +=
        2.0 * sizeof(Scalar) * static_cast<double>(shape[0]) * static_cast<double>(shape[1]);
    for (const TokenRows<Scalar>* other = tensors; other != end; ++other)
      refuse_token_overlap(*written, *other);
  }
  const double all_bytes = bytes_per_token * static_cast<double>(tokens);
  device.for_range(tokens, bytes_per_token, [&](Index first, Index last) {
    for (const TokenRows<Scalar>* tensor = tensors; tensor != end; ++tensor) {
      if (tensor->from.shape.size() != 0)
        TokenRotation(*tensor, table, ids, pairing, direction).rotate(first, last, all_bytes);
    }
  });
}

}  // namespace detail

/// Rotates the tokens of one or more tensors, by the table rows and into the slots that lists name.
///
/// One call rotates q and k, which may have different numbers of heads, or writes k to a paged
/// cache on the way. Each row has the bits that rotate_to() gives it with that row of the table.
///
/// \code{.cpp}
/// // All positions of the model, made once: the table's rows are read by position id.
/// const er::Cache<float> all(frequencies, er::Positions::range(0, 4096));
/// const std::vector<std::int32_t> ids(tokens, 17);     // the position of each token
/// const std::vector<std::int64_t> slots(tokens, -1);  // where its key goes in the cache
/// std::vector<float> queries(D * 4 * tokens), keys(D * heads * tokens), pages(D * heads * 1024);
/// const auto q = er::strided_view(queries.data(), {D, 4, tokens});
/// const auto k = er::strided_view(keys.data(), {D, heads, tokens});
/// const auto k_pages = er::strided_view(pages.data(), {D, heads, 16, 64});  // 64 pages of 16
/// er::rotate_tokens({er::TokenRows{q}, er::TokenRows{k_pages, k, slots}}, all, ids,
///                   er::split_half);
/// \endcode
///
/// \param tensors    what to rotate, all of the same number of tokens; a list in braces
/// \param table      a Cache, a TableView or anything else with a view(); its rows count along its
///                   outer axes, the fastest first
/// \param ids        the table row that each token reads; {} where token t reads row t, or all read
///                   the only one
/// \param pairing    which elements form a pair, and the window of each row that is rotated. Views
///                   have their features on axis 0, so it must not name an axis
/// \param direction  forward, backward (the gradient) or inverse
/// \param device     Eigen's DefaultDevice or ThreadPoolDevice, or a Device; tokens are split among
///                   its threads, with the same result for any number of them
///
/// - Errors:   eigen_rope::Error, before anything is written, under the conditions of rotate_to()
///             for shapes, strides, data and the table; for a view without an axis of tokens; for
///             tensors of different numbers of tokens; unless a list has one integer for each
///             token; for a row that the table does not have; for a slot that the destination does
///             not have, other than -1; for a slot that two tokens have; without a list of slots,
///             for a destination with more or fewer slots than tokens; and if memory overlaps as
///             below.
/// - Aliasing: a tensor without slots may be rotated in place. Apart from that no destination may
///             overlap anything else that the call reads or writes. Views that lie side by side in
///             the rows of one buffer, such as q and k in fused projections, do not overlap.
/// - Cost:     one pass over the tensors, and O(tokens) for the lists. Nothing is allocated for up
///             to 256 tokens.
///
/// \see TokenRows, rotate_to(), \ref cookbook "Cookbook"
template <class Scalar, class Table>
void rotate_tokens(std::initializer_list<TokenRows<Scalar>> tensors, const Table& table,
                   const IndexList& ids, Pairing pairing, Direction direction = Direction::forward,
                   const Device& device = Device()) {
  const auto& entries = detail::view_of(table);
  using TableScalar = std::remove_const_t<std::remove_pointer_t<decltype(entries.cos)>>;
  static_assert(std::is_same_v<detail::ResultScalar<Scalar, TableScalar>, Scalar>,
                "[rope] the destination cannot hold the result's scalar");
  detail::rotate_token_rows(tensors.begin(), tensors.end(), detail::token_table_of(entries), ids,
                            pairing, direction, device);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
