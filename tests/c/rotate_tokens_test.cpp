// SPDX-License-Identifier: Apache-2.0
//
// Tokens whose places are listed, through the C interface: the definition's bits and those of the
// C++ one, what may be left out, structs of other versions, threads, and refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "c/problem.hpp"
#include "eigen_rope/forms/reference.hpp"
#include "support/bits.hpp"
#include "support/parallel_for.hpp"
#include "support/scalar_and_entry.hpp"

namespace eigen_rope::test::c_rotate_tokens_tests {
namespace {

constexpr Index D = 16, q_heads = 4, k_heads = 2, tokens = 5, positions = 7, slots_there = 12;

template <class Types>
class CRotateTokens : public testing::Test {};
using AllTypes =
    testing::Types<ScalarAndEntry<float, float>, ScalarAndEntry<double, double>,
                   ScalarAndEntry<Eigen::half, Eigen::half>, ScalarAndEntry<Eigen::half, float>,
                   ScalarAndEntry<Eigen::bfloat16, Eigen::bfloat16>,
                   ScalarAndEntry<Eigen::bfloat16, float>>;
TYPED_TEST_SUITE(CRotateTokens, AllTypes);

/// Queries in place, keys into pages of four slots, and a table of rows [cosines, sines].
template <class Scalar, class Entry>
struct QAndK {
  static constexpr ScalarType type = scalar_type<Scalar>;
  std::vector<Scalar> q = c_numbers<Scalar>(tokens * q_heads * D, 1);
  std::vector<Scalar> k = c_numbers<Scalar>(tokens * k_heads * D, 2);
  std::vector<Scalar> pages = std::vector<Scalar>(slots_there * k_heads * D, Scalar(7.0F));
  std::vector<Entry> cos_sin = c_numbers<Entry>(positions * D, 3);
  std::vector<std::int32_t> ids{6, 0, 3, 3, 5};
  std::vector<std::int64_t> slots{11, 2, -1, 0, 7};
  CTensor queries{type, q.data(), {tokens, q_heads, D}};
  CTensor keys{type, k.data(), {tokens, k_heads, D}};
  CTensor cache{type, pages.data(), {slots_there / 4, 4, k_heads, D}};
  CTensor cos{scalar_type<Entry>, cos_sin.data(), {positions, D / 2}, {D, 1}};
  CTensor sin{scalar_type<Entry>, cos_sin.data() + D / 2, {positions, D / 2}, {D, 1}};
  eigen_rope_index_list rows = c_list(ids);
  eigen_rope_index_list places = c_list(slots);
  eigen_rope_token_rows both[2] = {c_rows(queries), c_rows(cache, &keys, &places)};

  eigen_rope_status rotate(const eigen_rope_rotation& how, std::int64_t count = 2) const {
    return eigen_rope_rotate_tokens(both, count, cos.get(), sin.get(), &rows, &how);
  }

