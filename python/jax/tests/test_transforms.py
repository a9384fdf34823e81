# SPDX-License-Identifier: Apache-2.0
"""vmap on any axis of any operand, jit, control flow, donation, export and several devices."""

import itertools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from test_gradients import formula

import eigen_rope.jax as er

SIZES = (5, 3, 2, 8)


def assert_same(ours, theirs):
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, 1e-12, 1e-12)


def stacked(function, in_axes, *operands):
    """What vmap means: the function of each item."""
    size = next(
        t.shape[axis] for t, axis in zip(operands, in_axes, strict=True) if axis is not None
    )
    return jnp.stack(
        [
            function(
                *(
                    t if axis is None else jnp.take(t, i, axis)
                    for t, axis in zip(operands, in_axes, strict=True)
                )
            )
            for i in range(size)
        ]
    )


@pytest.fixture
def operands(rng):
    """operands(in_axes): x, cos and sin with an axis of 4 more where they are mapped."""

    def make(in_axes):
        shapes = [[3, 2, 8], [3, 1, 4], [3, 1, 4]]
        for shape, axis in zip(shapes, in_axes, strict=True):
            if axis is not None:
                shape.insert(axis, 4)
        return [jnp.asarray(rng.standard_normal(shape)) for shape in shapes]

    return make


AXES = [
    *((a, None, None) for a in range(4)),
    *((None, a, a) for a in range(4)),
    (None, 1, 3),
    (None, 0, None),
    (None, None, 2),
    (0, 0, 0),
    (3, 0, 0),
    (1, 2, 2),
    (0, 3, None),
    (2, None, 1),
]


@pytest.mark.parametrize("in_axes", AXES, ids=str)
def test_vmap_on_any_axis_of_any_operand(operands, in_axes):
    given = operands(in_axes)
    for direction in ("forward", "inverse"):
        turn = partial(er.rotate, direction=direction)
        assert_same(jax.vmap(turn, in_axes)(*given), stacked(turn, in_axes, *given))
    turned = jax.vmap(er.rotate, in_axes, out_axes=2)(*given)
    assert_same(turned, jnp.moveaxis(stacked(er.rotate, in_axes, *given), 0, 2))


@pytest.mark.parametrize("in_axes", AXES, ids=str)
def test_derivatives_of_vmap(operands, in_axes):
    given = operands(in_axes)

    def loss(function):
        return lambda *t: (jax.vmap(function, in_axes)(*t) ** 3).sum()

    ours, theirs = (jax.grad(loss(f), (0, 1, 2))(*given) for f in (er.rotate, formula))
    for a, b in zip(ours, theirs, strict=True):
        assert np.abs(b).max() > 1e-3
        assert_same(a, b)
    tangents = [t + 1 for t in given]
    ours, theirs = (jax.jvp(jax.vmap(f, in_axes), given, tangents)[1] for f in (er.rotate, formula))
    assert_same(ours, theirs)


@pytest.mark.parametrize("in_axes", AXES, ids=str)
def test_vmap_of_derivatives(operands, in_axes):
    given = operands(in_axes)

    def loss(function):
        return lambda *t: (function(*t) ** 3).sum()

    ours, theirs = (
        jax.vmap(jax.grad(loss(f), (0, 1, 2)), in_axes)(*given) for f in (er.rotate, formula)
    )
    for a, b in zip(ours, theirs, strict=True):
        assert_same(a, b)


def test_vmap_of_vmap_and_of_one_item(rng):
    x = jnp.asarray(rng.standard_normal((2, 3, 4, 5, 8)))
    cos, sin = (jnp.asarray(rng.standard_normal((5, 4, 4))) for _ in range(2))

    def twice(function):
        return jax.vmap(jax.vmap(function, (1, 1, 1), 2), (1, None, None))

    assert_same(twice(er.rotate)(x, cos, sin), twice(formula)(x, cos, sin))
    one = jax.vmap(er.rotate, (None, 0, 0))(x[0, 0], cos[:1, None, 0], sin[:1, None, 0])
    assert_same(one[0], formula(x[0, 0], cos[:1, 0], sin[:1, 0]))


