// SPDX-License-Identifier: Apache-2.0
//
// ggml's calls touch nothing but the rows of a and dst and the positions they were given, and write
// every element of dst: rows dense or each alone between pages that cannot be touched, positions of
// either width likewise. Every type, mode, direction, precision and window.
#include <gtest/gtest.h>

#include "eigen_rope/operators/ggml.hpp"
#include "support/guarded.hpp"
#include "support/kernel_paths.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::ggml {
namespace {

using test::Against;
using test::Guarded;
using test::GuardedRows;

struct Setting {
  std::int64_t ne0;
  std::int32_t mode, n_dims, n_offs;

  RopeParams params() const {
    RopeParams params;
    params.mode = mode;
    params.n_dims = n_dims;
    params.n_offs = n_offs;
    params.attn_factor = 1.25F;
    params.sections = {1, 1, 1, 0};
    return params;
  }
  bool has_sections() const { return mode != mode_normal && mode != mode_neox; }
};

/// Heads of every even size up to four vectors of float, whole and with a window inside.
std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (std::int32_t ne0 = 4; ne0 <= 128; ne0 += ne0 < 36 ? 2 : 18) {
    for (const std::int32_t mode : {mode_normal, mode_neox, mode_mrope, mode_imrope}) {
      all.push_back({ne0, mode, ne0, 0});
      if (ne0 >= 8) all.push_back({ne0, mode, ne0 / 4 * 2, 3});
    }
    if (ne0 % 4 == 0) all.push_back({ne0, mode_vision, ne0 / 2, 0});
  }
  return all;
}

constexpr std::int64_t kHeads = 3;
constexpr std::int64_t kTokens = 2;
constexpr std::int64_t kBatches = 2;
constexpr auto kRows = static_cast<std::size_t>(kHeads * kTokens * kBatches);

std::vector<std::int64_t> positions_of(const Setting& s) {
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < kTokens * (s.has_sections() ? 4 : 1); ++i)
    ids.push_back(5 + 1000 * i);
  return ids;
}

template <class Scalar>
class Call {
 public:
  Call(const Setting& setting, Options options)
      : setting_(setting), options_(options), params_(setting.params()) {}

  Extents extents() const { return {setting_.ne0, kHeads, kTokens, kBatches}; }
  Tensor rows(const GuardedRows<Scalar>& memory) const {
    const std::size_t row = static_cast<std::size_t>(memory.stride()) * sizeof(Scalar);
    return {scalar_type<Scalar>,
            memory.data(),
            extents(),
            {sizeof(Scalar), row, row * kHeads, row * kHeads * kTokens}};
  }
  Tensor dense_rows(const GuardedRows<Scalar>& memory) const {
    return dense(memory.data(), extents());
  }

  void forward(const Tensor& dst, const ConstTensor& a, const PositionIds& b) const {
    setting_.has_sections() ? rope_multi(dst, a, b, params_, options_)
                            : rope_ext(dst, a, b, params_, options_);
  }
  void in_place(const Tensor& a, const PositionIds& b) const {
    setting_.has_sections() ? rope_multi_inplace(a, b, params_, options_)
                            : rope_ext_inplace(a, b, params_, options_);
  }
  void back(const Tensor& dst, const ConstTensor& a, const PositionIds& b) const {
    setting_.has_sections() ? rope_multi_back(dst, a, b, params_, options_)
                            : rope_ext_back(dst, a, b, params_, options_);
  }

 private:
  Setting setting_;
  Options options_;
  RopeParams params_;
};

template <class Scalar, class Id>
void call_guarded(Precision precision) {
  test::Combinations combinations;
  Options options;
  options.precision = precision;
  for (const Setting& s : settings()) {
    SCOPED_TRACE("ne0 " + std::to_string(s.ne0) + ", mode " + std::to_string(s.mode) + ", n_dims " +
                 std::to_string(s.n_dims));
    const Call<Scalar> call(s, options);
    const auto length = static_cast<std::size_t>(s.ne0);
    const auto values = test::random_values<Scalar>(static_cast<Index>(kRows * length),
                                                    static_cast<std::uint64_t>(s.ne0));
    const std::vector<std::int64_t> wide = positions_of(s);
    const std::vector<Id> ids(wide.begin(), wide.end());
    std::vector<Scalar> y(values.size()), dx(values.size());
    call.forward(dense(y.data(), call.extents()), dense(values.data(), call.extents()), wide);
    call.back(dense(dx.data(), call.extents()), dense(values.data(), call.extents()), wide);
    for (const Against against : test::both_sides) {
      const Guarded<Id> b_memory(ids, against);
      const PositionIds b(b_memory.data(), static_cast<std::int64_t>(ids.size()));
      for (const bool apart : {false, true}) {
        const GuardedRows<Scalar> a_memory(values, apart ? length : values.size(), against);
        const GuardedRows<Scalar> dst_memory(values, apart ? length : values.size(), against);
        const Tensor a = apart ? call.rows(a_memory) : call.dense_rows(a_memory);
        const Tensor dst = apart ? call.rows(dst_memory) : call.dense_rows(dst_memory);
        const auto check = [&](const std::vector<Scalar>& expected) {
          ++combinations;
          ASSERT_TRUE(test::same_bits(expected.data(), dst_memory.values().data(),
                                      static_cast<Index>(expected.size())))
              << kernel_target();
          ASSERT_TRUE(dst_memory.margins_untouched()) << kernel_target();
        };
        test::on_every_path([&](test::Path path) {
          if (testing::Test::HasFailure()) return;
          dst_memory.set_poison();
          call.forward(dst, a, b);
          check(y);
          if (path == test::Path::past_the_cache) return;
          dst_memory.set_poison();
          call.back(dst, a, b);
          check(dx);
          dst_memory.set(values);
          call.in_place(dst, b);
          check(y);
        });
        ASSERT_FALSE(testing::Test::HasFailure());
        ASSERT_TRUE(test::same_bits(values.data(), a_memory.values().data(),
                                    static_cast<Index>(values.size())));
      }
      ASSERT_TRUE(b_memory.margins_untouched());
    }
  }
}

TEST(GgmlGuard, Float) { call_guarded<float, std::int32_t>(Precision::exact); }
TEST(GgmlGuard, FloatRecurrence) { call_guarded<float, std::int64_t>(Precision::float_recurrence); }
TEST(GgmlGuard, Half) { call_guarded<Eigen::half, std::int64_t>(Precision::exact); }
TEST(GgmlGuard, Bfloat16) { call_guarded<Eigen::bfloat16, std::int32_t>(Precision::exact); }
TEST(GgmlGuard, Double) { call_guarded<double, std::int32_t>(Precision::exact); }

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::ggml
