// SPDX-License-Identifier: Apache-2.0
//
// Forward mode and second order: derivatives of plain loops by complex steps, along random
// directions, for every pairing, window and table width; and <w, J v> = <v, J^T w> between jvp_to
// and gradients.
#include "eigen_rope/gradients/tangent.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <vector>

#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/rotation/tensor_view.hpp"
#include "support/dense_view.hpp"
#include "support/error_of.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test::tangent_tests {
namespace {

using Complex = std::complex<double>;
constexpr double kStep = 1e-200;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// Products of three numbers below 2 and sums of at most four of them, rounded a dozen times.
constexpr double kTolerance = 16 * 8 * kEpsilon;
/// Sums over 6 rows and 4 pairs of them.
constexpr double kSumTolerance = 24 * kTolerance;

const Shape kShape{14, 2, 3};

/// The rotation of complex rows by a complex table that has one row per token, from the definition.
std::vector<Complex> rotated(const std::vector<Complex>& x, const std::vector<Complex>& cos,
                             const std::vector<Complex>& sin, Index width, const Pairing& pairing) {
  std::vector<Complex> y = x;
  const Index dims = pairing.rotary_dims(kShape[0]);
  for (Index row = 0; row < 6; ++row) {
    for (Index k = 0; k < dims / 2; ++k) {
      const PairSlots slot = pair_slots(pairing.kind(), k, dims);
      const auto element = [&](Index at) {
        return static_cast<std::size_t>(row * kShape[0] + pairing.offset() + at);
      };
      const auto entry = [&](Index at) {
        return static_cast<std::size_t>(row / 2 * width + (width == dims ? at : k));
      };
      y[element(slot.A)] =
          cos[entry(slot.A)] * x[element(slot.a)] - sin[entry(slot.A)] * x[element(slot.b)];
      y[element(slot.B)] =
          cos[entry(slot.B)] * x[element(slot.b)] + sin[entry(slot.B)] * x[element(slot.a)];
    }
  }
  return y;
}

/// x + i h v, entry by entry.
std::vector<Complex> moved(const std::vector<double>& x, const std::vector<double>& v) {
  std::vector<Complex> result;
  for (std::size_t i = 0; i < x.size(); ++i) result.emplace_back(x[i], kStep * v[i]);
  return result;
}

/// The table turned by dt and grown by du: (cos + i sin) exp(du + i dt), in complex arithmetic of
/// the step.
struct MovedTable {
  std::vector<Complex> cos, sin;

