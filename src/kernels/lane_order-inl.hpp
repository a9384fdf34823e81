// SPDX-License-Identifier: Apache-2.0
//
// In which order rows whose elements lie apart are rotated, and what is passed together.
//
//   rotate_lane_block   one block (eigen_rope/rows/detail/lanes.hpp): what is outside the window is
//                       copied, and each run of pairs is passed
//   PlaneOf             which rows of a block lie next to each other for one element, and which of
//                       them have the same coefficients
//   rotate_lane_run     coefficients for as many lanes and pairs as stay close, or the table's own
//                       entries, and the passes that use them
//
// Compiled once per target.
#if defined(EIGEN_ROPE_KERNEL_LANE_ORDER_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_LANE_ORDER_INL_HPP
#undef EIGEN_ROPE_KERNEL_LANE_ORDER_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_LANE_ORDER_INL_HPP
#endif

#include <hwy/cache_control.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "eigen_rope/numbers/detail/scratch.hpp"
#include "kernels/lane_entries-inl.hpp"
#include "kernels/lane_passes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

constexpr RowSteps one_group{1, 0, 0, 0};

/// A few levels of rows.
struct Levels {
  std::array<RowSteps, max_rank + 1> level;
  int count = 0;

  const RowSteps* begin() const { return level.data(); }
  const RowSteps* end() const { return level.data() + count; }
  void add(const RowSteps& steps) { level[static_cast<std::size_t>(count++)] = steps; }
  RowSteps take(int i) {
    const RowSteps taken = level[static_cast<std::size_t>(i)];
    std::copy(begin() + i + 1, end(), level.begin() + i);
    --count;
    return taken;
  }
};

/// What lies next to each other for one element of the rows.
struct Plane {
  Levels levels;      ///< Of the rows that have coefficients of their own, or share them inside.
  Index period = 1;   ///< Rows of these levels.
  Index repeats = 1;  ///< How often rows with the same coefficients follow each other.
  Levels own;         ///< Other rows that have coefficients of their own.
  Levels sharing;     ///< Other rows that share those of the plane.
  bool one_entry = false;  ///< All rows of the plane have the same coefficients.
};

/// How many rows, from the first level on, lie next to each other and share an entry.
inline Index rows_of_one_entry(const Walk& rows) {
  Index count = 1;
  for (int i = 0; i < rows.count; ++i) {
    const RowSteps& level = rows.levels[static_cast<std::size_t>(i)];
    if (level.table != 0 || level.x != count || level.y != count) break;
    count *= level.count;
  }
  return count;
}

inline void add_outside(Plane& plane, const RowSteps& level) {
  (level.table != 0 ? plane.own : plane.sharing).add(level);
}

/// The rows of one entry are a plane of their own if they fill vectors, and lines where needed.
inline bool is_plane_of_one_entry(Index rows, Index step, Index line, Stores stores) {
  return rows >= step && (stores == Stores::cached || rows % line == 0 || rows >= 8 * line);
}

/// `pairs` is the level of the run's pairs, which may join the plane. Its count is then 1.
inline Plane plane_of(const Walk& rows, RowSteps& pairs, bool may_have_one_entry, Index step,
                      Index line) {
  Plane plane;
  const Index of_one_entry = rows_of_one_entry(rows);
  plane.one_entry =
      may_have_one_entry && is_plane_of_one_entry(of_one_entry, step, line, rows.stores);
  Index next_to_each_other = 1;
  bool joined = true;
  for (int i = 0; i < rows.count; ++i) {
    const RowSteps& level = rows.levels[static_cast<std::size_t>(i)];
    joined = joined && level.x == next_to_each_other && level.y == next_to_each_other &&
             (!plane.one_entry || next_to_each_other < of_one_entry);
    if (!joined) {
      add_outside(plane, level);
      continue;
    }
    next_to_each_other *= level.count;
    if (plane.one_entry) {
      plane.period = next_to_each_other;
    } else if (level.table != 0) {
      // Rows repeated so far are rows of the plane.
      plane.period = next_to_each_other;
      plane.levels.count = 0;
      for (int j = 0; j <= i; ++j) plane.levels.add(rows.levels[static_cast<std::size_t>(j)]);
    }
  }
  plane.repeats = next_to_each_other / plane.period;
  if (plane.one_entry) return plane;
  if (plane.levels.count == 0) {
    // Few rows that share an entry are a level of the plane all the same.
    plane.levels.add({next_to_each_other, 1, 1, 0});
    plane.period = next_to_each_other;
    plane.repeats = 1;
  }
  if (plane.repeats == 1 && pairs.x == plane.period && pairs.y == plane.period) {
    plane.levels.add(pairs);
    plane.period *= pairs.count;
    pairs.count = 1;
  }
  // Entries that follow each other are one level.
  RowSteps& first = plane.levels.level[0];
  while (plane.levels.count > 1 && first.table == 1 && plane.levels.level[1].table == first.count) {
    first.count *= plane.levels.level[1].count;
    plane.levels.take(1);
  }
  return plane;
}

