// SPDX-License-Identifier: Apache-2.0
//
// All 1503 recorded answers of ggml's operator. Exact: within the distance ggml itself has from the
// exact result, and in half equal to the exact result rounded once. With ggml's float recurrence:
// the recorded answers, also where they mean nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "eigen_rope/operators/ggml.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "support/golden_ggml.hpp"
#include "support/golden_ggml_formula.hpp"

namespace eigen_rope::golden_ggml_tests {
namespace {

using test::GoldenCase;
using test::GoldenReader;
using test::PlainFormula;
using test::PlainResult;

const std::string folder = EIGEN_ROPE_TEST_DATA "/golden/ggml";

// Its index is read once.
GoldenReader& golden() {
  static GoldenReader reader(folder);
  return reader;
}

// From the data's README: what an exact implementation may differ from ggml by, beside ggml's own
// distance from the exact result.
constexpr double float_nmse = 1e-12;
constexpr double half_nmse = 1e-9;
constexpr double recorded_share = 1.5;
/// Of the elements of a group in half: single rounding after float arithmetic misses the exact one
/// where that lies beside a midpoint.
constexpr double misrounded_share = 1e-3;
/// The recorded distances have two or three digits; the test's own formula must reproduce them.
constexpr double recorded_digits = 0.06;

struct Group {
  const char* name;
  std::size_t cases;
};
std::ostream& operator<<(std::ostream& out, const Group& group) { return out << group.name; }

constexpr Group groups[] = {
    {"grid_normal_128_128_f32", 32},
    {"grid_normal_128_128_f16", 32},
    {"grid_normal_64_64_f32", 32},
    {"grid_normal_64_64_f16", 32},
    {"grid_normal_80_20_f32", 32},
    {"grid_normal_80_20_f16", 32},
    {"grid_normal_80_32_f32", 32},
    {"grid_normal_80_32_f16", 32},
    {"grid_neox_128_128_f32", 32},
    {"grid_neox_128_128_f16", 32},
    {"grid_neox_64_64_f32", 32},
    {"grid_neox_64_64_f16", 32},
    {"grid_neox_80_20_f32", 32},
    {"grid_neox_80_20_f16", 32},
    {"grid_neox_80_32_f32", 32},
    {"grid_neox_80_32_f16", 32},
    {"multi_mrope_f32", 100},
    {"multi_mrope_f16", 100},
    {"multi_imrope_f32", 100},
    {"multi_imrope_f16", 100},
    {"multi_vision_f32", 60},
    {"multi_vision_f16", 60},
    {"yarn_f32", 55},
    {"yarn_f16", 55},
    {"pos_f32", 165},
    {"pos_f16", 55},
    {"offset_f32", 48},
    {"offset_f16", 48},
    {"odd_f32", 30},
    {"odd_f16", 15},
};
constexpr std::size_t all_cases = 1503;

/// sum (a - b)^2 / sum b^2 over the rotated elements.
template <class A, class B>
double nmse(const std::vector<A>& a, const std::vector<B>& b, const std::vector<bool>& rotated) {
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!rotated[i]) continue;
    const auto x = static_cast<double>(a[i]);
    const auto y = static_cast<double>(b[i]);
    difference += (x - y) * (x - y);
    size += y * y;
  }
  return difference / size;
}

/// v rounded once to half, ties to even; |v| < 65520.
double to_half(double v) {
  int exponent;
  std::frexp(v, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - 11, -24));
  return std::nearbyint(v / unit) * unit;
}

/// The distance of neighbours in half, from v away from zero.
float half_unit(float v) {
  int exponent;
  std::frexp(v, &exponent);
  return static_cast<float>(std::ldexp(1.0, std::max(exponent - 11, -24)));
}

std::uint32_t bits(float v) {
  std::uint32_t result;
  std::memcpy(&result, &v, sizeof result);
  return result;
}