  MovedTable(const Table<double>& table, const std::vector<double>& dt,
             const std::vector<double>& du) {
    for (std::size_t i = 0; i < table.cos.size(); ++i) {
      const Complex growth = std::exp(Complex(0, kStep * du[i]));
      const Complex c = std::cos(Complex(0, kStep * dt[i]));
      const Complex s = std::sin(Complex(0, kStep * dt[i]));
      cos.push_back(growth * (table.cos[i] * c - table.sin[i] * s));
      sin.push_back(growth * (table.sin[i] * c + table.cos[i] * s));
    }
  }
};

template <class Compare>
void for_every_case(const Compare& compare) {
  for (const Pairing base : {split_half, interleaved, quarter, interleaved_to_split_half}) {
    for (const Pairing pairing :
         {base.with_rotary_dims(12), base.with_rotary_dims(8).with_offset(3)}) {
      const Index dims = pairing.rotary_dims(kShape[0]);
      for (const Index width : {dims / 2, dims}) {
        SCOPED_TRACE(::testing::Message() << "kind " << static_cast<int>(base.kind()) << ", dims "
                                          << dims << ", width " << width);
        compare(pairing, random_table<double>(width, Shape{1, 3}, 1));
      }
    }
  }
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

TEST(Tangent, JvpIsTheDerivativeAlongADirection) {
  for_every_case([](const Pairing& pairing, const Table<double>& table) {
    auto x = random_values<double>(kShape.size(), 2);
    auto v = random_values<double>(kShape.size(), 3);
    const auto dt = random_values<double>(static_cast<Index>(table.cos.size()), 4);
    const auto du = random_values<double>(static_cast<Index>(table.cos.size()), 5);
    std::vector<double> dy(x.size(), 7.0);
    jvp_to(dense(dy, kShape), dense(x, kShape), dense(v, kShape), table, tangent_of(table, dt, du),
           pairing);
    const MovedTable t(table, dt, du);
    const auto y = rotated(moved(x, v), t.cos, t.sin, table.width, pairing);
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_NEAR(dy[i], y[i].imag() / kStep, kTolerance) << "element " << i;
    // Over dx itself.
    jvp_to(dense(v, kShape), dense(x, kShape), dense(v, kShape), table, tangent_of(table, dt, du),
           pairing);
    ASSERT_EQ(v, dy);
  });
}

TEST(Tangent, JvpAndGradientsAreAdjoint) {
  for_every_case([](const Pairing& pairing, const Table<double>& table) {
    if (table.width == pairing.rotary_dims(kShape[0])) return;
    auto x = random_values<double>(kShape.size(), 2);
    auto v = random_values<double>(kShape.size(), 3);
    auto g = random_values<double>(kShape.size(), 6);
    const auto dt = random_values<double>(static_cast<Index>(table.cos.size()), 4);
    const auto du = random_values<double>(static_cast<Index>(table.cos.size()), 5);
    std::vector<double> dy(x.size()), dx(x.size());
    jvp_to(dense(dy, kShape), dense(x, kShape), dense(v, kShape), table, tangent_of(table, dt, du),
           pairing);
    const auto d =
        gradients_to(dense(dx, kShape), dense(x, kShape), dense(g, kShape), table, pairing,
                     {Wanted::angle | Wanted::log_magnitude, GradientsFrom::input});
    EXPECT_NEAR(dot(g, dy), dot(v, dx) + dot(dt, d.angle) + dot(du, d.log_magnitude),
                kSumTolerance);
  });
}

// F(x, g, t) = <v, dx> + <w, d angle>, whose gradient is the VJP of the VJP.
TEST(Tangent, SecondOrderClosesUnderTheSameKernels) {
  for_every_case([](const Pairing& pairing, const Table<double>& table) {
    if (table.width == pairing.rotary_dims(kShape[0])) return;
    auto x = random_values<double>(kShape.size(), 2);
    auto g = random_values<double>(kShape.size(), 3);
    auto v = random_values<double>(kShape.size(), 4);
    const auto w = random_values<double>(static_cast<Index>(table.cos.size()), 5);
    const auto tangent = tangent_of(table, w);
    std::vector<double> of_g(x.size()), of_x(x.size());
    jvp_to(dense(of_g, kShape), dense(x, kShape), dense(v, kShape), table, tangent, pairing);
    rotate_tangent_to(dense(of_x, kShape), dense(g, kShape), tangent, pairing, Direction::backward);
    const auto at_v = gradients(dense(v, kShape), dense(g, kShape), table, pairing,
                                {Wanted::angle, GradientsFrom::input});
    const auto at_x = gradients(dense(x, kShape), dense(g, kShape), table, pairing,
                                {Wanted::log_magnitude, GradientsFrom::input});
    std::vector<double> of_t(w.size());
    for (std::size_t i = 0; i < w.size(); ++i)
      of_t[i] = at_v.angle[i] - w[i] * at_x.log_magnitude[i];

    // F by the definition: <v, R^T g> = <R v, g>, and <w, d angle> is the derivative of <R x, g>
    // when angles move by w. The latter's own derivative needs a second direction: angles move by w
    // in a real step that is exact, for F is a sum of sines and cosines of it.
    const auto dg = random_values<double>(kShape.size(), 6);
    const auto dx = random_values<double>(kShape.size(), 7);
    const auto dt = random_values<double>(static_cast<Index>(w.size()), 8);
    const std::vector<double> none(w.size(), 0.0);
    const MovedTable turned(table, dt, none);
    // The tangent of the moved table, in complex numbers: cos' = -sin w, sin' = cos w.
    std::vector<Complex> tangent_cos, tangent_sin;
    for (std::size_t i = 0; i < w.size(); ++i) {
      tangent_cos.push_back(-turned.sin[i] * w[i]);
      tangent_sin.push_back(turned.cos[i] * w[i]);
    }
    const auto g_moved = moved(g, dg);
    const auto Rv = rotated(moved(v, std::vector<double>(v.size(), 0.0)), turned.cos, turned.sin,
                            table.width, pairing);
    const auto Tx = rotated(moved(x, dx), tangent_cos, tangent_sin, table.width, pairing);
    Complex F = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
      const Index slot = static_cast<Index>(i) % kShape[0] - pairing.offset();
      const bool inside = slot >= 0 && slot < pairing.rotary_dims(kShape[0]);
      F += g_moved[i] * (Rv[i] + (inside ? Tx[i] : Complex(0)));
    }
    EXPECT_NEAR(F.imag() / kStep, dot(of_g, dg) + dot(of_x, dx) + dot(of_t, dt), kSumTolerance);
  });
}

TEST(Tangent, IsZeroOutsideTheWindow) {
  const Pairing pairing = split_half.with_rotary_dims(6).with_offset(3);
  const auto table = random_table<double>(3, Shape{1, kShape[2]}, 31);
  const auto tangent = tangent_of(table, random_values<double>(9, 32));
  const auto x = random_values<double>(kShape.size(), 33, 1, 2);
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    std::vector<double> y(x.size(), 77);
    rotate_tangent_to(dense(y, kShape), dense(x, kShape), tangent, pairing, direction);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const Index place = static_cast<Index>(i) % kShape[0];
      EXPECT_EQ(y[i] == 0, place < 3 || place >= 9) << "element " << i << ": " << y[i];
    }
  }
}