/// The level that passes go through inside the pairs, if one lies closer together than they do.
inline RowSteps take_group(Levels& levels, const RowSteps& pairs) {
  int closest = -1;
  for (int i = 0; i < levels.count; ++i) {
    const Index step = std::abs(levels.level[static_cast<std::size_t>(i)].y);
    const Index least = closest < 0 ? std::abs(pairs.y)
                                    : std::abs(levels.level[static_cast<std::size_t>(closest)].y);
    if (pairs.count == 1 || step < least) closest = i;
    if (pairs.count == 1) break;
  }
  return closest < 0 ? one_group : levels.take(closest);
}

/// What loops do where lanes are to go past the caches. Where values are rounded by arithmetic that
/// takes longer than memory does, streaming would win some 5 %.
template <class T>
constexpr Stores streaming_lanes = rounds_by_arithmetic<T> ? Stores::cached : Stores::streaming;

/// Whether stores of whole steps from the first lane on would cross lines, and should not.
template <class T>
bool stores_cross_lines(const LaneBlock<T, Widened<T>>& block, const Run& run,
                        const LanePointers<T>& to) {
  const Index elements = 2 * run.count * block.rows.rows;
  return !block.in_place() && should_not_cross_lines(to.y_a, bytes_of_step<T>, elements);
}

template <class T>
void rotate_planes_of_one_entry(const LaneBlock<T, Widened<T>>& block, const Run& run,
                                const Plane& plane, RowSteps pairs, const LanePointers<T>& to) {
  Levels outside = plane.own;
  for (const RowSteps& level : plane.sharing) outside.add(level);
  const RowSteps group = take_group(outside, pairs);
  // Two levels closer together than pairs are passed inside them, in memory's order.
  if (const RowSteps next = take_group(outside, pairs); next.count > 1)
    outside.add(std::exchange(pairs, next));
  const bool crosses_lines = stores_cross_lines(block, run, to);
  for_each_place(outside.begin(), outside.end(), RowPlace{}, [&](const RowPlace& at) {
    OneEntryPass<T> pass{to.at(at.x, at.y),
                         plane.period,
                         pairs,
                         group,
                         block.cos + at.table + run.table_a,
                         block.sin + at.table + run.table_a};
    if (crosses_lines) pass.before = lanes_before_vectors<T>(pass);
    block.rows.stores == Stores::streaming ? pass_one_entry<T, streaming_lanes<T>>(pass)
                                           : pass_one_entry<T, Stores::cached>(pass);
  });
}

/// Whether the table's own entries are the coefficients, in the order of the lanes. Those of
/// bfloat16 are set apart at each use, which takes no time in long stretches of memory.
template <class T, TableWidth width>
bool table_has_coefficients(const Plane& plane, Direction direction, const LanePointers<T>& to,
                            Stores stores, ReadAgain again) {
  if (width != TableWidth::half || direction == Direction::inverse || plane.levels.count != 1 ||
      plane.levels.level[0].table != 1)
    return false;
  const bool is_long = again == ReadAgain::from_any_cache && plane.period >= 4 * lanes_of_step<T>;
  if (is_bfloat16<T>) return is_long && plane.repeats == 1;
  if (plane.repeats == 1) return true;
  const bool begins_on_line = elements_to_line(to.y_a) == 0 && elements_to_line(to.y_b) == 0;
  return plane.period % lanes_of_step<T> == 0 && (stores == Stores::cached || begins_on_line);
}

/// Coefficients stay in a first-level cache while x and y are in any: from the next one they would
/// take most of what it delivers. Rows in memory are best passed in long stretches, and so are
/// those that follow each other and share coefficients.
template <class T>
ReadAgain read_again_from(const LaneBlock<T, Widened<T>>& block, const Run& run,
                          const Plane& plane) {
  constexpr Index most_bytes = 8 * 1024 * 1024;
  const Index bytes =
      2 * run.count * block.rows.rows * static_cast<Index>(sizeof(T)) * (block.in_place() ? 1 : 2);
  const bool few = block.rows.stores == Stores::cached && bytes <= most_bytes;
  return few && plane.repeats == 1 ? ReadAgain::from_first_level : ReadAgain::from_any_cache;
}

