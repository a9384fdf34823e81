// SPDX-License-Identifier: Apache-2.0
#include "hand/crossings-inl.hpp"
#include "hand/lanes-inl.hpp"
#include "hand/loops-inl.hpp"

namespace bench {
namespace {

/// Rounded apart, in whole vectors of the table's scalar.
struct F32 {
  using Element = float;
  using Entry = float;
  using Vector = __m512;
  static constexpr int lanes = 16;
  static constexpr std::size_t stored_bytes = 64;

  static Vector load(const float* p) { return _mm512_loadu_ps(p); }
  template <HandStores stores>
  static void store(float* p, Vector v) {
    stores == HandStores::streaming ? _mm512_stream_ps(p, v) : _mm512_storeu_ps(p, v);
  }
  static Vector entries(const float* p) { return _mm512_loadu_ps(p); }
  static Vector entries_twice(const float* p) {
    const __m512i twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    return _mm512_permutexvar_ps(twice, _mm512_castps256_ps512(_mm256_loadu_ps(p)));
  }
  static Vector alternating(Vector v) {
    return _mm512_mask_sub_ps(v, 0x5555, _mm512_setzero_ps(), v);
  }
  static Vector swapped(Vector v) { return _mm512_permute_ps(v, 0xB1); }
  static Vector times(Vector a, Vector b) { return _mm512_mul_ps(a, b); }
  static Vector plus_product(Vector a, Vector b, Vector c) {
    return _mm512_add_ps(_mm512_mul_ps(a, b), c);
  }
  static Vector minus_product(Vector a, Vector b, Vector c) {
    return _mm512_sub_ps(_mm512_mul_ps(a, b), c);
  }

  struct Sum {
    __m512d lower, upper;
  };
  static Sum zero() { return {_mm512_setzero_pd(), _mm512_setzero_pd()}; }
  static __m512d lower(Vector v) { return _mm512_cvtps_pd(_mm512_castps512_ps256(v)); }
  static __m512d upper(Vector v) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)); }
  static void add(Sum& sum, Vector v) {
    sum.lower = _mm512_add_pd(sum.lower, lower(v));
    sum.upper = _mm512_add_pd(sum.upper, upper(v));
  }
  static void put(const Sum& sum, double* to) {
    _mm512_storeu_pd(to, sum.lower);
    _mm512_storeu_pd(to + 8, sum.upper);
  }
  /// a0 - a1, a2 - a3, ... of the elements of v, then of w.
  static Vector differences(Vector v, Vector w) {
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd =
        _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return _mm512_sub_ps(_mm512_permutex2var_ps(v, even, w), _mm512_permutex2var_ps(v, odd, w));
  }
};

struct F64 {
  using Element = double;
  using Entry = double;
  using Vector = __m512d;
  static constexpr int lanes = 8;
  static constexpr std::size_t stored_bytes = 64;

  static Vector load(const double* p) { return _mm512_loadu_pd(p); }
  template <HandStores stores>
  static void store(double* p, Vector v) {
    stores == HandStores::streaming ? _mm512_stream_pd(p, v) : _mm512_storeu_pd(p, v);
  }
  static Vector entries(const double* p) { return _mm512_loadu_pd(p); }
  static Vector entries_twice(const double* p) {
    const __m512i twice = _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3);
    return _mm512_permutexvar_pd(twice, _mm512_castpd256_pd512(_mm256_loadu_pd(p)));
  }
  static Vector alternating(Vector v) {
    return _mm512_mask_sub_pd(v, 0x55, _mm512_setzero_pd(), v);
  }
  static Vector swapped(Vector v) { return _mm512_permute_pd(v, 0x55); }
  static Vector times(Vector a, Vector b) { return _mm512_mul_pd(a, b); }
  static Vector plus_product(Vector a, Vector b, Vector c) {
    return _mm512_add_pd(_mm512_mul_pd(a, b), c);
  }
  static Vector minus_product(Vector a, Vector b, Vector c) {
    return _mm512_sub_pd(_mm512_mul_pd(a, b), c);
  }
};

/// 16-bit elements, computed in float with one product fused.
struct Narrow {
  using Element = std::uint16_t;
  using Entry = float;
  using Vector = __m512;
  static constexpr int lanes = 16;
  static constexpr std::size_t stored_bytes = 32;

