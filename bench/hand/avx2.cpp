// SPDX-License-Identifier: Apache-2.0
#include "hand/crossings-inl.hpp"
#include "hand/lanes-inl.hpp"
#include "hand/loops-inl.hpp"

namespace bench {
namespace {

struct F32 {
  using Element = float;
  using Entry = float;
  using Vector = __m256;
  static constexpr int lanes = 8;
  static constexpr std::size_t stored_bytes = 32;

  static Vector load(const float* p) { return _mm256_loadu_ps(p); }
  template <HandStores stores>
  static void store(float* p, Vector v) {
    stores == HandStores::streaming ? _mm256_stream_ps(p, v) : _mm256_storeu_ps(p, v);
  }
  static Vector entries(const float* p) { return _mm256_loadu_ps(p); }
  static Vector entries_twice(const float* p) {
    const __m256i twice = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
    return _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), twice);
  }
  static Vector alternating(Vector v) {
    return _mm256_xor_ps(v, _mm256_setr_ps(-0.F, 0.F, -0.F, 0.F, -0.F, 0.F, -0.F, 0.F));
  }
  static Vector swapped(Vector v) { return _mm256_permute_ps(v, 0xB1); }
  static Vector times(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
  static Vector plus_product(Vector a, Vector b, Vector c) {
    return _mm256_add_ps(_mm256_mul_ps(a, b), c);
  }
  static Vector minus_product(Vector a, Vector b, Vector c) {
    return _mm256_sub_ps(_mm256_mul_ps(a, b), c);
  }

  struct Sum {
    __m256d lower, upper;
  };
  static Sum zero() { return {_mm256_setzero_pd(), _mm256_setzero_pd()}; }
  static __m256d lower(Vector v) { return _mm256_cvtps_pd(_mm256_castps256_ps128(v)); }
  static __m256d upper(Vector v) { return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)); }
  static void add(Sum& sum, Vector v) {
    sum.lower = _mm256_add_pd(sum.lower, lower(v));
    sum.upper = _mm256_add_pd(sum.upper, upper(v));
  }
  static void put(const Sum& sum, double* to) {
    _mm256_storeu_pd(to, sum.lower);
    _mm256_storeu_pd(to + 4, sum.upper);
  }
  /// a0 - a1, a2 - a3, ... of the elements of v, then of w.
  static Vector differences(Vector v, Vector w) {
    const __m256d mixed = _mm256_castps_pd(_mm256_hsub_ps(v, w));
    return _mm256_castpd_ps(_mm256_permute4x64_pd(mixed, 0xD8));
  }
};

struct F64 {
  using Element = double;
  using Entry = double;
  using Vector = __m256d;
  static constexpr int lanes = 4;
  static constexpr std::size_t stored_bytes = 32;

  static Vector load(const double* p) { return _mm256_loadu_pd(p); }
  template <HandStores stores>
  static void store(double* p, Vector v) {
    stores == HandStores::streaming ? _mm256_stream_pd(p, v) : _mm256_storeu_pd(p, v);
  }
  static Vector entries(const double* p) { return _mm256_loadu_pd(p); }
  static Vector entries_twice(const double* p) {
    return _mm256_permute4x64_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p)), 0x50);
  }
  static Vector alternating(Vector v) {
    return _mm256_xor_pd(v, _mm256_setr_pd(-0.0, 0.0, -0.0, 0.0));
  }
  static Vector swapped(Vector v) { return _mm256_permute_pd(v, 0x5); }
  static Vector times(Vector a, Vector b) { return _mm256_mul_pd(a, b); }
  static Vector plus_product(Vector a, Vector b, Vector c) {
    return _mm256_add_pd(_mm256_mul_pd(a, b), c);
  }
  static Vector minus_product(Vector a, Vector b, Vector c) {
    return _mm256_sub_pd(_mm256_mul_pd(a, b), c);
  }
};

/// 16-bit elements, computed in float with one product fused.
struct Narrow {
  using Element = std::uint16_t;
  using Entry = float;
  using Vector = __m256;
  static constexpr int lanes = 8;
  static constexpr std::size_t stored_bytes = 32;  // of the elements that are copied

