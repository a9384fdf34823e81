// SPDX-License-Identifier: Apache-2.0
//
// The recorded cases of aclnn's operators in their own types, the operators' answers to them, and
// how close to the exact values an answer must be.
#pragma once

#include <gtest/gtest.h>

#include <type_traits>

#include "eigen_rope/numbers/detail/scalars.hpp"
#include "support/aclnn_cases.hpp"

namespace eigen_rope::test {

/// The README's closeness for float32, against the sum of the terms' magnitudes.
inline constexpr double kFloatCloseness = 0x1p-22;
/// Two products and a sum, each rounded by half an epsilon (n products whose sum is rounded once,
/// for a table); the rest for the squares.
inline constexpr double kDoubleCloseness = 1.5 * std::numeric_limits<double>::epsilon();
/// Rounding to float and then to 16 bits differs from rounding once only where the float lies next
/// to a tie.
inline constexpr std::size_t kOneInSoMany = 1000;

/// The extents in the core's order, fastest axis first.
inline Shape shape_of_dims(const Dims& dims) {
  Shape shape;
  for (auto extent = dims.rbegin(); extent != dims.rend(); ++extent)
    shape.push_back(static_cast<Index>(*extent));
  return shape;
}

template <class Scalar>
struct AclnnOutputs {
  std::vector<Scalar> y, dx, dcos, dsin;
};

/// Bits, so that -0 and 0 differ.
template <class Scalar>
std::string bytes_of(const std::vector<Scalar>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Scalar));
}
template <class Scalar>
void expect_same_outputs(const AclnnOutputs<Scalar>& expected, const AclnnOutputs<Scalar>& actual) {
  EXPECT_TRUE(bytes_of(expected.y) == bytes_of(actual.y)) << "y";
  EXPECT_TRUE(bytes_of(expected.dx) == bytes_of(actual.dx)) << "dx";
  EXPECT_TRUE(bytes_of(expected.dcos) == bytes_of(actual.dcos)) << "dcos";
  EXPECT_TRUE(bytes_of(expected.dsin) == bytes_of(actual.dsin)) << "dsin";
}

template <class Scalar>
struct AclnnBuffers {
  Mode mode;
  Dims shape, table_shape;
  std::vector<Scalar> x, cos, sin, dy;

  AclnnBuffers(Mode m, const Array& x_array, const Array& cos_array, const Array& sin_array,
               const Array& dy_array)
      : mode(m),
        shape(x_array.shape),
        table_shape(cos_array.shape),
        x(converted<Scalar>(x_array.values)),
        cos(converted<Scalar>(cos_array.values)),
        sin(converted<Scalar>(sin_array.values)),
        dy(converted<Scalar>(dy_array.values)) {}
  explicit AclnnBuffers(const AclnnCase& c) : AclnnBuffers(c.mode, c.x, c.cos, c.sin, c.dy) {}

  aclnn::Inputs inputs() const {
    return {aclnn::tensor(x.data(), shape), aclnn::tensor(cos.data(), table_shape),
            aclnn::tensor(sin.data(), table_shape)};
  }
  aclnn::GradInputs grad_inputs() const {
    return {aclnn::tensor(dy.data(), shape), aclnn::tensor(cos.data(), table_shape),
            aclnn::tensor(sin.data(), table_shape), aclnn::tensor(x.data(), shape)};
  }
  /// Filled with something no result is.
  AclnnOutputs<Scalar> empty() const {
    const auto nothing = static_cast<Scalar>(12345);
    return {std::vector<Scalar>(x.size(), nothing), std::vector<Scalar>(x.size(), nothing),
            std::vector<Scalar>(cos.size(), nothing), std::vector<Scalar>(cos.size(), nothing)};
  }
  AclnnOutputs<Scalar> run(const Device& device = Device()) const {
    AclnnOutputs<Scalar> out = empty();
    aclnn::rotary_position_embedding(aclnn::tensor(out.y.data(), shape), inputs(), mode, device);
    aclnn::rotary_position_embedding_grad(
        {aclnn::tensor(out.dx.data(), shape), aclnn::tensor(out.dcos.data(), table_shape),
         aclnn::tensor(out.dsin.data(), table_shape)},
        grad_inputs(), mode, device);
    return out;
  }
  Truth truth() const {
    return truth_of(mode, array_of(x, shape), array_of(cos, table_shape),
                    array_of(sin, table_shape), array_of(dy, shape));
  }
};

/// Counts the results that are not the exact value rounded once; none may be further off than its
/// type allows.
struct AclnnJudge {
  std::size_t elements = 0;
  std::size_t differing = 0;

  template <class Scalar>
  void see(const std::vector<Scalar>& got, const std::vector<double>& exact,
           const std::vector<Sum>& sums) {
    ASSERT_EQ(got.size(), exact.size());
    ASSERT_EQ(got.size(), sums.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const auto value = static_cast<double>(got[i]);
      ++elements;
      if constexpr (eigen_rope::detail::is_16_bit<Scalar>) {
        const double rounded = rounded_once<Scalar>(exact[i]);
        if (value != rounded) ++differing;
        ASSERT_LE(std::abs(value - rounded), unit_at<Scalar>(exact[i]))
            << "element " << i << " of exact value " << exact[i];
      } else {
        const double closeness = std::is_same_v<Scalar, float> ? kFloatCloseness : kDoubleCloseness;
        ASSERT_LE(std::abs(static_cast<long double>(value) - exact[i]),
                  closeness * sums[i].magnitude)
            << "element " << i;
      }
    }
  }
  /// Against the definition itself.
  template <class Scalar>
  void see(const std::vector<Scalar>& got, const std::vector<Sum>& sums) {
    std::vector<double> exact;
    for (const Sum& sum : sums) exact.push_back(static_cast<double>(sum.value));
    see(got, exact, sums);
  }
  template <class Scalar>
  void see_all(const AclnnOutputs<Scalar>& got, const Truth& truth) {
    see(got.y, truth.y);
    see(got.dx, truth.dx);
    see(got.dcos, truth.dcos);
    see(got.dsin, truth.dsin);
  }
  void conclude() const {
    EXPECT_GT(elements, 0u);
    EXPECT_LE(differing * kOneInSoMany, elements);
  }
};

/// As many as the README counts.
inline constexpr std::size_t aclnn_recorded = 176;

inline const std::vector<AclnnCase>& aclnn_cases() {
  static const std::vector<AclnnCase> read = read_aclnn_cases(EIGEN_ROPE_TEST_DATA "/golden/aclnn");
  return read;
}

/// Calls check(case, buffers) for each case, in its own type.
template <class Check>
void for_each_aclnn_case(const Check& check) {
  ASSERT_EQ(aclnn_cases().size(), aclnn_recorded);
  for (const AclnnCase& c : aclnn_cases()) {
    SCOPED_TRACE(c.name);
    if (c.is_half) {
      check(c, AclnnBuffers<Eigen::half>(c));
    } else {
      check(c, AclnnBuffers<float>(c));
    }
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace eigen_rope::test
