// SPDX-License-Identifier: Apache-2.0
//
// Bad input: rotations of tokens whose places are listed.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "bad_input/bad_input.hpp"
#include "eigen_rope/rotation/rotate_tokens.hpp"

namespace eigen_rope::test::tokens_tests {
namespace {

using View = StridedView<float>;

/// Queries and keys of three tokens, pages of four slots of two, and a table of six rows.
struct TokenViews : Memory {
  float* q = array<float>(96);
  float* k = array<float>(48);
  float* pages = array<float>(128);
  float* cos = array<float>(24);
  float* sin = array<float>(24);
  std::int32_t* ids = array<std::int32_t>(4);
  std::int64_t* slots = array<std::int64_t>(4);
  TableView<float> table{cos, sin, 4, Shape{1, 6}};
  View queries{q, {8, 4, 3}, {8, 32}};
  View keys{k, {8, 2, 3}, {8, 16}};
  View cache{pages, {8, 2, 2, 4}, {8, 16, 32}};
  IndexList rows{ids, 3};
  IndexList places{slots, 3};
  Pairing pairing = split_half;
  Direction direction = Direction::forward;

  TokenViews() {
    std::fill(cos, cos + 24, 0.75F);
    std::fill(sin, sin + 24, 0.5F);
    for (std::int32_t i = 0; i < 4; ++i) ids[i] = 5 - i;
    for (std::int64_t i = 0; i < 4; ++i) slots[i] = 2 * i;
    remember();
  }
  void rotate() const {
    rotate_tokens({TokenRows{queries}, TokenRows{cache, keys, places}}, table, rows, pairing,
                  direction);
  }
};

const Cell<TokenViews> tokens[] = {
    {"ids", Fault::wrong_length,
     [](TokenViews& of) {
       of.rows = {of.ids, 2};
       of.rotate();
     },
     "there must be one table row for each of the 3 tokens, or no list, got 2"},
    {"ids", Fault::missing,
     [](TokenViews& of) {
       of.rows = {};
       of.rotate();
     },
     "the table must have one row, or one for each of the 3 tokens, where no list says which row "
     "each token reads, got 6"},
    {"ids", Fault::too_large,
     [](TokenViews& of) {
       of.ids[1] = 6;
       of.remember();
       of.rotate();
     },
     "ids[1] must be a row of the table, from 0 to 5, got 6"},
    {"ids", Fault::negative,
     [](TokenViews& of) {
       of.ids[2] = -1;
       of.remember();
       of.rotate();
     },
     "ids[2] must be a row of the table, from 0 to 5, got -1"},
    {"ids", Fault::null,
     [](TokenViews& of) {
       of.rows = {static_cast<const int*>(nullptr), 3};
     },
     "a list of numbers must have data, got a null pointer and count 3"},
    {"ids", Fault::negative,
     [](TokenViews& of) {
       of.rows = {of.ids, -1};
     },
     "the length of a list of numbers must not be negative, got -1"},
    {"table", Fault::zero,
     [](TokenViews& of) {
       of.table.outer = {1, 0};
       of.rotate();
     },
     "ids[0] must not be given, as the table has no rows, got 5"},
    {"table", Fault::null,
     [](TokenViews& of) {
       of.table.sin = nullptr;
       of.rotate();
     },
     "the table must have cos and sin, got a null pointer"},
    {"table", Fault::wrong_shape,
     [](TokenViews& of) {
       of.table.outer = {6};
       of.table.feature_axis = 1;
       of.rotate();
     },
     "the table of tokens must have the entries of a row next to each other, got 6 apart"},
    {"table", Fault::wrong_shape,
     [](TokenViews& of) {
       of.table.width = 3;
       of.rotate();
     },
     "table width must be 4 (one entry per pair) or 8 (one per rotated element), got 3"},
    {"table", Fault::zero,
     [](TokenViews& of) {
       std::fill(of.cos, of.cos + 24, 0.0F);
       std::fill(of.sin, of.sin + 24, 0.0F);
       of.remember();
       of.direction = Direction::inverse;
       of.rotate();
     },
     "the table must have cos_A cos_B + sin_A sin_B != 0 everywhere to be inverted, got 0"},
    {"table", Fault::overlapping,
     [](TokenViews& of) {
       of.table.cos = of.k;
       of.keys.data = of.q;
       of.queries = of.keys;
       of.queries.data = of.k;
       of.rotate();
     },
     "the destination must not overlap the table"},
    {"slots", Fault::wrong_length,
     [](TokenViews& of) {
       of.places = {of.slots, 4};
       of.rotate();
     },
     "there must be one slot for each of the 3 tokens, or none, got 4"},
    {"slots", Fault::missing,
     [](TokenViews& of) {
       of.places = {};
       of.rotate();
     },
     "the destination must have one slot for each of the 3 tokens where no list says which slot "
     "each token has, got 8"},
    {"slots", Fault::too_large,
     [](TokenViews& of) {
       of.slots[0] = 8;
       of.remember();
       of.rotate();
     },
     "slots[0] must be -1 or from 0 to 7, got 8", "kernels of paged caches write behind the cache"},
    {"table, bytes", Fault::huge,
     [](TokenViews& of) {
       of.table.outer = {std::int64_t{1} << 60};
       of.direction = Direction::inverse;
       of.rotate();
     },
     "the number of bytes of the table must fit a 64-bit count, got 4611686018427387904 x 4"},
    {"slots", Fault::huge,
     [](TokenViews& of) {
       of.slots[2] = std::numeric_limits<std::int64_t>::max();
       of.remember();
       of.rotate();
     },
     "slots[2] must be -1 or from 0 to 7, got 9223372036854775807"},
    {"slots", Fault::negative,
     [](TokenViews& of) {
       of.slots[2] = -2;
       of.remember();
       of.rotate();
     },
     "slots[2] must be -1 or from 0 to 7, got -2"},
    {"slots", Fault::aliasing,
     [](TokenViews& of) {
       of.slots[0] = 4;
       of.remember();
       of.rotate();
     },
     "slots must differ: slots[2] must not repeat slots[0], got 4"},
    {"slots", Fault::zero,
     [](TokenViews& of) {
       of.cache.shape = {8, 2, 2, 0};
       of.rotate();
     },
     "slots[0] must be -1, as there are no slots, got 0"},
    {"tensors", Fault::wrong_rank,
     [](TokenViews& of) {
       of.queries = {of.q, {8, 3}, {32}};
       of.rotate();
     },
     "a view of tokens must have axes of features, heads and tokens, in this order, got shape "
     "[8, 3]"},
    {"tensors", Fault::wrong_length,
     [](TokenViews& of) {
       of.queries.shape = {8, 4, 2};
       of.rows = {of.ids, 2};
       of.rotate();
     },
     "all tensors of a call must have the same number of tokens, 2, got 3"},
    {"tensors", Fault::wrong_shape,
     [](TokenViews& of) {
       of.cache.shape = {8, 1, 2, 4};
       of.rotate();
     },
     "the destination must have x's features and heads [8, 2], got [8, 1]"},
    {"tensors", Fault::wrong_length,
     [](TokenViews& of) {
       of.cache.strides = {8, 16};
       of.rotate();
     },
     "a strided view must have one stride for each of its 3 outer axes, got 2"},
    {"tensors", Fault::overlapping,
     [](TokenViews& of) {
       of.cache.strides = {8, 0, 32};
       of.rotate();
     },
     "strides must step over the 8 elements inside them, or rows share elements, got 0"},
    {"tensors", Fault::null,
     [](TokenViews& of) {
       of.cache.data = nullptr;
       of.rotate();
     },
     "a strided view must have data, got a null pointer"},
    {"tensors", Fault::overlapping,
     [](TokenViews& of) {
       of.queries = {of.pages + 112, {8, 1, 3}, {8, 8}};
       of.cache.shape = {8, 2, 2, 4};
       of.rotate();
     },
     "the destinations of a call must not overlap (distance in bytes), got 448"},
    {"tensors", Fault::aliasing,
     [](TokenViews& of) {
       of.cache = of.keys;
       of.places = {of.slots, 3};
       of.slots[1] = 1;
       of.slots[2] = 2;
       of.remember();
       of.rotate();
     },
     "x and the destination must be the same rows or not overlap at all (distance in bytes), got "
     "0"},
    {"tensors", Fault::overlapping,
     [](TokenViews& of) {
       of.queries.data = of.pages;
       of.keys.data = of.pages + 16;
       of.cache = of.keys;
       of.places = {};
       of.keys = {of.k, {8, 2, 3}, {8, 16}};
       of.rotate();
     },
     "the destinations of a call must not overlap (distance in bytes), got -64"},
    {"tensors", Fault::overlapping,
     [](TokenViews& of) {
       of.queries = {of.k + 8, {8, 1, 3}, {8, 16}};
       of.rotate();
     },
     "a destination must not overlap another tensor of the call (distance in bytes), got 32"},
    {"pairing", Fault::unknown,
     [](TokenViews& of) {
       of.pairing = split_half.along(2);
       of.rotate();
     },
     "the pairing of tokens must name no axis, as their features have a fixed one, got 2"},
    {"pairing", Fault::too_large,
     [](TokenViews& of) {
       of.pairing = split_half.with_rotary_dims(10);
       of.rotate();
     },
     "rotary dims must be at most 8 (head size 8 less window offset 0), got 10"},
};
const Area area("tokens with listed places", tokens);
TEST(BadInput, Tokens) { expect_refusals(tokens); }

}  // namespace
}  // namespace eigen_rope::test::tokens_tests
