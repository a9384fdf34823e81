// SPDX-License-Identifier: Apache-2.0
//
// Tokens whose places are listed, typed at run time: the definition's bits for every type and order
// of axes, and tables as serving frameworks keep them.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "eigen_rope/any/any.hpp"
#include "eigen_rope/forms/reference.hpp"
#include "support/bits.hpp"
#include "support/error_of.hpp"
#include "support/scalar_and_entry.hpp"

namespace eigen_rope::test::any_tokens_tests {
namespace {

constexpr Index D = 8, heads = 3, tokens = 4, positions = 6, slots_there = 9;

template <class Types>
class AnyTokens : public testing::Test {};
using AllTypes =
    testing::Types<ScalarAndEntry<float, float>, ScalarAndEntry<double, double>,
                   ScalarAndEntry<Eigen::half, Eigen::half>, ScalarAndEntry<Eigen::half, float>,
                   ScalarAndEntry<Eigen::bfloat16, float>>;
TYPED_TEST_SUITE(AnyTokens, AllTypes);

/// Keys, slots and a table of rows [cosines and sines], as vLLM keeps it.
template <class Scalar, class Entry>
struct Keys {
  std::vector<Scalar> k, pages;
  std::vector<Entry> cos_sin;
  std::vector<std::int32_t> ids{5, 0, 2, 2};
  std::vector<std::int64_t> slots{8, -1, 0, 3};
  any::Table table{scalar_type<Entry>, nullptr, nullptr};

  Keys() : pages(slots_there * heads * D, static_cast<Scalar>(77.0F)) {
    for (Index i = 0; i < tokens * heads * D; ++i)
      k.push_back(static_cast<Scalar>(static_cast<float>(i % 31 - 15) / 8));
    for (Index i = 0; i < positions * D; ++i)
      cos_sin.push_back(static_cast<Entry>(static_cast<float>(i % 13 - 6) / 8));
    table.cos = cos_sin.data();
    table.sin = cos_sin.data() + D / 2;
    table.shape = {positions, D / 2};
    table.strides = {D, 1};
  }
  any::ConstTensor from() const { return {scalar_type<Scalar>, k.data(), {tokens, heads, D}}; }
  any::Tensor to() { return {scalar_type<Scalar>, pages.data(), {slots_there, heads, D}}; }

