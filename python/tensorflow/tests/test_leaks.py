# SPDX-License-Identifier: Apache-2.0
"""10,000 calls leave no memory behind, whether they succeed or are refused."""

import contextlib

import tensorflow as tf

import eigen_rope_tensorflow as er
from leaks import left_behind


def test_no_call_leaves_memory_behind():
    x = tf.random.normal((2, 3, 4, 64))
    cos, sin = tf.ones((3, 1, 32)), tf.zeros((3, 1, 32))
    few, none = cos[:2], sin[:2]
    rates, positions = tf.ones(32, tf.float64), tf.range(3)

    def forward():
        er.rotate(er.rotate(x, cos, sin), cos, sin)

    @tf.function
    def gradients():
        with tf.GradientTape() as tape:
            tape.watch((x, cos, rates))
            entries = er.table(rates, positions)[0]
            y = tf.reduce_sum(er.rotate(x, cos, sin)) + tf.reduce_sum(entries)
        return tape.gradient(y, (x, cos, rates))

    def eager_gradient():
        with tf.GradientTape() as tape:
            tape.watch((x, cos))
            y = er.rotate(x, cos, sin)
        return tape.gradient(y, (x, cos))

    def refused():
        with contextlib.suppress(tf.errors.InvalidArgumentError):
            er.rotate(x, few, none)

    for call in (forward, gradients, eager_gradient, refused):
        process, python = left_behind(call)
        # A tensor of 6 KiB a call would be 60 MB, and 16 bytes a call 160 KB.
        assert process < 4 << 20, call
        assert python < 64 << 10, call
