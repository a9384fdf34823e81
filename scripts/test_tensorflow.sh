#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the operators of TensorFlow in an environment of their own, and runs their tests: values,
# gradients, graphs, the layer of Keras, the page's code.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage="usage: scripts/test_tensorflow.sh [--version VERSION]
  Makes an environment of Python in build/tensorflow with the pinned TensorFlow, builds
  ./python/tensorflow for it, and runs its tests. 4 minutes on 2 cores, half of them for compiling.
  --version VERSION   another version of TensorFlow, in build/tensorflow-VERSION"
environment=build/tensorflow
requirements=python/tensorflow/requirements.txt
while [ $# -gt 0 ]; do
  case "$1" in
    --version)
      needs_value "$@"
      environment=build/tensorflow-$2
      mkdir -p build
      sed "s/^tensorflow_cpu==.*/tensorflow_cpu==$2/" "$requirements" >"$environment.txt"
      requirements=$environment.txt
      shift
      ;;
    *) other_argument "$1" "$usage" ;;
  esac
  shift
done

# TensorFlow quarrels with other frameworks about versions of what they share.
python_packages "$requirements" "$environment"
say "building the operators of TensorFlow"
module=$environment/module
scripts/build_tensorflow.sh --python "$environment/bin/python" --into "$module" \
  -DEIGEN_ROPE_DEVELOPER=ON
say "testing"
PYTHONPATH=$PWD/$module TF_CPP_MIN_LOG_LEVEL=2 "$environment/bin/python" -P -m pytest -q \
  -p no:cacheprovider --rootdir python/tensorflow -c python/tensorflow/pyproject.toml \
  python/tensorflow/tests || die "tests failed; their output is above"
