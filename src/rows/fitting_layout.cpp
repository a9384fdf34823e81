// SPDX-License-Identifier: Apache-2.0
#include "rows/fitting_layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "eigen_rope/choices/layout.hpp"

namespace eigen_rope::detail {
namespace {

struct NamedLayout {
  const char* name;
  const Layout& (*layout)();
};
// Of layouts that give a table the same extents the first is named.
constexpr std::array<NamedLayout, 6> named_layouts{{{"bsnd", Layout::bsnd},
                                                    {"bnsd", Layout::bnsd},
                                                    {"sbnd", Layout::sbnd},
                                                    {"tnd", Layout::tnd},
                                                    {"bsd", Layout::bsd},
                                                    {"sd", Layout::sd}}};
constexpr std::array<NamedLayout, 5> layouts_of_slowest_features{{{"dnsb", Layout::dnsb},
                                                                  {"dsnb", Layout::dsnb},
                                                                  {"dns", Layout::dns},
                                                                  {"dsb", Layout::dsb},
                                                                  {"ds", Layout::ds}}};

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

bool broadcasts(const Shape& x_outer, const Shape& table_outer) {
  for (int axis = 0; axis < std::max(x_outer.rank(), table_outer.rank()); ++axis) {
    if (table_outer[axis] != 1 && table_outer[axis] != x_outer[axis]) return false;
  }
  return true;
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
template <class NamedLayouts>
std::vector<std::string> fitting(const NamedLayouts& layouts, const Shape& x_outer,
                                 const Counts& counts) {
  std::vector<std::string> names;
  std::vector<std::vector<Index>> seen;
  for (const NamedLayout& named : layouts) {
    const Layout& layout = named.layout();
    // A matrix has one outer axis, which is the tokens'.
    if (x_outer.rank() == 1 && layout.axes() > 1) continue;
    if (counts.batches != 1 && !layout.has_batch()) continue;
    const Shape extents = extents_of(layout, counts);
    if (!broadcasts(x_outer, extents)) continue;
    const std::vector<Index> kind = essence(extents);
    if (std::find(seen.begin(), seen.end(), kind) != seen.end()) continue;
    seen.push_back(kind);
    names.push_back(fmt::format("Layout::{}()", named.name));
  }
  return names;
}

/// The names of layouts that a cache of as many tokens and sequences fits x with, whichever layout
/// it was made for.
template <class NamedLayouts>
std::string fitting_names(const NamedLayouts& layouts, const Shape& x_outer,
                          const Shape& table_outer) {
  std::vector<std::string> names;
  const auto add_from = [&](const auto& made_for) {
    for (const NamedLayout& named : made_for) {
      const std::optional<Counts> counts = counts_of(named.layout(), table_outer);
      if (!counts) continue;
      for (const std::string& name : fitting(layouts, x_outer, *counts)) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      }
    }
  };
  add_from(named_layouts);
  add_from(layouts_of_slowest_features);
  return fmt::format("{}", fmt::join(names, " or "));
}

}  // namespace

std::string layouts_with_fastest_features(const Shape& x_outer, const Shape& table_outer) {
  return fitting_names(named_layouts, x_outer, table_outer);
}

std::string layouts_with_slowest_features(const Shape& x_outer, const Shape& table_outer) {
  return fitting_names(layouts_of_slowest_features, x_outer, table_outer);
}

std::string fitting_layouts(const Shape& x_outer, const Shape& table_outer, FeaturesOn of_x,
                            FeaturesOn of_table) {
  std::vector<std::string> changes;
  const auto add_changes_from = [&](const auto& made_for) {
    for (const NamedLayout& named : made_for) {
      const std::optional<Counts> counts = counts_of(named.layout(), table_outer);
      if (!counts) continue;
      const std::vector<std::string> names =
          of_x == FeaturesOn::fastest_axis ? fitting(named_layouts, x_outer, *counts)
                                           : fitting(layouts_of_slowest_features, x_outer, *counts);
      if (!names.empty())
        changes.push_back(
            fmt::format("{} instead of Layout::{}()", fmt::join(names, " or "), named.name));
    }
  };
  of_table == FeaturesOn::fastest_axis ? add_changes_from(named_layouts)
                                       : add_changes_from(layouts_of_slowest_features);
  if (changes.empty()) return "";
  return fmt::format(" (a cache made for {} fits this x)", fmt::join(changes, ", or for "));
}

}  // namespace eigen_rope::detail
