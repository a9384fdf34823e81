#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the packages of numpy and PyTorch into an environment under build/ and runs the tests of
# the latter: operators, derivatives, compilers, models of transformers, the page's code.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

case "${1:-}" in
  "") ;;
  *)
    other_argument "$1" "usage: scripts/test_torch.sh
  Installs what is missing: torch and transformers bring some 5 GB along, into build/frameworks.
  Then it builds ./python and ./python/torch there and runs python/torch/tests. 5 minutes, and the
  first time as long as installing takes."
    ;;
esac

environment=build/frameworks
require_packages "${build_packages[@]}" "${demo_packages[@]}" python3-dev python3-venv
python_packages python/requirements.txt "$environment"
if ! cmp -s python/torch/requirements.txt "$environment/requirements_torch.txt"; then
  say "installing Python packages: $(grep -v '^#' python/torch/requirements.txt | tr '\n' ' ')"
  "$environment/bin/pip" install --quiet --disable-pip-version-check -r \
    python/torch/requirements.txt || die "pip could not install PyTorch (network?)"
  cp python/torch/requirements.txt "$environment/requirements_torch.txt"
fi
say "building the packages"
for package in python python/torch; do
  log=$(mktemp)
  "$environment/bin/pip" install --quiet --disable-pip-version-check --no-build-isolation \
    "./$package" >"$log" 2>&1 || {
    cat "$log" >&2
    die "./$package cannot be built"
  }
  rm -f "$log"
done
say "checking the form"
"$environment/bin/ruff" format --check --quiet python/torch || die \
  "ruff format python/torch repairs the form"
"$environment/bin/ruff" check --quiet python/torch || die "ruff's remarks are above"
say "testing"
"$environment/bin/pytest" -q -p no:cacheprovider --rootdir python/torch -c \
  python/torch/pyproject.toml python/torch/tests ||
  die "tests failed; their output is above"
