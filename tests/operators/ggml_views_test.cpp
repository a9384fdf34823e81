// SPDX-License-Identifier: Apache-2.0
//
// ggml's operator on views: permuted, padded, in place inside a parent; any number of threads;
// int64 positions; bf16 and f64; sections that wrap; the gradient of a windowed rotation. Compared
// with the formula in double where numbers matter.
#define EIGEN_USE_THREADS
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "eigen_rope/operators/ggml.hpp"
#include "eigen_rope/rotation/detail/tensor.hpp"
#include "support/golden_ggml_formula.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::ggml::ggml_views_tests {
namespace {

/// Two products of float table entries and one sum, relative to the pair's magnitude (below 2
/// here); half the scalar's own rounding on top.
template <class Scalar>
constexpr double tolerance() {
  const double own = scalar_type<Scalar> == ScalarType::bf16  ? 0x1p-8
                     : scalar_type<Scalar> == ScalarType::f64 ? 0x1p-53
                                                              : 0x1p-24;
  const double table = scalar_type<Scalar> == ScalarType::f64 ? 0x1p-53 : 0x1p-24;
  return 2 * (own + 4 * table);
}

std::vector<double> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<double> values(count);
  for (double& v : values) v = static_cast<double>(static_cast<float>(value(random)));
  return values;
}

template <class Scalar>
std::vector<Scalar> as(const std::vector<double>& values) {
  std::vector<Scalar> result;
  for (const double v : values) result.push_back(static_cast<Scalar>(static_cast<float>(v)));
  return result;
}

constexpr Extents extents{32, 3, 4, 2};
constexpr std::size_t elements = 32 * 3 * 4 * 2;
const std::vector<std::int32_t> ids{5, 0, 511, 100000};
const std::vector<std::int32_t> ids_of_axes{5, 0, 511, 1000, 1,  2,  3,  4,
                                            9, 8, 7,   6,    70, 60, 50, 40};

RopeParams neox_params() {
  RopeParams params;
  params.n_dims = 20;
  params.n_offs = 6;
  params.mode = mode_neox;
  params.attn_factor = 1.25F;
  return params;
}

/// The formula's answer for a dense input.
std::vector<double> exact(const RopeParams& params, const std::vector<std::int32_t>& positions,
                          const std::vector<float>& x, bool backward = false) {
  test::GoldenCase c{};
  c.shape = Shape{extents[0], extents[1], extents[2], extents[3]};
  c.n_dims = params.n_dims;
  c.mode = params.mode == mode_normal   ? "normal"
           : params.mode == mode_neox   ? "neox"
           : params.mode == mode_mrope  ? "mrope"
           : params.mode == mode_imrope ? "imrope"
                                        : "vision";
  c.n_offs = params.n_offs;
  c.backward = backward;
  c.freq_base = static_cast<double>(params.freq_base);
  c.freq_scale = static_cast<double>(params.freq_scale);
  c.attn_factor = static_cast<double>(params.attn_factor);
  c.beta_fast = c.beta_slow = 1;
  c.sections.assign(params.sections.begin(), params.sections.end());
  c.positions = positions;
  c.input = x;
  return test::PlainFormula(c)().y;
}

template <class Scalar>
void expect_near(const std::vector<Scalar>& y, const std::vector<double>& expected) {
  ASSERT_EQ(y.size(), expected.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    double mine;
    if constexpr (scalar_type<Scalar> == ScalarType::f64) {
      mine = y[i];
    } else {
      mine = static_cast<double>(static_cast<float>(y[i]));
    }
    ASSERT_NEAR(mine, expected[i], tolerance<Scalar>()) << "element " << i;
  }
}

template <class Scalar>
void compare_with_formula() {
  const std::vector<Scalar> x = as<Scalar>(random_values(elements, 1));
  std::vector<float> stored;
  for (const Scalar v : x) stored.push_back(static_cast<float>(v));
  std::vector<Scalar> y(elements);
  rope_ext(dense(y.data(), extents), dense(x.data(), extents), ids, neox_params());
  // The formula's own angles are formed in plain double; at position 100000 they are good to 1e-11.
  std::vector<double> expected = exact(neox_params(), ids, stored);
  if constexpr (scalar_type<Scalar> == ScalarType::f64) {
    for (std::size_t i = 0; i < elements; ++i)
      ASSERT_NEAR(y[i], expected[i], 1e-10) << "element " << i;
  } else {
    expect_near(y, expected);
  }
}

