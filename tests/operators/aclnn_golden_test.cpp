// SPDX-License-Identifier: Apache-2.0
//
// aclnn's operators against recorded answers and against their definition: every mode, type, way to
// broadcast, and place in memory.
#define EIGEN_USE_THREADS

#include <gmock/gmock.h>

#include <type_traits>
#include <unsupported/Eigen/CXX11/Tensor>

#include "support/aclnn_answers.hpp"
#include "support/reordered.hpp"

namespace eigen_rope::test::aclnn_golden_tests {
namespace {

using aclnn::tensor;
using ::testing::ElementsAreArray;

TEST(AclnnGolden, RecordedAnswers) {
  AclnnJudge judge;
  for_each_aclnn_case([&](const AclnnCase& c, const auto& buffers) {
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
  for_each_aclnn_case([](const AclnnCase& c, auto buffers) {
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
    expect_same_outputs(expected, got);
  });
}

TEST(AclnnGolden, ThreadsGiveTheSameBits) {
  Eigen::ThreadPool pool(2);
  const Eigen::ThreadPoolDevice device(&pool, 2);
  for_each_aclnn_case([&](const AclnnCase&, const auto& buffers) {
    expect_same_outputs(buffers.run(), buffers.run(device));
  });
}

/// Large enough to be split: a table row a token, summed over batch and heads, and one for all.
TEST(AclnnGolden, ThreadsSplitLargeTensors) {
  Eigen::ThreadPool pool(2);
  const Eigen::ThreadPoolDevice device(&pool, 2);
  const Dims shape{2, 8, 512, 64};
  for (const Mode mode : kModes) {
    for (const Dims& table : {Dims{1, 1, 512, 64}, Dims{1, 1, 1, 64}, shape}) {
      const AclnnBuffers<float> buffers(mode, random_array(shape, 1), random_array(table, 2),
                                        random_array(table, 3), random_array(shape, 4));
      expect_same_outputs(buffers.run(), buffers.run(device));
    }
  }
}

TEST(AclnnGolden, DxWithoutTables) {
  for_each_aclnn_case([](const AclnnCase& c, const auto& buffers) {
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
struct Scattered : Reordered<Scalar> {
  Scattered(const std::vector<Scalar>& dense, const Dims& extents)
      : Reordered<Scalar>(dense, shape_of_dims(extents), order_of(extents), 3), dims(extents) {}
  aclnn::Tensor tensor() {
    const StridedView<Scalar> rows = this->view();
    Dims strides(rows.strides.begin(), rows.strides.end());
    std::reverse(strides.begin(), strides.end());
    strides.push_back(rows.feature_stride);
    return aclnn::tensor(rows.data, dims, strides);
  }

 private:
  static std::vector<int> order_of(const Dims& extents) {
    std::vector<int> order{0};
    for (int axis = static_cast<int>(extents.size()) - 1; axis > 0; --axis) order.push_back(axis);
    return order;
  }
  Dims dims;
};

TEST(AclnnGolden, StridedTensors) {
  for_each_aclnn_case([](const AclnnCase&, const auto& buffers) {
    using Scalar = typename std::decay_t<decltype(buffers.x)>::value_type;
    using S = Scattered<Scalar>;
    const AclnnOutputs<Scalar> expected = buffers.run();
    const AclnnOutputs<Scalar> nothing = buffers.empty();
    S x(buffers.x, buffers.shape), cos(buffers.cos, buffers.table_shape),
        sin(buffers.sin, buffers.table_shape), dy(buffers.dy, buffers.shape);
    S y(nothing.y, buffers.shape), dx(nothing.dx, buffers.shape),
        dcos(nothing.dcos, buffers.table_shape), dsin(nothing.dsin, buffers.table_shape);
    aclnn::rotary_position_embedding(y.tensor(), {x.tensor(), cos.tensor(), sin.tensor()},
                                     buffers.mode);
    aclnn::rotary_position_embedding_grad({dx.tensor(), dcos.tensor(), dsin.tensor()},
                                          {dy.tensor(), cos.tensor(), sin.tensor(), x.tensor()},
                                          buffers.mode);
    expect_same_outputs(expected, {y.dense(), dx.dense(), dcos.dense(), dsin.dense()});
    for (const S* out : {&y, &dx, &dcos, &dsin}) EXPECT_EQ(out->damaged(), 0u);
  });
}

TEST(AclnnGolden, OneTableDenseTheOtherNot) {
  for_each_aclnn_case([](const AclnnCase&, const auto& buffers) {
    using Scalar = typename std::decay_t<decltype(buffers.x)>::value_type;
    const AclnnOutputs<Scalar> expected = buffers.run();
    AclnnOutputs<Scalar> got = buffers.empty();
    Scattered<Scalar> sin(buffers.sin, buffers.table_shape);
    aclnn::Inputs inputs = buffers.inputs();
    inputs.sin = sin.tensor();
    aclnn::rotary_position_embedding(tensor(got.y.data(), buffers.shape), inputs, buffers.mode);
    EXPECT_EQ(bytes_of(expected.y), bytes_of(got.y));
  });
}

template <class Scalar>
void expect_definition_in_type() {
  AclnnJudge judge;
  ASSERT_EQ(aclnn_cases().size(), aclnn_recorded);
  for (const AclnnCase& c : aclnn_cases()) {
    SCOPED_TRACE(c.name);
    const AclnnBuffers<Scalar> buffers(c);
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
    const AclnnOutputs<Scalar> got = AclnnBuffers<Scalar>(set.mode, x, cos, sin, dy).run();
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
  AclnnJudge judge;
  const Dims shape{3, 2, 5, 8};
  for (const Mode mode : kModes) {
    for (unsigned axes = 0; axes < 8; ++axes) {
      Dims table = shape;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        if ((axes >> axis & 1u) != 0) table[axis] = 1;
      }
      SCOPED_TRACE("mode " + std::to_string(static_cast<int>(mode)) + ", broadcast axes " +
                   std::to_string(axes));
      const AclnnBuffers<float> buffers(mode, random_array(shape, 1), random_array(table, 2),
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
  AclnnJudge judge;
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
}  // namespace eigen_rope::test::aclnn_golden_tests
