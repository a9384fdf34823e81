# SPDX-License-Identifier: Apache-2.0
"""What does not fit is refused in one sentence, when a function is traced or when it runs."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import eigen_rope.jax as er

X = jnp.ones((2, 3, 4, 8))
C = jnp.ones((3, 1, 4))
F = X.astype(jnp.float32)
ROTATIONS = {
    "x must be an array, got list": lambda: er.rotate([1.0, 2.0], C, C),
    "cos must be an array, got NoneType": lambda: er.rotate(X, None, C),
    "x must be of float16, bfloat16, float32 or float64, got int32": lambda: er.rotate(
        X.astype(jnp.int32), C, C
    ),
    "x must be of float16, bfloat16, float32 or float64, got complex128": lambda: er.rotate(
        X + 0j, C, C
    ),
    "x must be of float16, bfloat16, float32 or float64, got float8_e4m3fn": lambda: er.rotate(
        X.astype(jnp.float8_e4m3fn), C, C
    ),
    "got key<fry>": lambda: er.rotate(jax.random.key(0), C, C),
    "the table must have x's type float32, or float32 for an x of 16 bits, got float64": (
        lambda: er.rotate(F, C, C)
    ),
    "the table must have x's type float64, or float32 for an x of 16 bits, got float32": (
        lambda: er.rotate(X, C.astype(jnp.float32), C.astype(jnp.float32))
    ),
    "sin must have cos's shape (3, 1, 4) and type float64, got (3, 4) and float64": (
        lambda: er.rotate(X, C, C[:, 0])
    ),
    "sin must have cos's shape (3, 1, 4) and type float64, got (3, 1, 4) and float32": (
        lambda: er.rotate(X, C, C.astype(jnp.float32))
    ),
    "quarter, interleaved_to_split_half, got half": (lambda: er.rotate(X, C, C, "half")),
    "direction must be one of forward, backward, inverse, got back": lambda: er.rotate(
        X, C, C, direction="back"
    ),
    "axis must be in [-4, 3], got 4": lambda: er.rotate(X, C, C, axis=4),
    "axis must be a whole number, got float": lambda: er.rotate(X, C, C, axis=1.0),
    "rotary_dims must be positive and divisible by 2, got 3": lambda: er.rotate(
        X, C, C, rotary_dims=3
    ),
    "rotary_dims must be positive and divisible by 4, got 6": lambda: er.rotate(
        X, C, C, "quarter", rotary_dims=6
    ),
    "rotary_dims must be positive and divisible by 2, got 0": lambda: er.rotate(
        X, C, C, rotary_dims=0
    ),
    "the window must lie in a row of 8, got 8 from 2": lambda: er.rotate(
        X, C, C, rotary_dims=8, offset=2
    ),
    "the window must lie in a row of 8, got 10 from -2": lambda: er.rotate(X, C, C, offset=-2),
    "must have 4 or 8 entries on axis -1 and at most 4 axes, got shape (3, 1, 5)": (
        lambda: er.rotate(X, jnp.ones((3, 1, 5)), jnp.ones((3, 1, 5)))
    ),
    "at most 4 axes, got shape (1, 2, 3, 1, 4)": lambda: er.rotate(
        X, jnp.ones((1, 2, 3, 1, 4)), jnp.ones((1, 2, 3, 1, 4))
    ),
    "at most 4 axes, got shape ()": lambda: er.rotate(X, jnp.float64(1), jnp.float64(1)),
    "the table must have 1 or 4 on axis -2, got 3": lambda: er.rotate(
        X, jnp.ones((3, 4)), jnp.ones((3, 4))
    ),
    "axis must be in [0, -1], got -1": lambda: er.rotate(jnp.float64(1), C, C),
}
R, T = jnp.ones(4), jnp.arange(3)
TABLES = {
    "rates must be an array, got list": lambda: er.table([1.0], T),
    "rates must be of float32 or float64, got int64": lambda: er.table(jnp.ones(4, int), T),
    "rates must be of float32 or float64, got bfloat16": lambda: er.table(
        R.astype(jnp.bfloat16), T
    ),
    "rates must have one axis of pairs, got shape (2, 2)": lambda: er.table(R.reshape(2, 2), T),
    "rates must have one axis of pairs, got shape (0,)": lambda: er.table(R[:0], T),
    "low_rates must have the shape of rates (4,), got (3,)": lambda: er.table(
        R, T, low_rates=R[:3]
    ),
    "positions must be an array, got list": lambda: er.table(R, [0, 1]),
    "as others cannot count tokens, got bfloat16": lambda: er.table(R, T.astype(jnp.bfloat16)),
    "as others cannot count tokens, got bool": lambda: er.table(R, T > 0),
    "as others cannot count tokens, got uint32": lambda: er.table(R, T.astype(jnp.uint32)),
    "dtype must be float16, bfloat16, float32 or float64, got <class 'int'>": lambda: er.table(
        R, T, dtype=int
    ),
    "dtype must be float16, bfloat16, float32 or float64, got single_": lambda: er.table(
        R, T, dtype="single_"
    ),
    "attention_factor must be finite, got nan": lambda: er.table(
        R, T, attention_factor=float("nan")
    ),
    "attention_factor must be a number, got NoneType": lambda: er.table(
        R, T, attention_factor=None
    ),
    "got an array that is traced: multiply cos and sin by it": lambda: jax.jit(
        lambda m: er.table(R, T, attention_factor=m)
    )(1.0),
}


@pytest.mark.parametrize("words", [*ROTATIONS, *TABLES])
def test_one_sentence_before_anything_runs(words):
    call = ROTATIONS.get(words) or TABLES[words]
    with pytest.raises((TypeError, ValueError)) as refused:
        call()
    message = str(refused.value)
    assert message.startswith("[rope] ")
    assert words in message
    assert "\n" not in message


RUNNING = {
    "rate": lambda: er.table(R.at[1].set(jnp.nan), T),
    "position": lambda: er.table(R, jnp.array([0.0, jnp.inf])),
    "inverted, got 0": lambda: er.rotate_inverse(X, 0 * C, 0 * C),
}


@pytest.mark.parametrize("word", RUNNING)
@pytest.mark.parametrize("compiled", [False, True])
def test_numbers_are_refused_where_they_are_known(word, compiled):
    call = jax.jit(RUNNING[word]) if compiled else RUNNING[word]
    error = getattr(jax.errors, "JaxRuntimeError", RuntimeError)
    with pytest.raises(error, match=r"\[rope\] .*" + word) as refused:
        jax.block_until_ready(call())
    assert "INVALID_ARGUMENT" in str(refused.value)


def test_both_operands_cannot_be_transposed_at_once():
    with pytest.raises(ValueError, match=r"\[rope\] a rotation must be linear"):
        jax.linear_transpose(lambda x, c: er.rotate(x, c, C), X, C)(X)


WITHOUT_JAX = """
import sys
sys.modules["jax"] = None
import eigen_rope
assert eigen_rope.Powers(8)
try:
    import eigen_rope.jax
