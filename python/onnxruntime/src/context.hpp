// SPDX-License-Identifier: Apache-2.0
//
// One call of an operator: its tensors, and the threads of its session.
//
//   const Context context(runtime, kernel_context);
//   if (context.read(3, shape, data)) ...      an input, unless the node leaves it out
//   void* y = context.output(shape);
//   const Threads threads(context);  threads.device()
#pragma once

#include <cstddef>
#include <cstdint>
#include <eigen_rope/machine/device.hpp>
#include <vector>

#include "runtime.hpp"

namespace eigen_rope_onnxruntime {

using Dims = std::vector<std::int64_t>;

class Context {
 public:
  Context(const Runtime& runtime, OrtKernelContext& context)
      : runtime_(runtime), context_(context) {}

  /// Writes the shape and the address of an input that is dense and row-major. Returns whether the
  /// node has it; `inputs` is how many it lists.
  bool read(std::size_t index, std::size_t inputs, Dims& shape, const void*& data) const;

  /// Returns the address of the one output, which gets this shape.
  void* output(const Dims& shape) const;

  /// Calls work(0), ..., work(count - 1) on the session's threads; one item at a time, and on the
  /// calling thread alone in a session with one thread.
  void parallel_for(er::Index count, const er::Device::Work& work) const;

  const Runtime& runtime() const { return runtime_; }

 private:
  const Runtime& runtime_;
  OrtKernelContext& context_;
};

/// The session's own threads as a device.
class Threads {
 public:
  explicit Threads(const Context& context) : context_(context) {}

  er::Device device() const { return {*this, context_.runtime().threads()}; }

  void operator()(er::Index count, const er::Device::Work& work) const {
    context_.parallel_for(count, work);
  }

 private:
  const Context& context_;
};

}  // namespace eigen_rope_onnxruntime
