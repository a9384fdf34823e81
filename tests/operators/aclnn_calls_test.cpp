// SPDX-License-Identifier: Apache-2.0
//
// aclnn's two-step calls: statuses, messages, and executors that are used once, by the right call,
// from any thread.
#define EIGEN_USE_THREADS

#include "eigen_rope/operators/aclnn_calls.hpp"

#include <gmock/gmock.h>

#include <thread>
#include <unsupported/Eigen/CXX11/Tensor>

#include "support/aclnn_cases.hpp"

namespace eigen_rope::test::aclnn_calls_tests {
namespace {

using namespace aclnn;  // NOLINT(google-build-using-namespace): all of it is called here
using ::testing::Each;
using ::testing::ElementsAre;

constexpr std::uint64_t kUnset = 99;

/// The integer set of the golden folder's README, mode half.
class AclnnCalls : public ::testing::Test {
 protected:
  std::vector<float> x_data{1, 2, 3, 4, 5, 6, 7, 8}, cos_data{2, 3, 5, 7, 11, 13, 17, 19},
      sin_data{1, -1, 2, -2, 3, -3, 4, -4};
  std::vector<float> dy_data{1, 1, 2, 3, 5, 8, 13, 21};
  std::vector<float> out_data = std::vector<float>(8, -1.0F), dcos_data = out_data,
                     dsin_data = out_data;
  const Dims shape{1, 1, 1, 8};
  aclTensor x = tensor(x_data.data(), shape), cos = tensor(cos_data.data(), shape),
            sin = tensor(sin_data.data(), shape);
  aclTensor dy = tensor(dy_data.data(), shape), out = tensor(out_data.data(), shape);
  aclTensor dcos = tensor(dcos_data.data(), shape), dsin = tensor(dsin_data.data(), shape);
  const std::vector<float> y{-3, 12, 1, 44, 58, 72, 131, 136};
  const std::vector<float> dx{17, -21, 62, -63, 54, 105, 217, 405};

  std::uint64_t size = kUnset;
  aclOpExecutor* executor = nullptr;

