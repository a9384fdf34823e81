# SPDX-License-Identifier: Apache-2.0
"""Runs examples/train_lm on several ranks and breaks them: curves of any number of ranks are that of
one, a run that is not one run is refused before its first step, and a rank that is killed, hangs or
has a full disk ends the run with one sentence, the last checkpoint whole.

    python train_lm_ranks_test.py MPIEXEC TRAIN_LM FOLDER [--larger]

MPIEXEC is Open MPI's, TRAIN_LM the program, FOLDER where it writes. With --larger, four ranks share
windows of a larger model for 200 steps, and each of three ranks is killed 20 times, at random
moments, instead of once. Exits with 1 if anything differs.
"""

import argparse
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "peers"))

from trainer_data import Checkpoint  # noqa: E402

# Bits of a loss near 4: the program computes in float, and sums in another order.
CURVE_TOLERANCE = 1e-4
SIZES = ["--layers=2", "--heads=2", "--dim=16", "--context=37", "--batch=4", "--sample=4"]
SECONDS_OF_A_RUN = 300  # four ranks under AddressSanitizer, beside other tests
SECONDS_TO_END = 5.0  # and mpirun's own second before it kills


class Runs:
    def __init__(self, mpiexec: str, program: str, folder: pathlib.Path) -> None:
        self.mpiexec, self.program, self.folder = mpiexec, program, folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.sessions = tempfile.TemporaryDirectory()
        self.text = folder / "text"
        self.text.write_bytes(b"".join(b"line %d of a text for ranks\n" % i for i in range(300)))

    def options(self, out: str, *options: str) -> list[str]:
        """Those of a small run, and more, which replace them."""
        usual = [f"--text={self.text}", f"--out={self.folder / out}", "--no-comparison", *SIZES]
        named = {option.partition("=")[0]: option for option in [*usual, "--threads=1", *options]}
        return list(named.values())

    def start(self) -> list[str]:
        """mpirun with a folder of its own for its files: by default all of a user's share one, which
        the first to end removes while another makes it."""
        session = tempfile.mkdtemp(dir=self.sessions.name)
        return [self.mpiexec, "--mca", "orte_tmpdir_base", session]

    def command(self, ranks: int, *options: str) -> list[str]:
        start = [*self.start(), "-n", str(ranks)] if ranks > 1 else []
        return [*start, self.program, *options]

    def run(self, ranks: int, out: str, *options: str) -> subprocess.CompletedProcess[str]:
        command = self.command(ranks, *self.options(out, *options))
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_OF_A_RUN)

    def checkpoint(self, out: str, name: str = "default") -> Checkpoint:
        return Checkpoint(self.folder / out / f"{name}.safetensors")

    def losses(self, out: str, name: str = "default") -> np.ndarray:
        return self.checkpoint(out, name).tensor("curve.train")


def sentences(stderr: str) -> list[str]:
    """What the program itself said."""
    return [line for line in stderr.splitlines() if line.startswith("train_lm: ")]


def expect_success(result: subprocess.CompletedProcess[str]) -> None:
    assert result.returncode == 0, (result.args, result.stdout, result.stderr)


def expect_refusal(result: subprocess.CompletedProcess[str], *parts: str) -> None:
    said = sentences(result.stderr)
    assert result.returncode != 0, result.args
    assert len(said) == 1, (result.args, result.stderr)
    assert all(part in said[0] for part in parts), (said, parts)
    assert "saved" not in result.stdout, result.stdout


def check_curves(runs: Runs) -> None:
    steps = ["--steps=24"]
    for extra, name in (([], "default"), (["--learn-frequencies"], "default-learned")):
        whole = f"one-{name}"
        expect_success(runs.run(1, whole, "--validate-every=8", *steps, *extra))
        expected = runs.losses(whole, name)
        validation = runs.checkpoint(whole, name).tensor("curve.validation")
        # Four ranks, then two, then one: each goes on from what the others left.
        shared = f"shared-{name}"
        grids = [
            (4, ["--data-parallel=2", "--context-parallel=2", "--stop-at=8", *steps, *extra]),
            (2, ["--context-parallel=2", "--sharding=contiguous", "--stop-at=16", "--resume"]),
            (1, ["--resume"]),
        ]
        for ranks, options in grids:
            expect_success(runs.run(ranks, shared, "--validate-every=8", *options))
        actual = runs.losses(shared, name)
        assert np.abs(actual - expected).max() <= CURVE_TOLERANCE, (actual, expected)
        curve = runs.checkpoint(shared, name).tensor("curve.validation")
        assert np.abs(curve - validation).max() <= CURVE_TOLERANCE, (curve, validation)
        for file in ("losses.csv", "report.txt", "sample.txt"):
            assert (runs.folder / shared / file).exists(), file
        assert not list((runs.folder / shared).glob("*.tmp"))


def at_once(checks: list[Callable[[], None]]) -> None:
    """Runs checks that mostly wait, for mpirun to clear up above all, beside one another."""
    with ThreadPoolExecutor(4) as pool:
        for outcome in [pool.submit(check) for check in checks]:
            outcome.result()


