// SPDX-License-Identifier: Apache-2.0
//
// Bad input: gradients, of rotations and on to the parameters of frequencies.
#include <algorithm>
#include <utility>

#include "bad_input/bad_input.hpp"
#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/gradients/parameter_gradients.hpp"
#include "eigen_rope/gradients/scaling_gradients.hpp"
#include "eigen_rope/gradients/table_gradient.hpp"
#include "eigen_rope/gradients/xpos_gradients.hpp"
#include "support/yarn.hpp"

namespace eigen_rope::test::gradients_tests {
namespace {

using View = StridedView<float>;

/// x (or y), g and dx of three rows of four, and a table of two pairs for each.
struct Pass : Memory {
  float* memory = array<float>(128);
  float* cos = array<float>(16);
  float* sin = array<float>(16);
  double* sums = array<double>(32);
  TableView<float> table{cos, sin, 2, Shape{3}};
  View u{memory, Shape{4, 3}, {4}};
  View g{memory + 32, Shape{4, 3}, {4}};
  View dx{memory + 64, Shape{4, 3}, {4}};
  TableGradient<double> gradient{sums, sums + 16, 2, Shape{3}};
  Wanted wanted = Wanted::angle | Wanted::log_magnitude | Wanted::table;

  Pass() {
    std::fill(cos, cos + 16, 0.75F);
    std::fill(sin, sin + 16, 0.5F);
  }
  void without_dx() const { (void)gradients(u, g, table, split_half, {wanted}); }
  void from_output(Pairing pairing = split_half) const {
    (void)gradients_to(dx, u, g, table, pairing, {wanted});
  }
  void from_input(Pairing pairing = split_half) const {
    (void)gradients_to(dx, u, g, table, pairing, {wanted, GradientsFrom::input});
  }
  void of_table(Pairing pairing = split_half) const { table_gradient(gradient, u, g, pairing); }
};

/// Gradients of a table of two pairs and three tokens, as gradients() would give them.
struct Sums : Memory {
  Gradients<double> d;
  Positions positions = Positions::range(0, 3);
  Frequencies frequencies = Frequencies::powers({4});
  Layout layout = Layout::sd();

