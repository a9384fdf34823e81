#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures rotations against memcpy, compares with the targets, draws. Everything goes under
# out/bench/.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage="usage: scripts/bench.sh [--check] [--quick] [--filter REGEX]
       scripts/bench.sh --growth [--write]
  Installs what is missing, builds the preset release, measures, prints the ratios to memcpy, and
  writes out/bench: Google Benchmark's JSON, table.txt and plots. It takes about 25 minutes and
  wants a machine that is otherwise idle.
  --check         Measure only what bench/targets.json needs, and print every target with what was
                  measured. The exit code is 1 if one is missed. About 20 minutes.
  --quick         Few repetitions and no large tensors: a look, not a measurement.
  --filter REGEX  Measure only what matches, and no compile times. Names are
                  rotate/<impl>/<scalar>/<pairing>/<shape>/threads:<n>.
  --growth        Measure only how the time grows with tokens, head size and heads, and draw
                  out/bench/growth.svg and .png. The exit code is 1 if the time has a cliff or is
                  not flat beyond the caches. Half a minute.
  --write         Copy these pictures to docs/images."
check=() filter=() pace=() growth=no write=no
while [ $# -gt 0 ]; do
  case "$1" in
    --check) check=(--check) ;;
    --quick) pace=(--quick) ;;
    --growth) growth=yes ;;
    --write) write=yes ;;
    --filter)
      [ $# -ge 2 ] || die "--filter needs a regular expression"
      filter=(--filter "$2")
      shift
      ;;
    *) other_argument "$1" "$usage" ;;
  esac
  shift
done
if [ ${#check[@]} -gt 0 ] && [ $((${#filter[@]} + ${#pace[@]})) -gt 0 ]; then
  die "--check measures what the targets need: it takes no --filter and no --quick"
fi

if [ "$growth" = yes ] && [ $((${#check[@]} + ${#filter[@]} + ${#pace[@]})) -gt 0 ]; then
  die "--growth takes no --check, no --filter and no --quick"
fi
[ "$write" = no ] || [ "$growth" = yes ] || die "--write is an option of --growth"

require_packages "${build_packages[@]}" libbenchmark-dev libcli11-dev nlohmann-json3-dev \
  gnuplot-nox pkg-config
say "configuring build/release"
configure release -DEIGEN_ROPE_BUILD_BENCH=ON
out=out/bench
mkdir -p "$out"
if [ "$growth" = yes ]; then
  say "building"
  cmake --build --preset release --target growth_bench || die \
    "the build failed; the compiler's messages are above"
  say "measuring: growth_bench"
  code=0
  build/release/bin/growth_bench --out "$out" || code=$?
  case "$code" in
    0 | 3) ;;
    1) die "growth_bench: a result differs from the reference" ;;
    *) die "growth_bench ended with code $code" ;;
  esac
  gnuplot -e "folder='$out'" bench/growth.gnuplot || die "gnuplot could not draw"
  [ "$write" = no ] || cp "$out/growth.svg" "$out/growth.png" docs/images/
  say "results: $out/growth.json, $out/growth.svg, $out/growth.png"
  [ "$code" -eq 0 ] || exit 1
  exit 0
fi
say "building"
cmake --build --preset release --target rotate_bench rotate_bench_native parents_bench \
  parents_bench_avx2 parents_bench_native rotate_report ||
  die "the build failed; the compiler's messages are above"

rm -f "$out"/*.json "$out"/*.dat "$out"/*.svg "$out"/*.png "$out"/table.txt
needed=()
[ ${#check[@]} -eq 0 ] || needed=(--targets bench/targets.json)

# measure PROGRAM FILE
results=()
measure() {
  say "measuring: $1"
  local code=0
  "build/release/bin/$1" --out "$out/$2" "${needed[@]}" "${filter[@]}" "${pace[@]}" || code=$?
  case "$code" in
    0) ;;
    1) die "$1: a contender's result differs from the reference" ;;
    2) [ ${#filter[@]} -gt 0 ] || die "$1 could not measure" ;; # a filter may leave one of the programs nothing to do
    *) die "$1 ended with code $code" ;;
  esac
  [ ! -e "$out/$2" ] || results+=("$out/$2")
}
programs=(rotate_bench rotate_bench_native parents_bench parents_bench_native)
grep -qw avx2 /proc/cpuinfo && programs+=(parents_bench_avx2)
for program in "${programs[@]}"; do measure "$program" "$program.json"; done
[ ${#results[@]} -gt 0 ] || die "nothing was measured"
if [ ${#filter[@]} -eq 0 ]; then
  say "measuring compile times"
  scripts/compile_time.sh || [ -e "$out/compile_time.json" ] || die \
    "compile times could not be measured"
  results+=("$out/compile_time.json")
fi

again=()
report() {
  code=0
  build/release/bin/rotate_report --out "$out" --targets bench/targets.json --missed \
    "$out/missed.txt" "${check[@]}" "${results[@]}" \
    ${again[@]+--again "${again[@]}"} >"$out/report.txt" || code=$?
  [ "$code" -le 1 ] || die "the results could not be read"
}
report
# A neighbour on a shared machine can slow one contender of a group for a minute: a miss counts if
# it is there each time.
for round in 1 2; do
  [ "$code" -eq 1 ] && [ -s "$out/missed.txt" ] || break
  filter=(--filter "$(cat "$out/missed.txt")")
  results_so_far=("${results[@]}")
  results=()
  for program in "${programs[@]}"; do measure "$program" "again_${round}_$program.json"; done
  again+=("${results[@]}")
  results=("${results_so_far[@]}")
  report
done
cat "$out/report.txt"
gnuplot -e "folder='$out'" bench/plot.gnuplot || die "gnuplot could not draw"
say "results: $out/results.json, $out/table.txt, $out/*.svg, $out/*.png"
exit "$code"