def test_vmap_copies_nothing(rng):
    """x, and a table that is not mapped, reach the kernel as they are."""
    x = jnp.asarray(rng.standard_normal((16, 7, 2, 64)))
    cos, sin = (jnp.asarray(rng.standard_normal((7, 1, 32))) for _ in range(2))
    for in_axes, given in (
        ((0, None, None), (x, cos, sin)),
        ((2, None, None), (jnp.moveaxis(x, 0, 2), cos, sin)),
        ((None, 0, 0), (x[0], jnp.stack([cos] * 3), jnp.stack([sin] * 3))),
        ((3, None, None), (jnp.moveaxis(x, 0, 3), cos, sin)),
    ):
        out_axes = next(a for a in in_axes if a is not None)
        mapped = jax.jit(jax.vmap(er.rotate, in_axes, out_axes))
        text = mapped.lower(*given).compile().as_text()
        lines = [line.split(" = ")[1] for line in text.splitlines() if " = " in line]
        kinds = {line.split("(")[0].split()[-1] for line in lines if "(" in line}
        assert "custom-call" in kinds
        assert kinds <= {"parameter", "bitcast", "custom-call", "get-tuple-element"}, kinds


def test_control_flow_and_checkpoints(rng, table):
    x = jnp.asarray(rng.standard_normal((6, 3, 8)))
    cos, sin = (jnp.asarray(t) for t in table(6, 1, 4))

    def decode(function, x, cos, sin):
        def step(total, token):
            return total + function(*token).sum(), function(*token)

        return jax.lax.scan(step, 0.0, (x, cos, sin))

    ours = jax.grad(lambda *t: decode(er.rotate, *t)[0] ** 2, (0, 1, 2))(x, cos, sin)
    theirs = jax.grad(lambda *t: decode(formula, *t)[0] ** 2, (0, 1, 2))(x, cos, sin)
    for a, b in zip(ours, theirs, strict=True):
        assert_same(a, b)
    kept = jax.checkpoint(lambda *t: jnp.sin(er.rotate(*t)).sum())
    plain = jax.grad(lambda *t: jnp.sin(formula(*t)).sum(), (0, 1, 2))(x, cos, sin)
    for a, b in zip(jax.grad(kept, (0, 1, 2))(x, cos, sin), plain, strict=True):
        assert_same(a, b)
    turned = jax.lax.fori_loop(0, 3, lambda _, t: er.rotate(t, cos, sin), x)
    assert_same(turned, formula(formula(formula(x, cos, sin), cos, sin), cos, sin))
    either = jax.jit(lambda c, *t: jax.lax.cond(c, er.rotate, er.rotate_backward, *t))
    assert_same(either(False, x, cos, sin), formula(x, cos, sin, direction="backward"))


def test_without_jit(rng, table):
    x, (cos, sin) = jnp.asarray(rng.standard_normal((3, 2, 8))), table(3, 1, 4)
    with jax.disable_jit():
        assert_same(er.rotate(x, cos, sin), formula(x, cos, sin))
        ours = jax.jit(jax.grad(lambda *t: (er.rotate(*t) ** 3).sum(), 1))(x, cos, sin)
    theirs = jax.grad(lambda *t: (formula(*t) ** 3).sum(), 1)(x, jnp.asarray(cos), jnp.asarray(sin))
    assert_same(ours, theirs)


def test_shapes_alone_and_compiling_ahead(table):
    cos, sin = table(3, 1, 4)
    x = jax.ShapeDtypeStruct((2, 3, 4, 8), jnp.float64)
    shape = jax.eval_shape(er.rotate, x, cos, sin)
    assert (shape.shape, shape.dtype) == (x.shape, x.dtype)
    compiled = jax.jit(er.rotate).lower(x, cos, sin).compile()
    ones = jnp.ones(x.shape)
    assert_same(compiled(ones, cos, sin), formula(ones, cos, sin))
    cosines, _ = jax.eval_shape(er.table, jnp.ones(4), jax.ShapeDtypeStruct((5, 2), jnp.int32))
    assert (cosines.shape, cosines.dtype) == ((5, 2, 4), jnp.float32)


