// SPDX-License-Identifier: Apache-2.0
//
// Passes over pairs whose lanes run along neighbouring rows.
//
//   pass_lanes            coefficients in memory (LaneEntries)
//   pass_short_stretches  likewise, of stretches that end with a step
//   pass_repeated_steps   coefficients that repeat every step or two, in registers
//   pass_one_entry        one coefficient for all lanes of a pair
//   copy_lanes            what is outside the window
//
// Compiled once per target. lane_order-inl.hpp chooses what is passed together, and lanes-inl.hpp
// has the loop over lanes.
#if defined(EIGEN_ROPE_KERNEL_LANE_PASSES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_LANE_PASSES_INL_HPP
#undef EIGEN_ROPE_KERNEL_LANE_PASSES_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_LANE_PASSES_INL_HPP
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// Pairs and groups of rows that are rotated alike: `lanes` rows next to each other for each.
template <class T>
struct LanePass {
  LanePointers<T> to;
  Index lanes;
  RowSteps pairs;   ///< `table` counts coefficients of `entries`, or entries of the table.
  RowSteps groups;  ///< Likewise.
  LaneEntries<T> entries;
  Index before = 0;       ///< Of lanes_before_vectors, where stores would cross lines.
  bool in_order = false;  ///< Whether entries of bfloat16 are those of the table (EntriesInOrder).
};

template <class T>
constexpr auto bytes_of_step = static_cast<std::uintptr_t>(lanes_of_step<T>) * sizeof(T);

/// How many lanes of every stretch lie before the first whose stores begin on a vector; 0 if these
/// are not as many for all, or too few steps follow.
template <class T, class Pass>
Index lanes_before_vectors(const Pass& pass) {
  constexpr Index step = lanes_of_step<T>;
  const auto y = reinterpret_cast<std::uintptr_t>(pass.to.y_a);
  const std::uintptr_t behind = y % bytes_of_step<T>;
  const bool alike = (reinterpret_cast<std::uintptr_t>(pass.to.y_b) - y) % bytes_of_step<T> == 0 &&
                     pass.pairs.y % step == 0 && pass.groups.y % step == 0;
  if (behind % sizeof(T) != 0 || !alike || pass.lanes < 4 * step) return 0;
  return static_cast<Index>((bytes_of_step<T> - behind) / sizeof(T)) % step;
}

/// Whether stretches are whole steps whose coefficients do not begin again, and so short that the
/// time between them counts.
template <class T>
bool has_short_stretches(const LanePass<T>& pass) {
  return pass.before == 0 && pass.lanes % lanes_of_step<T> == 0 &&
         pass.lanes <= pass.entries.period && (sizeof(T) == 2 || pass.pairs.count > 1);
}

/// Those stretches, through the cache. Few numbers change between them.
template <class T, TableWidth width>
void pass_short_stretches(const LanePass<T>& pass) {
  using Kernel = LaneKernel<T, width>;
  const LaneTag<T> d;
  const Index lanes = pass.lanes;
  const RowSteps pairs = pass.pairs;
  const RowSteps groups = pass.groups;
  for (Index k = 0; k < pairs.count; ++k) {
    const LaneEntries<T> entries = pass.entries.at(k * pairs.table);
    LanePointers<T> to = pass.to.at(k * pairs.x, k * pairs.y);
    for (Index left = groups.count; left > 0; --left) {
      for (Index i = 0; i < lanes; i += lanes_of_step<T>)
        rotate_step<Kernel, Stores::cached>(d, entries, i, to, i);
      to = to.at(groups.x, groups.y);
    }
  }
}

/// Stretches of any length, with coefficients of Entries.
template <class T, TableWidth width, Stores stores, class Entries>
void pass_stretches(const LanePass<T>& pass) {
  using Kernel = LaneKernel<T, width>;
  const LaneTag<T> d;
  for (Index k = 0; k < pass.pairs.count; ++k) {
    const Entries entries(pass.entries.at(k * pass.pairs.table));
    LanePointers<T> to = pass.to.at(k * pass.pairs.x, k * pass.pairs.y);
    for (Index left = pass.groups.count; left > 0; --left) {
      if (stores == Stores::cached && pass.before > 0) {
        rotate_overlapping<Kernel>(d, entries, to, pass.before, pass.lanes);
      } else {
        rotate_stretch<Kernel, stores>(d, entries, to, pass.lanes);
      }
      to = to.at(pass.groups.x, pass.groups.y);
    }
  }
}

template <class T, TableWidth width, Stores stores>
void pass_lanes(const LanePass<T>& pass) {
  if constexpr (is_bfloat16<T> && width == TableWidth::half) {
    if (pass.in_order) return pass_stretches<T, width, stores, EntriesInOrder<T>>(pass);
  }
  if constexpr (stores == Stores::cached) {
    if (has_short_stretches(pass)) return pass_short_stretches<T, width>(pass);
  }
  pass_stretches<T, width, stores, LaneEntries<T>>(pass);
}

