// SPDX-License-Identifier: Apache-2.0
//
// Runs Google Benchmark with contenders interleaved and prints medians as ratios to memcpy of the same bytes in the same run.
//
// Benchmarks are named rotate/<implementation>/<scalar>/<pairing>/<shape>/threads:<n>; the memcpy of a shape and thread count is every
// other line's denominator. Timings of shared machines drift: only ratios within one run mean anything, and the spread says how far.
#pragma once

namespace bench {

/// Defaults (random interleaving, repetitions, aggregates) that the command line can override; returns the exit code.
int run(int argc, char** argv);

}  // namespace bench
