// SPDX-License-Identifier: Apache-2.0
//
// d rates, d positions and d attention factor from gradients(), against complex steps of the loss
// through plain loops: L = sum g y, with y from the definition at positions and rates that have an
// imaginary part.
#include "eigen_rope/gradients/parameter_gradients.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <random>
#include <vector>

#include "eigen_rope/rotation/rotate_strided.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "support/dense_view.hpp"
#include "support/error_of.hpp"

namespace eigen_rope::test {
namespace {

using Complex = std::complex<double>;
constexpr double kStep = 1e-200;

/// Heads of 6 dims over some batches and tokens of several position axes.
struct Problem {
  Layout layout;
  Shape shape;  // of x
  Index heads;
  Positions positions;
  std::vector<double> ids;  // as Positions has them
  std::vector<double> rates;
  double m;

  Index pairs() const { return static_cast<Index>(rates.size()); }
  Index place(int axis, Index batch, Index token) const {
    return (axis * positions.batches() + batch) * positions.tokens() + token;
  }
};

/// Where element (d, head, token, batch) lies.
Index at(const Problem& p, Index d, Index h, Index s, Index b) {
  Index index = d;
  Index stride = p.shape[0];
  for (int axis = 0; axis < p.layout.axes(); ++axis) {
    const Index here = p.layout[axis] == AxisRole::token   ? s
                       : p.layout[axis] == AxisRole::batch ? b
                                                           : h;
    index += here * stride;
    stride *= p.shape[axis + 1];
  }
  return index;
}

/// L = sum g y for interleaved pairs.
Complex loss(const Problem& p, const std::vector<double>& x, const std::vector<double>& g,
             const std::vector<Complex>& ids, const std::vector<Complex>& rates, const Complex& m) {
  Complex sum = 0;
  for (Index b = 0; b < p.positions.batches(); ++b) {
    for (Index s = 0; s < p.positions.tokens(); ++s) {
      for (Index k = 0; k < p.pairs(); ++k) {
        const Complex angle = ids[static_cast<std::size_t>(p.place(p.positions.axis(k), b, s))] *
                              rates[static_cast<std::size_t>(k)];
        const Complex c = m * std::cos(angle);
        const Complex r = m * std::sin(angle);
        for (Index h = 0; h < p.heads; ++h) {
          const auto A = static_cast<std::size_t>(at(p, 2 * k, h, s, b));
          const auto B = static_cast<std::size_t>(at(p, 2 * k + 1, h, s, b));
          sum += g[A] * (c * x[A] - r * x[B]) + g[B] * (c * x[B] + r * x[A]);
        }
      }
    }
  }
  return sum;
}

std::vector<double> random_values(Index count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& v : values) v = value(random);
  return values;
}

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// Rounding of angles up to 100 radians (each costs angle * 2^-52 of a term), of y and of sums of
/// at most 200 terms below 2 in size.
constexpr double kTolerance = 200 * 2 * (100 + 8) * kEpsilon;

void compare(const Problem& p) {
  std::vector<double> x = random_values(p.shape.size(), 1);
  std::vector<double> g = random_values(p.shape.size(), 2);
  std::vector<double> y(x.size());
  const Frequencies frequencies = Frequencies::explicit_rates(p.rates, p.m);
  const Cache<double> cache(frequencies, p.positions, p.layout);
  rotate_to(dense(y, p.shape), dense(x, p.shape), cache, interleaved);
  const auto from_y = p.m == 0 ? Gradients<double>{}
                               : gradients(dense(y, p.shape), dense(g, p.shape), cache, interleaved,
                                           {Wanted::angle | Wanted::log_magnitude});
  const auto from_x =
      gradients(dense(x, p.shape), dense(g, p.shape), cache, interleaved,
                {Wanted::angle | Wanted::log_magnitude | Wanted::table, GradientsFrom::input});
  const std::vector<Complex> ids(p.ids.begin(), p.ids.end());
  const std::vector<Complex> rates(p.rates.begin(), p.rates.end());
  for (const Gradients<double>* d : {&from_y, &from_x}) {
    if (d->angle.empty()) continue;
    const std::vector<double> of_rates = rate_gradients(*d, p.positions, p.layout);
    ASSERT_EQ(of_rates.size(), rates.size());
    for (std::size_t k = 0; k < rates.size(); ++k) {
      std::vector<Complex> moved = rates;
      moved[k] += Complex(0, kStep);
      const double expected = loss(p, x, g, ids, moved, p.m).imag() / kStep;
      EXPECT_NEAR(of_rates[k], expected, 30 * kTolerance) << "rate " << k;  // positions up to 30
    }
    const std::vector<double> of_positions =
        position_gradients(*d, frequencies, p.positions, p.layout);
    ASSERT_EQ(of_positions.size(), ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      std::vector<Complex> moved = ids;
      moved[i] += Complex(0, kStep);
      EXPECT_NEAR(of_positions[i], loss(p, x, g, moved, rates, p.m).imag() / kStep, 3 * kTolerance)
          << "position " << i;
    }
    const double expected = loss(p, x, g, ids, rates, Complex(p.m, kStep)).imag() / kStep;
    EXPECT_NEAR(attention_factor_gradient(*d, frequencies, p.positions, p.layout), expected,
                kTolerance)
        << "attention factor";
  }
}

const std::vector<double> kRates{1.0, -0.3, 2.7};
const std::vector<double> kIds{0, 3, -17.5, 30, 8, 8.25, 1, 2};

TEST(ParameterGradients, OfTokens) {
  compare({Layout::sd(), Shape{6, 8}, 1, Positions::ids(kIds), kIds, kRates, 1.0});
  compare({Layout::tnd(), Shape{6, 3, 8}, 3, Positions::ids(kIds), kIds, kRates, -1.3});
}

TEST(ParameterGradients, OfPositionsSharedByBatches) {
  // One list of positions, two batches: x's batch axis is a broadcast, as heads are.
  std::vector<double> x = random_values(6 * 2 * 8 * 2, 1);
  std::vector<double> g = random_values(6 * 2 * 8 * 2, 2);
  const Frequencies frequencies = Frequencies::explicit_rates(kRates);
  const Positions positions = Positions::ids(kIds);
  const Cache<double> cache(frequencies, positions, Layout::bsnd());
  std::vector<double> sums(kRates.size());
  const auto whole = gradients(dense(x, Shape{6, 2, 8, 2}), dense(g, Shape{6, 2, 8, 2}), cache,
                               split_half, {Wanted::angle, GradientsFrom::input});
  for (Index b = 0; b < 2; ++b) {
    const Shape one{6, 2, 8};
    const StridedView<double> x_b{x.data() + b * 96, one, {6, 12}};
    const StridedView<double> g_b{g.data() + b * 96, one, {6, 12}};
    const auto d = rate_gradients(
        gradients(x_b, g_b, cache, split_half, {Wanted::angle, GradientsFrom::input}), positions,
        Layout::tnd());
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += d[k];
  }
  const auto d = rate_gradients(whole, positions);
  for (std::size_t k = 0; k < sums.size(); ++k) EXPECT_NEAR(d[k], sums[k], 30 * kTolerance);
}

TEST(ParameterGradients, OfBatchesInEveryLayout) {
  const Positions positions = Positions::per_batch(kIds, Batches{2});
  compare({Layout::bsnd(), Shape{6, 3, 4, 2}, 3, positions, kIds, kRates, 1.2});
  compare({Layout::bnsd(), Shape{6, 4, 3, 2}, 3, positions, kIds, kRates, 1.2});
  compare({Layout::sbnd(), Shape{6, 3, 2, 4}, 3, positions, kIds, kRates, 1.2});
  compare({Layout::bsd(), Shape{6, 4, 2}, 1, positions, kIds, kRates, 1.2});
}

TEST(ParameterGradients, OfSeveralAxes) {
  const Sections sections(SectionPattern::contiguous, {1, 1, 1});
  std::vector<double> ids = kIds;
  ids.insert(ids.end(), {4, 5, -6, 7, 1.5, 2, 3, 3, 9, 1, 1, 1, 2, 0, 0, -4});
  compare(
      {Layout::tnd(), Shape{6, 2, 8}, 2, Positions::multi_axis(ids, sections), ids, kRates, 0.8});
  compare({Layout::bsnd(), Shape{6, 2, 4, 2}, 2, Positions::multi_axis(ids, sections, Batches{2}),
           ids, kRates, 0.8});
}

TEST(ParameterGradients, OfAnAttentionFactorOfZero) {
  compare({Layout::tnd(), Shape{6, 3, 8}, 3, Positions::ids(kIds), kIds, kRates, 0.0});
}

TEST(ParameterGradients, RefuseWhatTheyCannotKnow) {
  std::vector<double> x = random_values(6 * 8, 1);
  const Positions positions = Positions::ids(kIds);
  const Frequencies frequencies = Frequencies::explicit_rates(kRates);
  const Cache<double> cache(frequencies, positions, Layout::sd());
  const auto v = dense(x, Shape{6, 8});
  const auto angles = gradients(v, v, cache, split_half);
  EXPECT_EQ(error_of([&] { rate_gradients(angles, Positions::range(0, 7), Layout::sd()); }),
            "[rope] the gradients must be of a table with the outer extents these positions give "
            "[7], got [8]");
  EXPECT_EQ(error_of([&] {
              rate_gradients(gradients(v, v, cache, split_half, {Wanted::table}), positions,
                             Layout::sd());
            }),
            "[rope] the gradients must be made with Wanted::angle, got none of angles");
  EXPECT_EQ(
      error_of([&] { attention_factor_gradient(angles, frequencies, positions, Layout::sd()); }),
      "[rope] the gradients must be made with Wanted::log_magnitude, got none of magnitudes");
  EXPECT_EQ(error_of([&] {
              position_gradients(angles, Frequencies::powers({8}), positions, Layout::sd());
            }),
            "[rope] frequencies must have as many pairs as the gradients (3), got 4");
  EXPECT_EQ(error_of([&] {
              attention_factor_gradient(angles, Frequencies::explicit_rates(kRates, 0), positions,
                                        Layout::sd());
            }),
            "[rope] with attention factor 0 the gradients must be made from the rotation's input "
            "(options.from = "
            "eigen_rope::GradientsFrom::input) with Wanted::table and a half-width table, got none "
            "of it");
}

}  // namespace
}  // namespace eigen_rope::test