TEST(Tangent, TakesTensors) {
  using Tensor = Eigen::Tensor<double, 3>;
  Tensor x(14, 2, 3), v(14, 2, 3), dy(14, 2, 3), again(14, 2, 3);
  x.setRandom();
  v.setRandom();
  const auto table = random_table<double>(7, Shape{1, 3}, 34);
  const auto tangent = tangent_of(table, random_values<double>(21, 35));
  const auto rows = [](Tensor& tensor) { return dense(tensor.data(), kShape); };
  jvp_to(rows(dy), rows(x), rows(v), table, tangent, split_half);
  jvp_to(again, x, v, table, tangent, split_half);
  EXPECT_TRUE(same_bits(dy.data(), again.data(), dy.size()));
  rotate_tangent_to(rows(dy), rows(x), tangent, split_half);
  rotate_tangent_to(again, x, tangent, split_half);
  EXPECT_TRUE(same_bits(dy.data(), again.data(), dy.size()));
}

/// The strides of rows without elements lead nowhere, and may be anything.
TEST(Tangent, OfRowsWithoutFeaturesReadsNoStrides) {
  constexpr Index far = std::numeric_limits<Index>::max() - 1;
  const Shape shape{0, 5, 3};
  const StridedView<const float> x{nullptr, shape, {far, far}};
  const StridedView<float> y{nullptr, shape, {far, -far}};
  const TableView<float> table{nullptr, nullptr, 0, Shape{1, 3}};
  const auto tangent = tangent_of(table, std::vector<double>());
  EXPECT_NO_THROW(rotate_tangent_to(y, x, tangent, split_half));
  EXPECT_NO_THROW(jvp_to(y, x, x, table, tangent, split_half));
}

TEST(Tangent, RefusesWhatDoesNotFit) {
  auto x = random_values<double>(kShape.size(), 2);
  auto y = x;
  const auto table = random_table<double>(7, Shape{1, 3}, 1);
  EXPECT_EQ(error_of([&] { tangent_of(table, std::vector<double>(20)); }),
            "[rope] angle tangents must be one per table entry (21), got 20");
  const auto tangent = tangent_of(table, std::vector<double>(21, 1.0));
  EXPECT_EQ(error_of([&] {
              rotate_tangent_to(dense(y, kShape), dense(x, kShape), tangent, split_half,
                                Direction::inverse);
            }),
            "[rope] a tangent has no inverse: direction must be forward or backward, got inverse");
  EXPECT_EQ(error_of([&] {
              jvp_to(dense(x, kShape), dense(x, kShape), dense(y, kShape), table, tangent,
                     split_half);
            }),
            "[rope] dy must not overlap x, which is read after dy is written");
  EXPECT_EQ(x, y) << "nothing is written";
}

}  // namespace
}  // namespace eigen_rope::test::tangent_tests
