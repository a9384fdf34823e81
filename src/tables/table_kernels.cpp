// SPDX-License-Identifier: Apache-2.0
//
// Sines and cosines in double, several pairs at a time.
//
// position * rate is counted in quarter turns, as an error-free product; its whole part says which
// of +-sin and +-cos an entry is, and the rest x, |x| <= 1/2, goes into two polynomials.
// Consecutive positions are sums of a base and a small offset, so that their entries are products
// of two complex numbers. Targets without a fused multiply-add form the error-free product from
// halves (Dekker 1971).
#include "tables/table_kernels.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tables/table_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/transpose-inl.hpp"
#include "kernels/values-inl.hpp"
#include "machine/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
using Floats = hn::Rebind<float, D>;
using Words = hn::Rebind<std::uint32_t, D>;

/// The error of an entry of size 1 by the series: five roundings of the angle, the polynomial and
/// m, and 2^-51 of the polynomial itself, are below 2^-49; doubled. The rounded parts of the
/// angle's product add at most 2^-100 of its size in quarter turns, quadrupled.
constexpr double series_error = 0x1p-48;
constexpr double product_error = 0x1p-98;
/// The same of a product of two such, each off by 2^-49, and three roundings.
constexpr double turned_error = 0x1p-47;

HWY_INLINE V product_rest(D d, V a, V b, V product) {
#if HWY_NATIVE_FMA
  (void)d;
  return hn::MulSub(a, b, product);
#else
  const V splitter = hn::Set(d, 134217729.0);  // 2^27 + 1
  const V a_scaled = hn::Mul(a, splitter);
  const V b_scaled = hn::Mul(b, splitter);
  const V a_high = hn::Sub(a_scaled, hn::Sub(a_scaled, a));
  const V b_high = hn::Sub(b_scaled, hn::Sub(b_scaled, b));
  const V a_low = hn::Sub(a, a_high);
  const V b_low = hn::Sub(b, b_high);
  const V rest = hn::Add(hn::Add(hn::Sub(hn::Mul(a_high, b_high), product), hn::Mul(a_high, b_low)),
                         hn::Mul(a_low, b_high));
  return hn::Add(rest, hn::Mul(a_low, b_low));
#endif
}

/// m cos and m sin of some angles, and the part of their error that does not shrink with them.
struct Turned {
  V cos;
  V sin;
  V error;
};

HWY_INLINE Turned turn(D d, V position, V rate_high, V rate_low, const QuarterTurnSeries& series) {
  const V product = hn::Mul(position, rate_high);
  const V rest = hn::MulAdd(position, rate_low, product_rest(d, position, rate_high, product));
  // Adding 1.5 * 2^52 rounds to an integer and leaves it in the lowest bits.
  const V integer_place = hn::Set(d, 6755399441055744.0);
  const V placed = hn::Add(product, integer_place);
  const V x = hn::Add(hn::Sub(product, hn::Sub(placed, integer_place)), rest);

  const V z = hn::Mul(x, x);
  V sin = hn::Set(d, series.sin[6]);
  V cos = hn::Set(d, series.cos[6]);
  for (int i = 5; i >= 0; --i) {
    sin = hn::MulAdd(sin, z, hn::Set(d, series.sin[static_cast<std::size_t>(i)]));
    cos = hn::MulAdd(cos, z, hn::Set(d, series.cos[static_cast<std::size_t>(i)]));
  }
  sin = hn::Mul(sin, x);

  const hn::RebindToUnsigned<D> bits;
  const auto quarters = hn::BitCast(bits, placed);
  const auto one = hn::Set(bits, 1);
  const auto sign = hn::Set(bits, std::uint64_t{1} << 63);
  const auto odd = hn::RebindMask(d, hn::TestBit(quarters, one));
  const V sin_sign = hn::BitCast(d, hn::And(hn::ShiftLeft<62>(quarters), sign));
  const V cos_sign = hn::BitCast(d, hn::And(hn::ShiftLeft<62>(hn::Add(quarters, one)), sign));
  const V scale = hn::Set(d, product_error * std::max(series.cos[0], -series.cos[0]));
  return {hn::Xor(hn::IfThenElse(odd, sin, cos), cos_sign),
          hn::Xor(hn::IfThenElse(odd, cos, sin), sin_sign), hn::Mul(hn::Abs(product), scale)};
}

/// Vectors v - e and v + e rounded to a scalar, as its bits. For 16 bits e must be above 2^-24 |v|,
/// so that rounding to float first cannot hide a midpoint between v - e and v + e.
template <class Scalar>
struct Rounding;

