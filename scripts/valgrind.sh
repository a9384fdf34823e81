#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every command of the tool but bench under valgrind, with good input and bad: no access
# outside memory, nothing undefined decides, nothing leaks.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

case "${1:-}" in
  "") tool=build/dev/bin/eigen-rope ;;
  -h | --help)
    echo \
      "usage: scripts/valgrind.sh [TOOL]
  TOOL is the program to run; without it, that of the preset dev is built and run."
    exit 0
    ;;
  -*) die "unknown argument '$1'; see scripts/valgrind.sh --help" ;;
  *) tool=$1 ;;
esac

require_packages valgrind python3
if [ $# -eq 0 ]; then
  require_packages "${build_packages[@]}" "${demo_packages[@]}" "${test_packages[@]}"
  say "building build/dev"
  configure dev
  cmake --build --preset dev --target eigen_rope_tool >/dev/null || die \
    "the build failed; run cmake --build --preset dev to see why"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 tests/fuzz/make_seeds.py tests/data "$work/seeds"
tail -c +7 "$work/seeds/safetensors/plain" >"$work/plain.safetensors" # six bytes of a seed are the fuzzer's
head -c 100 "$work/plain.safetensors" >"$work/short.safetensors"
head -c 100 "$(find tests/data/models/hugging_face -name '*.json' | sort | head -n 1)" \
  >"$work/short.json"

# check EXIT_CODE ARGUMENT...: beside others
check() { beside run_check "$work/${#running[@]}" "$@"; }
run_check() {
  local said=$1 expected=$2 code=0
  shift 2
  valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect \
    "$tool" "$@" >"$said.out" 2>"$said.err" || code=$?
  if [ "$code" -ne "$expected" ]; then
    cat "$said.err" >&2
    die "eigen-rope $*: exit code $code instead of $expected"
  fi
  printf '  eigen-rope %s\n' "${*//$work\//}"
}

say "valgrind of $tool"
convert=(convert --from split_half --to interleaved --heads 2 --kv-heads 1 --head-dims 4)
check 0 --version
check 0 inspect yarn:dims=128,factor=4,original=32768 --json "$work/inspect.json" --plot \
  "$work/inspect.svg"
for model in config_json/gemma_4 config_json/deepseek_v3 gguf/llama_factors gguf/phi3_longrope; do
  check 0 inspect "$work/seeds/$model"
done
check 0 plan --config tests/data/models/hugging_face/llama_3_1.json --ranks 8 --json \
  "$work/plan.json" --plot "$work/plan.svg"
check 2 plan --config "$work/short.json"
check 1 compare default:dims=64,context=4096 linear:dims=64,factor=2,context=4096 --plot \
  "$work/compare.png"
check 0 verify tests/data/golden/onnx tests/data/golden/scaling --json "$work/verify.json"
# Of float only: valgrind computes long double, with which double is checked, in double.
check 0 gradcheck --pairing split_half --scaling linear --scalar f32 --layout tnd --json \
  "$work/gradcheck.json" --plot "$work/gradcheck.svg"
check 0 "${convert[@]}" "$work/plain.safetensors" "$work/converted.safetensors" --json \
  "$work/convert.json"
check 0 completion bash
check 0 man
check 2 "${convert[@]}" "$work/short.safetensors" "$work/other.safetensors"
check 2 inspect "$work/short.json"
check 2 inspect yarn:dims=127
check 2 verify "$work"
check 2 nonsense
failed=0
for job in "${running[@]}"; do wait "$job" || failed=1; done
exit $failed
