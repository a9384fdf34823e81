// SPDX-License-Identifier: Apache-2.0
//
// Slices and chips of guarded tensors: those at an edge are rotated without a touch of what lies
// beyond, and those inside without a change around them.
#include <gtest/gtest.h>

#include "eigen_rope/rotation/piece_view.hpp"
#include "eigen_rope/rotation/rotate_to.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "support/guarded.hpp"
#include "support/kernel_paths.hpp"

namespace eigen_rope::test::piece_guard_tests {
namespace {

template <class Scalar>
class PieceGuardTest : public testing::Test {};
using Scalars = testing::Types<float, double, Eigen::half, Eigen::bfloat16>;
TYPED_TEST_SUITE(PieceGuardTest, Scalars);

/// [D, heads, tokens] of which the heads from `head` on and the tokens from `token` on are rotated.
TYPED_TEST(PieceGuardTest, CornersOfATensor) {
  using Rows = Eigen::Tensor<TypeParam, 3>;
  constexpr Index D = 22, heads = 5, tokens = 9;
  const Cache<detail::Widened<TypeParam>> cache(Frequencies::powers({20}), Positions::range(3, 4));
  const Pairing pairing = split_half.with_rotary_dims(20).with_offset(1);
  std::vector<TypeParam> values;
  for (int i = 0; i < D * heads * tokens; ++i)
    values.push_back(static_cast<TypeParam>(static_cast<float>(i % 97 - 48) / 32.0F));
  const Eigen::TensorMap<const Rows> x(values.data(), D, heads, tokens);
  Combinations combinations;
  for (const Against against : both_sides) {
    for (const Index corner : {Index{0}, Index{1}}) {
      const Guarded<TypeParam> memory(values, against);
      Eigen::TensorMap<Rows> guarded(memory.data(), D, heads, tokens);
      const Eigen::array<Index, 3> first{0, corner * 3, corner * 5}, size{D, 2, 4};
      const Rows copy = x.slice(first, size);
      Rows expected = x;
      expected.slice(first, size) = rotate(copy, cache, pairing);
      on_every_path([&](Path path) {
        if (path == Path::past_the_cache) return;
        memory.set(values);
        rotate_inplace(guarded.slice(first, size), cache, pairing);
        ++combinations;
        const std::vector<TypeParam> got = memory.values();
        ASSERT_TRUE(std::equal(got.begin(), got.end(), expected.data()));
        ASSERT_TRUE(memory.margins_untouched());
      });
    }
  }
}

}  // namespace
}  // namespace eigen_rope::test::piece_guard_tests
