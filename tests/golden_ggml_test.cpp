// SPDX-License-Identifier: Apache-2.0
//
// All 1503 recorded answers of ggml's operator, by frequencies, positions, a float table and a pairing: within the distance ggml itself has
// from the exact result, and in half equal to the exact result rounded once.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "golden_ggml.hpp"
#include "golden_ggml_formula.hpp"
#include "rope/cache.hpp"
#include "rope/reference.hpp"
#include "rope/rotate_to.hpp"

namespace rope {
namespace {

using test::GoldenCase;
using test::GoldenReader;
using test::PlainFormula;
using test::PlainResult;

const std::string folder = ROPE_TEST_DATA "/golden/ggml";

// From the data's README: what an exact implementation may differ from ggml by, beside ggml's own distance from the exact result.
constexpr double float_nmse = 1e-12;
constexpr double half_nmse = 1e-9;
constexpr double recorded_share = 1.5;
/// Of the elements of a group in half: single rounding after float arithmetic misses the exact one where that lies beside a midpoint.
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

std::uint32_t bits(float v) {
  std::uint32_t result;
  std::memcpy(&result, &v, sizeof result);
  return result;
}

Sections sections_of(const GoldenCase& c) {
  const SectionPattern pattern = c.mode == "vision"   ? SectionPattern::vision
                                 : c.mode == "imrope" ? SectionPattern::interleaved_ggml
                                                      : SectionPattern::contiguous;
  return {pattern, c.sections};
}

bool is_multi_axis(const GoldenCase& c) { return c.mode == "mrope" || c.mode == "imrope" || c.mode == "vision"; }

CosSinCache<float> table_of(const GoldenCase& c) {
  Powers powers;
  powers.rotary_dims = c.n_dims;
  if (c.mode == "vision") {
    // n_dims is half the rotated width there, and the exponents restart in each section.
    powers.rotary_dims = c.shape[0];
    powers.exponent_dims = c.n_dims;
    powers.exponents = sections_of(c).exponents(c.shape[0] / 2);
  }
  powers.base = c.freq_base;
  powers.linear_scale = c.freq_scale;
  powers.attention_factor = c.attn_factor;
  powers.factors.assign(c.freq_factors.begin(), c.freq_factors.end());
  Yarn yarn;
  yarn.ext_factor = c.ext_factor;
  yarn.original_context = c.n_ctx_orig;
  yarn.beta_fast = c.beta_fast;
  yarn.beta_slow = c.beta_slow;
  const Positions positions = is_multi_axis(c) ? Positions::multi_axis(c.positions, sections_of(c)) : Positions::ids(c.positions);
  return {Frequencies::yarn(powers, yarn), positions, Layout::bsnd()};
}

Pairing pairing_of(const GoldenCase& c) {
  if (c.mode == "vision") return half;
  return (c.mode == "normal" ? interleaved : half).with_rotary_dims(c.n_dims).with_offset(c.n_offs);
}

/// The case as the library computes it, widened to float again. The reference loops must agree but for fused multiply-adds.
template <class Scalar>
std::vector<float> rotated(const GoldenCase& c) {
  const CosSinCache<float> table = table_of(c);
  const Direction direction = c.backward ? Direction::transpose : Direction::forward;
  std::vector<Scalar> x;
  for (const float v : c.input) {
    x.push_back(static_cast<Scalar>(v));
    EXPECT_EQ(static_cast<float>(x.back()), v) << "the recorded input does not fit its type";
  }
  std::vector<Scalar> by_reference(x.size());
  reference::rotate(x.data(), by_reference.data(), c.shape, table.view(), pairing_of(c), direction);

  const Index D = c.shape[0];
  const Index H = c.shape[1];
  rotate_inplace(StridedView<Scalar>{x.data(), c.shape, {D, D * H, D * H * c.shape[2]}}, table, pairing_of(c), direction);

  const double magnitude = std::abs(c.attn_factor) * (1 + std::abs(std::log(c.freq_scale)));
  const double rounding = 2 * magnitude * static_cast<double>(static_cast<float>(std::numeric_limits<Scalar>::epsilon()));
  std::vector<float> result;
  for (std::size_t i = 0; i < x.size(); ++i) {
    result.push_back(static_cast<float>(x[i]));
    EXPECT_NEAR(result[i], static_cast<float>(by_reference[i]), rounding) << "element " << i;
  }
  return result;
}

TEST(GoldenGgml, IndexHoldsEveryCaseOfEveryGroup) {
  std::map<std::string, std::size_t> expected;
  for (const Group& group : groups) expected[group.name] = group.cases;
  std::map<std::string, std::size_t> found;
  std::set<int> ids;
  for (const GoldenCase& c : GoldenReader(folder).read()) {
    ++found[c.group];
    ids.insert(c.id);
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(ids.size(), all_cases);
}

TEST(GoldenGgml, MissingDataIsAnError) { EXPECT_THROW(GoldenReader(folder + "/nowhere").read(), std::runtime_error); }

class GoldenGgmlGroup : public testing::TestWithParam<Group> {};

TEST_P(GoldenGgmlGroup, AgreesWithinGgmlsOwnError) {
  std::size_t elements = 0;
  std::size_t misrounded = 0;
  const std::vector<GoldenCase> cases = GoldenReader(folder).read(GetParam().name);
  ASSERT_EQ(cases.size(), GetParam().cases);
  for (const GoldenCase& c : cases) {
    SCOPED_TRACE(testing::Message() << "case " << c.id << ", " << c.mode << (c.backward ? ", backward" : ""));
    const PlainResult exact = PlainFormula(c)();
    const std::vector<float> mine = c.is_half ? rotated<Eigen::half>(c) : rotated<float>(c);
    ASSERT_EQ(mine.size(), c.output.size());
    const double floor = c.is_half ? half_nmse : float_nmse;
    EXPECT_LE(nmse(mine, c.output, exact.rotated), floor + recorded_share * c.nmse_vs_double);
    // The same of the test's formula, more tightly: a mistake in it would hide one of the library.
    EXPECT_NEAR(nmse(c.output, exact.y, exact.rotated), c.nmse_vs_double, floor + recorded_digits * c.nmse_vs_double);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (!exact.rotated[i]) {
        EXPECT_EQ(bits(mine[i]), bits(c.input[i])) << "element " << i << " outside the window";
      } else if (c.is_half) {
        ++elements;
        if (static_cast<double>(mine[i]) != to_half(exact.y[i])) ++misrounded;
      }
    }
  }
  EXPECT_LE(static_cast<double>(misrounded), misrounded_share * static_cast<double>(elements)) << "of " << elements;
}

INSTANTIATE_TEST_SUITE_P(All, GoldenGgmlGroup, testing::ValuesIn(groups),
                         [](const testing::TestParamInfo<Group>& group) { return std::string(group.param.name); });

}  // namespace
}  // namespace rope
