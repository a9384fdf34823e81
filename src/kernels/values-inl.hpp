// SPDX-License-Identifier: Apache-2.0
//
// What the row kernels read and write: vectors of float or double from memory that holds float,
// double, half or bfloat16.
//
//   load, store              lanes in memory order
//   load_apart, store_apart  the members of neighbouring pairs in two vectors: x0 x2 x4 ... and x1
//                            x3 x5 ...
//
// 16-bit values become floats exactly and are rounded once, to nearest even, overflow to infinity
// and subnormals included, by the same rules on every target; results of arithmetic never carry a
// signalling NaN, so a NaN stays one. Compiled once per target.
#if defined(EIGEN_ROPE_KERNEL_VALUES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EIGEN_ROPE_KERNEL_VALUES_INL_HPP
#undef EIGEN_ROPE_KERNEL_VALUES_INL_HPP
#else
#define EIGEN_ROPE_KERNEL_VALUES_INL_HPP
#endif

#include <hwy/highway.h>

#include <Eigen/Core>
#include <cstdint>
#include <type_traits>

#include "eigen_rope/rows/detail/rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using Bits16 = hn::Rebind<std::uint16_t, D>;
template <class D>
using Bits32 = hn::RebindToUnsigned<D>;

// Rounded by arithmetic, on every target.

/// The half next to v, in lanes of 32 bits.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> half_bits(D d, hn::Vec<D> v) {
  const hn::RebindToSigned<D> di;
  const auto u = hn::BitCast(di, v);
  const auto magnitude = hn::And(u, hn::Set(di, 0x7fffffff));
  const auto sign = hn::And(hn::BitCast(di, hn::ShiftRight<16>(hn::BitCast(Bits32<D>(), u))),
                            hn::Set(di, 0x8000));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(di, 1));
  const auto normal =
      hn::ShiftRight<13>(hn::Add(hn::Add(magnitude, hn::Set(di, 0x0fff - (112 << 23))), odd));
  // The last bit of a float near 1/2 is that of a subnormal half.
  const auto half = hn::Set(d, 0.5F);
  const auto subnormal =
      hn::Sub(hn::BitCast(di, hn::Add(hn::BitCast(d, magnitude), half)), hn::BitCast(di, half));
  const auto nan =
      hn::Or(hn::And(hn::ShiftRight<13>(magnitude), hn::Set(di, 0x03ff)), hn::Set(di, 0x7e00));
  auto result = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 113 << 23)), subnormal, normal);
  result = hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, 0x477fefff)), hn::Set(di, 0x7c00), result);
  result = hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, 0x7f800000)), nan, result);
  return hn::Or(result, sign);
}

/// The bfloat16 next to v in the upper 16 bits; the lower ones are not cleared. A NaN whose lower
/// 16 bits are zero stays one: so are those that processors make, and those of bfloat16 inputs;
/// coefficients are seen to by without_payload.
template <class D>
HWY_INLINE hn::Vec<Bits32<D>> upper_half_of(D, hn::Vec<D> v) {
  const Bits32<D> du;
  const auto u = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<16>(u), hn::Set(du, 1));
  return hn::Add(hn::Add(u, hn::Set(du, 0x7fff)), odd);
}

/// Registers that loops count on.
constexpr int vector_registers = HWY_TARGET == HWY_AVX3 ? 32 : 16;

/// Whether sums are rounded by arithmetic, which needs the registers.
template <class T>
constexpr bool rounds_by_arithmetic = is_16_bit<T> ? HWY_TARGET == HWY_SSE4 : false;

/// Whether a loop out of place should take care that its stores do not cross lines: it writes
/// `elements` from y on, in vectors of `vector` bytes. Beyond the first-level cache a store across
/// lines takes 2 to 3 times as long as another. Loops over 16-bit elements are bound by converting,
/// as long as the second-level cache holds x and y.
template <class T>
bool should_not_cross_lines(const T* y, std::uintptr_t vector, Index elements) {
  constexpr Index least_bytes_of_both = is_16_bit<T> ? 2 * 1024 * 1024 : 48 * 1024;
  return reinterpret_cast<std::uintptr_t>(y) % vector != 0 &&
         2 * elements * static_cast<Index>(sizeof(T)) >= least_bytes_of_both;
}

