# SPDX-License-Identifier: Apache-2.0
"""Values: every pairing, direction, window, axis, rank and scalar against the definition."""

import numpy as np
import pytest
import tensorflow as tf

import eigen_rope_tensorflow as er
import matrices
import recorded

# One rounding of the result and, for 16 bits, of nothing else: tables are float.
EPSILON = {tf.float64: 2e-15, tf.float32: 1e-6, tf.float16: 1e-3, tf.bfloat16: 8e-3}
ASCEND = recorded.index("aclnn/cases.json")
MODES = {
    "half": "split_half",
    "interleave": "interleaved",
    "quarter": "quarter",
    "interleave-half": "interleaved_to_split_half",
}


def assert_is(y, expected):
    error = EPSILON[y.dtype]
    y = tf.cast(y, tf.float64).numpy()
    np.testing.assert_allclose(y, expected, rtol=error, atol=error * np.abs(expected).max())


@pytest.mark.parametrize("pairing", matrices.PAIRINGS)
@pytest.mark.parametrize("direction", ["forward", "backward", "inverse"])
@pytest.mark.parametrize("entries", [4, 8])
def test_turns_pairs_as_defined(random, table, pairing, direction, entries):
    x = tf.constant(random.normal(size=(2, 3, 4, 13)))
    cos, sin = table(3, 1, entries)
    y = er.rotate(x, cos, sin, pairing, direction=direction, rotary_dims=8, offset=2)
    assert_is(y, matrices.rotate(x, cos, sin, pairing, direction, 8, 2))
    whole = er.rotate(x[..., :8], cos, sin, pairing, direction=direction)
    assert_is(whole, matrices.rotate(x[..., :8], cos, sin, pairing, direction))


@pytest.mark.parametrize("case", ASCEND, ids=lambda case: case["name"])
def test_ascend(case):
    """Forward, backward, dcos and dsin of arbitrary tables, one entry for each element."""
    t = {name: tf.constant(value) for name, value in recorded.tensors("aclnn", case).items()}
    pairing = MODES[case["mode_name"]]
    with tf.GradientTape() as tape:
        given = [t["x"], t["cos"], t["sin"]]
        tape.watch(given)
        y = er.rotate(*given, pairing)
    made = dict(zip(("dx", "dcos", "dsin"), tape.gradient(y, given, t["dy"]), strict=True), y=y)
    made = {name: value.numpy().astype(np.float64) for name, value in made.items()}
    t = {name: value.numpy().astype(np.float64) for name, value in t.items()}
    epsilon = np.finfo(y.dtype.as_numpy_dtype).eps
    sizes = 2 * (1 + np.abs(t["cos"]).max() + np.abs(t["sin"]).max())
    for name in ("y", "dx"):
        of = t["x" if name == "y" else "dy"]
        assert np.abs(made[name] - t[name]).max() <= epsilon * sizes * np.abs(of).max(), name
    for name in ("dcos", "dsin"):
        assert made[name].shape == t[name].shape
        size = np.abs(t[name]).max()
        np.testing.assert_allclose(made[name], t[name], rtol=0, atol=2 * epsilon * size)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float16, tf.bfloat16])
def test_rounds_the_result_once(random, table, dtype):
    x = tf.constant(random.normal(size=(5, 2, 64)), dtype)
    cos, sin = table(5, 1, 32, dtype=tf.float32)
    exact = matrices.rotate(tf.cast(x, tf.float64), cos, sin)
    assert_is(er.rotate(x, cos, sin), exact)
    if dtype.size == 2:
        rounded = tf.cast(tf.constant(exact), dtype)
        assert np.mean(er.rotate(x, cos, sin).numpy() == rounded.numpy()) > 0.99


@pytest.mark.parametrize("dtype", list(EPSILON))
def test_tables_of_the_tensors_own_type(random, table, dtype):
    x = tf.constant(random.normal(size=(5, 2, 8)), dtype)
    cos, sin = table(5, 1, 4, dtype=dtype)
    y = er.rotate(x, cos, sin)
    assert y.dtype == dtype
    assert_is(y, matrices.rotate(*(tf.cast(t, tf.float64) for t in (x, cos, sin))))


def along(x, cos, sin, axis, **options):
    """The definition, of rows along any axis of x."""
    cos, sin = (np.asarray(t).reshape((1,) * (x.ndim - t.ndim) + t.shape) for t in (cos, sin))
    moved = matrices.rotate(*(np.moveaxis(t, axis, -1) for t in (x, cos, sin)), **options)
    return np.moveaxis(moved, -1, axis)


