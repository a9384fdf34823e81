// SPDX-License-Identifier: Apache-2.0
//
// Tensors of PyTorch as tensors of the library: views of the same memory, with their strides.
//
//   const ConstTensor x = read(tensor, "x");         any::ConstTensor of the same elements
//   Tensor y = new_like(x);                        what torch.empty_like() makes of x
//   const Threads threads;  threads.device()         at::parallel_for as a Device
//
// Everything here uses PyTorch's stable ABI alone, so one build serves every later PyTorch.
#pragma once

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <eigen_rope/any/any.hpp>

#include <cstdint>

namespace eigen_rope_torch {

namespace er = eigen_rope;
using torch::stable::Tensor;

/// Returns the library's name of a scalar; `name` is the argument's, for the error.
er::ScalarType scalar_type(const Tensor& tensor, const char* name);

/// Returns a view for reading. The tensor must be on the CPU and outlive the view.
er::any::ConstTensor read(const Tensor& tensor, const char* name);

/// Returns a view for writing likewise.
er::any::Tensor write(const Tensor& tensor, const char* name);

/// Returns the tensor, or a dense copy where neighbours along `axis` are one and the same element,
/// as in the gradient of a sum. `axis` is counted from the last, which is -1.
Tensor with_features(const Tensor& tensor, std::int64_t axis);

/// Returns whether two tensors have the same strides.
bool same_strides(const Tensor& a, const Tensor& b);

/// Returns memory with x's shape and type, and with the strides of torch.empty_like(x).
Tensor new_like(const Tensor& x);

/// Returns dense memory of this shape and scalar on the CPU.
Tensor new_dense(const er::Shape& shape, torch::headeronly::ScalarType type);

/// PyTorch's own threads, as many as torch.set_num_threads() allows.
class Threads {
 public:
  /// Returns a device that splits work among them.
  er::Device device() const;

  /// Does the items 0, ..., count - 1 by at::parallel_for.
  void operator()(er::Index count, const er::Device::Work& work) const;
};

}  // namespace eigen_rope_torch
