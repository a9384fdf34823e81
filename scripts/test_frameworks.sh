#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The package for Python: builds it as its users do, looks at what was built, and runs its tests in
# an environment of pinned packages.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage="usage: scripts/test_frameworks.sh
  Makes an environment of Python in build/frameworks, builds the package of ./python as a wheel
  (build/frameworks/wheels), and refuses one that fits no manylinux, is larger than 8 MB or needs a
  library besides those of C and C++. Then installs it, checks its form and types (ruff, mypy), and
  runs its tests. Four minutes on 2 cores, and half a minute where little has changed."
[ $# -eq 0 ] || other_argument "$1" "$usage"

environment=build/frameworks
python=$environment/bin/python
wheels=$environment/wheels
most_bytes=$((8 * 1000 * 1000))

# What users of the package need: no package of Python is built without it.
python_build_packages=(g++ cmake ninja-build python3-dev python3-venv libeigen3-dev libfmt-dev
  libhwy-dev libcli11-dev nlohmann-json3-dev)

# build_wheel FOLDER: the package in it as a wheel for any Linux that has its libraries
build_wheel() {
  local built=$wheels/built size
  rm -rf "$wheels"
  mkdir -p "$built"
  "$python" -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps \
    -w "$built" "$1" || die "the wheel of $1 could not be built; the messages are above"
  PATH=$PWD/$environment/bin:$PATH "$python" -m auditwheel repair -w "$wheels" "$built"/*.whl \
    >"$wheels/auditwheel.log" 2>&1 || {
    cat "$wheels/auditwheel.log"
    die "auditwheel's reasons are above"
  }
  # Where auditwheel puts libraries that are not part of every Linux.
  ! "$python" -m zipfile --list "$wheels"/*.whl | grep '\.libs/' || die \
    "a wheel must need no library but those of C and C++; it has those above"
  size=$(stat -c %s "$wheels"/*.whl)
  [ "$size" -le "$most_bytes" ] || die "a wheel must have at most $most_bytes bytes, got $size"
  say "$(basename "$wheels"/*.whl), $size bytes"
}

require_packages "${python_build_packages[@]}" ccache
python_packages python/requirements.txt "$environment"
say "building the package"
build_wheel ./python
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall \
  "$wheels"/*.whl
say "form and types"
"$python" -m ruff format --check --quiet python || die "ruff format python repairs the form"
"$python" -m ruff check --quiet python || die "ruff's remarks are above"
"$python" -m mypy --strict --no-error-summary --cache-dir "$environment/mypy" -p eigen_rope || \
  die "mypy's remarks are above"
say "testing"
"$python" -m pytest -q -p no:cacheprovider python/tests || die "tests failed; their output is above"
