#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How long a file that includes eigen_rope/eigen_rope.hpp and rotates once takes to compile, over
# the same with only Eigen's Tensor header.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage="usage: scripts/compile_time.sh [ROUNDS]
  Compiles bench/compile/*.cpp in turns at -O2, each ROUNDS times (7 by default), with CXX or g++.
  Prints the medians and writes out/bench/compile_time.json. The exit code is 1 if the ratio is 2.5
  or more."
rounds=7
case "${1:-}" in
  "") ;;
  -h | --help)
    echo "$usage"
    exit 0
    ;;
  *[!0-9]* | 0) die "unknown argument '$1'; see scripts/compile_time.sh --help" ;;
  *) rounds=$1 ;;
esac
[ $# -le 1 ] || die "too many arguments; see scripts/compile_time.sh --help"

require_packages g++ libeigen3-dev pkg-config
compiler=${CXX:-g++}
read -r -a eigen <<<"$(pkg-config --cflags eigen3)"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export CCACHE_DISABLE=1

# Processor seconds of the compiler, which other load disturbs less than those of the clock.
compile() {
  local TIMEFORMAT='%U %S' output
  output=$( { time "$compiler" -std=c++17 -O2 -Iinclude "${eigen[@]}" -c "bench/compile/$1.cpp" -o "$folder/$1.o" 2>"$folder/messages"; } 2>&1) || {
    cat "$folder/messages" >&2
    die "$compiler cannot compile bench/compile/$1.cpp"
  }
  awk '{ print $1 + $2 }' <<<"$output"
}

compile eigen_only >/dev/null
compile rope >/dev/null
for ((round = 0; round < rounds; ++round)); do
  compile eigen_only >>"$folder/eigen_only"
  compile rope >>"$folder/rope"
done

# json NAME FILE: the measurements as Google Benchmark writes them
json() {
  awk -v name="rotate/$1/f32/split_half/one_file/threads:1" '{
    printf "%s  {\"name\": \"%s\", \"run_name\": \"%s\", \"run_type\": \"iteration\", \"repetition_index\": %d, \"iterations\": 1, ", \
      (NR > 1 ? ",\n" : ""), name, name, NR - 1
    printf "\"real_time\": %s, \"cpu_time\": %s, \"time_unit\": \"s\"}", $1, $1
  }' "$2"
}
mkdir -p out/bench
{
  printf '{\n "context": {"compile_time_compiler": "%s"},\n "benchmarks": [\n' \
    "$("$compiler" --version | head -n 1)"
  json compile_eigen "$folder/eigen_only"
  printf ',\n'
  json compile_rope "$folder/rope"
  printf '\n ]\n}\n'
} >out/bench/compile_time.json

median() { sort -g "$1" | awk \
  '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
awk -v eigen="$(median "$folder/eigen_only")" -v rope="$(median "$folder/rope")" 'BEGIN {
  printf "compile time, medians: Eigen Tensor alone %.2f s, with eigen_rope/eigen_rope.hpp and one rotate %.2f s, ratio %.2f, allowed 2.5\n",
    eigen, rope, rope / eigen
  exit (rope / eigen < 2.5 ? 0 : 1)
}'
