// SPDX-License-Identifier: Apache-2.0
#include "runtime.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace eigen_rope_onnxruntime {
namespace {

/// The last version whose OrtCustomOp this library fills in.
constexpr std::uint32_t newest_version = 18;

/// The table of functions only ever grows at its end, so a function has the same place in every
/// version that has it, and versions before it have none there. Headers that know its name say
/// whether the place is right.
constexpr std::uint32_t shape_reference_version = 24;
constexpr std::size_t shape_reference_place = 414 * sizeof(void*);
#if ORT_API_VERSION >= 24
static_assert(offsetof(OrtApi, GetTensorElementTypeAndShapeDataReference) == shape_reference_place);
#endif

/// The version of the interface, which is the second number of a release: 1.<version>.<patch>.
std::uint32_t version_of(const OrtApiBase& base) {
  const char* const text = base.GetVersionString();
  const char* const dot = std::strchr(text, '.');
  const bool first_is_1 = dot != nullptr && dot - text == 1 && text[0] == '1';
  return first_is_1 ? static_cast<std::uint32_t>(std::strtoul(dot + 1, nullptr, 10)) : 0;
}

}  // namespace

Runtime::Runtime(const OrtApiBase& base) {
  // Asked for a version that it does not know, it would write to the standard error.
  known_ = version_of(base);
  version_ = std::min(known_, newest_version);
  if (version_ >= oldest_version) api_ = base.GetApi(version_);
  if (api_ == nullptr) {
    throw er::Error("[rope] ONNX Runtime must be 1." + std::to_string(oldest_version) +
                    " or a later 1.x, got " + base.GetVersionString());
  }
  threads_ = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  if (known_ < shape_reference_version) return;
  if (const OrtApi* const api = base.GetApi(shape_reference_version)) {
    std::memcpy(&shape_reference_, reinterpret_cast<const char*>(api) + shape_reference_place,
                sizeof(shape_reference_));
  }
}

const OrtApi& first_api(const OrtApiBase& base) { return *base.GetApi(1); }

}  // namespace eigen_rope_onnxruntime
