// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer's entry, compiled once for each target: EIGEN_ROPE_FUZZ_TARGET is its function in
// targets.hpp.
#include <cstddef>
#include <cstdint>

#include "targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  eigen_rope::fuzz::EIGEN_ROPE_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
