// SPDX-License-Identifier: Apache-2.0
//
// Bad input: calls that are typed at run time.
#include <algorithm>
#include <limits>
#include <vector>

#include "bad_input/bad_input.hpp"
#include "eigen_rope/any/any.hpp"

namespace eigen_rope::test::bad_any_tests {
namespace {

/// Tensors of three rows of eight, and a table of one row of four pairs.
struct Tensors : Memory {
  float* x = array<float>(256) + 64;
  float* y = array<float>(256) + 64;
  float* g = array<float>(256) + 64;
  float* cos = array<float>(64);
  float* sin = array<float>(64);
  double* dcos = array<double>(64);
  double* dsin = array<double>(64);
  any::ConstTensor from{ScalarType::f32, x, {3, 8}};
  any::Tensor to{ScalarType::f32, y, {3, 8}};
  any::ConstTensor of{ScalarType::f32, g, {3, 8}};
  any::Table table{ScalarType::f32, cos, sin, {4}};
  any::TableMemory sums{ScalarType::f64, dcos, dsin, {4}};
  any::TableMemory memory{ScalarType::f32, cos, sin, {3, 4}};
  Frequencies frequencies = Frequencies::powers({8});
  Positions positions = Positions::range(0, 3);
  GradientOptions options{Wanted::table, GradientsFrom::input};

