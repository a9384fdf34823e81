// SPDX-License-Identifier: Apache-2.0
//
// Ascend's operators touch nothing but the rows they were given, and write every element of out,
// dx, dcos, dsin, query and key: tensors are dense, or each row lies alone between pages that
// cannot be touched, tables included. Every operator, mode, type and layout; the two-step calls as
// well.
#include <gtest/gtest.h>

#include "eigen_rope/operators/aclnn_calls.hpp"
#include "support/guarded.hpp"
#include "support/kernel_paths.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::aclnn {
namespace {

using test::Against;
using test::GuardedRows;

constexpr std::array<Mode, 4> modes{Mode::half, Mode::interleave, Mode::quarter,
                                    Mode::interleave_half};

/// x [2, 3, 2, D]; tables that broadcast along either axis of the middle, or along none.
Dims x_shape(std::int64_t width) { return {2, 3, 2, width}; }
std::vector<Dims> table_shapes(std::int64_t width) {
  return {{1, 1, 2, width}, {2, 3, 1, width}, {2, 3, 2, width}, {1, 1, 1, width}};
}

std::size_t size_of(const Dims& shape) {
  std::size_t size = 1;
  for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
  return size;
}

/// A tensor in guarded memory.
template <class Scalar>
class Memory {
 public:
  Memory(const std::vector<Scalar>& values, const Dims& shape, bool apart, Against against)
      : rows_(values, apart ? static_cast<std::size_t>(shape.back()) : values.size(), against),
        shape_(shape) {
    if (!apart) return;
    strides_.assign(shape.size(), 1);
    std::int64_t stride = rows_.stride();
    for (std::size_t axis = shape.size() - 1; axis-- > 0;) {
      strides_[axis] = stride;
      stride *= shape[axis];
    }
  }

  Tensor tensor() const { return aclnn::tensor(rows_.data(), shape_, strides_); }
  void set(const std::vector<Scalar>& values) const { rows_.set(values); }
  void set_poison() const { rows_.set_poison(); }
  void expect(const std::vector<Scalar>& expected) const {
    ASSERT_TRUE(test::same_bits(expected.data(), rows_.values().data(),
                                static_cast<Index>(expected.size())))
        << kernel_target();
    ASSERT_TRUE(rows_.margins_untouched()) << kernel_target();
  }

