// SPDX-License-Identifier: Apache-2.0
#include "c/arguments.hpp"

#include <fmt/format.h>

#include <limits>
#include <string>

#include "any/places.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::c {
std::string name_of(const eigen_rope_tensor_type& type) {
  constexpr const char* kinds[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
  const std::size_t known = sizeof kinds / sizeof kinds[0];
  const std::string name = type.code < known
                               ? fmt::format("{}{}", kinds[type.code], type.bits)
                               : fmt::format("code {} of {} bits", type.code, type.bits);
  return type.lanes == 1 ? name : fmt::format("{}x{}", name, type.lanes);
}

namespace {

ScalarType scalar_type_of(const eigen_rope_tensor_type& type, const char* name) {
  if (type.lanes == 1 && type.code == EIGEN_ROPE_FLOAT) {
    if (type.bits == 32) return ScalarType::f32;
    if (type.bits == 64) return ScalarType::f64;
    if (type.bits == 16) return ScalarType::f16;
  }
  if (type.lanes == 1 && type.code == EIGEN_ROPE_BFLOAT && type.bits == 16) return ScalarType::bf16;
  detail::fail(fmt::format("{} must be of float32, float64, float16 or bfloat16", name),
               name_of(type));
}

/// The address of the first element; null without memory, whatever its offset.
void* data_of(const eigen_rope_tensor& tensor, const char* name) {
  if (tensor.data == nullptr) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data);
  if (tensor.byte_offset > std::numeric_limits<std::uintptr_t>::max() - address) {
    detail::fail(fmt::format("{}'s byte_offset must lead to memory", name),
                 std::to_string(tensor.byte_offset));
  }
  return reinterpret_cast<void*>(address + static_cast<std::uintptr_t>(tensor.byte_offset));
}

/// The same elements in the same places: strides along axes of one element lead nowhere.
bool same_strides(const any::Tensor& a, const any::Tensor& b) {
  if (a.strides == b.strides) return true;
  Index dense = 1;
  for (int axis = a.shape.rank() - 1; axis >= 0; --axis) {
    const auto i = static_cast<std::size_t>(axis);
    const Index of_a = a.strides.size() == 0 ? dense : a.strides[i];
    const Index of_b = b.strides.size() == 0 ? dense : b.strides[i];
    if (a.shape[axis] != 1 && of_a != of_b) return false;
    dense *= a.shape[axis];
  }
  return true;
}

}  // namespace

void fail_null(const char* name) {
  detail::fail(fmt::format("{} must be given, got a null pointer", name));
}

void fail_struct_size(const char* name, std::size_t size, std::size_t least) {
  detail::fail(fmt::format("the struct_size of {} must be that of a struct of at least {} bytes "
                           "whose members this version of the library knows, or that are 0",
                           name, least),
               std::to_string(size));
}

any::Tensor tensor_of(const eigen_rope_tensor* given, const char* name) {
  require_given(given, name);
  if (given->device.device_type != EIGEN_ROPE_CPU) {
    detail::fail(fmt::format("{} must be in the memory of the CPU (device_type 1)", name),
                 std::int64_t{given->device.device_type});
  }
  any::Tensor tensor;
  tensor.type = scalar_type_of(given->dtype, name);
  if (given->ndim < 0 || given->ndim > max_rank) {
    detail::fail(fmt::format("{} must have 1 to {} axes", name, max_rank),
                 std::int64_t{given->ndim});
  }
  if (given->ndim > 0 && given->shape == nullptr)
    fail_null(fmt::format("{}'s shape", name).c_str());
  for (std::int32_t axis = 0; axis < given->ndim; ++axis)
    tensor.shape.push_back(static_cast<Index>(given->shape[axis]));
  if (given->strides != nullptr) {
    for (std::int32_t axis = 0; axis < given->ndim; ++axis)
      tensor.strides.push_back(static_cast<Index>(given->strides[axis]));
  }
  tensor.data = data_of(*given, name);
  return tensor;
}

