// SPDX-License-Identifier: Apache-2.0
//
// The 96 lines ROPE of ggml's backend test, with their shapes and parameters, on dense tensors and
// on both kinds of view (v = 1 and 2), printed as there with their error against the formula in
// double.
//
// A well-known backend failed 36 of them, in three groups: partial rotation, fs != 1 together with
// ef != 0, and f16 with af = 1.4245.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "eigen_rope/operators/ggml.hpp"
#include "support/golden_ggml_formula.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::ggml::ggml_backend_table_tests {
namespace {

/// The backend test's own bound.
constexpr double max_nmse = 1e-7;
constexpr int positions_below = 512;

struct Line {
  ScalarType type;
  Extents ne_a;
  std::int32_t n_dims;
  std::int32_t mode;
  float fs, ef, af;
  bool ff;

  std::string text(int v) const {
    char buffer[200];
    std::snprintf(
        buffer, sizeof buffer,
        "ROPE(type=%s,ne_a=[%d,%d,%d,%d],n_dims=%d,mode=%d,n_ctx=%d,fs=%f,ef=%f,af=%f,ff=%d,v=%d)",
        name_of(type), static_cast<int>(ne_a[0]), static_cast<int>(ne_a[1]),
        static_cast<int>(ne_a[2]), static_cast<int>(ne_a[3]), n_dims, mode, positions_below,
        static_cast<double>(fs), static_cast<double>(ef), static_cast<double>(af), ff ? 1 : 0, v);
    return buffer;
  }
};

std::vector<Line> table() {
  struct Model {
    Extents ne;
    std::int32_t n_dims, mode;
  };
  const Model always[] = {{{128, 32, 2, 1}, 128, mode_normal}, {{64, 128, 2, 1}, 64, mode_neox}};
  const Model once[] = {{{128, 40, 2, 1}, 128, mode_normal}, {{128, 52, 2, 1}, 128, mode_normal},
                        {{128, 64, 2, 1}, 128, mode_normal}, {{64, 1, 2, 1}, 64, mode_neox},
                        {{64, 71, 2, 1}, 64, mode_neox},     {{64, 8, 2, 1}, 64, mode_neox},
                        {{80, 32, 2, 1}, 20, mode_neox},     {{80, 32, 2, 1}, 32, mode_neox}};
  std::vector<Line> lines;
  for (const float fs : {1.0F, 1.4245F}) {
    for (const float ef : {0.0F, 0.7465F}) {
      for (const float af : {1.0F, 1.4245F}) {
        for (const ScalarType type : {ScalarType::f32, ScalarType::f16}) {
          for (const bool ff : {false, true}) {
            for (const Model& m : always)
              lines.push_back({type, m.ne, m.n_dims, m.mode, fs, ef, af, ff});
            if (fs != 1 || ef != 0 || af != 1) continue;
            for (const Model& m : once)
              lines.push_back({type, m.ne, m.n_dims, m.mode, fs, ef, af, ff});
          }
        }
      }
    }
  }
  return lines;
}

bool is_partial(const Line& line) { return line.n_dims < line.ne_a[0]; }
bool scales_and_extrapolates(const Line& line) { return line.fs != 1 && line.ef != 0; }
bool is_half_with_magnitude(const Line& line) {
  return line.type == ScalarType::f16 && line.af != 1;
}

/// A parent array and the byte offset and strides of the view into it.
struct Place {
  std::size_t parent;  ///< elements
  std::size_t begin;   ///< elements
  ByteStrides nb;
};

Place place_of(const Line& line, int v) {
  const Extents& ne = line.ne_a;
  Extents parent = ne;
  if (v == 1) parent = {ne[0] * 2, ne[1] * 4, ne[2] * 3, ne[3]};
  if (v == 2) parent = {ne[0] * 2, ne[1], ne[2], ne[3]};
  return {static_cast<std::size_t>(parent[0] * parent[1] * parent[2] * parent[3]),
          v == 2 ? static_cast<std::size_t>(ne[0]) : 0, dense_strides(line.type, parent)};
}

template <class Scalar>
double nmse_of(const Line& line, int v) {
  std::mt19937 random(20240611);
  std::uniform_real_distribution<float> element(-1, 1);
  std::uniform_real_distribution<float> factor(0.9F, 1.1F);
  const Place place = place_of(line, v);
  std::vector<Scalar> parent;
  for (std::size_t i = 0; i < place.parent; ++i)
    parent.push_back(static_cast<Scalar>(element(random)));

  test::GoldenCase c{};
  c.shape = Shape{line.ne_a[0], line.ne_a[1], line.ne_a[2], line.ne_a[3]};
  c.n_dims = line.n_dims;
  c.mode = line.mode == mode_neox ? "neox" : "normal";
  c.freq_base = 10000;
  c.freq_scale = static_cast<double>(line.fs);
  c.ext_factor = static_cast<double>(line.ef);
  c.attn_factor = static_cast<double>(line.af);
  c.beta_fast = c.beta_slow = 1;
  for (std::int64_t s = 0; s < line.ne_a[2]; ++s)
    c.positions.push_back(static_cast<std::int32_t>(random() % positions_below));
  if (line.ff) {
    for (std::int32_t k = 0; k < line.n_dims / 2; ++k) c.freq_factors.push_back(factor(random));
  }
  const std::size_t step = place.nb[1] / sizeof(Scalar);
  const std::size_t token = place.nb[2] / sizeof(Scalar);
  for (std::size_t s = 0; s < static_cast<std::size_t>(line.ne_a[2]); ++s) {
    for (std::size_t h = 0; h < static_cast<std::size_t>(line.ne_a[1]); ++h) {
      for (std::size_t d = 0; d < static_cast<std::size_t>(line.ne_a[0]); ++d) {
        c.input.push_back(static_cast<float>(parent[place.begin + s * token + h * step + d]));
      }
    }
  }

  RopeParams params;
  params.n_dims = line.n_dims;
  params.mode = line.mode;
  params.freq_scale = line.fs;
  params.ext_factor = line.ef;
  params.attn_factor = line.af;
  params.beta_fast = params.beta_slow = 1;
  params.freq_factors = c.freq_factors;
  std::vector<Scalar> y(c.input.size());
  rope_ext(dense(y.data(), line.ne_a),
           {line.type, parent.data() + place.begin, line.ne_a, place.nb}, c.positions, params);

  const std::vector<double> exact = test::PlainFormula(c)().y;
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double error = static_cast<double>(static_cast<float>(y[i])) - exact[i];
    difference += error * error;
    size += exact[i] * exact[i];
  }
  return difference / size;
}

