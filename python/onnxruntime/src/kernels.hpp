// SPDX-License-Identifier: Apache-2.0
//
// What the operators do: one object for each node of a session, made with its attributes.
//
//   standard     ai.onnx RotaryEmbedding      (X, cos_cache, sin_cache, position_ids?)
//   contrib      com.microsoft's              (X, position_ids, cos_cache, sin_cache)
//   multi_axis   com.microsoft's MRotaryEmbedding, likewise with three lists of ids
//   rotation     the library's own            (x, cos, sin)
//
// They translate tensors and attributes, and the library rotates.
#pragma once

#include <cstddef>
#include <eigen_rope/any/scalar_type.hpp>
#include <memory>

#include "attributes.hpp"
#include "context.hpp"

namespace eigen_rope_onnxruntime {

/// Which operator a node is of.
enum class Contract { standard, contrib, multi_axis, rotation };

/// The types of the tensors of a node.
struct Types {
  er::ScalarType x;
  er::ScalarType table;
};

class Kernel {
 public:
  Kernel(const Runtime& runtime, Types types, std::size_t inputs)
      : runtime_(runtime), types_(types), inputs_(inputs) {}
  virtual ~Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  /// May be called by several threads at the same time.
  virtual void compute(const Context& context) const = 0;

  const Runtime& runtime() const { return runtime_; }
  Types types() const { return types_; }
  /// The number of inputs that the node lists.
  std::size_t inputs() const { return inputs_; }

 private:
  const Runtime& runtime_;
  Types types_;
  std::size_t inputs_;
};

/// - Errors:   eigen_rope::Error for attributes that no input fits.
std::unique_ptr<Kernel> make_kernel(Contract contract, const Runtime& runtime, Types types,
                                    std::size_t inputs, const Attributes& attributes);

}  // namespace eigen_rope_onnxruntime
