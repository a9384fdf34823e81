// SPDX-License-Identifier: Apache-2.0
//
// The innermost loops of rotations whose lanes run along neighbouring rows.
//
//   y_A[i] = p[i] x_a[i] + q[i] x_b[i]      y_B[i] = r[i] x_b[i] + s[i] x_a[i]
//
//   LaneEntries      the coefficients of one pair in memory, one for each lane, over and over
//   OneEntry         the coefficients of one pair for all lanes
//   rotate_stretch   lanes next to each other
//
// Stores past the cache are whole lines: what lies before the first line and behind the last goes
// through it. Compiled once per target. lane_passes-inl.hpp has the loops over pairs, and
// columns-inl.hpp the arithmetic.
#if defined(EIGEN_ROPE_KERNEL_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_LANES_INL_HPP
#undef EIGEN_ROPE_KERNEL_LANES_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_LANES_INL_HPP
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/columns-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// bfloat16 in vectors half as long, for rows that do not fill the long ones: two lanes of bfloat16
/// are one of the vectors they are rotated in.
struct Bfloat16InShortVectors : Eigen::bfloat16 {};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE

namespace eigen_rope::EIGEN_ROPE_ABI::detail {
#if HWY_TARGET != HWY_SCALAR
template <>
inline constexpr bool is_16_bit<HWY_NAMESPACE::Bfloat16InShortVectors> = true;
#endif
}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail

namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

template <class T>
constexpr bool is_bfloat16 = std::is_base_of_v<Eigen::bfloat16, T>;

template <class T, TableWidth width>
using LaneKernel = std::conditional_t<is_bfloat16<T>, EvenOddKernel<width>,
                                      ApartKernel<Members::separate, Members::separate, width, T>>;

template <class T>
using LaneTag = std::conditional_t<std::is_same_v<T, Bfloat16InShortVectors>,
                                   hn::Half<hn::ScalableTag<float>>, hn::ScalableTag<Widened<T>>>;

/// Rows that one step of a loop rotates.
template <class T>
constexpr Index lanes_of_step = static_cast<Index>(hn::MaxLanes(LaneTag<T>())) *
                                (is_bfloat16<T> ? 2 : 1);

/// Arrays of coefficients: p and -q where members share them (SharedCoefficients), otherwise p, q,
/// r and s (FullCoefficients).
template <TableWidth width>
constexpr int coefficient_arrays = width == TableWidth::half ? 2 : 4;

/// The coefficients of one pair: `period` of them, then the first ones again, as many as a step has
/// less one. Those of bfloat16 lie apart: `arrays` has those of even lanes, `odd` of odd ones.
template <class T>
struct LaneEntries {
  static constexpr bool is_one = false;
  using C = Widened<T>;
  const C* arrays[4];
  const C* odd[4];
  Index period;

  HWY_INLINE LaneEntries at(Index offset) const {
    LaneEntries moved = *this;
    for (const C*& array : moved.arrays) array += offset;
    for (const C*& array : moved.odd) array += offset;
    return moved;
  }

  /// The coefficient of one lane.
  HWY_INLINE C entry(int array, Index lane) const {
    if constexpr (!is_bfloat16<T>) return arrays[array][lane];
    return lane % 2 == 0 ? arrays[array][lane / 2] : odd[array][lane / 2];
  }

  /// Those of the lanes from `lane` on, of which the first is even.
  HWY_INLINE LaneEntries from(Index lane) const {
    if constexpr (!is_bfloat16<T>) return at(lane);
    LaneEntries moved = at(lane / 2);
    if (lane % 2 == 0) return moved;
    for (int i = 0; i < 4; ++i) {
      const C* even = moved.arrays[i];
      moved.arrays[i] = moved.odd[i];
      moved.odd[i] = even + 1;
    }
    return moved;
  }

  /// Those of a step of lanes, of the pair whose coefficients begin `offset` behind this one's.
  template <class Kernel, class D>
  HWY_INLINE typename Kernel::template Column<D> column(D d, Index lane, Index offset = 0) const {
    if constexpr (is_bfloat16<T>) {
      return {coefficients<Kernel>(d, arrays, offset + lane / 2),
              coefficients<Kernel>(d, odd, offset + lane / 2)};
    } else {
      return coefficients<Kernel>(d, arrays, offset + lane);
    }
  }

  /// As many lanes as may be read from `lane` on without going back to the first coefficients.
  HWY_INLINE Index run(Index lane) const {
    constexpr Index step = lanes_of_step<T>;
    return (period - lane + step - 1) / step * step;
  }

