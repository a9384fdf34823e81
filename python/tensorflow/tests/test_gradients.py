# SPDX-License-Identifier: Apache-2.0
"""Gradients of first and second order, and tangents, against finite differences."""

import numpy as np
import pytest
import tensorflow as tf

import eigen_rope_tensorflow as er
import matrices
from eigen_rope_tensorflow import _library

WIDTHS = {"pairs": 4, "elements": 8}


def inputs(random, table, width):
    return [tf.constant(random.normal(size=(1, 2, 2, 10))), *table(2, 1, width)]


def assert_gradients(function, given):
    """By TensorFlow's own gradient checker."""
    ours, numeric = tf.test.compute_gradient(function, given, delta=1e-4)
    for a, b in zip(ours, numeric, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("pairing", matrices.PAIRINGS)
@pytest.mark.parametrize("direction", ["forward", "backward", "inverse"])
@pytest.mark.parametrize("entries", WIDTHS)
def test_of_x_cos_and_sin(random, table, pairing, direction, entries):
    def turned(x, cos, sin):
        return er.rotate(x, cos, sin, pairing, direction=direction, rotary_dims=8, offset=1)

    given = inputs(random, table, WIDTHS[entries])
    assert_gradients(turned, given)
    seed = tf.constant(random.normal(size=given[0].shape))

    @tf.function
    def first(x, cos, sin):
        with tf.GradientTape() as tape:
            tape.watch((x, cos, sin))
            y = tf.reduce_sum(seed * turned(x, cos, sin) ** 2)
        return tf.concat([tf.reshape(t, (-1,)) for t in tape.gradient(y, (x, cos, sin))], 0)

    assert_gradients(first, given)


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("axis", [1, -2])
def test_along_another_axis(random, table, direction, width, axis):
    x = tf.constant(random.normal(size=(3, 8, 2)))
    cos, sin = table(3, width, 1)
    assert_gradients(
        lambda *t: er.rotate(*t, "quarter", axis=axis, direction=direction), [x, cos, sin]
    )


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("direction", ["forward", "backward", "inverse"])
def test_in_graphs_that_know_no_shapes(random, table, direction, width):
    given = inputs(random, table, width)

    def turned(x, cos, sin):
        return er.rotate(x, cos, sin, direction=direction, offset=2, axis=3)

    def gradients(x, cos, sin):
        with tf.GradientTape() as tape:
            tape.watch((x, cos, sin))
            y = tf.reduce_sum(turned(x, cos, sin) ** 3)
        return tape.gradient(y, (x, cos, sin))

    unknown = tf.function(gradients, input_signature=[tf.TensorSpec(None, tf.float64)] * 3)
    for a, b in zip(unknown(*given), gradients(*given), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16])
def test_sums_of_16_bits_are_rounded_once(dtype):
    # 4096 rows share a table's row: a sum in 16 bits would stop growing at 256 or 2048.
    x = tf.ones((4096, 8), dtype)
    cos, sin = tf.ones(4), tf.zeros(4)
    with tf.GradientTape() as tape:
        tape.watch((cos, sin))
        y = er.rotate(x, cos, sin)
    dcos, dsin = tape.gradient(y, (cos, sin))
    assert dcos.dtype == tf.float32
    assert (dcos.numpy() == 8192).all()
    assert (dsin.numpy() == 0).all()


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_gradient_of_a_broadcast_table_has_its_shape(random, table, dtype):
    x = random.normal(size=(2, 3, 2, 8)).astype(dtype.as_numpy_dtype)
    for shape in ((4,), (3, 1, 4), (1, 1, 4), (2, 1, 2, 4), (3, 2, 8)):
        cos, sin = table(*shape, dtype=dtype)
        with tf.GradientTape() as tape:
            tape.watch((cos, sin))
            y = tf.reduce_sum(er.rotate(x, cos, sin) ** 2)
        dcos, dsin = tape.gradient(y, (cos, sin))
        assert dcos.shape == dsin.shape == shape


def test_gradients_of_empty_tensors_are_zeros(table):
    x = tf.zeros((0, 3, 2, 8), tf.float64)
    cos, sin = table(3, 1, 4)
    with tf.GradientTape() as tape:
        tape.watch((x, cos, sin))
        y = er.rotate(x, cos, sin)
    dx, dcos, dsin = tape.gradient(y, (x, cos, sin))
    assert dx.shape == x.shape
    assert not dcos.numpy().any()
    assert not dsin.numpy().any()