#if HWY_TARGET != HWY_SCALAR

inline const std::uint16_t* bits(const Eigen::half* p) {
  return reinterpret_cast<const std::uint16_t*>(p);
}
inline const std::uint16_t* bits(const Eigen::bfloat16* p) {
  return reinterpret_cast<const std::uint16_t*>(p);
}
inline std::uint16_t* bits(Eigen::half* p) { return reinterpret_cast<std::uint16_t*>(p); }
inline std::uint16_t* bits(Eigen::bfloat16* p) { return reinterpret_cast<std::uint16_t*>(p); }

/// Elements of a cache line.
template <class T>
constexpr Index elements_of_line = static_cast<Index>(64 / sizeof(T));

/// A vector from memory that is used more than once. Compilers would load it for each use, which
/// costs where it lies across lines.
template <class V>
HWY_INLINE V loaded_once(V v) {
#if HWY_ARCH_X86 && (HWY_COMPILER_GCC || HWY_COMPILER_CLANG)
  asm("" : "+v"(v.raw));
#endif
  return v;
}

/// How many elements lie between p and the next line.
template <class T>
HWY_INLINE Index elements_to_line(const T* p) {
  const auto into =
      static_cast<Index>(reinterpret_cast<std::uintptr_t>(p) / sizeof(T)) % elements_of_line<T>;
  return (elements_of_line<T> - into) % elements_of_line<T>;
}

template <class D, class V>
HWY_INLINE void stream(V v, D d, hn::TFromD<D>* p) {
  hn::Stream(v, d, p);
}

template <Stores stores, class D, class V>
HWY_INLINE void store_bits(V v, D d, hn::TFromD<D>* p) {
  // A vector of less than 16 bytes would leave a piece half written.
  if constexpr (stores == Stores::streaming && hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) >= 16) {
    stream(v, d, p);
  } else {
    hn::StoreU(v, d, p);
  }
}

/// p a + q and p a - q rounded once, for a that was a 16-bit number.
#if HWY_TARGET == HWY_SSE4
/// The product is exact in double. The sum is rounded to odd there, so that rounding it to float is
/// the only one that counts.
template <class D64, class V64>
HWY_INLINE V64 sum_to_odd(D64 d, V64 p, V64 q) {
  const hn::RebindToSigned<D64> di;
  const V64 sum = hn::Add(p, q);
  const V64 q_part = hn::Sub(sum, p);
  const V64 error = hn::Add(hn::Sub(p, hn::Sub(sum, q_part)), hn::Sub(q, q_part));
  const auto bits = hn::BitCast(di, sum);
  const auto one = hn::Set(di, 1);
  const auto is_even = hn::Eq(hn::And(bits, one), hn::Zero(di));
  const auto away =
      hn::Eq(hn::ShiftRight<63>(hn::BitCast(hn::RebindToUnsigned<D64>(), hn::Xor(sum, error))),
             hn::Zero(hn::RebindToUnsigned<D64>()));
  const auto odd = hn::IfThenElse(hn::RebindMask(di, away), hn::Add(bits, one), hn::Sub(bits, one));
  // Not where the error is 0 or, beyond the range, not a number.
  const auto inexact =
      hn::RebindMask(di, hn::Or(hn::Lt(error, hn::Zero(d)), hn::Gt(error, hn::Zero(d))));
  return hn::BitCast(d, hn::IfThenElse(hn::And(is_even, inexact), odd, bits));
}

/// A function that loops call: inlined, it would be most of their code.
template <class V>
HWY_NOINLINE V fused_multiply_add(V p, V a, V q) {
  const hn::DFromV<V> d;
  const hn::Half<decltype(d)> half;
  const hn::Rebind<double, decltype(half)> wide;
  const auto part = [&](auto p_part, auto a_part, auto q_part) HWY_ATTR {
    return hn::DemoteTo(
        half, sum_to_odd(wide, hn::Mul(hn::PromoteTo(wide, p_part), hn::PromoteTo(wide, a_part)),
                         hn::PromoteTo(wide, q_part)));
  };
  return hn::Combine(d,
                     part(hn::UpperHalf(half, p), hn::UpperHalf(half, a), hn::UpperHalf(half, q)),
                     part(hn::LowerHalf(half, p), hn::LowerHalf(half, a), hn::LowerHalf(half, q)));
}

