#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs the whole test suite: installs what is missing, configures the preset dev, builds, runs ctest.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

case "${1:-}" in
  "") ;;
  -h | --help)
    echo "usage: scripts/test.sh    installs what is missing, builds the preset dev and runs every test"
    exit 0
    ;;
  *) die "unknown argument '$1'; see scripts/test.sh --help" ;;
esac

require_packages "${build_packages[@]}" "${demo_packages[@]}" "${test_packages[@]}"
python_packages tests/python/requirements.txt build/python
say "configuring build/dev"
configure dev -DROPE_TEST_PYTHON="$PWD/build/python/bin/python"
say "building"
cmake --build --preset dev || die "the build failed; the compiler's messages are above"
say "testing"
ctest --preset dev -j "$(nproc)" || die "tests failed; their output is above"
