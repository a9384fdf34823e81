#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the faults of faults.json one at a time and asks the tests they name whether they see them.
scripts/mutate.sh runs it.

A fault is {"name", "file", "old", "new", "why", "tests", "filter"}: `old` occurs exactly once in
`file`; `tests` are files in tests/, the first most likely to see it; `filter`, which may be left
out, is what GoogleTest takes.

usage: run_faults.py (--check | --list | --run BUILD) [--only NAME]... [--jobs N]
"""

import argparse
import collections
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = "tests/mutation/faults.json"
SECONDS_ALLOWED = 120
BYTES_ALLOWED = 8 << 30


def die(message):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(1)


def problems_of(fault):
    """What is wrong with an entry of the list."""
    wanted = {"name": str, "file": str, "old": str, "new": str, "why": str, "tests": list}
    for key, kind in wanted.items():
        if not isinstance(fault.get(key), kind) or not fault[key] and key != "new":
            yield f"'{key}' is missing"
            return
    for key in fault.keys() - wanted.keys() - {"filter"}:
        yield f"'{key}' is no key of a fault"
    path = ROOT / fault["file"]
    if not path.is_file():
        yield f"there is no file {fault['file']}"
    else:
        count = path.read_text().count(fault["old"])
        if count != 1:
            yield f"its old text must occur once in {fault['file']}, got {count} times: {fault['old']}"
    if fault["old"] == fault["new"]:
        yield "old and new text are the same"
    for test in fault["tests"]:
        path = ROOT / "tests" / test
        if not path.is_file():
            yield f"there is no test file tests/{test}"
        elif "<rapidcheck" in path.read_text():
            yield f"tests/{test} draws its cases: what sees a fault must not depend on chance"


def read_faults():
    faults = json.loads((ROOT / LIST).read_text())
    problems = [
        f"{fault.get('name', '?')}: {problem}" for fault in faults for problem in problems_of(fault)
    ]
    names = collections.Counter(fault.get("name") for fault in faults)
    problems += [
        f"{name}: there are {count} of that name" for name, count in names.items() if count > 1
    ]
    if problems:
        die(f"{LIST} does not fit the sources\n  " + "\n  ".join(problems))
    return faults


def copy_tree(to):
    """Brings `to` to the state of the files git knows. What has not changed keeps its time, so that
    it is not built again."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    names = {name for name in os.fsdecode(listed).split("\0") if name and (ROOT / name).is_file()}
    for old in [
        path for path in to.rglob("*") if path.is_file() and str(path.relative_to(to)) not in names
    ]:
        old.unlink()
    for name in names:
        source, target = ROOT / name, to / name
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        shutil.copymode(source, target)


def program(test):
    return str(pathlib.PurePath(test).with_suffix("")).replace("/", "_")


class Builds:
    """The copy of the tree, and what is built of it."""

    def __init__(self, folder, jobs):
        self.tree, self.build, self.logs, self.jobs = (
            folder / "tree",
            folder / "build",
            folder / "logs",
            jobs,
        )
        for path in (self.tree, self.logs):
            path.mkdir(parents=True, exist_ok=True)
        copy_tree(self.tree)

    def run(self, command, log):
        with open(log, "ab") as output:
            return subprocess.run(
                command, stdout=output, stderr=output, stdin=subprocess.DEVNULL
            ).returncode

    def configure(self, tests):
        log = self.logs / "configure.txt"
        log.unlink(missing_ok=True)
        command = [
            "cmake",
            "-S",
            self.tree / "tests/mutation",
            "-B",
            self.build,
            "-G",
            "Ninja",
            "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache",
            "-DCMAKE_BUILD_TYPE=Debug",
            "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -DNDEBUG",
            "-DEIGEN_ROPE_MUTATION_TESTS=" + ";".join(tests),
        ]
        if self.run(command, log) != 0:
            die(f"configuring failed; see {log}")

    def make(self, tests, log):
        """Whether the programs of these tests were built."""
        return (
            self.run(
                [
                    "cmake",
                    "--build",
                    self.build,
                    "-j",
                    str(self.jobs),
                    "--target",
                    *map(program, tests),
                ],
                log,
            )
            == 0
        )

    def failure(self, test, filter_, log):
        """The name of the first test that fails, and None if all pass."""

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (BYTES_ALLOWED, BYTES_ALLOWED))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        command = [
            self.build / "bin" / program(test),
            "--gtest_fail_fast",
            "--gtest_filter=" + filter_,
        ]
        try:
            run = subprocess.run(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                preexec_fn=limit,
                timeout=SECONDS_ALLOWED,
            )
        except subprocess.TimeoutExpired as stopped:
            text, status = (
                (stopped.stdout or b"").decode(errors="replace"),
                f"stopped after {SECONDS_ALLOWED} s",
            )
        else:
            text = run.stdout.decode(errors="replace")
            if run.returncode == 0:
                if "[==========] 0 tests" in text or "Running 0 tests" in text:
                    die(f"no test of {test} has a name like {filter_}")
                return None
            status = (
                f"exit {run.returncode}"
                if run.returncode > 0
                else signal.Signals(-run.returncode).name
            )
        with open(log, "a", encoding="utf-8") as output:
            output.write(text)
        failed = re.search(r"^\[  FAILED  \] ([^\s,]+)", text, re.MULTILINE)
        if failed:
            return failed[1]
        begun = re.findall(r"^\[ RUN      \] (\S+)", text, re.MULTILINE)
        return f"{begun[-1] if begun else program(test)} ({status})"