 private:
  template <class Kernel, class D>
  static HWY_INLINE auto coefficients(D d, const C* const* arrays, Index lane) {
    using V = hn::Vec<D>;
    if constexpr (std::is_same_v<Kernel, LaneKernel<T, TableWidth::half>>) {
      return SharedCoefficients<V>{loaded_once(hn::LoadU(d, arrays[0] + lane)),
                                   loaded_once(hn::LoadU(d, arrays[1] + lane))};
    } else {
      return FullCoefficients<V>{hn::LoadU(d, arrays[0] + lane), hn::LoadU(d, arrays[1] + lane),
                                 hn::LoadU(d, arrays[2] + lane), hn::LoadU(d, arrays[3] + lane)};
    }
  }
};

/// The coefficients of one pair of bfloat16 from the entries of a table of half width: `period` of
/// them, which are set apart and asked for NaNs at each use.
template <class T>
struct EntriesInOrder {
  static constexpr bool is_one = false;
  const Widened<T>* cos;
  const Widened<T>* sin;
  Index period;

  HWY_INLINE explicit EntriesInOrder(const LaneEntries<T>& entries)
      : cos(entries.arrays[0]), sin(entries.arrays[1]), period(entries.period) {}

  HWY_INLINE Widened<T> entry(int array, Index lane) const {
    const Widened<T> value = (array == 0 ? cos : sin)[lane];
    return std::isnan(value) ? std::numeric_limits<Widened<T>>::quiet_NaN() : value;
  }

  HWY_INLINE EntriesInOrder from(Index lane) const {
    EntriesInOrder moved = *this;
    moved.cos += lane;
    moved.sin += lane;
    return moved;
  }

  template <class Kernel, class D>
  HWY_INLINE typename Kernel::template Column<D> column(D d, Index lane) const {
    return column_of<Kernel>(d, TableRow<typename Kernel::T>{cos, sin}, Run{}, lane,
                             Turn<Swap::members>{Direction::forward});
  }

  HWY_INLINE Index run(Index lane) const { return period - lane; }
};

/// The coefficients of one step, for every step.
template <class T, class Kernel, class D>
struct OneEntry {
  static constexpr bool is_one = true;
  typename Kernel::template Column<D> value;

  template <class, class>
  HWY_INLINE const typename Kernel::template Column<D>& column(D, Index) const {
    return value;
  }
};

/// Where a stretch of lanes is read and written.
template <class T>
struct LanePointers {
  const T* x_a;
  const T* x_b;
  T* y_a;
  T* y_b;

  HWY_INLINE LanePointers at(Index x, Index y) const {
    return {x_a + x, x_b + x, y_a + y, y_b + y};
  }
};

template <class Kernel, Stores stores, class D, class Entries, class T>
HWY_INLINE void rotate_step(D d, const Entries& entries, Index lane, const LanePointers<T>& to,
                            Index i) {
  const auto result =
      Kernel::rotate(d, to.x_a + i, to.x_b + i, entries.template column<Kernel, D>(d, lane));
  Kernel::template put_first<stores>(d, result, to.y_a + i);
  Kernel::template put_second<stores>(d, result, to.y_b + i);
}

/// The coefficients of `count` lanes, less than a step, from `lane` on, in memory of their own.
template <class T>
struct FewEntries {
  using C = Widened<T>;
  static constexpr Index step = lanes_of_step<T>;
  alignas(64) C values[4][static_cast<std::size_t>(step)];

  template <class Entries>
  LaneEntries<T> take(const Entries& entries, int arrays, Index lane, Index count) {
    constexpr bool apart = is_bfloat16<T>;
    LaneEntries<T> few{{}, {}, step};
    for (int array = 0; array < arrays; ++array) {
      std::memset(values[array], 0, sizeof values[array]);
      for (Index i = 0; i < count; ++i) {
        const Index to = apart ? i / 2 + i % 2 * (step / 2) : i;
        values[array][to] = entries.entry(array, (lane + i) % entries.period);
      }
      few.arrays[array] = values[array];
      few.odd[array] = values[array] + step / 2;
    }
    return few;
  }
};

/// Less than a step of lanes.
template <class Kernel, class D, class Entries, class T>
HWY_NOINLINE void rotate_few(D d, const Entries& entries, Index lane, const LanePointers<T>& to,
                             Index count) {
  constexpr auto step = static_cast<std::size_t>(lanes_of_step<T>);
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
  alignas(64) T a[step];
  alignas(64) T b[step];
  std::memset(static_cast<void*>(a), 0, sizeof a);
  std::memset(static_cast<void*>(b), 0, sizeof b);
  std::memcpy(static_cast<void*>(a), to.x_a, bytes);
  std::memcpy(static_cast<void*>(b), to.x_b, bytes);
  const LanePointers<T> apart{a, b, a, b};
  if constexpr (!Entries::is_one) {
    FewEntries<T> few;
    constexpr int arrays = std::is_same_v<Kernel, LaneKernel<T, TableWidth::half>> ? 2 : 4;
    rotate_step<Kernel, Stores::cached>(d, few.take(entries, arrays, lane, count), 0, apart, 0);
  } else {
    rotate_step<Kernel, Stores::cached>(d, entries, 0, apart, 0);
  }
  std::memcpy(static_cast<void*>(to.y_a), a, bytes);
  std::memcpy(static_cast<void*>(to.y_b), b, bytes);
}

