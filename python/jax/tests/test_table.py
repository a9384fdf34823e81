# SPDX-License-Identifier: Apache-2.0
"""Tables against mpmath: exact at any position, in every type, mapped and in 32-bit mode."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import eigen_rope
import eigen_rope.jax as er
from eigen_rope.jax import _primitives

POSITIONS = [0, 1, 17, 127_000, 2**31 - 1]


def exact(position, rate, m=1.0):
    """m cos and m sin of a position times a sum of doubles."""
    angle = mpmath.mpf(float(position)) * sum(
        mpmath.mpf(float(term)) for term in np.atleast_1d(rate)
    )
    return mpmath.mpf(m) * mpmath.cos(angle), mpmath.mpf(m) * mpmath.sin(angle)


def assert_rounded_once(made, positions, rates, m=1.0):
    """rates [terms, pairs]."""
    with mpmath.workdps(60):
        for i, position in enumerate(positions):
            for k in range(rates.shape[1]):
                for entries, number in zip(made, exact(position, rates[:, k], m), strict=True):
                    nearest = np.asarray(jnp.asarray(float(number), entries.dtype))
                    allowed = abs(float(nearest)) * 2.0**-50 if nearest.dtype == np.float64 else 0
                    assert abs(float(entries[i, k]) - float(nearest)) <= allowed


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("m", [1.0, 1.25])
def test_entries_are_rounded_once(dtype, m):
    rates = 500_000.0 ** (-np.arange(8) / 8)
    for positions in (np.array(POSITIONS), np.array(POSITIONS, np.float64)):
        made = er.table(rates, positions, attention_factor=m, dtype=dtype)
        assert made[0].dtype == jnp.dtype(dtype)
        assert made[0].shape == (5, 8)
        assert_rounded_once(made, positions, rates[None], m)


def test_types_and_shapes_of_positions():
    rates = np.array([1.0, 0.01])
    expected = er.table(rates, np.array(POSITIONS[:3]))
    for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "float32", "float64"):
        for ours, theirs in zip(
            er.table(rates, jnp.asarray(POSITIONS[:3], dtype)), expected, strict=True
        ):
            assert np.array_equal(ours, theirs)
    for shape in ((), (1,), (2, 3), (0,), (2, 0, 3)):
        cos, sin = er.table(rates, jnp.zeros(shape, jnp.int32))
        assert cos.shape == sin.shape == (*shape, 2)
        assert (cos == 1).all()
        assert (sin == 0).all()
    assert np.array_equal(er.table(rates, 17)[0], expected[0][2])
    far = er.table(rates, np.array([2**40 + 1]), dtype="float64")
    assert_rounded_once(far, [2**40 + 1], rates[None])


def test_rates_of_more_than_a_double():
    high, low = np.array([0.3, 0.001]), np.array([1e-18, -3e-20])
    made = er.table(high, np.array([2**40]), low_rates=low, dtype="float64")
    assert_rounded_once(made, [2**40], np.stack((high, low)))
    assert not np.array_equal(made[0], er.table(high, np.array([2**40]), dtype="float64")[0])


def test_frequencies_of_the_numpy_package():
    scaling = eigen_rope.Yarn(factor=4.0, original_context=4096)
    frequencies = eigen_rope.Frequencies(eigen_rope.Powers(64), scaling)
    made = er.table(frequencies, np.array(POSITIONS))
    cache = eigen_rope.Cache(frequencies, eigen_rope.Positions.ids(POSITIONS), layout="sd")
    assert np.array_equal(made[0], cache.cos)
    assert np.array_equal(made[1], cache.sin)
    with pytest.raises(ValueError, match="must be those of the Frequencies"):
        er.table(frequencies, np.array(POSITIONS), attention_factor=2.0)


@pytest.mark.parametrize("in_axes", [(0, None), (None, 0), (0, 0), (1, 1), (None, 2), (1, 0)])
def test_vmap(rng, in_axes):
    shapes = [[4], [2, 3]]
    for shape, axis in zip(shapes, in_axes, strict=True):
        if axis is not None:
            shape.insert(axis, 5)
    rates, positions = (jnp.asarray(rng.uniform(0, 5, shape)) for shape in shapes)
    mapped = jax.vmap(er.table, in_axes)(rates, positions)
    derived = jax.vmap(jax.grad(lambda *t: sum(e.sum() for e in er.table(*t)), (0, 1)), in_axes)
    of_rates, of_positions = derived(rates, positions)
    for i in range(5):
        one = [
            t if axis is None else jnp.take(t, i, axis)
            for t, axis in zip((rates, positions), in_axes, strict=True)
        ]
        for ours, theirs in zip(mapped, er.table(*one), strict=True):
            assert np.array_equal(ours[i], theirs)
        angle = np.asarray(one[1])[..., None] * np.asarray(one[0])
        slope = np.cos(angle) - np.sin(angle)
        np.testing.assert_allclose(
            of_rates[i], (slope * np.asarray(one[1])[..., None]).sum((0, 1)), 1e-5, 1e-5
        )
        np.testing.assert_allclose(
            of_positions[i], (slope * np.asarray(one[0])).sum(-1), 1e-5, 1e-5
        )


def test_vmap_twice(rng):
    rates, positions = rng.uniform(0, 1, (2, 3, 4)), rng.uniform(0, 9, (3, 6))
    for outer, inner in (((0, None), (0, 0)), ((0, None), (0, None)), ((1, 0), (0, None))):
        made = jax.vmap(jax.vmap(er.table, inner), outer)(rates, positions)

        def by_numpy(r, p):
            return np.cos(np.multiply.outer(p, r))

        def item(t, axis, i):
            return t if axis is None else np.take(t, i, axis)

        for i in range(made[0].shape[0]):
            for j in range(made[0].shape[1]):
                r, p = (
                    item(item(t, a, i), b, j)
                    for t, a, b in zip((rates, positions), outer, inner, strict=True)
                )
                np.testing.assert_allclose(made[0][i, j], by_numpy(r, p), 1e-6, 1e-6)


def test_tables_of_other_devices_are_made_on_the_host():
    """What a GPU calls back: the same bits."""
    rates = np.stack([np.array([[0.3, 0.001]]), np.array([[1e-18, 0.0]])])
    for positions in (np.arange(6).reshape(1, 2, 3), np.array([[0.5, 1e6]])):
        params = {"attention_factor": 1.25, "dtype": jnp.dtype("float32")}
        ours = _primitives.table_on_host(rates, positions, **params)
        for a, b in zip(ours, _primitives.table(rates, positions, **params), strict=True):
            assert a.shape == b.shape
            assert np.array_equal(a, b)


WITHOUT_X64 = """
import warnings
warnings.simplefilter("error")
import jax, jax.numpy as jnp, numpy as np, eigen_rope.jax as er
assert not jax.config.jax_enable_x64
rates = 500_000.0 ** (-np.arange(8) / 8)
cos, sin = er.table(rates, jnp.array([0, 1, 127_000]))
assert cos.dtype == jnp.float32
angle = np.array([0, 1, 127_000])[:, None] * rates  # in double: off by 2^-36 at most
assert np.abs(np.asarray(cos, np.float64) - np.cos(angle)).max() <= 2.0**-25 + 1e-10
assert np.abs(np.asarray(sin, np.float64) - np.sin(angle)).max() <= 2.0**-25 + 1e-10
x = jnp.ones((3, 2, 16))
y = er.rotate(x, cos[:, None], sin[:, None])
assert np.abs(np.square(y).sum(-1) - 16).max() < 1e-5
of_rates = jax.grad(lambda r: er.rotate(x, *(t[:, None] for t in er.table(r, jnp.arange(3)))).sum())
slope = of_rates(jnp.asarray(rates, jnp.float32))
p, c, s = np.arange(3)[:, None], *(f(np.arange(3)[:, None] * rates) for f in (np.cos, np.sin))
assert np.abs(slope - 2 * (p * (-2 * s)).sum(0)).max() < 1e-4
for call, words in (
    (lambda: er.table(rates, jnp.arange(3), dtype="float64"), "must come with jax_enable_x64"),
    (lambda: er.table(rates, np.array([2**40])), "must fit int32 without jax_enable_x64"),
):
    try:
        call()
    except (TypeError, ValueError) as error:
        assert str(error).startswith("[rope] ") and words in str(error), error
    else:
        raise AssertionError(words)
# A table of numpy in double becomes float, as every array of numpy does in JAX.
t = np.cos(np.ones((3, 1, 8)))
assert er.rotate(x, t, t).dtype == jnp.float32
"""


def test_without_x64():
    subprocess.run([sys.executable, "-P", "-c", WITHOUT_X64], check=True)
