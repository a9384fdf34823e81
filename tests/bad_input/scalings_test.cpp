// SPDX-License-Identifier: Apache-2.0
//
// Bad input: the parameters of scalings, by themselves and as one value chosen when the program
// runs.
#include "bad_input/bad_input.hpp"
#include "eigen_rope/choices/dynamic_ntk.hpp"
#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/scaling.hpp"
#include "support/yarn.hpp"

namespace eigen_rope::test::scalings_tests {
namespace {

using F = Frequencies;

Yarn<> with(void (*change)(Yarn<>&)) {
  Yarn<> yarn = test::yarn_of(4.0, 4096);
  change(yarn);
  return yarn;
}

LongRope<> long_rope(void (*change)(LongRope<>&)) {
  LongRope<> scaling{{1, 1, 1, 1}, {2, 2, 2, 2}, 4096, 4.0, LongRopeMagnitude::from_factor};
  change(scaling);
  return scaling;
}

const Cell<Memory> scalings[] = {
    {"ggml yarn, ext factor", Fault::nan, [](Memory&) { (void)F({8}, GgmlYarn<>{nan}); },
     "ext factor must be finite, got nan"},
    {"ggml yarn, ext factor", Fault::infinite, [](Memory&) { (void)F({8}, GgmlYarn<>{infinity}); },
     "ext factor must be finite, got inf"},
    {"ggml yarn, original context", Fault::negative,
     [](Memory&) {
       (void)F({8}, GgmlYarn<>{1.0, -1});
     },
     "original context must not be negative, got -1"},
    {"ggml yarn, original context", Fault::zero,
     [](Memory&) {
       (void)F({8}, GgmlYarn<>{1.0, 0});
     },
     nullptr, "as ggml: the ramp ends before the first pair"},
    {"ggml yarn, original context", Fault::huge,
     [](Memory&) {
       (void)F({8}, GgmlYarn<>{1.0, int64_max});
     },
     nullptr, "the ramp begins behind the last pair"},
    {"ggml yarn, beta fast", Fault::negative,
     [](Memory&) {
       (void)F({8}, GgmlYarn<>{1.0, 4096, -1.0});
     },
     "beta fast must be finite and not negative, got -1"},
    {"ggml yarn, beta fast", Fault::infinite,
     [](Memory&) {
       (void)F({8}, GgmlYarn<>{1.0, 4096, infinity});
     },
     "beta fast must be finite and not negative, got inf"},
    {"ggml yarn, beta fast", Fault::zero,
     [](Memory&) {
       (void)F({8}, GgmlYarn<>{1.0, 4096, 0.0});
     },
     nullptr, "as ggml: infinite before it is clamped"},
    {"ggml yarn, beta slow", Fault::negative,
     [](Memory&) {
       (void)F({8}, GgmlYarn<>{1.0, 4096, 32.0, -0.5});
     },
     "beta slow must be finite and not negative, got -0.5"},
    {"ggml yarn, beta slow", Fault::nan,
     [](Memory&) {
       (void)F({8}, GgmlYarn<>{1.0, 4096, 32.0, nan});
     },
     "beta slow must be finite and not negative, got nan"},
    {"ggml yarn, base", Fault::too_small,
     [](Memory&) {
       (void)F({8, 1.0}, GgmlYarn<>{1.0, 4096});
     },
     "base must not be 1 with YaRN, whose correction dims divide by its logarithm, got 1"},
    {"ggml yarn, rotary dims", Fault::odd,
     [](Memory&) {
       (void)F({7}, GgmlYarn<>{1.0, 4096});
     },
     "rotary dims must be even, got 7"},
    {"ggml yarn, linear scale", Fault::zero,
     [](Memory&) {
       (void)F({8, 1e4, 0}, GgmlYarn<>{0.0, 4096});
     },
     "linear scale must be finite and greater than 0, got 0",
     "peer: ggml, freq_scale <= 0 with YaRN gives NaN silently"},
    {"ggml yarn, rotary dims", Fault::huge,
     [](Memory&) {
       (void)F({two_to_62}, GgmlYarn<>{1.0, 4096});
     },
     "the number of bytes of all rates must fit a 64-bit count, got 2305843009213693952 x 16"},
    {"llama3, factor", Fault::zero, [](Memory&) { (void)F({8}, Llama3<>{0.0}); },
     "llama3 factor must be finite and greater than 0, got 0"},
    {"llama3, factor", Fault::nan, [](Memory&) { (void)F({8}, Llama3<>{nan}); },
     "llama3 factor must be finite and greater than 0, got nan"},
    {"llama3, low freq factor", Fault::negative,
     [](Memory&) {
       (void)F({8}, Llama3<>{8.0, -1.0});
     },
     "low freq factor must be finite and not negative, got -1"},
    {"llama3, high freq factor", Fault::infinite,
     [](Memory&) {
       (void)F({8}, Llama3<>{8.0, 1.0, infinity});
     },
     "high freq factor must be finite and not negative, got inf"},
    {"llama3, high freq factor", Fault::too_small,
     [](Memory&) {
       (void)F({8}, Llama3<>{8.0, 4.0, 1.0});
     },
     "high freq factor must be at least the low freq factor (4), got 1"},
    {"llama3, original context", Fault::negative,
     [](Memory&) {
       (void)F({8}, Llama3<>{8.0, 1.0, 4.0, -1});
     },
     "original context must not be negative, got -1"},
    {"llama3, original context", Fault::huge,
     [](Memory&) {
       (void)F({8}, Llama3<>{8.0, 1.0, 4.0, int64_max});
     },
     nullptr, "every pair is fast"},
    {"llama3, rotary dims", Fault::odd, [](Memory&) { (void)F({7}, Llama3<>{}); },
     "rotary dims must be even, got 7"},
    {"linear, factor", Fault::zero, [](Memory&) { (void)F({8}, Linear<>{0}); },
     "factor must be finite and greater than 0, got 0"},
    {"linear, factor", Fault::negative, [](Memory&) { (void)F({8}, Linear<>{-2}); },
     "factor must be finite and greater than 0, got -2"},
    {"linear, factor", Fault::nan, [](Memory&) { (void)F({8}, Linear<>{nan}); },
     "factor must be finite and greater than 0, got nan"},
    {"linear, factor", Fault::infinite, [](Memory&) { (void)F({8}, Linear<>{infinity}); },
     "factor must be finite and greater than 0, got inf"},
    {"linear, rotary dims", Fault::odd, [](Memory&) { (void)F({7}, Linear<>{2}); },
     "rotary dims must be even, got 7"},
    {"proportional, factor", Fault::zero,
     [](Memory&) {
       (void)F({8}, Proportional<>{0.0, 2});
     },
     "factor must be finite and greater than 0, got 0"},
    {"proportional, rotated pairs", Fault::negative,
     [](Memory&) {
       (void)F({8}, Proportional<>{1.0, -1});
     },
     "rotated pairs must be from 0 to all of them (4), got -1"},
    {"proportional, rotated pairs", Fault::too_large,
     [](Memory&) {
       (void)F({8}, Proportional<>{1.0, 5});
     },
     "rotated pairs must be from 0 to all of them (4), got 5"},
    {"proportional, rotated pairs", Fault::huge,
     [](Memory&) {
       (void)F({8}, Proportional<>{1.0, two_to_62});
     },
     "rotated pairs must be from 0 to all of them (4), got 4611686018427387904"},
    {"dynamic ntk, factor", Fault::zero,
     [](Memory&) {
       (void)F({8}, DynamicNtkScaling<>{0.0, 100}, 1);
     },
     "factor must be finite and greater than 0, got 0"},
    {"dynamic ntk, original context", Fault::zero,
     [](Memory&) {
       (void)F({8}, DynamicNtkScaling<>{1.0, 0}, 1);
     },
     "original context must be positive, got 0"},
    {"dynamic ntk, original context", Fault::negative,
     [](Memory&) {
       (void)F({8}, DynamicNtkScaling<>{1.0, int64_min}, 1);
     },
     "original context must be positive, got -9223372036854775808"},
    {"dynamic ntk, length", Fault::negative,
     [](Memory&) {
       (void)F({8}, DynamicNtkScaling<>{1.0, 1}, -1);
     },
     "length must not be negative, got -1"},
    {"dynamic ntk, length", Fault::huge,
     [](Memory&) {
       (void)F({4, 1e300}, DynamicNtkScaling<>{1.0, 1}, int64_max);
     },
     "length must not be so large that the base overflows, got 9223372036854775807"},
    {"dynamic ntk, rotary dims", Fault::too_small,
     [](Memory&) {
       (void)F({2}, DynamicNtkScaling<>{1.0, 1}, 2);
     },
     "rotary dims must be greater than 2 for NTK scaling, got 2"},
    {"DynamicNtk, factor", Fault::zero,
     [](Memory&) {
       (void)DynamicNtk({8}, {0.0, 100});
     },
     "factor must be finite and greater than 0, got 0"},
    {"DynamicNtk, length", Fault::negative,
     [](Memory&) {
       DynamicNtk({8}, {2.0, 100}).update(-1);
     },
     "length must not be negative, got -1"},
    {"DynamicNtk, length", Fault::huge,
     [](Memory&) {
       DynamicNtk({4, 1e300}, {2.0, 100}).update(int64_max);
     },
     "length must not be so large that the base overflows, got 9223372036854775807"},
    {"ntk, factor", Fault::nan,
     [](Memory&) {
       (void)F({8}, NtkScaling<>{nan, 1});
     },
     "factor must be finite and greater than 0, got nan"},
    {"ntk, mixed_b", Fault::negative,
     [](Memory&) {
       (void)F({8}, NtkScaling<>{1, -1});
     },
     "mixed_b must be finite and not negative, got -1"},
    {"ntk, mixed_b", Fault::infinite,
     [](Memory&) {
       (void)F({8}, NtkScaling<>{1, infinity});
     },
     "mixed_b must be finite and not negative, got inf"},
    {"yarn, factor", Fault::negative,
     [](Memory&) { (void)F({8}, with([](Yarn<>& y) { y.factor = -4; })); },
     "factor must be finite and greater than 0, got -4"},
    {"yarn, original context", Fault::zero,
     [](Memory&) { (void)F({8}, with([](Yarn<>& y) { y.original_context = 0; })); },
     "original context must be positive, got 0"},
    {"yarn, beta fast", Fault::zero,
     [](Memory&) { (void)F({8}, with([](Yarn<>& y) { y.beta_fast = 0; })); },
     "beta fast must be finite and greater than 0, got 0"},
    {"yarn, beta slow", Fault::nan,
     [](Memory&) { (void)F({8}, with([](Yarn<>& y) { y.beta_slow = nan; })); },
     "beta slow must be finite and greater than 0, got nan"},
    {"yarn, base", Fault::too_small,
     [](Memory&) {
       (void)F({8, 1.0}, with([](Yarn<>&) {}));
     },
     "base must not be 1 with YaRN, whose correction dims divide by its logarithm, got 1"},
    {"yarn, mscale", Fault::infinite,
     [](Memory&) { (void)F({8}, with([](Yarn<>& y) { y.mscale = infinity; })); },
     "mscale must be finite, got inf"},
    {"yarn, mscale all dim", Fault::infinite,
     [](Memory&) { (void)F({8}, with([](Yarn<>& y) { y.mscale_all_dim = -infinity; })); },
     "mscale all dim must be finite, got -inf"},
    {"yarn, extrapolation", Fault::nan,
     [](Memory&) { (void)F({8}, with([](Yarn<>& y) { y.extrapolation = nan; })); },
     "extrapolation must be finite, got nan"},
    {"yarn, rotary dims", Fault::odd, [](Memory&) { (void)F({7}, with([](Yarn<>&) {})); },
     "rotary dims must be even, got 7"},
    {"longrope, short factor", Fault::wrong_length,
     [](Memory&) { (void)F({8}, long_rope([](LongRope<>& l) { l.short_factor = {1}; }), 1); },
     "short factor must be one per pair (4), got 1",
     "peer: ggml, freq factors shorter than dims/2 are read past their end"},
    {"longrope, long factor", Fault::wrong_length,
     [](Memory&) { (void)F({8}, long_rope([](LongRope<>& l) { l.long_factor.push_back(1); }), 1); },
     "long factor must be one per pair (4), got 5"},
    {"longrope, short factor", Fault::zero,
     [](Memory&) { (void)F({8}, long_rope([](LongRope<>& l) { l.short_factor[1] = 0; }), 1); },
     "short factor 1 must be finite and not 0, got 0"},
    {"longrope, long factor", Fault::infinite,
     [](Memory&) {
       (void)F({8}, long_rope([](LongRope<>& l) { l.long_factor[0] = infinity; }), 1);
     },
     "long factor 0 must be finite and not 0, got inf"},
    {"longrope, original context", Fault::zero,
     [](Memory&) { (void)F({8}, long_rope([](LongRope<>& l) { l.original_context = 0; }), 1); },
     "original context must be positive, got 0"},
    {"longrope, original context", Fault::too_small,
     [](Memory&) { (void)F({8}, long_rope([](LongRope<>& l) { l.original_context = 1; }), 1); },
     "original context must be greater than 1 with LongRoPE, whose magnitude divides by its "
     "logarithm, got 1"},
    {"longrope, factor", Fault::nan,
     [](Memory&) { (void)F({8}, long_rope([](LongRope<>& l) { l.factor = nan; }), 1); },
     "factor must be finite and greater than 0, got nan"},
    {"longrope, length", Fault::negative,
     [](Memory&) { (void)F({8}, long_rope([](LongRope<>&) {}), -1); },
     "length must not be negative, got -1"},
    {"longrope, length", Fault::huge,
     [](Memory&) { (void)F({8}, long_rope([](LongRope<>&) {}), int64_max); }, nullptr,
     "only longer than the original context or not"},
    {"longrope, factors of the powers", Fault::wrong_length,
     [](Memory&) {
       (void)F({8, 1e4, 1, 1, {1, 1, 1, 1}}, long_rope([](LongRope<>&) {}), 1);
     },
     "frequency factors must be empty with LongRoPE, which brings its own, got 4"},
    {"yarn softmax multiplier, factor", Fault::zero,
     [](Memory&) { (void)yarn_softmax_multiplier(0.0, 1.0); },
     "factor must be finite and greater than 0, got 0"},
    {"yarn softmax multiplier, mscale all dim", Fault::infinite,
     [](Memory&) { (void)yarn_softmax_multiplier(1.0, infinity); },
     "mscale all dim must be finite, got inf"},
    {"a scaling chosen, length", Fault::negative,
     [](Memory&) { (void)Frequencies({8}, Unscaled<>{}, -1); },
     "length must not be negative, got -1"},
    {"a scaling chosen, factor", Fault::zero, [](Memory&) { (void)Frequencies({8}, Linear<>{0}); },
     "factor must be finite and greater than 0, got 0"},
    {"a scaling chosen, rotary dims", Fault::odd,
     [](Memory&) { (void)Frequencies({7}, Llama3<>{}); }, "rotary dims must be even, got 7"},
};

const Area scalings_area("scalings", scalings);
TEST(BadInput, Scalings) { expect_refusals(scalings); }

}  // namespace
}  // namespace eigen_rope::test::scalings_tests
