// SPDX-License-Identifier: Apache-2.0
//
// Bad input: rotations of tokens whose places are listed, through the C interface. A status other
// than EIGEN_ROPE_INVALID_ARGUMENT fails.
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>

#include "bad_input/bad_input.hpp"
#include "eigen_rope/c/eigen_rope.h"

namespace eigen_rope::test::c_tokens_tests {
namespace {

/// Queries and keys of three tokens, pages of two slots each, and a table of six rows.
struct CTokens : Memory {
  float* q_data = array<float>(160) + 32;
  float* k_data = array<float>(96) + 16;
  float* pages_data = array<float>(192) + 32;
  float* cos_data = array<float>(32);
  float* sin_data = array<float>(32);
  std::int32_t* id_data = array<std::int32_t>(4);
  std::int64_t* slot_data = array<std::int64_t>(4);
  std::int64_t* q_shape = array<std::int64_t>(3);
  std::int64_t* k_shape = array<std::int64_t>(3);
  std::int64_t* pages_shape = array<std::int64_t>(4);
  std::int64_t* table_shape = array<std::int64_t>(2);
  std::int64_t* strides = array<std::int64_t>(4);
  eigen_rope_tensor q = float32(q_data, 3, q_shape), k = float32(k_data, 3, k_shape),
                    pages = float32(pages_data, 4, pages_shape);
  eigen_rope_tensor cos = float32(cos_data, 2, table_shape),
                    sin = float32(sin_data, 2, table_shape);
  eigen_rope_index_list ids{}, slots{};
  eigen_rope_token_rows both[2]{};
  std::int64_t count = 2;
  eigen_rope_device device{};
  eigen_rope_rotation how{};

  CTokens() {
    set(q_shape, {3, 4, 8});
    set(k_shape, {3, 2, 8});
    set(pages_shape, {4, 2, 2, 8});
    set(table_shape, {6, 4});
    set(strides, {32, 16, 8, 1});
    std::fill(cos_data, cos_data + 32, 0.75F);
    std::fill(sin_data, sin_data + 32, 0.5F);
    for (std::int32_t i = 0; i < 4; ++i) id_data[i] = 5 - i;
    for (std::int64_t i = 0; i < 4; ++i) slot_data[i] = 2 * i;
    ids.struct_size = slots.struct_size = sizeof ids;
    ids.data = id_data;
    slots.data = slot_data;
    ids.count = slots.count = 3;
    ids.dtype = {EIGEN_ROPE_INT, 32, 1};
    slots.dtype = {EIGEN_ROPE_INT, 64, 1};
    both[0].struct_size = both[1].struct_size = sizeof both[0];
    both[0].to = &q;
    both[1].to = &pages;
    both[1].from = &k;
    both[1].slots = &slots;
    how.struct_size = sizeof how;
    how.pairing = EIGEN_ROPE_SPLIT_HALF;
    device.struct_size = sizeof device;
    device.parallel_for = [](void*, std::int64_t items, eigen_rope_work run, void* work) {
      run(work, 0, items);
    };
    device.threads = 2;
  }
  static void set(std::int64_t* to, std::initializer_list<std::int64_t> numbers) {
    std::copy(numbers.begin(), numbers.end(), to);
  }
  static eigen_rope_tensor float32(void* data, std::int32_t axes, const std::int64_t* extents) {
    return eigen_rope_cpu_tensor(data, EIGEN_ROPE_FLOAT, 32, axes, extents);
  }

