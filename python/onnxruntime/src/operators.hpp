// SPDX-License-Identifier: Apache-2.0
//
// The operators as ONNX Runtime wants them described, in three domains:
//
//   eigen_rope      RotaryEmbedding (ai.onnx 23's contract), ContribRotaryEmbedding and
//                   MRotaryEmbedding (com.microsoft's), Rotate
//   ai.onnx         RotaryEmbedding from 23 on, in place of ONNX Runtime's own
//   com.microsoft   RotaryEmbedding and MRotaryEmbedding, in place of ONNX Runtime's own
//
// Each is an operator for each scalar: ONNX Runtime takes one description for each combination of
// types, and chooses by the types of the node.
#pragma once

#include <deque>
#include <initializer_list>

#include "kernels.hpp"

namespace eigen_rope_onnxruntime {

/// An operator for one scalar.
struct Operator : OrtCustomOp {
  Operator(const Runtime& runtime, const char* name, Contract contract, Types types,
           int first_version);

  const Runtime& runtime;
  const char* name;
  Contract contract;
  Types types;
  int first_version;
};

/// A domain and what is in it, which live as long as the library.
class Domain {
 public:
  Domain(const Runtime& runtime, const char* name);
  ~Domain();
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  /// Adds the operator for every scalar.
  void add(const char* name, Contract contract, int first_version = 1);

  /// Adds the domain to a session's options.
  void register_with(OrtSessionOptions& options) const;

 private:
  const Runtime& runtime_;
  OrtCustomOpDomain* domain_ = nullptr;
  std::deque<Operator> operators_;  // ONNX Runtime keeps their addresses
};

}  // namespace eigen_rope_onnxruntime
