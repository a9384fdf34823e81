// SPDX-License-Identifier: Apache-2.0
//
// Every gradient into memory of its last result, and every tangent, asks for no memory.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "eigen_rope/eigen_rope.hpp"
#include "support/allocations.hpp"

namespace eigen_rope::test::gradients_allocation_tests {
namespace {

constexpr Index D = 64, heads = 4, tokens = 33;

/// x, g and dx with the features on axis 0 of three, or behind tokens and heads.
template <class Scalar>
struct Backward {
  std::vector<Scalar> x_memory = std::vector<Scalar>(D * heads * tokens, Scalar(0.5F));
  std::vector<Scalar> g_memory = x_memory, dx_memory = x_memory;
  Shape shape;
  int axis;
  Cache<float> cache;
  StridedView<Scalar> x = strided_view(x_memory.data(), shape);
  StridedView<Scalar> g = strided_view(g_memory.data(), shape);
  StridedView<Scalar> dx = strided_view(dx_memory.data(), shape);

  explicit Backward(const Layout& layout)
      : shape(layout.feature_axis() == 0 ? Shape{D, heads, tokens} : Shape{tokens, heads, D}),
        axis(layout.feature_axis()),
        cache(Frequencies::powers({D}), Positions::range(3, tokens), layout) {}
};

template <class Scalar>
class GradientAllocationTest : public testing::Test {
 protected:
  const std::vector<Layout> layouts{Layout::bsnd(),
                                    Layout{AxisRole::token, AxisRole::other, AxisRole::feature}};

  /// visit(problem, pairing) for every layout and pairing.
  template <class Visit>
  void on_all(const Visit& visit) const {
    for (const Layout& layout : layouts) {
      Backward<Scalar> problem(layout);
      for (const Pairing& kind : {split_half, interleaved, interleaved_to_split_half}) {
        const Pairing pairing = problem.axis == 0 ? kind : kind.along(problem.axis);
        SCOPED_TRACE(pairing.text());
        visit(problem, pairing);
      }
    }
  }
};
using Scalars = testing::Types<float, double, Eigen::half, Eigen::bfloat16>;
TYPED_TEST_SUITE(GradientAllocationTest, Scalars);

TYPED_TEST(GradientAllocationTest, GradientsIntoReusedMemory) {
  this->on_all([](const auto& p, const Pairing& pairing) {
    for (const GradientsFrom from : {GradientsFrom::output, GradientsFrom::input}) {
      for (const Wanted wanted : {Wanted::angle, Wanted::nothing,
                                  Wanted::angle | Wanted::log_magnitude | Wanted::table}) {
        GradientOptions options;
        options.from = from;
        options.wanted = wanted;
        Gradients<double> d;
        EXPECT_EQ(allocations_of(
                      [&] { d = gradients(p.x, p.g, p.cache, pairing, options, std::move(d)); }),
                  0);
        EXPECT_EQ(allocations_of([&] {
                    d = gradients_to(p.dx, p.x, p.g, p.cache, pairing, options, std::move(d));
                  }),
                  0);
        EXPECT_EQ(allocations_of([&] {
                    d = gradients_inplace(p.x, p.g, p.cache, pairing, options, std::move(d));
                  }),
                  0);
      }
    }
  });
}

TYPED_TEST(GradientAllocationTest, GradientsOfTheTable) {
  std::vector<TypeParam> dcos(D / 2 * tokens), dsin(dcos.size());
  this->on_all([&](const auto& p, const Pairing& pairing) {
    TableGradient<TypeParam> gradient{dcos.data(), dsin.data(), D / 2, p.cache.outer()};
    gradient.feature_axis = p.axis;
    EXPECT_EQ(allocations_of([&] { table_gradient(gradient, p.x, p.g, pairing); }), 0);
  });
}

TYPED_TEST(GradientAllocationTest, Tangents) {
  const std::vector<double> angle(D / 2 * tokens, 0.25);
  this->on_all([&](const auto& p, const Pairing& pairing) {
    const TangentTable<float> tangent = tangent_of(p.cache, angle);
    EXPECT_EQ(allocations_of([&] { rotate_tangent_to(p.dx, p.x, tangent, pairing); }), 0);
    EXPECT_EQ(allocations_of([&] { jvp_to(p.dx, p.x, p.g, p.cache, tangent, pairing); }), 0);
  });
}

}  // namespace
}  // namespace eigen_rope::test::gradients_allocation_tests
