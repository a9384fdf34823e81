// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/default_axis.hpp"

#include <atomic>

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace {

std::atomic<DefaultAxis> default_axis_of_process{DefaultAxis::fastest};

}  // namespace

void set_default_axis(DefaultAxis axis) {
  default_axis_of_process.store(axis, std::memory_order_relaxed);
}

DefaultAxis default_axis() { return default_axis_of_process.load(std::memory_order_relaxed); }

}  // namespace eigen_rope::EIGEN_ROPE_ABI
