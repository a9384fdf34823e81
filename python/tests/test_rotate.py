# SPDX-License-Identifier: Apache-2.0
"""The rotation against its definition: pairings, windows, axes, types, strides, directions."""

from __future__ import annotations

import definition
import ml_dtypes
import numpy as np
import pytest

import eigen_rope as er

BATCH, TOKENS, HEADS, DIMS = 2, 7, 3, 16
DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


def random(shape, dtype=np.float64, seed=1):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)


def cache_and_table(dims=DIMS, dtype=np.float64, tokens=TOKENS, start=5, m=1.0):
    """Return a cache, and the table it should hold, [tokens, 1, pairs]."""
    frequencies = er.Frequencies(er.Powers(dims, attention_factor=m))
    cache = er.Cache(frequencies, er.Positions.range(start, tokens), dtype=dtype)
    positions = np.arange(start, start + tokens)[:, None]
    return cache, definition.table(positions, definition.rates(dims), m)


@pytest.mark.parametrize("kind", definition.PAIRINGS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_all_pairings_and_types(kind, dtype):
    x = random((BATCH, TOKENS, HEADS, DIMS), dtype)
    cache, (cos, sin) = cache_and_table(
        dtype=np.float32 if np.dtype(dtype).itemsize == 2 else dtype
    )
    y = er.rotate(x, cache, kind)
    assert type(y) is np.ndarray
    assert y.dtype == x.dtype
    assert y.shape == x.shape
    definition.assert_close(y, definition.rotate(x, cos, sin, kind), 2)
    dx = er.rotate_backward(x, cache, kind)
    definition.assert_close(dx, definition.rotate_backward(x, cos, sin, kind), 2)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_tables_of_16_bits(dtype):
    x = random((BATCH, TOKENS, HEADS, DIMS), dtype)
    cache, (cos, sin) = cache_and_table(dtype=dtype)
    definition.assert_close(
        er.rotate(x, cache, "interleaved"), definition.rotate(x, cos, sin, "interleaved"), 2
    )


@pytest.mark.parametrize("kind", definition.PAIRINGS)
@pytest.mark.parametrize("m", [1.0, 1.25, -0.5])
def test_the_inverse_gives_x_back(kind, m):
    x = random((BATCH, TOKENS, HEADS, DIMS))
    cache, _ = cache_and_table(m=m)
    y = er.rotate(x, cache, kind)
    definition.assert_close(er.rotate_inverse(y, cache, kind), x, 4)
    definition.assert_close(er.rotate_backward(y, cache, kind), m * m * x.astype("g"), 8)


@pytest.mark.parametrize("kind", definition.PAIRINGS)
@pytest.mark.parametrize("offset", [0, 3])
def test_windows(kind, offset):
    x = random((BATCH, TOKENS, HEADS, DIMS + 5))
    cache, (cos, sin) = cache_and_table()
    pairing = er.Pairing(kind, rotary_dims=DIMS, offset=offset)
    y = er.rotate(x, cache, pairing)
    definition.assert_close(y, definition.rotate(x, cos, sin, kind, offset), 2)
    outside = [i for i in range(DIMS + 5) if not offset <= i < offset + DIMS]
    np.testing.assert_array_equal(y[..., outside], x[..., outside])


@pytest.mark.parametrize("axis", [0, 1, 2, 3, -1, -2, -3, -4])
def test_features_on_any_axis(axis):
    x = random((BATCH, TOKENS, HEADS, DIMS))
    _, (cos, sin) = cache_and_table()
    expected = np.moveaxis(definition.rotate(x, cos, sin, "split_half"), -1, axis)
    moved = np.ascontiguousarray(np.moveaxis(x, -1, axis))
    # The other axes keep their order, so the table does.
    arrays = tuple(np.ascontiguousarray(part.astype(np.float64)) for part in (cos, sin))
    y = er.rotate(moved, arrays, er.Pairing("split_half", axis=axis))
    definition.assert_close(y, expected, 2)


@pytest.mark.parametrize("layout", ["bsnd", "bnsd", "sbnd", "dnsb", "dsnb"])
def test_layouts(layout):
    x = random((BATCH, TOKENS, HEADS, DIMS))
    _, (cos, sin) = cache_and_table()
    order = ["bsnd".index(axis) for axis in layout.replace("n", "n")]
    frequencies = er.Frequencies(er.Powers(DIMS))
    cache = er.Cache(frequencies, er.Positions.range(5, TOKENS), dtype=np.float64, layout=layout)
    pairing = er.Pairing("split_half", axis=layout.index("d") - 4)
    y = er.rotate(np.ascontiguousarray(x.transpose(order)), cache, pairing)
    definition.assert_close(y, definition.rotate(x, cos, sin, "split_half").transpose(order), 2)


STRIDED = {
    "heads before tokens in memory": lambda x: x.transpose(0, 2, 1, 3).copy().transpose(0, 2, 1, 3),
    "every second token": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "tokens backwards": lambda x: x[:, ::-1].copy()[:, ::-1],
    "part of a fused buffer": lambda x: np.concatenate([x, -x, x], axis=2)[:, :, :HEADS],
    "column by column": np.asfortranarray,
    "elements apart": lambda x: np.repeat(x, 3, axis=3)[..., ::3],
}


@pytest.mark.parametrize("make", STRIDED.values(), ids=STRIDED.keys())
@pytest.mark.parametrize("dtype", DTYPES)
def test_strides_as_they_are(make, dtype):
    x = random((BATCH, TOKENS, HEADS, DIMS), dtype)
    table_dtype = np.float32 if np.dtype(dtype).itemsize == 2 else dtype
    cache, (cos, sin) = cache_and_table(dtype=table_dtype)
    strided = make(x)
    expected = definition.rotate(x, cos, sin, "split_half")
    definition.assert_close(er.rotate(strided, cache, "split_half"), expected, 2)
    # In place, where the elements lie.
    base = strided
    while base.base is not None:
        base = base.base
    before = base.copy()
    assert er.rotate_inplace(strided, cache, "split_half") is strided
    definition.assert_close(strided, expected, 2)
    # Nothing else of the memory has changed.
    strided[...] = 0
    after = base.copy()
    base[...] = before
    strided[...] = 0
    np.testing.assert_array_equal(after, base)


def test_repeated_rows_are_read():
    x = np.broadcast_to(random((1, TOKENS, 1, DIMS)), (BATCH, TOKENS, HEADS, DIMS))
    cache, (cos, sin) = cache_and_table()
    y = er.rotate(x, cache, "split_half")
    definition.assert_close(y, definition.rotate(x, cos, sin, "split_half"), 2)


def test_tables_of_arrays():
    x = random((BATCH, TOKENS, HEADS, DIMS))
    _, (cos, sin) = cache_and_table()
    half = tuple(part.astype(np.float64) for part in (cos, sin))
    full = tuple(np.concatenate([part, part], axis=-1) for part in half)  # Hugging Face's form
    expected = definition.rotate(x, cos, sin, "split_half")
    definition.assert_close(er.rotate(x, half, "split_half"), expected, 2)
    definition.assert_close(er.rotate(x, list(full), "split_half"), expected, 2)


def test_rows_of_a_growing_cache():
    x = random((BATCH, TOKENS, HEADS, DIMS), np.float32)
    growing = er.GrowingCache(er.Frequencies(er.Powers(DIMS)))
    _, (cos, sin) = cache_and_table()
    rows = growing.rows(5, TOKENS)
    definition.assert_close(
        er.rotate(x, rows, "split_half"), definition.rotate(x, cos, sin, "split_half"), 2
    )


def test_positions_of_each_sequence():
    x = random((BATCH, TOKENS, HEADS, DIMS))
    ids = np.array([np.arange(TOKENS), np.arange(100, 100 + TOKENS)])
    cache = er.Cache(er.Frequencies(er.Powers(DIMS)), er.Positions.ids(ids), dtype=np.float64)
    cos, sin = definition.table(ids[:, :, None], definition.rates(DIMS))
    definition.assert_close(
        er.rotate(x, cache, "interleaved"), definition.rotate(x, cos, sin, "interleaved"), 2
    )


@pytest.mark.parametrize("shape", [(0, 4, 2, 16), (2, 0, 2, 16), (2, 4, 0, 16)])
def test_nothing_to_rotate(shape):
    cache = er.Cache(er.Frequencies(er.Powers(16)), er.Positions.range(0, shape[1]))
    assert er.rotate(np.empty(shape, np.float32), cache, "split_half").shape == shape


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_change_no_bit(threads):
    x = random((4, 512, 8, 64), np.float32)
    cache, _ = cache_and_table(64, np.float32, 512)
    np.testing.assert_array_equal(
        er.rotate(x, cache, "split_half", threads=threads), er.rotate(x, cache, "split_half")
    )
