// SPDX-License-Identifier: Apache-2.0
//
// A handler of JAX's foreign functions: y = rotate(x, cos, sin) with the pairing and the direction
// as attributes. XLA's buffers are dense, and y may be x's, donated. No exception leaves it.
#include <eigen_rope/any/any.hpp>

#include "clients.hpp"  // "xla/ffi/api/ffi.h"

namespace er = eigen_rope;
namespace ffi = xla::ffi;

namespace {

er::ScalarType scalar_type(ffi::DataType type) {
  switch (type) {
    case ffi::DataType::F16: return er::ScalarType::f16;
    case ffi::DataType::BF16: return er::ScalarType::bf16;
    case ffi::DataType::F32: return er::ScalarType::f32;
    case ffi::DataType::F64: return er::ScalarType::f64;
    default: throw er::Error("[rope] a buffer must be of f16, bf16, f32 or f64");
  }
}

er::any::Tensor view(const ffi::AnyBuffer& b) {
  return er::any::tensor(scalar_type(b.element_type()), b.untyped_data(),
                         static_cast<int>(b.dimensions().size()), b.dimensions().begin());
}

}  // namespace

ffi::Error rotate_handler(const ffi::AnyBuffer& x, const ffi::AnyBuffer& cos,
                          const ffi::AnyBuffer& sin, std::string_view pairing,
                          std::string_view direction, ffi::Result<ffi::AnyBuffer> y) {
  try {
    er::any::rotate_to(view(*y), view(x), er::any::table_of(view(cos), view(sin)),
                       er::any::pairing_of(pairing), er::any::direction_of(direction));
    return ffi::Error::Success();
  } catch (const er::Error& error) {
    return ffi::Error::InvalidArgument(error.what());
  }
}
