// SPDX-License-Identifier: Apache-2.0
#include "attributes.hpp"

namespace eigen_rope_onnxruntime {
namespace {

using Integers = std::vector<std::int64_t>;
using Numbers = std::vector<float>;

/// One function of ONNX Runtime for each kind, which fails for an attribute of another one.
OrtStatus* get(const OrtApi& api, const OrtKernelInfo& info, const char* name,
               std::int64_t& value) {
  return api.KernelInfoGetAttribute_int64(&info, name, &value);
}
OrtStatus* get(const OrtApi& api, const OrtKernelInfo& info, const char* name, float& value) {
  return api.KernelInfoGetAttribute_float(&info, name, &value);
}
OrtStatus* get(const OrtApi& api, const OrtKernelInfo& info, const char* name, Integers& value) {
  std::size_t count = 0;
  if (OrtStatus* const status =
          api.KernelInfoGetAttributeArray_int64(&info, name, nullptr, &count)) {
    return status;
  }
  value.resize(count);
  return count == 0 ? nullptr
                    : api.KernelInfoGetAttributeArray_int64(&info, name, value.data(), &count);
}
OrtStatus* get(const OrtApi& api, const OrtKernelInfo& info, const char* name, Numbers& value) {
  std::size_t count = 0;
  if (OrtStatus* const status =
          api.KernelInfoGetAttributeArray_float(&info, name, nullptr, &count)) {
    return status;
  }
  value.resize(count);
  return count == 0 ? nullptr
                    : api.KernelInfoGetAttributeArray_float(&info, name, value.data(), &count);
}
OrtStatus* get(const OrtApi& api, const OrtKernelInfo& info, const char* name, std::string& value) {
  std::size_t size = 0;
  if (OrtStatus* const status = api.KernelInfoGetAttribute_string(&info, name, nullptr, &size)) {
    return status;
  }
  value.resize(size);
  OrtStatus* const status = api.KernelInfoGetAttribute_string(&info, name, value.data(), &size);
  if (!value.empty()) value.pop_back();  // the zero at its end
  return status;
}

[[noreturn]] void refuse(const char* name, const char* kind, const char* got) {
  throw er::Error(std::string("[rope] attribute ") + name + " must be " + kind + ", got " + got);
}

}  // namespace

template <class Value>
std::optional<Value> Attributes::find(const char* name) const {
  Value value{};
  OrtStatus* const status = get(api_, info_, name, value);
  if (status == nullptr) return value;
  api_.ReleaseStatus(status);
  return std::nullopt;
}

const char* Attributes::kind_of(const char* name) const {
  if (find<std::int64_t>(name)) return "an integer";
  if (find<float>(name)) return "a float";
  if (find<std::string>(name)) return "a string";
  // Asked for a list of another kind, ONNX Runtime gives an empty one.
  const std::optional<Integers> integers = find<Integers>(name);
  if (!integers) return nullptr;
  return !integers->empty()             ? "a list of integers"
         : find<Numbers>(name)->empty() ? "an empty list"
                                        : "a list of floats";
}

template <class Value>
std::optional<Value> Attributes::read(const char* name, const char* kind) const {
  if (std::optional<Value> value = find<Value>(name)) return value;
  const char* const other = kind_of(name);
  if (other == nullptr) return std::nullopt;
  refuse(name, kind, other);
}

std::int64_t Attributes::integer(const char* name, std::int64_t fallback) const {
  return read<std::int64_t>(name, "an integer").value_or(fallback);
}

double Attributes::number(const char* name, double fallback) const {
  const std::optional<float> value = read<float>(name, "a float");
  return value ? static_cast<double>(*value) : fallback;
}

std::string Attributes::text(const char* name, const std::string& fallback) const {
  return read<std::string>(name, "a string").value_or(fallback);
}

std::optional<std::vector<std::int64_t>> Attributes::integers(const char* name) const {
  std::optional<Integers> value = find<Integers>(name);
  if (value && value->empty()) refuse(name, "a list of integers", kind_of(name));
  return value;
}

}  // namespace eigen_rope_onnxruntime