/// Coefficients of `count` steps over and over, from lane `first` of the first step on.
template <class D, std::size_t count>
HWY_INLINE void turn_steps(D d, hn::Vec<D> (&steps)[count], Index first) {
  constexpr std::size_t lanes = hn::MaxLanes(D());
  alignas(64) hn::TFromD<D> memory[(count + 1) * lanes];
  for (std::size_t i = 0; i <= count; ++i) hn::Store(steps[i % count], d, memory + i * lanes);
  for (std::size_t i = 0; i < count; ++i) steps[i] = hn::LoadU(d, memory + i * lanes + first);
}

/// One pair whose stores would cross lines: a first and a last step of each stretch overlap those
/// between, which begin `before` lanes on.
template <class T, TableWidth width, Stores stores, class Entry, std::size_t... i>
HWY_INLINE void pass_overlapping_steps(const LanePass<T>& pass, LanePointers<T> to,
                                       const Entry (&values)[sizeof...(i)],
                                       std::index_sequence<i...>) {
  using Kernel = LaneKernel<T, width>;
  constexpr Index step = lanes_of_step<T>;
  constexpr std::size_t count = sizeof...(i);
  constexpr Index period = static_cast<Index>(count) * step;
  const LaneTag<T> d;
  hn::Vec<LaneTag<T>> cos[] = {values[i].value.cos...};
  hn::Vec<LaneTag<T>> sin[] = {values[i].value.sin...};
  turn_steps(d, cos, pass.before);
  turn_steps(d, sin, pass.before);
  const Entry turned[] = {{{cos[i], sin[i]}}...};
  for (Index left = pass.groups.count; left > 0; --left) {
    rotate_step<Kernel, stores>(d, values[0], 0, to, 0);
    Index lane = pass.before;
    for (; lane + period <= pass.lanes; lane += period)
      (rotate_step<Kernel, stores>(d, turned[i], 0, to, lane + static_cast<Index>(i) * step), ...);
    for (std::size_t j = 0; j + 1 < count && lane + step <= pass.lanes; ++j, lane += step)
      rotate_step<Kernel, stores>(d, turned[j], 0, to, lane);
    rotate_step<Kernel, stores>(d, values[count - 1], 0, to, pass.lanes - step);
    to = to.at(pass.groups.x, pass.groups.y);
  }
}

/// `count` steps of coefficients over and over, which stay in registers.
template <class T, TableWidth width, Stores stores, std::size_t... i>
void pass_repeated_steps(const LanePass<T>& pass, std::index_sequence<i...> steps) {
  using Kernel = LaneKernel<T, width>;
  using Entry = OneEntry<T, Kernel, LaneTag<T>>;
  constexpr Index step = lanes_of_step<T>;
  constexpr Index period = static_cast<Index>(sizeof...(i)) * step;
  const LaneTag<T> d;
  for (Index k = 0; k < pass.pairs.count; ++k) {
    const Entry values[] = {{pass.entries.template column<Kernel>(d, static_cast<Index>(i) * step,
                                                                  k * pass.pairs.table)}...};
    LanePointers<T> to = pass.to.at(k * pass.pairs.x, k * pass.pairs.y);
    if constexpr (stores == Stores::cached && !is_bfloat16<T>) {
      if (pass.before > 0) {
        pass_overlapping_steps<T, width, stores>(pass, to, values, steps);
        continue;
      }
    }
    for (Index left = pass.groups.count; left > 0; --left) {
      for (Index lane = 0; lane < pass.lanes; lane += period)
        (rotate_step<Kernel, stores>(d, values[i], 0, to, lane + static_cast<Index>(i) * step),
         ...);
      to = to.at(pass.groups.x, pass.groups.y);
    }
  }
}

/// Whether every stretch of lanes is of whole lines.
template <class T, class Pass>
bool fills_lines(const Pass& pass) {
  const auto whole = [](Index lanes) { return lanes % elements_of_line<T> == 0; };
  return reinterpret_cast<std::uintptr_t>(pass.to.y_a) % 64 == 0 &&
         reinterpret_cast<std::uintptr_t>(pass.to.y_b) % 64 == 0 && whole(pass.lanes) &&
         whole(pass.pairs.y) && whole(pass.groups.y);
}

/// Few models have tables of full width: they have no passes with coefficients in registers.
template <class T, TableWidth width, Stores stores>
void choose_pass(const LanePass<T>& pass) {
  constexpr Index step = lanes_of_step<T>;
  const Index period = pass.entries.period;
  const bool whole = !pass.in_order && pass.lanes % period == 0 &&
                     (stores == Stores::cached || fills_lines<T>(pass));
  if constexpr (width == TableWidth::half) {
    if (whole && period == step)
      return pass_repeated_steps<T, width, stores>(pass, std::make_index_sequence<1>());
    if (whole && period == 2 * step)
      return pass_repeated_steps<T, width, stores>(pass, std::make_index_sequence<2>());
  }
  pass_lanes<T, width, stores>(pass);
}

