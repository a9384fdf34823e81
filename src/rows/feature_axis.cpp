// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/rows/detail/feature_axis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "eigen_rope/choices/default_axis.hpp"
#include "eigen_rope/rows/detail/plan.hpp"
#include "numbers/joined.hpp"
#include "rows/fitting_layout.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {
namespace {

int index_of_place(int place, int rank, IndexOrder order) {
  return order == IndexOrder::fastest_first ? place : rank - 1 - place;
}

struct TableShape {
  Index width;
  const Shape& outer;
};

/// Whether x fits the table with its features at `place`.
bool fits_along(const Shape& x, const TableShape& table, const Pairing& pairing, int place) {
  const Shape moved = features_first(x, place);
  return fits_table(moved[0], moved.rank() - 1, moved.begin() + 1, table.width, table.outer,
                    pairing);
}

/// Places other than `place` along which x fits the table as it is.
std::vector<int> fitting_places(const Shape& x, const TableShape& table, const Pairing& pairing,
                                int place) {
  std::vector<int> places;
  for (int other = 0; other < x.rank(); ++other) {
    // An axis of one element holds no pair.
    if (other != place && x[other] >= 2 && fits_along(x, table, pairing, other))
      places.push_back(other);
  }
  return places;
}

std::string axes_text(const std::vector<int>& places, int rank, IndexOrder order,
                      const char* pattern) {
  std::vector<int> axes;
  axes.reserve(places.size());
  for (const int place : places) axes.push_back(index_of_place(place, rank, order));
  std::sort(axes.begin(), axes.end());
  std::vector<std::string> texts;
  texts.reserve(axes.size());
  for (const int axis : axes) texts.push_back(fmt::format(fmt::runtime(pattern), axis));
  return detail::joined(texts, " or ");
}

Shape shape_of(const AxisContext& context) {
  Shape shape;
  for (int axis = 0; axis < context.rank; ++axis) shape.push_back(context.extents[axis]);
  return shape;
}

bool has_axis(const AxisContext& context) {
  const std::optional<int> axis = context.pairing->axis();
  return !axis || (*axis >= 0 && *axis < context.rank);
}

/// Throws the error with an addition if x would fit along another axis, and not along its own.
void add_other_axes(const Error& error, const AxisContext& context) {
  if (context.rank == 0 || !has_axis(context)) return;
  const Shape x = shape_of(context);
  const TableShape table{context.table_width, *context.table_outer};
  const Pairing& pairing = *context.pairing;
  const IndexOrder order = context.order;
  const int place = feature_place(pairing, x.rank(), order);
  if (fits_along(x, table, pairing, place)) return;
  const std::vector<int> fitting = fitting_places(x, table, pairing, place);
  if (!fitting.empty()) {
    throw Error(fmt::format("{} (along {} this x fits the table: write {} behind the pairing)",
                            error.what(), axes_text(fitting, x.rank(), order, "axis {}"),
                            axes_text(fitting, x.rank(), order, ".along({})")));
  }
  for (int other = 0; other < x.rank(); ++other) {
    if (other == place || x[other] < 2 || !fits_row(x[other], table.width, pairing)) continue;
    const std::string layouts = names_of_fitting_layouts(
        features_behind(other), features_first(x, other).outer(), table.outer);
    if (layouts.empty()) continue;
    throw Error(fmt::format(
        "{0} (along axis {1} this x fits a cache made for {2}: write .along({1}) behind the "
        "pairing)",
        error.what(), index_of_place(other, x.rank(), order), layouts));
  }
}

}  // namespace

int checked_feature_place(int axis, int rank, IndexOrder order) {
  if (axis < 0 || axis >= rank) {
    fail(fmt::format("the axis that a pairing goes along must be one of the {} axes of x, "
                     "counted from 0",
                     rank),
         static_cast<std::int64_t>(axis));
  }
  return index_of_place(axis, rank, order);
}

Shape features_first(const Shape& shape, int place) {
  if (place == 0) return shape;
  Shape moved{shape[place]};
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis != place) moved.push_back(shape[axis]);
  }
  return moved;
}

void refuse_ambiguous_axis(const AxisContext& context) {
  if (default_axis() == DefaultAxis::fastest || context.pairing->axis()) return;
  const Shape x = shape_of(context);
  const std::vector<int> fitting =
      fitting_places(x, {context.table_width, *context.table_outer}, *context.pairing, 0);
  if (fitting.empty()) return;
  fail(fmt::format("the feature axis must be named where x fits the table along {} and along {}, "
                   "too: write .along(axis) behind the pairing",
                   axes_text({0}, x.rank(), context.order, "axis {}"),
                   axes_text(fitting, x.rank(), context.order, "axis {}")),
       "no axis");
}

void call_naming_other_axes(void (*check)(const void* argument), const void* argument,
                            const AxisContext& context) {
  try {
    check(argument);
  } catch (const Error& error) {
    add_other_axes(error, context);
    throw;
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
