// SPDX-License-Identifier: Apache-2.0
//
// Plays the five frameworks: each is handed the same tensors, of every type, and must return the
// bits of the C++ interface, and the library's sentence for tensors that do not fit.
#define EIGEN_USE_THREADS  // before the first header of Eigen
#include <fmt/core.h>

#include <cstring>
#include <eigen_rope/eigen_rope.hpp>
#include <type_traits>
#include <vector>

#include "clients.hpp"

namespace er = eigen_rope;

namespace {

constexpr std::int64_t batch = 2, heads = 3, tokens = 40, D = 16;
constexpr const char* pairing = "interleaved";
constexpr const char* direction = "forward";

/// The names that the frameworks have for a type.
template <class T>
struct Types;
template <>
struct Types<float> {
  static constexpr nanobind::dlpack::dtype python{2, 32, 1};
  static constexpr auto torch = torch::headeronly::ScalarType::Float;
  static constexpr auto xla = xla::ffi::DataType::F32;
  static constexpr auto tensorflow = tensorflow::DT_FLOAT;
  static constexpr auto onnx = Ort::FLOAT;
};
template <>
struct Types<double> {
  static constexpr nanobind::dlpack::dtype python{2, 64, 1};
  static constexpr auto torch = torch::headeronly::ScalarType::Double;
  static constexpr auto xla = xla::ffi::DataType::F64;
  static constexpr auto tensorflow = tensorflow::DT_DOUBLE;
  static constexpr auto onnx = Ort::DOUBLE;
};
template <>
struct Types<Eigen::half> {
  static constexpr nanobind::dlpack::dtype python{2, 16, 1};
  static constexpr auto torch = torch::headeronly::ScalarType::Half;
  static constexpr auto xla = xla::ffi::DataType::F16;
  static constexpr auto tensorflow = tensorflow::DT_HALF;
  static constexpr auto onnx = Ort::FLOAT16;
};
template <>
struct Types<Eigen::bfloat16> {
  static constexpr nanobind::dlpack::dtype python{4, 16, 1};
  static constexpr auto torch = torch::headeronly::ScalarType::BFloat16;
  static constexpr auto xla = xla::ffi::DataType::BF16;
  static constexpr auto tensorflow = tensorflow::DT_BFLOAT16;
  static constexpr auto onnx = Ort::BFLOAT16;
};

/// x of [batch, tokens, heads, D], and its rotation by the C++ interface.
template <class T>
struct Problem {
  using Rows = Eigen::Tensor<T, 4, Eigen::RowMajor>;
  using Entry = std::conditional_t<sizeof(T) == 2, float, T>;  // of the table

  er::Cache<Entry> cache{er::Frequencies::powers({D}), er::Positions::range(5, tokens)};
  Rows x{batch, tokens, heads, D};
  Rows y{batch, tokens, heads, D};
  Rows expected;
  void* cos = const_cast<Entry*>(cache.cos());
  void* sin = const_cast<Entry*>(cache.sin());
  std::vector<std::int64_t> shape{batch, tokens, heads, D}, table_shape{tokens, 1, D / 2};

