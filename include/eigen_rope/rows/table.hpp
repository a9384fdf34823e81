// SPDX-License-Identifier: Apache-2.0
//
// The cosines and sines a rotation reads: two arrays of the same shape, not owned.
//
// One rule for shapes: a table has the rank of x; each outer axis equals x's or is 1 (broadcast);
// the feature axis holds one entry per pair (half width) or one per rotated element (full width, as
// Ascend's operator has them: the members of a pair may then differ). A full-width table in Hugging
// Face's form, cat(f, f), is right for split-half pairs only; Cache::from_halves makes one for
// every pairing. Missing outermost axes count as 1, so one table serves [D, H, S] and [D, H, S, B].
// cos and sin already carry the attention factor. Not a Cache, which owns such arrays and fills
// them from frequencies and positions.
#pragma once

#include <cmath>
#include <type_traits>
#include <utility>

#include "eigen_rope/numbers/detail/integral.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope {

namespace detail {

/// What is known of the determinants c_A c_B + s_A s_B of a table: whether rotate_inverse() must
/// look before it divides by them.
enum class Determinants { unknown, nonzero };

}  // namespace detail

/// Dense arrays cos and sin of width * outer.size() entries each, width fastest. The arrays must
/// outlive every expression made from the view.
///
/// - Threads:  any number of threads may read it.
template <class Scalar>
struct TableView {
  const Scalar* cos = nullptr;  ///< m cos of the angles.
  const Scalar* sin = nullptr;  ///< m sin of the angles.
  Index width = 0;              ///< Entries of a row: pairs, or rotated elements.
  /// Extents outside the feature axis, fastest first.
  Shape outer{};
  /// What rotate_inverse() may take for granted; caches set it.
  detail::Determinants determinants = detail::Determinants::unknown;

  /// Itself: wherever a table is read, anything with a view() will do.
  const TableView& view() const { return *this; }

  static_assert(!detail::is_whole<Scalar>,
                "[rope] a table must hold floating-point or differentiable numbers, not integers");
};

namespace detail {

template <class Table, class = void>
inline constexpr bool has_view = false;
template <class Table>
inline constexpr bool
    has_view<Table, std::void_t<decltype(std::declval<const Table&>().view().cos)>> = true;

/// The table of whatever is passed as one.
template <class Table>
decltype(auto) view_of(const Table& table) {
  static_assert(has_view<Table>,
                "[rope] a table must be a Cache, a TokenRow, a TableView (a GrowingCache's rows(), "
                "table_of(cos, sin)) or "
                "anything else with a view(); Frequencies and Positions make one: "
                "Cache<float>(frequencies, positions)");
  if constexpr (has_view<Table>) {
    return table.view();
  } else {
    return TableView<float>();
  }
}

/// What can be said of every table whose determinants are m^2, rounding aside, in any scalar.
inline Determinants determinants_for(double attention_factor) {
  const double size = std::abs(attention_factor);
  return size >= 0x1p-10 && size <= 0x1p+10 ? Determinants::nonzero : Determinants::unknown;
}

/// The number of entries of cos, and of sin.
///
/// - Errors:   eigen_rope::Error if it does not fit, or if there are entries and no data.
template <class Scalar>
Index checked_table_size(const TableView<Scalar>& table) {
  constexpr Index small = Index{1} << 31;
  const Index rows = table.outer.size();
  const bool fits = table.width < small && rows < small;
  const Index size = fits
                         ? table.width * rows
                         : checked_product("the number of entries in the table", table.width, rows);
  if (size != 0 && (table.cos == nullptr || table.sin == nullptr))
    fail("the table must have cos and sin, got a null pointer");
  return size;
}

}  // namespace detail
}  // namespace eigen_rope
