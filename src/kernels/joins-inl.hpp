// SPDX-License-Identifier: Apache-2.0
//
// Whole rows past the cache into memory that begins anywhere: what is stored are whole aligned
// vectors, each the end of one result and the beginning of the next one in memory.
//
//   Joint     how the lanes of two neighbouring results make an aligned vector
//   Stretch   rows of y that lie one behind the other: what the row before left, and both ends
//   join_run  rotates and joins the rows of a block
//
// A result's lanes, which are elements, are turned once; a vector then takes its first lanes from
// the result before and the others from the next. Compiled once per target.
#if defined(EIGEN_ROPE_KERNEL_JOINS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_JOINS_INL_HPP
#undef EIGEN_ROPE_KERNEL_JOINS_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_JOINS_INL_HPP
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/passes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

template <class D>
using Lane = hn::TFromD<D>;

template <class D>
struct Joint {
  using V = hn::Vec<D>;
  /// Instructions turn lanes of 32 bits or more.
  using Wide = std::conditional_t<sizeof(Lane<D>) == 2, hn::Repartition<std::uint32_t, D>, D>;
  using Turn = decltype(hn::IndicesFromVec(Wide(), hn::Vec<Wide>()));
  Turn turn;
  Turn turn_further;
  bool is_between;
  hn::Mask<D> from_before;

  /// For y that begins `shift` lanes behind an aligned vector.
  static HWY_INLINE Joint of(D d, std::size_t shift) {
    constexpr std::size_t lanes_of_wide = sizeof(Lane<Wide>) / sizeof(Lane<D>);
    const std::size_t wide_shift = shift / lanes_of_wide;
    return {turn_by(wide_shift), turn_by(wide_shift + 1), shift % lanes_of_wide != 0,
            hn::FirstN(d, shift)};
  }

  HWY_INLINE V turned(V v) const {
    const D d;
    const Wide wide;
    const auto turned = hn::TableLookupLanes(hn::BitCast(wide, v), turn);
    if constexpr (sizeof(Lane<D>) == 2) {
      if (is_between) {
        const auto further = hn::TableLookupLanes(hn::BitCast(wide, v), turn_further);
        return hn::BitCast(d, hn::Or(hn::ShiftLeft<16>(turned), hn::ShiftRight<16>(further)));
      }
    }
    return hn::BitCast(d, turned);
  }

  HWY_INLINE V join(V before, V next) const { return hn::IfThenElse(from_before, before, next); }

 private:
  static HWY_INLINE Turn turn_by(std::size_t shift) {
    const Wide wide;
    const auto lanes = hn::Lanes(wide);
    const auto from =
        hn::Add(hn::Iota(wide, 0), hn::Set(wide, static_cast<Lane<Wide>>(lanes - shift)));
    return hn::IndicesFromVec(wide,
                              hn::And(from, hn::Set(wide, static_cast<Lane<Wide>>(lanes - 1))));
  }
};

/// Lanes in which the results of a kernel are turned: elements of y.
template <class Kernel, class D, std::size_t size = sizeof(typename Kernel::T)>
using Lanes =
    hn::CappedTag<hwy::UnsignedFromSize<size>, hn::MaxLanes(D()) * Kernel::bytes_per_lane / size>;

/// Whether a kernel's rows can be joined. With SSE4 they wait for a writer instead: hardly any
/// processor of today needs it, and every loop costs all users compile time.
template <class Kernel, class D>
constexpr bool joins = Kernel::is_common && (Kernel::out_step == 1 || Kernel::streams_adjacent) &&
                       HWY_TARGET != HWY_SSE4;

/// The first vector that is stored holds lanes that are not y's. It goes to `begin_`, and its other
/// lanes to y at the end, as do the last lanes of the last row.
class Stretch {
 public:
  /// Rows of y of vectors of `bytes`.
  void begin(void* y, std::size_t bytes) {
    y_ = static_cast<unsigned char*>(y);
    bytes_ = bytes;
    shift_ = reinterpret_cast<std::uintptr_t>(y) % bytes;
    next_ = begin_;
    std::memset(before_, 0, sizeof(before_));
  }

  std::size_t shift() const { return shift_; }

  /// Where the vector goes that joins `before` with the next row.
  unsigned char* next() const { return next_; }
  /// The last result of the row before, turned.
  unsigned char* before() { return before_; }

  /// Rows were joined up to `end`.
  void joined_until(const void* end) {
    next_ = static_cast<unsigned char*>(const_cast<void*>(end)) - shift_;
  }

  void end() const {
    std::memcpy(y_, begin_ + shift_, bytes_ - shift_);
    std::memcpy(next_, before_, shift_);
  }

 private:
  alignas(64) unsigned char begin_[64];
  alignas(64) unsigned char before_[64];
  unsigned char* y_;
  unsigned char* next_;
  std::size_t bytes_;
  std::size_t shift_;
};

template <class D>
HWY_INLINE void stream_lanes(D d, hn::Vec<D> v, unsigned char* to) {
  hn::Stream(v, d, reinterpret_cast<Lane<D>*>(to));
}

