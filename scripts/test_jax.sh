#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of eigen_rope.jax, a part of the package of ./python, in the environment that
# test_frameworks.sh has made: results, derivatives, transformations, errors.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

[ $# -eq 0 ] || other_argument "$1" "usage: scripts/test_jax.sh
  Runs python/jax/tests in build/frameworks, where scripts/test_frameworks.sh has installed JAX and
  the package of ./python. 2 minutes on 2 cores."

python=build/frameworks/bin/python
[ -e "$python" ] || die \
  "build/frameworks must hold an environment: scripts/test_frameworks.sh makes it, and runs this script"
say "testing with JAX $("$python" -c 'import jax; print(jax.__version__)')"
"$python" -P -m pytest -q -p no:cacheprovider --rootdir python/jax -c python/pyproject.toml \
  python/jax/tests || die "tests failed; their output is above"
