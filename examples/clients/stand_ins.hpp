// SPDX-License-Identifier: Apache-2.0
//
// Stand-ins for what five frameworks hand to an operator of their own: as much of their interfaces
// as the files beside this one use, under the same names. A file becomes the real thing when it
// includes the framework's header in place of this one.
//
//   nanobind             nb::ndarray, as DLPack describes it
//   PyTorch, stable ABI  torch::stable::Tensor
//   JAX                  xla::ffi::AnyBuffer, dense
//   TensorFlow           tensorflow::OpKernelContext, with its thread pool
//   ONNX Runtime         Ort::KernelContext
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#ifndef EIGEN_USE_THREADS
#define EIGEN_USE_THREADS
#endif
#if __has_include(<unsupported/Eigen/Tensor>)
#include <unsupported/Eigen/Tensor>
#else
#include <unsupported/Eigen/CXX11/Tensor>
#endif

namespace nanobind {

namespace dlpack {
enum class dtype_code : std::uint8_t { Int = 0, UInt = 1, Float = 2, Bfloat = 4 };
struct dtype {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
}  // namespace dlpack

/// An array of another library, with its strides in elements.
class ndarray {
 public:
  ndarray(dlpack::dtype type, void* data, std::vector<std::int64_t> shape,
          std::vector<std::int64_t> strides)
      : type_(type), data_(data), shape_(std::move(shape)), strides_(std::move(strides)) {}

  dlpack::dtype dtype() const { return type_; }
  void* data() const { return data_; }
  std::size_t ndim() const { return shape_.size(); }
  const std::int64_t* shape_ptr() const { return shape_.data(); }
  const std::int64_t* stride_ptr() const { return strides_.data(); }

 private:
  dlpack::dtype type_;
  void* data_;
  std::vector<std::int64_t> shape_, strides_;
};

/// A Python module: its functions by name.
struct module_ {
  std::map<std::string, void (*)(const ndarray&, const ndarray&, const ndarray&, const std::string&,
                                 const std::string&)>
      functions;
  template <class Function>
  void def(const char* name, Function function) {
    functions[name] = function;
  }
};

}  // namespace nanobind

#define NB_MODULE(name, variable) void name##_module(nanobind::module_& variable)

namespace torch {
namespace headeronly {
enum class ScalarType { Half = 5, Float = 6, Double = 7, BFloat16 = 15 };
}  // namespace headeronly
namespace stable {

/// A tensor whose memory others may own too.
class Tensor {
 public:
  Tensor(headeronly::ScalarType type, void* data, std::vector<std::int64_t> sizes,
         std::vector<std::int64_t> strides)
      : type_(type), data_(data), sizes_(std::move(sizes)), strides_(std::move(strides)) {}

  headeronly::ScalarType scalar_type() const { return type_; }
  std::int64_t dim() const { return static_cast<std::int64_t>(sizes_.size()); }
  const std::vector<std::int64_t>& sizes() const { return sizes_; }
  const std::vector<std::int64_t>& strides() const { return strides_; }
  const void* const_data_ptr() const { return data_; }
  void* mutable_data_ptr() const { return data_; }

 private:
  headeronly::ScalarType type_;
  void* data_;
  std::vector<std::int64_t> sizes_, strides_;
};

}  // namespace stable

/// The operators of a library: schemas and implementations by name.
struct Library {
  std::map<std::string, std::string> schemas;
  std::map<std::string, void (*)(const stable::Tensor&, const stable::Tensor&,
                                 const stable::Tensor&, const std::string&, const std::string&)>
      implementations;
  void def(const std::string& schema) { schemas[schema.substr(0, schema.find('('))] = schema; }
  template <class Function>
  void impl(const char* name, Function function) {
    implementations[name] = function;
  }
};

}  // namespace torch

#define TORCH_BOX(function) function
#define STABLE_TORCH_LIBRARY(name, variable) void name##_schemas(torch::Library& variable)
#define STABLE_TORCH_LIBRARY_IMPL(name, key, variable) \
  void name##_on_##key(torch::Library& variable)

namespace xla::ffi {

enum class DataType { F16 = 10, F32 = 11, F64 = 12, BF16 = 16 };
template <class T>
struct Span {
  const T* first;
  std::size_t count;
  const T* begin() const { return first; }
  std::size_t size() const { return count; }
};

/// Memory in row-major order.
class AnyBuffer {
 public:
  AnyBuffer(DataType type, void* data, std::vector<std::int64_t> dimensions)
      : type_(type), data_(data), dimensions_(std::move(dimensions)) {}

