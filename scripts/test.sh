#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs the test suite: installs what is missing, configures the preset dev, builds, runs
# ctest. With --all, everything else too.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage="usage: scripts/test.sh [--all | --frameworks]
  Installs what is missing, builds the preset dev and runs every test.
  --all    Run every test under AddressSanitizer and UndefinedBehaviorSanitizer instead (preset
           asan-ubsan, Clang; the trainer's ranks train for longer, and each of three is killed 20
           times), and count the lines they reach, which must be 95 % of include and src
           (out/coverage.txt). Beside that: the tests with threads under ThreadSanitizer; tests at
           -O3 -march=native; those for 64-bit ARM under qemu (cross.sh --quick); form
           (check_style.sh), clang-tidy and cppcheck; packages and compilers
           (check_packages.sh --eigen-5); the tool under valgrind; the site (docs.sh --check); a
           minute of fuzzing for each target. Two of them run at a time, each is shown when it has
           ended, and what each took is printed.
  --frameworks  The packages for Python instead, with PyTorch, transformers, JAX, ONNX Runtime and
           TensorFlow from PyPI (test_frameworks.sh; 9 GB, 15 minutes where all is installed)."
all=0
case "${1:-}" in
  "") ;;
  --all) all=1 ;;
  --frameworks) exec scripts/test_frameworks.sh ;;
  *) other_argument "$1" "$usage" ;;
esac

# build PRESET: the tests of dev or of another
build() {
  say "configuring build/$1"
  configure "$1" -DEIGEN_ROPE_TEST_PYTHON="$PWD/build/python/bin/python" \
    -DEIGEN_ROPE_BUILD_BENCH=OFF
  say "building"
  cmake --build --preset "$1" || die "the build failed; the compiler's messages are above"
}

# run_tests PRESET: those that were built
run_tests() {
  say "testing"
  ctest --preset "$1" -j "$(nproc)" || die "tests failed; their output is above"
}

