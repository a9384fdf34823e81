// SPDX-License-Identifier: Apache-2.0
//
// RegisterCustomOps, the one function that ONNX Runtime looks for in a library of operators.
//
// A session's options say what is replaced, by an entry of their configuration that is set before:
//
//   custom_op.eigen_rope.replace = "ai.onnx,com.microsoft"
//
// Without it the operators of the domain eigen_rope are added, and no node changes its meaning.
#include <algorithm>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

#include "operators.hpp"

namespace eigen_rope_onnxruntime {
namespace {

constexpr const char* replace_entry = "custom_op.eigen_rope.replace";
constexpr const char* registered_entry = "custom_op.eigen_rope.registered";

/// The domains for one runtime.
struct Domains {
  explicit Domains(const OrtApiBase& its_base)
      : base(its_base),
        runtime(its_base),
        own(runtime, "eigen_rope"),
        standard(runtime, ""),
        contrib(runtime, "com.microsoft") {
    own.add("RotaryEmbedding", Contract::standard);
    own.add("ContribRotaryEmbedding", Contract::contrib);
    own.add("MRotaryEmbedding", Contract::multi_axis);
    own.add("Rotate", Contract::rotation);
    standard.add("RotaryEmbedding", Contract::standard, 23);
    contrib.add("RotaryEmbedding", Contract::contrib);
    contrib.add("MRotaryEmbedding", Contract::multi_axis);
  }

  const OrtApiBase& base;
  Runtime runtime;
  Domain own;
  Domain standard;
  Domain contrib;
};

/// The domains for the runtime that asks; a process may have more than one.
const Domains& domains_of(const OrtApiBase& base) {
  // Never destroyed: sessions that nobody has released outlive every other object of the process.
  static std::mutex mutex;
  static auto& all = *new std::deque<Domains>;
  const std::lock_guard lock(mutex);
  for (const Domains& domains : all) {
    if (&domains.base == &base) return domains;
  }
  return all.emplace_back(base);
}

/// The value of an entry of the configuration, empty where it is not set.
std::string entry_of(const OrtApi& api, const OrtSessionOptions& options, const char* name) {
  int is_set = 0;
  check(api.HasSessionConfigEntry(&options, name, &is_set));
  if (is_set == 0) return {};
  std::size_t size = 0;
  check(api.GetSessionConfigEntry(&options, name, nullptr, &size));
  std::string value(size, '\0');
  check(api.GetSessionConfigEntry(&options, name, value.data(), &size));
  value.resize(size - 1);
  return value;
}

struct Replaced {
  bool standard = false;
  bool contrib = false;
};

/// The domains that a list with commas between them names.
Replaced replaced_by(std::string_view value) {
  Replaced replaced;
  if (value.empty()) return replaced;
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    const std::string_view name = value.substr(begin, end - begin);
    begin = end + 1;
    if (name == "ai.onnx") {
      replaced.standard = true;
    } else if (name == "com.microsoft") {
      replaced.contrib = true;
    } else {
      throw er::Error(std::string("[rope] ") + replace_entry +
                      " must be ai.onnx, com.microsoft or both with a comma between them, got " +
                      std::string(value));
    }
  }
  return replaced;
}

void register_operators(OrtSessionOptions& options, const OrtApiBase& base) {
  const Domains& domains = domains_of(base);
  const OrtApi& api = domains.runtime.api();
  const Replaced replaced = replaced_by(entry_of(api, options, replace_entry));
  if (!entry_of(api, options, registered_entry).empty()) {
    throw er::Error("[rope] session options must have the operators once, got them a second time");
  }
  domains.own.register_with(options);
  if (replaced.standard) domains.standard.register_with(options);
  if (replaced.contrib) domains.contrib.register_with(options);
  check(api.AddSessionConfigEntry(&options, registered_entry, "1"));
}

}  // namespace
}  // namespace eigen_rope_onnxruntime

extern "C" [[gnu::visibility("default")]] OrtStatus* RegisterCustomOps(
    OrtSessionOptions* options, const OrtApiBase* base) noexcept {
  using namespace eigen_rope_onnxruntime;
  return guarded(first_api(*base), [&] { register_operators(*options, *base); });
}
