# SPDX-License-Identifier: Apache-2.0
"""Times this library and its peers on the same shapes by turns, and writes
out/peers/measurements.json.

Every peer is a process of its own that waits until it is asked (protocol.hpp, protocol.py). For
each case the peers are asked one after the other, several rounds long, so that all see the same
machine; each answer holds memcpy of the same bytes, and a time becomes a ratio to the median memcpy
of its own answer. What cannot run is said in one line and left out.
"""

import argparse
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
HEADS = 32
BASE = 10000.0
SHAPES: dict[str, dict[str, int]] = {
    "decode": {"tokens": 1, "head": 128, "rotary": 128, "first_position": 1000},
    "tok16": {"tokens": 16, "head": 128, "rotary": 128, "first_position": 0},
    "prefill512": {"tokens": 512, "head": 128, "rotary": 128, "first_position": 0},
    "prefill4096": {"tokens": 4096, "head": 128, "rotary": 128, "first_position": 0},
    "partial512": {"tokens": 512, "head": 80, "rotary": 32, "first_position": 0},
}
SCALARS = ["f32", "f16", "bf16"]
# Two threads are measured on fewer: what differs between one and two is not the scalar.
SCALARS_OF_TWO = ["f32"]
PAIRINGS = ["split_half", "interleaved"]

PEERS = ["rope", "onnxruntime", "torch", "jax", "tensorflow", "ggml"]


class Peer:
    def __init__(
        self, name: str, command: list[str], threads: int, environment: dict[str, str]
    ) -> None:
        self.name = name
        processors = ",".join(map(str, sorted(os.sched_getaffinity(0))[-threads:]))
        self.log = Path(os.environ.get("TMPDIR", "/tmp")) / f"peers_{os.getpid()}_{name}.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                # Frameworks make as many threads as they see processors.
                ["taskset", "--cpu-list", processors, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={
                    **os.environ,
                    **environment,
                    "PEERS_THREADS": str(threads),
                    "OMP_NUM_THREADS": str(threads),
                },
            )
        self.hello: dict[str, str] = self.read()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            written = self.log.read_text().strip().splitlines()
            raise RuntimeError(written[-1] if written else f"ended with {self.process.returncode}")
        return json.loads(line)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        return self.read()

    def close(self) -> None:
        if self.process.stdin:
            self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.unlink(missing_ok=True)


def start(binaries: Path, wanted: list[str], threads: int) -> tuple[list[Peer], dict[str, str]]:
    """The peers that run, and why the others do not."""
    in_python = [sys.executable, "-W", "ignore"]
    copies = str(binaries / "peers_copies.so")
    # An allocator that keeps what frameworks free, so that an output of 64 MiB does not cost fresh
    # pages in every call.
    keep_memory = {"LD_PRELOAD": "libtcmalloc_minimal.so.4", "TCMALLOC_RELEASE_RATE": "0"}
    commands: dict[str, tuple[list[str], dict[str, str]]] = {
        "rope": ([str(binaries / "peers_ours")], {}),
        "onnxruntime": ([*in_python, str(HERE / "onnxruntime_peer.py"), copies], {}),
        "torch": ([*in_python, str(HERE / "torch_peer.py"), copies], keep_memory),
        "jax": ([*in_python, str(HERE / "jax_peer.py"), copies], keep_memory),
        "tensorflow": ([*in_python, str(HERE / "tensorflow_peer.py"), copies], keep_memory),
        "ggml": ([str(binaries / "peers_ggml")], {}),
    }
    peers: list[Peer] = []
    missing: dict[str, str] = {}
    for name, (command, environment) in commands.items():
        if name not in wanted:
            missing[name] = "not asked for"
            continue
        try:
            peers.append(Peer(name, command, threads, environment))
            print(f"   {name} {peers[-1].hello['version']} ({peers[-1].hello['note']})", flush=True)
        except (OSError, RuntimeError) as error:
            missing[name] = "not installed" if isinstance(error, FileNotFoundError) else str(error)
            print(f"   {name}: not measured: {missing[name]}", flush=True)
    return peers, missing


