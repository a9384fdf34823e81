// SPDX-License-Identifier: Apache-2.0
//
// Scalars whose value nobody can ask for, as those of CppAD and TinyAD look from outside: no
// conversion, no value(), no eigen_rope_passive.
//
// A rotation and its transpose need none of them. The inverse has to tell a determinant from zero,
// which a comparison does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <eigen_rope/eigen_rope.hpp>
#include <eigen_rope/forms/reference.hpp>
#include <limits>
#include <type_traits>
#include <vector>

#include "support/error_of.hpp"

namespace other {

enum class Comparison { allowed, missing };

/// A double that shows itself only to this test.
template <Comparison comparison>
class Hidden {
 public:
  Hidden() = default;
  explicit Hidden(double number) : number_(number) {}

  friend Hidden operator+(const Hidden& a, const Hidden& b) {
    return Hidden(a.number_ + b.number_);
  }
  friend Hidden operator-(const Hidden& a, const Hidden& b) {
    return Hidden(a.number_ - b.number_);
  }
  friend Hidden operator*(const Hidden& a, const Hidden& b) {
    return Hidden(a.number_ * b.number_);
  }
  friend Hidden operator/(const Hidden& a, const Hidden& b) {
    return Hidden(a.number_ / b.number_);
  }
  friend Hidden operator-(const Hidden& a) { return Hidden(-a.number_); }
  friend Hidden cos(const Hidden& a) { return Hidden(std::cos(a.number_)); }
  friend Hidden sin(const Hidden& a) { return Hidden(std::sin(a.number_)); }
  template <Comparison c>
  friend std::enable_if_t<c == Comparison::allowed, bool> operator==(const Hidden<c>& a,
                                                                     const Hidden<c>& b);
  template <Comparison c>
  friend double shown(const Hidden<c>& a);

 private:
  double number_ = 0;
};

template <Comparison c>
std::enable_if_t<c == Comparison::allowed, bool> operator==(const Hidden<c>& a,
                                                            const Hidden<c>& b) {
  return a.number_ == b.number_;
}
template <Comparison c>
double shown(const Hidden<c>& a) {
  return a.number_;
}

}  // namespace other

namespace eigen_rope {
namespace {

using Comparable = other::Hidden<other::Comparison::allowed>;
using Incomparable = other::Hidden<other::Comparison::missing>;
static_assert(!detail::has_passive<Comparable>() && !detail::has_passive<Incomparable>());
static_assert(detail::has_equality<Comparable> && !detail::has_equality<Incomparable>);

constexpr Index D = 10;
constexpr Index tokens = 3;
const Pairing pairing = eigen_rope::split_half.with_offset(1).with_rotary_dims(8);

template <class Scalar>
Eigen::Tensor<Scalar, 2> numbers() {
  Eigen::Tensor<Scalar, 2> x(D, tokens);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = Scalar(0.03 * static_cast<double>(i) - 0.5);
  return x;
}

template <class Scalar>
Cache<Scalar> table(double m) {
  std::vector<Scalar> angles;
  for (int i = 0; i < 4 * tokens; ++i) angles.push_back(Scalar(0.7 * i));
  return Cache<Scalar>::from_angles(angles, Scalar(m), 4, Shape{tokens});
}

template <class Scalar>
void expect_rotated(const Eigen::Tensor<Scalar, 2>& y, Direction direction) {
  const Eigen::Tensor<double, 2> x = numbers<double>();
  Eigen::Tensor<double, 2> expected(D, tokens);
  reference::rotate(x.data(), expected.data(), Shape{D, tokens}, table<double>(1.5).view(), pairing,
                    direction);
  // Of numbers below 1 with m = 1.5, by the same operations, which a compiler may fuse.
  constexpr double bound = 8 * std::numeric_limits<double>::epsilon();
  for (Index i = 0; i < y.size(); ++i)
    ASSERT_NEAR(shown(y.data()[i]), expected.data()[i], bound) << i;
}

template <class Scalar>
class UnknownValue : public ::testing::Test {};
using Scalars = ::testing::Types<Comparable, Incomparable>;
TYPED_TEST_SUITE(UnknownValue, Scalars);

TYPED_TEST(UnknownValue, TurnsAndTurnsBack) {
  const Eigen::Tensor<TypeParam, 2> x = numbers<TypeParam>();
  const auto of_numbers = table<double>(1.5);
  const auto of_scalars = table<TypeParam>(1.5);
  expect_rotated<TypeParam>(eigen_rope::rotate(x, of_numbers, pairing), Direction::forward);
  expect_rotated<TypeParam>(eigen_rope::rotate(x, of_scalars, pairing), Direction::forward);
  expect_rotated<TypeParam>(eigen_rope::rotate_backward(x, of_numbers, pairing),
                            Direction::backward);
  expect_rotated<TypeParam>(-eigen_rope::rotate_backward(-x, of_scalars, pairing),
                            Direction::backward);
  expect_rotated<TypeParam>(eigen_rope::rotate(numbers<double>(), of_scalars, pairing),
                            Direction::forward);
  Eigen::Tensor<TypeParam, 2> y(D, tokens);
  eigen_rope::rotate_to(y, x, of_scalars, pairing, Direction::backward);
  expect_rotated(y, Direction::backward);
  eigen_rope::rotate_to(eigen_rope::strided_view(y), eigen_rope::strided_view(x), of_scalars,
                        pairing);
  expect_rotated(y, Direction::forward);
}

/// A table of doubles has determinants that are known.
TYPED_TEST(UnknownValue, InverseByATableOfNumbers) {
  expect_rotated<TypeParam>(
      eigen_rope::rotate_inverse(numbers<TypeParam>(), table<double>(1.5), pairing),
      Direction::inverse);
}

TEST(UnknownValueComparable, InverseTellsDeterminantsFromZero) {
  expect_rotated<Comparable>(
      eigen_rope::rotate_inverse(numbers<Comparable>(), table<Comparable>(1.5), pairing),
      Direction::inverse);
  const auto zero = table<Comparable>(0);
  EXPECT_EQ(
      test::error_of(
          [&] { (void)eigen_rope::rotate_inverse(numbers<Comparable>(), zero, pairing); }),
      "[rope] the table must have cos_A cos_B + sin_A sin_B != 0 everywhere to be inverted, got 0");
}

/// What eigen_rope::rotate_inverse refuses when it is compiled: here the direction is a value.
TEST(UnknownValueIncomparable, InverseAsksForTheHook) {
  const auto of_scalars = table<Incomparable>(1.5);
  Eigen::Tensor<Incomparable, 2> y(D, tokens);
  EXPECT_EQ(test::error_of([&] {
              eigen_rope::rotate_to(y, numbers<Incomparable>(), of_scalars, pairing,
                                    Direction::inverse);
            }),
            "[rope] the inverse must know the value of the table's scalar: give its namespace a "
            "function eigen_rope_passive(const S&)");
}

}  // namespace
}  // namespace eigen_rope
