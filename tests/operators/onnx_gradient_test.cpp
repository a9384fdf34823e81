// SPDX-License-Identifier: Apache-2.0
//
// The gradients of the ONNX operators, which ONNX does not define: against the definition of an
// adjoint, against differences of the operator itself, and against plain loops.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <random>
#include <variant>
#include <vector>

#include "eigen_rope/operators/onnx.hpp"

namespace eigen_rope::onnx_gradient_tests {
namespace {

using AnyNode =
    std::variant<onnx::RotaryEmbedding, onnx::ContribRotaryEmbedding, onnx::MRotaryEmbedding>;

/// A call of one operator; every tensor is made from its shapes.
struct GradientCase {
  const char* name;
  AnyNode node;
  onnx::Dims x_shape;
  onnx::Dims cache_shape;
  onnx::Dims ids_shape;
  std::vector<std::int64_t> ids;  ///< empty for none
};

std::size_t count_of(const onnx::Dims& shape) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  return count;
}

/// Positions 1 and 4 are named more than once, 0, 2 and 6 never; MRotaryEmbedding names its own.
std::vector<GradientCase> gradient_cases() {
  const auto standard = [](std::int64_t interleaved, std::int64_t heads, std::int64_t rotary,
                           onnx::WideCache wide) {
    onnx::RotaryEmbedding node;
    node.interleaved = interleaved;
    node.num_heads = heads;
    node.rotary_embedding_dim = rotary;
    node.wide_cache = wide;
    return node;
  };
  const auto contrib = [](std::int64_t interleaved, std::int64_t heads, std::int64_t rotary,
                          double scale) {
    onnx::ContribRotaryEmbedding node;
    node.interleaved = interleaved;
    node.num_heads = heads;
    node.rotary_embedding_dim = rotary;
    node.scale = scale;
    return node;
  };
  const auto multi_axis = [](std::int64_t interleaved, std::int64_t heads, std::int64_t rotary,
                             double scale, std::int64_t layout) {
    onnx::MRotaryEmbedding node;
    node.interleaved = interleaved;
    node.num_heads = heads;
    node.rotary_embedding_dim = rotary;
    node.scale = scale;
    node.mrope_layout = layout;
    node.mrope_section = {1, 2, 1};
    return node;
  };
  const onnx::WideCache refuse = onnx::WideCache::refuse;
  const std::vector<std::int64_t> ids{1, 4, 4, 5, 1, 3};
  const std::vector<std::int64_t> three{1, 4, 4, 5, 1, 3, 1, 1, 4, 5, 5, 3, 4, 3, 3, 1, 1, 5};
  return {
      {"4D half", standard(0, 0, 0, refuse), {2, 3, 3, 8}, {7, 4}, {2, 3}, ids},
      {"3D half", standard(0, 3, 0, refuse), {2, 3, 24}, {7, 4}, {2, 3}, ids},
      {"4D partial interleaved", standard(1, 0, 4, refuse), {2, 3, 3, 8}, {7, 2}, {2, 3}, ids},
      {"3D partial interleaved", standard(1, 3, 4, refuse), {2, 3, 24}, {7, 2}, {2, 3}, ids},
      {"4D without ids", standard(0, 0, 0, refuse), {2, 3, 3, 8}, {2, 3, 4}, {}, {}},
      {"3D without ids, wide cache",
       standard(0, 3, 4, onnx::WideCache::slice),
       {2, 3, 24},
       {2, 3, 5},
       {},
       {}},
      {"4D with ids, wide cache",
       standard(0, 0, 4, onnx::WideCache::slice),
       {2, 3, 3, 8},
       {7, 5},
       {2, 3},
       ids},
      {"contrib, scale 2", contrib(0, 0, 0, 2.0), {2, 3, 3, 8}, {7, 4}, {2, 3}, ids},
      {"contrib 3D interleaved, whole head's cache",
       contrib(1, 3, 4, 1.0),
       {2, 3, 24},
       {7, 4},
       {2, 3},
       ids},
      {"contrib, one offset", contrib(0, 0, 0, 1.0), {2, 3, 3, 8}, {7, 4}, {1}, {2}},
      {"contrib 3D, scalar offset, scale 2", contrib(0, 0, 0, 2.0), {2, 3, 24}, {7, 4}, {}, {2}},
      {"three axes in blocks, scale 2",
       multi_axis(0, 0, 0, 2.0, 0),
       {2, 3, 3, 8},
       {7, 4},
       {3, 2, 3},
       three},
      {"three axes in turn, 3D interleaved",
       multi_axis(1, 2, 8, 1.0, 1),
       {2, 3, 20},
       {7, 4},
       {3, 2, 3},
       three},
  };
}

/// The tensors of a case in one scalar, filled with numbers of [-1, 1].
template <class Scalar>
class Tensors {
 public:
  explicit Tensors(const GradientCase& c)
      : of_(&c),
        x(numbers(c.x_shape, 1)),
        cos(numbers(c.cache_shape, 2)),
        sin(numbers(c.cache_shape, 3)),
        dy(numbers(c.x_shape, 4)) {}

