# SPDX-License-Identifier: Apache-2.0
"""TensorFlow as one of the peers: the formula that models are written with, eager, as a tf.function
and through XLA, on [1, tokens, heads, head].

   eager          x * cos + rotate_half(x) * sin, full-width tables in x's scalar
   function       the same as a tf.function
   xla            the same as a tf.function with jit_compile=True
   ours           eigen_rope_tensorflow, this library's operator, with half-width float tables
   ours_function  the same as a tf.function

Outputs are allocated by TensorFlow in every call: that is how it is used.
"""

import os
from typing import Callable

import numpy as np

from protocol import THREADS, Array, Case, Contender, Pages, Request, random_input, serve

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

try:
    import eigen_rope_tensorflow
except ImportError:
    eigen_rope_tensorflow = None


def rotate_half(x: tf.Tensor) -> tf.Tensor:
    a, b = tf.split(x, 2, axis=-1)
    return tf.concat((-b, a), axis=-1)


def rotate_every_two(x: tf.Tensor) -> tf.Tensor:
    return tf.reshape(tf.stack((-x[..., 1::2], x[..., ::2]), axis=-1), tf.shape(x))


def formula_of(request: Request) -> Callable[..., tf.Tensor]:
    turned = rotate_half if request.split_half else rotate_every_two
    width = request.rotary

    def whole(x: tf.Tensor, cos: tf.Tensor, sin: tf.Tensor) -> tf.Tensor:
        return x * cos + turned(x) * sin

    def part(x: tf.Tensor, cos: tf.Tensor, sin: tf.Tensor) -> tf.Tensor:
        return tf.concat((whole(x[..., :width], cos, sin), x[..., width:]), axis=-1)

    return whole if width == request.head else part


def make(request: Request) -> Case:
    dtype = {"f32": tf.float32, "f16": tf.float16, "bf16": tf.bfloat16}[request.scalar]
    shape = (1, request.tokens, request.heads, request.head)
    storage = dtype.as_numpy_dtype
    pages = Pages(int(np.prod(shape)) * np.dtype(storage).itemsize, 2)
    before, y = (pages.at(i, storage, shape) for i in range(2))
    before[:] = random_input(request).astype(storage)[None]
    x = tf.constant(before)

    angles = request.angles()[None, :, None, :]
    wide = (
        np.concatenate((angles, angles), -1)
        if request.split_half
        else np.repeat(angles, 2, axis=-1)
    )
    table = [tf.constant(f(wide), dtype) for f in (np.cos, np.sin)]
    last: dict[str, tf.Tensor] = {}
    contenders: dict[str, Contender] = {}

    def add(name: str, call: Callable[..., tf.Tensor], entries: list[tf.Tensor]) -> None:
        def run() -> None:
            last["y"] = call(x, *entries)

        def result() -> Array:
            return last["y"].numpy()[0].astype(np.float32)

        contenders[name] = Contender(run, result)

    formula = formula_of(request)
    add("eager", formula, table)
    add("function", tf.function(formula, autograph=False), table)
    add("xla", tf.function(formula, autograph=False, jit_compile=True), table)
    if eigen_rope_tensorflow is not None:
        pairing = "split_half" if request.split_half else "interleaved"
        rotary = None if request.rotary == request.head else request.rotary
        half = [tf.constant(f(angles), tf.float32) for f in (np.cos, np.sin)]

        def ours(x: tf.Tensor, cos: tf.Tensor, sin: tf.Tensor) -> tf.Tensor:
            return eigen_rope_tensorflow.rotate(x, cos, sin, pairing, rotary_dims=rotary)

        add("ours", ours, half)
        add("ours_function", tf.function(ours, autograph=False), half)
    return Case(
        contenders,
        before.ctypes.data,
        y.ctypes.data,
        y.nbytes,
        before[0].astype(np.float32),
        pages,
    )


if __name__ == "__main__":
    tf.config.threading.set_intra_op_parallelism_threads(THREADS)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    note = "outputs allocated by TensorFlow"
    if eigen_rope_tensorflow is not None:
        note += "; with eigen_rope_tensorflow"
    serve({"peer": "tensorflow", "version": tf.__version__, "note": note}, make)
