// SPDX-License-Identifier: Apache-2.0
//
// Whole rows into memory that begins anywhere, past the cache or through it: what is stored are
// whole aligned vectors, each the end of one result and the beginning of the next one in memory.
//
//   Joint      how the lanes of two neighbouring results make an aligned vector
//   Stretch    rows of y that lie one behind the other: what the row before left, and both ends
//   JoinedRow  where the vectors of a row go
//   join_run   rotates and joins the rows of a block
//
// A result's lanes, which are elements, are turned once; a vector then takes its first lanes from
// the result before and the others from the next. Coefficients stay in registers where they can:
// loading them for each row takes 1.6 times as long for rows of a kibibyte that lie apart. Compiled
// once per target.
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
#include <utility>

#include "kernels/passes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

template <class D>
using Lane = hn::TFromD<D>;

/// For each lane the one `shift` lanes before it, from the other end at the beginning.
template <class D>
HWY_INLINE hn::Vec<D> lanes_before(D d, std::size_t shift) {
  const auto lanes = hn::Lanes(d);
  const auto from = hn::Add(hn::Iota(d, 0), hn::Set(d, static_cast<Lane<D>>(lanes - shift)));
  return hn::And(from, hn::Set(d, static_cast<Lane<D>>(lanes - 1)));
}

/// A vector's lanes, `shift` lanes further.
template <class D, std::size_t size = sizeof(Lane<D>)>
struct LaneTurn {
  using V = hn::Vec<D>;
  decltype(hn::IndicesFromVec(D(), hn::Vec<D>())) indices;

  static HWY_INLINE LaneTurn by(D d, std::size_t shift) {
    return {hn::IndicesFromVec(d, lanes_before(d, shift))};
  }
  HWY_INLINE V operator()(V v) const { return hn::TableLookupLanes(v, indices); }
};

#if HWY_TARGET == HWY_AVX3
/// Highway 1.0 turns lanes of 32 bits and more.
template <class D>
struct LaneTurn<D, 2> {
  using V = hn::Vec<D>;
  V indices;

  static HWY_INLINE LaneTurn by(D d, std::size_t shift) { return {lanes_before(d, shift)}; }
  HWY_INLINE V operator()(V v) const {
    if constexpr (sizeof(V) == 64) {
      return V{_mm512_permutexvar_epi16(indices.raw, v.raw)};
    } else if constexpr (sizeof(V) == 32) {
      return V{_mm256_permutexvar_epi16(indices.raw, v.raw)};
    } else {
      return V{_mm_permutexvar_epi16(indices.raw, v.raw)};
    }
  }
};
constexpr bool turns_16_bits = true;
#else
constexpr bool turns_16_bits = false;
#endif

template <class D>
struct Joint {
  using V = hn::Vec<D>;
  static constexpr bool turns_twice = sizeof(Lane<D>) == 2 && !turns_16_bits;
  using Wide = std::conditional_t<turns_twice, hn::Repartition<std::uint32_t, D>, D>;
  LaneTurn<Wide> turn;
  LaneTurn<Wide> turn_further;
  bool is_between;
  hn::Mask<D> from_before;

  /// For y that begins `shift` lanes behind an aligned vector.
  static HWY_INLINE Joint of(D d, std::size_t shift) {
    constexpr std::size_t lanes_of_wide = sizeof(Lane<Wide>) / sizeof(Lane<D>);
    const Wide wide;
    const std::size_t wide_shift = shift / lanes_of_wide;
    return {LaneTurn<Wide>::by(wide, wide_shift), LaneTurn<Wide>::by(wide, wide_shift + 1),
            shift % lanes_of_wide != 0, hn::FirstN(d, shift)};
  }

  HWY_INLINE V turned(V v) const {
    const D d;
    const Wide wide;
    const auto turned = turn(hn::BitCast(wide, v));
    if constexpr (turns_twice) {
      if (is_between) {
        const auto further = turn_further(hn::BitCast(wide, v));
        return hn::BitCast(d, hn::Or(hn::ShiftLeft<16>(turned), hn::ShiftRight<16>(further)));
      }
    }
    return hn::BitCast(d, turned);
  }

  HWY_INLINE V join(V before, V next) const { return hn::IfThenElse(from_before, before, next); }
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
    to_first_ =
        reinterpret_cast<std::uintptr_t>(begin_) - reinterpret_cast<std::uintptr_t>(y) + shift_;
    std::memset(before_, 0, sizeof(before_));
  }

  /// In bytes.
  std::size_t shift() const { return shift_; }

  /// Where the first vector of the next row goes, which would lie at `y`.
  unsigned char* first_of_row(void* y) {
    const auto address = reinterpret_cast<std::uintptr_t>(y) + to_first_;
    to_first_ = 0;
    return reinterpret_cast<unsigned char*>(address);
  }
  /// The last result of the row before, turned.
  unsigned char* before() { return before_; }

  /// All rows were joined, of so many bytes.
  void end(std::size_t bytes_of_rows) const {
    std::memcpy(y_, begin_ + shift_, bytes_ - shift_);
    std::memcpy(y_ + bytes_of_rows - shift_, before_, shift_);
  }

 private:
  alignas(64) unsigned char begin_[64];
  alignas(64) unsigned char before_[64];
  unsigned char* y_;
  std::size_t bytes_;
  std::size_t shift_;
  std::uintptr_t to_first_;
};

