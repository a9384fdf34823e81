// SPDX-License-Identifier: Apache-2.0
//
// aclnn's operators against recorded answers and against their definition: every mode, type, way to
// broadcast, and place in memory.
#define EIGEN_USE_THREADS

#include <gmock/gmock.h>

#include <type_traits>
#include <unsupported/Eigen/CXX11/Tensor>

#include "eigen_rope/numbers/detail/scalars.hpp"
#include "support/aclnn_cases.hpp"

namespace eigen_rope::test {
namespace {

using aclnn::tensor;
using ::testing::ElementsAreArray;

/// The README's closeness for float32, against the sum of the terms' magnitudes.
constexpr double kFloatCloseness = 0x1p-22;
/// Two products and a sum, each rounded by half an epsilon (n products whose sum is rounded once,
/// for a table); the rest for the squares.
constexpr double kDoubleCloseness = 1.5 * std::numeric_limits<double>::epsilon();
/// Rounding to float and then to 16 bits differs from rounding once only where the float lies next
/// to a tie.
constexpr std::size_t kOneInSoMany = 1000;

template <class Scalar>
struct Outputs {
  std::vector<Scalar> y, dx, dcos, dsin;
};

/// Bits, so that -0 and 0 differ.
template <class Scalar>
std::string bytes_of(const std::vector<Scalar>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Scalar));
}
template <class Scalar>
void expect_same_bits(const Outputs<Scalar>& expected, const Outputs<Scalar>& actual) {
  EXPECT_TRUE(bytes_of(expected.y) == bytes_of(actual.y)) << "y";
  EXPECT_TRUE(bytes_of(expected.dx) == bytes_of(actual.dx)) << "dx";
  EXPECT_TRUE(bytes_of(expected.dcos) == bytes_of(actual.dcos)) << "dcos";
  EXPECT_TRUE(bytes_of(expected.dsin) == bytes_of(actual.dsin)) << "dsin";
}

template <class Scalar>
struct Buffers {
  Mode mode;
  Dims shape, table_shape;
  std::vector<Scalar> x, cos, sin, dy;

  Buffers(Mode m, const Array& x_array, const Array& cos_array, const Array& sin_array,
          const Array& dy_array)
      : mode(m),
        shape(x_array.shape),
        table_shape(cos_array.shape),
        x(converted<Scalar>(x_array.values)),
        cos(converted<Scalar>(cos_array.values)),
        sin(converted<Scalar>(sin_array.values)),
        dy(converted<Scalar>(dy_array.values)) {}
  explicit Buffers(const AclnnCase& c) : Buffers(c.mode, c.x, c.cos, c.sin, c.dy) {}