/// Lanes begin..end-1 of a stretch, in whole steps, through the cache or past it. Returns where it
/// stopped: less than a step may be left. `lane` is the first one's place among the coefficients.
template <class Kernel, Stores stores, class D, class Entries, class T>
HWY_INLINE Index rotate_steps(D d, const Entries& entries, Index& lane, const LanePointers<T>& to,
                              Index begin, Index end) {
  constexpr Index step = lanes_of_step<T>;
  Index i = begin;
  if constexpr (Entries::is_one) {
    for (; i + step <= end; i += step) rotate_step<Kernel, stores>(d, entries, 0, to, i);
  } else {
    while (end - i >= step) {
      const Index run = std::min((end - i) / step * step, entries.run(lane));
      if constexpr (is_bfloat16<T>) {
        const auto here = entries.from(lane);
        for (Index j = 0; j < run; j += step) rotate_step<Kernel, stores>(d, here, j, to, i + j);
      } else {
        for (Index j = 0; j < run; j += step)
          rotate_step<Kernel, stores>(d, entries, lane + j, to, i + j);
      }
      i += run;
      lane += run;
      if (lane >= entries.period) lane -= entries.period;
    }
  }
  return i;
}

/// The lanes from i on, through the cache.
template <class Kernel, class D, class Entries, class T>
HWY_INLINE void rotate_cached(D d, const Entries& entries, Index& lane, const LanePointers<T>& to,
                              Index i, Index end) {
  i = rotate_steps<Kernel, Stores::cached>(d, entries, lane, to, i, end);
  if (i == end) return;
  rotate_few<Kernel>(d, entries, lane, to.at(i, i), end - i);
  if constexpr (!Entries::is_one) lane = (lane + end - i) % entries.period;
}

/// Whole steps from lane `first` of a stretch on, through the cache. Returns where it stopped.
template <class Kernel, class D, class Entries, class T>
HWY_INLINE Index rotate_steps_from(D d, const Entries& entries, const LanePointers<T>& to,
                                   Index first, Index end) {
  Index lane = 0;
  if constexpr (!Entries::is_one) lane = first % entries.period;
  return rotate_steps<Kernel, Stores::cached>(d, entries, lane, to, first, end);
}

/// `count` lanes next to each other, four steps or more, through the cache, from x to other memory.
/// Stores begin on vectors from lane `before` on. A first and a last step share lanes with those
/// beside them, and store the same results again.
template <class Kernel, class D, class Entries, class T>
HWY_INLINE void rotate_overlapping(D d, const Entries& entries, const LanePointers<T>& to,
                                   Index before, Index count) {
  constexpr Index step = lanes_of_step<T>;
  rotate_steps_from<Kernel>(d, entries, to, 0, step);
  if (rotate_steps_from<Kernel>(d, entries, to, before, count) < count)
    rotate_steps_from<Kernel>(d, entries, to, count - step, count);
}

/// `count` lanes next to each other.
template <class Kernel, Stores stores, class D, class Entries, class T>
HWY_INLINE void rotate_stretch(D d, const Entries& entries, const LanePointers<T>& to,
                               Index count) {
  Index lane = 0;
  if constexpr (stores == Stores::cached) {
    rotate_cached<Kernel>(d, entries, lane, to, 0, count);
  } else {
    constexpr Index line = elements_of_line<T>;
    const bool on_elements = reinterpret_cast<std::uintptr_t>(to.y_a) % sizeof(T) == 0;
    const Index first = std::min(count, elements_to_line(to.y_a));
    const Index last = first + (count - first) / line * line;
    if (!on_elements || elements_to_line(to.y_b) != elements_to_line(to.y_a) || last == first)
      return rotate_cached<Kernel>(d, entries, lane, to, 0, count);
    if (first > 0) rotate_cached<Kernel>(d, entries, lane, to, 0, first);
    rotate_steps<Kernel, stores>(d, entries, lane, to, first, last);
    if (last < count) rotate_cached<Kernel>(d, entries, lane, to, last, count);
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
