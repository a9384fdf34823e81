// SPDX-License-Identifier: Apache-2.0
//
// Bad input: rotations of Eigen tensors. Every way to rotate must refuse with the same words:
// expression, statement, view, definition and stock operations.
#include <algorithm>
#include <limits>

#include "bad_input/bad_input.hpp"
#include "eigen_rope/forms/composed.hpp"
#include "eigen_rope/forms/composed_complex.hpp"
#include "eigen_rope/forms/composed_table.hpp"
#include "eigen_rope/forms/reference.hpp"
#include "eigen_rope/rotation/rerotate.hpp"
#include "eigen_rope/rotation/rotate_to.hpp"

namespace eigen_rope::test::rotate_tests {
namespace {

using Tensor = Eigen::Tensor<float, 3>;
using Map = Eigen::TensorMap<Tensor>;
using ConstMap = Eigen::TensorMap<const Tensor>;

/// x [8, 3, 2] and a table of 4 columns for its 3 tokens, with room for more.
struct Call : Memory {
  float* x = array<float>(64);
  float* y = array<float>(64);
  float* cos = array<float>(64);
  float* sin = array<float>(64);
  TableView<float> table{cos, sin, 4, Shape{3}};

  Call() {
    std::fill(cos, cos + 64, 0.75F);
    std::fill(sin, sin + 64, 0.5F);
  }
  Map map(float* data) const { return Map(data, 8, 3, 2); }
};

auto rotation(const ConstMap& x, const TableView<float>& table, Pairing pairing,
              Direction direction) {
  if (direction == Direction::forward) return eigen_rope::rotate(x, table, pairing);
  if (direction == Direction::backward) return eigen_rope::rotate_backward(x, table, pairing);
  return eigen_rope::rotate_inverse(x, table, pairing);
}

/// The refusal that all ways agree on.
void everywhere(Call& c, Pairing pairing, Direction direction = Direction::forward) {
  const Shape shape{8, 3, 2};
  const ConstMap x(c.x, 8, 3, 2);
  Map y = c.map(c.y);
  const std::string message = refusal_of([&] { y = rotation(x, c.table, pairing, direction); });
  EXPECT_EQ(refusal_of([&] { y = y + rotation(x, c.table, pairing, direction) * 2.F; }), message)
      << "inside an expression";
  EXPECT_EQ(refusal_of([&] { rotate_to(y, x, c.table, pairing, direction); }), message);
  EXPECT_EQ(refusal_of([&] { rotate_inplace(y, c.table, pairing, direction); }), message);
  EXPECT_EQ(refusal_of([&] {
              rotate_inplace(StridedView<float>{c.y, shape, {8, 24}}, c.table, pairing, direction);
            }),
            message);
  EXPECT_EQ(refusal_of([&] { reference::rotate(c.x, c.y, shape, c.table, pairing, direction); }),
            message);
  EXPECT_EQ(refusal_of([&] { y = composed::rotate(x, c.table, pairing, direction); }), message);
  if (!message.empty()) throw Error(message);
}

/// The same with another table.
void with_table(Call& c, Index width, const Shape& outer, Pairing pairing = split_half) {
  c.table.width = width;
  c.table.outer = outer;
  everywhere(c, pairing);
}

void with_feature_axis(Call& c, int axis, Direction direction = Direction::forward) {
  c.table.feature_axis = axis;
  everywhere(c, split_half, direction);
}

void complex(Call& c, Index width, const Shape& outer) {
  c.table.width = width;
  c.table.outer = outer;
  Map y = c.map(c.y);
  composed::rotate_complex(y, c.map(c.x), composed::complex_table<3, Eigen::ColMajor>(c.table));
}

/// Keys [32, 2, 4, 2] and where they stand.
struct Keys : Memory {
  float* k = array<float>(512);
  Eigen::TensorMap<Eigen::Tensor<float, 4>> keys{k, 32, 2, 4, 2};
  Frequencies f = Frequencies::powers({32});
  Placement from{f, Positions::range(0, 4)};
  Placement to{f, Positions::range(7, 4)};

