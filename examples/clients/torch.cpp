// SPDX-License-Identifier: Apache-2.0
//
// An operator of PyTorch's stable ABI: rope::rotate_ rotates a tensor on the CPU in place, with the
// strides that transposes and slices have left it. With the direction "backward" it is its own
// gradient.
#include <eigen_rope/any/any.hpp>

#include "clients.hpp"  // <torch/csrc/stable/library.h>, <torch/csrc/stable/tensor.h>

namespace er = eigen_rope;

namespace {

using torch::stable::Tensor;

er::ScalarType scalar_type(torch::headeronly::ScalarType type) {
  switch (type) {
    case torch::headeronly::ScalarType::Half: return er::ScalarType::f16;
    case torch::headeronly::ScalarType::BFloat16: return er::ScalarType::bf16;
    case torch::headeronly::ScalarType::Float: return er::ScalarType::f32;
    case torch::headeronly::ScalarType::Double: return er::ScalarType::f64;
    default: throw er::Error("[rope] a tensor must be of half, bfloat16, float or double");
  }
}

er::any::Tensor view(const Tensor& t) {
  return er::any::tensor(scalar_type(t.scalar_type()), t.mutable_data_ptr(),
                         static_cast<int>(t.dim()), t.sizes().data(), t.strides().data());
}

void rotate(const Tensor& x, const Tensor& cos, const Tensor& sin, const std::string& pairing,
            const std::string& direction) {
  er::any::rotate_inplace(view(x), er::any::table_of(view(cos), view(sin)),
                          er::any::pairing_of(pairing), er::any::direction_of(direction));
}

}  // namespace

STABLE_TORCH_LIBRARY(rope, m) {
  m.def("rotate_(Tensor(a!) x, Tensor cos, Tensor sin, str pairing, str direction) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(rope, CPU, m) { m.impl("rotate_", TORCH_BOX(&rotate)); }