ggml::RopeParams params_of(const GoldenCase& c) {
  ggml::RopeParams params;
  params.n_dims = static_cast<std::int32_t>(c.n_dims);
  params.mode = static_cast<std::int32_t>(c.mode_number);
  params.n_ctx_orig = static_cast<std::int32_t>(c.n_ctx_orig);
  params.freq_base = static_cast<float>(c.freq_base);
  params.freq_scale = static_cast<float>(c.freq_scale);
  params.ext_factor = static_cast<float>(c.ext_factor);
  params.attn_factor = static_cast<float>(c.attn_factor);
  params.beta_fast = static_cast<float>(c.beta_fast);
  params.beta_slow = static_cast<float>(c.beta_slow);
  for (std::size_t i = 0; i < params.sections.size(); ++i)
    params.sections[i] = static_cast<std::int32_t>(c.sections[i]);
  params.n_offs = static_cast<std::int32_t>(c.n_offs);
  params.freq_factors = c.freq_factors;
  return params;
}

/// The rotation of x in a tensor whose features are on the slowest axis, in x's order again.
template <class Scalar>
std::vector<Scalar> rotated_with_slowest_features(const GoldenCase& c, const std::vector<Scalar>& x,
                                                  ggml::Precision precision) {
  const Shape& shape = c.shape;
  const Index rows = shape[1] * shape[2] * shape[3];
  const auto apart = [&](Index i) {
    return static_cast<std::size_t>(i % shape[0] * rows + i / shape[0]);
  };
  std::vector<Scalar> y(x.size());
  for (Index i = 0; i < shape.size(); ++i) y[apart(i)] = x[static_cast<std::size_t>(i)];
  const ggml::RopeParams params = params_of(c);
  const StridedView<Scalar> view{y.data(), shape, {1, shape[1], shape[1] * shape[2]}, rows};
  rotate_inplace(
      view, ggml::cos_sin_cache<float>(params, c.positions, shape[0], shape[2], precision),
      ggml::pairing(params, shape[0]), c.backward ? Direction::backward : Direction::forward);
  std::vector<Scalar> result(x.size());
  for (Index i = 0; i < shape.size(); ++i) result[static_cast<std::size_t>(i)] = y[apart(i)];
  return result;
}

/// The case as the operator computes it, widened to float again. In place must give the same bits,
/// and so must features on the slowest axis.
template <class Scalar>
std::vector<float> rotated(const GoldenCase& c, ggml::Precision precision) {
  std::vector<Scalar> x;
  for (const float v : c.input) {
    x.push_back(static_cast<Scalar>(v));
    EXPECT_EQ(static_cast<float>(x.back()), v) << "the recorded input does not fit its type";
  }
  const ggml::Extents ne{c.shape[0], c.shape[1], c.shape[2], c.shape[3]};
  const ggml::RopeParams params = params_of(c);
  ggml::Options options;
  options.precision = precision;
  const bool one_axis = c.mode == "normal" || c.mode == "neox";
  std::vector<Scalar> y(x.size(), Scalar(77));
  const auto call = one_axis ? (c.backward ? ggml::rope_ext_back : ggml::rope_ext)
                             : (c.backward ? ggml::rope_multi_back : ggml::rope_multi);
  call(ggml::dense(y.data(), ne), ggml::dense(std::as_const(x).data(), ne), c.positions, params,
       options);
  const std::vector<Scalar> apart = rotated_with_slowest_features(c, x, precision);
  EXPECT_EQ(std::memcmp(apart.data(), y.data(), x.size() * sizeof(Scalar)), 0)
      << "slowest features";
  if (!c.backward) {
    const auto inplace = one_axis ? ggml::rope_ext_inplace : ggml::rope_multi_inplace;
    inplace(ggml::dense(x.data(), ne), c.positions, params, options);
    EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(Scalar)), 0) << "in place";
  }
  std::vector<float> result;
  for (const Scalar v : y) result.push_back(static_cast<float>(v));
  return result;
}

