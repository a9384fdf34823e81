# SPDX-License-Identifier: Apache-2.0
"""Results against the definition in double: pairings, directions, windows, shapes, scalars."""

import jax
import jax.numpy as jnp
import matrices
import numpy as np
import pytest

import eigen_rope
import eigen_rope.jax as er
from eigen_rope.jax import _formula

DIRECTIONS = ("forward", "backward", "inverse")
# Of the largest element: one rounding of the entries and one of the result.
ALLOWED = {"float16": 2.0**-9, "bfloat16": 2.0**-6, "float32": 2.0**-21, "float64": 2.0**-49}


def assert_near(ours, expected, dtype):
    assert ours.dtype == jnp.dtype(dtype)
    assert ours.shape == expected.shape
    difference = np.abs(np.asarray(ours, np.float64) - expected).max(initial=0)
    assert difference <= ALLOWED[dtype] * max(1, np.abs(expected).max(initial=0))


@pytest.mark.parametrize("dtype", ALLOWED)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("pairing", matrices.PAIRINGS)
def test_every_pairing_direction_and_scalar(rng, table, pairing, direction, dtype):
    x = jnp.asarray(rng.standard_normal((2, 3, 4, 16)), dtype)
    cos, sin = (jnp.asarray(t, dtype) for t in table(3, 1, 8))
    y = er.rotate(x, cos, sin, pairing, direction=direction)
    assert_near(y, matrices.rotate(x, cos, sin, pairing, direction), dtype)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("pairing", matrices.PAIRINGS)
@pytest.mark.parametrize("wide", [False, True])
def test_windows_and_tables_with_an_entry_for_each_element(rng, table, pairing, direction, wide):
    x = rng.standard_normal((3, 2, 21))
    cos, sin = table(3, 1, 8)
    if wide:  # entries of the two elements of a pair that differ, with an inverse
        cos, sin = rng.uniform(1, 2, (3, 1, 16)), rng.uniform(-0.5, 0.5, (3, 1, 16))
    window = {"rotary_dims": 16, "offset": 3}
    y = er.rotate(x, cos, sin, pairing, direction=direction, **window)
    assert_near(y, matrices.rotate(x, cos, sin, pairing, direction, **window), "float64")
    assert (y[..., :3] == x[..., :3]).all()
    assert (y[..., 19:] == x[..., 19:]).all()


@pytest.mark.parametrize("axis", [0, 1, 2, 3, -1, -2, -4])
@pytest.mark.parametrize("pairing", matrices.PAIRINGS)
def test_features_on_any_axis(rng, table, axis, pairing):
    shape, entries = [3, 5, 2, 4], [3, 1, 2, 1]
    shape[axis], entries[axis] = 12, 4
    x, (cos, sin) = rng.standard_normal(shape), table(*entries)
    options = {"rotary_dims": 8, "offset": 1, "axis": axis}
    y = er.rotate(x, cos, sin, pairing, **options)
    assert_near(y, matrices.rotate(x, cos, sin, pairing, **options), "float64")


