// SPDX-License-Identifier: Apache-2.0
//
// 16-bit scalars are read exactly and rounded once, to nearest even, on every kernel target: ties,
// NaN, infinities, overflow, subnormals. The sum they are rounded from is itself rounded once, from
// the exact first product.
//
// Seen from outside, through rotations that are conversions: with x = (1, 0) the result is the
// coefficient itself, (cos, sin), rounded; with cos = 1 and sin = 0 it is x. Expected values come
// from the definition of the formats, in double.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "eigen_rope/machine/kernel_target.hpp"
#include "eigen_rope/numbers/detail/aligned.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "support/kernel_paths.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test {
namespace {

/// The two formats as numbers of bits.
template <class Scalar>
struct Format;
template <>
struct Format<Eigen::half> {
  static constexpr int mantissa = 10;
  static constexpr int smallest_exponent = -14;
  static constexpr int largest_exponent = 15;
};
template <>
struct Format<Eigen::bfloat16> {
  static constexpr int mantissa = 7;
  static constexpr int smallest_exponent = -126;
  static constexpr int largest_exponent = 127;
};

/// A finite number rounded to the format by the definition: the multiple of the last place's value
/// that is nearest, or even.
template <class Scalar>
double rounded(double v) {
  if (v == 0 || !std::isfinite(v)) return v;
  const int exponent = std::max(std::ilogb(v), Format<Scalar>::smallest_exponent);
  const double last_place = std::ldexp(1.0, exponent - Format<Scalar>::mantissa);
  const double result = std::nearbyint(v / last_place) * last_place;
  const double largest =
      std::ldexp(2 - std::ldexp(1.0, -Format<Scalar>::mantissa), Format<Scalar>::largest_exponent);
  return std::abs(result) > largest ? std::copysign(std::numeric_limits<double>::infinity(), v)
                                    : result;
}

/// What the bits mean, by the definition.
template <class Scalar>
double meaning(std::uint16_t bits) {
  constexpr int mantissa = Format<Scalar>::mantissa;
  const int fraction = bits & ((1 << mantissa) - 1);
  const int exponent = (bits & 0x7fff) >> mantissa;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 0)
    return sign * std::ldexp(fraction, Format<Scalar>::smallest_exponent - mantissa);
  if (exponent == Format<Scalar>::largest_exponent * 2 + 1) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  return sign * std::ldexp((1 << mantissa) + fraction,
                           exponent + Format<Scalar>::smallest_exponent - 1 - mantissa);
}

template <class Scalar>
std::uint16_t bits_of(Scalar v) {
  std::uint16_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}

template <class Scalar, class Bits>
Scalar of_bits(Bits bits) {
  static_assert(sizeof(Scalar) == sizeof bits);
  Scalar v;
  std::memcpy(static_cast<void*>(&v), &bits, sizeof v);
  return v;
}

/// Values whose rounding is delicate: every number of the format, both its neighbours among floats,
/// the midpoint to the next number and the midpoint's neighbours; and the far ends of float.
template <class Scalar>
std::vector<float> delicate_floats() {
  std::vector<float> values{std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::max(), std::numeric_limits<float>::min(),
                            std::numeric_limits<float>::denorm_min()};
  const auto add = [&](float v) {
    for (const float w :
         {v, std::nextafter(v, 0.0F), std::nextafter(v, std::numeric_limits<float>::infinity())})
      values.push_back(w);
  };
  for (std::uint32_t bits = 0; bits < 0x7fff; ++bits) {
    const double here = meaning<Scalar>(static_cast<std::uint16_t>(bits));
    if (!std::isfinite(here)) break;
    add(static_cast<float>(here));
    const double next = meaning<Scalar>(static_cast<std::uint16_t>(bits + 1));
    add(static_cast<float>(std::isfinite(next)
                               ? here + (next - here) / 2
                               : here * (1 + std::ldexp(1.0, -Format<Scalar>::mantissa - 1))));
  }
  const std::size_t positive = values.size();
  for (std::size_t i = 0; i < positive; ++i) values.push_back(-values[i]);
  return values;
}

template <class Scalar>
class Conversion : public ::testing::Test {};
using SixteenBits = ::testing::Types<Eigen::half, Eigen::bfloat16>;
struct Names {
  template <class T>
  static std::string GetName(int) {
    return std::is_same_v<T, Eigen::half> ? "Half" : "Bfloat16";
  }
};
TYPED_TEST_SUITE(Conversion, SixteenBits, Names);

