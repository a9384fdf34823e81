# SPDX-License-Identifier: Apache-2.0
"""No copies, no leaks: addresses, reference counts and memory."""

from __future__ import annotations

import gc
import sys
import tracemalloc

import numpy as np
import pytest
from leaks import resident

import eigen_rope as er

SHAPE = (1, 64, 4, 64)
CACHE = er.Cache(er.Frequencies(er.Powers(64)), er.Positions.range(0, 64))


class Exporter:
    """An array that is known by DLPack alone, and counts how often it is asked for."""

    def __init__(self, array):
        self.array = array
        self.exports = 0

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **arguments):
        self.exports += 1
        return self.array.__dlpack__(**arguments)


def test_memory_of_others_is_read_and_written_where_it_lies():
    x = np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32)
    expected = er.rotate(x, CACHE, "split_half")
    exporter = Exporter(x)
    assert er.rotate_inplace(exporter, CACHE, "split_half") is exporter
    assert exporter.exports
    np.testing.assert_array_equal(x, expected)  # the exporter's own memory has changed
    out = np.empty_like(x)
    address = out.__array_interface__["data"][0]
    assert er.rotate(Exporter(x), CACHE, "split_half", out=out) is out
    assert out.__array_interface__["data"][0] == address


def test_large_arrays_are_not_copied():
    x = np.ones((1, 64, 512, 64), np.float32)
    view = x[:, :, ::2]
    er.rotate(view, CACHE, "split_half", out=view)
    before = resident()
    tracemalloc.start()
    for _ in range(10):
        er.rotate_inplace(view, CACHE, "split_half")
        er.rotate(view, CACHE, "split_half", out=view)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 * 1024  # bytes; a copy would be 4 MiB
    assert resident() - before < 2 * 1024 * 1024


def test_tables_are_seen_without_a_copy():
    cache = er.Cache(er.Frequencies(er.Powers(256)), er.Positions.range(0, 4096))
    tracemalloc.start()
    cos, sin = cache.cos, cache.sin
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * 1024
    assert sin.__array_interface__["data"][0] - cos.__array_interface__["data"][0] == cos.nbytes


def calls():
    x = np.ones(SHAPE, np.float32)
    dlpack = Exporter(x)
    frequencies = er.Frequencies(er.Powers(64), er.Llama3(factor=8.0, original_context=64))
    growing = er.GrowingCache(frequencies)
    positions = er.Positions.range(0, 64)

    def refuse():
        with pytest.raises(ValueError, match="rope"):
            er.rotate(x[:, :5], CACHE, "split_half", out=x)

    def gradients():
        d = er.gradients(x, CACHE, "split_half", y=x, wanted=["angle", "dx"])
        return d.angle, er.rate_gradients(d, positions)

    return {
        "rotate": lambda: er.rotate(x, CACHE, "split_half"),
        "rotate a view": lambda: er.rotate(x[:, :, ::2], CACHE, er.Pairing("interleaved")),
        "in place by DLPack": lambda: er.rotate_inplace(dlpack, CACHE, "split_half"),
        "a table": lambda: er.Cache(frequencies, positions).cos,
        "rows": lambda: growing.rows(3, 1).sin,
        "gather": lambda: growing.gather(er.Positions.ids([1, 5])),
        "gradients": gradients,
        "scalings": lambda: er.scaling_gradients(er.Powers(64), er.Linear(factor=2.0), np.ones(32)),
        "refused": refuse,
        "frequencies": lambda: er.Frequencies(er.Powers(64), er.Linear(factor=2.0)).rates,
        "a configuration": lambda: (
            er.from_config({"model_type": "llama", "head_dim": 64, "rope_theta": 1e4}, strict=False)
            .layers[0]
            .scaling
        ),
    }


@pytest.mark.parametrize("name", calls())
def test_nothing_leaks_over_ten_thousand_calls(name):
    call = calls()[name]
    for _ in range(200):
        call()
    gc.collect()
    tracemalloc.start()
    blocks, memory = sys.getallocatedblocks(), resident()
    traced, _ = tracemalloc.get_traced_memory()
    for _ in range(10_000):
        call()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - traced
    tracemalloc.stop()
    assert grown < 64 * 1024
    assert sys.getallocatedblocks() - blocks < 1_000
    assert resident() - memory < 4 * 1024 * 1024  # the smallest leak, 64 bytes a call, is 640 KiB


@pytest.mark.parametrize("refused", [False, True])
def test_arguments_are_let_go(refused):
    x, cos = np.ones(SHAPE, np.float32), np.ones((64, 1, 32), np.float32)
    sin = cos[:5] if refused else cos.copy()
    counts = [sys.getrefcount(one) for one in (x, cos, sin)]
    for _ in range(3):
        try:
            er.rotate(x, (cos, sin), "split_half")
        except ValueError:
            assert refused
    assert [sys.getrefcount(one) for one in (x, cos, sin)] == counts
