// SPDX-License-Identifier: Apache-2.0
//
// Prints a line for each result that has the same bits on every processor, for scripts/cross.sh; to
// standard error, the kernels' target.
#include <cinttypes>
#include <cstdio>

#include "eigen_rope/machine/kernel_target.hpp"
#include "flags/results.hpp"

int main() {
  std::fprintf(stderr, "kernels: %s\n", eigen_rope::kernel_target().c_str());
  for (const eigen_rope::test::Result& result : eigen_rope::test::results_with_the_tests_flags()) {
    if (result.reach == eigen_rope::test::Reach::every_processor)
      std::printf("%016" PRIx64 " %s\n", fingerprint(result), result.name.c_str());
  }
}