  onnx::Inputs inputs() const {
    onnx::Inputs in{onnx::tensor(x.data(), of_->x_shape),
                    onnx::tensor(cos.data(), of_->cache_shape),
                    onnx::tensor(sin.data(), of_->cache_shape), std::nullopt};
    if (!of_->ids.empty()) in.position_ids = onnx::PositionIds{of_->ids.data(), of_->ids_shape};
    return in;
  }
  std::vector<Scalar> output() const {
    std::vector<Scalar> y(x.size());
    std::visit(
        [&](const auto& node) { onnx::run(node, inputs(), onnx::tensor(y.data(), of_->x_shape)); },
        of_->node);
    return y;
  }
  /// The loss <dy, y>, in double.
  double loss() const {
    const std::vector<Scalar> y = output();
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      sum += static_cast<double>(dy[i]) * static_cast<double>(y[i]);
    return sum;
  }
  struct Result {
    std::vector<Scalar> dx, dcos, dsin;
  };
  Result backward() const {
    Result r{std::vector<Scalar>(x.size()), std::vector<Scalar>(cos.size(), Scalar(9)),
             std::vector<Scalar>(sin.size(), Scalar(9))};
    const onnx::Gradients gradients{onnx::tensor(r.dx.data(), of_->x_shape),
                                    onnx::tensor(r.dcos.data(), of_->cache_shape),
                                    onnx::tensor(r.dsin.data(), of_->cache_shape)};
    std::visit(
        [&](const auto& node) {
          onnx::backward(node, inputs(), onnx::tensor(dy.data(), of_->x_shape), gradients);
        },
        of_->node);
    return r;
  }

 private:
  static std::vector<Scalar> numbers(const onnx::Dims& shape, unsigned seed) {
    std::mt19937 generator(seed);
    std::vector<Scalar> list(count_of(shape));
    for (Scalar& number : list)
      number = static_cast<Scalar>(static_cast<float>(generator() >> 8) / (1 << 23) - 1.0F);
    return list;
  }

  const GradientCase* of_;

 public:
  std::vector<Scalar> x, cos, sin, dy;
};

// Sums of at most 144 terms of magnitude 2 in double: the gradient's own roundings and those of the
// loss, with room for their order.
constexpr double sum_tolerance = 4 * 144 * std::numeric_limits<double>::epsilon();

TEST(OnnxGradient, IsTheAdjoint) {
  for (const GradientCase& c : gradient_cases()) {
    const Tensors<double> t(c);
    const auto r = t.backward();
    double inner = 0;
    for (std::size_t i = 0; i < t.x.size(); ++i) inner += t.x[i] * r.dx[i];
    EXPECT_NEAR(inner, t.loss(), sum_tolerance) << c.name;
  }
}

/// The loss is linear in each of X, cos and sin alone, so a central difference has no error but
/// rounding.
void expect_differences(const char* name, Tensors<double>& t, std::vector<double>& variable,
                        const std::vector<double>& gradient) {
  for (std::size_t i = 0; i < variable.size(); ++i) {
    const double at = variable[i];
    variable[i] = at + 1;
    const double above = t.loss();
    variable[i] = at - 1;
    const double below = t.loss();
    variable[i] = at;
    EXPECT_NEAR(gradient[i], (above - below) / 2, sum_tolerance) << name << ", element " << i;
  }
}

TEST(OnnxGradient, IsTheDerivativeOfTheOperator) {
  for (const GradientCase& c : gradient_cases()) {
    SCOPED_TRACE(c.name);
    Tensors<double> t(c);
    const auto r = t.backward();
    expect_differences("dX", t, t.x, r.dx);
    expect_differences("dcos_cache", t, t.cos, r.dcos);
    expect_differences("dsin_cache", t, t.sin, r.dsin);
  }
}

struct CacheSums {
  std::vector<double> cos, sin;
};

/// Heads of 8 dims, half pairs, X [2, 3, 3, 8], cache [7, 4], ids [2, 3]: the first case and the
/// contrib one.
template <class Scalar>
CacheSums plain_cache_sums(const GradientCase& c, const Tensors<Scalar>& t, double scale) {
  CacheSums sums{std::vector<double>(7 * 4), std::vector<double>(7 * 4)};
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t n = 0; n < 3; ++n) {
      for (std::size_t s = 0; s < 3; ++s) {
        for (std::size_t k = 0; k < 4; ++k) {
          const std::size_t first = ((b * 3 + n) * 3 + s) * 8 + k;
          const auto x_a = static_cast<double>(t.x[first]);
          const auto x_b = static_cast<double>(t.x[first + 4]);
          const auto g_a = static_cast<double>(t.dy[first]);
          const auto g_b = static_cast<double>(t.dy[first + 4]);
          const std::size_t entry = static_cast<std::size_t>(c.ids[b * 3 + s]) * 4 + k;
          sums.cos[entry] += scale * (g_a * x_a + g_b * x_b);
          sums.sin[entry] += scale * (g_b * x_a - g_a * x_b);
        }
      }
    }
  }
  return sums;
}

