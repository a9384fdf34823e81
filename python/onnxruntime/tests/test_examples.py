# SPDX-License-Identifier: Apache-2.0
"""The program in C++, and every block of Python in the page and the README, run as they stand."""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest

import calls
import eigen_rope_onnxruntime

FOLDER = Path(__file__).parents[1]
PAGES = [FOLDER / "README.md", FOLDER.parents[1] / "docs" / "onnxruntime.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S))
    assert code.count("import eigen_rope_onnxruntime") >= 1
    exec(compile(code, str(page), "exec"), {"__name__": page.name})


def test_a_program_in_cpp(tmp_path):
    """Compiled with ONNX Runtime's headers and linked with the library of the wheel."""
    include = os.environ["EIGEN_ROPE_ONNXRUNTIME_INCLUDE"]
    library = next((Path(ort.__file__).parent / "capi").glob("libonnxruntime.so*"))
    (tmp_path / "libonnxruntime.so.1").symlink_to(library)
    program = tmp_path / "register"
    source = FOLDER / "examples" / "register.cpp"
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-isystem", include]
    subprocess.run([*command, source, library, f"-Wl,-rpath,{tmp_path}", "-o", program], check=True)
    x = np.arange(1, 9, dtype=np.float32).reshape(1, 1, 1, 8)
    table = np.zeros((1, 1, 4), np.float32)
    call = calls.Call("RotaryEmbedding", {"x": x, "cos": table, "sin": table + 1})
    model = tmp_path / "model.onnx"
    model.write_bytes(call.model())

    def run(path):
        return subprocess.run([program, path, model], capture_output=True, text=True)

    done = run(eigen_rope_onnxruntime.get_library_path())
    assert done.stdout == "-5 -6 -7 -8 1 2 3 4\n", done.stderr
    assert done.returncode == 0
    call.attributes["interleaved"] = 2
    model.write_bytes(call.model())
    refused = run(eigen_rope_onnxruntime.get_library_path())
    assert refused.returncode == 1
    assert refused.stderr.strip().endswith("[rope] interleaved must be 0 or 1, got 2")
