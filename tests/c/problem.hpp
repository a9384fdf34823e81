// SPDX-License-Identifier: Apache-2.0
//
// Tensors for calls of the C interface, and what a call that must succeed says if it does not.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "eigen_rope/any/any.hpp"
#include "eigen_rope/c/eigen_rope.h"

namespace eigen_rope::test {

#define EXPECT_DONE(call) EXPECT_EQ(call, EIGEN_ROPE_OK) << eigen_rope_last_message()

/// A tensor with memory for its extents.
struct CTensor {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  eigen_rope_tensor view{};

  CTensor(ScalarType type, const void* data, std::vector<std::int64_t> extents,
          std::vector<std::int64_t> steps = {})
      : shape(std::move(extents)), strides(std::move(steps)) {
    const bool bfloat = type == ScalarType::bf16;
    // A view of what is only read, too.
    view = eigen_rope_cpu_tensor(const_cast<void*>(data),
                                 bfloat ? EIGEN_ROPE_BFLOAT : EIGEN_ROPE_FLOAT,
                                 static_cast<std::uint8_t>(8 * size_of(type)),
                                 static_cast<std::int32_t>(shape.size()), shape.data());
    if (!strides.empty()) view.strides = strides.data();
  }
  CTensor(const CTensor&) = delete;
  CTensor& operator=(const CTensor&) = delete;

  const eigen_rope_tensor* get() const { return &view; }
};

/// The numbers that C has for pairings and directions.
struct CPairing {
  std::int32_t number;
  Pairing pairing;
};
inline constexpr CPairing c_pairings[] = {
    {EIGEN_ROPE_SPLIT_HALF, split_half},
    {EIGEN_ROPE_INTERLEAVED, interleaved},
    {EIGEN_ROPE_QUARTER, quarter},
    {EIGEN_ROPE_INTERLEAVED_TO_SPLIT_HALF, interleaved_to_split_half}};
struct CDirection {
  std::int32_t number;
  Direction direction;
};
inline constexpr CDirection c_directions[] = {{EIGEN_ROPE_FORWARD, Direction::forward},
                                              {EIGEN_ROPE_BACKWARD, Direction::backward},
                                              {EIGEN_ROPE_INVERSE, Direction::inverse}};

inline eigen_rope_rotation c_rotation(std::int32_t pairing,
                                      std::int32_t direction = EIGEN_ROPE_FORWARD) {
  eigen_rope_rotation rotation{};
  rotation.struct_size = sizeof rotation;
  rotation.pairing = pairing;
  rotation.direction = direction;
  return rotation;
}

/// The positions that these numbers are, which must outlive the list.
template <class Number>
eigen_rope_position_list c_positions(const std::vector<Number>& numbers, std::int64_t batches,
                                     const eigen_rope_tensor_type& type = {EIGEN_ROPE_INT, 64, 1}) {
  eigen_rope_position_list list{};
  list.struct_size = sizeof list;
  list.data = numbers.data();
  list.count = static_cast<std::int64_t>(numbers.size());
  list.batches = batches;
  list.dtype = type;
  return list;
}

/// The rows or slots that these integers are, which must outlive the list.
template <class Integer>
eigen_rope_index_list c_list(const std::vector<Integer>& integers) {
  eigen_rope_index_list list{};
  list.struct_size = sizeof list;
  list.data = integers.data();
  list.count = static_cast<std::int64_t>(integers.size());
  list.dtype = {EIGEN_ROPE_INT, static_cast<std::uint8_t>(8 * sizeof(Integer)), 1};
  return list;
}

/// A tensor of a rotation of tokens, in place unless it is read elsewhere.
inline eigen_rope_token_rows c_rows(const CTensor& to, const CTensor* from = nullptr,
                                    const eigen_rope_index_list* slots = nullptr) {
  eigen_rope_token_rows rows{};
  rows.struct_size = sizeof rows;
  rows.to = to.get();
  rows.from = from == nullptr ? nullptr : from->get();
  rows.slots = slots;
  return rows;
}

/// Numbers between -1 and 1.
template <class Scalar>
std::vector<Scalar> c_numbers(std::int64_t count, unsigned seed) {
  std::vector<Scalar> values(static_cast<std::size_t>(count));
  for (Scalar& value : values) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<Scalar>(static_cast<float>(static_cast<int>(seed >> 24) - 128) / 128.0F);
  }
  return values;
}

}  // namespace eigen_rope::test