template <>
struct Rounding<float> {
  static constexpr double least_error = 0;
  using Lanes = Floats;
  static HWY_INLINE hn::Vec<Lanes> round(V v) { return hn::DemoteTo(Floats(), v); }
  static HWY_INLINE void store(hn::Vec<Lanes> v, float* to) { hn::StoreU(v, Floats(), to); }
};

/// What both 16-bit types share: values in the low halves of 32-bit lanes.
struct Rounding16 {
  static constexpr double least_error = 0x1p-23;
  using Lanes = Words;
  template <class Scalar>
  static HWY_INLINE void store(hn::Vec<Words> v, Scalar* to) {
    const hn::Rebind<std::uint16_t, D> halves;
    hn::StoreU(hn::DemoteTo(halves, hn::BitCast(hn::Rebind<std::int32_t, D>(), v)), halves,
               reinterpret_cast<std::uint16_t*>(to));
  }
};

template <>
struct Rounding<Eigen::bfloat16> : Rounding16 {
  static HWY_INLINE hn::Vec<Words> round(V v) {
    return hn::ShiftRight<16>(upper_half_of(Floats(), hn::DemoteTo(Floats(), v)));
  }
};

template <>
struct Rounding<Eigen::half> : Rounding16 {
  static HWY_INLINE hn::Vec<Words> round(V v) {
    return hn::BitCast(Words(), half_bits(Floats(), hn::DemoteTo(Floats(), v)));
  }
};

/// Some entries of a row, at most a vector's, from pair `first` on.
template <class Scalar>
struct Entries {
  Scalar* cos;
  Scalar* sin;
  Index first;
  Index count;
};

template <class Scalar>
HWY_NOINLINE void mend(const TableRates& rates, const double* positions, RowPositions kind,
                       const Entries<Scalar> to, unsigned doubtful) {
  for (Index i = 0; i < to.count; ++i) {
    if ((doubtful >> i & 1) == 0) continue;
    const double position = positions[kind == RowPositions::one_each ? i : 0];
    exact_entry(rates.turns[to.first + i], rates.m, position, to.cos[i], to.sin[i]);
  }
}

/// Writes rounded entries and returns a bit for each that may be wrong.
template <class Scalar>
HWY_INLINE unsigned store_rounded(D d, V cos, V sin, V cos_error, V sin_error,
                                  const Entries<Scalar>& to) {
  using R = Rounding<Scalar>;
  const typename R::Lanes lanes;
  if constexpr (R::least_error > 0) {
    // No zero with a sign, which would look doubtful.
    cos = hn::Add(cos, hn::Zero(d));
    sin = hn::Add(sin, hn::Zero(d));
    const V least = hn::Set(d, R::least_error);
    cos_error = hn::MulAdd(hn::Abs(cos), least, cos_error);
    sin_error = hn::MulAdd(hn::Abs(sin), least, sin_error);
  }
  const auto cos_above = R::round(hn::Add(cos, cos_error));
  const auto sin_above = R::round(hn::Add(sin, sin_error));
  const auto doubtful = hn::Or(hn::Ne(cos_above, R::round(hn::Sub(cos, cos_error))),
                               hn::Ne(sin_above, R::round(hn::Sub(sin, sin_error))));
  if (HWY_LIKELY(to.count == static_cast<Index>(hn::Lanes(d)))) {
    R::store(cos_above, to.cos);
    R::store(sin_above, to.sin);
  } else {
    Scalar some[table_lanes];
    R::store(cos_above, some);
    std::copy(some, some + to.count, to.cos);
    R::store(sin_above, some);
    std::copy(some, some + to.count, to.sin);
  }
  if (HWY_LIKELY(hn::AllFalse(lanes, doubtful))) return 0;
  std::uint8_t bits[8];
  hn::StoreMaskBits(lanes, doubtful, bits);
  return bits[0];
}

