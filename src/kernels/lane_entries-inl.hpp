// SPDX-License-Identifier: Apache-2.0
//
// The coefficients of some pairs, laid out for lanes that run along neighbouring rows.
//
//   table entries of a pair, in the order of the rows  ->  LaneEntries: one coefficient a lane
//
// Neighbouring rows may share an entry (sequences of one batch), have entries next to each other (a
// table in the order of x), or entries that lie apart (a table whose entries of one token lie next
// to each other). Compiled once per target.
#if defined(EIGEN_ROPE_KERNEL_LANE_ENTRIES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_LANE_ENTRIES_INL_HPP
#undef EIGEN_ROPE_KERNEL_LANE_ENTRIES_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_LANE_ENTRIES_INL_HPP
#endif

#include <algorithm>
#include <array>
#include <cstring>

#include "eigen_rope/numbers/detail/scratch.hpp"
#include "kernels/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// Each of `count` entries as often as `times` says, which is a power of two, at most a vector's
/// lanes. Writes up to a vector too many.
template <class D, class C>
HWY_INLINE void repeat_by_vectors(D d, const C* from, Index count, Index times, C* to) {
  const hn::RebindToUnsigned<D> du;
  using U = hn::TFromD<decltype(du)>;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
  int bits = 0;
  while ((Index{1} << bits) < times) ++bits;
  Index i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto entries = hn::LoadU(d, from + i);
    for (Index part = 0; part < times; ++part) {
      const auto lane = hn::ShiftRightSame(hn::Iota(du, static_cast<U>(part * lanes)), bits);
      hn::StoreU(hn::TableLookupLanes(entries, hn::IndicesFromVec(d, lane)), d,
                 to + i * times + part * lanes);
    }
  }
  for (; i < count; ++i) std::fill_n(to + i * times, times, from[i]);
}

/// The entries of the rows first..first+count-1 of some levels, from the first row's on.
template <class C>
void take_entries(const C* from, const RowSteps* levels, int level_count, Index first, Index count,
                  C* to) {
  const hn::ScalableTag<C> d;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
  const RowSteps inner = levels[0];
  // Entries that some rows share each, next to each other: a batch inside tokens.
  const bool shared = inner.table == 0 && level_count > 1 && levels[1].table == 1 &&
                      inner.count <= lanes && (inner.count & (inner.count - 1)) == 0;
  if (shared && level_count == 2 && first % inner.count == 0 && count % inner.count == 0) {
    return repeat_by_vectors(d, from + first / inner.count, count / inner.count, inner.count, to);
  }
  for (Index row = first; row < first + count;) {
    Index rest = row;
    Index place = 0;
    for (int i = 0; i < level_count; ++i) {
      place += rest % levels[i].count * levels[i].table;
      rest /= levels[i].count;
    }
    const Index run = std::min(inner.count - row % inner.count, first + count - row);
    if (inner.table == 1) {
      std::memcpy(to, from + place, static_cast<std::size_t>(run) * sizeof(C));
    } else if (inner.table == 0) {
      std::fill_n(to, run, from[place]);
    } else {
      for (Index i = 0; i < run; ++i) to[i] = from[place + i * inner.table];
    }
    to += run;
    row += run;
  }
}

/// Where coefficients stay that other rows read again.
enum class ReadAgain { from_first_level, from_any_cache };

/// Bytes of entries of the table that are read as they are, of one stretch of rows at most.
constexpr Index most_bytes_read(ReadAgain again) {
  return again == ReadAgain::from_first_level ? 16 * 1024 : 4 * 1024 * 1024;
}

/// Bytes of one pair's coefficients that are laid out first, or of the entries of several pairs.
constexpr Index most_bytes_laid_out(ReadAgain again) {
  return again == ReadAgain::from_first_level ? 16 * 1024 : 128 * 1024;
}

/// The coefficients of some pairs.
template <class T, TableWidth width>
class LaneCoefficients {
 public:
  using C = Widened<T>;
  static constexpr bool apart = is_bfloat16<T>;
  static constexpr Index step = lanes_of_step<T>;
  static constexpr int arrays = coefficient_arrays<width>;
  static constexpr auto bytes_of_lane = static_cast<Index>(arrays * sizeof(C));
  /// The most lanes of one pair.
  static constexpr Index most_lanes(ReadAgain again) {
    return most_bytes_laid_out(again) / bytes_of_lane - 2 * step;
  }

  /// How many of an array a pair takes: steps that begin in the last lane are read, too.
  static constexpr Index size_of_pair(Index lanes) { return lanes + 2 * step; }
  static constexpr Index most_pairs(Index lanes) {
    return std::max<Index>(1, most_bytes_laid_out(ReadAgain::from_first_level) /
                                  (bytes_of_lane * size_of_pair(lanes)));
  }

  /// Room for those of `pairs` pairs of `lanes` lanes.
  LaneCoefficients(Index lanes, Index pairs)
      : room_(size_of_pair(lanes) * pairs),
        memory_(pairs == 0 ? 0 : arrays * room_ + 2 * step),
        raw_(apart ? arrays * size_of_pair(lanes) + 2 * step : 0) {}

  /// As many rows as `lanes` become when they are repeated: one step where they divide it,
  /// otherwise several, and an even number of lanes that lie apart.
  static constexpr Index repeated(Index lanes) {
    if (step % lanes == 0) return step;
    const Index times = lanes < step ? (4 * step + lanes - 1) / lanes : 1;
    return apart && lanes * times % 2 != 0 ? 2 * lanes * times : lanes * times;
  }

