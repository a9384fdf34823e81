// SPDX-License-Identifier: Apache-2.0
//
// Bad input: ggml's operators. What ggml asserts and what it should; forward and backward refuse
// with the same words.
#include <array>
#include <cstring>

#include "bad_input/bad_input.hpp"
#include "eigen_rope/operators/ggml.hpp"

namespace eigen_rope::test::ggml_tests {
namespace {

// NOLINTNEXTLINE(google-build-using-namespace): every cell calls one of its functions
using namespace eigen_rope::ggml;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr Extents extents{16, 2, 3, 1};

/// A call that is valid until a cell spoils it.
struct Call : Memory {
  float* x = array<float>(96);
  float* y = array<float>(96);
  ConstTensor a = dense(static_cast<const float*>(x), extents);
  Tensor dst = dense(y, extents);
  std::vector<std::int32_t> ids{0, 1, 2};
  bool missing = false;
  RopeParams params;

  Call() { params.n_dims = 16; }
  void sections(std::int32_t mode, std::array<std::int32_t, 4> lengths) {
    params.mode = mode;
    params.sections = lengths;
    ids.resize(12);
  }
  void bfloat16() {
    a.type = dst.type = ScalarType::bf16;
    a.nb = dst.nb = dense_strides(ScalarType::bf16, extents);
  }
  void odd() {
    a.ne = dst.ne = {15, 2, 3, 1};
    a.nb = dst.nb = dense_strides(ScalarType::f32, a.ne);
  }
  void run() const {
    const PositionIds b =
        missing ? PositionIds(static_cast<const std::int32_t*>(nullptr), 3) : PositionIds(ids);
    const std::string message = refusal_of([&] { rope_multi(dst, a, b, params); });
    EXPECT_EQ(refusal_of([&] { rope_multi_back(dst, a, b, params); }), message);
    if (!message.empty()) throw Error(message);
  }
};

const Cell<Call> calls[] = {
    {"n_dims", Fault::zero,
     [](Call& c) {
       c.params.n_dims = 0;
       c.run();
     },
     "n_dims must be positive, got 0", "peer: ggml, n_dims 0 loops for ever"},
    {"n_dims", Fault::negative,
     [](Call& c) {
       c.params.n_dims = -2;
       c.run();
     },
     "n_dims must be positive, got -2", "peer: ggml, negative n_dims loop for ever"},
    {"n_dims", Fault::odd,
     [](Call& c) {
       c.params.n_dims = 7;
       c.run();
     },
     "n_dims must be even, got 7"},
    {"n_dims", Fault::too_large,
     [](Call& c) {
       c.params.n_dims = 18;
       c.run();
     },
     "n_dims must be at most ne0 = 16, got 18"},
    {"n_offs", Fault::negative,
     [](Call& c) {
       c.params.n_dims = 8;
       c.params.n_offs = -2;
       c.run();
     },
     "n_offs must not be negative, got -2"},
    {"n_offs", Fault::too_large,
     [](Call& c) {
       c.params.n_dims = 8;
       c.params.n_offs = 10;
       c.run();
     },
     "n_offs must be at most ne0 - n_dims = 8, got 10"},
    {"n_offs", Fault::huge,
     [](Call& c) {
       c.params.n_dims = 8;
       c.params.n_offs = 2147483647;
       c.run();
     },
     "n_offs must be at most ne0 - n_dims = 8, got 2147483647"},
    {"mode", Fault::odd,
     [](Call& c) {
       c.params.mode = 1;
       c.run();
     },
     "mode must be even (the GLM pairing of mode 1 is gone from ggml), got 1"},
    {"mode", Fault::unknown,
     [](Call& c) {
       c.params.mode = 4;
       c.run();
     },
     "mode must be 0 (normal), 2 (neox), 8 (mrope), 24 (vision) or 40 (imrope), got 4",
     "peer: ggml, a wrong mode aborts the process"},
    {"mode", Fault::negative,
     [](Call& c) {
       c.params.mode = -2;
       c.run();
     },
     "mode must be 0 (normal), 2 (neox), 8 (mrope), 24 (vision) or 40 (imrope), got -2"},
    {"b", Fault::wrong_length,
     [](Call& c) {
       c.ids.resize(2);
       c.run();
     },
     "b must hold one position per token (ne2 = 3), got 2",
     "peer: ggml, a wrong number of positions aborts the process"},
    {"b", Fault::wrong_length,
     [](Call& c) {
       c.ids.resize(12);
       c.run();
     },
     "b must hold one position per token (ne2 = 3), got 12"},
    {"b of a multi-axis mode", Fault::wrong_length,
     [](Call& c) {
       c.sections(mode_mrope, {2, 3, 3, 0});
       c.ids.resize(3);
       c.run();
     },
     "b must hold four positions per token (4 ne2 = 12), got 3"},
    {"sections", Fault::zero,
     [](Call& c) {
       c.sections(mode_mrope, {0, 0, 0, 8});
       c.run();
     },
     "one of the first three sections must be positive, got [0, 0, 0, 8]",
     "peer: ggml, sections that sum to 0 raise SIGFPE"},
    {"sections", Fault::too_large,
     [](Call& c) {
       c.sections(mode_imrope, {8, 8, 1, 0});
       c.run();
     },
     "the sections must sum to at most ne0 = 16, got 17"},
    {"sections", Fault::huge,
     [](Call& c) {
       c.sections(mode_imrope, {2147483647, 2147483647, 2147483647, 3});
       c.run();
     },
     "the sections must sum to at most ne0 = 16, got 6442450944"},
    {"sections", Fault::negative,
     [](Call& c) {
       c.sections(mode_mrope, {4, -1, 4, 0});
       c.run();
     },
     "section h must not be negative, got -1"},
    {"n_dims of mode vision", Fault::too_large,
     [](Call& c) {
       c.sections(mode_vision, {4, 4, 0, 0});
       c.run();
     },
     "n_dims must be half of ne0 = 16 in mode vision, got 16"},
    {"n_offs of mode vision", Fault::too_large,
     [](Call& c) {
       c.sections(mode_vision, {4, 4, 0, 0});
       c.params.n_dims = 8;
       c.params.n_offs = 2;
       c.run();
     },
     "n_offs must be 0 in mode vision, where the whole row rotates, got 2"},
    {"freq_factors", Fault::wrong_length,
     [](Call& c) {
       c.params.freq_factors.assign(7, 1.0F);
       c.run();
     },
     "freq_factors must hold at least one value per pair (8), got 7",
     "peer: ggml, freq factors shorter than dims/2 are read past their end"},
    {"freq_factors of mode vision", Fault::wrong_length,
     [](Call& c) {
       c.sections(mode_vision, {4, 4, 0, 0});
       c.params.n_dims = 8;
       c.params.freq_factors.assign(4, 1.0F);
       c.run();
     },
     "freq_factors must hold at least one value per pair (8), got 4",
     "peer: ggml, vision with n_dims/2 frequency factors reads past their end"},
    {"freq_factors", Fault::zero,
     [](Call& c) {
       c.params.freq_factors.assign(8, 1.0F);
       c.params.freq_factors[3] = 0;
       c.run();
     },
     "freq_factors[3] must be finite and not 0, got 0",
     "peer: ggml, frequency factor 0 gives NaN silently"},
    {"freq_factors", Fault::nan,
     [](Call& c) {
       c.params.freq_factors.assign(8, 1.0F);
       c.params.freq_factors[7] = nan;
       c.run();
     },
     "freq_factors[7] must be finite and not 0, got nan",
     "peer: ggml, frequency factor NaN passes silently"},
    {"freq_base", Fault::zero,
     [](Call& c) {
       c.params.freq_base = 0;
       c.run();
     },
     "freq_base must be finite and greater than 0, got 0",
     "peer: ggml, base <= 0 gives NaN silently"},
    {"freq_base", Fault::negative,
     [](Call& c) {
       c.params.freq_base = -10000;
       c.run();
     },
     "freq_base must be finite and greater than 0, got -10000",
     "peer: ggml, base <= 0 gives NaN silently"},
    {"freq_base", Fault::nan,
     [](Call& c) {
       c.params.freq_base = nan;
       c.run();
     },
     "freq_base must be finite and greater than 0, got nan"},
    {"freq_base with YaRN", Fault::too_small,
     [](Call& c) {
       c.params.freq_base = 1;
       c.params.ext_factor = 1;
       c.run();
     },
     "freq_base must not be 1 with YaRN (its logarithm divides), got 1"},
    {"freq_scale", Fault::zero,
     [](Call& c) {
       c.params.freq_scale = 0;
       c.run();
     },
     "freq_scale must be finite and greater than 0, got 0"},
    {"freq_scale with YaRN", Fault::negative,
     [](Call& c) {
       c.params.freq_scale = -1;
       c.params.ext_factor = 1;
       c.run();
     },
     "freq_scale must be finite and greater than 0, got -1",
     "peer: ggml, freq_scale <= 0 with YaRN gives NaN silently"},
    {"ext_factor", Fault::infinite,
     [](Call& c) {
       c.params.ext_factor = infinity;
       c.run();
     },
     "ext_factor must be finite, got inf"},
    {"attn_factor", Fault::nan,
     [](Call& c) {
       c.params.attn_factor = nan;
       c.run();
     },
     "attn_factor must be finite, got nan"},
    {"beta_fast", Fault::negative,
     [](Call& c) {
       c.params.beta_fast = -1;
       c.run();
     },
     "beta_fast must not be negative, got -1"},
    {"beta_slow", Fault::nan,
     [](Call& c) {
       c.params.beta_slow = nan;
       c.run();
     },
     "beta_slow must be finite, got nan"},
    {"n_ctx_orig", Fault::negative,
     [](Call& c) {
       c.params.n_ctx_orig = -1;
       c.run();
     },
     "n_ctx_orig must not be negative, got -1"},
    {"a's nb[0]", Fault::too_large,
     [](Call& c) {
       c.a.nb[0] = 8;
       c.run();
     },
     "a's nb[0] must be the size of its elements, 4 bytes, got 8"},
    {"dst's nb[0]", Fault::zero,
     [](Call& c) {
       c.dst.nb[0] = 0;
       c.run();
     },
     "dst's nb[0] must be the size of its elements, 4 bytes, got 0"},
    {"a's nb[2]", Fault::odd,
     [](Call& c) {
       c.a.nb[2] = 130;
       c.run();
     },
     "a's nb[2] must be a multiple of its elements' size, 4 bytes, got 130"},
    {"a's nb[1]", Fault::huge,
     [](Call& c) {
       c.a.nb[1] = std::size_t{1} << 63;
       c.run();
     },
     "a's nb[1] must be a multiple of its elements' size, 4 bytes, got 9223372036854775808"},
    {"dst's nb[1]", Fault::overlapping,
     [](Call& c) {
       c.dst.nb[1] = 32;
       c.run();
     },
     "strides must step over the 16 elements inside them, or rows share elements, got 8"},
    {"a's ne[1]", Fault::negative,
     [](Call& c) {
       c.a.ne[1] = -1;
       c.run();
     },
     "ne1 must not be negative, got -1"},
    {"a's ne", Fault::huge,
     [](Call& c) {
       c.a.ne = {16, std::int64_t{1} << 62, 3, 1};
       c.run();
     },
     "the number of elements must fit a 64-bit count, got 16 x 4611686018427387904"},
    {"a", Fault::null,
     [](Call& c) {
       c.a.data = nullptr;
       c.run();
     },
     "a must have data, got a null pointer"},
    {"dst", Fault::null,
     [](Call& c) {
       c.dst.data = nullptr;
       c.run();
     },
     "dst must have data, got a null pointer"},
    {"a's data", Fault::odd,
     [](Call& c) {
       c.a.data = static_cast<const char*>(c.a.data) + 1;
       c.run();
     },
     "a's data must be aligned to its elements' size, 4 bytes (remainder), got 1"},
    {"dst's type", Fault::unknown,
     [](Call& c) {
       c.dst.type = ScalarType::f64;
       c.dst.nb = dense_strides(ScalarType::f64, extents);
       c.dst.ne = {16, 2, 1, 1};
       c.run();
     },
     "dst must have a's type f32, got f64"},
    {"dst's ne", Fault::wrong_shape,
     [](Call& c) {
       c.dst.ne = {16, 3, 2, 1};
       c.run();
     },
     "dst must have a's extents [16, 2, 3, 1], got [16, 3, 2, 1]"},
    {"dst and a", Fault::overlapping,
     [](Call& c) {
       c.a.data = c.y + 16;
       c.a.ne = c.dst.ne = {16, 2, 2, 1};
       c.ids.resize(2);
       c.run();
     },
     "x and the destination must be the same rows or not overlap at all (distance in bytes), got "
     "-64"},
    {"freq_base", Fault::infinite,
     [](Call& c) {
       c.params.freq_base = infinity;
       c.run();
     },
     "freq_base must be finite and greater than 0, got inf"},
    {"freq_scale", Fault::nan,
     [](Call& c) {
       c.params.freq_scale = nan;
       c.run();
     },
     "freq_scale must be finite and greater than 0, got nan"},
    {"ext_factor", Fault::nan,
     [](Call& c) {
       c.params.ext_factor = nan;
       c.run();
     },
     "ext_factor must be finite, got nan"},
    {"attn_factor", Fault::zero,
     [](Call& c) {
       c.params.attn_factor = 0;
       c.run();
     },
     nullptr, "a rotation by nothing; both ways are transposes, not inverses"},
    {"beta_fast", Fault::infinite,
     [](Call& c) {
       c.params.beta_fast = infinity;
       c.run();
     },
     "beta_fast must be finite, got inf"},
    {"b", Fault::null,
     [](Call& c) {
       c.missing = true;
       c.run();
     },
     "b must have data, got a null pointer"},
    {"b", Fault::negative,
     [](Call& c) {
       c.ids[1] = -5;
       c.run();
     },
     nullptr, "positions have a sign"},
    {"b, count", Fault::negative,
     [](Call& c) { (void)positions(c.params, PositionIds(c.ids.data(), -3), 3); },
     "b must hold one position per token (ne2 = 3), got -3"},
    {"tokens", Fault::negative, [](Call& c) { (void)positions(c.params, c.ids, -1); },
     "the number of tokens must not be negative, got -1"},
    {"tokens", Fault::huge,
     [](Call& c) { (void)positions(c.params, PositionIds(c.ids.data(), two_to_62), two_to_62); },
     "the number of bytes of all positions must fit a 64-bit count, got 4611686018427387904 x 16"},
    {"tokens of four axes that wrap to 0", Fault::huge,
     [](Call& c) {
       c.sections(mode_mrope, {2, 3, 3, 0});
       (void)positions(c.params, PositionIds(c.ids.data(), 0), two_to_62);
     },
     "the number of positions must fit a 64-bit count, got 4611686018427387904 x 4"},
    {"a's ne without elements", Fault::huge,
     [](Call& c) {
       c.a.ne = c.dst.ne = {16, 0, two_to_62, 1};
       c.run();
     },
     "b must hold one position per token (ne2 = 4611686018427387904), got 3"},
    {"a's ne whose elements wrap to 0", Fault::huge,
     [](Call& c) {
       c.a.ne = {16, Index{1} << 60, 1, 1};
       c.run();
     },
     "the number of elements must fit a 64-bit count, got 16 x 1152921504606846976"},
    {"dense strides, ne", Fault::huge,
     [](Call&) {
       (void)dense_strides(ScalarType::f32, {two_to_62, 1, 1, 1});
     },
     "the number of bytes must fit a 64-bit count, got 4 x 4611686018427387904"},
    {"dense strides, ne", Fault::negative,
     [](Call&) {
       (void)dense_strides(ScalarType::f32, {16, -1, 1, 1});
     },
     "ne1 must not be negative, got -1"},
    {"a's nb[2]", Fault::huge,
     [](Call& c) {
       c.a.nb[2] = std::size_t{1} << 62;
       c.run();
     },
     "the span of a strided view must fit 60 bits, got stride 1152921504606846976 over 3 rows"},
    {"dst's nb[2]", Fault::huge,
     [](Call& c) {
       c.dst.nb[2] = std::size_t{1} << 61;
       c.run();
     },
     "the span of a strided view must fit 60 bits, got stride 576460752303423488 over 3 rows"},
    {"dst and a", Fault::aliasing,
     [](Call& c) {
       c.a.data = c.y;
       c.run();
     },
     nullptr, "the same rows: in place"},
    {"a's type", Fault::unknown,
     [](Call& c) {
       c.bfloat16();
       c.run();
     },
     nullptr, "peer: ggml claims bfloat16 and aborts"},
    {"ne0 with an even n_dims", Fault::odd,
     [](Call& c) {
       c.params.n_dims = 8;
       c.odd();
       c.run();
     },
     nullptr, "peer: ggml writes one float past the output; here the last element is copied"},
    {"n_offs, backward", Fault::too_large,
     [](Call& c) {
       c.params.n_dims = 8;
       c.params.n_offs = 8;
       rope_multi_back(c.dst, c.a, c.ids, c.params);
       EXPECT_EQ(std::memcmp(c.y, c.x, 32), 0) << "what is before the window is copied";
     },
     nullptr, "peer: ggml, the backward of a windowed rotation ignores the offset"},
    {"freq_factors", Fault::too_large,
     [](Call& c) {
       c.params.freq_factors.assign(20, 1.0F);
       c.run();
     },
     nullptr, "more than needed are ignored, as ggml does"},
    {"nb of an axis of one", Fault::odd,
     [](Call& c) {
       c.a.nb[3] = 3;
       c.run();
     },
     nullptr, "it is never used"},
    {"a without elements", Fault::null,
     [](Call& c) {
       c.a.data = c.dst.data = nullptr;
       c.a.ne = c.dst.ne = {16, 2, 0, 1};
       c.ids.clear();
       c.run();
     },
     nullptr, "there is nothing to read"},
    {"mode of rope_ext", Fault::unknown,
     [](Call& c) {
       c.sections(mode_mrope, {2, 3, 3, 0});
       rope_ext(c.dst, c.a, c.ids, c.params);
     },
     "mode of rope_ext must be 0 (normal) or 2 (neox); rope_multi takes sections, got 8"},
    {"mode of rope_ext_back", Fault::unknown,
     [](Call& c) {
       c.sections(mode_mrope, {2, 3, 3, 0});
       rope_ext_back(c.dst, c.a, c.ids, c.params);
     },
     "mode of rope_ext_back must be 0 (normal) or 2 (neox); rope_multi takes sections, got 8"},
    {"mode of rope_ext_inplace", Fault::unknown,
     [](Call& c) {
       c.sections(mode_mrope, {2, 3, 3, 0});
       rope_ext_inplace(c.dst, c.ids, c.params);
     },
     "mode of rope_ext_inplace must be 0 (normal) or 2 (neox); rope_multi takes sections, got 8"},
    {"scalar of a float recurrence", Fault::unknown,
     [](Call& c) {
       (void)cos_sin_cache<double>(c.params, c.ids, 16, 3, ggml::Precision::float_recurrence);
     },
     "the table of a float recurrence must be float, got f64"},
    {"yarn_corr_dims, n_dims", Fault::zero,
     [](Call& c) {
       c.params.n_dims = 0;
       (void)yarn_corr_dims(c.params);
     },
     "n_dims must be positive, got 0"},
    {"yarn_corr_dims, freq_base", Fault::too_small,
     [](Call& c) {
       c.params.freq_base = 1;
       (void)yarn_corr_dims(c.params);
     },
     "freq_base must not be 1 (its logarithm divides), got 1"},
    {"pairing, ne0", Fault::negative, [](Call& c) { (void)pairing(c.params, int64_min); },
     "n_dims must be at most ne0 = -9223372036854775808, got 16"},
};

const Area calls_area("ggml's operators", calls);
TEST(BadInput, Ggml) { expect_refusals(calls); }

}  // namespace
}  // namespace eigen_rope::test::ggml_tests