  /// Writes the definition of one token's rotation.
  void define(Index token, const Scalar* from, Scalar* to, Index heads, Pairing pairing,
              Direction direction) const {
    const Entry* row = cos_sin.data() + ids[static_cast<std::size_t>(token)] * D;
    reference::rotate(from, to, Shape{D, heads}, TableView<Entry>{row, row + D / 2, D / 2, {}},
                      pairing, direction);
  }
  std::vector<Scalar> defined_q(Pairing pairing, Direction direction) const {
    std::vector<Scalar> result(q.size());
    for (Index t = 0; t < tokens; ++t) {
      const Index at = t * q_heads * D;
      define(t, q.data() + at, result.data() + at, q_heads, pairing, direction);
    }
    return result;
  }
  std::vector<Scalar> defined_pages(Pairing pairing, Direction direction) const {
    std::vector<Scalar> result = pages;
    for (Index t = 0; t < tokens; ++t) {
      const std::int64_t slot = slots[static_cast<std::size_t>(t)];
      if (slot < 0) continue;
      define(t, k.data() + t * k_heads * D, result.data() + slot * k_heads * D, k_heads, pairing,
             direction);
    }
    return result;
  }
};

TYPED_TEST(CRotateTokens, HasTheBitsOfTheDefinitionAndOfCpp) {
  using Problem = QAndK<typename TypeParam::Scalar, typename TypeParam::Entry>;
  for (const CPairing& pairing : c_pairings) {
    for (const CDirection& direction : c_directions) {
      Problem c, cpp;
      const auto q = c.defined_q(pairing.pairing, direction.direction);
      const auto pages = c.defined_pages(pairing.pairing, direction.direction);
      EXPECT_DONE(c.rotate(c_rotation(pairing.number, direction.number)));
      EXPECT_EQ(bits_of(c.q), bits_of(q));
      EXPECT_EQ(bits_of(c.pages), bits_of(pages));

      const any::Tensor in_place{cpp.type, cpp.q.data(), {tokens, q_heads, D}};
      const any::Tensor to{cpp.type, cpp.pages.data(), {slots_there, k_heads, D}};
      const any::ConstTensor from{cpp.type, cpp.k.data(), {tokens, k_heads, D}};
      any::Table table{scalar_type<typename TypeParam::Entry>, cpp.cos_sin.data(),
                       cpp.cos_sin.data() + D / 2};
      table.shape = {positions, D / 2};
      table.strides = {D, 1};
      any::rotate_tokens({{in_place, in_place}, {to, from, cpp.slots}}, table, cpp.ids,
                         pairing.pairing, direction.direction);
      EXPECT_EQ(bits_of(c.q), bits_of(cpp.q));
      EXPECT_EQ(bits_of(c.pages), bits_of(cpp.pages));
    }
  }
}

/// Rows by integers of 64 bits, slots by integers of 32; a window; the table's entries on axis 0.
TYPED_TEST(CRotateTokens, TakesEitherWidthOfIntegersWindowsAndANamedAxisOfTheTable) {
  using Entry = typename TypeParam::Entry;
  QAndK<typename TypeParam::Scalar, Entry> of;
  const std::vector<std::int64_t> wide_ids(of.ids.begin(), of.ids.end());
  const std::vector<std::int32_t> narrow_slots(of.slots.begin(), of.slots.end());
  of.rows = c_list(wide_ids);
  of.places = c_list(narrow_slots);
  std::vector<Entry> turned(of.cos_sin.size());  // [entries, positions]
  for (Index row = 0; row < positions; ++row) {
    for (Index i = 0; i < D; ++i) turned[i * positions + row] = of.cos_sin[row * D + i];
  }
  constexpr Index dims = 8, offset = 4;
  const CTensor cos(scalar_type<Entry>, turned.data(), {dims / 2, positions});
  const CTensor sin(scalar_type<Entry>, turned.data() + D / 2 * positions, {dims / 2, positions});
  auto how = c_rotation(EIGEN_ROPE_INTERLEAVED);
  how.rotary_dims = dims;
  how.offset = offset;
  how.flags = EIGEN_ROPE_NAMED_TABLE_AXIS;
  const Pairing pairing = interleaved.with_offset(offset).with_rotary_dims(dims);
  auto expected = of.pages;
  for (Index t = 0; t < tokens; ++t) {
    if (of.slots[t] < 0) continue;
    const Entry* row = of.cos_sin.data() + of.ids[t] * D;
    reference::rotate(of.k.data() + t * k_heads * D, expected.data() + of.slots[t] * k_heads * D,
                      Shape{D, k_heads}, TableView<Entry>{row, row + D / 2, dims / 2, {}}, pairing);
  }
  EXPECT_DONE(eigen_rope_rotate_tokens(of.both + 1, 1, cos.get(), sin.get(), &of.rows, &how));
  EXPECT_EQ(bits_of(of.pages), bits_of(expected));
}

TEST(CRotateTokens, ListsMayBeLeftOut) {
  QAndK<float, float> of, counted;
  const auto how = c_rotation(EIGEN_ROPE_SPLIT_HALF);
  const std::vector<std::int32_t> in_order{0, 1, 2, 3, 4};
  counted.rows = c_list(in_order);
  EXPECT_DONE(counted.rotate(how, 1));

  const CTensor cos(ScalarType::f32, of.cos_sin.data(), {tokens, D / 2}, {D, 1});
  const CTensor sin(ScalarType::f32, of.cos_sin.data() + D / 2, {tokens, D / 2}, {D, 1});
  EXPECT_DONE(eigen_rope_rotate_tokens(of.both, 1, cos.get(), sin.get(), nullptr, &how));
  EXPECT_EQ(bits_of(of.q), bits_of(counted.q));

  // A list of no integers is no list; one row is everybody's.
  QAndK<float, float> by_none, by_zero;
  by_none.rows.count = 0;
  by_none.rows.data = nullptr;
  by_zero.ids.assign(tokens, 0);
  by_zero.rows = c_list(by_zero.ids);
  EXPECT_DONE(by_zero.rotate(how, 1));
  const CTensor one_cos(ScalarType::f32, by_none.cos_sin.data(), {1, D / 2}, {D, 1});
  const CTensor one_sin(ScalarType::f32, by_none.cos_sin.data() + D / 2, {1, D / 2}, {D, 1});
  EXPECT_DONE(
      eigen_rope_rotate_tokens(by_none.both, 1, one_cos.get(), one_sin.get(), &by_none.rows, &how));
  EXPECT_EQ(bits_of(by_none.q), bits_of(by_zero.q));
}

TEST(CRotateTokens, TakesAnyNumberOfTensors) {
  const auto how = c_rotation(EIGEN_ROPE_QUARTER);
  QAndK<float, float> of;
  const auto expected = of.defined_q(quarter, Direction::forward);
  std::vector<std::vector<float>> copies(9, of.q);
  std::vector<std::unique_ptr<CTensor>> tensors;
  std::vector<eigen_rope_token_rows> all;
  for (auto& copy : copies) {
    tensors.push_back(std::make_unique<CTensor>(ScalarType::f32, copy.data(),
                                                std::vector<std::int64_t>{tokens, q_heads, D}));
    all.push_back(c_rows(*tensors.back()));
  }
  EXPECT_DONE(eigen_rope_rotate_tokens(all.data(), 9, of.cos.get(), of.sin.get(), &of.rows, &how));
  for (const auto& copy : copies) EXPECT_EQ(bits_of(copy), bits_of(expected));
  EXPECT_DONE(eigen_rope_rotate_tokens(nullptr, 0, of.cos.get(), of.sin.get(), &of.rows, &how));
}

/// Structs with room behind them, as a caller with a later header has them.
struct LaterRows {
  eigen_rope_token_rows rows;
  std::uint64_t added;
};
struct LaterList {
  eigen_rope_index_list list;
  std::uint64_t added;
};

TEST(CRotateTokens, TakesStructsOfALaterVersionIfWhatIsNewIsZero) {
  QAndK<float, float> of, expected;
  const auto how = c_rotation(EIGEN_ROPE_SPLIT_HALF);
  EXPECT_DONE(expected.rotate(how));
  LaterList ids{of.rows, 0}, slots{of.places, 0};
  ids.list.struct_size = slots.list.struct_size = sizeof ids;
  LaterRows both[] = {{of.both[0], 0}, {of.both[1], 0}};
  both[1].rows.slots = &slots.list;
  for (LaterRows& one : both) one.rows.struct_size = sizeof one;
  const auto rotate = [&] {
    return eigen_rope_rotate_tokens(&both[0].rows, 2, of.cos.get(), of.sin.get(), &ids.list, &how);
  };
  const std::vector<float> q = of.q, pages = of.pages;
  for (std::uint64_t* added : {&ids.added, &slots.added, &both[0].added, &both[1].added}) {
    *added = 1;
    EXPECT_EQ(rotate(), EIGEN_ROPE_INVALID_ARGUMENT);
    EXPECT_NE(std::string(eigen_rope_last_message()).find("the struct_size of "),
              std::string::npos);
    *added = 0;
  }
  EXPECT_EQ(bits_of(of.q), bits_of(q));
  EXPECT_EQ(bits_of(of.pages), bits_of(pages));
  EXPECT_DONE(rotate());
  EXPECT_EQ(bits_of(of.q), bits_of(expected.q));
  EXPECT_EQ(bits_of(of.pages), bits_of(expected.pages));
}

TEST(CRotateTokens, ARefusalOfOneTensorLeavesTheOthers) {
  QAndK<float, float> of;
  const std::vector<float> q = of.q, pages = of.pages;
  const auto how = c_rotation(EIGEN_ROPE_SPLIT_HALF);
  for (const std::int64_t slot : {std::int64_t{-2}, std::int64_t{11}, std::int64_t{12}}) {
    of.slots[4] = slot;
    EXPECT_EQ(of.rotate(how), EIGEN_ROPE_INVALID_ARGUMENT);
    EXPECT_EQ(bits_of(of.q), bits_of(q));
    EXPECT_EQ(bits_of(of.pages), bits_of(pages));
  }
  of.slots[4] = 7;
  of.ids[4] = positions;
  EXPECT_EQ(of.rotate(how), EIGEN_ROPE_INVALID_ARGUMENT);
  EXPECT_STREQ(eigen_rope_last_message(),
               "[rope] ids[4] must be a row of the table, from 0 to 6, got 7");
  EXPECT_EQ(bits_of(of.q), bits_of(q));
  EXPECT_EQ(bits_of(of.pages), bits_of(pages));
}

void run_split(void* context, std::int64_t count, eigen_rope_work run, void* work) {
  (*static_cast<ParallelFor*>(context))(count,
                                        [&](Index first, Index last) { run(work, first, last); });
}

/// Tokens enough for several ranges, each into the slot that as many steps of 7 lead to.
struct ManyTokens {
  static constexpr std::int64_t count = 1100, size = 256;
  std::vector<float> x = c_numbers<float>(count * size, 4);
  std::vector<float> y = std::vector<float>(count * size, 7.0F);
  std::vector<float> table = c_numbers<float>(count * size, 5);
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> slots;
  CTensor from{ScalarType::f32, x.data(), {count, 1, size}};
  CTensor to{ScalarType::f32, y.data(), {count, 1, size}};
  CTensor cos{ScalarType::f32, table.data(), {count, size / 2}, {size, 1}};
  CTensor sin{ScalarType::f32, table.data() + size / 2, {count, size / 2}, {size, 1}};

