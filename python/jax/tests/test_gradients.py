# SPDX-License-Identifier: Apache-2.0
"""Derivatives: JAX's own checker, and JAX's own derivatives of the formula in jnp."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads
from matrices import PAIRINGS

import eigen_rope.jax as er
from eigen_rope.jax import _formula

DIRECTIONS = ("forward", "backward", "inverse")
OPTIONS = {"rotary_dims": 8, "offset": 1}


def formula(x, cos, sin, pairing="split_half", direction="forward", axis=-1, **window):
    """By operations of jnp alone, which JAX differentiates itself."""
    axis %= x.ndim
    return _formula.rotate(
        x,
        *(t.reshape((1,) * (x.ndim - t.ndim) + t.shape) for t in (cos, sin)),
        pairing=pairing,
        direction=direction,
        rotary_dims=window.get("rotary_dims", x.shape[axis]),
        offset=window.get("offset", 0),
        axis=axis,
        outside="copy",
    )


@pytest.fixture(params=[4, 8], ids=["one for each pair", "one for each element"])
def arguments(request, rng):
    """x, cos and sin that have an inverse, whatever the pairing."""
    entries = (3, 1, request.param)
    return (
        jnp.asarray(rng.standard_normal((2, 3, 2, 10))),
        jnp.asarray(rng.uniform(1, 2, entries)),
        jnp.asarray(rng.uniform(-0.5, 0.5, entries)),
    )


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_checker_of_jax(arguments, pairing, direction):
    def turned(x, cos, sin):
        return er.rotate(x, cos, sin, pairing, direction=direction, **OPTIONS)

    check_grads(turned, arguments, order=2, modes=["fwd", "rev"], rtol=1e-4)


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    "wanted", [w for n in (1, 2, 3) for w in itertools.combinations(range(3), n)], ids=str
)
def test_each_operand_has_its_gradient(arguments, pairing, direction, wanted):
    def loss(function):
        return lambda *t: (function(*t, pairing, direction=direction, **OPTIONS) ** 3).sum()

    ours = jax.grad(loss(er.rotate), wanted)(*arguments)
    theirs = jax.grad(loss(formula), wanted)(*arguments)
    for a, b in zip(ours, theirs, strict=True):
        assert np.abs(b).max() > 1e-3
        np.testing.assert_allclose(a, b, 1e-12, 1e-12)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    "wanted", [w for n in (1, 2, 3) for w in itertools.combinations(range(3), n)], ids=str
)
def test_each_operand_has_its_tangent(rng, arguments, direction, wanted):
    tangents = [jnp.asarray(rng.standard_normal(arguments[i].shape)) for i in wanted]

    def along(function):
        def of_wanted(*t):
            operands = list(arguments)
            for i, value in zip(wanted, t, strict=True):
                operands[i] = value
            return function(*operands, direction=direction, **OPTIONS)

        return jax.jvp(of_wanted, [arguments[i] for i in wanted], tangents)

    for a, b in zip(along(er.rotate), along(formula), strict=True):
        assert np.abs(b).max() > 1e-3
        np.testing.assert_allclose(a, b, 1e-12, 1e-12)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_hessians(arguments, direction):
    def loss(function):
        return lambda t: (function(*t, direction=direction, **OPTIONS) ** 3).sum()

    small = (arguments[0][:1, :, :1], *arguments[1:])
    ours, theirs = (jax.hessian(loss(f))(small) for f in (er.rotate, formula))
    for row, expected in zip(ours, theirs, strict=True):
        for a, b in zip(row, expected, strict=True):
            assert np.abs(b).max() > 1e-3
            np.testing.assert_allclose(a, b, 1e-11, 1e-11)
    for other in (jax.jacfwd(jax.jacfwd(loss(er.rotate))), jax.jacrev(jax.jacrev(loss(er.rotate)))):
        for row, expected in zip(other(small), theirs, strict=True):
            for a, b in zip(row, expected, strict=True):
                np.testing.assert_allclose(a, b, 1e-11, 1e-11)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_features_on_any_axis(rng, axis):
    shape, entries = [3, 5, 2], [3, 1, 2]
    shape[axis], entries[axis] = 8, 4
    operands = rng.standard_normal(shape), *(rng.standard_normal(entries) for _ in range(2))

    def loss(function):
        return lambda *t: (function(*t, axis=axis) ** 3).sum()

    ours = jax.grad(loss(er.rotate), (0, 1, 2))(*operands)
    for a, b in zip(ours, jax.grad(loss(formula), (0, 1, 2))(*operands), strict=True):
        np.testing.assert_allclose(a, b, 1e-12, 1e-12)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("table_dtype", ["the same", "float32"])
def test_other_scalars(rng, table, dtype, table_dtype):
    x = jnp.asarray(rng.standard_normal((2, 5, 3, 8)), dtype)
    of_table = dtype if table_dtype == "the same" else table_dtype
    cos, sin = (jnp.asarray(t, of_table) for t in table(5, 1, 4))
    g = jnp.asarray(rng.standard_normal(x.shape), dtype)
    _, vjp = jax.vjp(er.rotate, x, cos, sin)
    wide = [t.astype(jnp.float64) for t in (x, cos, sin)]
    _, exact = jax.vjp(formula, *wide)
    for ours, theirs, of in zip(vjp(g), exact(g.astype(jnp.float64)), (x, cos, sin), strict=True):
        assert ours.dtype == of.dtype
        # Sums of six products are rounded once to the table's type.
        epsilon = 2.0 ** -{"float16": 10, "bfloat16": 7, "float32": 22}[str(ours.dtype)]
        np.testing.assert_allclose(
            ours.astype(jnp.float64), theirs, epsilon, epsilon * np.abs(theirs).max()
        )


def test_linear_functions_are_transposed(arguments):
    x, cos, sin = arguments
    g = jnp.ones_like(x)
    for i in range(3):
        operands = list(arguments)

        def of_one(t, i=i, operands=operands, function=er.rotate):
            return function(*operands[:i], t, *operands[i + 1 :], **OPTIONS)

        if i > 0:
            operands[3 - i] = jnp.zeros_like(cos)  # affine otherwise
        (ours,) = jax.linear_transpose(of_one, arguments[i])(g)
        _, vjp = jax.vjp(lambda t, of_one=of_one: of_one(t, function=formula), arguments[i])
        np.testing.assert_allclose(ours, vjp(g)[0], 1e-12, 1e-12)
    value, linear = jax.linearize(lambda t: er.rotate(t, cos, sin, **OPTIONS), x)
    np.testing.assert_allclose(linear(g), formula(g, cos, sin, **OPTIONS), 1e-12, 1e-12)
    np.testing.assert_allclose(value, formula(x, cos, sin, **OPTIONS), 1e-12, 1e-12)


def test_a_gradient_keeps_of_x_what_it_needs(arguments):
    """Backward of x alone keeps no x: what is saved are cos and sin."""
    x, cos, sin = arguments
    _, vjp = jax.vjp(lambda t: er.rotate(t, cos, sin, **OPTIONS), x)
    saved = [leaf for leaf in jax.tree.leaves(vjp) if hasattr(leaf, "shape")]
    assert all(leaf.size <= cos.size for leaf in saved)


def test_tables_checked_by_jax(rng):
    rates, positions = jnp.asarray(rng.uniform(0.1, 1, 4)), jnp.asarray(rng.uniform(0, 5, (2, 3)))
    for arguments, function in (
        ((rates,), lambda r: er.table(r, jnp.arange(6), dtype=jnp.float64)),
        ((positions,), lambda p: er.table(rates, p, attention_factor=1.3, dtype=jnp.float64)),
        ((rates, positions), lambda r, p: er.table(r, p, dtype=jnp.float64)),
    ):
        check_grads(function, arguments, order=2, modes=["fwd", "rev"], rtol=1e-4)


def test_learned_frequencies_and_positions_through_a_rotation(rng):
    x = jnp.asarray(rng.standard_normal((6, 2, 8)))
    rates, positions = jnp.asarray(rng.uniform(0.1, 1, 4)), jnp.asarray(rng.uniform(0, 5, 6))

    def loss(make, turn):
        def of(rates, positions, x):
            cos, sin = make(rates, positions)
            return (turn(x, cos[:, None], sin[:, None]) ** 3).sum()

        return of

    def by_jnp(rates, positions):
        angle = positions[:, None] * rates
        return jnp.cos(angle), jnp.sin(angle)

    ours = loss(lambda r, p: er.table(r, p, dtype=jnp.float64), er.rotate)
    theirs = loss(by_jnp, formula)
    for transform in (lambda f: jax.grad(f, (0, 1, 2)), lambda f: jax.hessian(f, (0, 1))):
        got, expected = (jax.tree.leaves(transform(f)(rates, positions, x)) for f in (ours, theirs))
        for a, b in zip(got, expected, strict=True):
            assert np.abs(b).max() > 1e-3
            np.testing.assert_allclose(a, b, 1e-10, 1e-10)


def test_integers_have_no_gradient_and_stop_none(rng):
    positions = jnp.arange(3)
    rates = jnp.asarray(rng.uniform(0.1, 1, 4))
    _, vjp = jax.vjp(lambda r, p: er.table(r, p, dtype=jnp.float64), rates, positions)
    of_rates, of_positions = vjp((jnp.ones((3, 4)), jnp.ones((3, 4))))
    angle = np.arange(3)[:, None] * np.asarray(rates)
    expected = ((np.cos(angle) - np.sin(angle)) * np.arange(3)[:, None]).sum(0)
    np.testing.assert_allclose(of_rates, expected, 1e-12)
    assert of_positions.dtype == jax.dtypes.float0


def test_gradients_of_a_frozen_table_and_of_a_frozen_x(arguments):
    x, cos, sin = arguments
    frozen = jax.lax.stop_gradient

    def loss(x, cos, sin):
        return (er.rotate(x, frozen(cos), frozen(sin), **OPTIONS) ** 3).sum()

    def formula_loss(x, cos, sin):
        return (formula(x, cos, sin, **OPTIONS) ** 3).sum()

    of_x, of_cos, of_sin = jax.grad(loss, (0, 1, 2))(x, cos, sin)
    np.testing.assert_allclose(of_x, jax.grad(formula_loss)(x, cos, sin), 1e-12, 1e-12)
    assert not of_cos.any()
    assert not of_sin.any()