 private:
  GuardedRows<Scalar> rows_;
  Dims shape_;
  Dims strides_{};
};

template <class Scalar>
std::vector<Scalar> values_of(const Dims& shape, std::uint64_t seed, double low = -1,
                              double high = 1) {
  return test::random_values<Scalar>(static_cast<Index>(size_of(shape)), seed, low, high);
}

std::vector<std::int64_t> widths() {
  std::vector<std::int64_t> all;
  for (std::int64_t width = 2; width <= 132; width += width < 36 ? 2 : 16) all.push_back(width);
  return all;
}

/// Calls check(mode, width, apart, against) for all of them.
template <class Check>
void on_every_call(const Check& check) {
  for (const std::int64_t width : widths()) {
    for (const Mode mode : modes) {
      if (mode == Mode::quarter && width % 4 != 0) continue;
      SCOPED_TRACE("mode " + std::to_string(static_cast<std::int64_t>(mode)) + ", width " +
                   std::to_string(width));
      for (const bool apart : {false, true}) {
        for (const Against against : test::both_sides) {
          check(mode, width, apart, against);
          ASSERT_FALSE(testing::Test::HasFailure());
        }
      }
    }
  }
}

template <class Scalar>
void rotate_guarded() {
  test::Combinations combinations;
  on_every_call([&](Mode mode, std::int64_t width, bool apart, Against against) {
    const Dims shape = x_shape(width);
    const auto x = values_of<Scalar>(shape, 1);
    const auto dy = values_of<Scalar>(shape, 2);
    for (const Dims& table : table_shapes(width)) {
      const auto cos = values_of<Scalar>(table, 3);
      const auto sin = values_of<Scalar>(table, 4);
      std::vector<Scalar> y(x.size()), dx(x.size()), dcos(cos.size()), dsin(sin.size());
      const auto read = [](const std::vector<Scalar>& values, const Dims& dims) {
        return aclnn::tensor(values.data(), dims);
      };
      rotary_position_embedding(aclnn::tensor(y.data(), shape),
                                {read(x, shape), read(cos, table), read(sin, table)}, mode);
      rotary_position_embedding_grad(
          {aclnn::tensor(dx.data(), shape), aclnn::tensor(dcos.data(), table),
           aclnn::tensor(dsin.data(), table)},
          {read(dy, shape), read(cos, table), read(sin, table), read(x, shape)}, mode);

      const Memory<Scalar> x_memory(x, shape, apart, against);
      const Memory<Scalar> dy_memory(dy, shape, apart, against);
      const Memory<Scalar> cos_memory(cos, table, apart, against);
      const Memory<Scalar> sin_memory(sin, table, apart, against);
      const Memory<Scalar> out(x, shape, apart, against);
      const Memory<Scalar> dcos_out(cos, table, apart, against);
      const Memory<Scalar> dsin_out(sin, table, apart, against);
      test::on_every_path([&](test::Path) {
        if (testing::Test::HasFailure()) return;
        out.set_poison();
        rotary_position_embedding(
            out.tensor(), {x_memory.tensor(), cos_memory.tensor(), sin_memory.tensor()}, mode);
        out.expect(y);
        out.set(x);
        rotary_position_embedding(out.tensor(),
                                  {out.tensor(), cos_memory.tensor(), sin_memory.tensor()}, mode);
        out.expect(y);
        out.set_poison();
        dcos_out.set_poison();
        dsin_out.set_poison();
        rotary_position_embedding_grad(
            {out.tensor(), dcos_out.tensor(), dsin_out.tensor()},
            {dy_memory.tensor(), cos_memory.tensor(), sin_memory.tensor(), x_memory.tensor()},
            mode);
        out.expect(dx);
        dcos_out.expect(dcos);
        dsin_out.expect(dsin);
        for (int i = 0; i < 3; ++i) ++combinations;
      });
      x_memory.expect(x);
      cos_memory.expect(cos);
    }
  });
}

/// Layouts of rank 4 and TND; two heads of query, one of key, tables narrower than the heads.
template <class Scalar>
void apply_guarded() {
  test::Combinations combinations;
  struct Shapes {
    Layout layout;
    Dims query, key, table;
  };
  on_every_call([&](Mode mode, std::int64_t width, bool apart, Against against) {
    for (const std::int64_t rest : {0, 3}) {
      const std::int64_t head = width + rest;
      for (const Shapes& s :
           {Shapes{Layout::bsnd, {2, 3, 2, head}, {2, 3, 1, head}, {2, 3, 1, width}},
            Shapes{Layout::sbnd, {3, 2, 2, head}, {3, 2, 1, head}, {3, 2, 1, width}},
            Shapes{Layout::bnsd, {2, 2, 3, head}, {2, 1, 3, head}, {2, 1, 3, width}},
            Shapes{Layout::tnd, {3, 2, head}, {3, 1, head}, {3, 1, width}}}) {
        const auto query = values_of<Scalar>(s.query, 1);
        const auto key = values_of<Scalar>(s.key, 2);
        const auto cos = values_of<Scalar>(s.table, 3);
        const auto sin = values_of<Scalar>(s.table, 4);
        std::vector<Scalar> rotated_query = query;
        std::vector<Scalar> rotated_key = key;
        apply_rotary_pos_emb(
            {aclnn::tensor(rotated_query.data(), s.query), aclnn::tensor(rotated_key.data(), s.key),
             aclnn::tensor(cos.data(), s.table), aclnn::tensor(sin.data(), s.table)},
            s.layout, mode);
        const Memory<Scalar> query_memory(query, s.query, apart, against);
        const Memory<Scalar> key_memory(key, s.key, apart, against);
        const Memory<Scalar> cos_memory(cos, s.table, apart, against);
        const Memory<Scalar> sin_memory(sin, s.table, apart, against);
        for (const std::string& target : kernel_targets()) {
          const test::OnlyTarget only(target);
          query_memory.set(query);
          key_memory.set(key);
          apply_rotary_pos_emb({query_memory.tensor(), key_memory.tensor(), cos_memory.tensor(),
                                sin_memory.tensor()},
                               s.layout, mode);
          query_memory.expect(rotated_query);
          key_memory.expect(rotated_key);
          ++combinations;
        }
      }
    }
  });
}

TEST(AclnnGuard, Float) { rotate_guarded<float>(); }
TEST(AclnnGuard, Half) { rotate_guarded<Eigen::half>(); }
TEST(AclnnGuard, Bfloat16) { rotate_guarded<Eigen::bfloat16>(); }
TEST(AclnnGuard, Double) { rotate_guarded<double>(); }

TEST(AclnnGuard, ApplyFloat) { apply_guarded<float>(); }
TEST(AclnnGuard, ApplyHalf) { apply_guarded<Eigen::half>(); }
TEST(AclnnGuard, ApplyBfloat16) { apply_guarded<Eigen::bfloat16>(); }

/// The first step reads no data at all, the second what the first was given.
TEST(AclnnGuard, TwoStepCall) {
  test::Combinations combinations;
  on_every_call([&](Mode mode, std::int64_t width, bool apart, Against against) {
    const Dims shape = x_shape(width);
    const Dims table{1, 1, 2, width};
    const auto x = values_of<float>(shape, 1);
    const auto cos = values_of<float>(table, 3);
    const auto sin = values_of<float>(table, 4);
    std::vector<float> y(x.size());
    rotary_position_embedding(aclnn::tensor(y.data(), shape),
                              {aclnn::tensor(x.data(), shape), aclnn::tensor(cos.data(), table),
                               aclnn::tensor(sin.data(), table)},
                              mode);
    const Memory<float> x_memory(x, shape, apart, against);
    const Memory<float> cos_memory(cos, table, apart, against);
    const Memory<float> sin_memory(sin, table, apart, against);
    const Memory<float> out_memory(test::poisoned<float>(x.size()), shape, apart, against);
    const aclTensor a = x_memory.tensor();
    const aclTensor c = cos_memory.tensor();
    const aclTensor s = sin_memory.tensor();
    const aclTensor out = out_memory.tensor();
    std::uint64_t size = 1;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnRotaryPositionEmbeddingGetWorkspaceSize(
                  &a, &c, &s, static_cast<std::int64_t>(mode), &out, &size, &executor),
              ACLNN_SUCCESS)
        << aclGetRecentErrMsg();
    ASSERT_EQ(aclnnRotaryPositionEmbedding(nullptr, size, executor, nullptr), ACLNN_SUCCESS);
    out_memory.expect(y);
    ++combinations;
  });
}

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::aclnn
