# SPDX-License-Identifier: Apache-2.0
"""Looks for JAX and the compiled handlers, and registers them with XLA."""

from __future__ import annotations

import ctypes
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


def register() -> None:
    import jax

    library = ctypes.CDLL(str(_library()))
    try:
        for name in HANDLERS:
            jax.ffi.register_ffi_target(
                name, jax.ffi.pycapsule(getattr(library, name)), platform="cpu"
            )
    except Exception as error:
        raise ImportError(
            f"[rope] jaxlib {jax.lib.__version__} must take the handlers of eigen_rope.jax, got: "
            f"{str(error).splitlines()[0]}"
        ) from error


require_jax()