/// Calls check(pairing) with every target in use, and with tables both of half and of full width:
/// all kernels.
template <class Check>
void on_every_target(const Check& check) {
  for (const std::string& target : kernel_targets()) {
    set_kernel_target(target);
    for (const PairKind kind : every_kind) {
      for (const bool full_width : {false, true}) {
        SCOPED_TRACE(target + ", kind " + std::to_string(static_cast<int>(kind)) +
                     (full_width ? ", full width" : ", half width"));
        check(kind, full_width);
        if (::testing::Test::HasFatalFailure()) return set_kernel_target("");
      }
    }
  }
  set_kernel_target("");
}

/// The table entries of pair k, first and second, in a table of `pairs`.
std::array<Index, 2> entries_of(PairKind kind, Index k, Index pairs, bool full_width) {
  if (!full_width) return {k, k};
  const Members m = members_of(kind, k, 2 * pairs);
  return {m.A, m.B};
}

TYPED_TEST(Conversion, RoundsOnceToNearestEven) {
  const std::vector<float> values = delicate_floats<TypeParam>();
  const auto pairs = static_cast<Index>((values.size() + 3) / 4 * 4);
  on_every_target([&](PairKind kind, bool full_width) {
    std::vector<float> cos(static_cast<std::size_t>(full_width ? 2 * pairs : pairs), 1.0F);
    std::vector<float> sin(cos.size(), 0.0F);
    std::vector<TypeParam> x(static_cast<std::size_t>(2 * pairs), TypeParam(0));
    for (Index k = 0; k < static_cast<Index>(values.size()); ++k) {
      for (const Index entry : entries_of(kind, k, pairs, full_width))
        cos[static_cast<std::size_t>(entry)] = values[static_cast<std::size_t>(k)];
    }
    for (Index k = 0; k < pairs; ++k)
      x[static_cast<std::size_t>(members_of(kind, k, 2 * pairs).a)] = TypeParam(1);
    std::vector<TypeParam> y(x.size());
    rotate_to(StridedView<TypeParam>{y.data(), {2 * pairs}},
              StridedView<const TypeParam>{x.data(), {2 * pairs}},
              TableView<float>{cos.data(), sin.data(), static_cast<Index>(cos.size())},
              Pairing(kind));
    for (Index k = 0; k < static_cast<Index>(values.size()); ++k) {
      const float v = values[static_cast<std::size_t>(k)];
      const double expected = rounded<TypeParam>(static_cast<double>(v));
      const TypeParam actual = y[static_cast<std::size_t>(members_of(kind, k, 2 * pairs).A)];
      ASSERT_EQ(meaning<TypeParam>(bits_of(actual)), expected)
          << "of " << v << ", bits " << bits_of(actual);
      ASSERT_EQ(std::signbit(meaning<TypeParam>(bits_of(actual))), std::signbit(v)) << "of " << v;
    }
  });
}

TYPED_TEST(Conversion, ReadsEveryNumberExactly) {
  constexpr Index pairs = 1 << 15;
  on_every_target([&](PairKind kind, bool full_width) {
    std::vector<float> cos(static_cast<std::size_t>(full_width ? 2 * pairs : pairs), 1.0F);
    std::vector<float> sin(cos.size(), 0.0F);
    std::vector<TypeParam> x;
    for (std::uint32_t bits = 0; bits < 2 * pairs; ++bits)
      x.push_back(of_bits<TypeParam>(static_cast<std::uint16_t>(bits)));
    std::vector<TypeParam> y(x.size());
    rotate_to(StridedView<TypeParam>{y.data(), {2 * pairs}},
              StridedView<const TypeParam>{x.data(), {2 * pairs}},
              TableView<float>{cos.data(), sin.data(), static_cast<Index>(cos.size())},
              Pairing(kind));
    for (Index k = 0; k < pairs; ++k) {
      const Members m = members_of(kind, k, 2 * pairs);
      const double a = meaning<TypeParam>(bits_of(x[static_cast<std::size_t>(m.a)]));
      const double b = meaning<TypeParam>(bits_of(x[static_cast<std::size_t>(m.b)]));
      const double A = meaning<TypeParam>(bits_of(y[static_cast<std::size_t>(m.A)]));
      const double B = meaning<TypeParam>(bits_of(y[static_cast<std::size_t>(m.B)]));
      // 0 times an infinity or a NaN spoils the partner too.
      ASSERT_TRUE(std::isfinite(b) ? A == a || (std::isnan(a) && std::isnan(A)) : std::isnan(A))
          << "pair " << k << ": " << a << " became " << A;
      ASSERT_TRUE(std::isfinite(a) ? B == b || (std::isnan(b) && std::isnan(B)) : std::isnan(B))
          << "pair " << k << ": " << b << " became " << B;
    }
  });
}

