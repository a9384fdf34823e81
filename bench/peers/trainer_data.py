# SPDX-License-Identifier: Apache-2.0
"""What examples/train_lm trains with, read without its code: its checkpoints, and the batches that
follow from seed and step (random.hpp, text.hpp, windows.hpp)."""

import json
from pathlib import Path
from typing import Any

import numpy as np

BITS = (1 << 64) - 1
WINDOWS = 2  # the stream of random numbers that windows are drawn from
VALIDATION_SHARE = 0.1


def mix(z: int) -> int:
    """The finaliser of SplitMix64."""
    z = (z + 0x9E3779B97F4A7C15) & BITS
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & BITS
    return z ^ (z >> 31)


def random_bits(seed: int, stream: int, a: int, b: int) -> int:
    return mix(mix(mix(mix(seed) ^ stream) ^ a) ^ b)


class Checkpoint:
    """A safetensors file, and the config in its metadata."""

    def __init__(self, path: Path) -> None:
        content = path.read_bytes()
        length = int.from_bytes(content[:8], "little")
        self.header: dict[str, Any] = json.loads(content[8 : 8 + length])
        self.data = content[8 + length :]
        self.config: dict[str, Any] = json.loads(self.header["__metadata__"]["config"])

    def tensor(self, name: str) -> np.ndarray:
        """A writable copy."""
        entry = self.header[name]
        begin, end = entry["data_offsets"]
        dtype = {"F32": np.float32, "F64": np.float64}[entry["dtype"]]
        return np.frombuffer(self.data[begin:end], dtype=dtype).reshape(entry["shape"]).copy()


class Batches:
    def __init__(self, text: bytes, config: dict[str, Any]) -> None:
        codes = np.full(256, -1, dtype=np.int64)
        occurring = sorted(set(text))
        codes[occurring] = np.arange(len(occurring))
        if len(occurring) != config["vocabulary"]:
            raise ValueError(
                f"the text must have {config['vocabulary']} kinds of characters, got {len(occurring)}"
            )
        self.train = codes[np.frombuffer(text, dtype=np.uint8)]
        self.train = self.train[: len(text) - int(VALIDATION_SHARE * len(text))]
        self.config = config

    def of(self, step: int) -> tuple[np.ndarray, np.ndarray]:
        """Inputs and targets of a step, each [windows, tokens]."""
        tokens = self.config["context"]
        choices = len(self.train) - tokens
        starts = [
            random_bits(self.config["seed"], WINDOWS, step, window) % choices
            for window in range(self.config["batch"])
        ]
        windows = np.stack([self.train[start : start + tokens + 1] for start in starts])
        return windows[:, :-1].copy(), windows[:, 1:].copy()