  ManyTokens() {
    for (std::int32_t t = 0; t < count; ++t) {
      ids.push_back(t * 13 % count);
      slots.push_back(t * 7 % count);
    }
  }
  eigen_rope_status rotate(const eigen_rope_device* device) const {
    auto how = c_rotation(EIGEN_ROPE_INTERLEAVED);
    how.device = device;
    const eigen_rope_index_list rows = c_list(ids), places = c_list(slots);
    const eigen_rope_token_rows one = c_rows(to, &from, &places);
    return eigen_rope_rotate_tokens(&one, 1, cos.get(), sin.get(), &rows, &how);
  }
};

TEST(CRotateTokens, AParallelForGivesTheBitsOfTheCallingThread) {
  ManyTokens expected;
  EXPECT_DONE(expected.rotate(nullptr));
  EXPECT_EQ(std::count(expected.y.begin(), expected.y.end(), 7.0F), 0);
  for (const Split split : every_split) {
    SCOPED_TRACE(name_of(split));
    ParallelFor parallel_for{split};
    eigen_rope_device device{};
    device.struct_size = sizeof device;
    device.parallel_for = &run_split;
    device.context = &parallel_for;
    device.threads = 4;
    ManyTokens many;
    EXPECT_DONE(many.rotate(&device));
    EXPECT_EQ(parallel_for.most_items, 4);
    EXPECT_EQ(bits_of(many.y), bits_of(expected.y));
  }
}

}  // namespace
}  // namespace eigen_rope::test::c_rotate_tokens_tests