std::vector<float> rotated(const GoldenCase& c, ggml::Precision precision) {
  return c.is_half ? rotated<Eigen::half>(c, precision) : rotated<float>(c, precision);
}

TEST(GoldenGgml, IndexHoldsEveryCaseOfEveryGroup) {
  std::map<std::string, std::size_t> expected;
  for (const Group& group : groups) expected[group.name] = group.cases;
  std::map<std::string, std::size_t> found;
  std::set<int> ids;
  for (const GoldenCase& c : golden().read()) {
    ++found[c.group];
    ids.insert(c.id);
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(ids.size(), all_cases);
}

TEST(GoldenGgml, MissingDataIsAnError) {
  EXPECT_THROW(GoldenReader(folder + "/nowhere").read(), std::runtime_error);
}

class GoldenGgmlGroup : public testing::TestWithParam<Group> {};

TEST_P(GoldenGgmlGroup, AgreesWithinGgmlsOwnError) {
  std::size_t elements = 0;
  std::size_t misrounded = 0;
  const std::vector<GoldenCase> cases = golden().read(GetParam().name);
  ASSERT_EQ(cases.size(), GetParam().cases);
  for (const GoldenCase& c : cases) {
    SCOPED_TRACE(testing::Message()
                 << "case " << c.id << ", " << c.mode << (c.backward ? ", backward" : ""));
    const PlainResult exact = PlainFormula(c)();
    const std::vector<float> mine = rotated(c, ggml::Precision::exact);
    ASSERT_EQ(mine.size(), c.output.size());
    const double floor = c.is_half ? half_nmse : float_nmse;
    EXPECT_LE(nmse(mine, c.output, exact.rotated), floor + recorded_share * c.nmse_vs_double);
    // The same of the test's formula, more tightly: a mistake in it would hide one of the library.
    EXPECT_NEAR(nmse(c.output, exact.y, exact.rotated), c.nmse_vs_double,
                floor + recorded_digits * c.nmse_vs_double);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (!exact.rotated[i]) {
        EXPECT_EQ(bits(mine[i]), bits(c.input[i])) << "element " << i << " outside the window";
      } else if (c.is_half) {
        ++elements;
        if (static_cast<double>(mine[i]) != to_half(exact.y[i])) ++misrounded;
      }
    }
  }
  EXPECT_LE(static_cast<double>(misrounded), misrounded_share * static_cast<double>(elements))
      << "of " << elements;
}

/// With ggml's own arithmetic nothing is left but the last bits of the C library's functions, at
/// every position. In half those move an element beside a midpoint to its neighbour.
TEST_P(GoldenGgmlGroup, FloatRecurrenceAgreesAtEveryPosition) {
  std::size_t elements = 0;
  std::size_t misrounded = 0;
  for (const GoldenCase& c : golden().read(GetParam().name)) {
    SCOPED_TRACE(testing::Message()
                 << "case " << c.id << ", " << c.mode << (c.backward ? ", backward" : ""));
    const std::vector<float> mine = rotated(c, ggml::Precision::float_recurrence);
    if (!c.is_half) {
      EXPECT_LE(nmse(mine, c.output, PlainFormula(c)().rotated), float_nmse);
      continue;
    }
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (mine[i] == c.output[i]) continue;
      ++misrounded;
      EXPECT_LE(std::abs(mine[i] - c.output[i]), half_unit(c.output[i])) << "element " << i;
    }
    elements += mine.size();
  }
  EXPECT_LE(static_cast<double>(misrounded), misrounded_share * static_cast<double>(elements))
      << "of " << elements;
}

INSTANTIATE_TEST_SUITE_P(All, GoldenGgmlGroup, testing::ValuesIn(groups),
                         [](const testing::TestParamInfo<Group>& group) {
                           return std::string(group.param.name);
                         });

}  // namespace
}  // namespace eigen_rope::golden_ggml_tests