/// Each entry is a sum of at most 36 products formed in double and rounded once to the cache's
/// scalar.
template <class Scalar>
void expect_plain_sums(const GradientCase& c, double scale, double half_unit) {
  const Tensors<Scalar> t(c);
  const CacheSums want = plain_cache_sums(c, t, scale);
  const auto r = t.backward();
  for (std::size_t i = 0; i < want.cos.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(r.dcos[i]), want.cos[i],
                half_unit * std::abs(want.cos[i]) + sum_tolerance)
        << c.name << " " << i;
    EXPECT_NEAR(static_cast<double>(r.dsin[i]), want.sin[i],
                half_unit * std::abs(want.sin[i]) + sum_tolerance)
        << c.name << " " << i;
  }
}

TEST(OnnxGradient, CacheSumsArePlainSumsRoundedOnce) {
  const std::vector<GradientCase> cases = gradient_cases();
  for (const auto& [c, scale] : {std::pair(cases[0], 1.0), std::pair(cases[7], 2.0)}) {
    expect_plain_sums<double>(c, scale, std::ldexp(1.0, -53));
    expect_plain_sums<float>(c, scale, std::ldexp(1.0, -24));
    expect_plain_sums<Eigen::half>(c, scale, std::ldexp(1.0, -11));
    expect_plain_sums<Eigen::bfloat16>(c, scale, std::ldexp(1.0, -8));
  }
}

TEST(OnnxGradient, RowsNoPositionNamesAndColumnsNoPairReadsGetZero) {
  const GradientCase c = gradient_cases()[6];
  const auto r = Tensors<double>(c).backward();
  for (std::size_t row = 0; row < 7; ++row) {
    const bool named = row == 1 || row == 3 || row == 4 || row == 5;
    for (std::size_t column = 0; column < 5; ++column) {
      const bool read = named && column < 2;
      EXPECT_EQ(r.dcos[row * 5 + column] != 0, read) << row << ", " << column;
      EXPECT_EQ(r.dsin[row * 5 + column] != 0, read) << row << ", " << column;
    }
  }
}

TEST(OnnxGradient, EachMayBeLeftOutAndNeedsOnlyWhatItReads) {
  const GradientCase c = gradient_cases()[0];
  const auto& node = std::get<onnx::RotaryEmbedding>(c.node);
  const Tensors<float> t(c);
  const auto all = t.backward();
  const onnx::ConstTensor dy = onnx::tensor(t.dy.data(), c.x_shape);
  onnx::Inputs inputs = t.inputs();

  std::vector<float> dx(t.x.size());
  inputs.X.data = nullptr;
  onnx::backward(node, inputs, dy,
                 {onnx::tensor(dx.data(), c.x_shape), std::nullopt, std::nullopt});
  EXPECT_EQ(dx, all.dx);

  inputs = t.inputs();
  inputs.cos_cache.data = nullptr;
  inputs.sin_cache.data = nullptr;
  std::vector<float> dcos(t.cos.size());
  std::vector<float> dsin(t.cos.size());
  onnx::backward(node, inputs, dy,
                 {std::nullopt, onnx::tensor(dcos.data(), c.cache_shape), std::nullopt});
  onnx::backward(node, inputs, dy,
                 {std::nullopt, std::nullopt, onnx::tensor(dsin.data(), c.cache_shape)});
  EXPECT_EQ(dcos, all.dcos);
  EXPECT_EQ(dsin, all.dsin);
}

TEST(OnnxGradient, DXMayTakeTheMemoryOfDY) {
  for (const GradientCase& c : gradient_cases()) {
    const Tensors<float> t(c);
    const auto want = t.backward();
    std::vector<float> both = t.dy;
    std::vector<float> dcos(t.cos.size());
    const onnx::Gradients gradients{onnx::tensor(both.data(), c.x_shape),
                                    onnx::tensor(dcos.data(), c.cache_shape), std::nullopt};
    const onnx::ConstTensor dy = onnx::tensor(both.data(), c.x_shape);
    std::visit([&](const auto& node) { onnx::backward(node, t.inputs(), dy, gradients); }, c.node);
    EXPECT_EQ(both, want.dx) << c.name;
    EXPECT_EQ(dcos, want.dcos) << c.name;
  }
}

TEST(OnnxGradient, EmptyXGivesZeros) {
  GradientCase c = gradient_cases()[0];
  c.x_shape = {2, 0, 3, 8};
  const auto r = Tensors<float>(c).backward();
  EXPECT_EQ(r.dcos, std::vector<float>(7 * 4));
  EXPECT_EQ(r.dsin, std::vector<float>(7 * 4));
}

}  // namespace
}  // namespace eigen_rope::onnx_gradient_tests
