#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the readers and the operators' checks with libFuzzer, AddressSanitizer and
# UndefinedBehaviorSanitizer.
#
#   scripts/fuzz.sh [--minutes N] [--target NAME]... [--keep]
#
# Builds the fuzz targets of the preset asan-ubsan. Each target starts from what
# tests/fuzz/corpus/NAME.tar.gz holds, seeds made of tests/data, and what earlier runs left in
# out/fuzz/corpus/NAME. Crashes are left in out/fuzz/NAME-*: put them into out/fuzz/kept/NAME and
# run with --keep, so that fuzz_corpus_tests runs them. --keep adds the smallest new files that
# reach new code, 28 kB for each target in all, and makes the archives anew.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

targets=(config_json gguf safetensors golden_folder scaling_text checkpoint ggml onnx aclnn any c
  tokens)
minutes=1 keep=no chosen=()
while [ $# -gt 0 ]; do
  case "$1" in
    --minutes) minutes=${2:-} && shift ;;
    --target) chosen+=("${2:-}") && shift ;;
    --keep) keep=yes ;;
    -h | --help)
      echo \
        "usage: scripts/fuzz.sh [--minutes N] [--target NAME]... [--keep]
  NAME is one of ${targets[*]}.
  Each target runs N minutes, 1 by default."
      exit 0
      ;;
    *) die "unknown argument '$1'; see scripts/fuzz.sh --help" ;;
  esac
  shift || die "an option needs a value; see scripts/fuzz.sh --help"
done
[[ $minutes =~ ^[0-9]+$ ]] || die "--minutes must be a whole number, got '$minutes'"
[ ${#chosen[@]} -gt 0 ] || chosen=("${targets[@]}")
for target in "${chosen[@]}"; do
  [[ " ${targets[*]} " == *" $target "* ]] || die \
    "--target must be one of ${targets[*]}, got '$target'"
done

require_packages "${build_packages[@]}" "${demo_packages[@]}" "${test_packages[@]}" clang \
  libclang-rt-14-dev
out=$PWD/out/fuzz
mkdir -p "$out"
say "configuring and building fuzz targets in build/asan-ubsan"
configure asan-ubsan
cmake --build --preset asan-ubsan --target "${chosen[@]/#/fuzz_}" || die \
  "the build failed; the compiler's messages are above"
rm -rf "$out/seeds"
mkdir -p "$out/seeds"
python3 tests/fuzz/make_seeds.py tests/data "$out/seeds"

# A small quarantine: the default alone is half of what a target may use.
export ASAN_OPTIONS=quarantine_size_mb=32:detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
# What the suite reaches is counted, not this.
export LLVM_PROFILE_FILE=/dev/null

# fuzz TARGET: runs it and prints its line
fuzz() {
  local target=$1 kept=$out/kept/$1 log=$out/$1.log code=0
  mkdir -p "$kept" "$out/corpus/$target" "$out/seeds/$target"
  tar -xzf "tests/fuzz/corpus/$target.tar.gz" -C "$kept"
  local arguments=(-max_total_time=$((minutes * 60)) -timeout=20 -rss_limit_mb=512 \
    -malloc_limit_mb=256 -max_len=16384 -len_control=0
    -artifact_prefix="$out/$target-" -print_final_stats=1)
  [ ! -f "$out/seeds/$target.dict" ] || arguments+=(-dict="$out/seeds/$target.dict")
  "build/asan-ubsan/bin/fuzz_$target" "${arguments[@]}" "$out/corpus/$target" "$kept" \
    "$out/seeds/$target" >"$log" 2>&1 || code=$?
  [ $code -eq 0 ] || tail -n 40 "$log" >&2
  printf '%-14s %9s runs  %s\n' "$target" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
    "$(grep -oE 'cov: [0-9]+ ft: [0-9]+ corp: [^ ]+' "$log" | tail -n 1)"
  return $code
}

# keep_smallest TARGET: the smallest new files that reach new code, into its archive, whose bytes
# depend on the files alone
keep_smallest() {
  local target=$1 kept=$out/kept/$1 merged=$out/merged/$1 before left size name
  rm -rf "$merged"
  mkdir -p "$merged"
  cp "$out/seeds/$target"/* "$kept"/* "$merged" 2>/dev/null || true
  before=$(ls "$merged")
  "build/asan-ubsan/bin/fuzz_$target" -merge=1 -timeout=20 "$merged" "$out/corpus/$target" \
    >"$out/$target-merge.log" 2>&1
  left=$((28000 - $(cat "$kept"/* 2>/dev/null | wc -c)))
  while read -r size name; do
    grep -qxF "$name" <<<"$before" && continue
    left=$((left - size))
    [ $left -ge 0 ] || break
    cp "$merged/$name" "$kept/$name"
  done < <(find "$merged" -type f -printf '%s %f\n' | sort -n)
  (cd "$kept" && LC_ALL=C tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner \
    --mode=0644 --mtime=@0 -cf - -- *) |
    gzip -n >"tests/fuzz/corpus/$target.tar.gz"
}

say "fuzzing, $minutes minutes a target, $(nproc) at a time"
for target in "${chosen[@]}"; do beside fuzz "$target"; done
failed=()
for i in "${!chosen[@]}"; do wait "${running[$i]}" || failed+=("${chosen[$i]}"); done
if [ $keep = yes ]; then
  for target in "${chosen[@]}"; do keep_smallest "$target"; done
fi
[ ${#failed[@]} -eq 0 ] || die "crashes were found by ${failed[*]}: out/fuzz/NAME-* has them"