/// One row of members in different vectors. Their results are two sequences of vectors; the second
/// begins where the first ends.
template <class Kernel, class D, class Column, class J>
HWY_INLINE hn::Vec<Lanes<Kernel, D>> join_separate(D d, const RowPointers<Kernel>& row, Index count,
                                                   const Column* columns, const J& joint,
                                                   const Stretch& stretch,
                                                   hn::Vec<Lanes<Kernel, D>> before) {
  using V = hn::Vec<Lanes<Kernel, D>>;
  const Lanes<Kernel, D> dl;
  constexpr Index width = pairs_of_column<Kernel, D>;
  auto* const y_a = reinterpret_cast<unsigned char*>(row.y_a) - stretch.shift();
  auto* const y_b = reinterpret_cast<unsigned char*>(row.y_b) - stretch.shift();
  const Two<V> results = Kernel::lanes(dl, d, Kernel::rotate(d, row.x_a, row.x_b, columns[0]));
  V a = joint.turned(results.first);
  V b = joint.turned(results.second);
  const V first_b = b;
  stream_lanes(dl, joint.join(before, a), stretch.next());
  for (Index c = 1; c < count; ++c) {
    const Two<V> more = Kernel::lanes(
        dl, d, Kernel::rotate(d, row.x_a + c * width, row.x_b + c * width, columns[c]));
    const V next_a = joint.turned(more.first);
    const V next_b = joint.turned(more.second);
    const auto at = c * width * static_cast<Index>(sizeof(typename Kernel::T));
    stream_lanes(dl, joint.join(a, next_a), y_a + at);
    stream_lanes(dl, joint.join(b, next_b), y_b + at);
    a = next_a;
    b = next_b;
  }
  stream_lanes(dl, joint.join(a, first_b), y_b);
  return b;
}

/// One row of members next to each other.
template <class Kernel, class D, class Column, class J>
HWY_INLINE hn::Vec<Lanes<Kernel, D>> join_adjacent(D d, const RowPointers<Kernel>& row, Index count,
                                                   const Column* columns, const J& joint,
                                                   const Stretch& stretch,
                                                   hn::Vec<Lanes<Kernel, D>> before) {
  using V = hn::Vec<Lanes<Kernel, D>>;
  const Lanes<Kernel, D> dl;
  constexpr Index step = 2 * pairs_of_column<Kernel, D>;
  constexpr auto vector = static_cast<Index>(hn::MaxLanes(dl) * sizeof(Lane<Lanes<Kernel, D>>));
  auto* const y = reinterpret_cast<unsigned char*>(row.y_a) - stretch.shift();
  for (Index c = 0; c < count; ++c) {
    const Two<V> results =
        Kernel::lanes(dl, d, Kernel::rotate(d, row.x_a + c * step, row.x_b, columns[c]));
    const V first = joint.turned(results.first);
    auto* const to = y + c * step * static_cast<Index>(sizeof(typename Kernel::T));
    stream_lanes(dl, joint.join(before, first), c == 0 ? stretch.next() : to);
    before = first;
    if constexpr (Kernel::vectors_of_column == 2) {
      const V second = joint.turned(results.second);
      stream_lanes(dl, joint.join(first, second), to + vector);
      before = second;
    }
  }
  return before;
}

/// All rows of a block, whose windows are the rows and whole columns.
template <class Kernel, class D, class T>
HWY_NOINLINE void join_run(const RowPlan& plan, const Run& run, const Tile<T>& block) {
  const D d;
  const Lanes<Kernel, D> dl;
  const Turn<Swap::nothing> turn{plan.direction};
  const RowSteps inner = block.inner;
  const RowSteps outer = block.outer;
  const Index count = run.count / pairs_of_column<Kernel, D>;
  const RowPointers<Kernel> first = first_row<Kernel>(run, 0, block, Direction::forward);
  const auto joint =
      Joint<Lanes<Kernel, D>>::of(dl, block.stretches->shift() / sizeof(Lane<Lanes<Kernel, D>>));
  const bool asks = Kernel::in_step == 1 && plan.row_length * static_cast<Index>(sizeof(T)) > 512;
  RowPlace place;
  PreparedColumns<Kernel, D> prepared;
  for (Index left_outside = outer.count; left_outside > 0; --left_outside) {
    const TableRow<T> table{block.cos + place.table, block.sin + place.table};
    prepared.prepare(d, table, run, 0, run.count, turn);
    RowPointers<Kernel> row = first.at(place);
    Stretch* stretch = block.stretches;
    for (Index left = inner.count; left > 0; --left) {
      row.hide();
      if (asks) ask_for_row(row, run.count);
      auto* const kept = reinterpret_cast<Lane<Lanes<Kernel, D>>*>(stretch->before());
      const auto before = hn::Load(dl, kept);
      if constexpr (Kernel::two_stores) {
        hn::Store(join_separate<Kernel>(d, row, count, prepared.columns(), joint, *stretch, before),
                  dl, kept);
      } else {
        hn::Store(join_adjacent<Kernel>(d, row, count, prepared.columns(), joint, *stretch, before),
                  dl, kept);
      }
      stretch->joined_until(row.y_a + plan.row_length);
      stretch += block.stretches_step;
      row.advance(inner);
    }
    place.x += outer.x;
    place.y += outer.y;
    place.table += outer.table;
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
