# SPDX-License-Identifier: Apache-2.0
"""Models' own descriptions of their rotation."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from eigen_rope import _core


def from_config(source: str | os.PathLike[str] | Any, *, strict: bool = True) -> _core.ModelRope:
    """Read the rotation of a model from its configuration.

    >>> model = from_config("Llama-3.1-8B/config.json")
    >>> layer = model.layers[0]
    >>> cache = Cache(layer.frequencies(model.context), Positions.range(0, 512))

    Args:
        source: the path of a config.json, of the folder that has it, or of a GGUF file; the
            configuration as a dict; or an object of transformers with to_dict().
        strict: whether what transformers or llama.cpp would warn of or overlook is refused. With
            False it is a sentence in ModelRope.warnings.

    Raises:
        ValueError: in one sentence that names the file, the key and the value.
        TypeError: for a source that is none of these.
    """
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if _is_gguf(path):
            return _core.read_gguf(path, strict)
        return _core.read_hugging_face(path, strict)
    if not isinstance(source, dict):
        to_dict = getattr(source, "to_dict", None)
        if not callable(to_dict):
            kind = type(source).__name__
            raise TypeError(
                "[rope] source must be a path, a dict or an object with to_dict(), got " + kind
            )
        source = to_dict()
    # What JSON has no word for, such as a dtype, says nothing of the rotation.
    return _core.parse_hugging_face(json.dumps(source, default=str), strict)


def _is_gguf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"GGUF"
    except OSError:  # the reader has a sentence for it
        return path.suffix == ".gguf"