template <class V>
HWY_INLINE V fused_multiply_subtract(V p, V a, V q) {
  return fused_multiply_add(p, a, hn::Neg(q));
}
#else
template <class V>
HWY_INLINE V fused_multiply_add(V p, V a, V q) {
  return hn::MulAdd(p, a, q);
}

template <class V>
HWY_INLINE V fused_multiply_subtract(V p, V a, V q) {
  return hn::MulSub(p, a, q);
}
#endif

// p a + q and p a - q of memory's scalar T: as in sum_of_products, 16-bit values fuse.
template <class T, class V>
HWY_INLINE V multiply_add(V p, V a, V q) {
  if constexpr (is_16_bit<T>) return fused_multiply_add(p, a, q);
  return hn::Add(hn::Mul(p, a), q);
}

template <class T, class V>
HWY_INLINE V multiply_subtract(V p, V a, V q) {
  if constexpr (is_16_bit<T>) return fused_multiply_subtract(p, a, q);
  return hn::Sub(hn::Mul(p, a), q);
}

// Float and half.

#if HWY_TARGET == HWY_SSE4
template <class D, class U16>
HWY_INLINE hn::Vec<D> float_of_half(D d, U16 halves) {
  const hn::RebindToSigned<D> di;
  const auto h = hn::BitCast(di, hn::PromoteTo(Bits32<D>(), halves));
  const auto sign = hn::ShiftLeft<16>(hn::And(h, hn::Set(di, 0x8000)));
  const auto magnitude = hn::And(h, hn::Set(di, 0x7fff));
  const auto shifted = hn::ShiftLeft<13>(magnitude);
  const auto normal = hn::Add(shifted, hn::Set(di, 112 << 23));
  // 2^-14 (1 + m / 1024) - 2^-14
  const auto subnormal =
      hn::BitCast(di, hn::Sub(hn::BitCast(d, hn::Add(shifted, hn::Set(di, 113 << 23))),
                              hn::Set(d, 6.103515625e-05F)));
  const auto infinite = hn::Or(shifted, hn::Set(di, 0x7f800000));
  const auto finite = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 0x0400)), subnormal, normal);
  const auto result = hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, 0x7bff)), infinite, finite);
  return hn::BitCast(d, hn::Or(result, sign));
}

template <class D>
HWY_INLINE hn::Vec<Bits16<D>> half_of_float(D d, hn::Vec<D> v) {
  return hn::DemoteTo(Bits16<D>(), half_bits(d, v));
}
#else
/// The processor's own conversions, which follow the same rules.
template <class D, class U16>
HWY_INLINE hn::Vec<D> float_of_half(D d, U16 halves) {
  return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), halves));
}

template <class D>
HWY_INLINE hn::Vec<Bits16<D>> half_of_float(D, hn::Vec<D> v) {
  return hn::BitCast(Bits16<D>(), hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), v));
}
#endif

// Float and bfloat16.

/// Twice as many bfloat16 as d has lanes: those at even places and those at odd ones.
template <class D>
HWY_INLINE void load_apart(D d, const Eigen::bfloat16* p, hn::Vec<D>& even, hn::Vec<D>& odd) {
  const Bits32<D> du;
  const auto both =
      hn::BitCast(du, loaded_once(hn::LoadU(hn::Repartition<std::uint16_t, D>(), bits(p))));
  even = hn::BitCast(d, hn::ShiftLeft<16>(both));
  odd = hn::BitCast(d, hn::And(both, hn::Set(du, 0xffff0000U)));
}