  template <HandStores stores>
  static void store_bits(Element* p, __m256i v) {
    auto* to = reinterpret_cast<__m256i*>(p);
    stores == HandStores::streaming ? _mm256_stream_si256(to, v) : _mm256_storeu_si256(to, v);
  }
  static Vector entries(const float* p) { return F32::entries(p); }
  static Vector entries_twice(const float* p) { return F32::entries_twice(p); }
  static Vector alternating(Vector v) { return F32::alternating(v); }
  static Vector swapped(Vector v) { return F32::swapped(v); }
  static Vector times(Vector a, Vector b) { return _mm512_mul_ps(a, b); }
  static Vector plus_product(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
  static Vector minus_product(Vector a, Vector b, Vector c) { return _mm512_fmsub_ps(a, b, c); }
};

struct F16 : Narrow {
  static Vector load(const Element* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  template <HandStores stores>
  static void store(Element* p, Vector v) {
    store_bits<stores>(p, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
  }
};

/// Pairs of neighbouring elements, which a shift and a mask make floats of. They are rounded to
/// nearest even by arithmetic, subnormals included, which the processor's own conversion turns to
/// 0.
struct BF16 {
  using Element = std::uint16_t;
  using Entry = float;
  struct Vector {
    __m512 even, odd;
  };
  static constexpr int lanes = 32;
  static constexpr std::size_t stored_bytes = 64;

  static Vector load(const Element* p) {
    const __m512i both = _mm512_loadu_si512(p);
    return {_mm512_castsi512_ps(_mm512_slli_epi32(both, 16)),
            _mm512_castsi512_ps(_mm512_and_si512(both, _mm512_set1_epi32(~0xffff)))};
  }
  template <HandStores stores>
  static void store(Element* p, Vector v) {
    constexpr __mmask32 odd_places = 0xaaaaaaaa;
    const __m512i even = _mm512_castps_si512(v.even);
    const __m512i odd = _mm512_castps_si512(v.odd);
    const __m512i upper = _mm512_mask_blend_epi16(odd_places, _mm512_srli_epi32(even, 16), odd);
    const __m512i lower = _mm512_mask_blend_epi16(odd_places, even, _mm512_slli_epi32(odd, 16));
    const __m512i to_even =
        _mm512_ternarylogic_epi32(_mm512_set1_epi16(0x7ffe), upper, _mm512_set1_epi16(1), 0xf8);
    const __m512i carry = _mm512_srli_epi16(_mm512_avg_epu16(lower, to_even), 15);
    const __m512i rounded = _mm512_add_epi16(upper, carry);
    auto* to = reinterpret_cast<__m512i*>(p);
    stores == HandStores::streaming ? _mm512_stream_si512(to, rounded)
                                    : _mm512_storeu_si512(to, rounded);
  }
  static Vector entries(const float* p) {
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd =
        _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    const __m512 v = _mm512_loadu_ps(p);
    const __m512 w = _mm512_loadu_ps(p + 16);
    return {_mm512_permutex2var_ps(v, even, w), _mm512_permutex2var_ps(v, odd, w)};
  }
  static Vector entries_twice(const float* p) { return {_mm512_loadu_ps(p), _mm512_loadu_ps(p)}; }
  static Vector alternating(Vector v) {
    return {_mm512_sub_ps(_mm512_setzero_ps(), v.even), v.odd};
  }
  static Vector swapped(Vector v) { return {v.odd, v.even}; }
  static Vector times(Vector a, Vector b) {
    return {_mm512_mul_ps(a.even, b.even), _mm512_mul_ps(a.odd, b.odd)};
  }
  static Vector plus_product(Vector a, Vector b, Vector c) {
    return {_mm512_fmadd_ps(a.even, b.even, c.even), _mm512_fmadd_ps(a.odd, b.odd, c.odd)};
  }
  static Vector minus_product(Vector a, Vector b, Vector c) {
    return {_mm512_fmsub_ps(a.even, b.even, c.even), _mm512_fmsub_ps(a.odd, b.odd, c.odd)};
  }
};

}  // namespace

HandLoops hand_loops_avx512(HandScalar scalar, HandPairs pairs, std::ptrdiff_t head_size,
                            std::ptrdiff_t rotary) {
  switch (scalar) {
    case HandScalar::f32: return loops_of<F32>(pairs, head_size, rotary);
    case HandScalar::f64: return loops_of<F64>(pairs, head_size, rotary);
    case HandScalar::f16: return loops_of<F16>(pairs, head_size, rotary);
    case HandScalar::bf16: return loops_of<BF16>(pairs, head_size, rotary);
  }
  return {};
}

void add_hand_lane_loops_avx512(HandLaneLoops& list, HandScalar scalar) {
  switch (scalar) {
    case HandScalar::f32: return add_lane_loops<F32>(list);
    case HandScalar::f64: return add_lane_loops<F64>(list);
    case HandScalar::f16: return add_lane_loops<F16>(list);
    case HandScalar::bf16: return add_lane_loops<BF16>(list);
  }
}

HandCrossings hand_crossings_avx512(HandScalar scalar, HandPairs pairs) {
  switch (scalar) {
    case HandScalar::f32: return crossings_of<F32>(pairs);
    case HandScalar::f64: return crossings_of<F64>(pairs);
    case HandScalar::f16: return crossings_of<F16>(pairs);
    case HandScalar::bf16: return crossings_of<BF16>(pairs);
  }
  return {};
}

HandGradients hand_gradients_avx512(HandPairs pairs) { return gradients_of<F32>(pairs); }

}  // namespace bench
