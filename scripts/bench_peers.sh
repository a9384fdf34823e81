#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Measures this library and its peers on the same shapes in one run, on one thread and on two: ONNX
# Runtime, PyTorch, JAX, TensorFlow and ggml, and the tables and a model of transformers, from
# Python packages put into a virtual environment under build/. Writes out/peers/ and, when all
# shapes and scalars were measured, docs/peers.md and docs/images/peers.{svg,png}. About 7 minutes
# where all is built, and the first time as long as installing takes: PyTorch's package brings some
# 3 GB along (WITHOUT_TORCH=1 leaves it out).
#
# Arguments go to bench/peers/measure.py: --shapes, --scalars, --peers, --threads, --rounds
# (--help). What cannot be installed is said and left out; recorded figures, marked as such, stand
# in for ggml and ONNX Runtime. Exits 1 if this library's own program does not run or computes
# something wrong.
#
# --trainer as the first argument measures examples/train_lm and the same model in PyTorch instead,
# which takes 2 minutes on an idle machine, and writes the section of docs/peers.md on it. Further
# arguments go to bench/peers/trainer.py: --rounds, --steps, --threads, --patience (--help). Exits 1
# if the losses differ.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
. scripts/onnxruntime_header.sh

venv=build/peers-venv
out=out/peers
trainer=0
if [ "${1:-}" = --trainer ]; then
  trainer=1
  shift
fi

# The Debian packages: the build's, Python's, what torch.compile needs, and the allocator that
# the frameworks are measured with.
require_packages "${build_packages[@]}" "${demo_packages[@]}" "${test_packages[@]}" python3 \
  python3-venv python3-dev libtcmalloc-minimal4

# install PEER PACKAGE...: into the virtual environment, unless it is there; says so in one line if
# it cannot be.
install() {
  local peer=$1
  shift
  local log=$venv/install_$peer.log
  [ -e "$venv/installed_$peer" ] && return 0
  say "installing $peer: $*"
  if "$venv/bin/pip" install --quiet --disable-pip-version-check "$@" >"$log" 2>&1; then
    touch "$venv/installed_$peer"
  else
    say "$peer cannot be installed ($(tail -n 1 "$log"))"
  fi
}

[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
install numpy numpy
if [ "$trainer" -eq 1 ]; then
  install torch torch
  [ -e "$venv/installed_torch" ] || die "there is nothing to compare the trainer with"
  say "building train_lm for this processor"
  configure demo
  cmake --build --preset demo --target train_lm || die \
    "the build failed; the compiler's messages are above"
  say "training by turns"
  export PYTHONDONTWRITEBYTECODE=1 TORCHINDUCTOR_CACHE_DIR="$PWD/$venv/inductor"
  exec "$venv/bin/python" bench/peers/trainer.py --train-lm build/demo/bin/train_lm \
    --out "$out/trainer" --page docs/peers.md "$@"
fi
# install_ours NAME COMMAND...: this library in a framework, anew each time, as its sources may have
# changed; says so in one line if it cannot be.
install_ours() {
  local name=$1 log=$venv/install_$1.log
  shift
  say "building $name"
  "$@" >"$log" 2>&1 || say "$name cannot be built ($(tail -n 1 "$log"))"
}
pip_install=("$venv/bin/pip" install --quiet --disable-pip-version-check)

install build-tools scikit-build-core ninja
install ggml libggml-python
install onnxruntime onnxruntime onnx ml_dtypes
# In a shell of its own first, which ends where there is no header.
if [ -e "$venv/installed_onnxruntime" ] && (find_onnxruntime_header); then
  find_onnxruntime_header
  install_ours eigen_rope_onnxruntime "${pip_install[@]}" --no-build-isolation \
    --config-settings=cmake.define.EIGEN_ROPE_ONNXRUNTIME_INCLUDE="$onnxruntime_include" \
    ./python/onnxruntime
fi
install tensorflow tensorflow-cpu
[ ! -e "$venv/installed_tensorflow" ] || \
  install_ours eigen_rope_tensorflow scripts/build_tensorflow.sh --python "$venv/bin/python"
install jax jax
if [ "${WITHOUT_TORCH:-0}" != 1 ]; then
  install torch torch
  if [ -e "$venv/installed_torch" ]; then
    install rotary-embedding-torch rotary-embedding-torch
    install_ours eigen_rope_torch "${pip_install[@]}" --no-build-isolation ./python/torch
    install transformers transformers mpmath==1.3.0
  fi
fi
# With eigen_rope.jax, where jaxlib is.
install_ours eigen_rope "${pip_install[@]}" --force-reinstall --no-deps ./python

# The Python package of ggml, or else one that CMake finds by itself.
ggml=$("$venv/bin/python" -c 'import pathlib, libggml; print(next(pathlib.Path(libggml.__file__).parent.glob("lib*/cmake/ggml")))' 2>/dev/null || true)
say "building"
configure release ${ggml:+-Dggml_DIR="$ggml"}
targets=(peers_ours peers_copies)
if [[ $(cmake --build --preset release --target help) == *peers_ggml:* ]]; then \
  targets+=(peers_ggml); fi
quietly "the build failed" cmake --build --preset release --target "${targets[@]}"

say "measuring (ratios to memcpy)"
rm -rf "$out"
mkdir -p "$out"
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 NUMPY_MADVISE_HUGEPAGE=0 \
  TORCHINDUCTOR_CACHE_DIR="$PWD/$venv/inductor"
status=0
"$venv/bin/python" bench/peers/measure.py --binaries build/release/bin --out "$out" "$@" || \
  status=$?
[ -e "$out/measurements.json" ] || exit "$status"
[ ! -e "$venv/installed_transformers" ] || \
  "$venv/bin/python" -W ignore bench/peers/models_peer.py "$out/models.json" || \
  say "transformers cannot be measured"
"$venv/bin/python" bench/peers/report.py --out "$out" --page docs/peers.md --images docs/images
say \
  "figures and tables are in $out; a whole run also writes docs/peers.md and docs/images/peers.svg, peers.png"
exit "$status"