/// As LanePass, with one entry for all lanes. Steps through the table are those of its entries.
template <class T>
struct OneEntryPass {
  LanePointers<T> to;
  Index lanes;
  RowSteps pairs;
  RowSteps groups;
  const Widened<T>* cos;
  const Widened<T>* sin;
  Index before = 0;  ///< As of LanePass.
};

template <class T>
HWY_INLINE auto one_entry(LaneTag<T> d, const Widened<T>* cos, const Widened<T>* sin) {
  using Entry = OneEntry<T, LaneKernel<T, TableWidth::half>, LaneTag<T>>;
  SharedCoefficients<hn::Vec<LaneTag<T>>> value{hn::Set(d, *cos), hn::Set(d, *sin)};
  if constexpr (is_bfloat16<T>) {
    if (may_have_nan(d, value.sum())) value = value.without_payload();
    return Entry{{value, value}};
  } else {
    return Entry{value};
  }
}

/// One level of stretches of whole steps, which the heads of a token are, or the tokens of a batch.
/// Few numbers are left in the loop, so that they stay in registers, and fewer where a stretch is
/// one step.
template <class T, Stores stores>
void pass_level_of_one_entry(const OneEntryPass<T>& pass, LanePointers<T> to, Index at,
                             const RowSteps& level) {
  using Kernel = LaneKernel<T, TableWidth::half>;
  const LaneTag<T> d;
  const Index lanes = pass.lanes;
  const Index before = stores == Stores::cached ? pass.before : 0;
  const Widened<T>* cos = pass.cos + at;
  const Widened<T>* sin = pass.sin + at;
  const RowSteps steps = level;
  if (before == 0 && lanes == lanes_of_step<T>) {
    for (Index left = steps.count; left > 0; --left) {
      rotate_step<Kernel, stores>(d, one_entry<T>(d, cos, sin), 0, to, 0);
      to = to.at(steps.x, steps.y);
      cos += steps.table;
      sin += steps.table;
    }
    return;
  }
  for (Index left = steps.count; left > 0; --left) {
    const auto entry = one_entry<T>(d, cos, sin);
    if (before > 0) {
      rotate_overlapping<Kernel>(d, entry, to, before, lanes);
    } else {
      for (Index i = 0; i < lanes; i += lanes_of_step<T>)
        rotate_step<Kernel, stores>(d, entry, 0, to, i);
    }
    to = to.at(steps.x, steps.y);
    cos += steps.table;
    sin += steps.table;
  }
}

/// Of tables of half width, and for rotations that are not the inverse.
template <class T, Stores stores>
void pass_one_entry(const OneEntryPass<T>& pass) {
  const bool whole =
      pass.lanes % lanes_of_step<T> == 0 && (stores == Stores::cached || fills_lines<T>(pass));
  const RowSteps pairs = pass.pairs;
  const RowSteps groups = pass.groups;
  if (whole && groups.count == 1)
    return pass_level_of_one_entry<T, stores>(pass, pass.to, 0, pairs);
  using Kernel = LaneKernel<T, TableWidth::half>;
  const LaneTag<T> d;
  for (Index k = 0; k < pairs.count; ++k) {
    LanePointers<T> to = pass.to.at(k * pairs.x, k * pairs.y);
    if (whole) {
      pass_level_of_one_entry<T, stores>(pass, to, k * pairs.table, groups);
      continue;
    }
    for (Index g = 0; g < groups.count; ++g) {
      const Index at = k * pairs.table + g * groups.table;
      rotate_stretch<Kernel, stores>(d, one_entry<T>(d, pass.cos + at, pass.sin + at), to,
                                     pass.lanes);
      to = to.at(groups.x, groups.y);
    }
  }
}

/// Elements that are copied next to each other.
template <class T>
void copy_lanes(const T* from, T* to, Index count, Stores stores) {
  Index i = 0;
  using Bits = hwy::UnsignedFromSize<sizeof(T)>;
  const bool on_elements = reinterpret_cast<std::uintptr_t>(to) % sizeof(T) == 0;
  if (stores == Stores::streaming && on_elements) {
    const hn::ScalableTag<Bits> d;
    constexpr auto step = static_cast<Index>(hn::MaxLanes(d));
    const Index first = std::min(count, elements_to_line(to));
    const Index last = first + (count - first) / elements_of_line<T> * elements_of_line<T>;
    std::memcpy(static_cast<void*>(to), from, static_cast<std::size_t>(first) * sizeof(T));
    for (i = first; i < last; i += step) {
      stream(hn::LoadU(d, reinterpret_cast<const Bits*>(from + i)), d,
             reinterpret_cast<Bits*>(to + i));
    }
  }
  std::memcpy(static_cast<void*>(to + i), from + i,
              static_cast<std::size_t>(count - i) * sizeof(T));
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
