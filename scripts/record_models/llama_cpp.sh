#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Records what llama.cpp rotates, for every architecture it has: builds its library and a program
# that runs tiny random models, and writes what their executed graphs did. The totals in
# docs/gguf.md are written too. Nothing is fetched.
#
#   scripts/record_models/llama_cpp.sh --sources DIR --out tests/data/models/recorded/llama_cpp.json
#   [--build DIR] [--jobs N]
#
# DIR is llama.cpp's unpacked source: vendor/llama.cpp of PyPI's llama_cpp_python source
# distribution, or a checkout.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
sources=""
out=""
build="$root/build/record_llama_cpp"
jobs=2
while [ $# -gt 0 ]; do
  case "$1" in
    --sources) sources=$(cd "$2" && pwd); shift 2 ;;
    --out) out=$2; shift 2 ;;
    --build) build=$2; shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    *) echo "llama_cpp.sh: unknown argument $1" >&2; exit 2 ;;
  esac
done
if [ -z "$sources" ] || [ -z "$out" ]; then
  echo "usage: llama_cpp.sh --sources DIR --out FILE [--build DIR] [--jobs N]" >&2
  exit 2
fi

# The source distribution says what it is two folders up; a checkout has no such file.
package="llama.cpp"
if [ -f "$sources/../../PKG-INFO" ]; then
  package=$(awk '/^Name: / { name = $2 } /^Version: / { print name " " $2; exit }' "$sources/../../PKG-INFO")
fi

cmake -S "$here/llama_cpp" -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O1 \
  -DCMAKE_CXX_FLAGS_RELEASE=-O1 \
  -DLLAMA_CPP_SOURCES="$sources" > /dev/null
nice -n 19 cmake --build "$build" --target record_llama_cpp --parallel "$jobs" > /dev/null
PYTHONDONTWRITEBYTECODE=1 nice -n 19 python3 "$here/llama_cpp/record.py" "$build/record_llama_cpp" \
  --package "$package" --out "$out" \
  --docs "$root/docs/gguf.md"
