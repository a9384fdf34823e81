#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Trains a small language model with and without RoPE and draws what came out; arguments go to
# train_lm.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

require_packages "${build_packages[@]}" "${demo_packages[@]}"
say "configuring build/demo"
configure demo
say "building train_lm"
cmake --build --preset demo --target train_lm || die \
  "the build failed; the compiler's messages are above"
say "training (about a minute on 2 cores; everything goes under out/)"
exec build/demo/bin/train_lm "$@"
