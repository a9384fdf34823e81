#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records what transformers and llama.cpp make of every model they know, and writes the tables and
# pages that follow from it.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage="usage: scripts/record_models.sh [--transformers VERSION] [--llama-cpp-python VERSION]
                                [--only hugging_face|llama_cpp]
  Installs transformers and torch, and unpacks the sources of llama.cpp that come with
  llama_cpp_python, under build/record_models. Asks every model type's own classes, runs one tiny
  model of every architecture, and writes
    tests/data/models/recorded/hugging_face.json, src/models/families_table.inc and the totals in
    docs/configurations.md
    tests/data/models/recorded/llama_cpp.json and the totals in docs/gguf.md
  A new version is this command and a look at the difference: about half an hour. The tests compare
  the tables with the recordings."
transformers=5.23.0 llama_cpp_python=0.3.36 only=
while [ $# -gt 0 ]; do
  case "$1" in
    --transformers | --llama-cpp-python | --only)
      needs_value "$@"
      case "$1" in
        --transformers) transformers=$2 ;;
        --llama-cpp-python) llama_cpp_python=$2 ;;
        --only) only=$2 ;;
      esac
      shift
      ;;
    *) other_argument "$1" "$usage" ;;
  esac
  shift
done
case "$only" in '' | hugging_face | llama_cpp) ;; *) die \
  "--only must be hugging_face or llama_cpp, got '$only'" ;; esac

work=build/record_models
recorded=tests/data/models/recorded
mkdir -p "$work"
if [ "$only" != llama_cpp ]; then
  say "installing transformers $transformers"
  [ -x "$work/python/bin/python" ] || python3 -m venv "$work/python"
  "$work/python/bin/pip" install --quiet "transformers==$transformers" torch
  say "asking transformers"
  "$work/python/bin/python" scripts/record_models/hugging_face.py --out \
    "$recorded/hugging_face.json"
  "$work/python/bin/python" scripts/record_models/hugging_face_table.py \
    "$recorded/hugging_face.json" src/models/families_table.inc
fi
if [ "$only" != hugging_face ]; then
  say "unpacking llama.cpp"
  rm -rf "$work/sources"
  mkdir -p "$work/sources"
  python3 -m pip download --quiet --no-deps --no-build-isolation --no-binary :all: \
    "llama_cpp_python==$llama_cpp_python" -d "$work/sources"
  archive=$(find "$work/sources" -name 'llama_cpp_python*.tar.gz' | head -n 1)
  [ -n "$archive" ] || die \
    "the sources of llama_cpp_python $llama_cpp_python could not be downloaded"
  tar -xzf "$archive" -C "$work/sources"
  sources=$(find "$work/sources" -type d -path '*/vendor/llama.cpp' | head -n 1)
  [ -n "$sources" ] || die "llama_cpp_python $llama_cpp_python has no vendor/llama.cpp"
  say "running llama.cpp's graphs"
  scripts/record_models/llama_cpp.sh --sources "$sources" --out "$recorded/llama_cpp.json"
fi
if [ "$only" != llama_cpp ]; then
  say "reading what was recorded"
  require_packages "${build_packages[@]}" "${test_packages[@]}"
  configure dev
  cmake --build --preset dev --target models_tests
  EIGEN_ROPE_WRITE_TOTALS=1 build/dev/bin/models_tests --gtest_filter='HuggingFaceRecorded.*'
fi
say "look at git diff"