/// NaNs of a float table, whatever their mantissa holds.
TYPED_TEST(Conversion, NanStaysNan) {
  constexpr Index pairs = 64;
  for (const std::uint32_t nan :
       {0x7fc00000U, 0x7fffffffU, 0xffffffffU, 0x7f800001U, 0xff80ffffU, 0x7fffe000U}) {
    on_every_target([&](PairKind kind, bool full_width) {
      const auto value = of_bits<float>(nan);
      const std::vector<float> cos(static_cast<std::size_t>(full_width ? 2 * pairs : pairs), value);
      const std::vector<float> sin(cos.size(), 0.25F);
      const std::vector<TypeParam> x(static_cast<std::size_t>(2 * pairs), TypeParam(1));
      std::vector<TypeParam> y(x.size());
      rotate_to(StridedView<TypeParam>{y.data(), {2 * pairs}},
                StridedView<const TypeParam>{x.data(), {2 * pairs}},
                TableView<float>{cos.data(), sin.data(), static_cast<Index>(cos.size())},
                Pairing(kind));
      for (const TypeParam v : y)
        ASSERT_TRUE(std::isnan(meaning<TypeParam>(bits_of(v))))
            << "NaN " << nan << " became " << bits_of(v);
    });
  }
}

/// One NaN among finite coefficients, at every place of a table row: it spoils its pair and no
/// other. Features lie next to each other, or 40 elements apart, which share the table row.
TYPED_TEST(Conversion, OneNanSpoilsOnePair) {
  constexpr Index pairs = 64;
  constexpr Index rows = 40;
  const auto value = of_bits<float>(std::uint32_t{0x7fffffff});
  on_every_target([&](PairKind kind, bool full_width) {
    for (Index at = 0; at < 2 * pairs; ++at) {
      const Index pair = at / 2;
      std::vector<float> cos(static_cast<std::size_t>(full_width ? 2 * pairs : pairs), 0.5F);
      std::vector<float> sin(cos.size(), 0.25F);
      for (const Index entry : entries_of(kind, pair, pairs, full_width))
        (at % 2 == 0 ? cos : sin)[static_cast<std::size_t>(entry)] = value;
      const TableView<float> table{cos.data(), sin.data(), static_cast<Index>(cos.size())};
      const std::vector<TypeParam> x(static_cast<std::size_t>(2 * pairs * rows), TypeParam(1));
      for (const Index apart : {Index{1}, rows}) {
        std::vector<TypeParam> y(x.size());
        const Strides strides{apart == 1 ? 2 * pairs : 1};
        rotate_to(StridedView<TypeParam>{y.data(), {2 * pairs, rows}, strides, apart},
                  StridedView<const TypeParam>{x.data(), {2 * pairs, rows}, strides, apart}, table,
                  Pairing(kind));
        for (Index k = 0; k < pairs; ++k) {
          const Members m = members_of(kind, k, 2 * pairs);
          for (const Index d : {m.A, m.B}) {
            const auto place = static_cast<std::size_t>(d * apart + (rows - 1) * strides[0]);
            ASSERT_EQ(std::isnan(meaning<TypeParam>(bits_of(y[place]))), k == pair)
                << "pair " << k << ", NaN in that of pair " << pair << ", features " << apart
                << " apart";
          }
        }
      }
    }
  });
}

/// Rows next to each other have entries of their own, in a table of their order: a NaN among them
/// spoils one pair of one row. Rows are whole vectors, or leave some behind them.
TYPED_TEST(Conversion, OneNanOfATableInTheOrderOfRowsSpoilsOnePair) {
  constexpr Index pairs = 4;
  constexpr Index pair = pairs - 1;
  const auto value = of_bits<float>(std::uint32_t{0x7fffffff});
  for (const Index rows : {Index{160}, Index{163}}) {
    const std::vector<TypeParam> x(static_cast<std::size_t>(2 * pairs * rows), TypeParam(1));
    for (const Index row : {Index{0}, Index{77}, Index{128}, rows - 1}) {
      std::vector<float> cos(static_cast<std::size_t>(pairs * rows), 0.5F);
      const std::vector<float> sin(cos.size(), 0.25F);
      cos[static_cast<std::size_t>(pair * rows + row)] = value;
      TableView<float> table{cos.data(), sin.data(), pairs, {rows}};
      table.feature_axis = 1;
      on_every_path([&](Path) {
        detail::AlignedVector<TypeParam> y(x.size());
        rotate_to(StridedView<TypeParam>{y.data(), {2 * pairs, rows}, {1}, rows},
                  StridedView<const TypeParam>{x.data(), {2 * pairs, rows}, {1}, rows}, table,
                  split_half);
        for (Index i = 0; i < 2 * pairs * rows; ++i) {
          const bool spoilt = i % rows == row && i / rows % pairs == pair;
          ASSERT_EQ(std::isnan(meaning<TypeParam>(bits_of(y[static_cast<std::size_t>(i)]))), spoilt)
              << kernel_target() << ", element " << i << ", NaN for row " << row << " of " << rows;
        }
      });
    }
  }
}