except ImportError as error:
    print(error)
"""
OLD_JAX = """
import jax
jax.__version__ = "0.4.38"
try:
    import eigen_rope.jax
except ImportError as error:
    print(error)
"""
NOT_COMPILED = """
from pathlib import Path
there = Path.exists
Path.exists = lambda path: path.suffix != ".so" and there(path)
try:
    import eigen_rope.jax
except ImportError as error:
    print(error)
"""
ANOTHER_INTERFACE = """
from pathlib import Path
read = Path.read_text
Path.read_text = lambda path: read(path).replace("FFI_API_MAJOR 0", "FFI_API_MAJOR 1")
try:
    import eigen_rope.jax
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (WITHOUT_JAX, "must find jax 0.5 or newer, got none: run pip install jax, and then"),
        (OLD_JAX, "must find jax 0.5 or newer, got 0.4.38"),
        (NOT_COMPILED, "must be compiled where jaxlib is installed, got a package without it"),
        (ANOTHER_INTERFACE, "must have version 0 of XLA's foreign function interface, got 1."),
    ],
    ids=["no jax", "an old jax", "not compiled", "another interface"],
)
def test_an_environment_that_does_not_fit(program, words):
    ran = subprocess.run(
        [sys.executable, "-P", "-c", program], check=True, capture_output=True, text=True
    )
    assert ran.stdout.startswith("[rope] ")
    assert words in ran.stdout
    assert ran.stdout.count("\n") == 1


def test_arrays_of_numpy_are_taken_as_jax_takes_them():
    y = er.rotate(np.ones((3, 4, 8)), np.ones((3, 1, 4)), np.zeros((3, 1, 4)))
    assert isinstance(y, jax.Array)
    assert (y == 1).all()