def test_any_rank_any_axis_any_broadcast(random):
    """Tensors of one to eight axes, with tables that repeat along any of them."""
    ranks = set()
    for _ in range(300):
        rank = int(random.integers(1, 9))
        axis = int(random.integers(rank))
        shape = random.integers(1, 4 if rank < 6 else 3, size=rank)
        entries = np.where(random.integers(0, 2, size=rank), shape, 1)
        shape[axis] = 2 * random.integers(1, 4)
        entries[axis] = shape[axis] // 2 if random.integers(2) else shape[axis]
        first = int(random.integers(axis + 1))  # the table may lack leading axes
        entries = entries[first:] if (entries[:first] == 1).all() else entries
        x = random.normal(size=shape)
        angle = 0.5 * random.normal(size=entries)
        cos, sin = np.cos(angle), np.sin(angle)
        counted = axis if random.integers(2) else axis - rank
        for direction in ("forward", "backward", "inverse"):
            y = er.rotate(x, cos, sin, direction=direction, axis=counted)
            expected = along(x, cos, sin, axis, direction=direction)
            np.testing.assert_allclose(y, expected, rtol=1e-12, atol=1e-12)
        ranks.add(rank)
    assert ranks == set(range(1, 9))


def test_more_axes_than_eight_where_the_table_treats_some_alike(random, table):
    x = random.normal(size=(2, 1, 2, 1, 3, 2, 1, 2, 1, 2, 8))
    cos, sin = table(3, 1, 1, 1, 1, 1, 4)
    np.testing.assert_allclose(
        er.rotate(x, cos, sin), matrices.rotate(x, cos, sin), rtol=0, atol=1e-14
    )


def test_empty_tensors_stay_empty(table):
    cos, sin = table(1, 1, 4)
    for shape in ((0, 2, 8), (3, 0, 8)):
        assert er.rotate(tf.zeros(shape, tf.float64), cos, sin).shape == shape
    none = tf.zeros((0, 1, 4), tf.float64)
    assert er.rotate(tf.zeros((0, 2, 8), tf.float64), none, none).shape == (0, 2, 8)


def test_inverse_undoes_forward_and_backward_does_not(random, table):
    x = random.normal(size=(3, 2, 8))
    cos, sin = table(3, 1, 4, m=1.25)
    y = er.rotate(x, cos, sin)
    np.testing.assert_allclose(er.rotate_inverse(y, cos, sin), x, atol=1e-14)
    np.testing.assert_allclose(er.rotate_backward(y, cos, sin), 1.25**2 * x, atol=1e-14)


def test_takes_what_tensorflow_takes(random, table):
    x = random.normal(size=(3, 2, 8)).astype(np.float32)
    cos, sin = table(3, 1, 4, dtype=tf.float32)
    y = er.rotate(x, cos, sin).numpy()
    for given in (x.tolist(), tf.Variable(x), tf.constant(x), x[::1]):
        assert (er.rotate(given, cos.numpy(), tf.Variable(sin)).numpy() == y).all()
    assert (
        (er.rotate(x=x, cos=cos, sin=sin, pairing="split_half", name="turned") == y).numpy().all()
    )


def test_memory_that_starts_anywhere(random, table):
    # A slice of the slowest axis shares memory, from an address that no vector likes.
    x = tf.constant(random.normal(size=(5, 3, 6)), tf.float32)
    cos, sin = table(1, 3, dtype=tf.float32)
    for first in range(1, 4):
        assert_is(er.rotate(x[first:], cos, sin), matrices.rotate(x[first:], cos, sin))


def test_reuses_memory_that_nobody_reads(random, table):
    x = tf.constant(random.normal(size=(4, 2, 8)))
    cos, sin = table(4, 1, 4)

    @tf.function
    def turned(x):
        doubled = 2 * x
        first = er.rotate(doubled, cos, sin, rotary_dims=8)
        return er.rotate(3 * x, cos, sin), first, doubled, er.rotate(x, cos, sin), x

    thrice, twice, doubled, once, same = turned(x)
    expected = matrices.rotate(x, cos, sin)
    for made, factor in ((thrice, 3), (twice, 2), (once, 1)):
        np.testing.assert_allclose(made, factor * expected, atol=1e-13)
    assert (doubled == 2 * x).numpy().all()
    assert (same == x).numpy().all()


def test_x_may_be_its_own_table(random):
    x = tf.constant(1 + random.random(size=(3, 4)))
    expected = matrices.rotate(x, x, x)
    np.testing.assert_allclose(er.rotate(x, x, x), expected, atol=1e-14)
    np.testing.assert_allclose(tf.function(er.rotate)(x, x, x), expected, atol=1e-14)


def test_threads_do_not_change_bits(random, table):
    x = tf.constant(random.normal(size=(2, 700, 8, 128)), tf.float32)
    cos, sin = table(700, 1, 64, dtype=tf.float32)
    y = er.rotate(x, cos, sin)
    one_by_one = tf.stack([er.rotate(x[:, t], cos[t], sin[t]) for t in range(700)], 1)
    assert (y == one_by_one).numpy().all()
