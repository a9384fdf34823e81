// SPDX-License-Identifier: Apache-2.0
//
// Which axis of x holds the features, and what to say where another one is meant.
//
// Users count axes in the order of x's indices. Here they are counted from the fastest one, as
// shapes are: axis `place` of a Shape. A shape with its features moved to the front is what the
// rules for tables speak of.
#pragma once

#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"
#include "eigen_rope/rows/detail/walk.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// Whether the first index of x is that of its fastest axis (ColMajor, views) or of its slowest
/// one.
enum class IndexOrder { fastest_first, slowest_first };

/// The place of the feature axis among `rank` axes.
///
/// - Errors:   eigen_rope::Error for an axis outside x.
EIGEN_ROPE_API int checked_feature_place(int axis, int rank, IndexOrder order);
inline int feature_place(const Pairing& pairing, int rank, IndexOrder order) {
  return pairing.axis() ? checked_feature_place(*pairing.axis(), rank, order) : 0;
}

/// The extents with axis `place` moved to the front.
EIGEN_ROPE_API Shape features_first(const Shape& shape, int place);

/// What x and a table look like, for messages.
struct AxisContext {
  const Index* extents;  ///< Of x, the fastest axis first.
  int rank;
  Index table_width;
  const Shape* table_outer;
  const Pairing* pairing;
  IndexOrder order;
};

/// Throws if the pairing names no axis, set_default_axis() wants one, and x fits along another axis
/// than the fastest one, too.
EIGEN_ROPE_API void refuse_ambiguous_axis(const AxisContext& context);

/// Calls check(argument). Where it throws because x does not fit the table along its feature axis,
/// and would along another, the error ends with " (along axis 2 this x fits the table: write
/// .along(2) behind the pairing)". Compiled, since a user's file may be compiled without
/// exceptions.
EIGEN_ROPE_API void call_naming_other_axes(void (*check)(const void* argument),
                                           const void* argument, const AxisContext& context);

/// Where x fits along its fastest axis, no error can name another one: one token feels the call.
template <class Check>
void naming_other_axes(const AxisContext& context, const Check& check) {
  if (context.rank > 0 && !context.pairing->axis() &&
      fits_table(context.extents[0], context.rank - 1, context.extents + 1, context.table_width,
                 *context.table_outer, *context.pairing))
    return check();
  call_naming_other_axes([](const void* argument) { (*static_cast<const Check*>(argument))(); },
                         &check, context);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
