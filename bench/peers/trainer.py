# SPDX-License-Identifier: Apache-2.0
"""Times examples/train_lm and the same model in PyTorch by turns, compares their losses step by
step, and writes the section "Training a small model" of docs/peers.md.

All start from one checkpoint that train_lm writes, see the same batches and have the same number of
threads. The contenders take turns for several rounds. A measurement is the median step of a run,
without its first steps; a run during which other programs had more than a little of the processor
is repeated, since two threads that meet in every operation lose far more than the time taken. Where
there is no time left for that, the rounds before it are all there are.
"""

import argparse
import csv
import datetime
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

from measure import Peer, processor
from trainer_data import Checkpoint
from trainer_page import replace_section

HERE = Path(__file__).parent
FIRST_STEPS = 5  # not counted: memory is allocated, caches are filled
OTHERS = 0.05  # of one processor, that other programs may take during a run
LOSS_LIMIT = 1e-3  # bits per character
NAMES = {
    "train_lm": "`train_lm`",
    "eager": "PyTorch {version}, eager",
    "compiled": "PyTorch {version}, `torch.compile`",
}
# PyTorch allocates its activations in every step, and tcmalloc keeps what is freed.
KEEP_MEMORY = {"LD_PRELOAD": "libtcmalloc_minimal.so.4", "TCMALLOC_RELEASE_RATE": "0"}


@dataclass
class Run:
    seconds: list[float]
    losses: list[float]
    table: str = ""  # what train_lm --profile prints

    def step(self) -> float:
        """Seconds of the median step."""
        return statistics.median(self.seconds[FIRST_STEPS:])


@dataclass
class Contender:
    run: Callable[[], Run]
    used: Callable[[], float]  # seconds of processor time so far
    runs: list[Run] = field(default_factory=list)  # one per round

    def speeds(self, characters: int) -> list[float]:
        """Characters a second, one per round."""
        return [characters / run.step() for run in self.runs]


def busy_seconds() -> float:
    """What all programs together have used of the processors."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    idle_and_waiting = (3, 4)
    ticks = sum(int(v) for i, v in enumerate(fields[:8]) if i not in idle_and_waiting)
    return ticks / os.sysconf("SC_CLK_TCK")


def seconds_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def seconds_of(pid: int) -> float:
    """Of a process that runs."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def undisturbed(contender: Contender, deadline: float) -> tuple[Run | None, int]:
    """A run, and how many before it were disturbed; none if there is no more time."""
    disturbed = 0
    while True:
        begin, busy, used = time.perf_counter(), busy_seconds(), contender.used()
        run = contender.run()
        others = busy_seconds() - busy - (contender.used() - used)
        if others <= OTHERS * (time.perf_counter() - begin) + 0.05:
            return run, disturbed
        disturbed += 1
        if time.monotonic() > deadline:
            return None, disturbed
        time.sleep(2)


class TrainLm:
    def __init__(self, options: argparse.Namespace, text: Path) -> None:
        self.command = [
            str(options.train_lm),
            "--no-comparison",
            f"--text={text}",
            f"--threads={options.threads}",
            "--sample=0",
            "--save-every=10000000",
            "--validate-every=10000000",
        ]
        self.steps = options.steps
        self.out: Path = options.out

    def call(self, folder: str, *arguments: str) -> str:
        command = [*self.command, f"--out={self.out / folder}", *arguments]
        return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout

    def start(self) -> Path:
        """The checkpoint that all start from."""
        self.call("start", "--save-start")
        return self.out / "start" / "default.safetensors"

    def run(self) -> Run:
        printed = self.call("train_lm", "--profile", f"--stop-at={self.steps}")
        with (self.out / "train_lm" / "default.profile.csv").open() as file:
            seconds = [float(row["milliseconds"]) / 1e3 for row in csv.DictReader(file)]
        trained = Checkpoint(self.out / "train_lm" / "default.safetensors")
        table = printed[printed.index("ms of a step") : printed.index("median step")]
        return Run(seconds, trained.tensor("curve.train").tolist(), table.rstrip())


def ask(torch: Peer, training: str, steps: int) -> Run:
    answer = torch.ask({"training": training, "steps": steps})
    return Run(answer["seconds"], answer["losses"])


def of_torch(torch: Peer, training: str, steps: int) -> Contender:
    return Contender(
        lambda: ask(torch, training, steps), lambda: seconds_of(torch.process.pid)
    )


def read_text(folder: Path) -> bytes:
    """As train_lm reads a folder."""
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and not p.is_symlink()]
    return b"".join(p.read_bytes() for p in files)


def family_and_model() -> str:
    found: dict[str, str] = {}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        found.setdefault(key.strip(), value.strip())
    if "cpu family" not in found:
        return processor()
    return f"{processor()}, family {found['cpu family']}, model {found['model']}"


def largest_difference(a: list[float], b: list[float]) -> float:
    if len(a) != len(b):
        raise ValueError(f"runs must have equally many losses, got {len(a)} and {len(b)}")
    return max(abs(x - y) for x, y in zip(a, b))


def spread(values: list[float], digits: int) -> str:
    middle = statistics.median(values)
    return f"{middle:.{digits}f} ({min(values):.{digits}f} - {max(values):.{digits}f})"


