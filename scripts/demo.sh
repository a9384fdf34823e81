#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Trains a small language model with and without RoPE and draws what came out; arguments go to
# train_lm. With --ranks N, trains it on one process and on N, and draws both curves.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage="usage: scripts/demo.sh [--ranks N] [ARGUMENTS]
  Trains with and without RoPE; everything goes under out/train_lm. ARGUMENTS go to train_lm,
  and build/demo/bin/train_lm --help lists them.
  --ranks N   Train with RoPE on one process and, with MPI, on N that share each window, and draw
              both curves on one another: out/ranks/curves.png."
ranks=1
case "${1:-}" in
  --ranks)
    needs_value "$@"
    ranks=$2
    [[ $ranks =~ ^[1-9][0-9]?$ ]] || die "--ranks must be from 1 to 99, got $ranks"
    shift 2
    ;;
  -h | --help)
    echo "$usage"
    exit 0
    ;;
esac

require_packages "${build_packages[@]}" "${demo_packages[@]}"
[ "$ranks" -eq 1 ] || require_packages "${ranks_packages[@]}"
say "configuring build/demo"
configure demo
say "building train_lm"
cmake --build --preset demo --target train_lm || die \
  "the build failed; the compiler's messages are above"
if [ "$ranks" -eq 1 ]; then
  say "training (about a minute on 2 cores; everything goes under out/)"
  exec build/demo/bin/train_lm "$@"
fi

# More ranks than processors, by root too, as in a container.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
say "training on one process, one thread"
build/demo/bin/train_lm --out out/ranks/one --no-comparison --threads 1 "$@"
say "training on $ranks ranks, which share each window"
mpirun -n "$ranks" build/demo/bin/train_lm --out out/ranks/shared --no-comparison \
  --context-parallel "$ranks" "$@"
say "drawing out/ranks/curves.png"
gnuplot -e "ranks = $ranks; one = 'out/ranks/one/losses.csv'; shared = 'out/ranks/shared/losses.csv'; \
picture = 'out/ranks/curves.png'" examples/train_lm/ranks.gp || die "gnuplot failed"
paste -d, out/ranks/one/losses.csv out/ranks/shared/losses.csv | awk -F, '
  NR > 1 { d = $2 - $5; if (d < 0) d = -d; if (d > most) most = d }
  END { printf "largest difference of the losses in %d steps: %.2g bits\n", NR - 1, most }'