  /// Makes the coefficients of `pair_count` pairs of the run from pair k on, for the rows
  /// first..first+count-1 of some levels, repeated until they are `period`.
  void prepare(const LaneBlock<T, C>& block, const Run& run, Index k, Index pair_count,
               Direction direction, const RowSteps* levels, int level_count, Index first,
               Index count, Index period) {
    // Two lanes that share an entry have the same coefficients, which are made once.
    alike_ = apart && levels[0].table == 0 && levels[0].count % 2 == 0;
    std::array<RowSteps, max_rank + 1> halved;
    if (alike_) {
      std::copy_n(levels, level_count, halved.begin());
      halved[0].count /= 2;
      levels = halved.data();
    }
    const Index lanes_of_entry = alike_ ? 2 : 1;
    first /= lanes_of_entry;
    count /= lanes_of_entry;
    for (Index j = 0; j < pair_count; ++j) {
      const Index entry_a = run.table_a + (k + j) * run.table_step;
      const Index entry_b = run.table_b + (k + j) * run.table_step;
      C* to[4];
      for (int i = 0; i < 4; ++i)
        to[i] = apart ? raw_.data() + i % arrays * size_of_pair(period)
                      : memory_.data() + i % arrays * room_ + j * size_of_pair(period);
      take_entries(block.cos + entry_a, levels, level_count, first, count, to[0]);
      take_entries(block.sin + entry_a, levels, level_count, first, count, to[1]);
      if constexpr (width == TableWidth::full) {
        take_entries(block.cos + entry_b, levels, level_count, first, count, to[2]);
        take_entries(block.sin + entry_b, levels, level_count, first, count, to[3]);
      }
      for (int i = 0; i < arrays; ++i) repeat(to[i], count, (period + step) / lanes_of_entry);
      const bool ready = width == TableWidth::half && !apart && direction != Direction::inverse;
      if (ready) continue;
      C* results = memory_.data() + j * size_of_pair(period);
      if (direction == Direction::inverse) {
        make(Inverse{}, to, results, period);
      } else {
        make(Turn<Swap::members>{direction}, to, results, period);
      }
    }
  }

  LaneEntries<T> entries(Index period) const {
    LaneEntries<T> result{{}, {}, period};
    for (int i = 0; i < 4; ++i) {
      result.arrays[i] = memory_.data() + i % arrays * room_;
      result.odd[i] = result.arrays[i] + (apart && !alike_ ? size_of_pair(period) / 2 : 0);
    }
    return result;
  }

 private:
  using D = LaneTag<T>;
  using V = hn::Vec<D>;

  /// The first `count` again and again, until they are `size`.
  static void repeat(C* entries, Index count, Index size) {
    for (Index done = count; done < size;) {
      const Index more = std::min(done, size - done);
      std::memcpy(entries + done, entries, static_cast<std::size_t>(more) * sizeof(C));
      done += more;
    }
  }

  template <class How>
  static HWY_INLINE auto coefficient(How how, const V* entry) {
    if constexpr (width == TableWidth::half) {
      return SharedCoefficients<V>::of(how, entry[0], entry[1]);
    } else {
      return FullCoefficients<V>::of(how, entry[0], entry[2], entry[1], entry[3]);
    }
  }

  HWY_INLINE void put(const SharedCoefficients<V>& c, C* to) const {
    const D d;
    hn::StoreU(c.cos, d, to);
    hn::StoreU(c.sin, d, to + room_);
  }
  HWY_INLINE void put(const FullCoefficients<V>& c, C* to) const {
    const D d;
    hn::StoreU(c.p, d, to);
    hn::StoreU(c.q, d, to + room_);
    hn::StoreU(c.r, d, to + 2 * room_);
    hn::StoreU(c.s, d, to + 3 * room_);
  }

  /// Coefficients of `period` lanes and those behind them from entries.
  template <class How>
  void make(How how, C* const* from, C* to, Index period) const {
    const D d;
    constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
    if (apart && alike_) {
      for (Index lane = 0; lane < period + step; lane += 2 * lanes) {
        V entry[4] = {};
        for (int i = 0; i < arrays; ++i) entry[i] = hn::LoadU(d, from[i] + lane / 2);
        put(coefficient(how, entry).without_payload(), to + lane / 2);
      }
    } else if constexpr (apart) {
      for (Index lane = 0; lane < period + step; lane += 2 * lanes) {
        V even[4] = {}, odd[4] = {};
        for (int i = 0; i < arrays; ++i) {
          const Two<V> both = entries_apart(d, from[i] + lane);
          even[i] = both.first;
          odd[i] = both.second;
        }
        put(coefficient(how, even).without_payload(), to + lane / 2);
        put(coefficient(how, odd).without_payload(), to + size_of_pair(period) / 2 + lane / 2);
      }
    } else {
      for (Index lane = 0; lane < period + step - 1; lane += lanes) {
        V entry[4] = {};
        for (int i = 0; i < arrays; ++i) entry[i] = hn::LoadU(d, from[i] + lane);
        put(coefficient(how, entry), to + lane);
      }
    }
  }

  Index room_;          ///< Of an array.
  bool alike_ = false;  ///< Whether every odd lane has the coefficients of the one before it.
  Scratch<C> memory_;
  Scratch<C> raw_;  ///< One pair's entries, where coefficients are not laid out as they are.
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
