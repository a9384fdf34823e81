# SPDX-License-Identifier: Apache-2.0
"""The program that the package carries, and the package as a whole."""

from __future__ import annotations

import importlib.metadata
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import recorded

import eigen_rope as er
from eigen_rope import _core


def run(*arguments, **options):
    command = [sys.executable, "-m", "eigen_rope", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_the_version_is_that_of_the_library():
    header = (recorded.REPOSITORY / "include/eigen_rope/version.hpp").read_text()
    version = ".".join(re.findall(r"VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
    assert er.__version__ == importlib.metadata.version("eigen-rope") == version
    assert run("--version").stdout == f"eigen-rope {version}\n"


def test_the_program_inspects_and_fails_as_itself(tmp_path):
    model = recorded.REPOSITORY / "tests/data/models/hugging_face/llama_3_1.json"
    done = run("inspect", str(model))
    assert done.returncode == 0
    assert "llama3" in done.stdout
    failed = run("inspect", str(tmp_path / "nothing.json"))
    assert failed.returncode == 2
    assert failed.stdout == ""
    assert failed.stderr.count("\n") == 1


def needed(path):
    lines = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True)
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", lines.stdout))


@pytest.mark.parametrize(
    "path", [Path(_core.__file__), Path(er.__file__).parent / "bin/eigen-rope"]
)
def test_nothing_but_the_libraries_of_the_languages_is_needed(path):
    usual = {
        "libc.so.6",
        "libm.so.6",
        "libgcc_s.so.1",
        "libstdc++.so.6",
        "ld-linux-x86-64.so.2",
        "ld-linux-aarch64.so.1",
    }
    assert needed(path) <= usual


def test_the_module_exports_its_beginning_alone():
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", _core.__file__], capture_output=True, text=True, check=True
    ).stdout.split()
    assert symbols[2::3] == ["PyInit__core"]


def test_targets_are_those_of_the_processor():
    flags = set(Path("/proc/cpuinfo").read_text().split())
    expected = ["SCALAR"]
    sse4 = {"sse4_1", "sse4_2", "popcnt", "pclmulqdq", "aes"} <= flags
    avx2 = sse4 and {"avx2", "fma", "bmi1", "bmi2", "f16c", "abm"} <= flags
    avx3 = avx2 and {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= flags
    for name, there in (("SSE4", sse4), ("AVX2", avx2), ("AVX3", avx3)):
        expected = [name] * there + expected
    if "sse2" in flags:
        assert er.kernel_targets() == expected
    assert er.kernel_target() == er.kernel_targets()[0]
    scalar = "import eigen_rope; print(eigen_rope.kernel_target())"
    done = subprocess.run(
        [sys.executable, "-c", scalar],
        capture_output=True,
        text=True,
        env=os.environ | {"EIGEN_ROPE_KERNEL_TARGET": "SCALAR"},
        check=True,
    )
    assert done.stdout == "SCALAR\n"


def test_every_name_is_described():
    for name in er.__all__:
        value = getattr(er, name)
        if name != "__version__":
            assert inspect.getdoc(value), name
        if inspect.isclass(value):
            for member, what in vars(value).items():
                if not member.startswith("_") and (callable(what) or isinstance(what, property)):
                    assert inspect.getdoc(what), f"{name}.{member}"


def test_types_are_described():
    folder = Path(er.__file__).parent
    assert (folder / "py.typed").exists()
    stub = (folder / "_core.pyi").read_text()
    for name in ("class Cache(Table)", "def rows(self, first: int, tokens: int) -> Table"):
        assert name in stub
