# SPDX-License-Identifier: Apache-2.0
"""Gradients against the definition: numeric derivatives of the rotation in long double."""

from __future__ import annotations

import definition
import numpy as np
import pytest

import eigen_rope as er

BATCH, TOKENS, HEADS, DIMS = 2, 4, 3, 8
SHAPE = (BATCH, TOKENS, HEADS, DIMS)
RNG = np.random.default_rng(3)
X, DY = RNG.standard_normal(SHAPE), RNG.standard_normal(SHAPE)
POWERS = er.Powers(DIMS, base=100.0, attention_factor=1.25)
FREQUENCIES = er.Frequencies(POWERS)
POSITIONS = er.Positions.range(2, TOKENS)
PLACES = np.arange(2, 2 + TOKENS)[:, None]


def cache():
    return er.Cache(FREQUENCIES, POSITIONS, dtype=np.float64)


def loss(rates, m, kind, places=PLACES):
    """Return L = sum of dy * rotate(x), in long double, from the definition."""
    cos, sin = definition.table(places, rates, m)
    return (DY * definition.rotate(X, cos, sin, kind)).sum()


def derivative(function, at, step=1e-6):
    """Return df/dat of each element, by central differences of fourth order in long double."""
    at = np.atleast_1d(np.asarray(at, dtype=np.longdouble))
    result = np.empty(at.shape)
    for place in np.ndindex(at.shape):

        def moved(by, place=place):
            to = at.copy()
            to[place] += by
            return function(to)

        near = moved(step) - moved(-step)
        far = moved(2 * step) - moved(-2 * step)
        result[place] = (8 * near - far) / (12 * step)
    return result


def base_rates(base=100.0):
    k = np.arange(DIMS // 2)
    return np.asarray(base, dtype=np.longdouble) ** (-2 * k / np.longdouble(DIMS))


@pytest.mark.parametrize("kind", definition.PAIRINGS)
@pytest.mark.parametrize("given", ["x", "y"])
def test_rates_positions_and_magnitude(kind, given):
    ends = {"x": X, "y": er.rotate(X, cache(), kind)}
    d = er.gradients(
        DY, cache(), kind, **{given: ends[given]}, wanted=["angle", "log_magnitude", "dx"]
    )
    rates, m = base_rates(), 1.25
    np.testing.assert_allclose(
        er.rate_gradients(d, POSITIONS), derivative(lambda r: loss(r, m, kind), rates), 1e-9
    )
    np.testing.assert_allclose(
        er.position_gradients(d, FREQUENCIES, POSITIONS),
        derivative(lambda p: loss(rates, m, kind, p), PLACES).reshape(1, 1, TOKENS),
        1e-9,
    )
    np.testing.assert_allclose(
        er.attention_factor_gradient(d, FREQUENCIES, POSITIONS),
        derivative(lambda one: loss(rates, one[0], kind), m)[0],
        1e-9,
    )
    cos, sin = definition.table(PLACES, rates, m)
    definition.assert_close(d.dx, definition.rotate_backward(DY, cos, sin, kind), 8)


@pytest.mark.parametrize("kind", definition.PAIRINGS)
def test_table(kind):
    d = er.gradients(DY, cache(), kind, x=X, wanted="table")
    cos, sin = (np.array(part) for part in definition.table(PLACES, base_rates(), 1.25))

    def of_cos(entries):
        return (DY * definition.rotate(X, entries, sin, kind)).sum()

    def of_sin(entries):
        return (DY * definition.rotate(X, cos, entries, kind)).sum()

    assert d.cos.shape == cache().shape == (1, TOKENS, 1, DIMS // 2)
    np.testing.assert_allclose(d.cos[0], derivative(of_cos, cos), 1e-9, 1e-9)
    np.testing.assert_allclose(d.sin[0], derivative(of_sin, sin), 1e-9, 1e-9)
    assert d.angle is None
    assert d.dx is None


def test_powers_and_scaling():
    d = er.gradients(DY, cache(), "split_half", x=X, wanted=["angle", "log_magnitude"])
    of_m = er.attention_factor_gradient(d, FREQUENCIES, POSITIONS)
    linear = er.Linear(factor=2.0)
    stretched = er.Cache(er.Frequencies(POWERS, linear), POSITIONS, dtype=np.float64)
    of_stretched = er.gradients(DY, stretched, "split_half", x=X)
    result = er.scaling_gradients(
        POWERS, linear, er.rate_gradients(of_stretched, POSITIONS), attention_factor=of_m
    )
    assert isinstance(result.scaling, er.Linear)
    np.testing.assert_allclose(
        result.powers.base,
        derivative(lambda b: loss(base_rates(b[0]) / 2, 1.25, "split_half"), 100.0, 1e-4)[0],
        1e-8,
    )
    np.testing.assert_allclose(
        result.scaling.factor,
        derivative(lambda f: loss(base_rates() / f[0], 1.25, "split_half"), 2.0)[0],
        1e-8,
    )
    assert result.powers.attention_factor == pytest.approx(of_m)
    alone = er.scaling_gradients(POWERS, None, np.ones(DIMS // 2))
    assert alone.scaling is None


def test_dx_goes_where_it_is_told():
    into = np.empty(SHAPE)
    d = er.gradients(DY, cache(), "quarter", x=X, wanted=(), dx=into)
    assert d.dx is into
    dy = DY.copy()
    again = er.gradients(dy, cache(), "quarter", x=X, dx=dy)
    assert again.dx is dy
    np.testing.assert_array_equal(dy, into)
    np.testing.assert_array_equal(into, er.rotate_backward(DY, cache(), "quarter"))


def test_threads_change_no_bit():
    x = RNG.standard_normal((4, 512, 8, 64), dtype=np.float32)
    table = er.Cache(er.Frequencies(er.Powers(64)), er.Positions.range(0, 512))
    one, many = (
        er.gradients(x, table, "split_half", y=x, wanted=["angle", "dx"], threads=n) for n in (1, 3)
    )
    np.testing.assert_array_equal(one.angle, many.angle)
    np.testing.assert_array_equal(one.dx, many.dx)


def test_arrays_outlive_the_result():
    d = er.gradients(DY, cache(), "split_half", x=X)
    angle = d.angle
    expected = angle.copy()
    del d
    np.testing.assert_array_equal(angle, expected)


REFUSED = {
    "neither x nor y": (dict(), TypeError),
    "both": (dict(x=X, y=X), TypeError),
    "another word": (dict(x=X, wanted="rates"), ValueError),
    "another shape": (dict(x=X[:1]), ValueError),
    "a dx that is read-only": (dict(x=X, dx=np.broadcast_to(X, SHAPE)), ValueError),
    "a dx that overlaps": (dict(x=X, dx=DY[:, ::-1]), ValueError),
}


@pytest.mark.parametrize(("changes", "kind"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(changes, kind):
    before = X.copy(), DY.copy()
    with pytest.raises(kind, match=r"^\[rope\] [^\n]*$"):
        er.gradients(DY, cache(), "split_half", **changes)
    np.testing.assert_array_equal((X, DY), before)


def test_parameters_need_their_gradients():
    d = er.gradients(DY, cache(), "split_half", x=X, wanted="dx")
    with pytest.raises(ValueError, match=r"^\[rope\] "):
        er.rate_gradients(d, POSITIONS)
    with pytest.raises(ValueError, match=r"^\[rope\] "):
        er.attention_factor_gradient(d, FREQUENCIES, POSITIONS)
    with pytest.raises(ValueError, match=r"^\[rope\] "):
        er.scaling_gradients(POWERS, None, [1.0])
