#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the package for PyTorch in the environment that test_frameworks.sh has made, and runs its
# tests: operators, derivatives, compilers, models of transformers, the page's code.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

[ $# -eq 0 ] || other_argument "$1" "usage: scripts/test_torch.sh
  Builds ./python/torch in build/frameworks, which scripts/test_frameworks.sh makes with the package
  of ./python, and runs python/torch/tests. 4 minutes on 2 cores, half of them for compiling."

environment=build/frameworks
[ -e "$environment/bin/python" ] || die \
  "$environment must hold an environment: scripts/test_frameworks.sh makes it, and runs this script"
say "building the package for PyTorch"
quietly "./python/torch could not be built; the messages are above" "$environment/bin/python" -m pip \
  install --quiet --disable-pip-version-check --no-build-isolation --no-deps \
  --config-settings=cmake.define.EIGEN_ROPE_DEVELOPER=ON ./python/torch
say "testing"
"$environment/bin/python" -P -m pytest -q -p no:cacheprovider --rootdir python/torch -c \
  python/torch/pyproject.toml python/torch/tests ||
  die "tests failed; their output is above"