  DataType element_type() const { return type_; }
  Span<std::int64_t> dimensions() const { return {dimensions_.data(), dimensions_.size()}; }
  void* untyped_data() const { return data_; }

 private:
  DataType type_;
  void* data_;
  std::vector<std::int64_t> dimensions_;
};
template <class T>
using Result = const T*;

class Error {
 public:
  static Error Success() { return Error(""); }
  static Error InvalidArgument(std::string message) { return Error(std::move(message)); }
  bool success() const { return message_.empty(); }
  const std::string& message() const { return message_; }

 private:
  explicit Error(std::string message) : message_(std::move(message)) {}
  std::string message_;
};

}  // namespace xla::ffi

namespace tensorflow {

enum DataType { DT_FLOAT = 1, DT_DOUBLE = 2, DT_BFLOAT16 = 14, DT_HALF = 19 };

class TensorShape {
 public:
  TensorShape(std::vector<std::int64_t> sizes) : sizes_(std::move(sizes)) {}  // NOLINT
  int dims() const { return static_cast<int>(sizes_.size()); }
  const std::vector<std::int64_t>& dim_sizes() const { return sizes_; }

 private:
  std::vector<std::int64_t> sizes_;
};

/// Dense, in row-major order.
class Tensor {
 public:
  Tensor(DataType type, void* data, TensorShape shape)
      : type_(type), data_(data), shape_(std::move(shape)) {}
  DataType dtype() const { return type_; }
  const TensorShape& shape() const { return shape_; }
  void* data() const { return data_; }

 private:
  DataType type_;
  void* data_;
  TensorShape shape_;
};

struct OpKernelConstruction {
  std::map<std::string, std::string> attributes;
  void GetAttr(const char* name, std::string* value) { *value = attributes.at(name); }
};

class OpKernelContext {
 public:
  OpKernelContext(std::vector<Tensor> inputs, Tensor output, Eigen::ThreadPoolDevice& device)
      : inputs_(std::move(inputs)), output_(std::move(output)), device_(device) {}
  const Tensor& input(int i) const { return inputs_[static_cast<std::size_t>(i)]; }
  void allocate_output(int, const TensorShape&, Tensor** output) { *output = &output_; }
  const Eigen::ThreadPoolDevice& eigen_cpu_device() const { return device_; }
  void CtxFailure(const std::string& status) { status_ = status; }
  const std::string& status() const { return status_; }

 private:
  std::vector<Tensor> inputs_;
  Tensor output_;
  Eigen::ThreadPoolDevice& device_;
  std::string status_;
};

class OpKernel {
 public:
  explicit OpKernel(OpKernelConstruction*) {}
  virtual ~OpKernel() = default;
  virtual void Compute(OpKernelContext* context) = 0;
};

}  // namespace tensorflow

namespace Ort {

enum ONNXTensorElementDataType { FLOAT = 1, FLOAT16 = 10, DOUBLE = 11, BFLOAT16 = 16 };

/// A tensor in row-major order; of the real class, what its type and shape are asked through
/// GetTensorTypeAndShapeInfo() for.
class Value {
 public:
  Value(ONNXTensorElementDataType type, void* data, std::vector<std::int64_t> shape)
      : type_(type), data_(data), shape_(std::move(shape)) {}
  const Value& GetTensorTypeAndShapeInfo() const { return *this; }
  ONNXTensorElementDataType GetElementType() const { return type_; }
  std::vector<std::int64_t> GetShape() const { return shape_; }
  const void* GetTensorRawData() const { return data_; }
  void* GetTensorMutableRawData() const { return data_; }

 private:
  ONNXTensorElementDataType type_;
  void* data_;
  std::vector<std::int64_t> shape_;
};

class KernelContext {
 public:
  explicit KernelContext(std::vector<Value> inputs, Value output)
      : inputs_(std::move(inputs)), output_(std::move(output)) {}
  const Value& GetInput(std::size_t i) const { return inputs_[i]; }
  const Value& GetOutput(std::size_t, const std::vector<std::int64_t>&) const { return output_; }
  /// Calls work(data, i) for i of [0, total) on the session's threads.
  void ParallelFor(void (*work)(void*, std::size_t), std::size_t total, std::size_t,
                   void* data) const {
    for (std::size_t i = total; i-- > 0;) work(data, i);
  }

 private:
  std::vector<Value> inputs_;
  Value output_;
};

}  // namespace Ort