# Of include and src, by the suite of the preset asan-ubsan, which must just have run.
coverage() {
  local folder=build/asan-ubsan programs
  mkdir -p out
  llvm-profdata merge --sparse "$folder"/reached/*.profraw -o "$folder/reached.profdata"
  mapfile -t programs < <(find "$folder/bin" -type f -executable)
  llvm-cov export --format=lcov --instr-profile="$folder/reached.profdata" "${programs[0]}" \
    "${programs[@]/#/--object=}" \
    >"$folder/reached.lcov"
  python3 tests/python/lines_reached.py "$folder/reached.lcov" --least 95 include src \
    >out/coverage.txt ||
    die \
      "fewer than 95 % of the lines of include and src are reached; out/coverage.txt says which are not"
  tail -n 1 out/coverage.txt
}

# build_programs PRESET PROGRAM...
build_programs() {
  local preset=$1
  shift
  say "configuring build/$preset"
  configure "$preset" -DEIGEN_ROPE_BUILD_BENCH=OFF
  say "building"
  cmake --build --preset "$preset" --target "$@" || die \
    "the build failed; the compiler's messages are above"
}

# programs_of PRESET PROGRAM...: builds and runs these alone, by themselves, as ctest would miss the
# others
programs_of() {
  local preset=$1 program
  shift
  build_programs "$preset" "$@"
  for program in "$@"; do
    "build/$preset/bin/$program" --gtest_brief=1 || die "$program failed; its output is above"
  done
}

# Those that start threads, and those that MPI starts.
threads() {
  programs_of tsan thread_tests decode_table_tests gradient_tests nested_tests train_lm_overlap_tests
  build_programs tsan train_lm_ranks_tests
  ctest --preset tsan -R '^train_lm_ranks_tests' || die "tests failed; their output is above"
}

# Optimised for this processor, which may fuse products and sums: the bits are to be those of other
# flags.
native() { programs_of native rotate_tests gradient_tests operator_tests same_region_tests; }

# with_checks CHECKS: a line for clang-tidy for each source it is told
with_checks() { sed "s|^|--checks=$1 |"; }

# Every source of C++ once (programs of the pages' blocks are none), as the build asan-ubsan, which
# must just have run, compiles it, without what another Clang has precompiled. The analyser of paths
# reads the library alone, and what is neither library nor tool has the checks that find something
# in a program. Debian's clang-tidy takes 1.6 times as long: it checks the templates of Eigen and
# the standard library, too, and says nothing of them.
tidy() {
  python_packages tests/python/clang_tidy.txt build/clang_tidy
  configure asan-ubsan -DEIGEN_ROPE_BUILD_BENCH=ON
  # It has no headers that Clang has precompiled, and no omp.h.
  sed 's/-Xclang -include-pch -Xclang [^ ]*//; s/ -fopenmp[^ "]*//g; s/ -DWITH_OPENMP//g' \
    build/asan-ubsan/compile_commands.json >build/clang_tidy/compile_commands.json
  local sources tool='^(build/asan-ubsan/)?src/tool/' library='^(build/asan-ubsan/CMakeFiles|src)/'
  sources=$(sed -n 's/^  "file": "\(.*\)",*$/\1/p' build/asan-ubsan/compile_commands.json | sed "s|^$PWD/||" | sort -u |
    grep -vE \
      'cmake_pch|\.c$|/headers/|/(docs_[a-z_]+|[a-z_]+_native|precompiled_for_[a-z_]+)\.dir/|^bench/(compile|peers)/')
  {
    grep -vE "$tool" <<<"$sources" | grep -E "$library" | with_checks -bugprone-suspicious-include
    grep -E "$tool" <<<"$sources" | with_checks '-bugprone-suspicious-include,-clang-analyzer-*'
    grep -vE "$tool|$library" <<<"$sources" |
      with_checks \
        '-*,google-build-*,-google-build-explicit-make-pair,google-explicit-constructor,misc-unused-*,-misc-unused-using-decls,modernize-use-nullptr,modernize-use-override,performance-*,-performance-enum-size,-performance-inefficient-*,-performance-move-const-arg'
  } | xargs -P "$(nproc)" -n 2 build/clang_tidy/bin/clang-tidy --quiet --warnings-as-errors='*' \
    --extra-arg=-Wno-deprecated-declarations \
    -p build/clang_tidy || die "clang-tidy's findings are above"
}

# Of the library, the tool and the package for Python. It does not know [[noreturn]], takes
# enumerators for members of their names, and all specialisations of a template for one class.
cpp_check() {
  cppcheck --std=c++17 --language=c++ --enable=warning,portability --error-exitcode=1 --quiet -I \
    include -I src -I python/shared -j "$(nproc)" \
    --suppress=missingReturn --suppress=nullPointerRedundantCheck --suppress=duplInheritedMember \
    --suppress=compareBoolExpressionWithInt src python/src python/torch/src python/onnxruntime/src \
    python/tensorflow/src || die "cppcheck's findings are above"
}

# timed COMMAND...: what it says, when it has ended, so that others may run beside it; what it took,
# in $said/times; the end of what it said if it failed, in $said/failed
timed() {
  local begin=$SECONDS code=0 output
  output=$(mktemp "$said/output.XXXXXX")
  say "begun: $*"
  "$@" >"$output" 2>&1 &
  wait "$!" || code=$?
  {
    flock 9
    say "$* ($((SECONDS - begin)) s)"
    cat "$output"
    printf '%6d s  %s\n' $((SECONDS - begin)) "$*" >>"$said/times"
    if [ $code -ne 0 ]; then
      {
        printf '== failed with exit code %d: %s\n' $code "$*"
        tail -n 60 "$output"
      } >>"$said/failed"
    fi
  } 9>"$said/lock"
  return $code
}

require_packages "${build_packages[@]}" "${demo_packages[@]}" "${test_packages[@]}" \
  "${ranks_packages[@]}"
python_packages tests/python/requirements.txt build/python
if [ "$all" -eq 0 ]; then
  build dev
  run_tests dev
  exit 0
fi

# Two chains beside one another keep the processors busy where one ends with a long source or a long
# test.
clang_chain() {
  rm -rf build/asan-ubsan/reached # by earlier runs
  timed build asan-ubsan
  timed scripts/fuzz.sh --minutes 1 # takes its minutes whatever else runs
  timed run_tests asan-ubsan
  timed coverage
  timed tidy
}
other_chain() {
  timed cpp_check
  timed scripts/check_packages.sh --eigen-5
  timed scripts/valgrind.sh build/packages/g++-static/bin/eigen-rope
  timed threads
  timed native
  timed scripts/cross.sh --quick
  timed scripts/docs.sh --check
}

require_packages "${check_packages[@]}" "${docs_packages[@]}" "${docs_check_packages[@]}" \
  clang-format shellcheck pkg-config dpkg-dev python3-pip
said=$(mktemp -d)
trap 'rm -r "$said"' EXIT
CMAKE_BUILD_PARALLEL_LEVEL=$(nproc) # in each chain; what the build would choose is more, and takes the memory of as many compilers
export CMAKE_BUILD_PARALLEL_LEVEL
timed scripts/check_style.sh
beside clang_chain
beside other_chain
failed=0
for chain in "${running[@]}"; do wait "$chain" || failed=1; done
say "what each took"
cat "$said/times"
if [ $failed -ne 0 ]; then
  cat "$said/failed" 2>/dev/null || true # once more, where whoever reads the end of a log finds it
  die "a part failed; its last messages are above, and all of them where it ended"
fi
