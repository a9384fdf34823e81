// SPDX-License-Identifier: Apache-2.0
//
// How often the program has asked for memory.
//
// Every allocation of a program with allocations.cpp is counted: malloc and its relatives are those
// that it defines, which Eigen's aligned memory and operator new both end in. Under a sanitizer,
// which has its own, its hook counts.
#pragma once

namespace eigen_rope::test {

/// Since the program began, on all threads.
int allocations();

/// What `run` asks for, after once: kernels have been chosen then, and the thread has its scratch
/// memory.
template <class Run>
int allocations_of(const Run& run) {
  run();
  const int before = allocations();
  run();
  return allocations() - before;
}

}  // namespace eigen_rope::test