  aclnn::Inputs inputs() const {
    return {tensor(x.data(), shape), tensor(cos.data(), table_shape),
            tensor(sin.data(), table_shape)};
  }
  aclnn::GradInputs grad_inputs() const {
    return {tensor(dy.data(), shape), tensor(cos.data(), table_shape),
            tensor(sin.data(), table_shape), tensor(x.data(), shape)};
  }
  /// Filled with something no result is.
  Outputs<Scalar> empty() const {
    const auto nothing = static_cast<Scalar>(12345);
    return {std::vector<Scalar>(x.size(), nothing), std::vector<Scalar>(x.size(), nothing),
            std::vector<Scalar>(cos.size(), nothing), std::vector<Scalar>(cos.size(), nothing)};
  }
  Outputs<Scalar> run(const Device& device = Device()) const {
    Outputs<Scalar> out = empty();
    aclnn::rotary_position_embedding(tensor(out.y.data(), shape), inputs(), mode, device);
    aclnn::rotary_position_embedding_grad(
        {tensor(out.dx.data(), shape), tensor(out.dcos.data(), table_shape),
         tensor(out.dsin.data(), table_shape)},
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
struct Judge {
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
  void see_all(const Outputs<Scalar>& got, const Truth& truth) {
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

const std::vector<AclnnCase>& cases() {
  static const std::vector<AclnnCase> read = read_aclnn_cases(EIGEN_ROPE_TEST_DATA "/golden/aclnn");
  return read;
}

/// Calls check(case, buffers) for each case, in its own type.
template <class Check>
void for_each_case(const Check& check) {
  ASSERT_FALSE(cases().empty());
  for (const AclnnCase& c : cases()) {
    SCOPED_TRACE(c.name);
    if (c.is_half) {
      check(c, Buffers<Eigen::half>(c));
    } else {
      check(c, Buffers<float>(c));
    }
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(AclnnGolden, RecordedAnswers) {
  Judge judge;
  for_each_case([&](const AclnnCase& c, const auto& buffers) {
    const auto got = buffers.run();
    const Truth truth = buffers.truth();
    judge.see(got.y, c.y.values, truth.y);
    judge.see(got.dx, c.dx.values, truth.dx);
    judge.see(got.dcos, c.dcos.values, truth.dcos);
    judge.see(got.dsin, c.dsin.values, truth.dsin);
  });
  judge.conclude();
}

TEST(AclnnGolden, InPlace) {
  for_each_case([](const AclnnCase& c, auto buffers) {
    const auto expected = buffers.run();
    const auto x = buffers.x;
    auto got = buffers.empty();
    aclnn::rotary_position_embedding(tensor(buffers.x.data(), c.x.shape), buffers.inputs(), c.mode);
    got.y = buffers.x;
    buffers.x = x;
    aclnn::rotary_position_embedding_grad(
        {tensor(buffers.dy.data(), c.x.shape), tensor(got.dcos.data(), c.cos.shape),
         tensor(got.dsin.data(), c.cos.shape)},
        buffers.grad_inputs(), c.mode);
    got.dx = buffers.dy;
    expect_same_bits(expected, got);
  });
}

TEST(AclnnGolden, ThreadsGiveTheSameBits) {
  Eigen::ThreadPool pool(2);
  const Eigen::ThreadPoolDevice device(&pool, 2);
  for_each_case([&](const AclnnCase&, const auto& buffers) {
    expect_same_bits(buffers.run(), buffers.run(device));
  });
}

/// Large enough to be split: a table row a token, summed over batch and heads, and one for all.
TEST(AclnnGolden, ThreadsSplitLargeTensors) {
  Eigen::ThreadPool pool(2);
  const Eigen::ThreadPoolDevice device(&pool, 2);
  const Dims shape{2, 8, 512, 64};
  for (const Mode mode : kModes) {
    for (const Dims& table : {Dims{1, 1, 512, 64}, Dims{1, 1, 1, 64}, shape}) {
      const Buffers<float> buffers(mode, random_array(shape, 1), random_array(table, 2),
                                   random_array(table, 3), random_array(shape, 4));
      expect_same_bits(buffers.run(), buffers.run(device));
    }
  }
}

TEST(AclnnGolden, DxWithoutTables) {
  for_each_case([](const AclnnCase& c, const auto& buffers) {
    auto got = buffers.empty();
    aclnn::GradInputs inputs = buffers.grad_inputs();
    inputs.x.reset();
    aclnn::rotary_position_embedding_grad({tensor(got.dx.data(), c.x.shape), {}, {}}, inputs,
                                          c.mode);
    EXPECT_EQ(bytes_of(buffers.run().dx), bytes_of(got.dx));
  });
}

/// A tensor with its outer axes in reverse order in memory and rows three elements longer than they
/// need to be.
template <class Scalar>
struct Scattered {
  Dims shape, strides;
  std::vector<Scalar> values;

  Scattered(const std::vector<Scalar>& dense, const Dims& extents)
      : shape(extents), strides(extents.size(), 1) {
    std::int64_t step = shape.back() + 3;
    for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) {
      strides[axis] = step;
      step *= shape[axis];
    }
    values.assign(static_cast<std::size_t>(step), static_cast<Scalar>(777));
    for (std::size_t i = 0; i < dense.size(); ++i) values[place(i)] = dense[i];
  }

  std::size_t place(std::size_t i) const {
    std::size_t result = 0;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      const auto extent = static_cast<std::size_t>(shape[axis]);
      result += i % extent * static_cast<std::size_t>(strides[axis]);
      i /= extent;
    }
    return result;
  }
  std::vector<Scalar> dense() const {
    std::vector<Scalar> result;
    for (std::size_t i = 0; i < size_of_dims(shape); ++i) result.push_back(values[place(i)]);
    return result;
  }
  /// Elements that are no part of the tensor and no longer what they were.
  std::size_t damaged() const {
    std::vector<bool> ours(values.size(), false);
    for (std::size_t i = 0; i < size_of_dims(shape); ++i) ours[place(i)] = true;
    std::size_t count = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      count += !ours[i] && values[i] != static_cast<Scalar>(777) ? 1 : 0;
    return count;
  }
  aclnn::Tensor view() { return tensor(values.data(), shape, strides); }
};

TEST(AclnnGolden, StridedTensors) {
  for_each_case([](const AclnnCase&, const auto& buffers) {
    using Scalar = typename std::decay_t<decltype(buffers.x)>::value_type;
    using S = Scattered<Scalar>;
    const Outputs<Scalar> expected = buffers.run();
    const Outputs<Scalar> nothing = buffers.empty();
    S x(buffers.x, buffers.shape), cos(buffers.cos, buffers.table_shape),
        sin(buffers.sin, buffers.table_shape), dy(buffers.dy, buffers.shape);
    S y(nothing.y, buffers.shape), dx(nothing.dx, buffers.shape),
        dcos(nothing.dcos, buffers.table_shape), dsin(nothing.dsin, buffers.table_shape);
    aclnn::rotary_position_embedding(y.view(), {x.view(), cos.view(), sin.view()}, buffers.mode);
    aclnn::rotary_position_embedding_grad({dx.view(), dcos.view(), dsin.view()},
                                          {dy.view(), cos.view(), sin.view(), x.view()},
                                          buffers.mode);
    expect_same_bits(expected, {y.dense(), dx.dense(), dcos.dense(), dsin.dense()});
    for (const S* out : {&y, &dx, &dcos, &dsin}) EXPECT_EQ(out->damaged(), 0u);
  });
}

TEST(AclnnGolden, OneTableDenseTheOtherNot) {
  for_each_case([](const AclnnCase&, const auto& buffers) {
    using Scalar = typename std::decay_t<decltype(buffers.x)>::value_type;
    const Outputs<Scalar> expected = buffers.run();
    Outputs<Scalar> got = buffers.empty();
    Scattered<Scalar> sin(buffers.sin, buffers.table_shape);
    aclnn::Inputs inputs = buffers.inputs();
    inputs.sin = sin.view();
    aclnn::rotary_position_embedding(tensor(got.y.data(), buffers.shape), inputs, buffers.mode);
    EXPECT_EQ(bytes_of(expected.y), bytes_of(got.y));
  });
}

template <class Scalar>
void expect_definition_in_type() {
  Judge judge;
  ASSERT_FALSE(cases().empty());
  for (const AclnnCase& c : cases()) {
    SCOPED_TRACE(c.name);
    const Buffers<Scalar> buffers(c);
    ASSERT_NO_FATAL_FAILURE(judge.see_all(buffers.run(), buffers.truth()));
  }
  judge.conclude();
}
TEST(AclnnGolden, InDouble) { expect_definition_in_type<double>(); }
TEST(AclnnGolden, InBfloat16) { expect_definition_in_type<Eigen::bfloat16>(); }

/// The README's exact set: D = 8, every number small enough for every type.
struct IntegerSet {
  Mode mode;
  std::vector<double> y, dx, dcos, dsin;
};

const IntegerSet kIntegerSets[] = {{Mode::half,
                                    {-3, 12, 1, 44, 58, 72, 131, 136},
                                    {17, -21, 62, -63, 54, 105, 217, 405},
                                    {1, 2, 6, 12, 25, 48, 91, 168},
                                    {-5, -6, -14, -24, 5, 16, 39, 84}},
                                   {Mode::interleave,
                                    {0, 5, 7, 22, 37, 63, 87, 124},
                                    {1, 2, 4, 17, 31, 89, 137, 347},
                                    {1, 2, 6, 12, 25, 48, 91, 168},
                                    {-2, 1, -8, 9, -30, 40, -104, 147}},
                                   {Mode::quarter,
                                    {-1, 10, 17, 24, 34, 102, 139, 128},
                                    {6, -3, 9, 22, 107, 20, 206, 423},
                                    {1, 2, 6, 12, 25, 48, 91, 168},
                                    {-3, -4, 2, 6, -35, -64, 65, 126}},
                                   {Mode::interleave_half,
                                    {0, 13, 13, 65, 25, 43, 122, 124},
                                    {17, 54, -21, 105, 62, 217, -63, 405},
                                    {1, 3, 10, 21, 10, 32, 78, 168},
                                    {-2, -4, -12, -24, 5, 24, 65, 147}}};

template <class Scalar>
void expect_integer_sets() {
  const Dims shape{1, 1, 8};
  const Array x{shape, {1, 2, 3, 4, 5, 6, 7, 8}};
  const Array cos{shape, {2, 3, 5, 7, 11, 13, 17, 19}};
  const Array sin{shape, {1, -1, 2, -2, 3, -3, 4, -4}};
  const Array dy{shape, {1, 1, 2, 3, 5, 8, 13, 21}};
  for (const IntegerSet& set : kIntegerSets) {
    SCOPED_TRACE("mode " + std::to_string(static_cast<int>(set.mode)));
    const Outputs<Scalar> got = Buffers<Scalar>(set.mode, x, cos, sin, dy).run();
    // Integers to 256 are exact in bfloat16; 405 and 423 and 347 are rounded to 2 there.
    const auto exact = [](const std::vector<double>& values) { return converted<Scalar>(values); };
    EXPECT_THAT(got.y, ElementsAreArray(exact(set.y)));
    EXPECT_THAT(got.dx, ElementsAreArray(exact(set.dx)));
    EXPECT_THAT(got.dcos, ElementsAreArray(exact(set.dcos)));
    EXPECT_THAT(got.dsin, ElementsAreArray(exact(set.dsin)));
  }
}
TEST(AclnnGolden, IntegerSet) {
  expect_integer_sets<float>();
  expect_integer_sets<double>();
  expect_integer_sets<Eigen::half>();
  expect_integer_sets<Eigen::bfloat16>();
}

TEST(AclnnGolden, TablesBroadcastAlongAnyAxes) {
  Judge judge;
  const Dims shape{3, 2, 5, 8};
  for (const Mode mode : kModes) {
    for (unsigned axes = 0; axes < 8; ++axes) {
      Dims table = shape;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        if ((axes >> axis & 1u) != 0) table[axis] = 1;
      }
      SCOPED_TRACE("mode " + std::to_string(static_cast<int>(mode)) + ", broadcast axes " +
                   std::to_string(axes));
      const Buffers<float> buffers(mode, random_array(shape, 1), random_array(table, 2),
                                   random_array(table, 3), random_array(shape, 4));
      ASSERT_NO_FATAL_FAILURE(judge.see_all(buffers.run(), buffers.truth()));
    }
  }
  judge.conclude();
}

/// A batch without elements: no output of x's shape, and sums over nothing.
TEST(AclnnGolden, EmptyBatch) {
  std::vector<float> cos(8, 1.0F), sin(8, 2.0F), dcos(8, 5.0F), dsin(8, 5.0F);
  const Dims shape{0, 2, 1, 8};
  const Dims table{1, 1, 1, 8};
  const aclnn::Tensor nothing{ScalarType::f32, nullptr, shape, {}};
  aclnn::rotary_position_embedding(
      nothing, {nothing, tensor(cos.data(), table), tensor(sin.data(), table)}, Mode::half);
  aclnn::rotary_position_embedding_grad(
      {nothing, tensor(dcos.data(), table), tensor(dsin.data(), table)},
      {nothing, tensor(cos.data(), table), tensor(sin.data(), table), nothing}, Mode::half);
  EXPECT_THAT(dcos, ::testing::Each(0.0F));
  EXPECT_THAT(dsin, ::testing::Each(0.0F));
}

struct ApplyShapes {
  aclnn::Layout layout;
  Dims query, key, table;
};

/// A table of 8 in heads of 8 and of 12, each layout, with more heads of query than of key.
std::vector<ApplyShapes> apply_shapes(std::int64_t D) {
  using aclnn::Layout;
  return {{Layout::bsnd, {2, 5, 3, D}, {2, 5, 1, D}, {2, 5, 1, 8}},
          {Layout::sbnd, {5, 2, 3, D}, {5, 2, 1, D}, {5, 1, 1, 8}},
          {Layout::bnsd, {2, 3, 5, D}, {2, 1, 5, D}, {1, 1, 5, 8}},
          {Layout::tnd, {5, 3, D}, {5, 1, D}, {5, 1, 8}}};
}

TEST(AclnnGolden, ApplyRotatesQueryAndKeyInPlace) {
  Judge judge;
  for (const std::int64_t D : {8, 12}) {
    for (const ApplyShapes& s : apply_shapes(D)) {
      for (const Mode mode : kModes) {
        SCOPED_TRACE("layout " + std::to_string(static_cast<int>(s.layout)) + ", mode " +
                     std::to_string(static_cast<int>(mode)));
        const Array q = random_array(s.query, 1), k = random_array(s.key, 2),
                    c = random_array(s.table, 3), n = random_array(s.table, 4);
        auto query = converted<float>(q.values), key = converted<float>(k.values);
        const auto cos = converted<float>(c.values), sin = converted<float>(n.values);
        aclnn::apply_rotary_pos_emb({tensor(query.data(), s.query), tensor(key.data(), s.key),
                                     tensor(cos.data(), s.table), tensor(sin.data(), s.table)},
                                    s.layout, mode);
        ASSERT_NO_FATAL_FAILURE(judge.see(query, truth_of(mode, q, c, n, q).y));
        ASSERT_NO_FATAL_FAILURE(judge.see(key, truth_of(mode, k, c, n, k).y));
      }
    }
  }
  judge.conclude();
}

/// Heads of query, key and value side by side in one buffer: the stretches of q and k meet, their
/// elements do not.
TEST(AclnnGolden, ApplyToHeadsOfOneBuffer) {
  const std::int64_t D = 8, query_heads = 4, key_heads = 2, value_heads = 2,
                     row = (query_heads + key_heads + value_heads) * D;
  const Array all = random_array({2, 5, query_heads + key_heads + value_heads, D}, 1);
  const Array c = random_array({2, 5, 1, D}, 2), n = random_array({2, 5, 1, D}, 3);
  const auto cos = converted<float>(c.values), sin = converted<float>(n.values);
  for (const Mode mode : kModes) {
    auto fused = converted<float>(all.values);
    const Dims strides{5 * row, row, D, 1};
    aclnn::apply_rotary_pos_emb(
        {tensor(fused.data(), {2, 5, query_heads, D}, strides),
         tensor(fused.data() + query_heads * D, {2, 5, key_heads, D}, strides),
         tensor(cos.data(), c.shape), tensor(sin.data(), n.shape)},
        aclnn::Layout::bsnd, mode);
    auto expected = converted<float>(all.values);
    const Truth truth = truth_of(mode, all, c, n, all);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      // Every product and sum of these numbers is exact in float.
      const bool rotated = static_cast<std::int64_t>(i) % row < (query_heads + key_heads) * D;
      if (rotated) expected[i] = static_cast<float>(truth.y[i].value);
    }
    EXPECT_EQ(expected, fused);
  }
}

}  // namespace
}  // namespace eigen_rope::test
