// SPDX-License-Identifier: Apache-2.0
//
// The rotation inside larger expressions, as programs of their own, each compiled with one set of
// flags: parents_bench at -O2 (packets of 16 bytes), parents_bench_avx2 (32) and
// parents_bench_native (-O3 -march=native).
#include "contenders_parents.hpp"
#include "session.hpp"

int main(int argc, char** argv) {
  return bench::session_main(argc, argv, EIGEN_ROPE_BENCH_SUFFIX,
                             [](bench::Session& session) { bench::run_parents(session); });
}