  void move(Pairing pairing = split_half, const Layout& layout = Layout::bsnd()) {
    rerotate(keys, from, to, pairing, layout);
  }
  void magnitudes(double before, double after) {
    from.frequencies = Frequencies::powers({32, 1e4, 1, before});
    to.frequencies = Frequencies::powers({32, 1e4, 1, after});
    move();
  }
};

Positions of_batches(Index count, Index batches) {
  return Positions::per_batch(std::vector<int>(static_cast<std::size_t>(count)), Batches{batches});
}

constexpr const char* too_far = "positions must be at most 2^63 in size for a table, got 1e+19";
constexpr const char* no_inverse =
    "the table must have cos_A cos_B + sin_A sin_B != 0 everywhere to be inverted, got 0";
constexpr const char* no_table = "the table must have cos and sin, got a null pointer";
constexpr const char* on_table = "the destination must not overlap the table";

const Cell<Call> rotations[] = {
    {"window offset", Fault::negative, [](Call& c) { everywhere(c, split_half.with_offset(-1)); },
     "window offset must not be negative, got -1"},
    {"window offset", Fault::too_large, [](Call& c) { everywhere(c, split_half.with_offset(9)); },
     "window offset must be at most the head size 8, got 9"},
    {"window offset", Fault::too_large, [](Call& c) { everywhere(c, split_half.with_offset(8)); },
     "rotary dims must be positive, got 0"},
    {"window offset", Fault::odd, [](Call& c) { everywhere(c, split_half.with_offset(3)); },
     "rotary dims must be even, got 5"},
    {"window offset", Fault::huge,
     [](Call& c) { everywhere(c, split_half.with_offset(int64_max)); },
     "window offset must be at most the head size 8, got 9223372036854775807"},
    {"window offset", Fault::huge,
     [](Call& c) { everywhere(c, split_half.with_offset(int64_min)); },
     "window offset must not be negative, got -9223372036854775808"},
    {"rotary dims", Fault::zero, [](Call& c) { everywhere(c, split_half.with_rotary_dims(0)); },
     "rotary dims must be positive, got 0", "peer: ggml, n_dims 0 loops for ever"},
    {"rotary dims", Fault::negative,
     [](Call& c) { everywhere(c, split_half.with_rotary_dims(-2)); },
     "rotary dims must be positive, got -2", "peer: ggml, negative n_dims loop for ever"},
    {"rotary dims", Fault::odd, [](Call& c) { everywhere(c, split_half.with_rotary_dims(7)); },
     "rotary dims must be even, got 7",
     "peer: ONNX Runtime, odd rotary dims leave one element a head unwritten"},
    {"rotary dims", Fault::odd, [](Call& c) { everywhere(c, quarter.with_rotary_dims(6)); },
     "rotary dims must be divisible by 4 for quarter pairing, got 6"},
    {"rotary dims that the table fits", Fault::odd,
     [](Call& c) { with_table(c, 3, Shape{3}, quarter.with_rotary_dims(6)); },
     "rotary dims must be divisible by 4 for quarter pairing, got 6"},
    {"rotary dims that the table fits", Fault::odd,
     [](Call& c) { with_table(c, 7, Shape{3}, split_half.with_rotary_dims(7)); },
     "rotary dims must be even, got 7"},
    {"rotary dims that the table fits", Fault::too_large,
     [](Call& c) { with_table(c, 5, Shape{3}, split_half.with_rotary_dims(10)); },
     "rotary dims must be at most 8 (head size 8 less window offset 0), got 10"},
    {"rotary dims", Fault::too_large,
     [](Call& c) { everywhere(c, split_half.with_rotary_dims(10)); },
     "rotary dims must be at most 8 (head size 8 less window offset 0), got 10"},
    {"rotary dims", Fault::too_large,
     [](Call& c) { everywhere(c, interleaved.with_offset(2).with_rotary_dims(8)); },
     "rotary dims must be at most 6 (head size 8 less window offset 2), got 8"},
    {"rotary dims", Fault::huge,
     [](Call& c) { everywhere(c, split_half.with_rotary_dims(int64_max - 1).with_offset(4)); },
     "rotary dims must be at most 4 (head size 8 less window offset 4), got 9223372036854775806"},
    {"rotary dims, transpose", Fault::odd,
     [](Call& c) { everywhere(c, split_half.with_rotary_dims(7), Direction::backward); },
     "rotary dims must be even, got 7"},
    {"rotary dims, inverse", Fault::odd,
     [](Call& c) { everywhere(c, split_half.with_rotary_dims(7), Direction::inverse); },
     "rotary dims must be even, got 7"},
    {"table width", Fault::zero, [](Call& c) { with_table(c, 0, {3}); },
     "table width must be 4 (one entry per pair) or 8 (one per rotated element), got 0"},
    {"table width", Fault::negative, [](Call& c) { with_table(c, -4, {3}); },
     "table width must be 4 (one entry per pair) or 8 (one per rotated element), got -4"},
    {"table width", Fault::too_small, [](Call& c) { with_table(c, 3, {3}); },
     "table width must be 4 (one entry per pair) or 8 (one per rotated element), got 3"},
    {"table width", Fault::too_large,
     [](Call& c) { with_table(c, 8, {3}, interleaved.with_offset(2)); },
     "table width must be 3 (one entry per pair) or 6 (one per rotated element), got 8",
     "peer: ONNX Runtime, a partial rotation with a full-width cache reads wrong angles silently"},
    {"table width", Fault::huge, [](Call& c) { with_table(c, two_to_62, {3}); },
     "table width must be 4 (one entry per pair) or 8 (one per rotated element), got "
     "4611686018427387904"},
    {"table extents", Fault::wrong_shape, [](Call& c) { with_table(c, 4, {2}); },
     "table must have 1 or 3 on axis 1 (counted outwards from the feature axis) for x with outer "
     "extents [3, 2], got 2 (a cache made for Layout::bsnd() instead of Layout::sd() fits this x)",
     "peer: flash-attention, positions past the table turn into cos 1 and sin 0"},
    {"table extents", Fault::zero, [](Call& c) { with_table(c, 4, {0}); },
     "table must have 1 or 3 on axis 1 (counted outwards from the feature axis) for x with outer "
     "extents [3, 2], got 0"},
    {"table extents", Fault::wrong_shape,
     [](Call& c) {
       with_table(c, 4, {3, 3});
     },
     "table must have 1 or 2 on axis 2 (counted outwards from the feature axis) for x with outer "
     "extents [3, 2], got 3"},
    {"table extents", Fault::wrong_rank,
     [](Call& c) {
       with_table(c, 4, {3, 2, 4});
     },
     "table must have 1 on axis 3 (counted outwards from the feature axis) for x with outer "
     "extents [3, 2], got 4"},
    {"table extents", Fault::huge, [](Call& c) { with_table(c, 4, {two_to_62}); },
     "table must have 1 or 3 on axis 1 (counted outwards from the feature axis) for x with outer "
     "extents [3, 2], got 4611686018427387904"},
    {"table extents", Fault::huge,
     [](Call& c) {
       with_table(c, 4, {3, two_to_40});
     },
     "table must have 1 or 2 on axis 2 (counted outwards from the feature axis) for x with outer "
     "extents [3, 2], got 1099511627776"},
    {"table feature axis", Fault::negative, [](Call& c) { with_feature_axis(c, -1); },
     "the table's feature axis must be one of its 2 axes, counted from 0, got -1"},
    {"table feature axis", Fault::too_large, [](Call& c) { with_feature_axis(c, 2); },
     "the table's feature axis must be one of its 2 axes, counted from 0, got 2"},
    {"table feature axis, inverse", Fault::huge,
     [](Call& c) { with_feature_axis(c, std::numeric_limits<int>::max(), Direction::inverse); },
     "the table's feature axis must be one of its 2 axes, counted from 0, got 2147483647"},
    {"cos", Fault::null,
     [](Call& c) {
       c.table.cos = nullptr;
       everywhere(c, split_half);
     },
     no_table},
    {"sin", Fault::null,
     [](Call& c) {
       c.table.sin = nullptr;
       everywhere(c, split_half);
     },
     no_table},
    {"sin, inverse", Fault::null,
     [](Call& c) {
       c.table.sin = nullptr;
       everywhere(c, split_half, Direction::inverse);
     },
     no_table},
    {"table, inverse", Fault::zero,
     [](Call& c) {
       c.cos[7] = c.sin[7] = 0;
       c.remember();
       everywhere(c, split_half, Direction::inverse);
     },
     no_inverse},
    {"full-width table whose members cancel, inverse", Fault::zero,
     [](Call& c) {
       c.table.width = 8;
       c.cos[16] = 0.5F;
       c.cos[20] = 2;
       c.sin[16] = 1;
       c.sin[20] = -1;
       c.remember();
       everywhere(c, split_half, Direction::inverse);
     },
     no_inverse},
    {"table", Fault::zero,
     [](Call& c) {
       std::fill(c.cos, c.cos + 12, 0.F);
       std::fill(c.sin, c.sin + 12, 0.F);
       everywhere(c, split_half);
     },
     nullptr, "a rotation by nothing gives nothing"},
    {"table, inverse", Fault::nan,
     [](Call& c) {
       c.cos[0] = std::numeric_limits<float>::quiet_NaN();
       everywhere(c, split_half, Direction::inverse);
     },
     nullptr, "NaN passes through, as it does in x"},
    {"x", Fault::nan,
     [](Call& c) {
       c.x[0] = c.y[0] = std::numeric_limits<float>::quiet_NaN();
       everywhere(c, split_half);
     },
     nullptr, "NaN in x stays in its pair"},
    {"x", Fault::infinite,
     [](Call& c) {
       c.x[0] = c.y[0] = std::numeric_limits<float>::infinity();
       everywhere(c, split_half);
     },
     nullptr, "infinity follows IEEE arithmetic"},
    {"head size with an even window", Fault::odd,
     [](Call& c) {
       Eigen::TensorMap<Eigen::Tensor<float, 2>> odd(c.y, 9, 3);
       odd = eigen_rope::rotate(odd, c.table, split_half.with_rotary_dims(8));
     },
     nullptr, "peer: ggml writes one float past the output; here the last element is copied"},
    {"x of a map", Fault::null,
     [](Call& c) {
       c.map(c.y) = eigen_rope::rotate(ConstMap(nullptr, 8, 3, 2), c.table, split_half);
     },
     "x must have data, got a null pointer"},
    {"x of a map, statement", Fault::null,
     [](Call& c) {
       Map y = c.map(c.y);
       rotate_to(y, ConstMap(nullptr, 8, 3, 2), c.table, split_half);
     },
     "x must have data, got a null pointer"},
    {"y of a map", Fault::null,
     [](Call& c) {
       Map y = c.map(nullptr);
       rotate_to(y, c.map(c.x), c.table, split_half);
     },
     "the destination must have data, got a null pointer"},
    {"x of the definition", Fault::null,
     [](Call& c) {
       reference::rotate(static_cast<float*>(nullptr), c.y, Shape{8, 3, 2}, c.table, split_half);
     },
     "x and y must have data, got a null pointer"},
    {"y of the definition", Fault::null,
     [](Call& c) {
       reference::rotate(c.x, static_cast<float*>(nullptr), Shape{8, 3, 2}, c.table, split_half);
     },
     "x and y must have data, got a null pointer"},
    {"x of a map without elements", Fault::null,
     [](Call& c) {
       Map y(nullptr, 8, 3, 0);
       rotate_to(y, ConstMap(nullptr, 8, 3, 0), c.table, split_half);
     },
     nullptr, "there is nothing to read"},
    {"x without elements", Fault::huge,
     [](Call& c) {
       Map y(nullptr, 8, 0, two_to_40);
       c.table.outer = {1};
       rotate_to(y, ConstMap(nullptr, 8, 0, two_to_40), c.table, split_half);
     },
     nullptr, "there is nothing to read"},
    {"x without elements, table", Fault::huge,
     [](Call& c) {
       Map y(nullptr, 8, 0, two_to_62);
       c.table.outer = {1, two_to_62};
       rotate_to(y, ConstMap(nullptr, 8, 0, two_to_62), c.table, split_half);
     },
     "the number of entries in the table must fit a 64-bit count, got 4 x 4611686018427387904"},
    {"x without elements, bytes of the table", Fault::huge,
     [](Call& c) {
       constexpr Index tokens = two_to_62 / 4;
       Map y(nullptr, 8, 0, tokens);
       c.table.outer = {1, tokens};
       rotate_to(y, ConstMap(nullptr, 8, 0, tokens), c.table, split_half, Direction::inverse);
     },
     "the number of bytes of the table must fit a 64-bit count, got 4611686018427387904 x 4"},
    {"y", Fault::wrong_shape,
     [](Call& c) {
       Map y(c.y, 8, 2, 3);
       rotate_to(y, c.map(c.x), c.table, split_half);
     },
     "the destination must have x's shape [8, 3, 2], got [8, 2, 3]"},
    {"y", Fault::wrong_length,
     [](Call& c) {
       Map y(c.y, 8, 3, 1);
       rotate_to(y, c.map(c.x), c.table, split_half);
     },
     "the destination must have x's shape [8, 3, 2], got [8, 3, 1]"},
    {"y and x", Fault::overlapping,
     [](Call& c) { c.map(c.x + 8) = eigen_rope::rotate(c.map(c.x), c.table, split_half); },
     "x and the destination must be the same memory or not overlap at all (distance in bytes), got "
     "32"},
    {"y and x, statement", Fault::overlapping,
     [](Call& c) {
       Map y = c.map(c.x + 8);
       rotate_to(y, c.map(c.x), c.table, split_half);
     },
     "x and the destination must be the same memory or not overlap at all (distance in bytes), got "
     "32"},
    {"y and x", Fault::aliasing,
     [](Call& c) { c.map(c.x) = eigen_rope::rotate(c.map(c.x), c.table, split_half); }, nullptr,
     "the same memory: in place"},
    {"y and cos", Fault::overlapping,
     [](Call& c) { c.map(c.cos) = eigen_rope::rotate(c.map(c.x), c.table, split_half); }, on_table},
    {"y and sin, statement", Fault::overlapping,
     [](Call& c) {
       Map y = c.map(c.sin + 11);
       rotate_to(y, c.map(c.x), c.table, split_half);
     },
     on_table},
    {"y in place and sin", Fault::overlapping,
     [](Call& c) {
       Map y = c.map(c.y);
       c.table.sin = c.y + 40;
       y = eigen_rope::rotate(y, c.table, split_half);
     },
     on_table},
    {"cos and sin tensors", Fault::wrong_shape,
     [](Call& c) {
       using M = Eigen::TensorMap<const Eigen::Tensor<float, 2>>;
       (void)table_of(M(c.cos, 4, 3), M(c.sin, 4, 2));
     },
     "cos and sin must have the same shape, got [4, 3] and [4, 2]"},
    {"cos and sin tensors", Fault::wrong_shape,
     [](Call& c) {
       using M = Eigen::TensorMap<const Eigen::Tensor<float, 2, Eigen::RowMajor>>;
       (void)table_of(M(c.cos, 3, 4), M(c.sin, 2, 4));
     },
     "cos and sin must have the same shape, got [4, 3] and [4, 2]"},
    {"composed table, exponents", Fault::unknown,
     [](Call&) {
       (void)composed::table_steps({4, 1e4, 1, 1, {}, {0, 1}}, std::nullopt, {0, 1},
                                   PairKind::split_half);
     },
     "the composed table takes exponents 0, 1, 2, ... only, got a list of its own"},
    {"composed table, rotary dims", Fault::odd,
     [](Call&) {
       (void)composed::table_steps({6}, std::nullopt, {0, 1}, PairKind::quarter);
     },
     "rotary dims must be divisible by 4 for quarter pairing, got 6"},
    {"composed table, rotary dims", Fault::huge,
     [](Call&) {
       (void)composed::table_steps({two_to_62}, std::nullopt, {0, 1}, PairKind::split_half);
     },
     "the number of bytes of all rates must fit a 64-bit count, got 2305843009213693952 x 16"},
    {"composed table, beta fast", Fault::negative,
     [](Call&) {
       (void)composed::table_steps({8}, GgmlYarn<>{1.0, 4096, -1.0}, {0, 1}, PairKind::split_half);
     },
     "beta fast must be finite and not negative, got -1"},
    {"complex table", Fault::wrong_rank,
     [](Call& c) {
       complex(c, 4, {1, 1, 2});
     },
     "a complex table must fit the tensor's rank, got [1, 1, 2]"},
    {"complex table, width", Fault::too_small,
     [](Call& c) {
       complex(c, 3, {1, 2});
     },
     "a complex table must have half of x's features and equal x or be 1 elsewhere, got 3"},
    {"complex table, extents", Fault::wrong_shape,
     [](Call& c) {
       complex(c, 4, {2, 2});
     },
     "a complex table must have half of x's features and equal x or be 1 elsewhere, got 2"},
    {"complex table, feature axis", Fault::too_large,
     [](Call& c) {
       c.table.feature_axis = 3;
       complex(c, 4, {1, 2});
     },
     "the table's feature axis must be one of its 3 axes, counted from 0, got 3"},
    {"complex table, feature axis", Fault::unknown,
     [](Call& c) {
       c.table.feature_axis = 1;
       complex(c, 4, {3});
     },
     "composed::complex_table takes features on the fastest axis only, got a table that has them "
     "behind 1 axes"},
    {"complex table, cos", Fault::null,
     [](Call& c) {
       c.table.cos = nullptr;
       complex(c, 4, {3});
     },
     no_table},
};

const Cell<Keys> moves[] = {
    {"rerotation, pairs", Fault::wrong_length,
     [](Keys& k) {
       k.to.frequencies = Frequencies::powers({64});
       k.move();
     },
     "from and to must have the same number of pairs, got 16 and 32"},
    {"rerotation, tokens", Fault::wrong_length,
     [](Keys& k) {
       k.to.positions = Positions::range(0, 5);
       k.move();
     },
     "from and to must have the same number of tokens, got 4 and 5"},
    {"rerotation, batches", Fault::wrong_length,
     [](Keys& k) {
       k.to.positions = of_batches(8, 2);
       k.move();
     },
     "from and to must have the same number of batches, got 1 and 2"},
    {"rerotation, tokens of k", Fault::wrong_shape,
     [](Keys& k) {
       k.from.positions = k.to.positions = Positions::range(0, 3);
       k.move();
     },
     "axis 2 of k, its token axis, must have one place for each of the positions' (3), got [32, 2, "
     "4, 2]"},
    {"rerotation, batches of k", Fault::wrong_shape,
     [](Keys& k) {
       k.from.positions = k.to.positions = of_batches(12, 3);
       k.move();
     },
     "axis 3 of k, its batch axis, must have one place for each of the positions' (3), got [32, 2, "
     "4, 2]"},
    {"rerotation, attention factor of from", Fault::zero, [](Keys& k) { k.magnitudes(0, 1); },
     "the attention factor of from must not be 0 (it leaves nothing of the keys), got 0"},
    {"rerotation, attention factors", Fault::huge, [](Keys& k) { k.magnitudes(1e-300, 1e300); },
     "the quotient of the attention factors of to and from must be finite, got 1e+300 / 1e-300"},
    {"rerotation, attention factor of to", Fault::zero, [](Keys& k) { k.magnitudes(1, 0); },
     nullptr, "a rotation by nothing, which cannot be moved back"},
    {"rerotation, positions", Fault::huge,
     [](Keys& k) {
       k.to.positions = Positions::ids(std::vector<double>{0, 1, 2, 1e19});
       k.move();
     },
     too_far},
    {"rerotation, positions", Fault::huge,
     [](Keys& k) {
       k.from.positions = Positions::ids(std::vector<double>{1e19, 1, 2, 3});
       k.move();
     },
     too_far},
    {"rerotation, layout", Fault::missing,
     [](Keys& k) {
       k.from.positions = k.to.positions = of_batches(8, 2);
       k.move(split_half, Layout{AxisRole::other, AxisRole::token, AxisRole::other});
     },
     "the layout must have a batch axis for positions of several batches, got 2"},
    {"rerotation, rotary dims", Fault::odd,
     [](Keys& k) { k.move(split_half.with_rotary_dims(31)); }, "rotary dims must be even, got 31"},
    {"rerotation, window offset", Fault::huge,
     [](Keys& k) { k.move(interleaved_to_split_half.with_offset(two_to_62)); },
     "window offset must be at most the head size 32, got 4611686018427387904"},
    {"rerotation, window offset", Fault::huge,
     [](Keys& k) { k.move(interleaved_to_split_half.with_offset(int64_min)); },
     "window offset must not be negative, got -9223372036854775808"},
    {"rerotation, k", Fault::null,
     [](Keys& k) {
       Eigen::TensorMap<Eigen::Tensor<float, 4>> none(nullptr, 32, 2, 4, 2);
       rerotate(none, k.from, k.to, split_half);
     },
     "x must have data, got a null pointer"},
    {"rerotation, view of k", Fault::null,
     [](Keys& k) {
       rerotate(StridedView<float>{nullptr, Shape{32, 4}, {32}}, k.from, k.to, split_half,
                Layout::sd());
     },
     "a strided view must have data, got a null pointer"},
    {"rerotation, view of k", Fault::huge,
     [](Keys& k) {
       rerotate(StridedView<float>{k.k, Shape{32, 4}, {two_to_62}}, k.from, k.to, split_half,
                Layout::sd());
     },
     "the span of a strided view must fit a 64-bit count, got 4611686018427387904 x 3"},
    {"rerotation, batches of no tokens", Fault::huge,
     [](Keys& k) {
       k.from.positions = k.to.positions = of_batches(0, two_to_62);
       (void)rerotation_cache<float>(k.from, k.to);
     },
     nullptr, "an empty table, made at once"},
};

const Area rotations_area("rotations of tensors", rotations);
const Area moves_area("keys that move", moves);
TEST(BadInput, Rerotations) { expect_refusals(moves); }
TEST(BadInput, Rotations) { expect_refusals(rotations); }

}  // namespace
}  // namespace eigen_rope::test::rotate_tests
