# SPDX-License-Identifier: Apache-2.0
"""Writes GGUF files by Python's gguf package and compares what `eigen-rope inspect` says of them.

    python gguf_test.py ROPE FOLDER

ROPE is the tool, FOLDER where files are written. Exits with 1 at the first file that differs.
"""

import json
import pathlib
import subprocess
import sys

import make_gguf

# Powers, logarithms and their few products, each good to an ulp or so.
TOLERANCE = 64 * sys.float_info.epsilon


def equal(got, expected, place):
    if isinstance(expected, float):
        assert abs(got - expected) <= TOLERANCE * abs(expected), (
            f"{place}: got {got}, expected {expected}"
        )
    elif isinstance(expected, list):
        assert len(got) == len(expected), (
            f"{place}: got {len(got)} entries, expected {len(expected)}"
        )
        for i, (one, other) in enumerate(zip(got, expected)):
            equal(one, other, f"{place}[{i}]")
    elif isinstance(expected, dict):
        for name, value in expected.items():
            assert name in got, f"{place}: {name} is missing"
            equal(got[name], value, f"{place}.{name}")
    else:
        assert got == expected, f"{place}: got {got}, expected {expected}"


def inspected(tool, path, output):
    output.unlink(missing_ok=True)
    run = subprocess.run(
        [tool, "inspect", str(path), "--json", str(output)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, f"{path.name}: exit code {run.returncode}: {run.stderr.strip()}"
    return json.loads(output.read_text())


def check(tool, path, folder):
    expected = json.loads(path.with_suffix(".json").read_text())
    got = inspected(tool, path, folder / "inspected.json")
    for part in expected.pop("warnings"):
        assert any(part in warning for warning in got["warnings"]), (
            f"{path.name}: no warning of {part}"
        )
    equal(got, expected, path.name)


def check_refusal(tool, path, folder):
    """Half a file, as an interrupted download leaves it."""
    cut = folder / "cut.gguf"
    cut.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    run = subprocess.run([tool, "inspect", str(cut)], capture_output=True, text=True, check=False)
    assert run.returncode == 2, f"{cut.name}: exit code {run.returncode}"
    assert "cut.gguf: " in run.stderr, f"{cut.name}: {run.stderr.strip()}"


def main(tool, folder):
    folder.mkdir(parents=True, exist_ok=True)
    paths = make_gguf.write_all(folder)
    for path in paths:
        check(tool, path, folder)
        check_refusal(tool, path, folder)
    print(f"{len(paths)} files passed")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