  void rotate() const { rotate(both, &cos, &sin, &ids, &how); }
  void rotate(const eigen_rope_token_rows* tensors, const eigen_rope_tensor* cosines,
              const eigen_rope_tensor* sines, const eigen_rope_index_list* rows,
              const eigen_rope_rotation* rotation) const {
    const eigen_rope_status status =
        eigen_rope_rotate_tokens(tensors, count, cosines, sines, rows, rotation);
    if (status == EIGEN_ROPE_OK) return;
    if (status != EIGEN_ROPE_INVALID_ARGUMENT) throw std::runtime_error("another status");
    throw Error(eigen_rope_last_message());
  }
  /// What the cell itself has written belongs to what must stay.
  void remember_and_rotate() {
    remember();
    rotate();
  }
};

using F = Fault;

const Cell<CTokens> cells[] = {
    // Tensors: the structs and their number.
    {"tensors", F::null, [](CTokens& t) { t.rotate(nullptr, &t.cos, &t.sin, &t.ids, &t.how); },
     "tensors must be given, got a null pointer"},
    {"count", F::negative,
     [](CTokens& t) {
       t.count = -1;
       t.rotate();
     },
     "the number of tensors must not be negative, got -1"},
    {"count", F::huge,
     [](CTokens& t) {
       t.count = two_to_62;
       t.rotate();
     },
     "the number of bytes of all tensors must fit a 64-bit count, got 4611686018427387904 x 32"},
    {"count", F::zero,
     [](CTokens& t) {
       t.count = 0;
       t.rotate(nullptr, &t.cos, &t.sin, &t.ids, &t.how);
     },
     nullptr, "there is nothing to rotate"},
    {"tensors, struct_size", F::missing,
     [](CTokens& t) {
       t.both[0].struct_size = 0;
       t.rotate();
     },
     "the struct_size of tensors must be that of a struct of at least 32 bytes whose members this "
     "version of the library knows, or that are 0, got 0"},
    {"tensors, struct_size", F::odd,
     [](CTokens& t) {
       struct {
         eigen_rope_token_rows rows;
         std::uint64_t added;
       } later{t.both[1], 0};
       later.rows.struct_size = 36;
       t.count = 1;
       t.rotate(&later.rows, &t.cos, &t.sin, &t.ids, &t.how);
     },
     "the struct_size of tensors must be that of a struct of at least 32 bytes whose members this "
     "version of the library knows, or that are 0, got 36"},
    {"tensors, struct_size", F::huge,
     [](CTokens& t) {
       t.both[0].struct_size = 4096;
       t.rotate();
     },
     "the struct_size of tensors must be that of a struct of at least 32 bytes whose members this "
     "version of the library knows, or that are 0, got 4096"},
    {"tensors, struct_size of the second", F::wrong_length,
     [](CTokens& t) {
       t.both[1].struct_size = 40;
       t.rotate();
     },
     "all tensors must have the struct_size of the first, 32, got 40"},
    // What is written and read.
    {"to", F::null,
     [](CTokens& t) {
       t.both[1].to = nullptr;
       t.rotate();
     },
     "to must be given, got a null pointer"},
    {"to, type", F::unknown,
     [](CTokens& t) {
       t.pages.dtype = {EIGEN_ROPE_INT, 32, 1};
       t.rotate();
     },
     "to must be of float32, float64, float16 or bfloat16, got int32"},
    {"from, type", F::unknown,
     [](CTokens& t) {
       t.k.dtype = {EIGEN_ROPE_FLOAT, 8, 1};
       t.rotate();
     },
     "from must be of float32, float64, float16 or bfloat16, got float8"},
    {"to, type", F::wrong_shape,
     [](CTokens& t) {
       t.pages.dtype.bits = 64;
       t.rotate();
     },
     "the destination must have x's type f32, got f64"},
    {"tensors, type of the second", F::unknown,
     [](CTokens& t) {
       t.pages.dtype.bits = t.k.dtype.bits = 16;
       t.rotate();
     },
     "each tensor must have the first x's type f32, got f16"},
    {"to, memory", F::unknown,
     [](CTokens& t) {
       t.pages.device.device_type = 2;
       t.rotate();
     },
     "to must be in the memory of the CPU (device_type 1), got 2"},
    {"from, ndim", F::negative,
     [](CTokens& t) {
       t.k.ndim = -1;
       t.rotate();
     },
     "from must have 1 to 8 axes, got -1"},
    {"from, ndim", F::too_large,
     [](CTokens& t) {
       t.k.ndim = 9;
       t.rotate();
     },
     "from must have 1 to 8 axes, got 9"},
    {"to, ndim", F::wrong_rank,
     [](CTokens& t) {
       t.q.ndim = 2;
       t.rotate();
     },
     "a view of tokens must have axes of features, heads and tokens, in this order, got shape "
     "[4, 3]"},
    {"from, shape", F::null,
     [](CTokens& t) {
       t.k.shape = nullptr;
       t.rotate();
     },
     "from's shape must be given, got a null pointer"},
    {"from, shape", F::negative,
     [](CTokens& t) {
       t.k_shape[0] = -3;
       t.remember_and_rotate();
     },
     "extents must not be negative, got -3"},
    {"from, shape", F::huge,
     [](CTokens& t) {
       t.k_shape[0] = t.k_shape[1] = two_to_62;
       t.remember_and_rotate();
     },
     "the number of elements must fit a 64-bit count, got 4611686018427387904 x "
     "4611686018427387904"},
    {"from, shape", F::wrong_length,
     [](CTokens& t) {
       t.k_shape[0] = 2;
       t.remember_and_rotate();
     },
     "all tensors of a call must have the same number of tokens, 3, got 2"},
    {"to, shape", F::wrong_shape,
     [](CTokens& t) {
       t.pages_shape[2] = 1;
       t.remember_and_rotate();
     },
     "the destination must have x's features and heads [8, 2], got [8, 1]"},
    {"to, strides", F::overlapping,
     [](CTokens& t) {
       t.strides[2] = 0;
       t.pages.strides = t.strides;
       t.remember_and_rotate();
     },
     "strides must step over the 8 elements inside them, or rows share elements, got 0"},
    {"to, strides", F::huge,
     [](CTokens& t) {
       t.strides[0] = two_to_62;
       t.pages.strides = t.strides;
       t.remember_and_rotate();
     },
     "the span of a strided view must fit a 64-bit count, got 4611686018427387904 x 3"},
    {"from, strides", F::zero,
     [](CTokens& t) {
       t.strides[0] = 0;
       t.strides[1] = 8;
       t.strides[2] = 1;
       t.k.strides = t.strides;
       t.remember_and_rotate();
     },
     nullptr, "rows that are read may be repeated"},
    {"to, byte_offset", F::huge,
     [](CTokens& t) {
       t.pages.byte_offset = ~std::uint64_t{0};
       t.rotate();
     },
     "to's byte_offset must lead to memory, got 18446744073709551615"},
    {"from, byte_offset", F::odd,
     [](CTokens& t) {
       t.k.byte_offset = 2;
       t.rotate();
     },
     "data must be aligned to the size of its elements, 4 bytes (remainder), got 2"},
    {"to, data", F::null,
     [](CTokens& t) {
       t.pages.data = nullptr;
       t.rotate();
     },
     "a strided view must have data, got a null pointer"},
    {"from, data", F::null,
     [](CTokens& t) {
       t.k.data = nullptr;
       t.rotate();
     },
     "a strided view must have data, got a null pointer"},
    {"to and from", F::overlapping,
     [](CTokens& t) {
       t.pages.data = t.k_data + 4;
       t.rotate();
     },
     "x and the destination must be the same rows or not overlap at all (distance in bytes), got "
     "16"},
    {"to and from", F::aliasing,
     [](CTokens& t) {
       t.both[1].to = &t.k;
       t.slot_data[1] = 1;
       t.slot_data[2] = 2;
       t.remember_and_rotate();
     },
     "x and the destination must be the same rows or not overlap at all (distance in bytes), got "
     "0"},
    {"to, of two tensors", F::overlapping,
     [](CTokens& t) {
       t.q.data = t.pages_data;
       t.rotate();
     },
     "the destinations of a call must not overlap (distance in bytes), got 0"},
    {"to and another's from", F::overlapping,
     [](CTokens& t) {
       t.q.data = t.k_data;
       t.q_shape[1] = 2;
       t.remember_and_rotate();
     },
     "a destination must not overlap another tensor of the call (distance in bytes), got 0"},
    {"to and the table", F::overlapping,
     [](CTokens& t) {
       t.cos.data = t.pages_data;
       t.rotate();
     },
     "the destination must not overlap the table"},
    // Slots.
    {"slots, struct_size", F::missing,
     [](CTokens& t) {
       t.slots.struct_size = 0;
       t.rotate();
     },
     "the struct_size of slots must be that of a struct of at least 32 bytes whose members this "
     "version of the library knows, or that are 0, got 0"},
    {"slots, reserved", F::unknown,
     [](CTokens& t) {
       t.slots.reserved = 1;
       t.rotate();
     },
     "the reserved member of slots must be 0, got 1"},
    {"slots, type", F::unknown,
     [](CTokens& t) {
       t.slots.dtype = {EIGEN_ROPE_FLOAT, 64, 1};
       t.rotate();
     },
     "slots must be of int32 or int64, got float64"},
    {"slots, type", F::missing,
     [](CTokens& t) {
       t.slots.dtype = {};
       t.rotate();
     },
     "slots must be of int32 or int64, got int0x0"},
    {"slots, data", F::null,
     [](CTokens& t) {
       t.slots.data = nullptr;
       t.rotate();
     },
     "a list of numbers must have data, got a null pointer and count 3"},
    {"slots, count", F::negative,
     [](CTokens& t) {
       t.slots.count = -1;
       t.rotate();
     },
     "the length of a list of numbers must not be negative, got -1"},
    {"slots, count", F::wrong_length,
     [](CTokens& t) {
       t.slots.count = 4;
       t.rotate();
     },
     "there must be one slot for each of the 3 tokens, or none, got 4"},
    {"slots", F::missing,
     [](CTokens& t) {
       t.both[1].slots = nullptr;
       t.rotate();
     },
     "the destination must have one slot for each of the 3 tokens where no list says which slot "
     "each token has, got 8"},
    {"slots", F::too_large,
     [](CTokens& t) {
       t.slot_data[1] = 8;
       t.remember_and_rotate();
     },
     "slots[1] must be -1 or from 0 to 7, got 8"},
    {"slots", F::negative,
     [](CTokens& t) {
       t.slot_data[1] = -2;
       t.remember_and_rotate();
     },
     "slots[1] must be -1 or from 0 to 7, got -2"},
    {"slots", F::aliasing,
     [](CTokens& t) {
       t.slot_data[2] = 0;
       t.remember_and_rotate();
     },
     "slots must differ: slots[2] must not repeat slots[0], got 0"},
    // The table and its rows.
    {"cos", F::null, [](CTokens& t) { t.rotate(t.both, nullptr, &t.sin, &t.ids, &t.how); },
     "cos must be given, got a null pointer"},
    {"sin", F::null, [](CTokens& t) { t.rotate(t.both, &t.cos, nullptr, &t.ids, &t.how); },
     "sin must be given, got a null pointer"},
    {"table, type", F::unknown,
     [](CTokens& t) {
       t.cos.dtype.bits = t.sin.dtype.bits = 64;
       t.rotate();
     },
     "the table must have x's type f32, got f64"},
    {"sin, strides", F::wrong_shape,
     [](CTokens& t) {
       t.sin.strides = t.strides + 2;
       t.rotate();
     },
     "sin must have cos's strides"},
    {"table, shape", F::wrong_shape,
     [](CTokens& t) {
       t.table_shape[1] = 3;
       t.remember_and_rotate();
     },
     "table width must be 4 (one entry per pair) or 8 (one per rotated element), got 3"},
    {"table, strides", F::zero,
     [](CTokens& t) {
       t.strides[2] = 0;
       t.cos.strides = t.sin.strides = t.strides + 2;
       t.remember_and_rotate();
     },
     "the rows of a table of tokens must not repeat, got a stride of 0"},
    {"table, data", F::null,
     [](CTokens& t) {
       t.cos.data = nullptr;
       t.rotate();
     },
     "the table must have cos and sin, got a null pointer"},
    {"table", F::zero,
     [](CTokens& t) {
       std::fill(t.cos_data, t.cos_data + 32, 0.0F);
       std::fill(t.sin_data, t.sin_data + 32, 0.0F);
       t.how.direction = EIGEN_ROPE_INVERSE;
       t.remember_and_rotate();
     },
     "the table must have cos_A cos_B + sin_A sin_B != 0 everywhere to be inverted, got 0"},
    {"ids, struct_size", F::too_small,
     [](CTokens& t) {
       t.ids.struct_size = 24;
       t.rotate();
     },
     "the struct_size of ids must be that of a struct of at least 32 bytes whose members this "
     "version of the library knows, or that are 0, got 24"},
    {"ids, reserved", F::unknown,
     [](CTokens& t) {
       t.ids.reserved = -1;
       t.rotate();
     },
     "the reserved member of ids must be 0, got -1"},
    {"ids, type", F::unknown,
     [](CTokens& t) {
       t.ids.dtype = {1, 32, 1};
       t.rotate();
     },
     "ids must be of int32 or int64, got uint32"},
    {"ids, type", F::unknown,
     [](CTokens& t) {
       t.ids.dtype = {EIGEN_ROPE_INT, 16, 2};
       t.rotate();
     },
     "ids must be of int32 or int64, got int16x2"},
    {"ids, data", F::null,
     [](CTokens& t) {
       t.ids.data = nullptr;
       t.rotate();
     },
     "a list of numbers must have data, got a null pointer and count 3"},
    {"ids, count", F::negative,
     [](CTokens& t) {
       t.ids.count = -3;
       t.rotate();
     },
     "the length of a list of numbers must not be negative, got -3"},
    {"ids, count", F::wrong_length,
     [](CTokens& t) {
       t.ids.count = 2;
       t.rotate();
     },
     "there must be one table row for each of the 3 tokens, or no list, got 2"},
    {"ids", F::missing, [](CTokens& t) { t.rotate(t.both, &t.cos, &t.sin, nullptr, &t.how); },
     "the table must have one row, or one for each of the 3 tokens, where no list says which row "
     "each token reads, got 6"},
    {"ids", F::too_large,
     [](CTokens& t) {
       t.id_data[2] = 6;
       t.remember_and_rotate();
     },
     "ids[2] must be a row of the table, from 0 to 5, got 6"},
    {"ids", F::negative,
     [](CTokens& t) {
       t.id_data[0] = -1;
       t.remember_and_rotate();
     },
     "ids[0] must be a row of the table, from 0 to 5, got -1"},
    // The rotation.
    {"rotation", F::null, [](CTokens& t) { t.rotate(t.both, &t.cos, &t.sin, &t.ids, nullptr); },
     "rotation must be given, got a null pointer"},
    {"rotation, struct_size", F::missing,
     [](CTokens& t) {
       t.how.struct_size = 0;
       t.rotate();
     },
     "the struct_size of rotation must be that of a struct of at least 56 bytes whose members this "
     "version of the library knows, or that are 0, got 0"},
    {"pairing", F::missing,
     [](CTokens& t) {
       t.how.pairing = 0;
       t.rotate();
     },
     "pairing must be 1 (split_half), 2 (interleaved), 3 (quarter) or 4 "
     "(interleaved_to_split_half), got 0"},
    {"cos and sin, bytes", F::huge,
     [](CTokens& t) {
       t.table_shape[0] = std::int64_t{1} << 60;
       t.how.direction = EIGEN_ROPE_INVERSE;
       t.remember_and_rotate();
     },
     "the number of bytes of the table must fit a 64-bit count, got 4611686018427387904 x 4"},
    {"direction", F::unknown,
     [](CTokens& t) {
       t.how.direction = -1;
       t.rotate();
     },
     "direction must be 0 (forward), 1 (backward) or 2 (inverse), got -1"},
    {"rotary dims", F::too_large,
     [](CTokens& t) {
       t.how.rotary_dims = 10;
       t.rotate();
     },
     "rotary dims must be at most 8 (head size 8 less window offset 0), got 10"},
    {"axis", F::unknown,
     [](CTokens& t) {
       t.how.flags = EIGEN_ROPE_NAMED_AXIS;
       t.how.axis = 2;
       t.rotate();
     },
     "the pairing of tokens must name no axis, as their features have a fixed one, got 2"},
    {"table axis", F::too_large,
     [](CTokens& t) {
       t.how.flags = EIGEN_ROPE_NAMED_TABLE_AXIS;
       t.how.table_axis = 2;
       t.rotate();
     },
     "the table's feature axis must be one of its 2 axes, counted from 0, got 2"},
    {"device, threads", F::zero,
     [](CTokens& t) {
       t.device.threads = 0;
       t.how.device = &t.device;
       t.rotate();
     },
     "the number of threads of a device must be at least 1, got 0"},
};
const Area area("tokens with listed places, in C", cells);
TEST(BadInput, TokensInC) { expect_refusals(cells); }

}  // namespace
}  // namespace eigen_rope::test::c_tokens_tests
