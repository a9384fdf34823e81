// SPDX-License-Identifier: Apache-2.0
//
// What the five files declare to their frameworks, for the program that stands in for those.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "stand_ins.hpp"

NB_MODULE(rope, m);
STABLE_TORCH_LIBRARY(rope, m);
STABLE_TORCH_LIBRARY_IMPL(rope, CPU, m);

xla::ffi::Error rotate_handler(const xla::ffi::AnyBuffer& x, const xla::ffi::AnyBuffer& cos,
                               const xla::ffi::AnyBuffer& sin, std::string_view pairing,
                               std::string_view direction, xla::ffi::Result<xla::ffi::AnyBuffer> y);

std::unique_ptr<tensorflow::OpKernel> make_rope_op(tensorflow::OpKernelConstruction* construction);

struct RotateKernel {
  std::string pairing, direction;
  void Compute(const Ort::KernelContext& context) const;
};