  /// What the definition puts into the slots.
  std::vector<Scalar> expected(Pairing pairing) const {
    std::vector<Scalar> result(pages.size(), static_cast<Scalar>(77.0F));
    for (std::size_t t = 0; t < slots.size(); ++t) {
      if (slots[t] < 0) continue;
      const Entry* row = cos_sin.data() + ids[t] * D;
      reference::rotate(k.data() + static_cast<Index>(t) * heads * D,
                        result.data() + slots[t] * heads * D, Shape{D, heads},
                        TableView<Entry>{row, row + D / 2, D / 2, Shape{}}, pairing);
    }
    return result;
  }
};

TYPED_TEST(AnyTokens, HasTheBitsOfTheDefinition) {
  Keys<typename TypeParam::Scalar, typename TypeParam::Entry> keys;
  for (const Pairing& pairing : {split_half, interleaved}) {
    any::rotate_tokens({{keys.to(), keys.from(), keys.slots}}, keys.table, keys.ids, pairing);
    EXPECT_EQ(bits_of(keys.pages), bits_of(keys.expected(pairing)));
  }
}

TYPED_TEST(AnyTokens, TakesAxesInEitherOrderAndPages) {
  Keys<typename TypeParam::Scalar, typename TypeParam::Entry> keys;
  any::Tensor pages = keys.to();
  pages.order = any::Order::fastest_first;
  pages.shape = {D, heads, 3, 3};
  any::ConstTensor from = keys.from();
  from.order = any::Order::fastest_first;
  from.shape = {D, heads, tokens};
  any::rotate_tokens({{pages, from, keys.slots}}, keys.table, keys.ids, split_half);
  EXPECT_EQ(bits_of(keys.pages), bits_of(keys.expected(split_half)));
}

// A table whose entries lie apart is copied; one in pieces of rows, too.
TYPED_TEST(AnyTokens, TakesTablesWhoseEntriesLieAnywhere) {
  using Entry = typename TypeParam::Entry;
  Keys<typename TypeParam::Scalar, Entry> keys;
  std::vector<Entry> entries(2 * keys.cos_sin.size());
  for (std::size_t i = 0; i < keys.cos_sin.size(); ++i) entries[2 * i] = keys.cos_sin[i];
  any::Table apart = keys.table;
  apart.cos = entries.data();
  apart.sin = entries.data() + D;
  apart.strides = {2 * D, 2};
  any::rotate_tokens({{keys.to(), keys.from(), keys.slots}}, apart, keys.ids, split_half);
  EXPECT_EQ(bits_of(keys.pages), bits_of(keys.expected(split_half)));

  std::vector<Entry> pieces(keys.cos_sin.size() + 5);
  for (std::size_t i = 0; i < keys.cos_sin.size(); ++i)
    pieces[i < 3 * D ? i : i + 5] = keys.cos_sin[i];
  any::Table in_pieces = keys.table;
  in_pieces.cos = pieces.data();
  in_pieces.sin = pieces.data() + D / 2;
  in_pieces.shape = {2, 3, D / 2};
  in_pieces.strides = {3 * D + 5, D, 1};
  any::rotate_tokens({{keys.to(), keys.from(), keys.slots}}, in_pieces, keys.ids, split_half);
  EXPECT_EQ(bits_of(keys.pages), bits_of(keys.expected(split_half)));
}

TYPED_TEST(AnyTokens, TakesAnyNumberOfTensors) {
  Keys<typename TypeParam::Scalar, typename TypeParam::Entry> keys;
  std::vector<std::vector<typename TypeParam::Scalar>> copies(5, keys.k);
  const auto in_place = [&](std::size_t i) {
    const any::Tensor rows{keys.from().type, copies[i].data(), {tokens, heads, D}};
    return any::TokenRows{rows, rows};
  };
  any::rotate_tokens({in_place(0), in_place(1), in_place(2), in_place(3), in_place(4)}, keys.table,
                     keys.ids, split_half);
  any::rotate_tokens({{keys.to(), keys.from(), keys.slots}}, keys.table, keys.ids, split_half);
  for (const auto& copy : copies) EXPECT_EQ(bits_of(copy), bits_of(copies[0]));
  for (Index i = 0; i < heads * D; ++i)
    EXPECT_EQ(bits_of(copies[0].data() + i, 1), bits_of(keys.pages.data() + 8 * heads * D + i, 1));
}

TEST(AnyTokens, RefusesWhatDoesNotGoTogether) {
  Keys<float, float> keys;
  const std::vector<float> before = keys.pages;
  const auto error = [&](const any::TokenRows& rows) {
    return error_of([&] { any::rotate_tokens({rows}, keys.table, keys.ids, split_half); });
  };
  any::Tensor to = keys.to();
  to.type = ScalarType::f16;
  EXPECT_EQ(error({to, keys.from(), keys.slots}),
            "[rope] the destination must have x's type f32, got f16");
  to = keys.to();
  to.order = any::Order::fastest_first;
  EXPECT_EQ(error({to, keys.from(), keys.slots}),
            "[rope] the destination must list its axes in x's order");
  EXPECT_EQ(error_of([&] {
              const any::ConstTensor half{ScalarType::f16, keys.k.data(), {tokens, heads, D}};
              const any::Tensor halves{ScalarType::f16, keys.pages.data(), {slots_there, heads, D}};
              any::rotate_tokens({{keys.to(), keys.from(), keys.slots}, {halves, half, keys.slots}},
                                 keys.table, keys.ids, split_half);
            }),
            "[rope] each tensor must have the first x's type f32, got f16");
  any::Table repeated = keys.table;
  repeated.strides = {0, 1};
  EXPECT_EQ(
      error_of([&] {
        any::rotate_tokens({{keys.to(), keys.from(), keys.slots}}, repeated, keys.ids, split_half);
      }),
      "[rope] the rows of a table of tokens must not repeat, got a stride of 0");
  any::Table inside = keys.table;
  inside.cos = keys.pages.data();
  inside.strides = {2 * D, 2};
  inside.shape = {2, D / 2};
  EXPECT_EQ(
      error_of([&] {
        any::rotate_tokens({{keys.to(), keys.from(), keys.slots}}, inside, keys.ids, split_half);
      }),
      "[rope] the destination must not overlap the table");
  inside.cos = nullptr;
  EXPECT_EQ(
      error_of([&] {
        any::rotate_tokens({{keys.to(), keys.from(), keys.slots}}, inside, keys.ids, split_half);
      }),
      "[rope] the table must have cos and sin, got a null pointer");
  EXPECT_EQ(keys.pages, before);
}

}  // namespace
}  // namespace eigen_rope::test::any_tokens_tests
