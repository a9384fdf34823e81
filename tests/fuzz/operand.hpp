// SPDX-License-Identifier: Apache-2.0
//
// A tensor of a call, in memory of exactly its size; what must hold of it after the call.
#pragma once

#include <cstdint>
#include <vector>

#include "guarded_slot.hpp"
#include "take.hpp"

namespace eigen_rope::fuzz {

inline constexpr std::array<ScalarType, 4> scalar_types{ScalarType::f32, ScalarType::f64,
                                                        ScalarType::f16, ScalarType::bf16};

struct Operand {
  ScalarType type = ScalarType::f32;
  /// Slowest axis first.
  Extents shape{};
  /// In elements, one for each axis.
  Extents strides{};
  Need need{};
  std::byte* data = nullptr;
  GuardedSlot* slot = nullptr;

  /// Something to be read.
  void fill(unsigned seed) const { fill_with_numbers(data, need.bytes, type, seed); }
  void require_written() const {
    slot->require_untouched_outside();
    fuzz::require_written(data, need, shape, strides, type);
  }
  void require_unwritten() const {
    slot->require_untouched_outside();
    fuzz::require_unwritten(data, need.bytes);
  }
};

/// A tensor in `slot`. Empty strides: dense.
inline Operand operand(GuardedSlot& slot, ScalarType type, const Extents& shape,
                       const Extents& strides, Against against) {
  Operand result{type, shape, strides.empty() ? dense_strides(shape) : strides, {}, nullptr, &slot};
  result.need = need_of(result.shape, result.strides, type);
  result.data = slot.place(result.need.bytes, against);
  return result;
}

/// The shape, and sometimes another one.
inline Extents changed(Extents shape, Take& take) {
  switch (take.byte() % 32) {
    case 0: shape.push_back(take.integer()); break;
    case 1:
      if (!shape.empty()) shape.pop_back();
      break;
    case 2:
    case 3:
    case 4:
      if (!shape.empty()) shape[take.byte() % shape.size()] = take.integer();
      break;
    case 5:
      if (!shape.empty()) shape[take.byte() % shape.size()] = 1;
      break;
    case 6:
      // Empty, and wide.
      if (shape.empty()) break;
      shape.front() = 0;
      shape.back() = take.integer();
      break;
    default: break;
  }
  return shape;
}

/// Empty for a dense tensor; padded, permuted, broadcast or any strides now and then. The last axis
/// mostly keeps stride 1.
inline Extents some_strides(const Extents& shape, Take& take) {
  const std::uint8_t kind = take.byte() % 8;
  if (kind < 3 || shape.size() < 2) return {};
  Extents strides = dense_strides(shape);
  const std::size_t outer = shape.size() - 1;
  switch (kind) {
    case 3:
      for (std::size_t axis = 0; axis < outer; ++axis)
        __builtin_mul_overflow(strides[axis], std::int64_t{2}, &strides[axis]);
      break;
    case 4: std::swap(strides[take.byte() % outer], strides[take.byte() % outer]); break;
    case 5: strides[take.byte() % outer] = 0; break;
    case 6: strides[take.byte() % outer] = take.integer(); break;
    default:
      for (std::int64_t& stride : strides) stride = take.integer();
      break;
  }
  return strides;
}

}  // namespace eigen_rope::fuzz
