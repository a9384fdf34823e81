# SPDX-License-Identifier: Apache-2.0
"""Several threads: the interpreter runs on, a cache is shared, a fork goes on."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import eigen_rope as er

CACHE = er.Cache(er.Frequencies(er.Powers(128)), er.Positions.range(0, 4096))


def long_rotation():
    x = np.zeros((4, 4096, 16, 128), np.float32)
    return lambda: er.rotate_inplace(x, CACHE, "split_half")


def long_gradients():
    x = np.zeros((1, 4096, 16, 128), np.float32)
    return lambda: er.gradients(x, CACHE, "split_half", x=x, wanted=["table", "dx"], dx=x)


def long_table():
    frequencies, positions = er.Frequencies(er.Powers(128)), er.Positions.range(0, 4096)
    return lambda: er.Cache(frequencies, positions, dtype=np.float64)


@pytest.mark.parametrize("make", [long_rotation, long_gradients, long_table])
def test_other_threads_run_meanwhile(make):
    """A thread that holds the interpreter for the whole call would leave no step to another."""
    call = make()
    call()
    steps, running = 0, threading.Event()

    def work():
        running.set()
        while running.is_set():
            call()

    worker = threading.Thread(target=work)
    worker.start()
    running.wait()
    gaps, end = [], time.monotonic() + 0.5
    last = time.monotonic()
    while last < end:
        time.sleep(0)
        now = time.monotonic()
        gaps.append(now - last)
        last = now
        steps += 1
    running.clear()
    worker.join()
    begin = time.monotonic()
    call()
    took = time.monotonic() - begin
    # Without it each step would wait for a call, and there would be 0.5 / took of them.
    assert steps > 4 * (0.5 / took)


def test_a_growing_cache_serves_many_threads():
    frequencies = er.Frequencies(er.Powers(16))
    growing = er.GrowingCache(frequencies, first_tokens=1, layout="sd")
    expected = er.Cache(frequencies, er.Positions.range(0, 512), layout="sd").cos

    def read(seed):
        for first in np.random.default_rng(seed).integers(0, 511, 200).tolist():
            rows = growing.rows(first, 1)
            np.testing.assert_array_equal(rows.cos, expected[first : first + 1])
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(read, range(4)))


def test_results_of_other_threads_are_the_same():
    x = np.random.default_rng(1).standard_normal((1, 256, 4, 128)).astype(np.float32)
    table = (CACHE.cos[:, :256], CACHE.sin[:, :256])
    expected = er.rotate(x, table, "interleaved")
    with ThreadPoolExecutor(4) as pool:
        for y in pool.map(
            lambda n: er.rotate(x, table, "interleaved", threads=1 + n % 3), range(40)
        ):
            np.testing.assert_array_equal(y, expected)


def test_a_child_of_a_fork_rotates_with_threads():
    x = np.ones((1, 4096, 16, 128), np.float32)
    expected = er.rotate(x, CACHE, "split_half", threads=2)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        same = np.array_equal(er.rotate(x, CACHE, "split_half", threads=2), expected)
        os.write(write, b"1" if same else b"0")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 1) == b"1"
