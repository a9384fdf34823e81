# SPDX-License-Identifier: Apache-2.0
"""What calls leave in memory."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path

CALLS = 10_000


def resident() -> int:
    """Return the bytes of the process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def left_behind(call: Callable[[], object]) -> tuple[int, int]:
    """Return the bytes of the process and of Python that 10,000 calls leave, after a first 500."""
    tracemalloc.start()
    for _ in range(500):
        call()
    gc.collect()
    process, python = resident(), tracemalloc.get_traced_memory()[0]
    for _ in range(CALLS):
        call()
    gc.collect()
    grown = resident() - process, tracemalloc.get_traced_memory()[0] - python
    tracemalloc.stop()
    return grown
