// SPDX-License-Identifier: Apache-2.0
#include "arrays.hpp"

#include <eigen_rope/numbers/error.hpp>
#include <optional>
#include <string>

#include "words.hpp"

namespace eigen_rope_python {
namespace {

std::string must(const char* name, const char* rule) { return std::string(name) + " must " + rule; }

std::optional<er::ScalarType> scalar_type(nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  if (type.lanes != 1) return std::nullopt;
  if (type.code == static_cast<std::uint8_t>(Code::Float)) {
    if (type.bits == 16) return er::ScalarType::f16;
    if (type.bits == 32) return er::ScalarType::f32;
    if (type.bits == 64) return er::ScalarType::f64;
  }
  if (type.code == static_cast<std::uint8_t>(Code::Bfloat) && type.bits == 16)
    return er::ScalarType::bf16;
  return std::nullopt;
}

[[noreturn]] void refuse_type(nb::handle object, const char* name) {
  const std::string dtype =
      nb::hasattr(object, "dtype") ? text_of(object.attr("dtype")) : "elements of another type";
  er::detail::fail(must(name, "be of float16, bfloat16, float32 or float64"), dtype);
}

void require_cpu(nb::handle object, int device_type, const char* name) {
  constexpr int cpu = nb::device::cpu::value, pinned = nb::device::cuda_host::value;
  if (device_type == cpu || device_type == pinned) return;
  const std::string device = nb::hasattr(object, "device")
                                 ? text_of(object.attr("device"))
                                 : "DLPack's device " + std::to_string(device_type);
  er::detail::fail(must(name, "be in the CPU's memory"), device);
}

/// What is wrong with an object that is not taken.
[[noreturn]] void refuse(nb::handle object, const char* name, Access access) {
  if (access == Access::writable) {
    nb::ndarray<nb::ro> read;
    if (nb::try_cast(object, read))
      er::detail::fail(must(name, "be writable"), "a read-only array");
  }
  if (is_numpy(object)) {
    const auto item = nb::cast<Py_ssize_t>(object.attr("itemsize"));
    for (const nb::handle stride : nb::cast<nb::tuple>(object.attr("strides"))) {
      if (item > 0 && nb::cast<Py_ssize_t>(stride) % item != 0) {
        er::detail::fail(must(name, "have strides that are whole elements"),
                         "strides of " + text_of(object.attr("strides")) + " bytes");
      }
    }
    refuse_type(object, name);
  }
  if (nb::hasattr(object, "__dlpack_device__")) {
    int device_type = 0;  // of a device that DLPack does not know
    try {
      const auto device = nb::cast<nb::tuple>(object.attr("__dlpack_device__")());
      device_type = nb::cast<int>(nb::int_(device[0]));
    } catch (const nb::python_error& error) {
      if (!error.matches(PyExc_Exception)) throw;
    }
    require_cpu(object, device_type, name);
  }
  fail_type(must(name, "be an array of numpy, or have __dlpack__"), class_name(object));
}

/// Of the package ml_dtypes, whose elements neither DLPack nor the buffer protocol names.
bool is_numpy_bfloat16(nb::handle object) {
  if (!is_numpy(object)) return false;
  const nb::object dtype = object.attr("dtype");
  // The text of a dtype is made by Python code: most are known by their kind.
  return text_of(nb::object(dtype.attr("kind"))) == "V" && text_of(dtype) == "bfloat16";
}

/// What torch asks numpy's users for, too: no gradient would come back from here.
void require_no_gradient(nb::handle object, const char* name) {
  if (is_numpy(object)) return;
  const nb::object wanted = nb::getattr(object, "requires_grad", nb::none());
  if (wanted.is_none() || !nb::cast<bool>(nb::bool_(wanted))) return;
  er::detail::fail(must(name, "not require a gradient: use its detach()"), "requires_grad=True");
}

template <class NdArray>
er::any::Tensor tensor_of(const NdArray& array, std::optional<er::ScalarType> known,
                          nb::handle object, const char* name) {
  require_cpu(object, array.device_type(), name);
  const std::optional<er::ScalarType> type = known ? known : scalar_type(array.dtype());
  if (!type) refuse_type(object, name);
  if (array.ndim() == 0) er::detail::fail(must(name, "have at least one axis"), "none");
  void* const data = const_cast<void*>(static_cast<const void*>(array.data()));
  // Without elements, numpy's strides are 0, which says nothing.
  const std::int64_t* const strides = array.size() == 0 ? nullptr : array.stride_ptr();
  return er::any::tensor(*type, data, static_cast<int>(array.ndim()), array.shape_ptr(), strides);
}

}  // namespace

Array::Array(nb::handle object, const char* name, Access access) {
  require_no_gradient(object, name);
  std::optional<er::ScalarType> type;
  nb::object source = nb::borrow(object);
  if (is_numpy_bfloat16(object)) {
    source = object.attr("view")("uint16");
    type = er::ScalarType::bf16;
  }
  const bool taken = access == Access::writable ? nb::try_cast(source, written_, false)
                                                : nb::try_cast(source, read_, false);
  if (!taken) refuse(source, name, access);
  tensor_ = access == Access::writable ? tensor_of(written_, type, object, name)
                                       : tensor_of(read_, type, object, name);
}

std::vector<er::Index> Array::shape() const {
  std::vector<er::Index> extents;
  for (int axis = 0; axis < rank(); ++axis) extents.push_back(tensor_.shape[axis]);
  return extents;
}

Array read_array(nb::handle object, const char* name) {
  return Array(object, name, Access::read_only);
}

Array read_writable_array(nb::handle object, const char* name) {
  return Array(object, name, Access::writable);
}

nb::object empty_like(nb::handle object, const Array& x) {
  return is_numpy(object) ? numpy_empty_like(object) : numpy_empty(x.type(), x.shape());
}

}  // namespace eigen_rope_python
