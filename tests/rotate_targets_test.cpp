// SPDX-License-Identifier: Apache-2.0
//
// Every instruction set that this machine has and the kernels were compiled for gives the reference's bits.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "rope/reference.hpp"
#include "rope/rotate_to.hpp"
#include "rotation_cases.hpp"

namespace rope::test {
namespace {

/// Makes the library choose among these targets only, until the end of the scope.
class OnlyTargets {
 public:
  explicit OnlyTargets(std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ~OnlyTargets() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  OnlyTargets(const OnlyTargets&) = delete;
  OnlyTargets& operator=(const OnlyTargets&) = delete;
};

/// Each single bit of the targets this machine has. Those the library was not compiled for fall back to the next it was.
std::vector<std::int64_t> targets() {
  std::vector<std::int64_t> result;
  for (int bit = 0; bit < 62; ++bit) {
    if (hwy::SupportedTargets() >> bit & 1) result.push_back(std::int64_t{1} << bit);
  }
  return result;
}

template <class Scalar>
void compare_every_target() {
  using Tensor = Eigen::Tensor<Scalar, 3>;
  ASSERT_FALSE(targets().empty());
  for (const std::int64_t target : targets()) {
    const OnlyTargets only(target);
    std::uint64_t seed = 1;
    for (const Case& c : cases_of(every_row)) {
      const Shape shape{c.row.length, 3, 2};
      const Tensor x = random_tensor<Scalar, 3>(shape, ++seed);
      for (const unsigned mask : {0U, 2U, 3U}) {
        SCOPED_TRACE(std::string(hwy::TargetName(target)) + ": " + c.text() + ", table varies on outer axes " + std::to_string(mask));
        const auto table = random_table<Scalar>(c.width(), broadcast_outer(shape.outer(), mask), ++seed);
        Tensor expected(x.dimensions());
        reference::rotate(x.data(), expected.data(), shape, table.view(), c.pairing, c.direction);
        const Tensor y = rotation(x, table, c.pairing, c.direction);
        ASSERT_TRUE(same_rotation(expected.data(), y.data(), x.data(), shape, c));
        Tensor in_place = x;
        rotate_inplace(in_place, table, c.pairing, c.direction);
        ASSERT_TRUE(same_bits(y, in_place));
      }
    }
  }
}

TEST(RotateTargets, Float) { compare_every_target<float>(); }
TEST(RotateTargets, Double) { compare_every_target<double>(); }

}  // namespace
}  // namespace rope::test
