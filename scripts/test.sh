#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs the test suite: installs what is missing, configures the preset dev, builds, runs ctest. With --all, everything else too.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage="usage: scripts/test.sh [--all]    installs what is missing, builds the preset dev and runs every test
  --all    the suite counts the lines it reaches, at least 95 % of include and src (preset coverage, out/coverage.txt); then also: form
           (check_style.sh), clang-tidy and cppcheck, packages and compilers (check_packages.sh --eigen-5), the site (docs.sh --check), the suite
           under AddressSanitizer and UndefinedBehaviorSanitizer, the tests with threads under ThreadSanitizer, the tool under valgrind, a
           minute of fuzzing for each target; prints what each took"
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

# Of the suite of the preset coverage, which must just have run; without the tests that kill programs, whose counts are left half written.
coverage() {
  python_packages tests/python/coverage.txt build/gcovr
  mkdir -p out
  build/gcovr/bin/gcovr --root . --filter include/ --filter src/ --merge-lines -j "$(nproc)" --gcov-ignore-parse-errors=negative_hits.warn_once_per_file \
    --fail-under-line 95 --txt out/coverage.txt --print-summary \
    build/coverage/CMakeFiles/rope*.dir build/coverage/src build/coverage/tests build/coverage/examples ||
    die "fewer than 95 % of the lines of include and src are reached; out/coverage.txt says which are not"
}

# Those that start threads; programs by themselves, as ctest would miss the others.
threads() {
  local programs=(thread_tests decode_table_tests gradient_tests rerotate_tests) program
  say "configuring build/tsan"
  configure tsan -DROPE_BUILD_BENCH=OFF
  say "building"
  cmake --build --preset tsan --target "${programs[@]}" || die "the build failed; the compiler's messages are above"
  for program in "${programs[@]}"; do
    "build/tsan/bin/$program" --gtest_brief=1 || die "$program failed; its output is above"
  done
}

# check_with CHECKS: clang-tidy on the sources it is told, as the preset asan-ubsan compiles them
check_with() {
  xargs -P "$(nproc)" -n 1 clang-tidy --quiet --warnings-as-errors='*' -p build/asan-ubsan --checks="$1" || die "clang-tidy's findings are above"
}

# Every source, with what the build asan-ubsan, which must just have run, has precompiled. Templates of Eigen cost a check as much as our own
# lines: the analyser of paths reads the library alone, and what is neither library nor tool has the checks that find something in a program.
tidy() {
  configure asan-ubsan -DROPE_BUILD_BENCH=ON
  local sources tool='^(build/asan-ubsan/)?src/tool/' library='^(build/asan-ubsan/CMakeFiles|src)/'
  sources=$(sed -n 's/^  "file": "\(.*\)",*$/\1/p' build/asan-ubsan/compile_commands.json | sed "s|^$PWD/||" | sort -u |
    grep -vE 'cmake_pch|^bench/(compile|peers)/')
  grep -vE "$tool" <<<"$sources" | grep -E "$library" | check_with -bugprone-suspicious-include
  grep -E "$tool" <<<"$sources" | check_with '-bugprone-suspicious-include,-clang-analyzer-*'
  grep -vE "$tool|$library" <<<"$sources" |
    check_with '-*,google-build-*,google-explicit-constructor,misc-unused-*,modernize-use-nullptr,modernize-use-override,performance-*,-performance-inefficient-*'
}

# Of the library and the tool. It does not know [[noreturn]], and takes enumerators for members of their names.
cpp_check() {
  cppcheck --std=c++17 --language=c++ --enable=warning,portability --error-exitcode=1 --quiet -I include -I src -j "$(nproc)" \
    --suppress=missingReturn --suppress=nullPointerRedundantCheck --suppress=compareBoolExpressionWithInt src || die "cppcheck's findings are above"
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
if [ "$all" -eq 0 ]; then
  suite dev
  exit 0
fi
require_packages "${check_packages[@]}"
timed suite coverage
timed coverage
timed scripts/check_style.sh
timed scripts/valgrind.sh build/coverage/bin/rope
timed cpp_check
timed suite asan-ubsan
timed tidy
timed threads
timed scripts/check_packages.sh --eigen-5
timed scripts/docs.sh --check
timed scripts/fuzz.sh --minutes 1
say "what each took"
printf '%s\n' "${times[@]}"
