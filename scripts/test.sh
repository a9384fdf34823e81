#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs the test suite: installs what is missing, configures the preset dev, builds, runs ctest. With --all, everything else too.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage="usage: scripts/test.sh [--all]    installs what is missing, builds the preset dev and runs every test
  --all    then also: the benchmarks (built), form (check_style.sh), packages and compilers (check_packages.sh --eigen-5), the site (docs.sh --check), the suite
           under AddressSanitizer and UndefinedBehaviorSanitizer, the tests with threads under ThreadSanitizer, clang-tidy; prints what
           each took"
all=0
case "${1:-}" in
  "") ;;
  --all) all=1 ;;
  -h | --help)
    echo "$usage"
    exit 0
    ;;
  *) die "unknown argument '$1'; see scripts/test.sh --help" ;;
esac

# The tests of the preset dev or of another.
suite() {
  say "configuring build/$1"
  configure "$1" -DROPE_TEST_PYTHON="$PWD/build/python/bin/python" -DROPE_BUILD_BENCH=OFF
  say "building"
  cmake --build --preset "$1" || die "the build failed; the compiler's messages are above"
  say "testing"
  ctest --preset "$1" -j "$(nproc)" || die "tests failed; their output is above"
}

# Those that start threads; programs by themselves, as ctest would miss the others.
threads() {
  local programs=(thread_tests decode_table_tests gradient_tests rerotate_tests core_tests) program
  say "configuring build/tsan"
  configure tsan -DROPE_BUILD_BENCH=OFF
  say "building"
  cmake --build --preset tsan --target "${programs[@]}" || die "the build failed; the compiler's messages are above"
  for program in "${programs[@]}"; do
    "build/tsan/bin/$program" --gtest_brief=1 || die "$program failed; its output is above"
  done
}

# Every source outside the tests, as the preset asan-ubsan would compile it.
tidy() {
  configure asan-ubsan
  git ls-files 'src/*.cpp' 'examples/*.cpp' 'docs/*.cpp' | xargs -P "$(nproc)" -n 1 clang-tidy --quiet --warnings-as-errors='*' -p build/asan-ubsan ||
    die "clang-tidy's findings are above"
}

# Built only: scripts/bench.sh runs them.
benchmarks() {
  configure dev -DROPE_BUILD_BENCH=ON
  cmake --build --preset dev --target bench/all || die "the build failed; the compiler's messages are above"
}

times=()
timed() {
  local begin=$SECONDS
  say "$*"
  "$@"
  times+=("$(printf '%6d s  %s' $((SECONDS - begin)) "$*")")
}

require_packages "${build_packages[@]}" "${demo_packages[@]}" "${test_packages[@]}"
python_packages tests/python/requirements.txt build/python
timed suite dev
[ "$all" -eq 1 ] || exit 0
require_packages "${check_packages[@]}"
timed benchmarks
timed scripts/check_style.sh
timed scripts/check_packages.sh --eigen-5
timed scripts/docs.sh --check
timed suite asan-ubsan
timed threads
timed tidy
say "what each took"
printf '%s\n' "${times[@]}"
