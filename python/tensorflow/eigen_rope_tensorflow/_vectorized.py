# SPDX-License-Identifier: Apache-2.0
"""How tf.vectorized_map and the Jacobians of a tape vectorize the operators.

What is mapped over becomes the slowest axis of one operator. Without these rules, which TensorFlow
has no public place for, it runs an operator for each element, with the same results.
"""

from __future__ import annotations

import contextlib

import tensorflow as tf

from . import _gradients, _library

with contextlib.suppress(ImportError):
    from tensorflow.python.ops.parallel_for import pfor as _pfor


def _rank(t):
    return t.shape.rank if t.shape.rank is not None else tf.rank(t)


def _expanded(t, rank):
    """t with axes of 1 behind its first, as many as make up the rank."""
    shape = tf.shape(t)
    ones = tf.ones(rank - _rank(t), tf.int32)
    return tf.reshape(t, tf.concat((shape[:1], ones, shape[1:]), 0))


def _window(converted):
    window = _gradients.window_of(converted.op)
    if window["axis"] >= 0:
        window["axis"] += 1
    return window


def _rotate(converted):
    op = converted.op
    if converted.input(1)[1] or converted.input(2)[1]:
        converted.stack_inputs([0, 1, 2])
    x, cos, sin = (converted.input(i)[0] for i in range(3))
    if converted.input(1)[1]:
        cos, sin = (_expanded(t, _rank(x)) for t in (cos, sin))
    y = _library.rotate(
        x,
        cos,
        sin,
        direction=op.get_attr("direction"),
        outside=op.get_attr("outside"),
        **_window(converted),
    )
    return _pfor.wrap(y, True)


def _table_gradient(converted):
    converted.stack_inputs([0, 1, 2])
    x, g, like = (converted.input(i)[0] for i in range(3))
    made = _library.table_gradient(x, g, _expanded(like, _rank(x)), **_window(converted))
    return [_pfor.wrap(tf.reshape(t, tf.shape(like)), True) for t in made]


def _table(converted):
    (rates, low_rates, factor), stacked = zip(
        *(converted.input(i)[:2] for i in (0, 2, 3)), strict=True
    )
    dtype = converted.op.get_attr("dtype")
    if not any(stacked):
        made = _library.table(rates, converted.stacked_input(1), low_rates, factor, dtype)
    else:
        converted.stack_inputs([0, 1, 2, 3])
        made = tf.map_fn(
            lambda of_one: tuple(_library.table(*of_one, dtype)),
            tuple(converted.input(i)[0] for i in range(4)),
            fn_output_signature=(dtype, dtype),
        )
    return [_pfor.wrap(t, True) for t in made]


with contextlib.suppress(NameError, AttributeError):
    for _name, _rule in (
        ("EigenRope>Rotate", _rotate),
        ("EigenRope>TableGradient", _table_gradient),
        ("EigenRope>Table", _table),
    ):
        _pfor.RegisterPFor(_name)(_rule)