/// Pairs of bfloat16 next to each other. Rounds all 32 bits of both vectors in lanes of 16: upper +
/// carry of (lower + 0x7fff + (upper & 1)), the carry being the first bit of that sum's half.
template <class D>
HWY_INLINE hn::Vec<hn::Repartition<std::uint16_t, D>> apart_as_stored(D, hn::Vec<D> even,
                                                                      hn::Vec<D> odd) {
  const Bits32<D> du;
  const hn::Repartition<std::uint16_t, D> d16;
  const auto even_bits = hn::BitCast(du, even);
  const auto odd_bits = hn::BitCast(du, odd);
  const auto upper =
      hn::OddEven(hn::BitCast(d16, odd_bits), hn::BitCast(d16, hn::ShiftRight<16>(even_bits)));
  const auto lower =
      hn::OddEven(hn::BitCast(d16, hn::ShiftLeft<16>(odd_bits)), hn::BitCast(d16, even_bits));
  const auto half_sum =
      hn::AverageRound(lower, hn::OrAnd(hn::Set(d16, 0x7ffe), upper, hn::Set(d16, 1)));
  return hn::Add(upper, hn::ShiftRight<15>(half_sum));
}

template <Stores stores, class D>
HWY_INLINE void store_apart(hn::Vec<D> even, hn::Vec<D> odd, D d, Eigen::bfloat16* p) {
  store_bits<stores>(apart_as_stored(d, even, odd), hn::Repartition<std::uint16_t, D>(), bits(p));
}

// Lanes in memory order.

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const hn::TFromD<D>* p) {
  return loaded_once(hn::LoadU(d, p));
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const Eigen::half* p) {
  return float_of_half(d, hn::LoadU(Bits16<D>(), bits(p)));
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const Eigen::bfloat16* p) {
  return hn::BitCast(
      d, hn::ShiftLeft<16>(hn::PromoteTo(Bits32<D>(), hn::LoadU(Bits16<D>(), bits(p)))));
}

/// What a store of v writes to memory that holds T.
template <class T, class D>
HWY_INLINE auto as_stored(D d, hn::Vec<D> v) {
  if constexpr (std::is_same_v<T, Eigen::half>) {
    return half_of_float(d, v);
  } else if constexpr (std::is_same_v<T, Eigen::bfloat16>) {
    const auto upper =
        hn::BitCast(hn::RebindToSigned<D>(), hn::ShiftRight<16>(upper_half_of(d, v)));
    return hn::DemoteTo(Bits16<D>(), upper);
  } else {
    return v;
  }
}

template <Stores stores, class D, class T>
HWY_INLINE void store(hn::Vec<D> v, D d, T* p) {
  if constexpr (is_16_bit<T>) {
    store_bits<stores>(as_stored<T>(d, v), Bits16<D>(), bits(p));
  } else {
    store_bits<stores>(v, d, p);
  }
}

// Members apart.

template <class D>
HWY_INLINE void load_apart(D d, const hn::TFromD<D>* p, hn::Vec<D>& even, hn::Vec<D>& odd) {
  hn::LoadInterleaved2(d, p, even, odd);
}
template <class D>
HWY_INLINE void load_apart(D d, const Eigen::half* p, hn::Vec<D>& even, hn::Vec<D>& odd) {
  const auto lanes = hn::Lanes(d);
  const auto lower = load(d, p);
  const auto upper = load(d, p + lanes);
  even = hn::ConcatEven(d, upper, lower);
  odd = hn::ConcatOdd(d, upper, lower);
}

/// Only for cached stores of float and double, where Highway has an operation of its own.
template <Stores stores, class D>
HWY_INLINE void store_apart(hn::Vec<D> even, hn::Vec<D> odd, D d, hn::TFromD<D>* p) {
  hn::StoreInterleaved2(even, odd, d, p);
}
template <Stores stores, class D>
HWY_INLINE void store_apart(hn::Vec<D> even, hn::Vec<D> odd, D d, Eigen::half* p) {
  const Bits32<D> du;
  const hn::Repartition<std::uint16_t, D> d16;
  const auto lower = hn::PromoteTo(du, half_of_float(d, even));
  const auto upper = hn::ShiftLeft<16>(hn::PromoteTo(du, half_of_float(d, odd)));
  store_bits<stores>(hn::BitCast(d16, hn::Or(lower, upper)), d16, bits(p));
}

#endif  // HWY_TARGET != HWY_SCALAR

/// 16-bit values as floats, exactly.
template <class T>
void widen_any(const T* from, float* to, Index count) {
  Index i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<float> d;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
  for (; i + lanes <= count; i += lanes) hn::StoreU(load(d, from + i), d, to + i);
#endif
  for (; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
