// SPDX-License-Identifier: Apache-2.0
//
// Which Layout a cache should have been made with, for the message about a table that does not fit
// x.
//
// Seen from the extents alone: that of a cache with one sequence is the number of tokens on the
// token axis and 1 on all others.
#pragma once

#include <string>

#include "eigen_rope/numbers/shape.hpp"
#include "eigen_rope/rows/detail/walk.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// " (a cache made for Layout::bnsd() instead of Layout::bsnd() fits this x)", or nothing if no
/// named Layout fits. Extents of several sequences may be those of two layouts, with tokens and
/// sequences exchanged; then the change from either is named.
/// Layouts are those with the features where x and the table have them.
std::string fitting_layouts(const Shape& x_outer, const Shape& table_outer, FeaturesOn of_x,
                            FeaturesOn of_table);

/// "Layout::bsnd()", the layouts with such features whose cache of as many tokens and sequences
/// fits x, or nothing.
std::string names_of_fitting_layouts(FeaturesOn features, const Shape& x_outer,
                                     const Shape& table_outer);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