/// The lanes of a part, if `lanes` are cut into as few as have at most `most`, of whole lines.
template <class T>
Index equal_part(Index lanes, Index most) {
  if (lanes <= most) return lanes;
  const Index lines = most / elements_of_line<T>;
  const Index all = (lanes + elements_of_line<T> - 1) / elements_of_line<T>;
  const Index parts = (all + lines - 1) / lines;
  return (all + parts - 1) / parts * elements_of_line<T>;
}

template <class T, TableWidth width>
void rotate_lane_run(const LaneBlock<T, Widened<T>>& block, const Run& run, Direction direction,
                     LanePointers<T> to) {
  using Coefficients = LaneCoefficients<T, width>;
  RowSteps pairs{run.count, run.in_step, run.out_step, run.table_step};
  const bool may_have_one_entry = width == TableWidth::half && direction != Direction::inverse;
  Plane plane =
      plane_of(block.rows, pairs, may_have_one_entry, lanes_of_step<T>, elements_of_line<T>);
  if (direction == Direction::backward) {
    std::swap(to.x_a, to.x_b);
    std::swap(to.y_a, to.y_b);
  }
  if (plane.one_entry) {
    return rotate_planes_of_one_entry(block, run, plane, pairs, to);
  }
  const Stores stores = block.rows.stores;
  const auto pass_of = stores == Stores::streaming ? choose_pass<T, width, streaming_lanes<T>>
                                                   : choose_pass<T, width, Stores::cached>;
  const ReadAgain again = read_again_from(block, run, plane);
  const bool direct = table_has_coefficients<T, width>(plane, direction, to, stores, again);
  constexpr Index step = lanes_of_step<T>;
  const bool crosses_lines = stores_cross_lines(block, run, to);
  // Behind the last entry of a table that is read as it is, the first one does not follow again.
  const bool one_by_one = direct && crosses_lines && plane.period >= 4 * step;
  if (plane.repeats > 1 && (one_by_one || (!direct && Coefficients::repeated(plane.period) >
                                                          Coefficients::most_lanes(again)))) {
    plane.sharing.add({plane.repeats, plane.period, plane.period, 0});
    plane.repeats = 1;
  }
  const bool may_overlap =
      crosses_lines && (!direct || plane.repeats == 1 || plane.period <= 2 * step);
  constexpr auto entry_bytes = static_cast<Index>(2 * sizeof(Widened<T>));
  const bool reads_again = plane.sharing.count > 0;
  const Index most_lanes = !direct ? Coefficients::most_lanes(again)
                           : reads_again && plane.repeats == 1
                               ? most_bytes_read(again) / entry_bytes
                               : plane.period;
  const Index lanes_at_once = equal_part<T>(plane.period, most_lanes);
  const Index period =
      plane.repeats > 1 && !direct ? Coefficients::repeated(plane.period) : lanes_at_once;
  const Index pairs_at_once =
      !direct       ? Coefficients::most_pairs(period)
      : reads_again ? std::max<Index>(1, most_bytes_laid_out(again) / (entry_bytes * period))
                    : pairs.count;
  Coefficients coefficients(period, direct ? 0 : std::min(pairs_at_once, pairs.count));
  for_each_place(plane.own.begin(), plane.own.end(), RowPlace{}, [&](const RowPlace& own) {
    LaneBlock<T, Widened<T>> part = block;
    part.cos += own.table;
    part.sin += own.table;
    for (Index lane = 0; lane < plane.period; lane += lanes_at_once) {
      const Index lanes = std::min(lanes_at_once, plane.period - lane);
      for (Index k = 0; k < pairs.count; k += pairs_at_once) {
        RowSteps some = pairs;
        some.count = std::min(pairs_at_once, pairs.count - k);
        LaneEntries<T> entries{};
        if (direct) {
          const Index first = run.table_a + k * run.table_step + lane;
          const Index entry_count = plane.repeats > 1 ? plane.period : lanes;
          entries = {{part.cos + first, part.sin + first}, {}, entry_count};
        } else {
          const Index now = plane.repeats > 1 ? period : lanes;
          coefficients.prepare(part, run, k, some.count, direction, plane.levels.begin(),
                               plane.levels.count, lane, lanes, now);
          entries = coefficients.entries(now);
          some.table = Coefficients::size_of_pair(now);
        }
        Levels sharing = plane.sharing;
        const RowSteps group = take_group(sharing, some);
        const LanePointers<T> here = to.at(own.x + k * pairs.x + lane, own.y + k * pairs.y + lane);
        for_each_place(sharing.begin(), sharing.end(), RowPlace{}, [&](const RowPlace& at) {
          LanePass<T> pass{here.at(at.x, at.y), lanes * plane.repeats, some, group, entries};
          pass.in_order = direct && is_bfloat16<T>;
          if (may_overlap) pass.before = lanes_before_vectors<T>(pass);
          pass_of(pass);
        });
      }
    }
  });
}