template <RowPositions kind, class Scalar>
HWY_INLINE void fill_row_of(const TableRates& rates, const double* positions, Scalar* cos,
                            Scalar* sin) {
  const D d;
  const auto step = static_cast<Index>(hn::Lanes(d));
  const QuarterTurnSeries series = rates.series;
  const V error = hn::Set(d, series_error);
  for (Index k = 0; k < rates.pairs; k += step) {
    const Entries<Scalar> to{cos + k, sin + k, k, std::min(step, rates.pairs - k)};
    double some[table_lanes] = {};
    const double* from = positions;
    V position;
    if constexpr (kind == RowPositions::one_for_all) {
      position = hn::Set(d, *from);
    } else {
      from += k;
      if (to.count < step) from = std::copy(from, from + to.count, some) - to.count;
      position = hn::LoadU(d, from);
    }
    const Turned v =
        turn(d, position, hn::Load(d, rates.high + k), hn::Load(d, rates.low + k), series);
    const V cos_error = hn::MulAdd(hn::Abs(v.cos), error, v.error);
    const V sin_error = hn::MulAdd(hn::Abs(v.sin), error, v.error);
    const unsigned doubtful = store_rounded(d, v.cos, v.sin, cos_error, sin_error, to);
    if (HWY_UNLIKELY(doubtful != 0)) mend(rates, from, kind, to, doubtful);
  }
}

template <class Scalar>
void fill_row(const TableRates& rates, const double* positions, RowPositions kind, Scalar* cos,
              Scalar* sin) {
  if (kind == RowPositions::one_for_all) {
    fill_row_of<RowPositions::one_for_all>(rates, positions, cos, sin);
  } else {
    fill_row_of<RowPositions::one_each>(rates, positions, cos, sin);
  }
}

void fill_offsets(const TableRates& rates, double* offsets) {
  const D d;
  const Index width = padded_pairs(rates.pairs);
  double* cos = offsets;
  double* sin = offsets + table_offsets * width;
  for (Index i = 0; i < table_offsets; ++i) {
    const V position = hn::Set(d, static_cast<double>(i));
    for (Index k = 0; k < width; k += static_cast<Index>(hn::Lanes(d))) {
      const Turned v =
          turn(d, position, hn::Load(d, rates.high + k), hn::Load(d, rates.low + k), rates.series);
      hn::Store(v.cos, d, cos + i * width + k);
      hn::Store(v.sin, d, sin + i * width + k);
    }
  }
}

/// The errors of entries that are turned from a base position: cosines by `cos`, sines by what the
/// base says and `scale` times the offset's sine.
struct TurnErrors {
  V cos;
  V scale;
};
HWY_INLINE TurnErrors turn_errors(D d, const TableRates& rates) {
  const double m = std::max(rates.m.high, -rates.m.high);
  // product_error of a product up to 2^44 is less than 2^-53.
  return {hn::Set(d, m * (turned_error + 0x1p-53)), hn::Set(d, m * turned_error)};
}

/// m cos and m sin of a base position for the pairs from k on, and the constant part of the error
/// of the sines made from them.
HWY_INLINE Turned base_of(D d, const TableRates& rates, double position, Index k) {
  const Turned v = turn(d, hn::Set(d, position), hn::Load(d, rates.high + k),
                        hn::Load(d, rates.low + k), rates.series);
  return {v.cos, v.sin, hn::MulAdd(hn::Abs(v.sin), hn::Set(d, turned_error), v.error)};
}

/// Writes the entries of a base turned by offsets with cosines c and sines s. Returns a bit for
/// each that may be wrong.
template <class Scalar>
HWY_INLINE unsigned store_turned(D d, const Turned& base, V c, V s, const TurnErrors& errors,
                                 const Entries<Scalar>& to) {
  return store_rounded(d, hn::NegMulAdd(base.sin, s, hn::Mul(base.cos, c)),
                       hn::MulAdd(base.cos, s, hn::Mul(base.sin, c)), errors.cos,
                       hn::MulAdd(hn::Abs(s), errors.scale, base.error), to);
}

/// Those of some pairs.
struct Bases {
  static constexpr Index size = 128;
  HWY_ALIGN double cos[size];
  HWY_ALIGN double sin[size];
  HWY_ALIGN double error[size];

  HWY_INLINE void store(D d, const Turned& base, Index at) {
    hn::Store(base.cos, d, cos + at);
    hn::Store(base.sin, d, sin + at);
    hn::Store(base.error, d, error + at);
  }
};