def pointer(t):
    return t.unsafe_buffer_pointer()


def test_a_donated_x_is_rotated_in_its_own_memory(rng, table):
    cos, sin = (jnp.asarray(t) for t in table(1, 64, 1, 32))
    turn = jax.jit(partial(er.rotate, donate=True), donate_argnums=0)
    for shape in ((2, 64, 4, 64), (1, 64, 1, 64)):
        x = jnp.asarray(rng.standard_normal(shape))
        expected, address = formula(x, cos, sin), pointer(x)
        y = turn(x, cos, sin)
        assert_same(y, expected)
        assert x.is_deleted()
        assert pointer(y) == address
        assert "copy" not in turn.lower(y, cos, sin).compile().as_text().replace('"copy"', "")


def test_donate_never_changes_what_is_still_needed(rng, table):
    x = jnp.asarray(rng.standard_normal((2, 3, 4, 8)))
    cos, sin = (jnp.asarray(t) for t in table(3, 1, 4))
    before = np.array(x)

    def both(x, cos, sin):
        y = er.rotate(x, cos, sin, donate=True)
        return y, x + y, er.rotate(x, cos, sin, direction="backward", donate=True)

    for run in (both, jax.jit(both)):
        y, sums, back = run(x, cos, sin)
        assert np.array_equal(x, before)
        assert_same(y, formula(x, cos, sin))
        assert_same(sums, x + formula(x, cos, sin))
        assert_same(back, formula(x, cos, sin, direction="backward"))
    ours, theirs = (
        jax.grad(lambda *t, f=f: (f(*t) ** 3).sum(), (0, 1, 2))(x, cos, sin)
        for f in (partial(er.rotate, donate=True), formula)
    )
    for a, b in zip(ours, theirs, strict=True):
        assert_same(a, b)
    mapped = jax.vmap(partial(er.rotate, donate=True), (None, 0, 0))
    tables = jnp.stack([cos, sin]), jnp.stack([sin, cos])
    assert_same(mapped(x, *tables), jax.vmap(formula, (None, 0, 0))(x, *tables))


def test_export_and_reading_it_again(rng, table):
    x = jnp.asarray(rng.standard_normal((2, 3, 4, 8)))
    cos, sin = (jnp.asarray(t) for t in table(3, 1, 4))
    checks = [
        export.DisabledSafetyCheck.custom_call(f"eigen_rope_jax_{name}")
        for name in ("rotate", "table_gradient", "table")
    ]
    with pytest.raises(ValueError, match="eigen_rope_jax_rotate"):
        export.export(jax.jit(er.rotate))(x, cos, sin)
    exported = export.export(jax.jit(er.rotate), disabled_checks=checks)(x, cos, sin)
    again = export.deserialize(exported.serialize(vjp_order=1))
    assert_same(again.call(x, cos, sin), formula(x, cos, sin))
    gradients = jax.grad(lambda *t: (again.call(*t) ** 3).sum(), (0, 1, 2))(x, cos, sin)
    theirs = jax.grad(lambda *t: (formula(*t) ** 3).sum(), (0, 1, 2))(x, cos, sin)
    for a, b in zip(gradients, theirs, strict=True):
        assert_same(a, b)


def test_export_with_lengths_that_change(rng, table):
    checks = [
        export.DisabledSafetyCheck.custom_call(f"eigen_rope_jax_{name}")
        for name in ("rotate", "table")
    ]
    batch, tokens = export.symbolic_shape("batch, tokens")

    def layer(x, rates, positions):
        cos, sin = er.table(rates, positions, dtype=jnp.float64)
        return er.rotate(x, cos[:, None], sin[:, None])

    exported = export.export(jax.jit(layer), disabled_checks=checks)(
        jax.ShapeDtypeStruct((batch, tokens, 2, 8), jnp.float64),
        jax.ShapeDtypeStruct((4,), jnp.float64),
        jax.ShapeDtypeStruct((tokens,), jnp.int32),
    )
    rates = jnp.asarray(rng.uniform(0.1, 1, 4))
    for shape in ((1, 1, 2, 8), (3, 7, 2, 8)):
        x, positions = (
            jnp.asarray(rng.standard_normal(shape)),
            jnp.arange(shape[1], dtype=jnp.int32),
        )
        assert_same(exported.call(x, rates, positions), layer(x, rates, positions))


