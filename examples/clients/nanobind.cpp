// SPDX-License-Identifier: Apache-2.0
//
// A Python module by nanobind: rotate_(x, cos, sin, pairing, direction) rotates an array of NumPy,
// PyTorch or JAX on the CPU in place, whatever its type and strides. What is refused becomes a
// ValueError with the library's sentence.
#include <eigen_rope/any/any.hpp>

#include "clients.hpp"  // <nanobind/nanobind.h>, <nanobind/ndarray.h>

namespace nb = nanobind;
namespace er = eigen_rope;

namespace {

er::ScalarType scalar_type(nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  if (type.lanes == 1 && type.code == static_cast<std::uint8_t>(Code::Float)) {
    if (type.bits == 16) return er::ScalarType::f16;
    if (type.bits == 32) return er::ScalarType::f32;
    if (type.bits == 64) return er::ScalarType::f64;
  }
  if (type.lanes == 1 && type.code == static_cast<std::uint8_t>(Code::Bfloat))
    return er::ScalarType::bf16;
  throw er::Error("[rope] an array must be of float16, bfloat16, float32 or float64");
}

er::any::Tensor view(const nb::ndarray& a) {
  return er::any::tensor(scalar_type(a.dtype()), a.data(), static_cast<int>(a.ndim()),
                         a.shape_ptr(), a.stride_ptr());
}

void rotate(const nb::ndarray& x, const nb::ndarray& cos, const nb::ndarray& sin,
            const std::string& pairing, const std::string& direction) {
  er::any::rotate_inplace(view(x), er::any::table_of(view(cos), view(sin)),
                          er::any::pairing_of(pairing), er::any::direction_of(direction));
}

}  // namespace

NB_MODULE(rope, m) { m.def("rotate_", &rotate); }
