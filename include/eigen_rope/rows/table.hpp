// SPDX-License-Identifier: Apache-2.0
//
// The table that a rotation reads: cosines and sines in two arrays of the same shape.
//
// One rule holds for shapes. A table has the rank of x, and missing outermost axes count as 1, so
// that one table serves [D, H, S] and [D, H, S, B]. Each outer axis has x's extent or 1, which
// broadcasts. The feature axis has one entry per pair (half width) or one per rotated element (full
// width, the form of Ascend's operator, in which the members of a pair may have different entries).
// Entries of a row lie next to each other, or, where x has its features on a slower axis, behind
// the outer axes that are faster. A table of the first kind serves features on any axis.
//
// Hugging Face's full-width form, cat(f, f), is right for split-half pairs only; Cache::from_halves
// turns it into a table for every pairing. cos and sin already carry the attention factor m. The
// view does not own its arrays; Cache owns such arrays and fills them from frequencies and
// positions.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "eigen_rope/numbers/detail/integral.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

namespace detail {

/// What is known of the determinants c_A c_B + s_A s_B of a table. Where it is nothing,
/// rotate_inverse() must look for zeros before it divides by them.
enum class Determinants { unknown, nonzero };

}  // namespace detail

/// A view of the cosines and sines that a rotation reads, which it does not own.
///
///     cos[k, ...] = m cos(t_k)     sin[k, ...] = m sin(t_k)
///
/// Both arrays are dense, have width * outer.size() entries, and must outlive every expression made
/// from the view. The width is fastest, or slower than the first `feature_axis` outer axes. The
/// rotations take as a table anything with a member function view() that returns one of these.
///
/// \code{.cpp}
/// std::vector<float> cosines(D / 2, 0.6f), sines(D / 2, 0.8f);  // one row, for all tokens
/// er::TableView<float> table;
/// table.cos = cosines.data();
/// table.sin = sines.data();
/// table.width = D / 2;
/// y = er::rotate(x, table, er::split_half);
/// \endcode
///
/// \tparam Scalar  the entries' type: a floating-point or a differentiable one
///
/// - Threads:  any number of threads may read it.
///
/// \see Cache, GrowingCache, table_of()
template <class Scalar>
struct TableView {
  const Scalar* cos = nullptr;  ///< The cosines of the angles times the attention factor m.
  const Scalar* sin = nullptr;  ///< The sines of the angles times m; as many as cosines.
  /// The number of entries in a row: that of the pairs, or that of the rotated elements.
  Index width = 0;
  /// The extents outside the feature axis, fastest first, each x's or 1; none for a single row.
  Shape outer{};
  /// Whether c_A c_B + s_A s_B is known not to be 0 anywhere. Caches set it; where it is unknown,
  /// rotate_inverse() reads the table first to find out.
  detail::Determinants determinants = detail::Determinants::unknown;
  /// How many outer axes are faster than the entries of a row, at most all of them; 0 where these
  /// lie next to each other.
  int feature_axis = 0;

  /// Returns this view itself, as every class that can stand for a table does.
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

/// How many rows of a table lie between the entries of one: neighbours of a row's entries are so
/// far apart.
inline Index rows_inside(const Shape& outer, int feature_axis) {
  Index rows = 1;
  for (int axis = 0; axis < feature_axis; ++axis) rows *= outer[axis];
  return rows;
}

/// Where the entries of a table's rows lie, in elements from the first.
class EntryPlaces {
 public:
  EntryPlaces(Index width, const Shape& outer, int feature_axis)
      : width_(width), inside_(rows_inside(outer, feature_axis)) {}
  template <class Scalar>
  explicit EntryPlaces(const TableView<Scalar>& table)
      : EntryPlaces(table.width, table.outer, table.feature_axis) {}

  /// Of rows counted along the outer axes, fastest first.
  Index at(Index row, Index entry) const {
    if (inside_ == 1) return row * width_ + entry;
    return (row / inside_ * width_ + entry) * inside_ + row % inside_;
  }
  /// The distance of a row's neighbouring entries.
  Index step() const { return inside_; }

 private:
  Index width_;
  Index inside_;
};

/// Throws eigen_rope::Error unless a table with these outer axes can have its entries behind
/// `feature_axis` of them.
inline void check_feature_axis(const Shape& outer, int feature_axis) {
  if (feature_axis >= 0 && feature_axis <= outer.rank()) return;
  fail("the table's feature axis must be one of its " + std::to_string(outer.rank() + 1) +
           " axes, counted from 0",
       static_cast<std::int64_t>(feature_axis));
}

/// The number of entries of cos, and of sin.
///
/// - Errors:   eigen_rope::Error if it or its bytes do not fit, if there are entries and no data,
///             or if the feature axis is none of the table's.
template <class Scalar>
Index checked_table_size(const TableView<Scalar>& table) {
  check_feature_axis(table.outer, table.feature_axis);
  const Index size =
      checked_product("the number of entries in the table", table.width, table.outer.size());
  checked_product("the number of bytes of the table", size, sizeof(Scalar));
  if (size != 0 && (table.cos == nullptr || table.sin == nullptr))
    fail("the table must have cos and sin, got a null pointer");
  return size;
}

}  // namespace detail
}  // namespace eigen_rope::EIGEN_ROPE_ABI
