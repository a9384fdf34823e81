# SPDX-License-Identifier: Apache-2.0
"""What cannot be used: one sentence each, of the right kind, and nothing is written."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import eigen_rope as er

DIMS, TOKENS = 16, 5
SHAPE = (2, TOKENS, 3, DIMS)
CACHE = er.Cache(er.Frequencies(er.Powers(DIMS)), er.Positions.range(0, TOKENS))
X = np.ones(SHAPE, np.float32)


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def rows_that_share_memory():
    return np.lib.stride_tricks.as_strided(np.zeros(64, np.float32), SHAPE, (0, 0, 4, 4))


def unaligned():
    return np.frombuffer(bytearray(X.nbytes + 1), np.uint8)[1:].view(np.float32).reshape(SHAPE)


def uneven_strides():
    records = np.zeros(X.size, np.dtype([("a", np.float32), ("b", np.int8)]))
    return records["a"].reshape(SHAPE)


class OnAnotherDevice:
    """An array in the memory of a GPU, as far as DLPack can tell."""

    device = "cuda:0"

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **_):
        raise BufferError("not here")


class WantsGradient:
    """A tensor of torch that is part of a graph."""

    requires_grad = True

    def __dlpack__(self, **_):
        raise BufferError("detach first")


def into(out, **changes):
    arguments = {"x": X, "table": CACHE, "pairing": "split_half"} | changes
    return lambda: er.rotate(**arguments, out=out)


def of(**changes):
    shape = getattr(changes.get("x"), "shape", SHAPE)
    out = np.full(shape, 7, np.float32)
    return into(out, **changes), out


MATRIX = {
    "no array": (
        dict(x=[1.0, 2.0]),
        TypeError,
        "x must be an array of numpy, or have __dlpack__, got list",
    ),
    "integers": (
        dict(x=X.astype(int)),
        ValueError,
        "x must be of float16, bfloat16, float32 or float64, got int64",
    ),
    "long double": (
        dict(x=X.astype(np.longdouble)),
        ValueError,
        "x must be of float16, bfloat16, float32 or float64, got float128",
    ),
    "complex": (
        dict(x=X.astype(complex)),
        ValueError,
        "x must be of float16, bfloat16, float32 or float64, got complex128",
    ),
    "other byte order": (
        dict(x=X.astype(">f4")),
        ValueError,
        "x must be of float16, bfloat16, float32 or float64, got >f4",
    ),
    "objects": (
        dict(x=X.astype(object)),
        ValueError,
        "x must be of float16, bfloat16, float32 or float64, got object",
    ),
    "an 8-bit float": (
        dict(x=X.astype(ml_dtypes.float8_e4m3fn)),
        ValueError,
        "x must be of float16, bfloat16, float32 or float64, got float8_e4m3fn",
    ),
    "a number": (dict(x=np.float32(3)), ValueError, "x must have at least one axis, got none"),
    "nine axes": (
        dict(x=np.ones((1,) * 8 + (16,), np.float32)),
        ValueError,
        "rank must be at most 8, got 9",
    ),
    "another device": (
        dict(x=OnAnotherDevice()),
        ValueError,
        "x must be in the CPU's memory, got cuda:0",
    ),
    "a gradient": (
        dict(x=WantsGradient()),
        ValueError,
        "x must not require a gradient: use its detach(), got requires_grad=True",
    ),
    "uneven strides": (
        dict(x=uneven_strides()),
        ValueError,
        "x must have strides that are whole elements, got strides of (1200, 240, 80, 5) bytes",
    ),
    "unaligned": (dict(x=unaligned()), ValueError, ""),
    "odd dims": (dict(x=X[..., :15]), ValueError, "rotary dims must be even, got 15"),
    "too few tokens": (dict(x=X[:, :4]), ValueError, "table must have 1 or 4 on axis 2"),
    "another type of table": (dict(x=X.astype(np.float64)), ValueError, ""),
    "no table": (
        dict(table=3),
        TypeError,
        "table must be a Cache, a Table or a pair (cos, sin), got int",
    ),
    "three arrays": (
        dict(table=(X, X, X)),
        TypeError,
        "table must be a Cache, a Table or a pair (cos, sin), got tuple",
    ),
    "no cosines": (
        dict(table=(None, X)),
        TypeError,
        "cos must be an array of numpy, or have __dlpack__, got NoneType",
    ),
    "unequal tables": (dict(table=(X, X[:1])), ValueError, ""),
    "unknown pairing": (
        dict(pairing="half"),
        ValueError,
        "pairing must be split_half, interleaved, quarter or interleaved_to_split_half, got half",
    ),
    "no pairing": (dict(pairing=2), TypeError, "pairing must be a Pairing or a name, got int"),
    "a window too wide": (dict(pairing=er.Pairing("split_half", rotary_dims=18)), ValueError, ""),
    "a window of odd width": (
        dict(pairing=er.Pairing("split_half", rotary_dims=7)),
        ValueError,
        "rotary dims must be even, got 7",
    ),
    "a negative offset": (dict(pairing=er.Pairing("split_half", offset=-1)), ValueError, ""),
    "an axis too far": (
        dict(pairing=er.Pairing("split_half", axis=4)),
        ValueError,
        "axis must be from -4 to 3 for an array of 4 axes, got 4",
    ),
    "an axis too early": (
        dict(pairing=er.Pairing("split_half", axis=-5)),
        ValueError,
        "axis must be from -4 to 3 for an array of 4 axes, got -5",
    ),
    "no threads": (
        dict(threads=0),
        ValueError,
        "the number of threads of a device must be at least 1, got 0",
    ),
}


def assert_refused(call, kind, sentence):
    with pytest.raises(kind) as caught:
        call()
    text = str(caught.value)
    assert text.startswith("[rope] " + sentence)
    assert "\n" not in text
    assert ", got " in text


@pytest.mark.parametrize(("changes", "kind", "sentence"), MATRIX.values(), ids=MATRIX.keys())
def test_arguments(changes, kind, sentence):
    call, out = of(**changes)
    assert_refused(call, kind, sentence)
    np.testing.assert_array_equal(out, 7)


OUTPUTS = {
    "read-only": (lambda: read_only(X), "out must be writable, got a read-only array"),
    "a table": (lambda: CACHE.cos, "out must be writable, got a read-only array"),
    "another type": (lambda: X.astype(np.float64), ""),
    "another shape": (lambda: X[:1].copy(), ""),
    "rows that share memory": (rows_that_share_memory, ""),
    "rows of x in another order": (
        lambda: X[:, ::-1],
        "x and the destination must be the same rows or not overlap at all",
    ),
}


@pytest.mark.parametrize(("make", "sentence"), OUTPUTS.values(), ids=OUTPUTS.keys())
def test_outputs(make, sentence):
    out = make()
    before = out.copy()
    assert_refused(into(out), ValueError, sentence)
    np.testing.assert_array_equal(out, before)
    np.testing.assert_array_equal(X, 1)


@pytest.mark.parametrize("function", [er.rotate, er.rotate_backward, er.rotate_inverse])
def test_every_direction_refuses(function):
    assert_refused(lambda: function(X[:, :2], CACHE, "split_half"), ValueError, "")


def test_in_place():
    assert_refused(
        lambda: er.rotate_inplace(read_only(X), CACHE, "split_half"), ValueError, "out must be"
    )
    assert_refused(
        lambda: er.rotate_inplace(X, CACHE, "split_half", direction="back"), ValueError, ""
    )
    np.testing.assert_array_equal(X, 1)


def test_a_table_without_magnitude_has_no_inverse():
    none = er.Frequencies(er.Powers(DIMS, attention_factor=0.0))
    cache = er.Cache(none, er.Positions.range(0, TOKENS))
    assert_refused(lambda: er.rotate_inverse(X, cache, "split_half"), ValueError, "")


CHOICES = {
    "no powers": (lambda: er.Frequencies(128), TypeError, "powers must be Powers, got int"),
    "odd dims": (
        lambda: er.Frequencies(er.Powers(7)),
        ValueError,
        "rotary dims must be even, got 7",
    ),
    "dims of words": (
        lambda: er.Frequencies(er.Powers("8")),
        TypeError,
        "powers: rotary_dims must be a whole number, got str",
    ),
    "a base of words": (
        lambda: er.Frequencies(er.Powers(8, base="x")),
        TypeError,
        "powers: base must be a number, got str",
    ),
    "a base of zero": (lambda: er.Frequencies(er.Powers(8, base=0.0)), ValueError, ""),
    "factors of words": (lambda: er.Frequencies(er.Powers(8, factors="abcd")), TypeError, ""),
    "no scaling": (
        lambda: er.Frequencies(er.Powers(8), "yarn"),
        TypeError,
        "scaling must be a scaling such as Yarn, or None, got str",
    ),
    "an unknown end": (
        lambda: er.Frequencies(er.Powers(8), er.Yarn(factor=2.0, original_context=9, ends="soft")),
        ValueError,
        "yarn: ends must be rounded or exact, got soft",
    ),
    "a factor of NaN": (
        lambda: er.Frequencies(er.Powers(8), er.Linear(factor=float("nan"))),
        ValueError,
        "",
    ),
    "NaN positions": (
        lambda: er.Positions.ids([0.0, float("nan")]),
        ValueError,
        "position must be finite, got nan",
    ),
    "positions of words": (
        lambda: er.Positions.ids(["a"]),
        TypeError,
        "ids must be numbers, got <U1",
    ),
    "truth values": (lambda: er.Positions.ids([True]), TypeError, "ids must be numbers, got bool"),
    "positions past int64": (
        lambda: er.Positions.ids(np.array([2**63], np.uint64)),
        ValueError,
        "ids must fit int64, got 9223372036854775808",
    ),
    "three axes of positions": (
        lambda: er.Positions.ids(np.zeros((1, 1, 1))),
        ValueError,
        "ids must have one axis [tokens], or two [batches, tokens], got 3",
    ),
    "a range past int64": (lambda: er.Positions.range(2**63 - 1, 2), ValueError, ""),
    "packed fractions": (lambda: er.Positions.packed([0.5, 1.0]), TypeError, ""),
    "a rank too many": (lambda: er.Positions.range(0, 8).shard(2, 2), ValueError, ""),
    "unknown sharding": (
        lambda: er.Positions.range(0, 8).shard(0, 2, sharding="round"),
        ValueError,
        "sharding must be contiguous or zigzag, got round",
    ),
    "unknown sections": (lambda: er.Sections("x", [1]), ValueError, ""),
    "axes that sections lack": (
        lambda: er.Positions.multi_axis(np.zeros((2, 3)), er.Sections("contiguous", [1, 2, 1])),
        ValueError,
        "the first axis of ids must be as long as sections has axes (3), got 2",
    ),
    "unknown dtype": (
        lambda: er.Cache(er.Frequencies(er.Powers(8)), er.Positions.range(0, 2), dtype="int32"),
        ValueError,
        "dtype must be float16, bfloat16, float32 or float64, got int32",
    ),
    "unknown layout": (
        lambda: er.Cache(er.Frequencies(er.Powers(8)), er.Positions.range(0, 2), layout="bnds"),
        ValueError,
        "",
    ),
    "no frequencies": (
        lambda: er.Cache(er.Powers(8), er.Positions.range(0, 2)),
        TypeError,
        "frequencies must be Frequencies, or a list with those of each sequence, got Powers",
    ),
    "frequencies that differ": (
        lambda: er.Cache(
            [er.Frequencies(er.Powers(8)), er.Frequencies(er.Powers(6))], er.Positions.range(0, 2)
        ),
        ValueError,
        "",
    ),
    "too many rows": (
        lambda: er.GrowingCache(er.Frequencies(er.Powers(8)), max_tokens=256).rows(0, 257),
        ValueError,
        "",
    ),
    "negative rows": (
        lambda: er.GrowingCache(er.Frequencies(er.Powers(8))).rows(-1, 1),
        ValueError,
        "",
    ),
    "rows between tokens": (
        lambda: er.GrowingCache(er.Frequencies(er.Powers(8))).gather(er.Positions.ids([0.5])),
        ValueError,
        "",
    ),
}


@pytest.mark.parametrize(("call", "kind", "sentence"), CHOICES.values(), ids=CHOICES.keys())
def test_choices(call, kind, sentence):
    assert_refused(call, kind, sentence)