/// A member and a cosine whose product is the midpoint of 1 and the format's next number and half a
/// float's last place more: whatever the other product adds to it decides, two roundings later,
/// which of the two the result is.
template <class Scalar>
struct Tie;
template <>
struct Tie<Eigen::half> {
  static constexpr double member = 17;
  static constexpr double cos = 987377 * 0x1p-24;
};
template <>
struct Tie<Eigen::bfloat16> {
  static constexpr double member = 3;
  static constexpr double cos = 5614251 * 0x1p-24;
};

TYPED_TEST(Conversion, SumsAreRoundedOnceFromTheExactProduct) {
  using T = Tie<TypeParam>;
  constexpr double next = 1 + 1.0 / (1 << Format<TypeParam>::mantissa);
  static_assert(T::member * T::cos == (1 + next) / 2 + 0x1p-24,
                "a tie of two floats, the lower of which is a tie of two 16-bit numbers");
  constexpr Index pairs = 64;
  // Within a double beside the tie, and far below its last place.
  for (const double small : {0x1p-50, 0x1p-60, 0x1p-100}) {
    on_every_target([&](PairKind kind, bool full_width) {
      std::vector<float> cos(static_cast<std::size_t>(full_width ? 2 * pairs : pairs),
                             static_cast<float>(T::cos));
      std::vector<float> sin(cos.size());
      std::vector<TypeParam> x(static_cast<std::size_t>(2 * pairs));
      // Either member, either sign, more or less than the tie.
      const auto is_second = [](Index k) { return k % 2 != 0; };
      const auto sign = [](Index k) { return k % 4 < 2 ? 1.0 : -1.0; };
      const auto is_more = [](Index k) { return k % 8 < 4; };
      for (Index k = 0; k < pairs; ++k) {
        const Members m = members_of(kind, k, 2 * pairs);
        x[static_cast<std::size_t>(is_second(k) ? m.b : m.a)] =
            static_cast<TypeParam>(static_cast<float>(sign(k) * T::member));
        x[static_cast<std::size_t>(is_second(k) ? m.a : m.b)] = TypeParam(1);
        const double added = sign(k) * (is_more(k) ? small : -small);
        for (const Index entry : entries_of(kind, k, pairs, full_width)) {
          sin[static_cast<std::size_t>(entry)] = static_cast<float>(is_second(k) ? added : -added);
        }
      }
      std::vector<TypeParam> y(x.size());
      rotate_to(StridedView<TypeParam>{y.data(), {2 * pairs}},
                StridedView<const TypeParam>{x.data(), {2 * pairs}},
                TableView<float>{cos.data(), sin.data(), static_cast<Index>(cos.size())},
                Pairing(kind));
      for (Index k = 0; k < pairs; ++k) {
        const Members m = members_of(kind, k, 2 * pairs);
        const TypeParam actual = y[static_cast<std::size_t>(is_second(k) ? m.B : m.A)];
        ASSERT_EQ(meaning<TypeParam>(bits_of(actual)), sign(k) * (is_more(k) ? next : 1))
            << "pair " << k << ", added " << small;
      }
    });
  }
}

/// Every 16-bit table entry becomes the float it means.
TYPED_TEST(Conversion, WidensTablesExactly) {
  constexpr Index pairs = 1 << 15;
  std::vector<TypeParam> cos;
  for (std::uint32_t bits = 0; bits < pairs; ++bits)
    cos.push_back(of_bits<TypeParam>(static_cast<std::uint16_t>(2 * bits)));
  const std::vector<TypeParam> sin(cos.size(), TypeParam(0));
  std::vector<float> x(static_cast<std::size_t>(2 * pairs), 1.0F);
  for (const std::string& target : kernel_targets()) {
    set_kernel_target(target);
    std::vector<float> y(x.size());
    rotate_to(StridedView<float>{y.data(), {2 * pairs}},
              StridedView<const float>{x.data(), {2 * pairs}},
              TableView<TypeParam>{cos.data(), sin.data(), pairs}, split_half);
    set_kernel_target("");
    for (Index k = 0; k < pairs; ++k) {
      const double expected = meaning<TypeParam>(bits_of(cos[static_cast<std::size_t>(k)]));
      const auto actual = static_cast<double>(y[static_cast<std::size_t>(k)]);
      ASSERT_TRUE(actual == expected || (std::isnan(actual) && std::isnan(expected)))
          << target << ": " << expected << " became " << actual;
    }
  }
}

}  // namespace
}  // namespace eigen_rope::test
