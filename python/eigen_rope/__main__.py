# SPDX-License-Identifier: Apache-2.0
"""Runs the program eigen-rope, which the package carries: `python -m eigen_rope inspect MODEL`."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    """Become the program, with the arguments, the streams and the exit code that it has."""
    program = Path(__file__).parent / "bin" / "eigen-rope"
    os.execv(program, ["eigen-rope", *sys.argv[1:]])


if __name__ == "__main__":
    main()
