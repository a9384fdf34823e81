// SPDX-License-Identifier: Apache-2.0
//
// The elements of a row outside its window, which a rotation copies.
//
//   copy_outside   both stretches of a row, before the window and behind it
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

#include "eigen_rope/rows/detail/rows.hpp"
#include "kernels/values-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// Less than a vector, or what is left of a streamed row from element i on. Apart from the loops,
/// which most rows do not leave.
template <Stores stores, class T>
HWY_NOINLINE void copy_rest(const T* from, T* to, Index i, Index count) {
  if constexpr (stores == Stores::streaming) {
    // A line written half past the cache and half through it costs hundreds of nanoseconds.
    using Bits = hwy::UnsignedFromSize<sizeof(T)>;
    constexpr Index lanes = 16 / sizeof(Bits);
    const hn::CappedTag<Bits, lanes> d;
    for (; i + lanes <= count; i += lanes) {
      store_bits<stores>(hn::LoadU(d, reinterpret_cast<const Bits*>(from + i)), d,
                         reinterpret_cast<Bits*>(to + i));
    }
  }
  if (i < count) std::memcpy(to + i, from + i, static_cast<std::size_t>(count - i) * sizeof(T));
}

template <Stores stores, class T>
HWY_INLINE void copy(const T* from, T* to, Index count) {
  using Bits = hwy::UnsignedFromSize<sizeof(T)>;
  const hn::ScalableTag<Bits> d;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
  const auto* source = reinterpret_cast<const Bits*>(from);
  auto* target = reinterpret_cast<Bits*>(to);
  Index i = 0;
  for (; i + lanes <= count; i += lanes)
    store_bits<stores>(hn::LoadU(d, source + i), d, target + i);
  if (i == count) return;
  if (stores == Stores::cached && i > 0) {
    const hn::Half<decltype(d)> half;
    constexpr Index half_lanes = lanes / 2;
    if (count - i <= half_lanes) {
      hn::StoreU(hn::LoadU(half, source + count - half_lanes), half, target + count - half_lanes);
    } else {
      hn::StoreU(hn::LoadU(d, source + count - lanes), d, target + count - lanes);
    }
  } else {
    copy_rest<stores>(from, to, i, count);
  }
}

/// Everything outside the window: what is in front of it, if there is anything, and what is behind.
/// A loop, so that each pass has the code of a copy once.
template <Stores stores, class T>
HWY_INLINE void copy_outside(const RowPlan& plan, const T* x, T* y) {
  const Index row_end = plan.row_length - plan.offset;
  Index begin = plan.offset > 0 ? -plan.offset : plan.rotary_dims;
  Index end = plan.offset > 0 ? 0 : row_end;
  for (;;) {
    copy<stores>(x + begin, y + begin, end - begin);
    if (end == row_end) return;
    begin = plan.rotary_dims;
    end = row_end;
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
