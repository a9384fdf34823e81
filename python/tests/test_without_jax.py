# SPDX-License-Identifier: Apache-2.0
"""The package needs no JAX, and eigen_rope.jax says so in one sentence."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import eigen_rope
assert "jax" not in sys.modules
sys.modules["jax"] = None
try:
    import eigen_rope.jax
except ImportError as error:
    print(error)
"""


def test_without_jax():
    ran = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM], check=True, capture_output=True, text=True
    )
    assert ran.stdout.startswith("[rope] eigen_rope.jax must find jax 0.5 or newer, got none: ")
    assert ran.stdout.count("\n") == 1