/// Rows are written in memory order: by columns, half a cache line at a time, a 2 MB table took 1.2
/// times as long.
template <class Scalar>
void fill_rows(const TableRates& rates, const double* offsets, double first, Index count,
               Scalar* cos, Scalar* sin) {
  const D d;
  const auto step = static_cast<Index>(hn::Lanes(d));
  const Index pairs = rates.pairs;
  const Index width = padded_pairs(pairs);
  const TurnErrors errors = turn_errors(d, rates);
  Bases bases;
  for (Index begin = 0; begin < count; begin += table_offsets) {
    const Index rows = std::min(table_offsets, count - begin);
    const double base = first + static_cast<double>(begin);
    for (Index k0 = 0; k0 < pairs; k0 += Bases::size) {
      const Index k1 = std::min(pairs, k0 + Bases::size);
      for (Index k = k0; k < k1; k += step) bases.store(d, base_of(d, rates, base, k), k - k0);
      for (Index i = 0; i < rows; ++i) {
        const double* cos_offset = offsets + i * width;
        const double* sin_offset = cos_offset + table_offsets * width;
        Scalar* cos_row = cos + (begin + i) * pairs;
        Scalar* sin_row = sin + (begin + i) * pairs;
        for (Index k = k0; k < k1; k += step) {
          const Turned from{hn::Load(d, bases.cos + (k - k0)), hn::Load(d, bases.sin + (k - k0)),
                            hn::Load(d, bases.error + (k - k0))};
          const Entries<Scalar> to{cos_row + k, sin_row + k, k, std::min(step, k1 - k)};
          const unsigned doubtful = store_turned(d, from, hn::Load(d, cos_offset + k),
                                                 hn::Load(d, sin_offset + k), errors, to);
          if (HWY_UNLIKELY(doubtful != 0)) {
            const double position = base + static_cast<double>(i);
            mend(rates, &position, RowPositions::one_for_all, to, doubtful);
          }
        }
      }
    }
  }
}

/// `count` entries of one pair, at most table_offsets, for positions base, base + 1, ...
struct Column {
  const double* cos_offsets;
  const double* sin_offsets;
  double base;
  Index pair;
  Index count;
};

template <class Scalar>
HWY_INLINE void fill_column(const TableRates& rates, const Column& column, const Turned& base,
                            const TurnErrors& errors, Scalar* cos, Scalar* sin) {
  const D d;
  const auto step = static_cast<Index>(hn::Lanes(d));
  for (Index i = 0; i < column.count; i += step) {
    const Entries<Scalar> to{cos + i, sin + i, column.pair, std::min(step, column.count - i)};
    unsigned doubtful = store_turned(d, base, hn::Load(d, column.cos_offsets + i),
                                     hn::Load(d, column.sin_offsets + i), errors, to);
    for (Index lane = 0; HWY_UNLIKELY(doubtful != 0) && lane < to.count; ++lane, doubtful >>= 1) {
      const double position = column.base + static_cast<double>(i + lane);
      const Entries<Scalar> one{to.cos + lane, to.sin + lane, column.pair, 1};
      mend(rates, &position, RowPositions::one_for_all, one, doubtful & 1);
    }
  }
}

/// Bases of several runs of offsets at a time: a pair is then written a few lines at a time, and
/// its offsets, which are transposed first, serve them all.
template <class Scalar>
void fill_columns(const TableRates& rates, const double* offsets, double first, Index count,
                  Index pair_step, Scalar* cos, Scalar* sin) {
  constexpr Index most_runs = 8;
  const D d;
  const auto step = static_cast<Index>(hn::Lanes(d));
  const Index width = padded_pairs(rates.pairs);
  const TurnErrors errors = turn_errors(d, rates);
  HWY_ALIGN double cos_offsets[table_lanes * table_offsets];
  HWY_ALIGN double sin_offsets[table_lanes * table_offsets];
  Bases bases;
  static_assert(most_runs * table_lanes <= Bases::size);
  for (Index k0 = 0; k0 < rates.pairs; k0 += step) {
    const auto* cos_bits = reinterpret_cast<const std::uint64_t*>(offsets + k0);
    const auto* sin_bits = cos_bits + table_offsets * width;
    transpose(cos_bits, width, reinterpret_cast<std::uint64_t*>(cos_offsets), table_offsets,
              table_offsets, step);
    transpose(sin_bits, width, reinterpret_cast<std::uint64_t*>(sin_offsets), table_offsets,
              table_offsets, step);
    for (Index begin = 0; begin < count; begin += most_runs * table_offsets) {
      const Index rows = std::min(most_runs * table_offsets, count - begin);
      const double base = first + static_cast<double>(begin);
      for (Index i = 0, run = 0; i < rows; i += table_offsets, ++run)
        bases.store(d, base_of(d, rates, base + static_cast<double>(i), k0), run * step);
      for (Index j = 0; j < std::min(step, rates.pairs - k0); ++j) {
        Scalar* const cos_column = cos + (k0 + j) * pair_step + begin;
        Scalar* const sin_column = sin + (k0 + j) * pair_step + begin;
        for (Index i = 0, run = 0; i < rows; i += table_offsets, ++run) {
          const Column column{cos_offsets + j * table_offsets, sin_offsets + j * table_offsets,
                              base + static_cast<double>(i), k0 + j,
                              std::min(table_offsets, rows - i)};
          const Index at = run * step + j;
          const Turned of_pair{hn::Set(d, bases.cos[at]), hn::Set(d, bases.sin[at]),
                               hn::Set(d, bases.error[at])};
          fill_column(rates, column, of_pair, errors, cos_column + i, sin_column + i);
        }
      }
    }
  }
}

