// SPDX-License-Identifier: Apache-2.0
#include "operators.hpp"

#include <vector>

namespace eigen_rope_onnxruntime {
namespace {

constexpr er::ScalarType scalars[] = {er::ScalarType::f32, er::ScalarType::f64, er::ScalarType::f16,
                                      er::ScalarType::bf16};

ONNXTensorElementDataType element_type(er::ScalarType type) {
  switch (type) {
    case er::ScalarType::f32: return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
    case er::ScalarType::f64: return ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE;
    case er::ScalarType::f16: return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16;
    case er::ScalarType::bf16: break;
  }
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16;
}

const Operator& self(const OrtCustomOp* op) { return static_cast<const Operator&>(*op); }

/// The place of the position ids among the inputs.
std::size_t place_of_ids(Contract contract) { return contract == Contract::standard ? 3 : 1; }

std::size_t input_count(const OrtCustomOp* op) {
  return self(op).contract == Contract::rotation ? 3 : 4;
}

ONNXTensorElementDataType input_type(const OrtCustomOp* op, std::size_t index) {
  const Operator& of = self(op);
  const bool has_ids = of.contract != Contract::rotation;
  if (has_ids && index == place_of_ids(of.contract)) return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
  return element_type(index == 0 ? of.types.x : of.types.table);
}

OrtCustomOpInputOutputCharacteristic input_characteristic(const OrtCustomOp* op,
                                                          std::size_t index) {
  const bool optional = self(op).contract == Contract::standard && index == 3;
  return optional ? INPUT_OUTPUT_OPTIONAL : INPUT_OUTPUT_REQUIRED;
}

OrtStatus* create_kernel(const OrtCustomOp* op, const OrtApi* api, const OrtKernelInfo* info,
                         void** kernel) {
  return guarded(*api, [&] {
    const Operator& of = self(op);
    std::size_t inputs = 0;
    check(of.runtime.api().KernelInfo_GetInputCount(info, &inputs));
    *kernel = make_kernel(of.contract, of.runtime, of.types, inputs, Attributes(of.runtime, *info))
                  .release();
  });
}

OrtStatus* compute(void* kernel, OrtKernelContext* context) {
  const Kernel& of = *static_cast<const Kernel*>(kernel);
  return guarded(of.runtime().api(), [&] { of.compute(Context(of.runtime(), *context)); });
}

/// The output has x's shape. What is not known of it stays unknown: ONNX Runtime takes extents
/// without a number or a name for numbers, and reads no difference between no shape and no axes.
/// It ignores the status and does not release it, so there is none.
OrtStatus* infer_shape(const OrtCustomOp* op, OrtShapeInferContext* context) {
  const OrtApi& api = self(op).runtime.api();
  const auto succeeds = [&api](OrtStatus* status) {
    if (status != nullptr) api.ReleaseStatus(status);
    return status == nullptr;
  };
  OrtTensorTypeAndShapeInfo* x = nullptr;  // the context's own
  std::size_t rank = 0;
  if (!succeeds(api.ShapeInferContext_GetInputTypeShape(context, 0, &x)) ||
      !succeeds(api.GetDimensionsCount(x, &rank)) || rank == 0) {
    return nullptr;
  }
  OrtStatus* const failure = guarded(api, [&] {
    std::vector<std::int64_t> extents(rank);
    std::vector<const char*> names(rank);
    check(api.GetDimensions(x, extents.data(), rank));
    check(api.GetSymbolicDimensions(x, names.data(), rank));
    for (std::size_t axis = 0; axis < rank; ++axis) {
      if (extents[axis] < 0 && *names[axis] == '\0') return;
    }
    check(api.ShapeInferContext_SetOutputTypeShape(context, 0, x));
  });
  succeeds(failure);
  return nullptr;
}

/// The output may lie where x was.
size_t may_inplace(int** inputs, int** outputs) {
  static int zero = 0;
  *inputs = &zero;
  *outputs = &zero;
  return 1;
}

}  // namespace

Operator::Operator(const Runtime& its_runtime, const char* its_name, Contract its_contract,
                   Types its_types, int since)
    : OrtCustomOp{},
      runtime(its_runtime),
      name(its_name),
      contract(its_contract),
      types(its_types),
      first_version(since) {
  version = runtime.version();
  GetName = [](const OrtCustomOp* op) { return self(op).name; };
  GetExecutionProviderType = [](const OrtCustomOp*) -> const char* { return nullptr; };
  GetInputType = input_type;
  GetInputTypeCount = input_count;
  GetOutputType = [](const OrtCustomOp* op, std::size_t) { return element_type(self(op).types.x); };
  GetOutputTypeCount = [](const OrtCustomOp*) -> std::size_t { return 1; };
  GetInputCharacteristic = input_characteristic;
  GetOutputCharacteristic = [](const OrtCustomOp*, std::size_t) { return INPUT_OUTPUT_REQUIRED; };
  GetInputMemoryType = [](const OrtCustomOp*, std::size_t) { return OrtMemTypeDefault; };
  GetVariadicInputMinArity = [](const OrtCustomOp*) { return 1; };
  GetVariadicInputHomogeneity = [](const OrtCustomOp*) { return 1; };
  GetVariadicOutputMinArity = [](const OrtCustomOp*) { return 1; };
  GetVariadicOutputHomogeneity = [](const OrtCustomOp*) { return 1; };
  CreateKernelV2 = create_kernel;
  KernelComputeV2 = compute;
  KernelDestroy = [](void* kernel) { delete static_cast<Kernel*>(kernel); };
  if (contract != Contract::standard || runtime.infers_without_optional_inputs())
    InferOutputShapeFn = infer_shape;
  GetStartVersion = [](const OrtCustomOp* op) { return self(op).first_version; };
  GetEndVersion = nullptr;
  GetMayInplace = may_inplace;
  ReleaseMayInplace = [](int*, int*) {};
}

Domain::Domain(const Runtime& runtime, const char* name) : runtime_(runtime) {
  check(runtime_.api().CreateCustomOpDomain(name, &domain_));
}

Domain::~Domain() { runtime_.api().ReleaseCustomOpDomain(domain_); }

void Domain::add(const char* name, Contract contract, int first_version) {
  const auto add_one = [&](Types types) {
    operators_.emplace_back(runtime_, name, contract, types, first_version);
    check(runtime_.api().CustomOpDomain_Add(domain_, &operators_.back()));
  };
  for (const er::ScalarType scalar : scalars) {
    add_one({scalar, scalar});
    if (contract == Contract::rotation && er::size_of(scalar) == 2)
      add_one({scalar, er::ScalarType::f32});
  }
}

void Domain::register_with(OrtSessionOptions& options) const {
  check(runtime_.api().AddCustomOpDomain(&options, domain_));
}

}  // namespace eigen_rope_onnxruntime
