# SPDX-License-Identifier: Apache-2.0
"""10,000 runs leave no memory behind, whether they succeed or are refused, and sessions do not."""

import contextlib
import gc

import numpy as np

import calls
from leaks import resident
from problems import contrib, standard


def grown(call, times):
    """Bytes of the process after so many calls, more than after as many before."""
    for _ in range(times):
        call()
    gc.collect()
    before = resident()
    for _ in range(times):
        call()
    gc.collect()
    return resident() - before


def test_runs():
    for call in (next(standard("float32")), next(contrib("bfloat16"))):
        session = calls.session(call, calls.options(calls.REPLACED))
        arrays = call.arrays()
        # A tensor of 1 KiB a run would be 10 MB, and 100 bytes a run 1 MB.
        assert grown(lambda s=session, a=arrays: calls.run(s, a), 10_000) < 1 << 20


def test_refused_runs():
    call = next(contrib("float32"))
    session = calls.session(call, calls.options(calls.REPLACED))
    bad = call.arrays() | {"ids": np.full((2, 5), 99)}

    def refused():
        with contextlib.suppress(Exception):
            session.run(None, bad)

    assert grown(refused, 10_000) < 1 << 20


def test_sessions():
    call = next(standard("float32"))
    bad = next(contrib("float32"))
    bad.attributes["interleaved"] = 3

    def made():
        calls.session(call, calls.options(calls.REPLACED), "unknown")
        with contextlib.suppress(Exception):
            calls.session(bad, calls.options(calls.REPLACED))

    # ONNX Runtime alone keeps some 2 KB of each session.
    assert grown(made, 600) < 4 << 20