  template <HandStores stores>
  static void store_bits(Element* p, __m128i v) {
    auto* to = reinterpret_cast<__m128i*>(p);
    stores == HandStores::streaming ? _mm_stream_si128(to, v) : _mm_storeu_si128(to, v);
  }
  static Vector entries(const float* p) { return F32::entries(p); }
  static Vector entries_twice(const float* p) { return F32::entries_twice(p); }
  static Vector alternating(Vector v) { return F32::alternating(v); }
  static Vector swapped(Vector v) { return F32::swapped(v); }
  static Vector times(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
  static Vector plus_product(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
  static Vector minus_product(Vector a, Vector b, Vector c) { return _mm256_fmsub_ps(a, b, c); }
};

struct F16 : Narrow {
  static Vector load(const Element* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  template <HandStores stores>
  static void store(Element* p, Vector v) {
    store_bits<stores>(p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
  }
};

/// Pairs of neighbouring elements, which a shift and a mask make floats of. They are rounded to
/// nearest even by arithmetic, subnormals included.
struct BF16 {
  using Element = std::uint16_t;
  using Entry = float;
  struct Vector {
    __m256 even, odd;
  };
  static constexpr int lanes = 16;
  static constexpr std::size_t stored_bytes = 32;

  static Vector load(const Element* p) {
    const __m256i both = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return {_mm256_castsi256_ps(_mm256_slli_epi32(both, 16)),
            _mm256_castsi256_ps(_mm256_and_si256(both, _mm256_set1_epi32(~0xffff)))};
  }
  template <HandStores stores>
  static void store(Element* p, Vector v) {
    const __m256i even = _mm256_castps_si256(v.even);
    const __m256i odd = _mm256_castps_si256(v.odd);
    const __m256i upper = _mm256_blend_epi16(_mm256_srli_epi32(even, 16), odd, 0xaa);
    const __m256i lower = _mm256_blend_epi16(even, _mm256_slli_epi32(odd, 16), 0xaa);
    const __m256i to_even =
        _mm256_or_si256(_mm256_set1_epi16(0x7ffe), _mm256_and_si256(upper, _mm256_set1_epi16(1)));
    const __m256i carry = _mm256_srli_epi16(_mm256_avg_epu16(lower, to_even), 15);
    const __m256i rounded = _mm256_add_epi16(upper, carry);
    auto* to = reinterpret_cast<__m256i*>(p);
    stores == HandStores::streaming ? _mm256_stream_si256(to, rounded)
                                    : _mm256_storeu_si256(to, rounded);
  }
  static Vector entries(const float* p) {
    const __m256 v = _mm256_loadu_ps(p);
    const __m256 w = _mm256_loadu_ps(p + 8);
    const auto in_order = [](__m256 mixed) {
      return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(mixed), 0xd8));
    };
    return {in_order(_mm256_shuffle_ps(v, w, 0x88)), in_order(_mm256_shuffle_ps(v, w, 0xdd))};
  }
  static Vector entries_twice(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p)}; }
  static Vector alternating(Vector v) {
    return {_mm256_xor_ps(v.even, _mm256_set1_ps(-0.F)), v.odd};
  }
  static Vector swapped(Vector v) { return {v.odd, v.even}; }
  static Vector times(Vector a, Vector b) {
    return {_mm256_mul_ps(a.even, b.even), _mm256_mul_ps(a.odd, b.odd)};
  }
  static Vector plus_product(Vector a, Vector b, Vector c) {
    return {_mm256_fmadd_ps(a.even, b.even, c.even), _mm256_fmadd_ps(a.odd, b.odd, c.odd)};
  }
  static Vector minus_product(Vector a, Vector b, Vector c) {
    return {_mm256_fmsub_ps(a.even, b.even, c.even), _mm256_fmsub_ps(a.odd, b.odd, c.odd)};
  }
};

}  // namespace

HandLoops hand_loops_avx2(HandScalar scalar, HandPairs pairs, std::ptrdiff_t head_size,
                          std::ptrdiff_t rotary) {
  switch (scalar) {
    case HandScalar::f32: return loops_of<F32>(pairs, head_size, rotary);
    case HandScalar::f64: return loops_of<F64>(pairs, head_size, rotary);
    case HandScalar::f16: return loops_of<F16>(pairs, head_size, rotary);
    case HandScalar::bf16: return loops_of<BF16>(pairs, head_size, rotary);
  }
  return {};
}

void add_hand_lane_loops_avx2(HandLaneLoops& list, HandScalar scalar) {
  switch (scalar) {
    case HandScalar::f32: return add_lane_loops<F32>(list);
    case HandScalar::f64: return add_lane_loops<F64>(list);
    case HandScalar::f16: return add_lane_loops<F16>(list);
    case HandScalar::bf16: return add_lane_loops<BF16>(list);
  }
}

HandCrossings hand_crossings_avx2(HandScalar scalar, HandPairs pairs) {
  switch (scalar) {
    case HandScalar::f32: return crossings_of<F32>(pairs);
    case HandScalar::f64: return crossings_of<F64>(pairs);
    case HandScalar::f16: return crossings_of<F16>(pairs);
    case HandScalar::bf16: return crossings_of<BF16>(pairs);
  }
  return {};
}

HandGradients hand_gradients_avx2(HandPairs pairs) { return gradients_of<F32>(pairs); }

}  // namespace bench