#define EIGEN_ROPE_KERNELS(Scalar, name)                                                           \
  void fill_row_##name(const TableRates& rates, const double* positions, RowPositions kind,        \
                       Scalar* cos, Scalar* sin) {                                                 \
    fill_row(rates, positions, kind, cos, sin);                                                    \
  }                                                                                                \
  void fill_rows_##name(const TableRates& rates, const double* offsets, double first, Index count, \
                        Scalar* cos, Scalar* sin) {                                                \
    fill_rows(rates, offsets, first, count, cos, sin);                                             \
  }                                                                                                \
  void fill_columns_##name(const TableRates& rates, const double* offsets, double first,           \
                           Index count, Index pair_step, Scalar* cos, Scalar* sin) {               \
    fill_columns(rates, offsets, first, count, pair_step, cos, sin);                               \
  }
EIGEN_ROPE_KERNELS(float, float)
EIGEN_ROPE_KERNELS(Eigen::half, split_half)
EIGEN_ROPE_KERNELS(Eigen::bfloat16, bfloat16)
#undef EIGEN_ROPE_KERNELS

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eigen_rope::EIGEN_ROPE_ABI::detail {

QuarterTurnSeries quarter_turn_series(double m) {
  // Chebyshev interpolation in x^2 on [0, 0.251]: errors 2^-57 of sin(pi/2 x) / x and 2^-52 of
  // cos(pi/2 x).
  QuarterTurnSeries series{
      {1.5707963267948966, -0.6459640975062443, 0.07969262624604051, -0.004681754132293137,
       0.00016044115033299705, -3.5986417558752054e-06, 5.6337019507182715e-08},
      {1, -1.233700550136169, 0.25366950790082604, -0.020863480753033712, 0.0009192600993585182,
       -2.520069306606753e-05, 4.6630156325210574e-07}};
  for (double& term : series.sin) term *= m;
  for (double& term : series.cos) term *= m;
  return series;
}

void fill_table_offsets(const TableRates& rates, double* offsets) {
  static constexpr auto versions = EIGEN_ROPE_VERSIONS(fill_offsets);
  versions[chosen_version()](rates, offsets);
}

#define EIGEN_ROPE_KERNELS(Scalar, name)                                                          \
  template <>                                                                                     \
  void fill_table_row(const TableRates& rates, const double* positions, RowPositions kind,        \
                      Scalar* cos, Scalar* sin) {                                                 \
    static constexpr auto versions = EIGEN_ROPE_VERSIONS(fill_row_##name);                        \
    versions[chosen_version()](rates, positions, kind, cos, sin);                                 \
  }                                                                                               \
  template <>                                                                                     \
  void fill_table_rows(const TableRates& rates, const double* offsets, double first, Index count, \
                       Scalar* cos, Scalar* sin) {                                                \
    static constexpr auto versions = EIGEN_ROPE_VERSIONS(fill_rows_##name);                       \
    versions[chosen_version()](rates, offsets, first, count, cos, sin);                           \
  }                                                                                               \
  template <>                                                                                     \
  void fill_table_columns(const TableRates& rates, const double* offsets, double first,           \
                          Index count, Index pair_step, Scalar* cos, Scalar* sin) {               \
    static constexpr auto versions = EIGEN_ROPE_VERSIONS(fill_columns_##name);                    \
    versions[chosen_version()](rates, offsets, first, count, pair_step, cos, sin);                \
  }
EIGEN_ROPE_KERNELS(float, float)
EIGEN_ROPE_KERNELS(Eigen::half, split_half)
EIGEN_ROPE_KERNELS(Eigen::bfloat16, bfloat16)
#undef EIGEN_ROPE_KERNELS

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
#endif  // HWY_ONCE
