#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the package for ONNX Runtime, runs its tests in real sessions, and loads the same file into
# other versions of ONNX Runtime.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
. scripts/onnxruntime_header.sh

[ $# -eq 0 ] || other_argument "$1" "usage: scripts/test_onnxruntime.sh
  Builds ./python/onnxruntime in an environment of its own, build/onnxruntime, and runs its tests.
  Then loads the library that was built into the versions of ONNX Runtime that are listed here.
  EIGEN_ROPE_ONNXRUNTIME_INCLUDE names the folder with onnxruntime_c_api.h; without it, it is that of
  Debian's libonnxruntime-dev, which is fetched and unpacked where the release does not have it.
  3 minutes on 2 cores, most of them for compiling."

environment=build/onnxruntime
# The last is too old and must say so. Before 1.23 there is no ai.onnx RotaryEmbedding, and from
# 1.24 on shapes are read where they lie.
other_versions=(1.27.0 1.24.1 1.23.2 1.20.1 1.17.0 1.16.3)

require_packages "${build_packages[@]}" python3-dev python3-venv
find_onnxruntime_header

python_packages python/onnxruntime/requirements.txt "$environment"
python=$environment/bin/python
say "building the package for ONNX Runtime"
quietly "./python/onnxruntime could not be built; the messages are above" "$python" -m pip install \
  --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall \
  --config-settings=cmake.define.EIGEN_ROPE_DEVELOPER=ON \
  --config-settings=cmake.define.EIGEN_ROPE_ONNXRUNTIME_INCLUDE="$onnxruntime_include" \
  ./python/onnxruntime
library=$("$python" -P -c 'import eigen_rope_onnxruntime; print(eigen_rope_onnxruntime.get_library_path())')
exported=$(nm -D --defined-only "$library" | awk '{ print $NF }')
[ "$exported" = RegisterCustomOps ] || die \
  "the library must export RegisterCustomOps alone, got $exported"
# Without Python, from the folder that pip has built in.
installed=$environment/installed
rm -rf "$installed"
install_by_cmake() {
  cmake -U 'SKBUILD*' build/python-onnxruntime &&
    cmake --build build/python-onnxruntime --target eigen_rope_onnxruntime &&
    cmake --install build/python-onnxruntime --prefix "$installed"
}
quietly "CMake could not install the library; the messages are above" install_by_cmake
[ -n "$(find "$installed" -name libeigen_rope_onnxruntime.so)" ] || die \
  "CMake must install libeigen_rope_onnxruntime.so, got $(find "$installed" -type f)"

say "testing"
EIGEN_ROPE_ONNXRUNTIME_INCLUDE=$onnxruntime_include "$python" -P -m pytest -q -p no:cacheprovider \
  --rootdir python/onnxruntime -c python/onnxruntime/pyproject.toml python/onnxruntime/tests ||
  die "tests failed; their output is above"

python_packages python/onnxruntime/requirements_old.txt "$environment-old"
site=$(dirname "$(dirname "$library")")
log=$(mktemp)
for version in "${other_versions[@]}"; do
  folder=$environment-old/onnxruntime-$version
  if [ ! -e "$folder/onnxruntime" ] && ! "$environment-old/bin/pip" install --quiet --no-deps \
    --disable-pip-version-check --target "$folder" onnxruntime=="$version" >"$log" 2>&1; then
    say "ONNX Runtime $version has no wheel for this Python ($(tail -n 1 "$log"))"
    continue
  fi
  # The library alone, and not what else is installed beside it.
  [ -e "$folder/eigen_rope_onnxruntime" ] || ln -s "$PWD/${site#"$PWD/"}/eigen_rope_onnxruntime" "$folder/"
  say "testing with ONNX Runtime $version"
  PYTHONPATH=$folder "$environment-old/bin/python" -P -m pytest -q -p no:cacheprovider --rootdir \
    python/onnxruntime -c python/onnxruntime/pyproject.toml python/onnxruntime/tests/test_versions.py ||
    die "tests failed with ONNX Runtime $version; their output is above"
done
rm -f "$log"
