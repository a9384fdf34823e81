// SPDX-License-Identifier: Apache-2.0
//
// What the C interface is given, told as eigen_rope::any has it: tensors, tables, rotations. What
// has no counterpart there, such as a null pointer to a struct, is refused here by its name.
// Private to the room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "eigen_rope/any/any.hpp"
#include "eigen_rope/c/types.h"
#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::c {

/// `float32`, `int64x2`, `code 9 of 8 bits`.
std::string name_of(const eigen_rope_tensor_type& type);

// The sizes of each struct's first version.
// NOLINTBEGIN(bugprone-sizeof-expression): of members that are pointers
constexpr std::size_t rotation_1 =
    offsetof(eigen_rope_rotation, device) + sizeof(eigen_rope_rotation::device);
constexpr std::size_t device_1 =
    offsetof(eigen_rope_device, reserved) + sizeof(eigen_rope_device::reserved);
constexpr std::size_t position_list_1 = offsetof(eigen_rope_position_list, section_count) +
                                        sizeof(eigen_rope_position_list::section_count);
constexpr std::size_t index_list_1 =
    offsetof(eigen_rope_index_list, reserved) + sizeof(eigen_rope_index_list::reserved);
constexpr std::size_t token_rows_1 =
    offsetof(eigen_rope_token_rows, slots) + sizeof(eigen_rope_token_rows::slots);
constexpr std::size_t gradients_1 =
    offsetof(eigen_rope_gradients, sin) + sizeof(eigen_rope_gradients::sin);
// NOLINTEND(bugprone-sizeof-expression)

[[noreturn]] void fail_null(const char* name);
[[noreturn]] void fail_struct_size(const char* name, std::size_t size, std::size_t least);

/// What the caller is given of a value, and destroys.
template <class Handle, class Value>
Handle* handle_of(Value value) {
  return std::make_unique<Handle>(Handle{std::move(value)}).release();
}

/// Throws eigen_rope::Error for a null pointer.
inline void require_given(const void* pointer, const char* name) {
  if (pointer == nullptr) fail_null(name);
}

/// A struct with as many members as this version knows; those that its caller does not know are 0.
/// It is the caller's own where both know the same, and otherwise a copy in `room`.
///
/// - Errors:   eigen_rope::Error for a null pointer, for a size that no version of the struct has,
///             and for members that this version does not know, unless they are 0.
template <class Struct>
const Struct& known_members(const Struct* given, const char* name, std::size_t first_version,
                            Struct& room) {
  require_given(given, name);
  constexpr std::size_t most = 1024;  // a size that was never set is anything
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size == sizeof(Struct)) return *given;
  if (size < first_version || size > most) fail_struct_size(name, size, first_version);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof(Struct); i < size; ++i) {
    if (bytes[i] != 0) fail_struct_size(name, size, first_version);
  }
  room = Struct{};
  std::memcpy(&room, given, std::min(size, sizeof(Struct)));
  return room;
}

/// Tells a tensor, into an object that is never copied: reading it in wide parts just after it was
/// written in narrow ones stalls the processor.
///
/// \param name  begins the sentence of a refusal
void tell(any::Tensor& tensor, const eigen_rope_tensor* given, const char* name);
void tell(any::ConstTensor& tensor, const eigen_rope_tensor* given, const char* name);

struct CosAndSin {
  const eigen_rope_tensor* cos;
  const eigen_rope_tensor* sin;
  const char* cos_name = "cos";
  const char* sin_name = "sin";
};

/// Tells cosines and sines as one table, or as the memory for one.
void tell(any::Table& table, const CosAndSin& given);
void tell(any::TableMemory& table, const CosAndSin& given);

/// An eigen_rope_rotation whose device this object refers to.
class Rotation {
 public:
  explicit Rotation(const eigen_rope_rotation* given);
  Rotation(const Rotation&) = delete;
  Rotation& operator=(const Rotation&) = delete;

  /// It is made where it is passed to, as tensors are.
  Pairing pairing() const;
  /// It is checked by those that ask.
  Direction direction() const;
  const Device& device() const { return device_; }
  /// The axis of a table with the entries of a row, if it is named.
  std::optional<int> table_axis() const {
    return named(EIGEN_ROPE_NAMED_TABLE_AXIS) ? std::optional<int>(given_.table_axis)
                                              : std::nullopt;
  }

 private:
  struct ParallelFor {
    const eigen_rope_device* device = nullptr;
    void operator()(Index count, const Device::Work& work) const;
  };

  bool named(std::uint32_t flag) const { return (given_.flags & flag) != 0; }
  void use_device();

  // What a caller of another version gives is copied here; mostly nothing is.
  eigen_rope_rotation room_{};
  eigen_rope_device device_room_{};
  const eigen_rope_rotation& given_;
  ParallelFor parallel_for_;
  Device device_;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::c
