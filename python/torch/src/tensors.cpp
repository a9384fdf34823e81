// SPDX-License-Identifier: Apache-2.0
#include "tensors.hpp"

#include <algorithm>
#include <string>

namespace eigen_rope_torch {
namespace {

using torch::headeronly::ScalarType;

[[noreturn]] void refuse_type(const char* name, ScalarType type) {
  throw er::Error(std::string("[rope] ") + name +
                  " must be of float16, bfloat16, float32 or float64, got " +
                  torch::headeronly::toString(type));
}

/// The data, the extents and the strides by one call each, as every call crosses the stable ABI.
template <class View>
View view_of(const Tensor& tensor, const char* name) {
  const er::ScalarType type = scalar_type(tensor, name);
  const auto sizes = tensor.sizes();
  const auto strides = tensor.strides();
  if (sizes.size() > static_cast<std::size_t>(er::max_rank)) {
    throw er::Error(std::string("[rope] ") + name + " must have at most " +
                    std::to_string(er::max_rank) + " axes, got " + std::to_string(sizes.size()));
  }
  // The address of an empty or a meta tensor's data is none, which is what the library expects.
  View view{type, tensor.data_ptr()};
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    view.shape.push_back(sizes[axis]);
    view.strides.push_back(strides[axis]);
  }
  return view;
}

/// Whether elements fill their memory without gaps and none twice; axes of one element do not
/// count, whatever their stride.
bool is_dense(const Tensor& tensor) {
  if (tensor.is_contiguous()) return true;
  const auto sizes = tensor.sizes();
  const auto strides = tensor.strides();
  // From the fastest axis outwards: the next one's stride is the number of elements so far.
  std::int64_t elements = 1;
  for (std::size_t place = 0; place < sizes.size(); ++place) {
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      if (sizes[axis] == 1 || strides[axis] != elements) continue;
      elements *= sizes[axis];
      break;
    }
  }
  return elements == tensor.numel();
}

Tensor empty_strided(std::size_t rank, const std::int64_t* sizes, const std::int64_t* strides,
                     std::int32_t type) {
  AtenTensorHandle handle = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(static_cast<std::int64_t>(rank), sizes,
                                                         strides, type,
                                                         aoti_torch_device_type_cpu(), 0, &handle));
  return Tensor(handle);
}

}  // namespace

er::ScalarType scalar_type(const Tensor& tensor, const char* name) {
  const ScalarType type = tensor.scalar_type();
  switch (type) {
    case ScalarType::Half: return er::ScalarType::f16;
    case ScalarType::BFloat16: return er::ScalarType::bf16;
    case ScalarType::Float: return er::ScalarType::f32;
    case ScalarType::Double: return er::ScalarType::f64;
    default: refuse_type(name, type);
  }
}

er::any::ConstTensor read(const Tensor& tensor, const char* name) {
  return view_of<er::any::ConstTensor>(tensor, name);
}

er::any::Tensor write(const Tensor& tensor, const char* name) {
  return view_of<er::any::Tensor>(tensor, name);
}

Tensor with_features(const Tensor& tensor, std::int64_t axis) {
  const std::int64_t rank = tensor.dim();
  if (axis < -rank || axis >= 0) return tensor;
  const bool repeats = tensor.strides()[static_cast<std::size_t>(rank + axis)] == 0 &&
                       tensor.sizes()[static_cast<std::size_t>(rank + axis)] > 1;
  return repeats ? torch::stable::contiguous(tensor) : tensor;
}

bool same_strides(const Tensor& a, const Tensor& b) {
  const auto of_a = a.strides();
  const auto of_b = b.strides();
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end());
}

Tensor new_like(const Tensor& x) {
  // PyTorch's own function goes through the dispatcher by name, which takes a microsecond. It has
  // the rule for tensors with gaps.
  const auto sizes = x.sizes();
  if (sizes.size() > static_cast<std::size_t>(er::max_rank) || !is_dense(x)) {
    return torch::stable::empty_like(x);
  }
  std::int32_t type = 0;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(x.get(), &type));
  return empty_strided(sizes.size(), sizes.data(), x.strides().data(), type);
}

Tensor new_dense(const er::Shape& shape, ScalarType type) {
  std::int64_t sizes[er::max_rank];
  std::int64_t strides[er::max_rank];
  std::int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    sizes[axis] = shape[axis];
    strides[axis] = stride;
    stride *= (std::max)(std::int64_t{1}, static_cast<std::int64_t>(shape[axis]));
  }
  return empty_strided(static_cast<std::size_t>(shape.rank()), sizes, strides,
                       torch::stable::detail::to<std::int32_t>(torch::stable::detail::from(type)));
}

er::Device Threads::device() const {
  return {*this, static_cast<int>((std::max)(1U, torch::stable::get_num_threads()))};
}

void Threads::operator()(er::Index count, const er::Device::Work& work) const {
  torch::stable::parallel_for(0, count, 1, [&work](std::int64_t first, std::int64_t last) {
    work(static_cast<er::Index>(first), static_cast<er::Index>(last));
  });
}

}  // namespace eigen_rope_torch
