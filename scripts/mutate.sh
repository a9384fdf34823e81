#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes small faults in the sources, one at a time, and asks whether the tests see them.
# tests/mutation/faults.json lists them: what is replaced by what, and the test files that should
# notice. Works on a copy in build/mutation; this tree is only read.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage="usage: scripts/mutate.sh [--only NAME]... [--jobs N]
       scripts/mutate.sh --list | --check
  Makes each fault in turn, or those named, rebuilds and runs the fault's tests. The exit code is 1
  if a fault survives. What the compiler and the tests said is left in build/mutation/logs/NAME.txt.
  --list     Name the faults.
  --check    Check only that each fault's text occurs once in the sources: a second."
mode=run jobs=$(nproc) only=()
while [ $# -gt 0 ]; do
  case "$1" in
    --check) mode=check ;;
    --list) mode=list ;;
    --only | --jobs)
      needs_value "$@"
      if [ "$1" = --only ]; then only+=(--only "$2"); else jobs=$2; fi
      shift
      ;;
    *) other_argument "$1" "$usage" ;;
  esac
  shift
done
[[ $jobs =~ ^[1-9][0-9]*$ ]] || die "--jobs must be a whole number from 1, got '$jobs'"

if [ "$mode" != run ]; then
  command -v python3 >/dev/null || require_packages python3
  exec python3 tests/mutation/run_faults.py --"$mode" "${only[@]}"
fi
require_packages "${build_packages[@]}" libgtest-dev libgmock-dev libboost-dev python3 git
require_git scripts/mutate.sh
exec python3 tests/mutation/run_faults.py --run build/mutation --jobs "$jobs" "${only[@]}"