TEST(GgmlViews, Float) { compare_with_formula<float>(); }
TEST(GgmlViews, Double) { compare_with_formula<double>(); }
TEST(GgmlViews, Bfloat16) { compare_with_formula<Eigen::bfloat16>(); }

/// Element (d, h, s, b) of a tensor with these byte strides.
template <class Scalar>
std::size_t at(const ByteStrides& nb, std::size_t d, std::size_t h, std::size_t s, std::size_t b) {
  return d + (h * nb[1] + s * nb[2] + b * nb[3]) / sizeof(Scalar);
}

void for_each_element(const std::function<void(std::size_t dense, std::size_t d, std::size_t h,
                                               std::size_t s, std::size_t b)>& visit) {
  std::size_t i = 0;
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t s = 0; s < 4; ++s)
      for (std::size_t h = 0; h < 3; ++h)
        for (std::size_t d = 0; d < 32; ++d) visit(i++, d, h, s, b);
}

// Memory order [D, S, H, B] with padding behind every row: what a permuted view looks like.
constexpr std::size_t row = 40 * sizeof(float);
constexpr ByteStrides permuted{sizeof(float), 4 * row, row, 3 * 4 * row};
constexpr std::size_t permuted_elements = 40 * 4 * 3 * 2;

TEST(GgmlViews, PermutedSourceAndDestinationGiveTheSameBits) {
  const std::vector<float> x = as<float>(random_values(elements, 2));
  std::vector<float> expected(elements);
  rope_ext(dense(expected.data(), extents), dense(x.data(), extents), ids, neox_params());
  std::vector<float> source(permuted_elements, std::numeric_limits<float>::quiet_NaN());
  for_each_element([&](std::size_t i, auto d, auto h, auto s, auto b) {
    source[at<float>(permuted, d, h, s, b)] = x[i];
  });
  std::vector<float> y(permuted_elements, 77.0F);
  rope_ext({ScalarType::f32, y.data(), extents, permuted},
           {ScalarType::f32, source.data(), extents, permuted}, ids, neox_params());
  std::vector<bool> written(permuted_elements, false);
  for_each_element([&](std::size_t i, auto d, auto h, auto s, auto b) {
    EXPECT_EQ(y[at<float>(permuted, d, h, s, b)], expected[i]);
    written[at<float>(permuted, d, h, s, b)] = true;
  });
  for (std::size_t i = 0; i < permuted_elements; ++i) {
    EXPECT_TRUE(written[i] || y[i] == 77.0F) << "padding " << i;
  }
}

TEST(GgmlViews, InPlaceInsideAParent) {
  const std::vector<float> x = as<float>(random_values(elements, 3));
  std::vector<float> expected(elements);
  rope_ext(dense(expected.data(), extents), dense(x.data(), extents), ids, neox_params());
  std::vector<float> parent(permuted_elements, 77.0F);
  for_each_element([&](std::size_t i, auto d, auto h, auto s, auto b) {
    parent[at<float>(permuted, d, h, s, b)] = x[i];
  });
  rope_ext_inplace({ScalarType::f32, parent.data(), extents, permuted}, ids, neox_params());
  for_each_element([&](std::size_t i, auto d, auto h, auto s, auto b) {
    EXPECT_EQ(parent[at<float>(permuted, d, h, s, b)], expected[i]);
    parent[at<float>(permuted, d, h, s, b)] = 77.0F;
  });
  EXPECT_EQ(parent, std::vector<float>(permuted_elements, 77.0F));
}

TEST(GgmlViews, ThreadsAndWideIdsGiveTheSameBits) {
  const std::vector<float> x = as<float>(random_values(elements, 4));
  const std::vector<std::int64_t> wide(ids.begin(), ids.end());
  for (const Precision precision : {Precision::exact, Precision::float_recurrence}) {
    Options options;
    options.precision = precision;
    std::vector<float> expected(elements);
    rope_ext(dense(expected.data(), extents), dense(x.data(), extents), ids, neox_params(),
             options);
    for (const int threads : {1, 2, 5}) {
      Eigen::ThreadPool pool(threads);
      const Eigen::ThreadPoolDevice device(&pool, threads);
      options.device = device;
      std::vector<float> y(elements);
      rope_ext(dense(y.data(), extents), dense(x.data(), extents), wide, neox_params(), options);
      EXPECT_EQ(y, expected) << threads << " threads";
    }
  }
}