def quartiles(values: list[float]) -> list[float]:
    if len(values) == 1:
        return values * 3
    return [round(value, 3) for value in statistics.quantiles(values, n=4, method="inclusive")]


def measure(
    case: dict[str, Any], peers: list[Peer], rounds: int
) -> tuple[dict[str, Any], dict[str, str]]:
    """contender -> its quartiles, named peer/contender; and what was refused."""
    seconds: dict[str, list[float]] = {}
    ratios: dict[str, list[float]] = {}
    refused: dict[str, str] = {}
    for _ in range(rounds):
        for peer in list(peers):
            if peer.name in refused:
                continue
            try:
                answer = peer.ask(case)
            except (RuntimeError, ValueError) as error:
                peers.remove(peer)
                refused[peer.name] = f"the process ended: {error}"
                continue
            if "error" in answer:
                refused[peer.name] = answer["error"]
                continue
            for name, reason in answer.get("failed", {}).items():
                refused[f"{peer.name}/{name}"] = reason
            unit = statistics.median(answer["seconds"]["memcpy"])
            for name, samples in answer["seconds"].items():
                seconds.setdefault(f"{peer.name}/{name}", []).extend(samples)
                ratios.setdefault(f"{peer.name}/{name}", []).extend(
                    sample / unit for sample in samples
                )
    result = {
        name: {
            "ratio": quartiles(ratios[name]),
            "microseconds": round(statistics.median(seconds[name]) * 1e6, 4),
            "samples": len(ratios[name]),
        }
        for name in ratios
    }
    return result, refused


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def measure_all(
    options: argparse.Namespace, threads: int, peers: list[Peer]
) -> tuple[list[dict[str, Any]], bool]:
    """What was measured of each case, and whether this library refused or failed one."""
    cases: list[dict[str, Any]] = []
    wrong = False
    scalars = [name for name in options.scalars if threads == 1 or name in SCALARS_OF_TWO]
    for shape, scalar, pairing in itertools.product(options.shapes, scalars, PAIRINGS):
        request = {
            **SHAPES[shape],
            "heads": HEADS,
            "base": BASE,
            "scalar": scalar,
            "pairing": pairing,
            "seconds": options.seconds,
        }
        contenders, refused = measure(request, peers, options.rounds)
        cases.append(
            {
                "threads": threads,
                "shape": shape,
                "scalar": scalar,
                "pairing": pairing,
                "contenders": contenders,
                "refused": refused,
            }
        )
        shown = ", ".join(
            f"{name} {c['ratio'][1]:.2f}"
            for name, c in contenders.items()
            if not name.endswith("/memcpy")
        )
        print(f"   {shape} {scalar} {pairing}: {shown}", flush=True)
        for name, reason in refused.items():
            print(f"      {name}: not measured: {reason}", flush=True)
            wrong = wrong or name.startswith("rope")
    return cases, wrong


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--binaries",
        type=Path,
        required=True,
        help="where peers_ours, peers_copies.so and perhaps peers_ggml are",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for measurements.json")
    parser.add_argument("--peers", nargs="+", default=PEERS)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--scalars", nargs="+", choices=SCALARS, default=SCALARS)
    parser.add_argument("--threads", nargs="+", type=int, choices=[1, 2], default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.12, help="for one answer, about")
    options = parser.parse_args()

    cases: list[dict[str, Any]] = []
    hellos: dict[str, dict[str, str]] = {}
    missing: dict[str, str] = {}
    wrong = False
    for threads in options.threads:
        print(f"   {threads} thread{'s' if threads > 1 else ''}", flush=True)
        peers, missing = start(options.binaries, options.peers, threads)
        if missing.get("rope", "not asked for") != "not asked for":
            print(
                f"error: this library's own program does not run: {missing['rope']}",
                file=sys.stderr,
            )
            return 1
        hellos = {peer.name: peer.hello for peer in peers}
        measured, failed = measure_all(options, threads, peers)
        cases += measured
        wrong = wrong or failed
        for peer in peers:
            peer.close()
    options.out.mkdir(parents=True, exist_ok=True)
    document = {"machine": processor(), "peers": hellos, "missing": missing, "cases": cases}
    (options.out / "measurements.json").write_text(json.dumps(document, indent=1) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
