// SPDX-License-Identifier: Apache-2.0
//
// The elements of a row outside its window, which a rotation copies.
//
//   OutsideOfWindow   both stretches of a row, before the window and behind it, for all rows
//
// Stores go through the cache or past it, as those of the window do. Pointers are those of the
// window. Compiled once per target.
#if defined(EIGEN_ROPE_KERNEL_COPIES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_COPIES_INL_HPP
#undef EIGEN_ROPE_KERNEL_COPIES_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_COPIES_INL_HPP
#endif

#include <cstddef>
#include <cstring>
#include <utility>

#include "eigen_rope/rows/detail/rows.hpp"
#include "kernels/values-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// Elements begin..end-1: less than a piece, what is left of a streamed row, or a second stretch.
/// Apart from the loops, which most rows do not leave.
template <Stores stores, class T>
HWY_NOINLINE void copy_rest(const T* from, T* to, Index begin, Index end) {
  Index i = begin;
  if constexpr (stores == Stores::streaming) {
    // A line written half past the cache and half through it costs hundreds of nanoseconds.
    using Bits = hwy::UnsignedFromSize<sizeof(T)>;
    constexpr Index lanes = 16 / sizeof(Bits);
    const hn::CappedTag<Bits, lanes> d;
    for (; i + lanes <= end; i += lanes) {
      store_bits<stores>(hn::LoadU(d, reinterpret_cast<const Bits*>(from + i)), d,
                         reinterpret_cast<Bits*>(to + i));
    }
  }
  if (i < end) std::memcpy(to + i, from + i, static_cast<std::size_t>(end - i) * sizeof(T));
}

/// Elements of a row from `begin` to `end`.
struct Outside {
  Index begin, end;
};

/// In pieces of at most 32 bytes through the caches: two of 32 are stored as fast as one of 64, and
/// cross lines less often. The last one ends where the elements do, and may overlap the one before
/// it.
template <Stores stores, class T>
HWY_INLINE void copy(const T* from, T* to, const Outside& elements) {
  using Bits = hwy::UnsignedFromSize<sizeof(T)>;
  constexpr std::size_t most =
      stores == Stores::cached ? 32 / sizeof(T) : hn::MaxLanes(hn::ScalableTag<Bits>());
  const hn::CappedTag<Bits, most> d;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
  const auto* source = reinterpret_cast<const Bits*>(from);
  auto* target = reinterpret_cast<Bits*>(to);
  const Index last = elements.end - lanes;
  Index i = elements.begin;
  if constexpr (stores == Stores::streaming) {
    for (; i <= last; i += lanes) store_bits<stores>(hn::LoadU(d, source + i), d, target + i);
    if (i < elements.end) copy_rest<stores>(from, to, i, elements.end);
  } else {
    if (HWY_UNLIKELY(i > last)) {
      if (i < elements.end) copy_rest<stores>(from, to, i, elements.end);
      return;
    }
    for (; i < last; i += lanes) hn::StoreU(hn::LoadU(d, source + i), d, target + i);
    hn::StoreU(hn::LoadU(d, source + last), d, target + last);
  }
}

/// Everything outside the window of a row: what is behind it, or in front. Few windows have both,
/// so the code of the second copy is not part of the loops over rows. Made once for them.
class OutsideOfWindow {
 public:
  explicit HWY_INLINE OutsideOfWindow(const RowPlan& plan)
      : first_{plan.rotary_dims, plan.row_length - plan.offset}, second_{-plan.offset, 0} {
    if (first_.begin == first_.end) std::swap(first_, second_);
  }

  template <Stores stores, class T>
  HWY_INLINE void copy_row(const T* x, T* y) const {
    copy<stores>(x, y, first_);
    if (HWY_UNLIKELY(second_.begin != second_.end))
      copy_rest<stores>(x, y, second_.begin, second_.end);
  }

 private:
  Outside first_, second_;
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