def check_larger_curve(runs: Runs) -> None:
    """200 steps of four ranks that share every window."""
    options = ["--steps=200", "--dim=48", "--heads=4", "--context=129", "--validate-every=200"]
    expect_success(runs.run(1, "larger-one", *options))
    expected = runs.losses("larger-one")
    for sharding in ("contiguous", "zigzag"):
        out = f"larger-{sharding}"
        expect_success(
            runs.run(4, out, "--context-parallel=4", f"--sharding={sharding}", *options)
        )
        difference = np.abs(runs.losses(out) - expected)
        assert len(difference) == 200
        assert difference.max() <= CURVE_TOLERANCE, difference


def check_refusals(runs: Runs) -> None:
    two = ["--context-parallel=2", "--steps=4"]

    def of_two(first: list[str], second: list[str]) -> subprocess.CompletedProcess[str]:
        """The arguments of mpirun and the program for each of two ranks."""
        one = [*runs.start(), "-n", "1", *first]
        return subprocess.run(
            [*one, ":", "-n", "1", *second], capture_output=True, text=True, timeout=60
        )

    def with_options(*options: str) -> list[str]:
        return [runs.program, *runs.options("refused", *two, *options)]

    usual = with_options()
    changed = runs.folder / "another_train_lm"
    shutil.copy(runs.program, changed)
    with changed.open("ab") as file:
        file.write(b"\0")
    for name, text in (("here", b"ab" * 500), ("there", b"ba" * 500)):
        (runs.folder / name).mkdir()
        (runs.folder / name / "text").write_bytes(text)
    local = with_options("--text=text")
    here, there = (["-wdir", str(runs.folder / name), *local] for name in ("here", "there"))

    def refused(ranks: int, options: list[str], *parts: str) -> Callable[[], None]:
        return lambda: expect_refusal(runs.run(ranks, "refused", *options), *parts)

    def differ(first: list[str], second: list[str], *parts: str) -> Callable[[], None]:
        return lambda: expect_refusal(of_two(first, second), *parts)

    at_once(
        [
            refused(1, two, "mpirun -n 2"),
            refused(2, ["--steps=4"], "mpirun started 2 processes"),
            refused(2, ["--data-parallel=2", "--batch=1"], "--batch"),
            refused(2, [*two, "--threads=2"], "a rank has one thread"),
            refused(2, [*two, "--sharding=diagonal"], "--sharding"),
            differ(usual, with_options("--seed=2"), "rank 1 has", "seed", "the first rank has"),
            differ(usual, with_options("--nothing"), "--nothing"),
            differ(with_options("--dim=20"), usual, "rank 1 has", "dim", "20"),
            differ(usual, [str(changed), *usual[1:]], "rank 1", "another program"),
            differ(here, there, "rank 1 has another text"),
        ]
    )
    assert not list((runs.folder / "refused").glob("*.safetensors"))


def rank_of(process: pathlib.Path, program: str) -> int | None:
    """Of a process of the program under mpirun."""
    try:
        if os.readlink(process / "exe") != os.path.realpath(program):
            return None
        environment = (process / "environ").read_bytes()
    except OSError:
        return None
    found = re.search(rb"(?:^|\0)OMPI_COMM_WORLD_RANK=(\d+)", environment)
    return int(found.group(1)) if found else None


def processes(program: str, folder: pathlib.Path) -> dict[int, int]:
    """The process of each rank of the run that writes to the folder."""
    found = {}
    for process in pathlib.Path("/proc").iterdir():
        rank = rank_of(process, program) if process.name.isdigit() else None
        if rank is None:
            continue
        try:
            if str(folder).encode() in (process / "cmdline").read_bytes():
                found[rank] = int(process.name)
        except OSError:
            pass
    return found


def disturbed(
    runs: Runs, out: str, ranks: int, rank: int, disturb: Callable[[int], None], *options: str
) -> tuple[str, str, int, float]:
    """A run that is disturbed at a random moment after its first save: what it printed, its process
    and the seconds it took to end."""
    endless = ["--steps=100000", "--save-every=2", "--validate-every=100000"]
    command = runs.command(ranks, *runs.options(out, *endless, *options))
    output = runs.folder / f"{out}.stdout"
    errors = runs.folder / f"{out}.stderr"
    with output.open("w") as stdout, errors.open("w") as stderr:
        run = subprocess.Popen(command, stdout=stdout, stderr=stderr)
        while "saved" not in output.read_text():
            assert run.poll() is None, errors.read_text()
            time.sleep(0.02)
        time.sleep(random.random() / 2)
        process = processes(runs.program, runs.folder / out)[rank]
        disturb(process)
        begin = time.monotonic()
        run.wait(timeout=60)
        seconds = time.monotonic() - begin
    assert run.returncode != 0
    return output.read_text(), errors.read_text(), process, seconds