any::TableMemory table_of(const eigen_rope_tensor* cos, const eigen_rope_tensor* sin,
                          const char* cos_name, const char* sin_name) {
  const any::Tensor first = tensor_of(cos, cos_name);
  const any::Tensor second = tensor_of(sin, sin_name);
  detail::require_type(sin_name, second.type, cos_name, first.type);
  if (first.shape != second.shape) {
    detail::fail(fmt::format("{} must have {}'s shape {}", sin_name, cos_name, first.shape.text()),
                 second.shape.text());
  }
  if (!same_strides(first, second))
    detail::fail(fmt::format("{} must have {}'s strides", sin_name, cos_name));
  any::TableMemory table;
  table.type = first.type;
  table.cos = first.data;
  table.sin = second.data;
  table.shape = first.shape;
  table.strides = first.strides;
  return table;
}

namespace {

Pairing pairing_of(const eigen_rope_rotation& given) {
  switch (given.pairing) {
    case EIGEN_ROPE_SPLIT_HALF: return split_half;
    case EIGEN_ROPE_INTERLEAVED: return interleaved;
    case EIGEN_ROPE_QUARTER: return quarter;
    case EIGEN_ROPE_INTERLEAVED_TO_SPLIT_HALF: return interleaved_to_split_half;
    default:
      detail::fail(
          "pairing must be 1 (split_half), 2 (interleaved), 3 (quarter) or 4 "
          "(interleaved_to_split_half)",
          std::int64_t{given.pairing});
  }
}

extern "C" void run_work(void* work, std::int64_t first, std::int64_t last) {
  (*static_cast<const Device::Work*>(work))(static_cast<Index>(first), static_cast<Index>(last));
}

}  // namespace

void Rotation::ParallelFor::operator()(Index count, const Device::Work& work) const {
  // C has no way to say that `work` is only passed on.
  device.parallel_for(device.context, count, &run_work, const_cast<Device::Work*>(&work));
}

Rotation::Rotation(const eigen_rope_rotation* given)
    : given_(known_members(given, "rotation", rotation_1)), pairing_(pairing_of(given_)) {
  constexpr std::uint32_t every_flag = EIGEN_ROPE_NAMED_AXIS | EIGEN_ROPE_NAMED_TABLE_AXIS;
  if ((given_.flags & ~every_flag) != 0) {
    detail::fail("the rotation's flags must be 0, 1 (axis), 2 (table_axis) or 3",
                 std::int64_t{given_.flags});
  }
  if (given_.reserved != 0)
    detail::fail("the rotation's reserved member must be 0", std::int64_t{given_.reserved});
  pairing_ = pairing_.with_offset(static_cast<Index>(given_.offset));
  if (given_.rotary_dims != 0)
    pairing_ = pairing_.with_rotary_dims(static_cast<Index>(given_.rotary_dims));
  if (named(EIGEN_ROPE_NAMED_AXIS)) pairing_ = pairing_.along(given_.axis);
  if (given_.device == nullptr) return;
  parallel_for_.device = known_members(given_.device, "device", device_1);
  if (parallel_for_.device.parallel_for == nullptr) fail_null("the device's parallel_for");
  if (parallel_for_.device.reserved != 0) {
    detail::fail("the device's reserved member must be 0",
                 std::int64_t{parallel_for_.device.reserved});
  }
  device_ = Device(parallel_for_, parallel_for_.device.threads);
}

Direction Rotation::direction() const {
  switch (given_.direction) {
    case EIGEN_ROPE_FORWARD: return Direction::forward;
    case EIGEN_ROPE_BACKWARD: return Direction::backward;
    case EIGEN_ROPE_INVERSE: return Direction::inverse;
    default:
      detail::fail("direction must be 0 (forward), 1 (backward) or 2 (inverse)",
                   std::int64_t{given_.direction});
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::c
