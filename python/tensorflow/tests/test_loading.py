# SPDX-License-Identifier: Apache-2.0
"""The shared object: what it shows, and what is said where it does not fit."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tensorflow as tf

import eigen_rope_tensorflow as er

FOLDER = Path(er.__file__).parent
LIBRARY = "libeigen_rope_tensorflow.so"


def imported(folder):
    """What importing the module in `folder` ends with."""
    done = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", "-c", "import eigen_rope_tensorflow"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    return done.returncode, done.stderr.strip().splitlines()[-1]


@pytest.fixture
def copy(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(FOLDER, tmp_path / "eigen_rope_tensorflow", ignore=ignored))


def test_another_version_is_refused(copy):
    built = copy / "_built.py"
    built.write_text(built.read_text().replace(tf.__version__, "2.3.4"))
    code, words = imported(copy.parent)
    assert code != 0
    assert words.startswith(
        "ImportError: [rope] eigen_rope_tensorflow must run with the TensorFlow"
    )
    assert f"2.3.4, got {tf.__version__}" in words
    assert "scripts/build_tensorflow.sh" in words


def test_a_missing_shared_object_is_refused(copy):
    (copy / LIBRARY).unlink()
    code, words = imported(copy.parent)
    assert code != 0
    assert words.startswith("ImportError: [rope] eigen_rope_tensorflow must have its operators")


def test_a_broken_shared_object_is_refused(copy):
    (copy / LIBRARY).write_bytes(b"no object")
    code, words = imported(copy.parent)
    assert code != 0
    assert words.startswith("ImportError: [rope] eigen_rope_tensorflow must fit the TensorFlow")


def test_a_python_without_tensorflow_is_refused(tmp_path):
    """By CMake, before anything is compiled."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    source = Path(__file__).parents[1]
    command = ["cmake", "-S", source, "-B", tmp_path / "build"]
    done = subprocess.run(
        [*command, f"-DPython_EXECUTABLE={tmp_path / 'bare' / 'bin' / 'python'}"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": ""},
    )
    assert done.returncode != 0
    assert "must have TensorFlow 2.18 or newer" in " ".join(done.stderr.split())


def test_a_relative_python_is_refused(tmp_path):
    """Which CMake would pass over for another one."""
    source = Path(__file__).parents[1]
    done = subprocess.run(
        ["cmake", "-S", source, "-B", tmp_path / "build", "-DPython_EXECUTABLE=env/bin/python"],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "must be an absolute path, got env/bin/python" in " ".join(done.stderr.split())


def test_shows_no_symbol():
    shown = subprocess.run(
        ["nm", "-D", "--defined-only", FOLDER / LIBRARY], capture_output=True, text=True, check=True
    )
    assert shown.stdout == ""


def test_needs_tensorflow_and_the_standard_library_alone():
    shown = subprocess.run(
        ["readelf", "-d", FOLDER / LIBRARY], capture_output=True, text=True, check=True
    ).stdout
    needed = {line.split("[")[1].split("]")[0] for line in shown.splitlines() if "NEEDED" in line}
    allowed = ("libtensorflow_framework", "libstdc++", "libm.", "libgcc_s", "libc.", "ld-linux")
    assert needed
    assert all(name.startswith(allowed) for name in needed), needed


def test_works_without_keras(tmp_path):
    """A Keras that cannot be imported takes the layer along, and nothing else."""
    (tmp_path / "keras.py").write_text("raise ImportError('no backend')\n")
    code = """
import eigen_rope_tensorflow as er
print(er.rotate([[1.0, 2.0]], [0.0], [1.0]).numpy().tolist())
try:
    er.RotaryEmbedding
except ImportError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{FOLDER.parent}"},
    )
    assert done.stdout.split("\n")[:2] == ["[[-2.0, 1.0]]", "no backend"], done.stderr


def test_says_what_it_has():
    assert set(er.__all__) <= set(dir(er))
    with pytest.raises(AttributeError, match="has no attribute 'rotat'"):
        er.rotat  # noqa: B018