/// Which stores they are is asked for each vector, which costs nothing measurable beside joining.
template <class D>
HWY_INLINE void put_lanes(D d, hn::Vec<D> v, void* to, Stores stores) {
  if (stores == Stores::streaming) {
    hn::Stream(v, d, static_cast<Lane<D>*>(to));
  } else {
    hn::Store(v, d, static_cast<Lane<D>*>(to));
  }
}

/// The results of one column, turned.
template <class Kernel, class D, class Column, class J>
HWY_INLINE Two<hn::Vec<Lanes<Kernel, D>>> turned_column(D d, const RowPointers<Kernel>& row,
                                                        Index c, const Column& column,
                                                        const J& joint) {
  const Lanes<Kernel, D> dl;
  const Index at = c * pairs_of_column<Kernel, D>;
  const auto results = Kernel::lanes(
      dl, d,
      Kernel::rotate(d, row.x_a + at * Kernel::in_step, row.x_b + at * Kernel::in_step, column));
  if constexpr (Kernel::vectors_of_column == 2) {
    return {joint.turned(results.first), joint.turned(results.second)};
  } else {
    const auto turned = joint.turned(results.first);
    return {turned, turned};
  }
}

/// What is stored of one row, whose pointers to y are a vector's shift before its elements. Members
/// in different vectors are two sequences, and the second begins where the first ends.
template <class Kernel, class D>
struct JoinedRow {
  using T = typename Kernel::T;
  using V = hn::Vec<Lanes<Kernel, D>>;
  static constexpr Index width = pairs_of_column<Kernel, D> * Kernel::out_step;
  static constexpr bool has_second = !Kernel::two_stores && Kernel::vectors_of_column == 2;
  T* y_a;
  T* y_b;
  Stores stores;

  /// The first column, after the last result of the row before.
  template <class J>
  HWY_INLINE void begin(const J& joint, V before, const Two<V>& now, unsigned char* first) const {
    const Lanes<Kernel, D> dl;
    put_lanes(dl, joint.join(before, now.first), first, stores);
    if constexpr (has_second)
      put_lanes(dl, joint.join(now.first, now.second), y_a + width / 2, stores);
  }

  /// Column `c`, after the one before it.
  template <class J>
  HWY_INLINE Two<V> next(const J& joint, const Two<V>& last, const Two<V>& now, Index c) const {
    const Lanes<Kernel, D> dl;
    if constexpr (Kernel::two_stores) {
      put_lanes(dl, joint.join(last.first, now.first), y_a + c * width, stores);
      put_lanes(dl, joint.join(last.second, now.second), y_b + c * width, stores);
    } else {
      put_lanes(dl, joint.join(last.second, now.first), y_a + c * width, stores);
      if constexpr (has_second)
        put_lanes(dl, joint.join(now.first, now.second), y_a + c * width + width / 2, stores);
    }
    return now;
  }

  template <class J>
  HWY_INLINE void end(const J& joint, const Two<V>& begin, const Two<V>& last) const {
    if constexpr (Kernel::two_stores)
      put_lanes(Lanes<Kernel, D>(), joint.join(last.first, begin.second), y_b, stores);
  }
};

/// One row: columns 0, 1 + i..., and those behind them up to `count`.
template <class Kernel, class D, class Count, class Column, class J, std::size_t... i>
HWY_INLINE void join_row(D d, const RowPointers<Kernel>& row, Count count, const Column* columns,
                         const J& joint, Stores stores, Stretch& stretch,
                         std::index_sequence<i...>) {
  using V = hn::Vec<Lanes<Kernel, D>>;
  const Lanes<Kernel, D> dl;
  const JoinedRow<Kernel, D> joined{row.y_a, row.y_b, stores};
  auto* const before = reinterpret_cast<Lane<Lanes<Kernel, D>>*>(stretch.before());
  const Two<V> begin = turned_column(d, row, 0, columns[0], joint);
  joined.begin(joint, hn::Load(dl, before), begin, stretch.first_of_row(row.y_a));
  Two<V> last = begin;
  ((last = joined.next(joint, last,
                       turned_column(d, row, static_cast<Index>(i) + 1, columns[i + 1], joint),
                       static_cast<Index>(i) + 1)),
   ...);
  for (Index c = static_cast<Index>(sizeof...(i)) + 1; c < count; ++c)
    last = joined.next(joint, last, turned_column(d, row, c, columns[c], joint), c);
  joined.end(joint, begin, last);
  hn::Store(last.second, dl, before);
}

