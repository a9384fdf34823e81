# SPDX-License-Identifier: Apache-2.0
"""Gradients of the operators.

With R the rotation and T the same rotation with zeros outside the window, all gradients are
operators again, so they have gradients of any order:

    Rotate          dx = R^T g     d(cos, sin) = TableGradient(x, g)
    TableGradient   bilinear in x and g: <v, TableGradient(x, g)> = <g, T(x; v)>
    Table           with angle t: dcos = -sin dt + cos dm / m,  dsin = cos dt + sin dm / m

The inverse R^-1 turns g by the transpose of itself, which is a rotation by another table, and has
the table's gradient of its result y: d(cos, sin) = TableGradient(y, -dx).
"""

from __future__ import annotations

import tensorflow as tf

from . import _library

_TRANSPOSED = {"forward": "backward", "backward": "forward"}


def _text(op, attribute):
    value = op.get_attr(attribute)
    return value.decode() if isinstance(value, bytes) else value


def window_of(op):
    """The attributes that a rotation and the gradient of its table share."""
    return {
        "pairing": _text(op, "pairing"),
        **{name: op.get_attr(name) for name in ("rotary_dims", "offset", "axis")},
    }


def _skipped(op):
    """The inputs whose gradients nobody asks for, as far as an eager tape knows."""
    return getattr(op, "skip_input_indices", None) or ()


@tf.RegisterGradient("EigenRope>Rotate")
def _of_rotation(op, g):
    x, cos, sin = op.inputs
    window = window_of(op)
    direction, outside = _text(op, "direction"), _text(op, "outside")
    skipped = _skipped(op)
    g = tf.convert_to_tensor(g)
    dx = dcos = dsin = None
    of_table = not (1 in skipped and 2 in skipped)
    if direction == "inverse":
        dx = _library.rotate(g, *_inverse_table(x, cos, sin, **window), **window)
        if of_table:
            dcos, dsin = _library.table_gradient(op.outputs[0], -dx, cos, **window)
        return dx, dcos, dsin
    if 0 not in skipped:
        transposed = _TRANSPOSED[direction]
        dx = _library.rotate(g, cos, sin, direction=transposed, outside=outside, **window)
    if of_table:
        pair = (x, g) if direction == "forward" else (g, x)
        dcos, dsin = _library.table_gradient(*pair, cos, **window)
    return dx, dcos, dsin


@tf.RegisterGradient("EigenRope>TableGradient")
def _of_table_gradient(op, v_cos, v_sin):
    x, g, _ = op.inputs
    window = window_of(op)
    skipped = _skipped(op)
    dx = dg = None
    if 0 not in skipped:
        dx = _library.rotate(g, v_cos, v_sin, direction="backward", outside="zero", **window)
    if 1 not in skipped:
        dg = _library.rotate(x, v_cos, v_sin, direction="forward", outside="zero", **window)
    return dx, dg, None


@tf.RegisterGradient("EigenRope>Table")
def _of_table(op, g_cos, g_sin):
    rates, positions, low_rates, attention_factor = op.inputs
    cos, sin, g_cos, g_sin = (tf.cast(t, tf.float64) for t in (*op.outputs, g_cos, g_sin))
    skipped = _skipped(op)
    of_rates = of_positions = of_factor = None
    # With the entries of the table that the rotation read.
    of_angle = cos * g_sin - sin * g_cos
    if 0 not in skipped:
        flat = tf.reshape(of_angle, tf.stack((-1, tf.size(rates))))
        at = tf.reshape(tf.cast(positions, tf.float64), (-1, 1))
        of_rates = tf.reduce_sum(flat * at, 0)
    if 1 not in skipped and positions.dtype.is_floating:
        of_positions = tf.cast(tf.linalg.matvec(of_angle, rates), positions.dtype)
    if 3 not in skipped:
        # Of the table without its factor, which may be 0.
        one = _library.table(
            rates, positions, low_rates, tf.ones_like(attention_factor), tf.float64
        )
        of_factor = tf.reduce_sum(one.cos * g_cos + one.sin * g_sin)
    return of_rates, of_positions, None, of_factor


def _members(pairing, width):
    """Where the first and the second members of the pairs are in what a rotation writes."""
    if pairing == "interleaved":
        return tf.range(0, width, 2), tf.range(1, width, 2)
    if pairing == "quarter":
        quarters = tf.reshape(tf.range(width), (2, 2, -1))
        return tf.reshape(quarters[:, 0], (-1,)), tf.reshape(quarters[:, 1], (-1,))
    return tf.range(width // 2), tf.range(width // 2, width)


def _inverse_table(x, cos, sin, pairing, rotary_dims, offset, axis):
    """The table whose forward rotation is the transpose of the inverse rotation by cos, sin.

    For a pair, R = [[c_A, -s_A], [s_B, c_B]], and the transpose of its inverse is
    [[c_B, -s_B], [s_A, c_A]] / (c_A c_B + s_A s_B).
    """
    if cos.dtype.size == 2:
        cos, sin = tf.cast(cos, tf.float32), tf.cast(sin, tf.float32)
    extents, entries = tf.shape(x), tf.shape(cos)
    along = axis if axis < 0 else axis - tf.rank(x)  # counted from the end, for the table
    width = rotary_dims if rotary_dims >= 0 else extents[axis] - offset
    along = along + tf.rank(cos)

    def of_pairs():
        det = cos * cos + sin * sin
        return cos / det, sin / det

    def of_elements():
        first, second = _members(pairing, width)
        c_a, c_b, s_a, s_b = (
            tf.gather(t, at, axis=along) for t in (cos, sin) for at in (first, second)
        )
        det = c_a * c_b + s_a * s_b
        order = tf.math.invert_permutation(tf.concat((first, second), 0))

        def joined(a, b):
            return tf.gather(tf.concat((a / det, b / det), along), order, axis=along)

        return joined(c_b, c_a), joined(s_b, s_a)

    full = entries[along] == width
    known = tf.get_static_value(full)
    if known is not None:
        return of_elements() if known else of_pairs()
    made = tf.cond(full, of_elements, of_pairs)
    return tuple(tf.ensure_shape(t, cos.shape) for t in made)
