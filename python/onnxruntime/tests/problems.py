# SPDX-License-Identifier: Apache-2.0
"""Random nodes of every kind: ranks, pairings, windows, position ids, caches."""

import itertools

import numpy as np

from calls import SCALARS, Call

ROWS = 11


def _arrays(random, dtype, x_shape, table_shape):
    angle = random.uniform(-3, 3, table_shape)
    x = random.standard_normal(x_shape).astype(dtype)
    return x, np.cos(angle).astype(dtype), np.sin(angle).astype(dtype)


def _x_shape(rank, batch, heads, sequence, head):
    return (batch, heads, sequence, head) if rank == 4 else (batch, sequence, heads * head)


def standard(scalar, seed=0):
    """ai.onnx RotaryEmbedding, with and without position ids."""
    random = np.random.default_rng(seed)
    for rank, near, rotary, with_ids in itertools.product(
        (3, 4), (0, 1), (0, 6, 16), ("no ids", "ids", "rising")
    ):
        batch, heads, sequence, head = 2, 3, 5, 16
        width = (rotary or head) // 2
        table = (batch, sequence, width) if with_ids == "no ids" else (ROWS, width)
        x, cos, sin = _arrays(
            random, SCALARS[scalar], _x_shape(rank, batch, heads, sequence, head), table
        )
        inputs = {"x": x, "cos": cos, "sin": sin}
        if with_ids == "ids":
            inputs["ids"] = random.integers(0, ROWS, (batch, sequence))
        elif with_ids == "rising":
            inputs["ids"] = 2 + np.arange(sequence)[None].repeat(batch, 0)
        attributes = {"interleaved": near, "rotary_embedding_dim": rotary, "num_heads": heads}
        yield Call("RotaryEmbedding", inputs, "", attributes)


def contrib(scalar, seed=1, scale=1.0):
    """com.microsoft RotaryEmbedding, with ids and with the offset that one id is."""
    random = np.random.default_rng(seed)
    for rank, near, rotary, ids in itertools.product(
        (3, 4), (0, 1), (0, 6), ("ids", "offset", "packed")
    ):
        batch, heads, sequence, head = (1, 2, 14, 16) if ids == "packed" else (2, 2, 5, 16)
        x, cos, sin = _arrays(
            random,
            SCALARS[scalar],
            _x_shape(rank, batch, heads, sequence, head),
            (ROWS, (rotary or head) // 2),
        )
        positions = (
            np.array([4]) if ids == "offset" else random.integers(0, ROWS, (batch, sequence))
        )
        attributes = {
            "interleaved": near,
            "rotary_embedding_dim": rotary,
            "num_heads": heads,
            "is_packed_batching": int(ids == "packed"),
            "scale": scale,
        }
        yield Call(
            "RotaryEmbedding",
            {"x": x, "ids": positions, "cos": cos, "sin": sin},
            "com.microsoft",
            attributes,
        )


def multi_axis(scalar, seed=2, scale=1.0):
    """com.microsoft MRotaryEmbedding."""
    random = np.random.default_rng(seed)
    for rank, near, layout in itertools.product((3, 4), (0, 1), (0, 1)):
        batch, heads, sequence, head = 2, 2, 5, 16
        x, cos, sin = _arrays(
            random,
            SCALARS[scalar],
            _x_shape(rank, batch, heads, sequence, head),
            (ROWS, head // 2),
        )
        attributes = {
            "interleaved": near,
            "num_heads": heads,
            "mrope_section": [4, 2, 2],
            "mrope_layout": layout,
            "scale": scale,
        }
        ids = random.integers(0, ROWS, (3, batch, sequence))
        yield Call(
            "MRotaryEmbedding",
            {"x": x, "ids": ids, "cos": cos, "sin": sin},
            "com.microsoft",
            attributes,
        )


def all_calls(scalar):
    yield from standard(scalar)
    yield from contrib(scalar)
    yield from contrib(scalar, 3, scale=0.5)
    yield from multi_axis(scalar)
    yield from multi_axis(scalar, 4, scale=1.75)
