#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The package for Python: builds it as its users do, looks at what was built, and runs its tests in
# an environment of pinned packages.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage="usage: scripts/test_frameworks.sh [--numpy]
  Makes an environment of Python in build/frameworks, builds the package of ./python as a wheel, and
  refuses one that fits no manylinux, is larger than 8 MB or needs a library besides those of C and
  C++. Then installs it, checks its form and types (ruff, mypy), runs its tests, with
  tensors of PyTorch, too, and runs the notebook of python/examples, which must give the page
  docs/notebook.md. At the end it tests eigen_rope.jax (test_jax.sh), builds and tests the package
  of ./python/torch (test_torch.sh), and, in environments of their own, that of ./python/onnxruntime
  and the operators of ./python/tensorflow (test_onnxruntime.sh, test_tensorflow.sh).
  --numpy    Without what needs JAX, PyTorch and transformers (3 GB). The environment is
             build/numpy. Six minutes on 2 cores, and half a minute where nothing is to be compiled."
numpy_only=0
case "${1:-}" in
  "") environment=build/frameworks ;;
  --numpy)
    numpy_only=1
    environment=build/numpy
    ;;
  *) other_argument "$1" "$usage" ;;
esac
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
    --config-settings=cmake.define.EIGEN_ROPE_DEVELOPER=ON -w "$built" "$1" || die "the wheel of $1 could not be built; the messages are above"
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
mkdir -p build
requirements=(python/requirements.txt)
[ $numpy_only -eq 1 ] || requirements+=(python/examples/requirements.txt \
  python/torch/requirements.txt python/jax/requirements.txt)
cat "${requirements[@]}" >"$environment.txt"
python_packages "$environment.txt" "$environment"
say "building the package"
build_wheel ./python
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall \
  "$wheels"/*.whl
say "form and types"
"$python" -m ruff format --check --quiet python || die "ruff format python repairs the form"
"$python" -m ruff check --quiet python || die "ruff's remarks are above"
"$python" -m mypy --config-file python/pyproject.toml --no-error-summary --cache-dir "$environment/mypy" -p eigen_rope || \
  die "mypy's remarks are above"
say "testing"
"$python" -m pytest -q -p no:cacheprovider python/tests || die "tests failed; their output is above"
[ $numpy_only -eq 0 ] || exit 0
say "testing with PyTorch and transformers"
"$python" -m pytest -q -p no:cacheprovider python/examples || die "tests failed; their output is above"
say "running the notebook"
"$python" python/examples/make_page.py --check || die "the page of the notebook is not what it gives"
scripts/test_jax.sh
scripts/test_torch.sh
scripts/test_onnxruntime.sh
scripts/test_tensorflow.sh
