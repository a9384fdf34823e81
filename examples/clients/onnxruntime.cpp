// SPDX-License-Identifier: Apache-2.0
//
// A custom operator of ONNX Runtime: y = rotate(x, cos, sin), with the pairing and the direction as
// attributes of the node.
#include <eigen_rope/any/any.hpp>

#include "clients.hpp"  // "onnxruntime_cxx_api.h"

namespace er = eigen_rope;

namespace {

er::ScalarType scalar_type(Ort::ONNXTensorElementDataType type) {
  switch (type) {
    case Ort::FLOAT: return er::ScalarType::f32;
    case Ort::DOUBLE: return er::ScalarType::f64;
    case Ort::FLOAT16: return er::ScalarType::f16;
    case Ort::BFLOAT16: return er::ScalarType::bf16;
    default: throw er::Error("[rope] a tensor must be of float16, bfloat16, float or double");
  }
}

er::any::ConstTensor view(const Ort::Value& value) {
  const auto& info = value.GetTensorTypeAndShapeInfo();
  const std::vector<std::int64_t> shape = info.GetShape();
  return er::any::tensor(scalar_type(info.GetElementType()), value.GetTensorRawData(),
                         static_cast<int>(shape.size()), shape.data());
}

}  // namespace

void RotateKernel::Compute(const Ort::KernelContext& context) const {
  const Ort::Value& x = context.GetInput(0);
  const std::vector<std::int64_t> shape = x.GetTensorTypeAndShapeInfo().GetShape();
  const Ort::Value& output = context.GetOutput(0, shape);
  const auto y = er::any::tensor(view(output).type, output.GetTensorMutableRawData(),
                                 static_cast<int>(shape.size()), shape.data());
  er::any::rotate_to(y, view(x),
                     er::any::table_of(view(context.GetInput(1)), view(context.GetInput(2))),
                     er::any::pairing_of(pairing), er::any::direction_of(direction));
}
