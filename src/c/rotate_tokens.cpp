// SPDX-License-Identifier: Apache-2.0
#include "any/rotate_tokens.hpp"

#include <fmt/core.h>

#include <cstddef>
#include <string>

#include "c/arguments.hpp"
#include "c/status.hpp"
#include "eigen_rope/c/eigen_rope.h"

namespace eigen_rope::EIGEN_ROPE_ABI::c {
namespace {

/// The integers of a list; none where there is no list.
IndexList index_list_of(const eigen_rope_index_list* given, const char* name) {
  if (given == nullptr) return {};
  eigen_rope_index_list room;
  const auto& list = known_members(given, name, index_list_1, room);
  if (list.reserved != 0) {
    detail::fail(fmt::format("the reserved member of {} must be 0", name),
                 std::int64_t{list.reserved});
  }
  const eigen_rope_tensor_type& type = list.dtype;
  if (type.lanes != 1 || type.code != EIGEN_ROPE_INT || (type.bits != 32 && type.bits != 64))
    detail::fail(fmt::format("{} must be of int32 or int64", name), name_of(type));
  const auto count = static_cast<Index>(list.count);
  if (type.bits == 32) return {static_cast<const std::int32_t*>(list.data), count};
  return {static_cast<const std::int64_t*>(list.data), count};
}

void tell_rows(any::TokenRows& rows, const eigen_rope_token_rows* given) {
  eigen_rope_token_rows room;
  const auto& known = known_members(given, "tensors", token_rows_1, room);
  const bool in_place = known.from == nullptr;
  tell(rows.to, known.to, "to");
  tell(rows.from, in_place ? known.to : known.from, in_place ? "to" : "from");
  rows.slots = index_list_of(known.slots, "slots");
}

void rotate_tokens(const eigen_rope_token_rows* given, std::int64_t count,
                   const eigen_rope_tensor* cos, const eigen_rope_tensor* sin,
                   const eigen_rope_index_list* ids, const eigen_rope_rotation* rotation) {
  const Rotation how(rotation);
  if (count < 0) detail::fail("the number of tensors must not be negative", count);
  if (count > 0) require_given(given, "tensors");
  detail::checked_product("the number of bytes of all tensors", count, sizeof *given);
  detail::Few<any::TokenRows> tensors(static_cast<std::size_t>(count));
  const eigen_rope_token_rows* next = given;
  for (any::TokenRows& rows : tensors) {
    // They are as far apart as the caller's version has them.
    const std::size_t size = given->struct_size;
    if (size % alignof(eigen_rope_token_rows) != 0) fail_struct_size("tensors", size, token_rows_1);
    if (next->struct_size != size) {
      detail::fail(fmt::format("all tensors must have the struct_size of the first, {}", size),
                   std::to_string(next->struct_size));
    }
    tell_rows(rows, next);
    next = reinterpret_cast<const eigen_rope_token_rows*>(reinterpret_cast<const std::byte*>(next) +
                                                          size);
  }
  any::Table table;
  tell(table, {cos, sin});
  table.feature_axis = how.table_axis();
  detail::rotate_tokens(tensors.begin(), static_cast<std::size_t>(count), table,
                        index_list_of(ids, "ids"), how.pairing(), how.direction(), how.device());
}

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::c

namespace c = eigen_rope::c;

eigen_rope_status eigen_rope_rotate_tokens(const eigen_rope_token_rows* tensors, std::int64_t count,
                                           const eigen_rope_tensor* cos,
                                           const eigen_rope_tensor* sin,
                                           const eigen_rope_index_list* ids,
                                           const eigen_rope_rotation* rotation) noexcept {
  return c::status_of([&] { c::rotate_tokens(tensors, count, cos, sin, ids, rotation); });
}
