// SPDX-License-Identifier: Apache-2.0
//
// A shared object that uses the library: rotates, keeps a setting, throws and catches.
#include "plugin.hpp"

#include <cstring>
#include <eigen_rope/eigen_rope.hpp>

namespace {

namespace er = eigen_rope;

double there_and_back() {
  const er::Cache<float> cache(er::Frequencies::powers({64}), er::Positions::range(0, 8));
  Eigen::Tensor<float, 3> x(64, 2, 8);
  x.setRandom();
  const Eigen::Tensor<float, 3> y = er::rotate(x, cache, er::split_half);
  const Eigen::Tensor<float, 3> back = er::rotate_inverse(y, cache, er::split_half);
  const Eigen::Tensor<float, 0> worst = (back - x).abs().maximum();
  return static_cast<double>(worst());
}

void throws() { (void)er::Frequencies::powers({7}); }

bool catches(void (*call)()) {
  try {
    call();
  } catch (const er::Error& error) {
    return std::strcmp(error.what(), "[rope] rotary dims must be even, got 7") == 0;
  }
  return false;
}

const Plugin plugin{
    EIGEN_ROPE_VERSION_MINOR,
    [](std::size_t bytes) { er::set_streaming_threshold(bytes); },
    [] { return er::streaming_threshold(); },
    []() -> const void* { return &er::split_half; },
    [] { return reinterpret_cast<const void*>(&er::detail::converted<double, signed char>); },
    there_and_back,
    throws,
    catches};

}  // namespace

extern "C" __attribute__((visibility("default"))) const Plugin* linking_test_plugin() {
  return &plugin;
}
