// SPDX-License-Identifier: Apache-2.0
//
// The value a branch sees, of every kind of scalar that is recognised, and of types that join.
#include "eigen_rope/numbers/detail/passive.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
// Needs Eigen/Core before it.
#include <unsupported/Eigen/AutoDiff>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <complex>
#include <cstdint>

namespace other {

/// As Sacado's types look from outside.
template <class T>
struct Val {
  T x;
  const T& val() const { return x; }
};

/// As ceres::Jet looks from outside.
template <class T>
struct Jet {
  T a;
  T v;
};

/// Joins by the function below; its value() must not be asked.
template <class T>
struct Joined {
  T x;
  double value() const { return -1; }
};

template <class T>
const T& eigen_rope_passive(const Joined<T>& scalar) {
  return scalar.x;
}

}  // namespace other

namespace eigen_rope::EIGEN_ROPE_ABI::detail {
namespace {

TEST(Passive, OfNumbersIsTheirValue) {
  EXPECT_EQ(passive(2.5), 2.5);
  EXPECT_EQ(passive(2.5F), 2.5);
  EXPECT_EQ(passive(2.5L), 2.5);
  EXPECT_EQ(passive(std::int64_t{-7}), -7);
  EXPECT_EQ(passive(DoubleDouble(0.1, 1e-18)), 0.1);
  EXPECT_EQ(passive(boost::multiprecision::cpp_bin_float_50(0.25)), 0.25);
}

TEST(Passive, OfComplexNumbersIsTheRealPart) {
  EXPECT_EQ(passive(std::complex<double>(2.5, 9)), 2.5);
  EXPECT_EQ(passive(std::complex<float>(-0.5F, 9)), -0.5);
}

TEST(Passive, OfAutoDiffScalarsIsTheValueWithoutDerivatives) {
  using Fixed = Eigen::AutoDiffScalar<Eigen::Vector2d>;
  using Dynamic = Eigen::AutoDiffScalar<Eigen::VectorXd>;
  using Nested = Eigen::AutoDiffScalar<Eigen::Matrix<Fixed, 2, 1>>;
  const Fixed fixed(2.5, 2, 1);
  EXPECT_EQ(passive(fixed), 2.5);
  EXPECT_EQ(passive(Dynamic(-3.0)), -3);
  EXPECT_EQ(passive(Nested(fixed)), 2.5);
  // An expression that was never stored.
  EXPECT_EQ(passive(fixed * fixed), 6.25);
}

TEST(Passive, OfTypesWithValOrJetMembersIsThat) {
  EXPECT_EQ(passive(other::Val<double>{2.5}), 2.5);
  EXPECT_EQ(passive(other::Jet<double>{2.5, 9}), 2.5);
  EXPECT_EQ(passive(other::Val<other::Jet<float>>{{2.5F, 9}}), 2.5);
  EXPECT_EQ(passive(std::complex<other::Val<double>>({2.5}, {9})), 2.5);
}

TEST(Passive, OfTypesThatJoinedIsWhatTheirFunctionGives) {
  EXPECT_EQ(passive(other::Joined<double>{2.5}), 2.5);
  EXPECT_EQ(passive(other::Joined<other::Joined<other::Jet<double>>>{{{2.5, 9}}}), 2.5);
}

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
