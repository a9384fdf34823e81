// SPDX-License-Identifier: Apache-2.0
//
// The threads of one call. They begin with it and end with it: a call that is worth a second thread
// reads and writes at least half a megabyte, which takes as long as several threads take to begin.
// So nothing outlives a fork or the end of the interpreter.
#pragma once

#include <eigen_rope/machine/device.hpp>
#include <system_error>
#include <thread>
#include <vector>

namespace eigen_rope_python {

namespace er = eigen_rope;

/// A parallel_for for er::Device, whose ranges are done by threads of this call.
struct CallThreads {
  void operator()(er::Index count, er::Device::Work work) const {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(count));
    er::Index begun = 0;
    try {
      while (begun < count - 1) {
        threads.emplace_back(work, begun, begun + 1);
        ++begun;
      }
    } catch (const std::system_error&) {
      // No more threads are to be had: this one does the rest.
    }
    work(begun, count);
    for (std::thread& thread : threads) thread.join();
  }
};

}  // namespace eigen_rope_python