def test_tangents_are_the_derivative(random, table):
    x, cos, sin = inputs(random, table, 4)
    dx, dcos, dsin = (tf.constant(random.normal(size=t.shape)) for t in (x, cos, sin))
    with tf.autodiff.ForwardAccumulator((x, cos, sin), (dx, dcos, dsin)) as accumulator:
        y = er.rotate(x, cos, sin, rotary_dims=8)
    # Bilinear in x and the table, but for what is copied.
    expected = matrices.rotate(dx, cos, sin, rotary_dims=8)
    by_table = matrices.rotate(x, dcos, dsin, rotary_dims=8)
    expected[..., :8] += by_table[..., :8]
    np.testing.assert_allclose(accumulator.jvp(y), expected, atol=1e-13)


def test_hessian_vector_products_forward_over_reverse(random, table):
    x, cos, sin = inputs(random, table, 4)
    v = tf.constant(random.normal(size=cos.shape))

    def gradient(cos):
        with tf.GradientTape() as tape:
            tape.watch(cos)
            y = tf.reduce_sum(er.rotate(x, cos, sin, rotary_dims=8) ** 3)
        return tape.gradient(y, cos)

    with tf.autodiff.ForwardAccumulator(cos, v) as accumulator:
        g = gradient(cos)
    numeric = (gradient(cos + 1e-5 * v) - gradient(cos - 1e-5 * v)) / 2e-5
    np.testing.assert_allclose(accumulator.jvp(g), numeric, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("vectorized", [True, False])
def test_jacobians(random, table, vectorized):
    x = tf.constant(random.normal(size=(2, 2, 8)))
    cos, sin = table(2, 1, 4)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch((x, cos, sin))
        y = er.rotate(x, cos, sin)
    for source, kind in ((x, 0), (cos, 1), (sin, 1)):
        jacobian = tape.jacobian(y, source, experimental_use_pfor=vectorized)
        assert jacobian.shape == y.shape + source.shape
        # Linear in each: the Jacobian times a direction is the rotation of the direction, or by it.
        v = random.normal(size=source.shape)
        zeros = np.zeros(cos.shape)
        if kind == 0:
            expected = matrices.rotate(v, cos, sin)
        else:
            expected = matrices.rotate(x, *((v, zeros) if source is cos else (zeros, v)))
        along = tf.tensordot(jacobian, tf.constant(v), len(source.shape))
        np.testing.assert_allclose(along, expected, atol=1e-13)
    batch = tape.batch_jacobian(y, x, experimental_use_pfor=vectorized)
    np.testing.assert_allclose(
        tf.einsum("bijkl,bkl->bij", batch, x), matrices.rotate(x, cos, sin), atol=1e-13
    )


def test_sparse_gradients_of_what_gathers(random, table):
    x = tf.constant(random.normal(size=(6, 8)))
    cos, sin = table(6, 4)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.gather(er.rotate(x, cos, sin), [4, 1, 4])
    g = tape.gradient(y, x)
    expected = np.zeros((6, 8))
    expected[4], expected[1] = 2, 1
    np.testing.assert_allclose(
        g, matrices.rotate(expected, cos, sin, direction="backward"), atol=1e-14
    )


def test_asks_for_no_more_than_is_wanted(table, monkeypatch):
    """A gradient of x alone sums nothing for the table, and one of the table turns nothing."""
    x = tf.ones((3, 2, 8), tf.float64)
    cos, sin = table(3, 1, 4)
    asked = []
    for name in ("rotate", "table_gradient"):
        op = getattr(_library, name)

        def counted(*arguments, name=name, op=op, **options):
            asked.append(name)
            return op(*arguments, **options)

        monkeypatch.setattr(_library, name, counted)
    for source, wanted in ((x, ["rotate"]), (cos, ["table_gradient"])):
        with tf.GradientTape() as tape:
            tape.watch(source)
            y = er.rotate(x, cos, sin)
        asked.clear()
        assert tape.gradient(y, source) is not None
        assert asked == wanted