/// Elements outside the window.
template <class T>
void copy_outside_lanes(const RowPlan& plan, const LaneBlock<T, Widened<T>>& block) {
  if (block.in_place() || plan.rotary_dims == plan.row_length) return;
  RowSteps none{1, 0, 0, 0};
  Walk rows = block.rows;
  for (RowSteps& level : rows.levels) level.table = 0;
  const Plane plane = plane_of(rows, none, /*may_have_one_entry=*/true, 1, 1);
  for_each_outside(plan, [&](Index d) {
    const T* x = block.x + d * block.features.x;
    T* y = block.y + d * block.features.y;
    for_each_place(plane.sharing.begin(), plane.sharing.end(), RowPlace{}, [&](const RowPlace& at) {
      copy_lanes(x + at.x, y + at.y, plane.period, block.rows.stores);
    });
  });
}

template <class T, TableWidth width>
void rotate_lane_runs(const RowPlan& plan, const LaneBlock<T, Widened<T>>& block) {
  const T* x = block.x + plan.offset * block.features.x;
  T* y = block.y + plan.offset * block.features.y;
  for (const Run& run : runs_of(plan, block.features)) {
    rotate_lane_run<T, width>(block, run, plan.direction,
                              {x + run.in_a, x + run.in_b, y + run.out_a, y + run.out_b});
  }
}

/// Rows that move their elements while x and y are the same memory: some lanes at a time are
/// copied, with all their elements.
template <class T, TableWidth width>
void rotate_lane_copies(const RowPlan& plan, const LaneBlock<T, Widened<T>>& block) {
  constexpr Index most = 128;
  const RowSteps lanes = first_level(block.rows);
  const RowSteps* outside = block.rows.levels.data() + std::min(block.rows.count, 1);
  Scratch<T> copy(plan.row_length * most);
  for_each_place(
      outside, block.rows.levels.data() + block.rows.count, RowPlace{}, [&](const RowPlace& at) {
        for (Index lane = 0; lane < lanes.count; lane += most) {
          LaneBlock<T, Widened<T>> part = block;
          part.rows.count = 1;
          part.rows.levels[0] = lanes;
          part.rows.levels[0].count = std::min(most, lanes.count - lane);
          part.rows.rows = part.rows.levels[0].count;
          part.y += at.y + lane;
          part.cos += at.table + lane * lanes.table;
          part.sin += at.table + lane * lanes.table;
          for (Index d = plan.offset; d < plan.offset + plan.rotary_dims; ++d) {
            std::copy_n(part.y + d * block.features.y, part.rows.rows, copy.data() + d * most);
          }
          part.x = copy.data();
          part.features.x = most;
          rotate_lane_runs<T, width>(plan, part);
        }
      });
}

template <class T, TableWidth width>
void rotate_lanes_of(const RowPlan& plan, const LaneBlock<T, Widened<T>>& block) {
  if (block.in_place() && plan.permutes()) return rotate_lane_copies<T, width>(plan, block);
  copy_outside_lanes(plan, block);
  rotate_lane_runs<T, width>(plan, block);
  if (block.rows.stores == Stores::streaming) hwy::FlushStream();
}

/// Whether few rows lie next to each other, which half vectors divide.
template <class T>
bool fills_short_vectors(const RowPlan& plan, const LaneBlock<T, Widened<T>>& block) {
  constexpr Index step = lanes_of_step<T>;
  const Index rows = neighbouring_rows(block.rows);
  return rows < 2 * step && rows % step == step / 2 && !is_in_one_piece(plan, block.features, rows);
}

template <class T>
void rotate_lane_block(const RowPlan& plan, const LaneBlock<T, Widened<T>>& block) {
  if constexpr (std::is_same_v<T, Eigen::bfloat16> && lanes_of_step<T> == 32) {
    if (fills_short_vectors(plan, block)) {
      using Short = Bfloat16InShortVectors;
      return rotate_lane_block<Short>(
          plan, {reinterpret_cast<const Short*>(block.x), reinterpret_cast<Short*>(block.y),
                 block.cos, block.sin, block.features, block.rows});
    }
  }
  plan.full_width ? rotate_lanes_of<T, TableWidth::full>(plan, block)
                  : rotate_lanes_of<T, TableWidth::half>(plan, block);
}

#else

template <class T>
void rotate_lane_block(const RowPlan& plan, const LaneBlock<T, Widened<T>>& block) {
  rotate_lanes_plainly(plan, block);
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