def test_lowering_for_other_platforms(rng, table):
    """There is a program for them that calls nothing of this package."""
    x = jnp.asarray(rng.standard_normal((2, 3, 4, 8)))
    cos, sin = table(3, 1, 4)

    def loss(x, cos, sin):
        return (er.rotate(x, cos, sin, direction="inverse") ** 3).sum()

    for platform in ("cuda", "tpu"):
        exported = export.export(jax.jit(jax.grad(loss, (0, 1, 2))), platforms=[platform])
        text = exported(x, cos, sin).mlir_module()
        assert "eigen_rope_jax" not in text
        assert "stablehlo.multiply" in text


def shard_map(function, mesh, in_specs, out_specs):
    if hasattr(jax, "shard_map"):
        return jax.shard_map(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs)
    from jax.experimental.shard_map import shard_map as old

    return old(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_rep=False)


def test_two_devices(rng, table):
    x = jnp.asarray(rng.standard_normal((4, 6, 2, 8)))
    cos, sin = (jnp.asarray(t) for t in table(6, 1, 4))
    devices = jax.devices()
    assert len(devices) == 2
    mesh = Mesh(np.array(devices), ("d",))
    expected = formula(x, cos, sin)
    # Batches, which share the table, and tokens, which do not.
    for of_x, of_table in ((P("d"), P()), (P(None, "d"), P("d"))):
        specs = (of_x, of_table, of_table)
        turn = shard_map(er.rotate, mesh, specs, of_x)
        assert_same(jax.jit(turn)(x, cos, sin), expected)
        ours = jax.grad(lambda *t, turn=turn: (turn(*t) ** 3).sum(), (0, 1, 2))(x, cos, sin)
        theirs = jax.grad(lambda *t: (formula(*t) ** 3).sum(), (0, 1, 2))(x, cos, sin)
        for a, b in zip(ours, theirs, strict=True):
            assert_same(a, b)
    spread = jax.device_put(x, NamedSharding(mesh, P("d")))
    assert_same(jax.jit(er.rotate)(spread, cos, sin), expected)
    on_each = jax.pmap(er.rotate, in_axes=(0, None, None))(x[:2], cos, sin)
    assert_same(np.asarray(on_each), np.asarray(expected[:2]))


def test_tables_on_two_devices(rng):
    mesh = Mesh(np.array(jax.devices()), ("d",))
    rates, positions = jnp.asarray(rng.uniform(0.1, 1, 4)), jnp.arange(6)
    make = shard_map(partial(er.table, dtype=jnp.float64), mesh, (P(), P("d")), (P("d"), P("d")))
    for ours, theirs in zip(
        jax.jit(make)(rates, positions), er.table(rates, positions, dtype=jnp.float64), strict=True
    ):
        assert np.array_equal(ours, theirs)


def test_axes_may_be_combined_freely(rng):
    """Every way for x and the table to be mapped twice."""
    x, t = jnp.asarray(rng.standard_normal((3, 2, 8))), jnp.asarray(rng.standard_normal((3, 1, 4)))
    for first, second in itertools.product(((0, None), (None, 0), (0, 0)), repeat=2):
        given = []
        for operand, axes in ((x, (first[0], second[0])), (t, (first[1], second[1]))):
            sizes = [n for n, axis in zip((2, 3), axes, strict=True) if axis is not None]
            given.append(operand + jnp.arange(float(np.prod(sizes))).reshape(*sizes, 1, 1, 1))

        def twice(function, first=first, second=second):
            one = jax.vmap(lambda x, t: function(x, t, t + 1), second)
            return jax.vmap(one, first)

        assert_same(twice(er.rotate)(*given), twice(formula)(*given))
