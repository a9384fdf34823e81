# SPDX-License-Identifier: Apache-2.0
"""Reads the recorded answers of other systems, tests/data/golden of the repository."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[2]
GOLDEN = REPOSITORY / "tests" / "data" / "golden"


def index(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text())


@functools.cache
def _bytes(path: Path) -> bytes:
    return path.read_bytes()


def tensors(folder: str, case: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return the tensors of a case whose index gives offsets in data.bin, by their names."""
    data = _bytes(GOLDEN / folder / "data.bin")
    return {
        one["name"]: np.frombuffer(
            data, one["dtype"], int(np.prod(one["shape"])), one["offset"]
        ).reshape(one["shape"])
        for one in case["tensors"]
    }


def ggml_array(where: dict[str, Any]) -> np.ndarray:
    """Return an array of ggml's cases."""
    dtype = {"f32": np.float32, "i32": np.int32}[where["dtype"]]
    return np.frombuffer(
        _bytes(GOLDEN / "ggml" / where["file"]), dtype, where["count"], where["offset"]
    )
