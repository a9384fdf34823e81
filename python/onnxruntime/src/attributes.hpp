// SPDX-License-Identifier: Apache-2.0
//
// The attributes of a node, read when its session is made.
//
//   const Attributes attributes(runtime, info);
//   node.num_heads = attributes.integer("num_heads", 0);       the second where it is not set
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime.hpp"

namespace eigen_rope_onnxruntime {

/// Each function throws an er::Error for an attribute that is of another kind.
class Attributes {
 public:
  Attributes(const Runtime& runtime, const OrtKernelInfo& info)
      : api_(runtime.api()), info_(info) {}

  /// Returns whether an attribute is set, of whatever kind.
  bool has(const char* name) const { return kind_of(name) != nullptr; }

  std::int64_t integer(const char* name, std::int64_t fallback) const;
  double number(const char* name, double fallback) const;
  std::string text(const char* name, const std::string& fallback) const;
  /// Returns nothing for a list that is not set; an empty one is refused.
  std::optional<std::vector<std::int64_t>> integers(const char* name) const;

 private:
  /// The kind of an attribute; a null pointer where it is not set.
  const char* kind_of(const char* name) const;
  template <class Value>
  std::optional<Value> read(const char* name, const char* kind) const;
  template <class Value>
  std::optional<Value> find(const char* name) const;

  const OrtApi& api_;
  const OrtKernelInfo& info_;
};

}  // namespace eigen_rope_onnxruntime
