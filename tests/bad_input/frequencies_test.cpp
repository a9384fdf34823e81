// SPDX-License-Identifier: Apache-2.0
//
// Bad input: the parameters of frequencies.
#include "eigen_rope/choices/frequencies.hpp"
#include "bad_input/bad_input.hpp"

namespace eigen_rope::test::frequencies_tests {
namespace {

using F = Frequencies;
using Rates = std::vector<double>;

constexpr const char* overflowing =
    "a rate, a divisor or a magnitude beyond double is refused where it arises";

const Cell<Memory> powers[] = {
    {"powers, rotary dims", Fault::zero, [](Memory&) { (void)F::powers({0}); },
     "rotary dims must be positive, got 0", "peer: ggml, n_dims 0 loops for ever"},
    {"powers, rotary dims", Fault::negative, [](Memory&) { (void)F::powers({-8}); },
     "rotary dims must be positive, got -8", "peer: ggml, negative n_dims loop for ever"},
    {"powers, rotary dims", Fault::odd, [](Memory&) { (void)F::powers({7}); },
     "rotary dims must be even, got 7", "peer: ggml and ONNX Runtime, odd dims"},
    {"powers, rotary dims", Fault::huge, [](Memory&) { (void)F::powers({two_to_62}); },
     "the number of bytes of all rates must fit a 64-bit count, got 2305843009213693952 x 16"},
    {"powers, rotary dims", Fault::huge, [](Memory&) { (void)F::powers({int64_max}); },
     "rotary dims must be even, got 9223372036854775807"},
    {"powers, rotary dims", Fault::huge, [](Memory&) { (void)F::powers({int64_max - 1}); },
     "the number of bytes of all rates must fit a 64-bit count, got 4611686018427387903 x 16"},
    {"powers, base", Fault::zero,
     [](Memory&) {
       (void)F::powers({8, 0.0});
     },
     "base must be finite and greater than 0, got 0", "peer: ggml, base <= 0 gives NaN silently"},
    {"powers, base", Fault::negative,
     [](Memory&) {
       (void)F::powers({8, -10000.0});
     },
     "base must be finite and greater than 0, got -10000",
     "peer: ggml, base <= 0 gives NaN silently"},
    {"powers, base", Fault::infinite,
     [](Memory&) {
       (void)F::powers({8, infinity});
     },
     "base must be finite and greater than 0, got inf"},
    {"powers, base", Fault::nan,
     [](Memory&) {
       (void)F::powers({8, nan});
     },
     "base must be finite and greater than 0, got nan"},
    {"powers, base", Fault::nan,
     [](Memory&) {
       (void)F::powers({8, -nan});
     },
     "base must be finite and greater than 0, got nan"},
    {"powers, base", Fault::too_small,
     [](Memory&) {
       (void)F::powers({8, 1e-300, 1, 1, {}, {}, 2});
     },
     "rate 2 must be finite, got inf", overflowing},
    {"powers, base", Fault::huge,
     [](Memory&) {
       (void)F::powers({8, 1e300});
     },
     nullptr, "rates underflow to slow pairs, as the formula has it"},
    {"powers, linear scale", Fault::zero,
     [](Memory&) {
       (void)F::powers({8, 1e4, 0});
     },
     "linear scale must be finite and greater than 0, got 0",
     "peer: ggml, freq_scale <= 0 with YaRN gives NaN silently"},
    {"powers, linear scale", Fault::negative,
     [](Memory&) {
       (void)F::powers({8, 1e4, -0.25});
     },
     "linear scale must be finite and greater than 0, got -0.25",
     "peer: ggml, freq_scale <= 0 with YaRN gives NaN silently"},
    {"powers, linear scale", Fault::infinite,
     [](Memory&) {
       (void)F::powers({8, 1e4, infinity});
     },
     "linear scale must be finite and greater than 0, got inf"},
    {"powers, linear scale", Fault::nan,
     [](Memory&) {
       (void)F::powers({8, 1e4, nan});
     },
     "linear scale must be finite and greater than 0, got nan"},
    {"powers, attention factor", Fault::infinite,
     [](Memory&) {
       (void)F::powers({8, 1e4, 1, -infinity});
     },
     "attention factor must be finite, got -inf"},
    {"powers, attention factor", Fault::nan,
     [](Memory&) {
       (void)F::powers({8, 1e4, 1, nan});
     },
     "attention factor must be finite, got nan"},
    {"powers, attention factor", Fault::zero,
     [](Memory&) {
       (void)F::powers({8, 1e4, 1, 0});
     },
     nullptr, "a rotation by nothing, whose inverse is refused"},
    {"powers, attention factor", Fault::negative,
     [](Memory&) {
       (void)F::powers({8, 1e4, 1, -1});
     },
     nullptr, "half a turn more"},
    {"powers, factors", Fault::wrong_length,
     [](Memory&) {
       (void)F::powers({8, 1e4, 1, 1, {1, 2, 3}});
     },
     "frequency factors must be at least one per pair (4), got 3",
     "peer: ggml, freq factors shorter than dims/2 are read past their end"},
    {"powers, factors", Fault::too_large,
     [](Memory&) {
       (void)F::powers({8, 1e4, 1, 1, {1, 2, 3, 4, 0}});
     },
     nullptr, "more than one per pair are ignored, as ggml does"},
    {"powers, factors", Fault::zero,
     [](Memory&) {
       (void)F::powers({8, 1e4, 1, 1, {1, 2, 0, 4}});
     },
     "frequency factor 2 must be finite and not 0, got 0",
     "peer: ggml, frequency factor 0 gives NaN silently"},
    {"powers, factors", Fault::nan,
     [](Memory&) {
       (void)F::powers({8, 1e4, 1, 1, {1, nan, 1, 1}});
     },
     "frequency factor 1 must be finite and not 0, got nan",
     "peer: ggml, frequency factor NaN passes silently"},
    {"powers, factors", Fault::infinite,
     [](Memory&) {
       (void)F::powers({8, 1e4, 1, 1, {1, 1, 1, infinity}});
     },
     "frequency factor 3 must be finite and not 0, got inf"},
    {"powers, factors", Fault::too_small,
     [](Memory&) {
       (void)F::powers({8, 1e4, 1, 1, {1e-310, 1, 1, 1}});
     },
     "rate 0 must be finite, got nan", overflowing},
    {"powers, factors", Fault::negative,
     [](Memory&) {
       (void)F::powers({8, 1e4, 1, 1, {-1, 1, 1, 1}});
     },
     nullptr, "a pair that turns the other way"},
    {"powers, exponents", Fault::wrong_length,
     [](Memory&) {
       (void)F::powers({8, 1e4, 1, 1, {}, {0, 1, 2}});
     },
     "exponents must be one per pair (4), got 3"},
    {"powers, exponents", Fault::wrong_length,
     [](Memory&) {
       (void)F::powers({8, 1e4, 1, 1, {}, {0, 1, 2, 3, 4}});
     },
     "exponents must be one per pair (4), got 5"},
    {"powers, exponents", Fault::negative,
     [](Memory&) {
       (void)F::powers({8, 1e4, 1, 1, {}, {0, -1, 2, 3}});
     },
     nullptr, "any power of the base"},
    {"powers, exponents", Fault::huge,
     [](Memory&) {
       (void)F::powers({8, 1e4, 1, 1, {}, {0, int64_min, 2, 3}});
     },
     "rate 1 must be finite, got inf", overflowing},
    {"powers, exponent dims", Fault::negative,
     [](Memory&) {
       (void)F::powers({8, 1e4, 1, 1, {}, {}, -2});
     },
     "exponent dims must not be negative, got -2"},
    {"powers, exponent dims", Fault::huge,
     [](Memory&) {
       (void)F::powers({8, 1e4, 1, 1, {}, {}, int64_max});
     },
     nullptr, "all rates near 1"},
    {"explicit rates", Fault::wrong_length, [](Memory&) { (void)F::explicit_rates(Rates{}); },
     "the number of rates must be positive, got 0"},
    {"explicit rates", Fault::nan,
     [](Memory&) {
       (void)F::explicit_rates(Rates{1, nan});
     },
     "rate 1 must be finite, got nan"},
    {"explicit rates", Fault::infinite, [](Memory&) { (void)F::explicit_rates(Rates{-infinity}); },
     "rate 0 must be finite, got -inf"},
    {"explicit rates", Fault::zero, [](Memory&) { (void)F::explicit_rates(Rates{0}); }, nullptr,
     "a pair that does not turn"},
    {"explicit rates, attention factor", Fault::infinite,
     [](Memory&) { (void)F::explicit_rates(Rates{1}, infinity); },
     "attention factor must be finite, got inf"},
    {"explicit rates of two parts", Fault::wrong_length,
     [](Memory&) { (void)F::explicit_rates(std::vector<DoubleDouble>{}, DoubleDouble(1)); },
     "the number of rates must be positive, got 0"},
    {"explicit rates of two parts", Fault::nan,
     [](Memory&) {
       (void)F::explicit_rates({DoubleDouble(1), DoubleDouble(1, nan)}, DoubleDouble(1));
     },
     "rate 1 must be finite, got nan"},
    {"explicit rates of two parts, attention factor", Fault::nan,
     [](Memory&) { (void)F::explicit_rates({DoubleDouble(1)}, DoubleDouble(1, nan)); },
     "attention factor must be finite, got nan"},
    {"ntk base, dims", Fault::too_small, [](Memory&) { (void)ntk_base(2, 10000, 4); },
     "rotary dims must be greater than 2 for NTK scaling, got 2"},
    {"ntk base, dims", Fault::negative, [](Memory&) { (void)ntk_base(int64_min, 10000, 4); },
     "rotary dims must be greater than 2 for NTK scaling, got -9223372036854775808"},
    {"ntk base, base", Fault::zero, [](Memory&) { (void)ntk_base(128, 0, 4); },
     "base must be finite and greater than 0, got 0"},
    {"ntk base, base", Fault::infinite, [](Memory&) { (void)ntk_base(128, infinity, 4); },
     "base must be finite and greater than 0, got inf"},
    {"ntk base, factor", Fault::zero, [](Memory&) { (void)ntk_base(128, 10000, 0); },
     "factor must be finite and greater than 0, got 0"},
    {"ntk base, factor", Fault::nan, [](Memory&) { (void)ntk_base(128, 10000, nan); },
     "factor must be finite and greater than 0, got nan"},
    {"yarn correction dims, dims", Fault::zero,
     [](Memory&) { (void)yarn_correction_dims(0, 10000, {}); },
     "rotary dims must be positive, got 0"},
    {"yarn correction dims, dims", Fault::negative,
     [](Memory&) { (void)yarn_correction_dims(int64_min, 10000, {}); },
     "rotary dims must be positive, got -9223372036854775808"},
    {"yarn correction dims, base", Fault::negative,
     [](Memory&) { (void)yarn_correction_dims(128, -1, {}); },
     "base must be finite and greater than 0, got -1"},
    {"yarn correction dims, base", Fault::too_small,
     [](Memory&) { (void)yarn_correction_dims(128, 1, {}); },
     "base must not be 1 with YaRN, whose correction dims divide by its logarithm, got 1"},
    {"partial rotary dims, head dims", Fault::zero,
     [](Memory&) { (void)partial_rotary_dims(0, 0.5); }, "head dims must be positive, got 0"},
    {"partial rotary dims, head dims", Fault::negative,
     [](Memory&) { (void)partial_rotary_dims(-128, 0.5); }, "head dims must be positive, got -128"},
    {"partial rotary dims, head dims", Fault::odd,
     [](Memory&) { (void)partial_rotary_dims(10, 0.5); },
     "head dims times the rotated fraction (10 * 0.5) must be even and not 0, got 5"},
    {"partial rotary dims, head dims", Fault::huge,
     [](Memory&) { (void)partial_rotary_dims(int64_max, 1); },
     "head dims times the rotated fraction (9223372036854775807 * 1) must be even and not 0, got "
     "9223372036854775807"},
    {"partial rotary dims, fraction", Fault::zero,
     [](Memory&) { (void)partial_rotary_dims(128, 0); },
     "head dims times the rotated fraction (128 * 0) must be even and not 0, got 0"},
    {"partial rotary dims, fraction", Fault::negative,
     [](Memory&) { (void)partial_rotary_dims(128, -0.5); },
     "the rotated fraction must be from 0 to 1, got -0.5"},
    {"partial rotary dims, fraction", Fault::too_large,
     [](Memory&) { (void)partial_rotary_dims(128, 1.5); },
     "the rotated fraction must be from 0 to 1, got 1.5"},
    {"partial rotary dims, fraction", Fault::nan,
     [](Memory&) { (void)partial_rotary_dims(128, nan); },
     "the rotated fraction must be from 0 to 1, got nan"},
    {"proportional pairs, head dims", Fault::zero,
     [](Memory&) { (void)proportional_pairs(0, 0.5); }, "head dims must be positive, got 0"},
    {"proportional pairs, head dims", Fault::huge,
     [](Memory&) { EXPECT_EQ(proportional_pairs(int64_max, 1), int64_max / 2); }, nullptr,
     "half of them, without a double in between"},
    {"proportional pairs, fraction", Fault::infinite,
     [](Memory&) { (void)proportional_pairs(8, infinity); },
     "the rotated fraction must be from 0 to 1, got inf"},
};

const Area powers_area("powers and rates", powers);
TEST(BadInput, Powers) { expect_refusals(powers); }

}  // namespace
}  // namespace eigen_rope::test::frequencies_tests
