# SPDX-License-Identifier: Apache-2.0
"""Rotary position embedding for ONNX Runtime on the CPU: RotaryEmbedding for all four scalars."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["get_library_path", "register"]

_REPLACE = "custom_op.eigen_rope.replace"


def get_library_path() -> str:
    """Returns the path of the library that `SessionOptions.register_custom_ops_library` takes."""
    return str(Path(__file__).parent / "libeigen_rope_onnxruntime.so")


def register(options: Any, replace: Iterable[str] = ()) -> None:
    """Adds the operators of the domain `eigen_rope` to an `onnxruntime.SessionOptions`.

    `replace` lists the domains whose RotaryEmbedding they take the place of in sessions that are
    made with these options: "ai.onnx", "com.microsoft" or both.
    """
    domains = (replace,) if isinstance(replace, str) else tuple(replace)
    if domains:
        options.add_session_config_entry(_REPLACE, ",".join(domains))
    options.register_custom_ops_library(get_library_path())
