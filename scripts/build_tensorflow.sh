#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles the operators for the TensorFlow that a Python has, and installs the module
# eigen_rope_tensorflow there.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage="usage: scripts/build_tensorflow.sh [--python PYTHON] [--into FOLDER] [-DOPTION=VALUE ...]
  Compiles ./python/tensorflow in build/tensorflow-module against the headers, the flags and the
  Eigen of the TensorFlow that PYTHON has (python3, or that of an active environment), and installs
  eigen_rope_tensorflow beside it. Two to three minutes on 2 cores, and again for each version of
  TensorFlow, whose C++ interface changes from version to version.
  --python PYTHON  the interpreter, such as env/bin/python
  --into FOLDER    install the module into this folder, which PYTHONPATH may name
  -DOPTION=VALUE   is passed on to CMake"
python=python3
into=""
options=()
while [ $# -gt 0 ]; do
  case "$1" in
    --python | --into)
      needs_value "$@"
      if [ "$1" = --python ]; then python=$2; else into=$2; fi
      shift
      ;;
    -D*) options+=("$1") ;;
    *) other_argument "$1" "$usage" ;;
  esac
  shift
done
python=$(command -v "$python") || die "there is no interpreter of that name; see --help"
[ -z "$into" ] || options+=("-DCMAKE_INSTALL_PREFIX=$(realpath -m "$into")")

require_packages g++ cmake ninja-build libeigen3-dev libfmt-dev libhwy-dev
build=build/tensorflow-module
mkdir -p build
# The folder's cache would keep the installation of another Python.
rm -f "$build/CMakeCache.txt"
quietly "configuring failed; the messages are above" cmake -S python/tensorflow -B "$build" -G Ninja \
  -DPython_EXECUTABLE="$(realpath -s "$python")" "${options[@]}"
version=$(sed -n 's/^TENSORFLOW = "\(.*\)"$/\1/p' "$build/module/eigen_rope_tensorflow/_built.py")
say "compiling for TensorFlow $version"
quietly "compiling failed; the messages are above" cmake --build "$build" \
  --target eigen_rope_tensorflow
quietly "installing failed; the messages are above" cmake --install "$build"
say "installed $(sed -n 's/^ *set(CMAKE_INSTALL_PREFIX "\(.*\)")$/\1/p' "$build/cmake_install.cmake" | head -n 1)/eigen_rope_tensorflow"
