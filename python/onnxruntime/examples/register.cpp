// SPDX-License-Identifier: Apache-2.0
//
// The operators in a program in C++: its session options load the library, and RotaryEmbedding of
// ai.onnx is the library's from then on.
//
//   register LIBRARY MODEL     y of the model for x = 1, 2, ..., cos = 0 and sin = 1, on one line
#include <onnxruntime_cxx_api.h>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

namespace {

using Shape = std::vector<std::int64_t>;

Shape shape_of(const Ort::Session& session, std::size_t input) {
  return session.GetInputTypeInfo(input).GetTensorTypeAndShapeInfo().GetShape();
}

std::size_t count_of(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return static_cast<std::size_t>(count);
}

int run(const char* library, const char* model) {
  const Ort::Env environment;
  Ort::SessionOptions options;
  options.AddConfigEntry("custom_op.eigen_rope.replace",
                         "ai.onnx");  // before the library is loaded
  options.RegisterCustomOpsLibrary(library);
  Ort::Session session(environment, model, options);

  const Shape x_shape = shape_of(session, 0);
  const Shape table_shape = shape_of(session, 1);
  std::vector<float> x(count_of(x_shape));
  std::iota(x.begin(), x.end(), 1.0F);
  std::vector<float> cos(count_of(table_shape), 0.0F);
  std::vector<float> sin(count_of(table_shape), 1.0F);
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  const auto tensor = [&](std::vector<float>& values, const Shape& shape) {
    return Ort::Value::CreateTensor<float>(memory, values.data(), values.size(), shape.data(),
                                           shape.size());
  };
  std::vector<Ort::Value> inputs;
  inputs.push_back(tensor(x, x_shape));
  inputs.push_back(tensor(cos, table_shape));
  inputs.push_back(tensor(sin, table_shape));
  const char* const names[] = {"x", "cos", "sin"};
  const char* const name = "y";
  const auto outputs = session.Run({}, names, inputs.data(), inputs.size(), &name, 1);
  const auto* y = outputs[0].GetTensorData<float>();
  for (std::size_t i = 0; i < x.size(); ++i)
    std::printf("%s%g", i == 0 ? "" : " ", static_cast<double>(y[i]));
  std::printf("\n");
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: register LIBRARY MODEL\n");
    return 2;
  }
  try {
    return run(arguments[1], arguments[2]);
  } catch (const Ort::Exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
