// SPDX-License-Identifier: Apache-2.0
#include "c/arguments.hpp"

#include <fmt/core.h>

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
  return static_cast<char*>(tensor.data) + tensor.byte_offset;
}

bool same_list(const std::int64_t* a, const std::int64_t* b, std::int32_t count) {
  return a == b || (a != nullptr && b != nullptr && std::equal(a, a + count, b));
}

/// Whether a tensor differs from one that is known to be right in its memory alone.
bool same_description(const eigen_rope_tensor& given, const eigen_rope_tensor& right) {
  return given.ndim == right.ndim && given.device.device_type == right.device.device_type &&
         given.dtype.code == right.dtype.code && given.dtype.bits == right.dtype.bits &&
         given.dtype.lanes == right.dtype.lanes &&
         same_list(given.shape, right.shape, right.ndim) &&
         same_list(given.strides, right.strides, right.ndim);
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

namespace {

/// The extents and strides, and the type; everything but where the memory is.
template <class Described>
void describe(Described& described, const eigen_rope_tensor* given, const char* name) {
  require_given(given, name);
  if (given->device.device_type != EIGEN_ROPE_CPU) {
    detail::fail(fmt::format("{} must be in the memory of the CPU (device_type 1)", name),
                 std::int64_t{given->device.device_type});
  }
  described.type = scalar_type_of(given->dtype, name);
  const std::int32_t ndim = given->ndim;
  if (ndim < 0 || ndim > max_rank)
    detail::fail(fmt::format("{} must have 1 to {} axes", name, max_rank), std::int64_t{ndim});
  if (ndim > 0 && given->shape == nullptr) fail_null(fmt::format("{}'s shape", name).c_str());
  for (std::int32_t axis = 0; axis < ndim; ++axis)
    described.shape.push_back(static_cast<Index>(given->shape[axis]));
  if (given->strides == nullptr) return;
  for (std::int32_t axis = 0; axis < ndim; ++axis)
    described.strides.push_back(static_cast<Index>(given->strides[axis]));
}

template <class Table>
void tell_table(Table& table, const CosAndSin& given) {
  describe(table, given.cos, given.cos_name);
  require_given(given.sin, given.sin_name);
  if (!same_description(*given.sin, *given.cos)) {
    Table other;
    describe(other, given.sin, given.sin_name);
    detail::require_type(given.sin_name, other.type, given.cos_name, table.type);
    if (other.shape != table.shape) {
      detail::fail(fmt::format("{} must have {}'s shape {}", given.sin_name, given.cos_name,
                               table.shape.text()),
                   other.shape.text());
    }
    if (!detail::same_places(table.shape, table.strides, other.strides, table.order))
      detail::fail(fmt::format("{} must have {}'s strides", given.sin_name, given.cos_name));
  }
  table.cos = data_of(*given.cos, given.cos_name);
  table.sin = data_of(*given.sin, given.sin_name);
}

}  // namespace

void tell(any::Tensor& tensor, const eigen_rope_tensor* given, const char* name) {
  describe(tensor, given, name);
  tensor.data = data_of(*given, name);
}

void tell(any::ConstTensor& tensor, const eigen_rope_tensor* given, const char* name) {
  describe(tensor, given, name);
  tensor.data = data_of(*given, name);
}

void tell(any::Table& table, const CosAndSin& given) { tell_table(table, given); }

void tell(any::TableMemory& table, const CosAndSin& given) { tell_table(table, given); }

namespace {

PairKind kind_of(std::int32_t pairing) {
  switch (pairing) {
    case EIGEN_ROPE_SPLIT_HALF: return PairKind::split_half;
    case EIGEN_ROPE_INTERLEAVED: return PairKind::interleaved;
    case EIGEN_ROPE_QUARTER: return PairKind::quarter;
    case EIGEN_ROPE_INTERLEAVED_TO_SPLIT_HALF: return PairKind::interleaved_to_split_half;
    default:
      detail::fail(
          "pairing must be 1 (split_half), 2 (interleaved), 3 (quarter) or 4 "
          "(interleaved_to_split_half)",
          std::int64_t{pairing});
  }
}

extern "C" void run_work(void* work, std::int64_t first, std::int64_t last) {
  (*static_cast<const Device::Work*>(work))(static_cast<Index>(first), static_cast<Index>(last));
}

}  // namespace

void Rotation::ParallelFor::operator()(Index count, const Device::Work& work) const {
  // C has no way to say that `work` is only passed on.
  device->parallel_for(device->context, count, &run_work, const_cast<Device::Work*>(&work));
}

Rotation::Rotation(const eigen_rope_rotation* given)
    : given_(known_members(given, "rotation", rotation_1, room_)) {
  constexpr std::uint32_t every_flag = EIGEN_ROPE_NAMED_AXIS | EIGEN_ROPE_NAMED_TABLE_AXIS;
  if ((given_.flags & ~every_flag) != 0) {
    detail::fail("the rotation's flags must be 0, 1 (axis), 2 (table_axis) or 3",
                 std::int64_t{given_.flags});
  }
  if (given_.reserved != 0)
    detail::fail("the rotation's reserved member must be 0", std::int64_t{given_.reserved});
  if (given_.device != nullptr) use_device();
}

Pairing Rotation::pairing() const {
  Pairing pairing(kind_of(given_.pairing));
  if (given_.offset != 0) pairing = pairing.with_offset(static_cast<Index>(given_.offset));
  if (given_.rotary_dims != 0)
    pairing = pairing.with_rotary_dims(static_cast<Index>(given_.rotary_dims));
  if (named(EIGEN_ROPE_NAMED_AXIS)) pairing = pairing.along(given_.axis);
  return pairing;
}

void Rotation::use_device() {
  const auto& device = known_members(given_.device, "device", device_1, device_room_);
  if (device.parallel_for == nullptr) fail_null("the device's parallel_for");
  if (device.reserved != 0)
    detail::fail("the device's reserved member must be 0", std::int64_t{device.reserved});
  parallel_for_.device = &device;
  device_ = Device(parallel_for_, device.threads);
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