  Problem() {
    for (Eigen::Index i = 0; i < x.size(); ++i)
      x.data()[i] = static_cast<T>(static_cast<float>(i % 61 - 30) / 16.0F);
    y = x;
    expected = er::rotate(x, cache, er::interleaved);
  }
  bool holds() const {
    return std::memcmp(y.data(), expected.data(), sizeof(T) * static_cast<std::size_t>(y.size())) ==
           0;
  }
};

/// In place, by the strides of q.transpose(1, 2): [batch, heads, tokens, D].
const std::vector<std::int64_t> turned{batch, heads, tokens, D};
const std::vector<std::int64_t> turned_strides{tokens * heads * D, D, heads* D, 1};
const std::vector<std::int64_t> turned_table{1, tokens, D / 2};
const std::vector<std::int64_t> turned_table_strides{tokens * D / 2, D / 2, 1};

template <class T>
bool by_nanobind() {
  using Entry = Types<typename Problem<T>::Entry>;
  Problem<T> p;
  nanobind::module_ module;
  rope_module(module);
  const auto array = [](nanobind::dlpack::dtype type, void* data, const auto& shape,
                        const auto& strides) {
    return nanobind::ndarray(type, data, shape, strides);
  };
  module.functions.at("rotate_")(array(Types<T>::python, p.y.data(), turned, turned_strides),
                                 array(Entry::python, p.cos, turned_table, turned_table_strides),
                                 array(Entry::python, p.sin, turned_table, turned_table_strides),
                                 pairing, direction);
  return p.holds();
}

template <class T>
bool by_torch() {
  using Entry = Types<typename Problem<T>::Entry>;
  using torch::stable::Tensor;
  Problem<T> p;
  torch::Library library;
  rope_schemas(library);
  rope_on_CPU(library);
  if (library.schemas.count("rotate_") != 1) return false;
  library.implementations.at("rotate_")(
      Tensor(Types<T>::torch, p.y.data(), turned, turned_strides),
      Tensor(Entry::torch, p.cos, turned_table, turned_table_strides),
      Tensor(Entry::torch, p.sin, turned_table, turned_table_strides), pairing, direction);
  return p.holds();
}

template <class T>
bool by_jax() {
  using Entry = Types<typename Problem<T>::Entry>;
  using xla::ffi::AnyBuffer;
  Problem<T> p;
  const AnyBuffer x(Types<T>::xla, p.x.data(), p.shape), y(Types<T>::xla, p.y.data(), p.shape);
  const AnyBuffer cos(Entry::xla, p.cos, p.table_shape), sin(Entry::xla, p.sin, p.table_shape);
  if (!rotate_handler(x, cos, sin, pairing, direction, &y).success()) return false;
  const auto refused = rotate_handler(x, cos, sin, "sideways", direction, &y);
  return p.holds() && refused.message().rfind("[rope] ", 0) == 0;
}

template <class T>
bool by_tensorflow() {
  using Entry = Types<typename Problem<T>::Entry>;
  using tensorflow::Tensor;
  Problem<T> p;
  Eigen::ThreadPool pool(2);
  Eigen::ThreadPoolDevice device(&pool, 2);
  tensorflow::OpKernelConstruction construction{{{"pairing", pairing}, {"direction", direction}}};
  const auto op = make_rope_op(&construction);
  const Tensor y(Types<T>::tensorflow, p.y.data(), p.shape);
  tensorflow::OpKernelContext context({{Types<T>::tensorflow, p.x.data(), p.shape},
                                       {Entry::tensorflow, p.cos, p.table_shape},
                                       {Entry::tensorflow, p.sin, p.table_shape}},
                                      y, device);
  op->Compute(&context);
  if (!p.holds() || !context.status().empty()) return false;
  tensorflow::OpKernelContext misfit(
      {y, {Entry::tensorflow, p.cos, p.table_shape}, {Entry::tensorflow, p.sin, {{tokens, D / 2}}}},
      y, device);
  op->Compute(&misfit);
  return misfit.status() == "[rope] sin must have cos's shape [40, 1, 8], got [40, 8]";
}

template <class T>
bool by_onnxruntime() {
  using Entry = Types<typename Problem<T>::Entry>;
  Problem<T> p;
  const Ort::KernelContext context({{Types<T>::onnx, p.x.data(), p.shape},
                                    {Entry::onnx, p.cos, p.table_shape},
                                    {Entry::onnx, p.sin, p.table_shape}},
                                   {Types<T>::onnx, p.y.data(), p.shape});
  RotateKernel{pairing, direction}.Compute(context);
  return p.holds();
}

/// Whether all types have the right bits.
template <class Call>
bool holds(const char* name, const Call& call) {
  const bool good =
      call(float()) && call(double()) && call(Eigen::half()) && call(Eigen::bfloat16());
  fmt::print("{:<13} {}\n", name, good ? "the bits of the C++ interface" : "DIFFERENT");
  return good;
}

}  // namespace

int main() {
  bool good = holds("nanobind", [](auto t) { return by_nanobind<decltype(t)>(); });
  good = holds("PyTorch", [](auto t) { return by_torch<decltype(t)>(); }) && good;
  good = holds("JAX", [](auto t) { return by_jax<decltype(t)>(); }) && good;
  good = holds("TensorFlow", [](auto t) { return by_tensorflow<decltype(t)>(); }) && good;
  good = holds("ONNX Runtime", [](auto t) { return by_onnxruntime<decltype(t)>(); }) && good;
  return good ? 0 : 1;
}