def section(document: dict[str, Any]) -> str:
    speeds = document["speeds"]
    ours = speeds["train_lm"]
    lines = [
        "| | thousand characters a second | `train_lm` against it |",
        "| --- | --- | --- |",
    ]
    for name, title in NAMES.items():
        ratio = spread([a / b for a, b in zip(ours, speeds[name])], 2) if name != "train_lm" else ""
        shown = spread([speed / 1e3 for speed in speeds[name]], 1)
        lines.append(f"| {title.format(version=document['torch'])} | {shown} | {ratio} |")
    config = document["config"]
    return f"""\
The program [train_lm](../examples/train_lm/README.md) and the same model in PyTorch train from the
same weights, which go from one to the other as a safetensors file, on the same batches. The model
has {config["layers"]} layers, {config["heads"]} heads and a width of {config["dim"]}, a step has {config["batch"]} windows of {config["context"]} characters, and
there are {document["threads"]} threads.

{chr(10).join(lines)}

Each cell has the median of {len(ours)} rounds and their range; a round takes the median of {document["steps"] - FIRST_STEPS} steps of
each. In {document["steps"]} steps the losses differ by at most {document["difference"]:.0e} bits per character.

- `train_lm` is compiled with the preset `demo`, for this processor alone.
- PyTorch has the model that one writes: `nn.Module`, `scaled_dot_product_attention`, `x * cos +
  rotate_half(x) * sin`, and AdamW with its fused step. What is compiled is the model and its loss.
- PyTorch allocates memory in every step. It is given tcmalloc, told to keep what is freed.
  `train_lm` allocates nothing in a step.
- A run is repeated if other programs took more than 5 % of a processor during it.

This is where the time of a step of `train_lm` goes (`train_lm --profile`,
the median round):

    {document["table"].replace(chr(10), chr(10) + "    ")}

Processor: {document["machine"]}. Date: {document["date"]}."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--train-lm", type=Path, required=True, help="the program")
    parser.add_argument("--out", type=Path, required=True, help="folder for runs and trainer.json")
    parser.add_argument("--page", type=Path, required=True, help="docs/peers.md")
    parser.add_argument("--text", type=Path, default=Path("/usr/share/common-licenses"))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--patience", type=float, default=600, help="seconds for repeated runs")
    options = parser.parse_args()
    if options.steps <= FIRST_STEPS:
        parser.error(f"--steps must be more than {FIRST_STEPS}, got {options.steps}")

    options.out.mkdir(parents=True, exist_ok=True)
    text = options.out / "text.txt"
    text.write_bytes(read_text(options.text) if options.text.is_dir() else options.text.read_bytes())
    train_lm = TrainLm(options, text)
    start = train_lm.start()
    threads = str(options.threads)
    command = [sys.executable, "-W", "ignore", str(HERE / "trainer_peer.py")]
    command += [f"--checkpoint={start}", f"--text={text}", f"--threads={threads}"]
    contenders = {"train_lm": Contender(train_lm.run, seconds_of_children)}
    torch = Peer("torch", command, options.threads, KEEP_MEMORY)
    for training in ("eager", "compiled"):
        ask(torch, training, 2)  # compiles
        contenders[training] = of_torch(torch, training, options.steps)
    deadline = time.monotonic() + options.patience
    config = Checkpoint(start).config
    characters = config["context"] * config["batch"]
    repeated = 0
    for number in range(options.rounds):
        of_round: dict[str, Run] = {}
        for name, contender in contenders.items():
            run, disturbed = undisturbed(contender, deadline)
            repeated += disturbed
            if run is None:
                break
            of_round[name] = run
        if len(of_round) < len(contenders):
            print(f"   round {number + 1}: other programs work; no more rounds", flush=True)
            break
        for name, run in of_round.items():
            contenders[name].runs.append(run)
        shown = ", ".join(
            f"{name} {c.speeds(characters)[-1] / 1e3:.1f}" for name, c in contenders.items()
        )
        print(f"   round {number + 1}: {shown} thousand characters a second", flush=True)
    torch.close()
    print(f"   {repeated} runs were disturbed, and repeated while there was time")
    ours = contenders["train_lm"].runs
    if not ours:
        print("error: no round was undisturbed; measure on an idle machine", file=sys.stderr)
        return 1
    document = {
        "machine": family_and_model(),
        "date": datetime.date.today().isoformat(),
        "torch": torch.hello["version"].split("+")[0],
        "threads": options.threads,
        "steps": options.steps,
        "config": config,
        "repeated": repeated,
        "speeds": {name: c.speeds(characters) for name, c in contenders.items()},
        "losses": {name: c.runs[-1].losses for name, c in contenders.items()},
        "difference": max(
            largest_difference(ours[0].losses, run.losses)
            for c in contenders.values()
            for run in c.runs
        ),
        "table": sorted(ours, key=Run.step)[len(ours) // 2].table,
    }
    (options.out / "trainer.json").write_text(json.dumps(document, indent=1) + "\n")
    print(section(document))
    if document["difference"] > LOSS_LIMIT:
        print(
            f"error: the losses must agree to {LOSS_LIMIT} bits, got {document['difference']}",
            file=sys.stderr,
        )
        return 1
    options.page.write_text(replace_section(options.page.read_text(), section(document)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