// 3 + 2 + 1 pairs of sections for 16 pairs: they wrap by modulo.
TEST(GgmlViews, SectionsShorterThanThePairsWrap) {
  for (const std::int32_t mode : {mode_mrope, mode_imrope, mode_vision}) {
    RopeParams params;
    params.mode = mode;
    params.n_dims = mode == mode_vision ? 16 : 32;
    params.sections = {3, 2, 1, 0};
    const std::vector<float> x = as<float>(random_values(elements, 5));
    std::vector<float> y(elements);
    rope_multi(dense(y.data(), extents), dense(x.data(), extents), ids_of_axes, params);
    SCOPED_TRACE(mode);
    expect_near(y, exact(params, ids_of_axes, x));
  }
}

// Rows that are not there would need a table of 16 GiB.
TEST(GgmlViews, EmptyTensorsNeedNoTable) {
  constexpr std::int32_t width = std::numeric_limits<std::int32_t>::max() - 1;
  RopeParams params;
  params.n_dims = width;
  const std::vector<std::int32_t> none;
  for (const Precision precision : {Precision::exact, Precision::float_recurrence}) {
    Options options;
    options.precision = precision;
    const Extents empty{width, 1, 0, 1};
    rope_ext(dense(static_cast<float*>(nullptr), empty),
             dense(static_cast<const float*>(nullptr), empty), none, params, options);
  }
}

TEST(GgmlViews, RopeMultiIgnoresSectionsInOneAxisModes) {
  RopeParams params = neox_params();
  params.sections = {-1, 99, 0, 0};
  const std::vector<float> x = as<float>(random_values(elements, 6));
  std::vector<float> by_ext(elements), by_multi(elements);
  rope_ext(dense(by_ext.data(), extents), dense(x.data(), extents), ids, neox_params());
  rope_multi(dense(by_multi.data(), extents), dense(x.data(), extents), ids, params);
  EXPECT_EQ(by_ext, by_multi);
}

// <R x, g> = <x, R' g> in double, window and magnitude included: what the backward of ggml gets
// wrong with an offset.
TEST(GgmlViews, GradientOfAWindowIsTheAdjoint) {
  for (const std::int32_t mode : {mode_normal, mode_neox}) {
    RopeParams params = neox_params();
    params.mode = mode;
    const std::vector<double> x = random_values(elements, 7);
    const std::vector<double> g = random_values(elements, 8);
    std::vector<double> y(elements), dx(elements);
    rope_ext(dense(y.data(), extents), dense(x.data(), extents), ids, params);
    rope_ext_back(dense(dx.data(), extents), dense(g.data(), extents), ids, params);
    double forward = 0;
    double backward = 0;
    for (std::size_t i = 0; i < elements; ++i) {
      forward += y[i] * g[i];
      backward += x[i] * dx[i];
    }
    EXPECT_NEAR(forward, backward, static_cast<double>(elements) * 0x1p-50);
    EXPECT_NE(y, x);
  }
}

// The pieces of the translation, used as a caller would who keeps one table for all layers.
TEST(GgmlViews, TranslationGivesTheCoresOwnPieces) {
  const RopeParams params = neox_params();
  EXPECT_EQ(frequencies(params, 32).pairs(), 10);
  EXPECT_EQ(static_cast<double>(frequencies(params, 32).attention_factor()), 1.25);
  EXPECT_EQ(positions(params, ids, 4).tokens(), 4);
  EXPECT_EQ(pairing(params, 32).kind(), PairKind::split_half);
  EXPECT_EQ(pairing(params, 32).offset(), 6);
  EXPECT_EQ(pairing(params, 32).rotary_dims(32), 20);
  EXPECT_EQ((cos_sin_cache<double>(params, ids, 32, 4).outer()), (Shape{1, 4, 1}));
}

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::ggml::ggml_views_tests