/// The rows of the inner level, from `row` on, which share their coefficients.
template <class Kernel, class D, class T, class Count, class Column, class J, std::size_t... i>
HWY_INLINE void join_inner(D d, const RowPlan& plan, const Tile<T>& block, RowPointers<Kernel> row,
                           Count count, const Column* columns, const J& joint,
                           std::index_sequence<i...> more_columns) {
  const RowSteps inner = block.inner;
  const Index pairs = count * pairs_of_column<Kernel, D>;
  const bool asks =
      Kernel::in_step == 1 && plan.row_length * static_cast<Index>(sizeof(T)) > longest_unasked;
  // Rows of fewer bytes stay in the first-level cache.
  constexpr Index worth_asking = 128 * 1024;
  const Index bytes =
      inner.count * block.outer.count * plan.row_length * static_cast<Index>(sizeof(T));
  const bool asks_later = reads_streams_in_turn(block) && bytes > worth_asking;
  const Index later = to_later_row<T>(block.outer.x, plan.row_length);
  const Stores stores = block.stores;
  Stretch* stretch = block.stretches;
  for (Index left = inner.count; left > 0; --left) {
    row.hide();
    if (asks) ask_for_row(row, pairs, pairs);
    join_row<Kernel>(d, row, count, columns, joint, stores, *stretch, more_columns);
    if (asks_later) ask_for(row.x_a + later, plan.row_length);
    stretch += block.stretches_step;
    row.advance(inner);
  }
}

/// All rows of a block. Coefficients of the columns `i` stay in registers, or else they are
/// prepared in memory.
template <class Kernel, class D, class T, std::size_t... i>
HWY_INLINE void join_rows(const RowPlan& plan, const Run& run, const Tile<T>& block,
                          std::index_sequence<i...>) {
  const D d;
  constexpr Index width = pairs_of_column<Kernel, D>;
  const Turn<Swap::nothing> turn{plan.direction};
  const RowSteps outer = block.outer;
  const std::size_t shift = block.stretches->shift() / sizeof(T);
  const auto joint = Joint<Lanes<Kernel, D>>::of(Lanes<Kernel, D>(), shift);
  RowPointers<Kernel> first = first_row<Kernel>(run, 0, block, Direction::forward);
  first.y_a -= shift;
  first.y_b -= shift;
  RowPlace place;
  for (Index left_outside = outer.count; left_outside > 0; --left_outside) {
    const TableRow<T> table{block.cos + place.table, block.sin + place.table};
    if constexpr (sizeof...(i) > 0) {
      typename Kernel::template Column<D> columns[] = {
          column_of<Kernel>(d, table, run, static_cast<Index>(i) * width, turn)...};
      if (turn.direction == Direction::inverse) {
        PreparedColumns<Kernel, D, static_cast<Index>(sizeof...(i)) * width> inverses;
        inverses.prepare(d, table, run, 0, run.count, turn);
        ((columns[i] = inverses.columns()[i]), ...);
      }
      join_inner<Kernel>(d, plan, block, first.at(place),
                         std::integral_constant<Index, static_cast<Index>(sizeof...(i))>(), columns,
                         joint, std::make_index_sequence<sizeof...(i) - 1>());
    } else {
      PreparedColumns<Kernel, D> prepared;
      prepared.prepare(d, table, run, 0, run.count, turn);
      join_inner<Kernel>(d, plan, block, first.at(place), run.count / width, prepared.columns(),
                         joint, std::index_sequence<>());
    }
    place.x += outer.x;
    place.y += outer.y;
    place.table += outer.table;
  }
}

/// Columns whose coefficients stay in registers at most, beside what joining needs.
template <class Kernel, class D>
constexpr Index most_joined =
    HWY_TARGET != HWY_AVX3&& is_16_bit<typename Kernel::T> ? most_columns<Kernel, D> / 2
                                                           : most_columns<Kernel, D>;

/// If the columns are exactly `count`, and registers hold so many.
template <class Kernel, std::size_t count, class D, class T>
HWY_INLINE bool join_if_exactly(D, const RowPlan& plan, const Run& run, const Tile<T>& block) {
  constexpr auto columns = static_cast<Index>(count);
  if constexpr (columns <= most_joined<Kernel, D>) {
    if (run.count != columns * pairs_of_column<Kernel, D>) return false;
    join_rows<Kernel, D>(plan, run, block, std::make_index_sequence<count>());
    return true;
  }
  return false;
}

/// All rows of a block, whose windows are the rows and whole columns.
template <class Kernel, class D, class T>
HWY_NOINLINE void join_run(const RowPlan& plan, const Run& run, const Tile<T>& block) {
  const D d;
  if (!join_if_exactly<Kernel, 8>(d, plan, run, block) &&
      !join_if_exactly<Kernel, 4>(d, plan, run, block) &&
      !join_if_exactly<Kernel, 2>(d, plan, run, block))
    join_rows<Kernel, D>(plan, run, block, std::index_sequence<>());
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
