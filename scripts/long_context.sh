#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Trains on windows of 65,536 characters, which four ranks share: attention by blocks on a ring.
# Half an hour on two cores, so no other script runs this.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage="usage: scripts/long_context.sh [--context N] [--ranks N] [--steps N] [ARGUMENTS]
  Makes a text of 2 MB, trains one window a step on it, and checks that the loss falls and that no
  rank takes more than 4 GiB. Without arguments: 65536 characters, 4 ranks, 10 steps. ARGUMENTS go
  to train_lm. Everything goes under out/long_context."
context=65536
ranks=4
steps=10
while [ $# -gt 0 ]; do
  case "$1" in
    --context | --ranks | --steps)
      needs_value "$@"
      [[ $2 =~ ^[1-9][0-9]*$ ]] || die "$1 must be a positive number, got $2"
      declare "${1#--}=$2"
      shift 2
      ;;
    -h | --help)
      echo "$usage"
      exit 0
      ;;
    *) break ;;
  esac
done

require_packages "${build_packages[@]}" "${demo_packages[@]}" "${ranks_packages[@]}" python3
say "configuring build/demo"
configure demo
say "building train_lm"
cmake --build --preset demo --target train_lm || die \
  "the build failed; the compiler's messages are above"

out=out/long_context
mkdir -p "$out"
say "making a text of 2 MB"
python3 - "$out/text" <<'PYTHON'
import random
import sys

# Sentences that come back after thousands of characters: a long window has something to see.
random.seed(1)
letters = "abcdefghijklmnopqrstuvwxyz"
words = ["".join(random.choices(letters, k=random.randint(2, 9))) for _ in range(400)]
sentences = [" ".join(random.choices(words, k=random.randint(4, 12))) + ".\n" for _ in range(3000)]
text = "".join(random.choices(sentences, k=60_000))
with open(sys.argv[1], "w") as file:
    file.write(text[:2_000_000])
PYTHON

# What a process took at most, where it is known: Linux writes it as long as the process is there.
most_memory() {
  local process most=0 kib
  while kill -0 "$1" 2>/dev/null; do
    for process in /proc/[0-9]*; do
      [ "$(readlink "$process/exe" 2>/dev/null)" = "$PWD/build/demo/bin/train_lm" ] || continue
      kib=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "$process/status" 2>/dev/null || true)
      [ "${kib:-0}" -le "$most" ] || most=$kib
    done
    sleep 1
  done
  echo "$most"
}

say "training $steps steps on $ranks ranks"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
mpirun -n "$ranks" build/demo/bin/train_lm --text "$out/text" --out "$out/run" --no-comparison \
  --context "$context" --batch 1 --context-parallel "$ranks" --rank-timeout 3600 \
  --steps "$((steps + 1))" --stop-at "$steps" --validate-every "$((steps + 1))" --save-every 1 \
  "$@" &
training=$!
memory=$(most_memory "$training")
wait "$training" || die "the training failed; its sentence is above"
python3 - "$out/run/default.safetensors" "$memory" <<'PYTHON'
import array
import json
import sys

content = open(sys.argv[1], "rb").read()
length = int.from_bytes(content[:8], "little")
begin, end = json.loads(content[8 : 8 + length])["curve.train"]["data_offsets"]
losses = array.array("d", content[8 + length :][begin:end])
gib = int(sys.argv[2]) / 2**20
print("losses, bits per character:", " ".join(f"{loss:.4f}" for loss in losses))
print(f"most memory of a rank: {gib:.2f} GiB")
if losses[-1] >= losses[0]:
    sys.exit("error: the loss does not fall")
if gib > 4:
    sys.exit("error: a rank took more than 4 GiB")
PYTHON
