// SPDX-License-Identifier: Apache-2.0
#include "context.hpp"

namespace eigen_rope_onnxruntime {
namespace {

/// The shape of a tensor, by reference where the version has that: a copy costs allocations.
void copy_shape(const Runtime& runtime, const OrtValue& tensor, Dims& shape) {
  std::ptrdiff_t rank = -1;
  const std::int64_t* const extents = runtime.shape_of(tensor, rank);
  if (rank >= 0) {
    shape.assign(extents, extents + rank);
    return;
  }
  const OrtApi& api = runtime.api();
  OrtTensorTypeAndShapeInfo* info = nullptr;
  check(api.GetTensorTypeAndShape(&tensor, &info));
  std::size_t count = 0;
  OrtStatus* status = api.GetDimensionsCount(info, &count);
  if (status == nullptr) {
    shape.resize(count);
    status = api.GetDimensions(info, shape.data(), count);
  }
  api.ReleaseTensorTypeAndShapeInfo(info);
  check(status);
}

}  // namespace

bool Context::read(std::size_t index, std::size_t inputs, Dims& shape, const void*& data) const {
  if (index >= inputs) return false;
  const OrtApi& api = runtime_.api();
  const OrtValue* tensor = nullptr;
  check(api.KernelContext_GetInput(&context_, index, &tensor));
  if (tensor == nullptr) return false;
  copy_shape(runtime_, *tensor, shape);
  void* address = nullptr;
  // The interface has no other function for reading; nothing is written.
  check(api.GetTensorMutableData(const_cast<OrtValue*>(tensor), &address));
  data = address;
  return true;
}

void* Context::output(const Dims& shape) const {
  const OrtApi& api = runtime_.api();
  OrtValue* tensor = nullptr;
  check(api.KernelContext_GetOutput(&context_, 0, shape.data(), shape.size(), &tensor));
  void* address = nullptr;
  check(api.GetTensorMutableData(tensor, &address));
  return address;
}

void Context::parallel_for(er::Index count, const er::Device::Work& work) const {
  const auto item = [](void* data, std::size_t i) {
    const auto first = static_cast<er::Index>(i);
    (*static_cast<const er::Device::Work*>(data))(first, first + 1);
  };
  check(runtime_.api().KernelContext_ParallelFor(&context_, item, static_cast<std::size_t>(count),
                                                 0, const_cast<er::Device::Work*>(&work)));
}

}  // namespace eigen_rope_onnxruntime