double nmse_of(const Line& line, int v) {
  return line.type == ScalarType::f32 ? nmse_of<float>(line, v) : nmse_of<Eigen::half>(line, v);
}

TEST(GgmlBackendTable, HasItsLinesAndTheThreeGroups) {
  int partial = 0;
  int scaled = 0;
  int magnitude = 0;
  int any = 0;
  for (const Line& line : table()) {
    partial += is_partial(line);
    scaled += scales_and_extrapolates(line);
    magnitude += is_half_with_magnitude(line);
    any += is_partial(line) || scales_and_extrapolates(line) || is_half_with_magnitude(line);
  }
  EXPECT_EQ(table().size(), 96U);
  EXPECT_EQ(partial, 8);
  EXPECT_EQ(scaled, 16);
  EXPECT_EQ(magnitude, 16);
  EXPECT_EQ(any, 36);
}

void run_lines(bool (*belongs)(const Line&)) {
  for (const int v : {0, 1, 2}) {
    for (const Line& line : table()) {
      if (!belongs(line)) continue;
      const double nmse = nmse_of(line, v);
      std::printf("  %s: NMSE = %.3e %s\n", line.text(v).c_str(), nmse,
                  nmse <= max_nmse ? "OK" : "FAIL");
      EXPECT_LE(nmse, max_nmse) << line.text(v);
    }
  }
}

TEST(GgmlBackendTable, PartialRotation) { run_lines(is_partial); }
TEST(GgmlBackendTable, ScaleWithExtrapolation) { run_lines(scales_and_extrapolates); }
TEST(GgmlBackendTable, HalfWithMagnitude) { run_lines(is_half_with_magnitude); }
TEST(GgmlBackendTable, TheOtherLines) {
  run_lines([](const Line& line) {
    return !is_partial(line) && !scales_and_extrapolates(line) && !is_half_with_magnitude(line);
  });
}

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::ggml::ggml_backend_table_tests
