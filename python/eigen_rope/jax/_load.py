# SPDX-License-Identifier: Apache-2.0
"""Looks for JAX and the compiled handlers, and registers them with XLA."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import eigen_rope

HANDLERS = ("eigen_rope_jax_rotate", "eigen_rope_jax_table_gradient", "eigen_rope_jax_table")
OLDEST = (0, 5)


def _library() -> Path:
    # An editable install keeps the compiled part elsewhere.
    folders = [Path(__file__).parent, *(Path(p) / "jax" for p in eigen_rope.__path__)]
    for folder in folders:
        library = folder / "libeigen_rope_jax.so"
        if library.exists():
            return library
    raise ImportError(
        "[rope] eigen_rope.jax must be compiled where jaxlib is installed, got a package without "
        "it: run pip install --force-reinstall --no-deps ./python beside jax"
    )


def require_jax() -> None:
    try:
        import jax
    except ImportError as error:
        raise ImportError(
            "[rope] eigen_rope.jax must find jax 0.5 or newer, got none: run pip install jax, and "
            "then pip install --force-reinstall --no-deps ./python"
        ) from error
    version = tuple(int(part) for part in jax.__version__.split(".")[:2])
    if version < OLDEST:
        raise ImportError(
            f"[rope] eigen_rope.jax must find jax 0.5 or newer, got {jax.__version__}"
        )


def _interface(include: str) -> tuple[int, int]:
    """The version of XLA's foreign function interface, by the header that jaxlib has of it."""
    header = (Path(include) / "xla" / "ffi" / "api" / "c_api.h").read_text()
    major, minor = (
        int(number)
        for part in ("MAJOR", "MINOR")
        for number in re.findall(rf"^#define XLA_FFI_API_{part} (\d+)", header, re.MULTILINE)
    )
    return major, minor


def register() -> None:
    import jax

    library = ctypes.CDLL(str(_library()))
    version = _interface(jax.ffi.include_dir())
    if not library.eigen_rope_jax_agree(*version):
        raise ImportError(
            f"[rope] jaxlib must have version 0 of XLA's foreign function interface, got "
            f"{'.'.join(map(str, version))}: compile eigen_rope again beside it"
        )
    for name in HANDLERS:
        handler = jax.ffi.pycapsule(getattr(library, name))
        jax.ffi.register_ffi_target(name, handler, platform="cpu")


require_jax()