  Tensors() {
    std::fill(cos, cos + 64, 0.75F);
    std::fill(sin, sin + 64, 0.5F);
  }
  void rotate(Pairing pairing = split_half, Direction direction = Direction::forward) const {
    any::rotate_to(to, from, table, pairing, direction);
  }
  void backward(Pairing pairing = split_half) const {
    (void)any::gradients_to(to, from, of, table, pairing, options);
  }
  void gradient() const { any::table_gradient(sums, from, of, split_half); }
  void fill() const { any::fill_table(memory, frequencies, positions, Layout::sd()); }
  void both(const Shape& shape, const Strides& strides = {}) {
    from.shape = to.shape = of.shape = shape;
    from.strides = to.strides = of.strides = strides;
  }
};

const void* half_way(const void* data) { return static_cast<const std::byte*>(data) + 2; }

constexpr const char* no_type = "the type must be f32, f64, f16 or bf16, got 9";
constexpr const char* no_order = "the order must be slowest_first or fastest_first, got 5";
constexpr const char* no_rank = "a strided view must have at least the feature axis, got rank 0";
constexpr const char* no_data = "a strided view must have data, got a null pointer";
constexpr const char* no_table = "the table must have cos and sin, got a null pointer";
constexpr const char* on_table = "the destination must not overlap the table";
constexpr const char* not_aligned =
    "data must be aligned to the size of its elements, 4 bytes (remainder), got 2";
constexpr const char* beyond_memory_begin =
    "the span of a strided view must fit 60 bits, got stride 4611686018427387904 over 2 rows";

const std::int64_t extents_of_rows[] = {3, 8};
const std::int64_t negative_extents[] = {3, -8};
const std::int64_t huge_extents[] = {int64_max, 8};
const std::int64_t nine_extents[] = {1, 1, 1, 1, 1, 1, 1, 3, 8};

void read(const Tensors& t, int rank, const std::int64_t* extents) {
  (void)any::tensor(ScalarType::f32, t.x, rank, extents);
}

const Cell<Tensors> cells[] = {
    {"tensor, rank", Fault::negative, [](Tensors& t) { read(t, -1, extents_of_rows); },
     "rank must not be negative, got -1"},
    {"tensor, rank", Fault::too_large, [](Tensors& t) { read(t, 9, nine_extents); },
     "rank must be at most 8, got 9"},
    {"tensor, extents", Fault::null, [](Tensors& t) { read(t, 2, nullptr); },
     "extents must have data, got a null pointer"},
    {"tensor, extents of no axes", Fault::null, [](Tensors& t) { read(t, 0, nullptr); }, nullptr,
     "a call refuses it"},
    {"tensor, extents", Fault::negative, [](Tensors& t) { read(t, 2, negative_extents); },
     "extents must not be negative, got -8"},
    {"tensor, extents", Fault::huge, [](Tensors& t) { read(t, 2, huge_extents); },
     "the number of elements must fit a 64-bit count, got 9223372036854775807 x 8"},
    {"cos and sin, type", Fault::unknown,
     [](Tensors& t) {
       (void)any::table_of(t.from, any::ConstTensor{ScalarType::f64, t.x, {3, 8}});
     },
     "sin must have cos's type f32, got f64"},
    {"cos and sin, shape", Fault::wrong_shape,
     [](Tensors& t) {
       (void)any::table_of(t.from, any::ConstTensor{ScalarType::f32, t.x, {3, 4}});
     },
     "sin must have cos's shape [3, 8], got [3, 4]"},
    {"cos and sin, strides", Fault::wrong_shape,
     [](Tensors& t) {
       t.from.strides = {8, 1};
       t.of.strides = {9, 1};
       (void)any::table_of(t.from, t.of);
     },
     "sin must have cos's strides [8, 1], got [9, 1]"},
    {"cos and sin, order", Fault::wrong_shape,
     [](Tensors& t) {
       t.of.order = any::Order::fastest_first;
       (void)any::table_of(t.from, t.of);
     },
     "sin must have cos's order, got the other one"},
    {"x, type", Fault::unknown,
     [](Tensors& t) {
       t.from.type = t.to.type = t.table.type = static_cast<ScalarType>(9);
       t.rotate();
     },
     no_type},
    {"x, order", Fault::unknown,
     [](Tensors& t) {
       t.from.order = static_cast<any::Order>(5);
       t.rotate();
     },
     no_order},
    {"y, order", Fault::unknown,
     [](Tensors& t) {
       t.to.order = static_cast<any::Order>(5);
       t.rotate();
     },
     no_order},
    {"y, type", Fault::unknown,
     [](Tensors& t) {
       t.to.type = ScalarType::f64;
       t.rotate();
     },
     "the destination must have x's type f32, got f64"},
    {"table, type", Fault::unknown,
     [](Tensors& t) {
       t.table.type = ScalarType::f64;
       t.rotate();
     },
     "the table must have x's type f32, got f64"},
    {"table, type", Fault::unknown,
     [](Tensors& t) {
       t.from.type = t.to.type = ScalarType::f16;
       t.table.type = ScalarType::bf16;
       t.rotate();
     },
     "the table must have x's type f16, got bf16"},
    {"table, order", Fault::unknown,
     [](Tensors& t) {
       t.table.order = static_cast<any::Order>(5);
       t.rotate();
     },
     no_order},
    {"x, rank", Fault::wrong_rank,
     [](Tensors& t) {
       t.both({});
       t.rotate();
     },
     no_rank},
    {"x, rank", Fault::wrong_rank,
     [](Tensors& t) {
       t.both({});
       t.table.strides = {2};
       t.rotate();
     },
     no_rank},
    {"x, shape", Fault::negative,
     [](Tensors& t) {
       t.both({3, -8});
     },
     "extents must not be negative, got -8"},
    {"x, shape", Fault::huge,
     [](Tensors& t) {
       t.both({two_to_62, two_to_62});
     },
     "the number of elements must fit a 64-bit count, got 4611686018427387904 x "
     "4611686018427387904"},
    {"x, shape", Fault::odd,
     [](Tensors& t) {
       t.both({3, 7});
       t.rotate();
     },
     "rotary dims must be even, got 7"},
    {"y, shape", Fault::wrong_shape,
     [](Tensors& t) {
       t.to.shape = {2, 8};
       t.rotate();
     },
     "the destination must have x's shape [8, 3], got [8, 2]"},
    {"y, shape", Fault::wrong_shape,
     [](Tensors& t) {
       t.to.shape = {2, 8};
       t.table.strides = {2};
       t.rotate();
     },
     "the destination must have x's shape [8, 3], got [8, 2]"},
    {"pairing, axis", Fault::too_large, [](Tensors& t) { t.rotate(split_half.along(2)); },
     "the axis that a pairing goes along must be one of the 2 axes of x, counted from 0, got 2"},
    {"x, strides", Fault::wrong_length,
     [](Tensors& t) {
       t.from.strides = {8};
       t.rotate();
     },
     "there must be one stride for each of the 2 axes, or none, got 1"},
    {"x, strides", Fault::zero,
     [](Tensors& t) {
       t.from.strides = {8, 0};
       t.rotate();
     },
     "the feature stride of a strided view must not be 0"},
    {"x, strides", Fault::zero,
     [](Tensors& t) {
       t.from.strides = {0, 1};
       t.rotate();
     },
     nullptr, "rows that are read may be repeated"},
    {"y, strides", Fault::zero,
     [](Tensors& t) {
       t.to.strides = {0, 1};
       t.rotate();
     },
     "strides must step over the 8 elements inside them, or rows share elements, got 0"},
    {"y, strides", Fault::overlapping,
     [](Tensors& t) {
       t.to.strides = {7, 1};
       t.table.strides = {2};
       t.rotate();
     },
     "strides must step over the 8 elements inside them, or rows share elements, got 7"},
    {"x, strides", Fault::huge,
     [](Tensors& t) {
       t.both({2, 8}, {two_to_62, 1});
       t.rotate();
     },
     beyond_memory_begin},
    {"x, data", Fault::null,
     [](Tensors& t) {
       t.from.data = nullptr;
       t.rotate();
     },
     no_data},
    {"x, data", Fault::null,
     [](Tensors& t) {
       t.from.data = nullptr;
       t.table.strides = {2};
       t.rotate();
     },
     no_data},
    {"y, data", Fault::null,
     [](Tensors& t) {
       t.to.data = nullptr;
       t.rotate();
     },
     no_data},
    {"x, data", Fault::odd,
     [](Tensors& t) {
       t.from.data = half_way(t.x);
       t.rotate();
     },
     not_aligned},
    {"table, cos", Fault::odd,
     [](Tensors& t) {
       t.table.cos = half_way(t.cos);
       t.rotate();
     },
     not_aligned},
    {"table, sin", Fault::odd,
     [](Tensors& t) {
       t.table.sin = half_way(t.sin);
       t.rotate();
     },
     not_aligned},
    {"table, cos", Fault::null,
     [](Tensors& t) {
       t.table.cos = nullptr;
       t.rotate();
     },
     no_table},
    {"table, sin", Fault::null,
     [](Tensors& t) {
       t.table.sin = nullptr;
       t.table.strides = {2};
       t.rotate();
     },
     no_table},
    {"table, shape", Fault::wrong_rank,
     [](Tensors& t) {
       t.table.shape = {};
       t.rotate();
     },
     "a table must have at least the axis of its entries, got rank 0"},
    {"table, shape", Fault::wrong_shape,
     [](Tensors& t) {
       t.table.shape = {2, 4};
       t.rotate();
     },
     "table must have 1 or 3 on axis 1 (counted outwards from the feature axis) for x with outer "
     "extents [3], got 2"},
    {"table, shape", Fault::wrong_shape,
     [](Tensors& t) {
       t.table.shape = {2, 4};
       t.table.strides = {0, 1};
       t.rotate();
     },
     "table must have 1 or 3 on axis 1 (counted outwards from the feature axis) for x with outer "
     "extents [3], got 2"},
    {"table, shape", Fault::wrong_rank,
     [](Tensors& t) {
       t.table.shape = {2, 1, 4};
       t.rotate();
     },
     "table must have 1 on axis 2 (counted outwards from the feature axis) for x with outer "
     "extents [3], got 2"},
    {"table, shape", Fault::wrong_shape,
     [](Tensors& t) {
       t.table.shape = {3};
       t.rotate();
     },
     "table width must be 4 (one entry per pair) or 8 (one per rotated element), got 3"},
    {"table, feature axis", Fault::negative,
     [](Tensors& t) {
       t.table.feature_axis = -1;
       t.rotate();
     },
     "the table's feature axis must be one of its 1 axes, counted from 0, got -1"},
    {"table, feature axis", Fault::too_large,
     [](Tensors& t) {
       t.table.feature_axis = 1;
       t.rotate();
     },
     "the table's feature axis must be one of its 1 axes, counted from 0, got 1"},
    {"table, strides", Fault::zero,
     [](Tensors& t) {
       t.table.strides = {0};
       t.rotate();
     },
     "the feature stride of a strided view must not be 0"},
    {"table, strides", Fault::wrong_length,
     [](Tensors& t) {
       t.table.strides = {1, 1};
       t.rotate();
     },
     "there must be one stride for each of the 1 axes, or none, got 2"},
    {"table, strides", Fault::huge,
     [](Tensors& t) {
       t.table.shape = {2, 4};
       t.table.strides = {two_to_62, 1};
       t.rotate();
     },
     beyond_memory_begin},
    {"x and y", Fault::overlapping,
     [](Tensors& t) {
       t.to.data = t.x + 8;
       t.rotate();
     },
     "x and the destination must be the same rows or not overlap at all (distance in bytes), got "
     "32"},
    {"y and table", Fault::overlapping,
     [](Tensors& t) {
       t.table.cos = t.y + 20;
       t.rotate();
     },
     on_table},
    {"y and table", Fault::overlapping,
     [](Tensors& t) {
       t.table.sin = t.y - 3;
       t.rotate();
     },
     on_table},
    {"y and table", Fault::overlapping,
     [](Tensors& t) {
       t.table.sin = t.y - 6;
       t.table.strides = {2};
       t.rotate();
     },
     on_table},
    {"table, determinant", Fault::zero,
     [](Tensors& t) {
       std::fill(t.cos, t.cos + 64, 0.0F);
       std::fill(t.sin, t.sin + 64, 0.0F);
       t.remember();
       t.table.strides = {2};
       t.rotate(split_half, Direction::inverse);
     },
     "the table must have cos_A cos_B + sin_A sin_B != 0 everywhere to be inverted, got 0"},
    {"g, type", Fault::unknown,
     [](Tensors& t) {
       t.of.type = ScalarType::f64;
       t.backward();
     },
     "g must have x's type f32, got f64"},
    {"dx, type", Fault::unknown,
     [](Tensors& t) {
       t.to.type = ScalarType::f64;
       t.backward();
     },
     "dx must have x's type f32, got f64"},
    {"table of gradients, type", Fault::unknown,
     [](Tensors& t) {
       t.table.type = ScalarType::bf16;
       t.backward();
     },
     "the table must have x's type f32, got bf16"},
    {"g, shape", Fault::wrong_shape,
     [](Tensors& t) {
       t.of.shape = {2, 8};
       t.backward();
     },
     "g must have x's shape [8, 3], got [8, 2]"},
    {"g, data", Fault::null,
     [](Tensors& t) {
       t.of.data = nullptr;
       t.backward();
     },
     no_data},
    {"dx, strides", Fault::zero,
     [](Tensors& t) {
       t.to.strides = {0, 1};
       t.backward();
     },
     "strides must step over the 8 elements inside them, or rows share elements, got 0"},
    {"dx and table", Fault::overlapping,
     [](Tensors& t) {
       t.table.cos = t.y + 20;
       t.table.strides = {2};
       t.backward();
     },
     on_table},
    {"table of gradients, cos", Fault::null,
     [](Tensors& t) {
       t.table.cos = nullptr;
       t.table.strides = {2};
       t.backward();
     },
     no_table},
    {"table of gradients, shape", Fault::wrong_shape,
     [](Tensors& t) {
       t.table.shape = {2, 4};
       t.table.strides = {0, 1};
       t.backward();
     },
     "table must have 1 or 3 on axis 1 (counted outwards from the feature axis) for x with outer "
     "extents [3], got 2"},
    {"table's gradient, type", Fault::unknown,
     [](Tensors& t) {
       t.sums.type = ScalarType::bf16;
       t.gradient();
     },
     "the table's gradient must have x's type f32 or f64, got bf16"},
    {"table's gradient, g", Fault::unknown,
     [](Tensors& t) {
       t.of.type = ScalarType::f64;
       t.gradient();
     },
     "g must have x's type f32, got f64"},
    {"table's gradient, cos", Fault::null,
     [](Tensors& t) {
       t.sums.cos = nullptr;
       t.gradient();
     },
     "the table's gradient must have data, got a null pointer"},
    {"table's gradient, sin", Fault::null,
     [](Tensors& t) {
       t.sums.sin = nullptr;
       t.sums.strides = {2};
       t.gradient();
     },
     "the table's gradient must have data, got a null pointer"},
    {"table's gradient, strides", Fault::zero,
     [](Tensors& t) {
       t.sums.shape = {3, 4};
       t.sums.strides = {0, 1};
       t.gradient();
     },
     "strides must step over the 4 elements inside them, or rows share elements, got 0"},
    {"table's gradient, shape", Fault::wrong_shape,
     [](Tensors& t) {
       t.sums.shape = {2, 4};
       t.sums.strides = {9, 2};
       t.gradient();
     },
     "table must have 1 or 3 on axis 1 (counted outwards from the feature axis) for x with outer "
     "extents [3], got 2"},
    {"table's gradient and x", Fault::overlapping,
     [](Tensors& t) {
       t.from.data = t.dcos + 3;
       t.sums.strides = {2};
       t.gradient();
     },
     "the table's gradient must not overlap x or g"},
    {"cos and sin of the table's gradient", Fault::overlapping,
     [](Tensors& t) {
       t.sums.sin = t.dcos + 1;
       t.sums.strides = {2};
       t.gradient();
     },
     "the gradients of cos and sin must not overlap"},
    {"memory, type", Fault::unknown,
     [](Tensors& t) {
       t.memory.type = static_cast<ScalarType>(9);
       t.fill();
     },
     no_type},
    {"memory, shape", Fault::wrong_shape,
     [](Tensors& t) {
       t.memory.shape = {3, 8};
       t.fill();
     },
     "the memory must have the table's width 4 and outer extents [3], got width 8 and outer "
     "extents [3]"},
    {"memory, shape", Fault::wrong_shape,
     [](Tensors& t) {
       t.memory.shape = {2, 4};
       t.fill();
     },
     "the memory must have the table's width 4 and outer extents [3], got width 4 and outer "
     "extents [2]"},
    {"memory, cos", Fault::null,
     [](Tensors& t) {
       t.memory.cos = nullptr;
       t.fill();
     },
     "the memory of a table must have cos and sin, got a null pointer"},
    {"memory, sin", Fault::null,
     [](Tensors& t) {
       t.memory.sin = nullptr;
       t.fill();
     },
     "the memory of a table must have cos and sin, got a null pointer"},
    {"memory, strides", Fault::overlapping,
     [](Tensors& t) {
       t.memory.strides = {3, 1};
       t.fill();
     },
     "strides must step over the 4 elements inside them, or rows share elements, got 3"},
    {"memory, cos and sin", Fault::overlapping,
     [](Tensors& t) {
       t.memory.sin = t.cos + 11;
       t.fill();
     },
     "cos and sin must not overlap"},
    {"memory, positions of batches", Fault::wrong_length,
     [](Tensors& t) {
       t.positions = Positions::per_batch(std::vector<int>{1, 2, 3}, Batches{3});
       t.fill();
     },
     "the layout must have a batch axis for positions of several batches, got 3"},
    {"pairing, name", Fault::unknown, [](Tensors&) { (void)any::pairing_of("half"); },
     "pairing must be split_half, interleaved, quarter or interleaved_to_split_half, got half"},
    {"direction, name", Fault::unknown, [](Tensors&) { (void)any::direction_of(""); },
     "direction must be forward, backward or inverse, got "},
    {"layout, name", Fault::unknown, [](Tensors&) { (void)any::layout_of("bshd"); },
     "layout must be one of bsnd, bnsd, sbnd, tnd, bsd, sd, dnsb, dsnb, dns, dsb and ds, got bshd"},
    {"positions, type", Fault::unknown,
     [](Tensors& t) {
       (void)any::positions({static_cast<any::PositionType>(7), t.x, 1});
     },
     "the type of positions must be i32, i64, f32 or f64, got 7"},
    {"positions, count", Fault::negative,
     [](Tensors& t) {
       (void)any::positions({any::PositionType::f32, t.x, -1});
     },
     "the number of positions must not be negative, got -1"},
    {"positions, count", Fault::huge,
     [](Tensors& t) {
       (void)any::positions({any::PositionType::f32, t.x, two_to_62});
     },
     "the number of bytes of all positions must fit a 64-bit count, got 4611686018427387904 x 16"},
    {"positions, data", Fault::null,
     [](Tensors&) {
       (void)any::positions({any::PositionType::i64, nullptr, 1});
     },
     "positions must have data, got a null pointer"},
    {"positions, data", Fault::odd,
     [](Tensors& t) {
       (void)any::positions({any::PositionType::i64, half_way(t.dcos), 1});
     },
     "positions must be aligned to their size, 8 bytes (remainder), got 2"},
    {"positions, numbers", Fault::nan,
     [](Tensors& t) {
       t.y[0] = std::numeric_limits<float>::quiet_NaN();
       t.remember();
       (void)any::positions({any::PositionType::f32, t.y, 1});
     },
     "position must be finite, got nan"},
    {"positions, batches", Fault::wrong_length,
     [](Tensors& t) {
       (void)any::positions({any::PositionType::i32, t.x, 3, Batches{2}});
     },
     "the number of positions must be a multiple of axes x batches (1 x 2), got 3"},
    {"positions, batches", Fault::negative,
     [](Tensors& t) {
       (void)any::positions({any::PositionType::i32, t.x, 3, Batches{-1}});
     },
     "batches must not be negative, got -1"},
};
const Area area("calls typed at run time", cells);

TEST(BadInput, AnyCalls) { expect_refusals(cells); }

}  // namespace
}  // namespace eigen_rope::test::bad_any_tests
