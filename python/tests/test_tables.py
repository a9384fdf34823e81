# SPDX-License-Identifier: Apache-2.0
"""Cosines and sines against many digits of them, and where they lie."""

from __future__ import annotations

import definition
import ml_dtypes
import mpmath
import numpy as np
import pytest

import eigen_rope as er

POSITIONS = [0, 1, 17, 4095, 131071, 1_000_003, 2**31 - 1, -5]


def exact(position: float, pair: int, dims: int, base: float) -> tuple[mpmath.mpf, mpmath.mpf]:
    with mpmath.workdps(60):
        angle = position * mpmath.mpf(base) ** (mpmath.mpf(-2 * pair) / dims)
        return mpmath.cos(angle), mpmath.sin(angle)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("base", [10000.0, 500000.0])
def test_entries_are_rounded_once(dtype, base):
    dims = 32
    cache = er.Cache(
        er.Frequencies(er.Powers(dims, base=base)), er.Positions.ids(POSITIONS), dtype=dtype
    )
    cos, sin = cache.cos.reshape(-1, dims // 2), cache.sin.reshape(-1, dims // 2)
    for row, position in enumerate(POSITIONS):
        for pair in range(dims // 2):
            for got, expected in zip((cos, sin), exact(position, pair, dims, base), strict=True):
                value = got[row, pair]
                half_ulp = abs(float(np.spacing(value).astype(np.float64))) / 2
                bound = half_ulp + abs(position) * 2.0**-63
                assert abs(mpmath.mpf(float(value)) - expected) <= bound


def test_fractional_positions_and_magnitude():
    ids, dims, m = [0.5, 2.25, -1.75], 8, 1.5
    cache = er.Cache(
        er.Frequencies(er.Powers(dims, attention_factor=m)),
        er.Positions.ids(ids),
        dtype=np.float64,
        layout="sd",
    )
    cos, sin = definition.table(np.array(ids), definition.rates(dims), m)
    definition.assert_close(cache.cos, cos, 2, 1)
    definition.assert_close(cache.sin, sin, 2, 1)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_arrays_are_the_table_itself(dtype):
    cache = er.Cache(er.Frequencies(er.Powers(8)), er.Positions.range(0, 5), dtype=dtype)
    assert cache.dtype == cache.cos.dtype == cache.sin.dtype == np.dtype(dtype)
    assert cache.shape == cache.cos.shape == (1, 5, 1, 4)
    assert cache.cos.__array_interface__["data"] == cache.cos.__array_interface__["data"]
    assert not cache.cos.flags.writeable
    cos = cache.cos
    expected = cos.copy()
    del cache
    np.testing.assert_array_equal(cos, expected)  # still there


def test_growing_cache_has_the_entries_of_a_cache():
    frequencies = er.Frequencies(er.Powers(16), er.Linear(factor=3.0))
    growing = er.GrowingCache(frequencies, first_tokens=4, layout="sd")
    early = growing.rows(0, 3)
    assert growing.tokens == 4
    growing.reserve(1000)
    assert growing.tokens == 1000
    assert growing.nbytes >= 1000 * 2 * 8 * 4
    expected = er.Cache(frequencies, er.Positions.range(0, 1000), layout="sd")
    np.testing.assert_array_equal(growing.rows(0, 1000).cos, expected.cos)
    np.testing.assert_array_equal(early.sin, expected.sin[:3])
    some = growing.gather(er.Positions.ids([7, 999, 3]))
    np.testing.assert_array_equal(some.cos, expected.cos[[7, 999, 3]])
    rows = growing.rows(40, 2)
    address = rows.cos.__array_interface__["data"][0]
    assert address == growing.rows(40, 2).cos.__array_interface__["data"][0]
    del growing
    np.testing.assert_array_equal(rows.cos, expected.cos[40:42])


def test_frequencies_of_each_sequence():
    scaling = er.DynamicNtkScaling(factor=2.0, original_context=4)
    both = [er.Frequencies(er.Powers(8), scaling, length=length) for length in (3, 9)]
    cache = er.Cache(both, er.Positions.range(0, 5))
    assert cache.shape == (2, 5, 1, 4)
    for batch, one in enumerate(both):
        alone = er.Cache(one, er.Positions.range(0, 5))
        np.testing.assert_array_equal(cache.cos[batch], alone.cos[0])
    assert not np.array_equal(cache.cos[0], cache.cos[1])