  Sums() {
    d.pairs = d.width = 2;
    d.outer = {3};
    d.angle = d.log_magnitude = d.cos = d.sin = std::vector<double>(6, 1.0);
  }
  void rates() const { (void)rate_gradients(d, positions, layout); }
  void of_positions() const { (void)position_gradients(d, frequencies, positions, layout); }
  void attention() const { (void)attention_factor_gradient(d, frequencies, positions, layout); }
  void xpos(const Xpos& parameters = {}) const {
    (void)xpos_gradients(d, positions, parameters, XposSide::key, layout);
  }
  void no_magnitude() { frequencies = Frequencies::powers({4, 1e4, 1, 0}); }
};

const RateGradients four{{1, 1, 1, 1}, 1};
const RateGradients three{{1, 1, 1}, 1};
const std::vector<double> ones(4, 1);

constexpr const char* no_data = "a strided view must have data, got a null pointer";
constexpr const char* no_table = "the table must have cos and sin, got a null pointer";
constexpr const char* per_pair = "the gradients of the rates must be one per pair (4), got 3";
constexpr const char* too_many =
    "the number of bytes of the gradients must fit a 64-bit count, got 4611686018427387904 x 16";

const Cell<Pass> passes[] = {
    {"y", Fault::null,
     [](Pass& p) {
       p.u.data = nullptr;
       p.from_output();
     },
     no_data},
    {"x", Fault::null,
     [](Pass& p) {
       p.u.data = nullptr;
       p.from_input();
     },
     no_data},
    {"g", Fault::null,
     [](Pass& p) {
       p.g.data = nullptr;
       p.from_output();
     },
     no_data},
    {"dx", Fault::null,
     [](Pass& p) {
       p.dx.data = nullptr;
       p.from_output();
     },
     no_data},
    {"dx", Fault::missing,
     [](Pass& p) {
       p.dx = {};
       p.from_output();
     },
     "dx must have y's shape [4, 3], got []"},
    {"cos", Fault::null,
     [](Pass& p) {
       p.table.cos = nullptr;
       p.from_output();
     },
     no_table},
    {"sin", Fault::null,
     [](Pass& p) {
       p.table.sin = nullptr;
       p.from_input();
     },
     no_table},
    {"y", Fault::wrong_rank,
     [](Pass& p) {
       p.u = {p.memory, Shape{}, {}};
       p.from_output();
     },
     "a strided view must have at least the feature axis, got rank 0"},
    {"g", Fault::wrong_shape,
     [](Pass& p) {
       p.g.shape = {4, 2};
       p.from_output();
     },
     "g must have y's shape [4, 3], got [4, 2]"},
    {"g", Fault::wrong_rank,
     [](Pass& p) {
       p.g = {p.memory + 32, Shape{4, 3, 1}, {4, 12}};
       p.from_input();
     },
     "g must have x's shape [4, 3], got [4, 3, 1]"},
    {"dx", Fault::wrong_shape,
     [](Pass& p) {
       p.dx.shape = {4, 2};
       p.from_output();
     },
     "dx must have y's shape [4, 3], got [4, 2]"},
    {"g, strides", Fault::wrong_length,
     [](Pass& p) {
       p.g.strides = {4, 4};
       p.from_output();
     },
     "a strided view must have one stride for each of its 1 outer axes, got 2"},
    {"dx, strides", Fault::zero,
     [](Pass& p) {
       p.dx.strides = {0};
       p.from_output();
     },
     "strides must step over the 4 elements inside them, or rows share elements, got 0"},
    {"g, strides", Fault::zero,
     [](Pass& p) {
       p.g.strides = {0};
       p.from_output();
     },
     nullptr, "rows that are read may share elements"},
    {"y, strides", Fault::huge,
     [](Pass& p) {
       p.u.strides = {two_to_62};
       p.from_output();
     },
     "the span of a strided view must fit a 64-bit count, got 4611686018427387904 x 2"},
    {"y, strides out of the address space", Fault::huge,
     [](Pass& p) {
       p.u.strides = {-(Index{1} << 57)};
       p.without_dx();
     },
     "a strided view must lie within the address space (first and last element from its data), got "
     "-288230376151711744 and 3"},
    {"dx, strides out of the address space", Fault::huge,
     [](Pass& p) {
       p.dx.strides = {-(Index{1} << 57)};
       p.from_input();
     },
     "a strided view must lie within the address space (first and last element from its data), got "
     "-288230376151711744 and 3"},
    {"dx and y", Fault::overlapping,
     [](Pass& p) {
       p.dx.data = p.memory + 1;
       p.from_output();
     },
     "dx must be the same rows as y or not overlap them"},
    {"dx and x", Fault::overlapping,
     [](Pass& p) {
       p.dx.data = p.memory + 1;
       p.from_input();
     },
     "dx must be the same rows as x or not overlap them"},
    {"dx and g", Fault::overlapping,
     [](Pass& p) {
       p.dx.data = p.memory + 31;
       p.from_output();
     },
     "dx must be the same rows as g or not overlap them"},
    {"dx and g", Fault::aliasing,
     [](Pass& p) {
       p.dx = p.g;
       p.from_output();
     },
     nullptr, "the same rows: in place"},
    {"dx and cos", Fault::overlapping,
     [](Pass& p) {
       p.table.cos = p.memory + 70;
       p.from_output();
     },
     "the destination must not overlap the table"},
    {"rotary dims", Fault::odd, [](Pass& p) { p.from_output(split_half.with_rotary_dims(3)); },
     "rotary dims must be even, got 3"},
    {"rotary dims", Fault::huge,
     [](Pass& p) { p.from_output(split_half.with_rotary_dims(two_to_62)); },
     "rotary dims must be at most 4 (head size 4 less window offset 0), got 4611686018427387904"},
    {"table width", Fault::wrong_length,
     [](Pass& p) {
       p.table.width = 3;
       p.from_output();
     },
     "table width must be 2 (one entry per pair) or 4 (one per rotated element), got 3"},
    {"table extents", Fault::wrong_shape,
     [](Pass& p) {
       p.table.outer = {2};
       p.from_input();
     },
     "table must have 1 or 3 on axis 1 (counted outwards from the feature axis) for x with outer "
     "extents [3], got 2"},
    {"table feature axis", Fault::negative,
     [](Pass& p) {
       p.table.feature_axis = -1;
       p.from_input();
     },
     "the table's feature axis must be one of its 2 axes, counted from 0, got -1"},
    {"table feature axis", Fault::too_large,
     [](Pass& p) {
       p.table.feature_axis = 2;
       p.from_output();
     },
     "the table's feature axis must be one of its 2 axes, counted from 0, got 2"},
    {"full-width table from y", Fault::too_large,
     [](Pass& p) {
       p.table.width = 4;
       p.from_output();
     },
     "full-width tables need the rotation's input (options.from = "
     "eigen_rope::GradientsFrom::input) for more than dx, as y does not tell their members apart; "
     "table width, got 4"},
    {"table from y", Fault::zero,
     [](Pass& p) {
       std::fill(p.cos, p.cos + 2, 0.F);
       std::fill(p.sin, p.sin + 2, 0.F);
       p.remember();
       p.from_output();
     },
     "the table must have cos_A cos_B + sin_A sin_B != 0 everywhere to be inverted, got 0"},
    {"y without elements, table", Fault::huge,
     [](Pass& p) {
       p.u = p.g = {nullptr, Shape{4, 0, two_to_40}, {0, 0}};
       p.table.outer = {0, two_to_40};
       p.without_dx();
     },
     nullptr, "there is nothing to sum"},
    {"y without elements, sums", Fault::huge,
     [](Pass& p) {
       p.u = p.g = {nullptr, Shape{4, 0, two_to_62 / 8}, {0, 0}};
       p.table.outer = {1, two_to_62 / 8};
       p.without_dx();
     },
     "the number of bytes of the gradients must fit a 64-bit count, got 1152921504606846976 x 8"},
    {"y without elements, bytes of the table", Fault::huge,
     [](Pass& p) {
       p.u = p.g = {nullptr, Shape{4, 0, two_to_62 / 4}, {0, 0}};
       p.table.outer = {1, two_to_62 / 4};
       p.without_dx();
     },
     "the number of bytes of the table must fit a 64-bit count, got 2305843009213693952 x 4"},
    {"g", Fault::nan,
     [](Pass& p) {
       p.g.data[0] = std::numeric_limits<float>::quiet_NaN();
       p.from_output();
     },
     nullptr, "NaN passes through to the sums of its pair"},
    {"table gradient, cos", Fault::null,
     [](Pass& p) {
       p.gradient.cos = nullptr;
       p.of_table();
     },
     "the table's gradient must have data, got a null pointer"},
    {"table gradient, sin", Fault::null,
     [](Pass& p) {
       p.gradient.sin = nullptr;
       p.of_table();
     },
     "the table's gradient must have data, got a null pointer"},
    {"table gradient, x", Fault::null,
     [](Pass& p) {
       p.u.data = nullptr;
       p.of_table();
     },
     no_data},
    {"table gradient, width", Fault::wrong_length,
     [](Pass& p) {
       p.gradient.width = 3;
       p.of_table();
     },
     "table width must be 2 (one entry per pair) or 4 (one per rotated element), got 3"},
    {"table gradient, extents", Fault::wrong_shape,
     [](Pass& p) {
       p.gradient.outer = {2};
       p.of_table();
     },
     "table must have 1 or 3 on axis 1 (counted outwards from the feature axis) for x with outer "
     "extents [3], got 2"},
    {"table gradient, feature axis", Fault::negative,
     [](Pass& p) {
       p.gradient.feature_axis = -1;
       p.of_table();
     },
     "the table's feature axis must be one of its 2 axes, counted from 0, got -1"},
    {"table gradient, feature axis", Fault::too_large,
     [](Pass& p) {
       p.gradient.feature_axis = 2;
       p.of_table();
     },
     "the table's feature axis must be one of its 2 axes, counted from 0, got 2"},
    {"table gradient, g", Fault::wrong_shape,
     [](Pass& p) {
       p.g.shape = {4, 2};
       p.of_table();
     },
     "g must have x's shape [4, 3], got [4, 2]"},
    {"table gradient, cos and sin", Fault::overlapping,
     [](Pass& p) {
       p.gradient.sin = p.sums + 5;
       p.of_table();
     },
     "the gradients of cos and sin must not overlap"},
    {"table gradient, cos and x", Fault::overlapping,
     [](Pass& p) {
       p.u.data = reinterpret_cast<float*>(p.sums) + 2;
       p.of_table();
     },
     "the table's gradient must not overlap x or g"},
    {"table gradient, sin and g", Fault::overlapping,
     [](Pass& p) {
       p.g.data = reinterpret_cast<float*>(p.sums) + 40;
       p.of_table();
     },
     "the table's gradient must not overlap x or g"},
    {"table gradient without elements, extents", Fault::huge,
     [](Pass& p) {
       p.u = p.g = {nullptr, Shape{4, 0, two_to_62}, {0, 0}};
       p.gradient.outer = {1, two_to_62};
       p.of_table();
     },
     "the number of entries in the table must fit a 64-bit count, got 2 x 4611686018427387904"},
};

const Cell<Sums> parameters[] = {
    {"rate gradients, positions", Fault::wrong_length,
     [](Sums& s) {
       s.positions = Positions::range(0, 2);
       s.rates();
     },
     "the gradients must be of a table with the outer extents these positions give [2], got [3]"},
    {"rate gradients, angles", Fault::missing,
     [](Sums& s) {
       s.d.angle.clear();
       s.rates();
     },
     "the gradients must be made with Wanted::angle, got none of angles"},
    {"rate gradients, angles", Fault::wrong_length,
     [](Sums& s) {
       s.d.angle.resize(5);
       s.rates();
     },
     "the gradients' angle must be one per entry of the table (6), got 5"},
    {"rate gradients, pairs", Fault::zero,
     [](Sums& s) {
       s.d.pairs = 0;
       s.rates();
     },
     "the gradients must have a positive number of pairs, got 0"},
    {"rate gradients, pairs", Fault::negative,
     [](Sums& s) {
       s.d.pairs = int64_min;
       s.rates();
     },
     "the gradients must have a positive number of pairs, got -9223372036854775808"},
    {"rate gradients, pairs", Fault::huge,
     [](Sums& s) {
       s.d.pairs = two_to_62;
       s.rates();
     },
     too_many},
    {"rate gradients, pairs", Fault::huge,
     [](Sums& s) {
       s.d.pairs = two_to_40;
       s.rates();
     },
     "the gradients' angle must be one per entry of the table (3298534883328), got 6"},
    {"rate gradients, width", Fault::negative,
     [](Sums& s) {
       s.d.width = -2;
       s.rates();
     },
     "the gradients' table width must not be negative, got -2"},
    {"rate gradients, feature axis", Fault::negative,
     [](Sums& s) {
       s.d.feature_axis = -1;
       s.rates();
     },
     "the gradients' feature axis must be one of their table's, got -1"},
    {"rate gradients, feature axis", Fault::too_large,
     [](Sums& s) {
       s.d.feature_axis = 2;
       s.rates();
     },
     "the gradients' feature axis must be one of their table's, got 2"},
    {"rate gradients, layout", Fault::missing,
     [](Sums& s) {
       s.positions = Positions::per_batch(std::vector<int>(6), Batches{2});
       s.rates();
     },
     "the layout must have a batch axis for positions of several batches, got 2"},
    {"position gradients, frequencies", Fault::wrong_length,
     [](Sums& s) {
       s.frequencies = Frequencies::powers({8});
       s.of_positions();
     },
     "frequencies must have as many pairs as the gradients (2), got 4"},
    {"position gradients, positions", Fault::wrong_length,
     [](Sums& s) {
       s.positions = Positions::range(0, 4);
       s.of_positions();
     },
     "the gradients must be of a table with the outer extents these positions give [4], got [3]"},
    {"position gradients, angles", Fault::missing,
     [](Sums& s) {
       s.d.angle.clear();
       s.of_positions();
     },
     "the gradients must be made with Wanted::angle, got none of angles"},
    {"attention factor gradient, log magnitudes", Fault::missing,
     [](Sums& s) {
       s.d.log_magnitude.clear();
       s.attention();
     },
     "the gradients must be made with Wanted::log_magnitude, got none of magnitudes"},
    {"attention factor gradient, log magnitudes", Fault::wrong_length,
     [](Sums& s) {
       s.d.log_magnitude.resize(7);
       s.attention();
     },
     "the gradients' log_magnitude must be one per entry of the table (6), got 7"},
    {"attention factor gradient at 0, table", Fault::missing,
     [](Sums& s) {
       s.no_magnitude();
       s.d.cos.clear();
       s.attention();
     },
     "with attention factor 0 the gradients must be made from the rotation's input (options.from = "
     "eigen_rope::GradientsFrom::input) with Wanted::table and a half-width table, got none of it"},
    {"attention factor gradient at 0, sin", Fault::missing,
     [](Sums& s) {
       s.no_magnitude();
       s.d.sin.clear();
       s.attention();
     },
     "with attention factor 0 the gradients must be made from the rotation's input (options.from = "
     "eigen_rope::GradientsFrom::input) with Wanted::table and a half-width table, got none of it"},
    {"attention factor gradient at 0, sin", Fault::wrong_length,
     [](Sums& s) {
       s.no_magnitude();
       s.d.sin.resize(2);
       s.attention();
     },
     "the gradients' sin must be one per entry of the table (6), got 2"},
    {"xpos gradients, log magnitudes", Fault::missing,
     [](Sums& s) {
       s.d.log_magnitude.clear();
       s.xpos();
     },
     "the gradients must be made with Wanted::log_magnitude, got none of magnitudes"},
    {"xpos gradients, log magnitudes", Fault::wrong_length,
     [](Sums& s) {
       s.d.log_magnitude.resize(1);
       s.xpos();
     },
     "the gradients' log_magnitude must be one per entry of the table (6), got 1"},
    {"xpos gradients, pairs", Fault::huge,
     [](Sums& s) {
       s.d.pairs = two_to_62;
       s.xpos();
     },
     too_many},
    {"xpos gradients, scale base", Fault::negative, [](Sums& s) { s.xpos({-1}); },
     "scale base must be finite and greater than 0, got -1"},
    {"xpos gradients, gamma", Fault::nan,
     [](Sums& s) {
       s.xpos({512, nan});
     },
     "gamma must be finite and greater than 0, got nan"},
    {"xpos gradients, positions", Fault::wrong_length,
     [](Sums& s) {
       s.positions = Positions::range(0, 4);
       s.xpos();
     },
     "the gradients must be of a table with the outer extents these positions give [4], got [3]"},
    {"powers gradients", Fault::wrong_length, [](Sums&) { (void)powers_gradients({8}, three); },
     per_pair},
    {"powers gradients, rotary dims", Fault::odd, [](Sums&) { (void)powers_gradients({7}, four); },
     "rotary dims must be even, got 7"},
    {"powers gradients, rotary dims", Fault::huge,
     [](Sums&) { (void)powers_gradients({two_to_62}, four); },
     "the number of bytes of all rates must fit a 64-bit count, got 2305843009213693952 x 176"},
    {"powers gradients, factors", Fault::wrong_length,
     [](Sums&) {
       (void)powers_gradients({8, 1e4, 1, 1, {1}}, four);
     },
     "frequency factors must be at least one per pair (4), got 1",
     "peer: ggml, freq factors shorter than dims/2 are read past their end"},
    {"powers gradients", Fault::nan,
     [](Sums&) {
       (void)powers_gradients({8}, {{nan, 1, 1, 1}, 1});
     },
     nullptr, "gradients that are not finite give results that are not"},
    {"ggml yarn gradients", Fault::wrong_length,
     [](Sums&) {
       (void)scaling_gradients({8}, GgmlYarn<>{1.0, 4096}, three);
     },
     per_pair},
    {"ggml yarn gradients, original context", Fault::negative,
     [](Sums&) {
       (void)scaling_gradients({8}, GgmlYarn<>{1.0, -1}, four);
     },
     "original context must not be negative, got -1"},
    {"llama3 gradients", Fault::wrong_length,
     [](Sums&) { (void)scaling_gradients({8}, Llama3<>{}, three); }, per_pair},
    {"llama3 gradients, factor", Fault::zero,
     [](Sums&) { (void)scaling_gradients({8}, Llama3<>{0.0}, four); },
     "llama3 factor must be finite and greater than 0, got 0"},
    {"linear gradients", Fault::wrong_length,
     [](Sums&) { (void)scaling_gradients({8}, Linear<>{1}, three); }, per_pair},
    {"linear gradients, factor", Fault::zero,
     [](Sums&) { (void)scaling_gradients({8}, Linear<>{0}, four); },
     "factor must be finite and greater than 0, got 0"},
    {"proportional gradients", Fault::wrong_length,
     [](Sums&) {
       (void)scaling_gradients({8}, Proportional<>{1.0, 2}, three);
     },
     per_pair},
    {"proportional gradients, rotated pairs", Fault::too_large,
     [](Sums&) {
       (void)scaling_gradients({8}, Proportional<>{1.0, 5}, four);
     },
     "rotated pairs must be from 0 to all of them (4), got 5"},
    {"dynamic ntk gradients", Fault::wrong_length,
     [](Sums&) { (void)scaling_gradients({8}, DynamicNtkScaling<>{}, three, 1); }, per_pair},
    {"dynamic ntk gradients, length", Fault::negative,
     [](Sums&) { (void)scaling_gradients({8}, DynamicNtkScaling<>{}, four, -1); },
     "length must not be negative, got -1"},
    {"ntk gradients", Fault::wrong_length,
     [](Sums&) { (void)scaling_gradients({8}, NtkScaling<>{}, three); }, per_pair},
    {"ntk gradients, mixed_b", Fault::negative,
     [](Sums&) {
       (void)scaling_gradients({8}, NtkScaling<>{1, -1}, four);
     },
     "mixed_b must be finite and not negative, got -1"},
    {"yarn gradients", Fault::wrong_length,
     [](Sums&) { (void)scaling_gradients({8}, test::yarn_of(1.0, 4096), three); }, per_pair},
    {"yarn gradients, original context", Fault::zero,
     [](Sums&) { (void)scaling_gradients({8}, test::yarn_of(1.0, 0), four); },
     "original context must be positive, got 0"},
    {"longrope gradients", Fault::wrong_length,
     [](Sums&) {
       (void)scaling_gradients({8}, LongRope<>{ones, ones}, three, 1);
     },
     per_pair},
    {"longrope gradients, short factor", Fault::wrong_length,
     [](Sums&) {
       (void)scaling_gradients({8}, LongRope<>{{1}, ones}, four, 1);
     },
     "short factor must be one per pair (4), got 1"},
};

const Area passes_area("gradients of rotations", passes);
const Area parameters_area("gradients of parameters", parameters);
TEST(BadInput, Gradients) { expect_refusals(passes); }
TEST(BadInput, ParameterGradients) { expect_refusals(parameters); }

TEST(BadInput, GradientsOfAnEarlierPassStay) {
  Pass pass;
  Gradients<double> d = gradients(pass.u, pass.g, pass.table, split_half, {pass.wanted});
  const Gradients<double> before = d;
  pass.dx.data = pass.memory + 1;
  EXPECT_NE(refusal_of([&] {
              (void)gradients_to(pass.dx, pass.u, pass.g, pass.table, split_half, {}, std::move(d));
            }),
            "");
  EXPECT_EQ(d.angle, before.angle);
  EXPECT_EQ(d.log_magnitude, before.log_magnitude);
  EXPECT_EQ(d.cos, before.cos);
  EXPECT_EQ(d.width, before.width);
}

}  // namespace
}  // namespace eigen_rope::test::gradients_tests
