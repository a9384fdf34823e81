# SPDX-License-Identifier: Apache-2.0
"""Rotations of tensors, and the tables that they read.

    cos, sin = table(rates, positions)           exact, and differentiable in both
    y = rotate(x, cos[:, None], sin[:, None])    x [..., tokens, heads, D]

A table's axes are those of x, the last ones where it has fewer; each is as long as x's, or 1. Its
last axis has one entry for each pair, or one for each rotated element.
"""

from __future__ import annotations

from operator import index

import numpy as np
import tensorflow as tf

from . import _library


def rotate(
    x,
    cos,
    sin,
    pairing="split_half",
    *,
    direction="forward",
    rotary_dims=None,
    offset=0,
    axis=-1,
    name=None,
):
    """Returns x with each pair (a, b) turned: c a - s b and c b + s a.

    x has any number of axes, and is of float16, bfloat16, float32 or float64. cos and sin have x's
    type, or float32 where x has 16 bits; float32 tables round such a result once.

    pairing is split_half, interleaved, quarter or interleaved_to_split_half, for the whole row or
    for `rotary_dims` elements from `offset`; other elements are copied. direction is forward,
    backward (the transpose) or inverse. axis is the axis of x that rows lie along.

    The result has gradients of any order in x, cos and sin. What does not fit is refused with
    tf.errors.InvalidArgumentError, or ValueError or TypeError, as TensorFlow does where it builds a
    graph, and with one sentence.
    """
    try:
        # TensorFlow would cut 1.5 off to 1.
        width = -1 if rotary_dims is None else index(rotary_dims)
        window = (width, index(offset), index(axis))
        return _library.rotate(x, cos, sin, pairing, direction, *window, "copy", name)
    except _library.REFUSED as error:
        options = {
            "pairing": pairing,
            "direction": direction,
            "rotary_dims": rotary_dims,
            "offset": offset,
            "axis": axis,
        }
        tensors = {"x": x, "cos": cos, "sin": sin}
        raise _library.sentence(error, tensors, options) from None


def rotate_backward(
    x, cos, sin, pairing="split_half", *, rotary_dims=None, offset=0, axis=-1, name=None
):
    """Returns the transposed rotation of x, the gradient of rotate(): c a + s b and c b - s a."""
    return rotate(
        x,
        cos,
        sin,
        pairing,
        direction="backward",
        rotary_dims=rotary_dims,
        offset=offset,
        axis=axis,
        name=name,
    )


def rotate_inverse(
    x, cos, sin, pairing="split_half", *, rotary_dims=None, offset=0, axis=-1, name=None
):
    """Returns what rotate() turns into x: the transpose over the determinant of the table.

    It differs from rotate_backward() where the table has an attention factor.
    """
    return rotate(
        x,
        cos,
        sin,
        pairing,
        direction="inverse",
        rotary_dims=rotary_dims,
        offset=offset,
        axis=axis,
        name=name,
    )


def converted(value, name, *wanted):
    """A tensor of `value`; Python's own numbers become the first of the types that holds them."""
    try:
        if hasattr(value, "dtype"):
            return tf.convert_to_tensor(value)
        for dtype in wanted:
            tensor = tf.convert_to_tensor(value, dtype_hint=dtype)
            if tensor.dtype == dtype:
                return tensor
        return tf.convert_to_tensor(value)
    except _library.REFUSED as error:
        raise _library.no_tensor(name, value) or error from None


def _doubles(value, name):
    tensor = converted(value, name, tf.float64)
    if tensor.dtype not in (tf.float32, tf.float64):
        raise TypeError(f"[rope] {name} must be of float32 or float64, got {tensor.dtype.name}")
    return tf.cast(tensor, tf.float64)


def table(rates, positions, *, attention_factor=1.0, dtype=tf.float32, low_rates=None, name=None):
    """Returns cos and sin of positions times rates, times the attention factor.

    rates is [pairs] in radians per token, of float32 or float64. positions has any shape, of
    integers, float32 or float64; the result is [*positions.shape, pairs]. Angles are reduced
    exactly at any position, and entries are rounded once to dtype. low_rates are what rates of
    float64 have no room for. rates, positions of a floating type and attention_factor have
    gradients of any order.

    Rates and positions that are not finite are refused with tf.errors.InvalidArgumentError.
    """
    try:
        dtype = tf.as_dtype(dtype)
    except TypeError:
        dtype = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", str(dtype))
    if dtype not in _library.SCALARS:
        raise TypeError(
            "[rope] dtype must be float16, bfloat16, float32 or float64, got "
            f"{getattr(dtype, 'name', dtype)}"
        )
    rates = _doubles(rates, "rates")
    attention_factor = _doubles(attention_factor, "attention_factor")
    low_rates = tf.zeros(0, tf.float64) if low_rates is None else _doubles(low_rates, "low_rates")
    positions = converted(positions, "positions", tf.int64, tf.float64)
    if positions.dtype.is_integer and positions.dtype != tf.int32:
        positions = tf.cast(positions, tf.int64)
    if positions.dtype not in (tf.int32, tf.int64, tf.float32, tf.float64):
        raise TypeError(
            f"[rope] positions must be of integers, float32 or float64, got {positions.dtype.name}"
        )
    try:
        made = _library.table(rates, positions, low_rates, attention_factor, dtype, name)
    except _library.REFUSED as error:
        raise _library.sentence(error, {}, {}) from None
    return made.cos, made.sin


def rates(scaling="default", *, rotary_dims, length=0, name=None, **parameters):
    """Returns the rate of each pair in radians per token, of float64, and the attention factor.

        rates, m = er.rates("yarn", rotary_dims=128, factor=4.0, original_context=32768)
        cos, sin = er.table(rates, positions, attention_factor=m)

    scaling is default, linear, proportional, dynamic, ntk, yarn, ggml_yarn, llama3 or longrope.
    parameters are those of the scaling and `base`, by the names that docs/scalings.md has: numbers,
    lists of numbers, or words. length is the number of tokens, for scalings that depend on it.
    """
    parameters = {"rotary_dims": rotary_dims, **parameters}
    numbers, words, counts = [], [], []
    for parameter, value in parameters.items():
        words.append(value if isinstance(value, str) else "")
        counts.append(-1)
        if isinstance(value, str):
            continue
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            array = None
        if value is None or array is None or array.ndim > 1:
            raise TypeError(
                f"[rope] {parameter} must be a number, a list of numbers or a word, got {value!r}"
            )
        if array.ndim == 1:
            counts[-1] = len(array)
        numbers.extend(array.reshape(-1))
    try:
        made = _library.rates(
            tf.constant(numbers, tf.float64),
            scaling,
            list(parameters),
            words,
            counts,
            length,
            name,
        )
    except _library.REFUSED as error:
        raise _library.sentence(error, {}, {"scaling": scaling, "length": length}) from None
    return made.rates, made.attention_factor