  aclnnStatus prepare(std::int64_t mode = 0) {
    return aclnnRotaryPositionEmbeddingGetWorkspaceSize(&x, &cos, &sin, mode, &out, &size,
                                                        &executor);
  }
  /// Prepares a call that must succeed.
  aclOpExecutor* prepared() {
    EXPECT_EQ(ACLNN_SUCCESS, prepare()) << aclGetRecentErrMsg();
    return executor;
  }
  aclnnStatus run(aclOpExecutor* prepared_executor, aclrtStream stream = nullptr) {
    return aclnnRotaryPositionEmbedding(nullptr, 0, prepared_executor, stream);
  }
  aclnnStatus prepare_grad(const aclTensor* x_optional, const aclTensor* dcos_out,
                           const aclTensor* dsin_out) {
    return aclnnRotaryPositionEmbeddingGradGetWorkspaceSize(&dy, &cos, &sin, x_optional, 0, &out,
                                                            dcos_out, dsin_out, &size, &executor);
  }
  /// A refused preparation leaves everything as it was.
  void expect_untouched() {
    EXPECT_EQ(kUnset, size);
    EXPECT_EQ(nullptr, executor);
    EXPECT_THAT(out_data, Each(-1.0F));
    EXPECT_THAT(dcos_data, Each(-1.0F));
    EXPECT_THAT(dsin_data, Each(-1.0F));
  }
};

TEST_F(AclnnCalls, StatusNumbersAreTheOperators) {
  EXPECT_EQ(0, ACLNN_SUCCESS);
  EXPECT_EQ(161001, ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(161002, ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(561002, ACLNN_ERR_INNER_TILING_ERROR);
}

TEST_F(AclnnCalls, Embedding) {
  ASSERT_EQ(ACLNN_SUCCESS, prepare());
  EXPECT_EQ(0u, size);
  EXPECT_THAT(out_data, Each(-1.0F));
  x = cos = out = aclTensor{};
  ASSERT_EQ(ACLNN_SUCCESS, run(executor));
  EXPECT_EQ(y, out_data);
}

TEST_F(AclnnCalls, OnAThreadPool) {
  Eigen::ThreadPool pool(2);
  const Eigen::ThreadPoolDevice threads(&pool, 2);
  Device device(threads);
  ASSERT_EQ(ACLNN_SUCCESS, run(prepared(), &device));
  EXPECT_EQ(y, out_data);
}

TEST_F(AclnnCalls, Gradient) {
  ASSERT_EQ(ACLNN_SUCCESS, prepare_grad(&x, &dcos, &dsin));
  EXPECT_EQ(0u, size);
  ASSERT_EQ(ACLNN_SUCCESS, aclnnRotaryPositionEmbeddingGrad(nullptr, size, executor, nullptr));
  EXPECT_EQ(dx, out_data);
  EXPECT_THAT(dcos_data, ElementsAre(1, 2, 6, 12, 25, 48, 91, 168));
  EXPECT_THAT(dsin_data, ElementsAre(-5, -6, -14, -24, 5, 16, 39, 84));
}

TEST_F(AclnnCalls, GradientWithoutTables) {
  ASSERT_EQ(ACLNN_SUCCESS, prepare_grad(nullptr, nullptr, nullptr));
  ASSERT_EQ(ACLNN_SUCCESS, aclnnRotaryPositionEmbeddingGrad(nullptr, size, executor, nullptr));
  EXPECT_EQ(dx, out_data);
}

TEST_F(AclnnCalls, GradientWithTablesOfNoElements) {
  const aclTensor nothing{ScalarType::f32, nullptr, {1, 1, 1, 0}, {}};
  ASSERT_EQ(ACLNN_SUCCESS, prepare_grad(nullptr, &nothing, &nothing)) << aclGetRecentErrMsg();
  ASSERT_EQ(ACLNN_SUCCESS, aclnnRotaryPositionEmbeddingGrad(nullptr, size, executor, nullptr));
  EXPECT_EQ(dx, out_data);
}

TEST_F(AclnnCalls, GradientOfOneTable) {
  EXPECT_EQ(ACLNN_ERR_PARAM_NULLPTR, prepare_grad(&x, &dcos, nullptr));
  EXPECT_STREQ("[rope] dcos and dsin must both be given, or neither, got dcos alone",
               aclGetRecentErrMsg());
  EXPECT_EQ(ACLNN_ERR_PARAM_NULLPTR, prepare_grad(&x, nullptr, &dsin));
  EXPECT_STREQ("[rope] dcos and dsin must both be given, or neither, got dsin alone",
               aclGetRecentErrMsg());
  EXPECT_EQ(ACLNN_ERR_PARAM_NULLPTR, prepare_grad(nullptr, &dcos, &dsin));
  EXPECT_STREQ("[rope] dcos and dsin need x, got none", aclGetRecentErrMsg());
  expect_untouched();
}

TEST_F(AclnnCalls, ApplyIsModeHalf) {
  std::vector<float> key_data = dy_data;
  const aclTensor key = tensor(key_data.data(), shape);
  ASSERT_EQ(ACLNN_SUCCESS,
            aclnnApplyRotaryPosEmbGetWorkspaceSize(&x, &key, &cos, &sin, 1, &size, &executor));
  EXPECT_EQ(0u, size);
  ASSERT_EQ(ACLNN_SUCCESS, aclnnApplyRotaryPosEmb(nullptr, size, executor, nullptr));
  EXPECT_EQ(y, x_data);
  EXPECT_THAT(key_data, ElementsAre(-3, 11, -16, 63, 58, 101, 229, 387));
}

TEST_F(AclnnCalls, ApplyV2ByTheModesName) {
  const std::vector<std::pair<const char*, std::vector<float>>> expected{
      {"half", y},
      {"interleave", {0, 5, 7, 22, 37, 63, 87, 124}},
      {"quarter", {-1, 10, 17, 24, 34, 102, 139, 128}},
      {"interleave-half", {0, 13, 13, 65, 25, 43, 122, 124}}};
  for (const auto& [mode, result] : expected) {
    x_data = {1, 2, 3, 4, 5, 6, 7, 8};
    std::vector<float> key_data = x_data;
    const aclTensor key = tensor(key_data.data(), shape);
    ASSERT_EQ(ACLNN_SUCCESS, aclnnApplyRotaryPosEmbV2GetWorkspaceSize(&x, &key, &cos, &sin, 3, mode,
                                                                      &size, &executor));
    ASSERT_EQ(ACLNN_SUCCESS, aclnnApplyRotaryPosEmbV2(nullptr, size, executor, nullptr));
    EXPECT_EQ(result, x_data) << mode;
    EXPECT_EQ(result, key_data) << mode;
  }
}

TEST_F(AclnnCalls, UnknownModeAndLayout) {
  for (const std::int64_t mode : {-1, 4}) {
    EXPECT_EQ(ACLNN_ERR_INNER_TILING_ERROR, prepare(mode));
    EXPECT_EQ(
        "[rope] mode must be 0 (half), 1 (interleave), 2 (quarter) or 3 (interleave-half), got " +
            std::to_string(mode),
        aclGetRecentErrMsg());
  }
  EXPECT_EQ(ACLNN_ERR_INNER_TILING_ERROR, aclnnApplyRotaryPosEmbV2GetWorkspaceSize(
                                              &x, &dy, &cos, &sin, 1, "Half", &size, &executor));
  EXPECT_STREQ("[rope] rotaryMode must be half, interleave, quarter or interleave-half, got Half",
               aclGetRecentErrMsg());
  for (const std::int64_t layout : {0, 5}) {
    EXPECT_EQ(ACLNN_ERR_INNER_TILING_ERROR, aclnnApplyRotaryPosEmbGetWorkspaceSize(
                                                &x, &dy, &cos, &sin, layout, &size, &executor));
    EXPECT_EQ("[rope] layout must be 1 (BSND), 2 (SBND), 3 (BNSD) or 4 (TND), got " +
                  std::to_string(layout),
              aclGetRecentErrMsg());
  }
  expect_untouched();
}

TEST_F(AclnnCalls, ShapesTypesStridesAndOverlap) {
  cos.shape = {1, 1, 1, 4};
  EXPECT_EQ(ACLNN_ERR_INNER_TILING_ERROR, prepare());
  EXPECT_STREQ("[rope] sin must have cos's shape [1, 1, 1, 4], got [1, 1, 1, 8]",
               aclGetRecentErrMsg());
  cos.shape = shape;
  x.shape = {1, 8};
  EXPECT_EQ(ACLNN_ERR_INNER_TILING_ERROR, prepare());
  EXPECT_STREQ("[rope] x must have 3 or 4 axes, got 2", aclGetRecentErrMsg());
  x.shape = shape;
  sin.type = ScalarType::f16;
  EXPECT_EQ(ACLNN_ERR_PARAM_INVALID, prepare());
  EXPECT_STREQ("[rope] sin must have x's type f32, got f16", aclGetRecentErrMsg());
  sin.type = ScalarType::f32;
  x.strides = {8, 8, 8, 2};
  EXPECT_EQ(ACLNN_ERR_PARAM_INVALID, prepare());
  EXPECT_STREQ("[rope] the last stride of x must be 1, got 2", aclGetRecentErrMsg());
  x.strides = {};
  out.data = cos.data;
  EXPECT_EQ(ACLNN_ERR_PARAM_INVALID, prepare());
  EXPECT_STREQ("[rope] out must not overlap cos (distance in bytes), got 0", aclGetRecentErrMsg());
  expect_untouched();
}

TEST_F(AclnnCalls, NullArguments) {
  const auto expect_null = [&](const char* name, aclnnStatus status) {
    EXPECT_EQ(ACLNN_ERR_PARAM_NULLPTR, status) << name;
    EXPECT_EQ(std::string("[rope] ") + name + " must be given, got a null pointer",
              aclGetRecentErrMsg());
  };
  const auto embedding = aclnnRotaryPositionEmbeddingGetWorkspaceSize;
  expect_null("x", embedding(nullptr, &cos, &sin, 0, &out, &size, &executor));
  expect_null("cos", embedding(&x, nullptr, &sin, 0, &out, &size, &executor));
  expect_null("sin", embedding(&x, &cos, nullptr, 0, &out, &size, &executor));
  expect_null("out", embedding(&x, &cos, &sin, 0, nullptr, &size, &executor));
  expect_null("workspaceSize", embedding(&x, &cos, &sin, 0, &out, nullptr, &executor));
  expect_null("executor", embedding(&x, &cos, &sin, 0, &out, &size, nullptr));
  const auto grad = aclnnRotaryPositionEmbeddingGradGetWorkspaceSize;
  expect_null("dy", grad(nullptr, &cos, &sin, &x, 0, &out, &dcos, &dsin, &size, &executor));
  expect_null("cos", grad(&dy, nullptr, &sin, &x, 0, &out, &dcos, &dsin, &size, &executor));
  expect_null("sin", grad(&dy, &cos, nullptr, &x, 0, &out, &dcos, &dsin, &size, &executor));
  expect_null("dx", grad(&dy, &cos, &sin, &x, 0, nullptr, &dcos, &dsin, &size, &executor));
  expect_null("workspaceSize",
              grad(&dy, &cos, &sin, &x, 0, &out, &dcos, &dsin, nullptr, &executor));
  expect_null("executor", grad(&dy, &cos, &sin, &x, 0, &out, &dcos, &dsin, &size, nullptr));
  const auto apply = aclnnApplyRotaryPosEmbGetWorkspaceSize;
  expect_null("query", apply(nullptr, &dy, &cos, &sin, 1, &size, &executor));
  expect_null("key", apply(&x, nullptr, &cos, &sin, 1, &size, &executor));
  expect_null("cos", apply(&x, &dy, nullptr, &sin, 1, &size, &executor));
  expect_null("sin", apply(&x, &dy, &cos, nullptr, 1, &size, &executor));
  expect_null("workspaceSize", apply(&x, &dy, &cos, &sin, 1, nullptr, &executor));
  expect_null("executor", apply(&x, &dy, &cos, &sin, 1, &size, nullptr));
  const auto apply_v2 = aclnnApplyRotaryPosEmbV2GetWorkspaceSize;
  expect_null("query", apply_v2(nullptr, &dy, &cos, &sin, 1, "half", &size, &executor));
  expect_null("rotaryMode", apply_v2(&x, &dy, &cos, &sin, 1, nullptr, &size, &executor));
  expect_null("executor", aclnnRotaryPositionEmbedding(nullptr, 0, nullptr, nullptr));
  expect_null("executor", aclnnRotaryPositionEmbeddingGrad(nullptr, 0, nullptr, nullptr));
  expect_null("executor", aclnnApplyRotaryPosEmb(nullptr, 0, nullptr, nullptr));
  expect_null("executor", aclnnApplyRotaryPosEmbV2(nullptr, 0, nullptr, nullptr));
  expect_null("executor", aclDestroyAclOpExecutor(nullptr));
  expect_untouched();
}

TEST_F(AclnnCalls, NullData) {
  x.data = nullptr;
  EXPECT_EQ(ACLNN_ERR_PARAM_NULLPTR, prepare());
  EXPECT_STREQ("[rope] x must have data, got a null pointer", aclGetRecentErrMsg());
  expect_untouched();
}

constexpr const char* kReleased =
    "[rope] executor must be one that GetWorkspaceSize made and no call has released, got another";

TEST_F(AclnnCalls, ExecutorIsUsedOnce) {
  aclOpExecutor* const first = prepared();
  ASSERT_EQ(ACLNN_SUCCESS, run(first));
  out_data.assign(8, -1.0F);
  EXPECT_EQ(ACLNN_ERR_PARAM_INVALID, run(first));
  EXPECT_STREQ(kReleased, aclGetRecentErrMsg());
  EXPECT_THAT(out_data, Each(-1.0F));
  // Also when others have been made since.
  aclOpExecutor* const second = prepared();
  EXPECT_NE(first, second);
  EXPECT_EQ(ACLNN_ERR_PARAM_INVALID, run(first));
  EXPECT_EQ(ACLNN_SUCCESS, run(second));
}

TEST_F(AclnnCalls, AddressThatIsNoExecutor) {
  int something = 0;
  EXPECT_EQ(ACLNN_ERR_PARAM_INVALID, run(reinterpret_cast<aclOpExecutor*>(&something)));
  EXPECT_STREQ(kReleased, aclGetRecentErrMsg());
}

TEST_F(AclnnCalls, AnotherOperationsExecutorStaysUsable) {
  aclOpExecutor* const mine = prepared();
  EXPECT_EQ(ACLNN_ERR_PARAM_INVALID, aclnnRotaryPositionEmbeddingGrad(nullptr, 0, mine, nullptr));
  EXPECT_STREQ(
      "[rope] executor must be one made for aclnnRotaryPositionEmbeddingGrad, got "
      "aclnnRotaryPositionEmbedding",
      aclGetRecentErrMsg());
  EXPECT_EQ(ACLNN_ERR_PARAM_INVALID, aclnnApplyRotaryPosEmb(nullptr, 0, mine, nullptr));
  EXPECT_EQ(ACLNN_ERR_PARAM_INVALID, aclnnApplyRotaryPosEmbV2(nullptr, 0, mine, nullptr));
  EXPECT_THAT(out_data, Each(-1.0F));
  EXPECT_EQ(ACLNN_SUCCESS, run(mine));
  EXPECT_EQ(y, out_data);
}

TEST_F(AclnnCalls, DestroyedExecutor) {
  aclOpExecutor* const mine = prepared();
  EXPECT_EQ(ACLNN_SUCCESS, aclDestroyAclOpExecutor(mine));
  EXPECT_EQ(ACLNN_ERR_PARAM_INVALID, aclDestroyAclOpExecutor(mine));
  EXPECT_STREQ(kReleased, aclGetRecentErrMsg());
  EXPECT_EQ(ACLNN_ERR_PARAM_INVALID, run(mine));
  EXPECT_THAT(out_data, Each(-1.0F));
}

TEST_F(AclnnCalls, ManyThreadsShareOneExecutorAndOneRunsIt) {
  constexpr int threads = 4;
  for (int round = 0; round < 100; ++round) {
    out_data.assign(8, -1.0F);
    aclOpExecutor* const shared = prepared();
    std::vector<aclnnStatus> statuses(threads);
    std::vector<std::thread> running;
    for (aclnnStatus& status : statuses) {
      running.emplace_back([this, shared, &status] { status = run(shared); });
    }
    for (std::thread& thread : running) thread.join();
    EXPECT_EQ(1, std::count(statuses.begin(), statuses.end(), ACLNN_SUCCESS));
    EXPECT_EQ(threads - 1, std::count(statuses.begin(), statuses.end(), ACLNN_ERR_PARAM_INVALID));
    EXPECT_EQ(y, out_data);
  }
}

TEST_F(AclnnCalls, MessagesBelongToTheirThread) {
  EXPECT_EQ(ACLNN_ERR_INNER_TILING_ERROR, prepare(7));
  std::string before, after;
  std::thread([&] {
    before = aclGetRecentErrMsg();
    aclDestroyAclOpExecutor(nullptr);
    after = aclGetRecentErrMsg();
  }).join();
  EXPECT_EQ("", before);
  EXPECT_EQ("[rope] executor must be given, got a null pointer", after);
  EXPECT_STREQ(
      "[rope] mode must be 0 (half), 1 (interleave), 2 (quarter) or 3 (interleave-half), got 7",
      aclGetRecentErrMsg());
}

TEST_F(AclnnCalls, LongMessagesAreCut) {
  x.shape.assign(1, 8);
  const std::string name(5000, 'x');
  EXPECT_EQ(ACLNN_ERR_INNER_TILING_ERROR,
            aclnnApplyRotaryPosEmbV2GetWorkspaceSize(&x, &dy, &cos, &sin, 1, name.c_str(), &size,
                                                     &executor));
  EXPECT_THAT(
      aclGetRecentErrMsg(),
      ::testing::StartsWith(
          "[rope] rotaryMode must be half, interleave, quarter or interleave-half, got xx"));
  EXPECT_THAT(aclGetRecentErrMsg(), ::testing::HasSubstr("xx...xx"));
  EXPECT_LT(std::strlen(aclGetRecentErrMsg()), 600u);
}

}  // namespace
}  // namespace eigen_rope::test::aclnn_calls_tests
