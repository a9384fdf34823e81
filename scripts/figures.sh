#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Draws the figures of the pages anew, into docs/images. What is drawn is computed by docs/figures.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

case "${1:-}" in
  "") ;;
  -h | --help)
    echo \
      "usage: scripts/figures.sh
  Builds the preset dev's doc_figures and writes docs/images/*.svg."
    exit 0
    ;;
  *) die "unknown argument '$1'; see scripts/figures.sh --help" ;;
esac

require_packages "${build_packages[@]}" "${demo_packages[@]}" "${test_packages[@]}"
say "configuring build/dev"
configure dev
say "building doc_figures"
cmake --build --preset dev --target doc_figures || die \
  "the build failed; the compiler's messages are above"
build/dev/bin/doc_figures docs/images
say "docs/images"