@pytest.mark.parametrize(
    ("shape", "entries"),
    [
        ((8,), (4,)),
        ((8,), (8,)),
        ((3, 2, 2), (3, 1, 1)),
        ((3, 2, 2), (1, 2)),
        ((5, 8), (4,)),
        ((5, 8), (5, 4)),
        ((1, 1, 8), (1, 1, 4)),
        ((2, 3, 4, 8), (1, 3, 1, 4)),
        ((2, 3, 4, 8), (2, 1, 4, 8)),
        ((2, 3, 4, 8), (4, 4)),
        ((0, 3, 8), (3, 4)),
        ((2, 0, 8), (1, 4)),
        ((2, 1, 2, 1, 2, 1, 2, 8), (2, 1, 1, 1, 1, 1, 2, 4)),
        ((2, 3, 1, 2, 2, 1, 2, 1, 2, 2, 4), (3, 1, 2, 2, 1, 2, 1, 2, 2, 2)),
        ((2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 4), (1, 1, 2, 2, 1, 1, 1, 2, 2, 1, 2)),
    ],
)
def test_shapes(rng, table, shape, entries):
    x, (cos, sin) = rng.standard_normal(shape), table(*entries)
    assert_near(er.rotate(x, cos, sin), matrices.rotate(x, cos, sin), "float64")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_table_of_float_with_16_bits_rounds_once(rng, table, dtype, direction):
    x = jnp.asarray(rng.standard_normal((3, 2, 16)), dtype)
    cos, sin = table(3, 1, 8, dtype=np.float32)
    y = er.rotate(x, cos, sin, direction=direction)
    expected = matrices.rotate(x, cos, sin, direction=direction)
    # The nearest number of 16 bits, unless the exact one lies next to the middle of two.
    nearest = jnp.asarray(expected, dtype)
    assert y.dtype == nearest.dtype
    assert (np.asarray(y) != np.asarray(nearest)).mean() <= 0.01


def test_names_of_directions(rng, table):
    x, (cos, sin) = rng.standard_normal((3, 2, 8)), table(3, 1, 4)
    expected = matrices.rotate(x, cos, sin, direction="backward")
    assert_near(er.rotate_backward(x, cos, sin), expected, "float64")
    y = er.rotate(x, cos, sin)
    assert_near(er.rotate_inverse(y, cos, sin), x, "float64")


def test_a_pairing_of_the_numpy_package(rng, table):
    x, (cos, sin) = rng.standard_normal((3, 12, 2)), table(3, 4, 1)
    pairing = eigen_rope.Pairing("interleaved", rotary_dims=8, offset=2, axis=1)
    ours = er.rotate(x, cos, sin, pairing)
    assert_near(
        ours,
        matrices.rotate(x, cos, sin, "interleaved", rotary_dims=8, offset=2, axis=1),
        "float64",
    )
    with pytest.raises(ValueError, match="must be those of the Pairing"):
        er.rotate(x, cos, sin, pairing, offset=2)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("pairing", matrices.PAIRINGS)
@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_the_formula_of_other_devices(rng, table, pairing, direction, dtype):
    x = jnp.asarray(rng.standard_normal((3, 21, 2)), dtype)
    for entries in (8, 16):
        cos, sin = (
            jnp.asarray(t, jnp.float32 if dtype == "bfloat16" else dtype)
            for t in table(3, entries, 1)
        )
        window = {"rotary_dims": 16, "offset": 3, "axis": 1}
        expected = matrices.rotate(x, cos, sin, pairing, direction, **window)
        y = _formula.rotate(
            x, cos, sin, pairing=pairing, direction=direction, outside="copy", **window
        )
        assert_near(y, expected, dtype)


def test_results_do_not_depend_on_threads(rng, table):
    # More than 512 KiB, so that it is split among the threads of XLA.
    x = rng.standard_normal((1, 1024, 4, 128)).astype(np.float32)
    cos, sin = table(1024, 1, 64, dtype=np.float32)
    whole = er.rotate(x, cos, sin)
    for token in (0, 511, 512, 1023):
        part = slice(token, token + 1)
        alone = er.rotate(x[:, part], cos[part], sin[part])
        assert np.array_equal(alone, whole[:, part])


def test_many_calls_at_once_do_not_wait_for_each_other(rng, table):
    # Handlers run on the threads that they share their work with.
    x = rng.standard_normal((16, 512, 2, 128)).astype(np.float32)
    cos, sin = table(512, 1, 64, dtype=np.float32)

    @jax.jit
    def many(x):
        return [er.rotate(row, cos, sin) for row in x]

    expected = np.asarray(er.rotate(x, cos, sin))
    for _ in range(20):
        assert np.array_equal(np.stack(many(x)), expected)
