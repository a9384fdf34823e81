#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tries random problems for as long as it is told, new ones each time; a counterexample is printed
# as code.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage="usage: scripts/properties.sh [--minutes N] [--filter GTEST_FILTER]
  Installs what is missing, builds the preset dev's property_tests and runs them with ever new
  seeds, for N minutes (10 by default). It ends with exit code 1 at the first counterexample, whose
  last line says how to run it again."
minutes=10 filter='*'
while [ $# -gt 0 ]; do
  case "$1" in
    --minutes | --filter)
      needs_value "$@"
      if [ "$1" = --minutes ]; then minutes=$2; else filter=$2; fi
      shift
      ;;
    *) other_argument "$1" "$usage" ;;
  esac
  shift
done
[[ $minutes =~ ^[1-9][0-9]*$ ]] || die "--minutes must be a whole number from 1, got $minutes"

require_packages "${build_packages[@]}" "${demo_packages[@]}" "${test_packages[@]}"
say "building"
configure dev
cmake --build --preset dev --target property_tests >/dev/null || die \
  "the build failed; run cmake --build --preset dev to see why"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cases=0 each=1000
while [ "$SECONDS" -lt $((60 * minutes)) ]; do
  if ! RC_PARAMS="max_success=$each" build/dev/bin/property_tests --gtest_filter="$filter" >"$log" \
    2>&1; then
    cat "$log"
    exit 1
  fi
  cases=$((cases + each * $(grep -c '^\[       OK' "$log")))
  [ "$cases" -gt 0 ] || die "no property has a name like $filter"
done
say "$cases random problems in $minutes minutes, no counterexample"