def make_fault(builds, fault):
    """(verdict, remark) of one fault."""
    path = builds.tree / fault["file"]
    sound = path.read_text()
    log = builds.logs / (fault["name"] + ".txt")
    log.unlink(missing_ok=True)
    path.write_text(sound.replace(fault["old"], fault["new"]))
    try:
        for test in fault["tests"]:
            if not builds.make([test], log):
                return "does not compile", f"see {log}"
            by = builds.failure(test, fault.get("filter", "*"), log)
            if by is not None:
                return "killed", f"by {by}"
        return "SURVIVED", f"{fault['file']}: {fault['why']}"
    finally:
        path.write_text(sound)


def run(faults, folder, jobs):
    builds = Builds(folder, jobs)
    tests = sorted({test for fault in faults for test in fault["tests"]})
    print(f"== building the library and {len(tests)} test programs in {folder}", flush=True)
    builds.configure(sorted({test for fault in read_faults() for test in fault["tests"]}))
    log = builds.logs / "sound.txt"
    log.unlink(missing_ok=True)
    if not builds.make(tests, log):
        die(f"the build without any fault failed; see {log}")
    for test, filter_ in sorted(
        {(test, fault.get("filter", "*")) for fault in faults for test in fault["tests"]}
    ):
        by = builds.failure(test, filter_, log)
        if by is not None:
            die(f"{by} of tests/{test} fails without any fault; see {log}")
    print(f"== making {len(faults)} faults, one at a time", flush=True)
    verdicts = collections.Counter()
    begin = time.monotonic()
    for fault in faults:
        start = time.monotonic()
        verdict, remark = make_fault(builds, fault)
        verdicts[verdict] += 1
        print(
            f"{verdict:9} {time.monotonic() - start:6.1f} s  {fault['name']:34} {remark}",
            flush=True,
        )
    minutes = (time.monotonic() - begin) / 60
    print(
        f"== {len(faults)} faults, {verdicts['killed']} killed, {verdicts['SURVIVED']} survived, "
        f"{verdicts['does not compile']} did not compile; {minutes:.1f} minutes",
        flush=True,
    )
    return 0 if verdicts["killed"] == len(faults) else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--run", type=pathlib.Path, metavar="BUILD")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    faults = read_faults()
    for name in options.only:
        if name not in [fault["name"] for fault in faults]:
            die(f"--only must be the name of a fault (see --list), got '{name}'")
    chosen = [fault for fault in faults if not options.only or fault["name"] in options.only]
    if options.list:
        for fault in chosen:
            print(f"{fault['name']:34} {fault['file']}: {fault['why']}")
    if options.check:
        print(f"== {len(faults)} faults fit the sources")
    if options.run:
        try:
            sys.exit(run(chosen, options.run.resolve(), options.jobs))
        except KeyboardInterrupt:
            die("interrupted")


main()
