// SPDX-License-Identifier: Apache-2.0
//
// What ggml asserts, and what it should: each refusal with its exact sentence, and the destination as it was.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "error_of.hpp"
#include "rope/operators/ggml.hpp"

namespace rope::ggml {
namespace {

constexpr Extents extents{16, 2, 3, 1};
constexpr std::size_t elements = 96;
constexpr float untouched = 77;

/// A call that is valid until a test spoils it.
struct Call {
  std::vector<float> x = std::vector<float>(elements, 1.0F);
  std::vector<float> y = std::vector<float>(elements, untouched);
  ConstTensor a = dense(static_cast<const float*>(x.data()), extents);
  Tensor dst = dense(y.data(), extents);
  std::vector<std::int32_t> ids{0, 1, 2};
  RopeParams params = [] {
    RopeParams p;
    p.n_dims = 16;
    return p;
  }();

  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void sections(std::int32_t mode, std::array<std::int32_t, 4> lengths) {
    params.mode = mode;
    params.sections = lengths;
    ids.resize(12);
  }
};

using Spoil = void (*)(Call&);

struct Fault {
  const char* name;
  Spoil spoil;
  const char* message;
};

const float nan = std::numeric_limits<float>::quiet_NaN();
const float infinity = std::numeric_limits<float>::infinity();

// clang-format off
const Fault faults[] = {
    {"n_dims_zero", [](Call& c) { c.params.n_dims = 0; }, "n_dims must be positive, got 0"},
    {"n_dims_negative", [](Call& c) { c.params.n_dims = -2; }, "n_dims must be positive, got -2"},
    {"n_dims_odd", [](Call& c) { c.params.n_dims = 7; }, "n_dims must be even, got 7"},
    {"n_dims_too_large", [](Call& c) { c.params.n_dims = 18; }, "n_dims must be at most ne0 = 16, got 18"},
    {"offset_negative", [](Call& c) { c.params.n_dims = 8; c.params.n_offs = -2; }, "n_offs must not be negative, got -2"},
    {"offset_too_large", [](Call& c) { c.params.n_dims = 8; c.params.n_offs = 10; }, "n_offs must be at most ne0 - n_dims = 8, got 10"},
    {"offset_huge", [](Call& c) { c.params.n_dims = 8; c.params.n_offs = 2147483647; }, "n_offs must be at most ne0 - n_dims = 8, got 2147483647"},
    {"mode_odd", [](Call& c) { c.params.mode = 1; }, "mode must be even (the GLM pairing of mode 1 is gone from ggml), got 1"},
    {"mode_unknown", [](Call& c) { c.params.mode = 4; }, "mode must be 0 (normal), 2 (neox), 8 (mrope), 24 (vision) or 40 (imrope), got 4"},
    {"mode_negative", [](Call& c) { c.params.mode = -2; }, "mode must be 0 (normal), 2 (neox), 8 (mrope), 24 (vision) or 40 (imrope), got -2"},
    {"positions_too_few", [](Call& c) { c.ids.resize(2); }, "b must hold one position per token (ne2 = 3), got 2"},
    {"positions_too_many", [](Call& c) { c.ids.resize(12); }, "b must hold one position per token (ne2 = 3), got 12"},
    {"positions_of_one_axis", [](Call& c) { c.sections(mode_mrope, {2, 3, 3, 0}); c.ids.resize(3); }, "b must hold four positions per token (4 ne2 = 12), got 3"},
    {"sections_zero", [](Call& c) { c.sections(mode_mrope, {0, 0, 0, 8}); }, "one of the first three sections must be positive, got [0, 0, 0, 8]"},
    {"sections_too_long", [](Call& c) { c.sections(mode_imrope, {8, 8, 1, 0}); }, "the sections must sum to at most ne0 = 16, got 17"},
    {"sections_overflow", [](Call& c) { c.sections(mode_imrope, {2147483647, 2147483647, 2147483647, 3}); }, "the sections must sum to at most ne0 = 16, got 6442450944"},
    {"section_negative", [](Call& c) { c.sections(mode_mrope, {4, -1, 4, 0}); }, "section h must not be negative, got -1"},
    {"vision_whole_row", [](Call& c) { c.sections(mode_vision, {4, 4, 0, 0}); }, "n_dims must be half of ne0 = 16 in mode vision, got 16"},
    {"vision_offset", [](Call& c) { c.sections(mode_vision, {4, 4, 0, 0}); c.params.n_dims = 8; c.params.n_offs = 2; }, "n_offs must be 0 in mode vision, where the whole row rotates, got 2"},
    {"factors_short", [](Call& c) { c.params.freq_factors.assign(7, 1.0F); }, "freq_factors must hold at least one value per pair (8), got 7"},
    {"factors_short_for_vision", [](Call& c) { c.sections(mode_vision, {4, 4, 0, 0}); c.params.n_dims = 8; c.params.freq_factors.assign(4, 1.0F); }, "freq_factors must hold at least one value per pair (8), got 4"},
    {"factor_zero", [](Call& c) { c.params.freq_factors.assign(8, 1.0F); c.params.freq_factors[3] = 0; }, "freq_factors[3] must be finite and not 0, got 0"},
    {"factor_nan", [](Call& c) { c.params.freq_factors.assign(8, 1.0F); c.params.freq_factors[7] = nan; }, "freq_factors[7] must be finite and not 0, got nan"},
    {"base_zero", [](Call& c) { c.params.freq_base = 0; }, "freq_base must be finite and greater than 0, got 0"},
    {"base_negative", [](Call& c) { c.params.freq_base = -10000; }, "freq_base must be finite and greater than 0, got -10000"},
    {"base_nan", [](Call& c) { c.params.freq_base = nan; }, "freq_base must be finite and greater than 0, got nan"},
    {"base_one_with_yarn", [](Call& c) { c.params.freq_base = 1; c.params.ext_factor = 1; }, "freq_base must not be 1 with YaRN (its logarithm divides), got 1"},
    {"scale_zero", [](Call& c) { c.params.freq_scale = 0; }, "freq_scale must be finite and greater than 0, got 0"},
    {"scale_negative_with_yarn", [](Call& c) { c.params.freq_scale = -1; c.params.ext_factor = 1; }, "freq_scale must be finite and greater than 0, got -1"},
    {"ext_factor_infinite", [](Call& c) { c.params.ext_factor = infinity; }, "ext_factor must be finite, got inf"},
    {"attn_factor_nan", [](Call& c) { c.params.attn_factor = nan; }, "attn_factor must be finite, got nan"},
    {"beta_fast_negative", [](Call& c) { c.params.beta_fast = -1; }, "beta_fast must not be negative, got -1"},
    {"beta_slow_nan", [](Call& c) { c.params.beta_slow = nan; }, "beta_slow must be finite, got nan"},
    {"context_negative", [](Call& c) { c.params.n_ctx_orig = -1; }, "n_ctx_orig must not be negative, got -1"},
    {"inner_stride_of_a", [](Call& c) { c.a.nb[0] = 8; }, "a's nb[0] must be the size of its elements, 4 bytes, got 8"},
    {"inner_stride_of_dst", [](Call& c) { c.dst.nb[0] = 0; }, "dst's nb[0] must be the size of its elements, 4 bytes, got 0"},
    {"stride_not_a_multiple", [](Call& c) { c.a.nb[2] = 130; }, "a's nb[2] must be a multiple of its elements' size, 4 bytes, got 130"},
    {"stride_beyond_63_bits", [](Call& c) { c.a.nb[1] = std::size_t{1} << 63; }, "a's nb[1] must be a multiple of its elements' size, 4 bytes, got 9223372036854775808"},
    {"rows_of_dst_share_elements", [](Call& c) { c.dst.nb[1] = 32; }, "strides must step over the 16 elements inside them, or rows share elements, got 8"},
    {"extent_negative", [](Call& c) { c.a.ne[1] = -1; }, "ne1 must not be negative, got -1"},
    {"extents_overflow", [](Call& c) { c.a.ne = {16, std::int64_t{1} << 62, 3, 1}; }, "the number of elements must fit a 64-bit count, got 16 x 4611686018427387904"},
    {"null_a", [](Call& c) { c.a.data = nullptr; }, "a must have data, got a null pointer"},
    {"null_dst", [](Call& c) { c.dst.data = nullptr; }, "dst must have data, got a null pointer"},
    {"misaligned", [](Call& c) { c.a.data = static_cast<const char*>(c.a.data) + 1; }, "a's data must be aligned to its elements' size, 4 bytes (remainder), got 1"},
    {"types_differ", [](Call& c) { c.dst.type = ScalarType::f64; c.dst.nb = dense_strides(ScalarType::f64, extents); c.dst.ne = {16, 2, 1, 1}; }, "dst must have a's type f32, got f64"},
    {"extents_differ", [](Call& c) { c.dst.ne = {16, 3, 2, 1}; }, "dst must have a's extents [16, 2, 3, 1], got [16, 3, 2, 1]"},
    {"partial_overlap", [](Call& c) { c.a.data = c.y.data() + 16; c.a.ne = c.dst.ne = {16, 2, 2, 1}; c.ids.resize(2); }, "x and the destination must be the same rows or not overlap at all (distance in bytes), got -64"},
};
// clang-format on

class GgmlFault : public testing::TestWithParam<Fault> {};

TEST_P(GgmlFault, IsRefusedAndNothingIsWritten) {
  Call call;
  GetParam().spoil(call);
  const std::string expected = std::string("[rope] ") + GetParam().message;
  EXPECT_EQ(test::error_of([&] { rope_multi(call.dst, call.a, call.ids, call.params); }), expected);
  EXPECT_EQ(test::error_of([&] { rope_multi_back(call.dst, call.a, call.ids, call.params); }), expected);
  EXPECT_EQ(call.y, std::vector<float>(elements, untouched));
}

INSTANTIATE_TEST_SUITE_P(All, GgmlFault, testing::ValuesIn(faults),
                         [](const testing::TestParamInfo<Fault>& fault) { return std::string(fault.param.name); });

TEST(GgmlErrors, TheCallItselfIsValid) {
  Call call;
  EXPECT_EQ(test::error_of([&] { rope_multi(call.dst, call.a, call.ids, call.params); }), "no rope::Error");
  EXPECT_NE(call.y, std::vector<float>(elements, untouched));
}

TEST(GgmlErrors, RopeExtHasNoSections) {
  Call call;
  call.sections(mode_mrope, {2, 3, 3, 0});
  const auto message = [](const std::string& name) {
    return "[rope] mode of " + name + " must be 0 (normal) or 2 (neox); rope_multi takes sections, got 8";
  };
  EXPECT_EQ(test::error_of([&] { rope_ext(call.dst, call.a, call.ids, call.params); }), message("rope_ext"));
  EXPECT_EQ(test::error_of([&] { rope_ext_back(call.dst, call.a, call.ids, call.params); }), message("rope_ext_back"));
  EXPECT_EQ(test::error_of([&] { rope_ext_inplace(call.dst, call.ids, call.params); }), message("rope_ext_inplace"));
  EXPECT_EQ(call.y, std::vector<float>(elements, untouched));
}

TEST(GgmlErrors, NullPositions) {
  Call call;
  const PositionIds missing(static_cast<const std::int32_t*>(nullptr), 3);
  EXPECT_EQ(test::error_of([&] { rope_ext(call.dst, call.a, missing, call.params); }), "[rope] b must have data, got a null pointer");
}

TEST(GgmlErrors, TableOfARecurrenceIsFloat) {
  Call call;
  const std::vector<std::int32_t> ids{0, 1, 2};
  EXPECT_EQ(test::error_of([&] { (void)cos_sin_cache<double>(call.params, ids, 16, 3, Precision::float_recurrence); }),
            "[rope] the table of a float recurrence must be float, got f64");
}

// What ggml takes without complaint stays valid.
TEST(GgmlErrors, LongerFactorsEmptyTensorsAndStridesOfSingleRowsAreValid) {
  Call call;
  call.params.freq_factors.assign(20, 1.0F);
  rope_ext(call.dst, call.a, call.ids, call.params);
  call.a.nb[3] = 3;  // ne3 is 1: never used
  rope_ext(call.dst, call.a, call.ids, call.params);
  const Extents empty{16, 2, 0, 1};
  const std::vector<std::int32_t> none;
  EXPECT_EQ(test::error_of([&] {
              rope_ext(dense(static_cast<float*>(nullptr), empty), dense(static_cast<const float*>(nullptr), empty), none, call.params);
            }),
            "no rope::Error");
}

}  // namespace
}  // namespace rope::ggml