def expect_saved(runs: Runs, out: str, stdout: str) -> None:
    """What was reported as saved is there, and the run goes on from it as one that never stopped."""
    reported = max(int(step) for step in re.findall(r"step (\d+) saved", stdout))
    saved = len(runs.losses(out))
    assert saved >= reported, (saved, reported)
    resumed = runs.run(2, out, "--resume", "--data-parallel=2", f"--stop-at={saved + 4}")
    expect_success(resumed)
    steps = ["--steps=100000", f"--stop-at={saved + 4}"]
    expect_success(runs.run(1, f"{out}-unbroken", *steps))
    difference = np.abs(runs.losses(out) - runs.losses(f"{out}-unbroken"))
    # Thousands of steps from one rounding to the next; the ends may lie further apart.
    assert difference[:100].max() <= CURVE_TOLERANCE, difference


def check_kill(runs: Runs, rank: int, number: int) -> None:
    out = f"killed-{rank}-{number:02}"
    stdout, stderr, process, seconds = disturbed(
        runs, out, 3, rank, lambda pid: os.kill(pid, signal.SIGKILL), "--context-parallel=3"
    )
    said = sentences(stderr)
    assert len(said) == 1, stderr
    assert f"rank {rank} (process {process}) is gone" in said[0], stderr
    assert seconds <= SECONDS_TO_END, seconds
    expect_saved(runs, out, stdout)


def check_kills(runs: Runs, kills: int) -> None:
    at_once(
        [lambda r=rank, n=n: check_kill(runs, r, n) for n in range(kills) for rank in range(3)]
    )


def check_hung_rank_of(runs: Runs, grid: str) -> None:
    limit = 2
    out = "hung" + grid
    stdout, stderr, process, seconds = disturbed(
        runs,
        out,
        3,
        1,
        lambda pid: os.kill(pid, signal.SIGSTOP),
        grid,
        f"--rank-timeout={limit}",
    )
    said = sentences(stderr)
    assert len(said) == 1, stderr
    assert f"rank 1 (process {process}), which gives no sign of life" in said[0], stderr
    assert f"has waited {limit} s for" in said[0], stderr
    assert limit - 1 <= seconds <= limit + SECONDS_TO_END, seconds
    expect_saved(runs, out, stdout)


def check_hung_ranks(runs: Runs) -> None:
    grids = ["--context-parallel=3", "--data-parallel=3"]
    at_once([lambda grid=grid: check_hung_rank_of(runs, grid) for grid in grids])


def check_stop(runs: Runs) -> None:
    """A request to stop that one rank gets: all stop after the same step, which is saved."""
    stdout, stderr, _, seconds = disturbed(
        runs, "stopped", 2, 0, lambda pid: os.kill(pid, signal.SIGTERM), "--context-parallel=2"
    )
    assert "stopped; everything is saved" in stdout, (stdout, stderr)
    assert not sentences(stderr), stderr
    assert seconds <= SECONDS_TO_END, seconds
    expect_saved(runs, "stopped", stdout)


def check_full_disk(runs: Runs) -> None:
    def fill(process: int) -> None:
        resource.prlimit(process, resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))

    stdout, stderr, _, seconds = disturbed(runs, "full", 2, 0, fill, "--context-parallel=2")
    said = sentences(stderr)
    assert len(said) == 1, stderr
    assert "is saved and --resume continues from it" in said[0], stderr
    assert seconds <= SECONDS_TO_END, seconds
    assert not list((runs.folder / "full").glob("*.tmp"))
    expect_saved(runs, "full", stdout)


def most_memory(command: list[str]) -> int:
    """KiB of a process that must succeed."""
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(run.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, command
    return usage.ru_maxrss


def check_memory(runs: Runs) -> None:
    """Attention's scores of one head alone would take 256 MiB, and on the way back as much again."""
    text = runs.folder / "long"
    text.write_bytes(b"".join(b"line %d of a long text\n" % i for i in range(6000)))
    sizes = ["--layers=1", "--heads=1", "--dim=8", "--batch=1", "--stop-at=1", f"--text={text}"]
    short, long = (
        most_memory(runs.command(1, *runs.options("long-run", *sizes, f"--context={context}")))
        for context in (128, 8192)
    )
    assert long - short <= 128 * 1024, (short, long)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mpiexec")
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--larger", action="store_true")
    options = parser.parse_args()
    runs = Runs(options.mpiexec, options.program, options.folder)
    checks: dict[str, Callable[[], None]] = {
        "curves": lambda: check_curves(runs),
        "refusals": lambda: check_refusals(runs),
        "memory": lambda: check_memory(runs),
        "stop": lambda: check_stop(runs),
        "hung ranks": lambda: check_hung_ranks(runs),
        "full disk": lambda: check_full_disk(runs),
        "kills": lambda: check_kills(runs, 20 if options.larger else 1),
    }
    if options.larger:
        checks["larger curve"] = lambda: check_larger_curve(runs)
    for name, check in checks.items():
        begin = time.monotonic()
        check()
        print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)


if __name__ == "__main__":
    main()
