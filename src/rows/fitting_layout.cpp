// SPDX-License-Identifier: Apache-2.0
#include "rows/fitting_layout.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "eigen_rope/choices/layout.hpp"
#include "numbers/joined.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {
namespace {

struct NamedLayout {
  const char* name;
  const Layout& (*layout)();
};
// Of layouts that give a table the same extents the first is named.
const std::vector<NamedLayout>& named_layouts(FeaturesOn features) {
  static const std::vector<NamedLayout> of_fastest{{"bsnd", Layout::bsnd}, {"bnsd", Layout::bnsd},
                                                   {"sbnd", Layout::sbnd}, {"tnd", Layout::tnd},
                                                   {"bsd", Layout::bsd},   {"sd", Layout::sd}};
  static const std::vector<NamedLayout> of_slowest{{"dnsb", Layout::dnsb},
                                                   {"dsnb", Layout::dsnb},
                                                   {"dns", Layout::dns},
                                                   {"dsb", Layout::dsb},
                                                   {"ds", Layout::ds}};
  return features == FeaturesOn::fastest_axis ? of_fastest : of_slowest;
}

struct Counts {
  Index tokens = 1;
  Index batches = 1;
};

/// How many tokens and sequences a cache of this layout and these extents is for.
std::optional<Counts> counts_of(const Layout& layout, const Shape& table_outer) {
  if (table_outer.rank() != layout.axes()) return std::nullopt;
  Counts counts;
  for (int axis = 0; axis < layout.axes(); ++axis) {
    if (layout[axis] == AxisRole::token) {
      counts.tokens = table_outer[axis];
    } else if (layout[axis] == AxisRole::batch) {
      counts.batches = table_outer[axis];
    } else if (table_outer[axis] != 1) {
      return std::nullopt;
    }
  }
  // A table with one extent is one of tokens.
  if (counts.tokens == 1) return std::nullopt;
  return counts;
}

Shape extents_of(const Layout& layout, const Counts& counts) {
  Shape extents;
  for (int axis = 0; axis < layout.axes(); ++axis) {
    const bool counted = layout[axis] != AxisRole::other;
    extents.push_back(!counted                          ? 1
                      : layout[axis] == AxisRole::token ? counts.tokens
                                                        : counts.batches);
  }
  return extents;
}

/// Without the axes of extent 1 at the end.
std::vector<Index> essence(const Shape& shape) {
  std::vector<Index> extents;
  extents.reserve(static_cast<std::size_t>(shape.rank()));
  for (int axis = 0; axis < shape.rank(); ++axis) extents.push_back(shape[axis]);
  while (!extents.empty() && extents.back() == 1) extents.pop_back();
  return extents;
}

/// Names of the layouts, one for each way of counting, that a table of these counts would fit x
/// with.
std::vector<std::string> fitting(FeaturesOn features, const Shape& x_outer, const Counts& counts) {
  std::vector<std::string> names;
  std::vector<std::vector<Index>> seen;
  for (const NamedLayout& named : named_layouts(features)) {
    const Layout& layout = named.layout();
    // A matrix has one outer axis, which is the tokens'.
    if (x_outer.rank() == 1 && layout.axes() > 1) continue;
    if (counts.batches != 1 && !layout.has_batch()) continue;
    const Shape extents = extents_of(layout, counts);
    if (!table_fits(x_outer, extents)) continue;
    const std::vector<Index> kind = essence(extents);
    if (std::find(seen.begin(), seen.end(), kind) != seen.end()) continue;
    seen.push_back(kind);
    names.push_back(fmt::format("Layout::{}()", named.name));
  }
  return names;
}

/// visit(name, counts) for every layout with such features that a cache with these extents may have
/// been made for.
template <class Visit>
void for_each_source(FeaturesOn features, const Shape& table_outer, const Visit& visit) {
  for (const NamedLayout& named : named_layouts(features)) {
    const std::optional<Counts> counts = counts_of(named.layout(), table_outer);
    if (counts) visit(named.name, *counts);
  }
}

}  // namespace

std::string names_of_fitting_layouts(FeaturesOn features, const Shape& x_outer,
                                     const Shape& table_outer) {
  std::vector<std::string> names;
  for (const FeaturesOn of_table : {FeaturesOn::fastest_axis, FeaturesOn::slower_axis}) {
    for_each_source(of_table, table_outer, [&](const char*, const Counts& counts) {
      for (const std::string& name : fitting(features, x_outer, counts)) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      }
    });
  }
  return detail::joined(names, " or ");
}

std::string fitting_layouts(const Shape& x_outer, const Shape& table_outer, FeaturesOn of_x,
                            FeaturesOn of_table) {
  std::vector<std::string> changes;
  for_each_source(of_table, table_outer, [&](const char* source, const Counts& counts) {
    const std::vector<std::string> names = fitting(of_x, x_outer, counts);
    if (!names.empty())
      changes.push_back(
          fmt::format("{} instead of Layout::{}()", detail::joined(names, " or "), source));
  });
  if (changes.empty()) return "";
  return fmt::format(" (a cache made for {} fits this x)", detail::joined(changes, ", or for "));
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
