# SPDX-License-Identifier: Apache-2.0
"""Any array at all: shapes, strides, axes, windows, pairings and types that hypothesis finds."""

from __future__ import annotations

import definition
import ml_dtypes
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import eigen_rope as er

DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


@st.composite
def cases(draw):
    """Return x, cos and sin (their pairs on the last axis), a pairing and the feature axis."""
    rank = draw(st.integers(1, 5))
    shape = [draw(st.integers(1, 4)) for _ in range(rank)]
    kind = draw(st.sampled_from(definition.PAIRINGS))
    pairs = draw(st.integers(1, 9)) * (2 if kind == "quarter" else 1)
    offset, tail = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    axis = draw(st.integers(0, rank - 1))
    shape[axis] = offset + 2 * pairs + tail
    dtype = draw(st.sampled_from(DTYPES))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    # Memory in any order, with gaps, and axes that run backwards.
    order = draw(st.permutations(range(rank)))
    steps = [draw(st.sampled_from([1, 1, 2, -1, -3])) for _ in range(rank)]
    memory = np.empty([shape[i] * abs(steps[i]) for i in order], dtype)
    x = memory.transpose(np.argsort(order))[tuple(slice(None, None, step) for step in steps)]
    x[...] = random.uniform(-1, 1, shape)
    outer = [n if draw(st.booleans()) else 1 for n in np.delete(shape, axis)]
    cos, sin = random.uniform(-1, 1, (2, *outer, pairs)).astype(
        np.float32 if np.dtype(dtype).itemsize == 2 else dtype
    )
    window = None if tail == 0 and draw(st.booleans()) else 2 * pairs
    named = draw(st.sampled_from([axis, axis - rank]))
    return x, cos, sin, er.Pairing(kind, rotary_dims=window, offset=offset, axis=named), axis


@settings(max_examples=400, deadline=None)
@given(cases(), st.sampled_from(["forward", "backward"]), st.booleans(), st.integers(1, 3))
def test_rotations(case, direction, in_place, threads):
    x, cos, sin, pairing, axis = case
    rows = np.moveaxis(x, axis, -1)
    function = {
        "forward": definition.rotate,
        "backward": definition.rotate_backward,
    }[direction]
    expected = np.moveaxis(
        function(rows, cos.astype("g"), sin.astype("g"), pairing.kind, pairing.offset), -1, axis
    )
    if in_place:
        y = er.rotate_inplace(x, (cos, sin), pairing, direction=direction, threads=threads)
        assert y is x
    else:
        before = x.copy()
        ours = {"forward": er.rotate, "backward": er.rotate_backward}[direction]
        y = ours(x, (cos, sin), pairing, threads=threads)
        np.testing.assert_array_equal(x, before)
    definition.assert_close(y, expected, 2)


@settings(max_examples=200, deadline=None)
@given(cases())
def test_the_gradients_are_those_of_the_table(case):
    x, cos, sin, pairing, axis = case
    if np.dtype(x.dtype).itemsize < 4:
        x = x.astype(np.float32)
    dy = x[..., ::-1].copy() if x.ndim > 1 else -x
    d = er.gradients(dy, (cos, sin), pairing, x=x, wanted=["table", "dx"])
    # A linear map: d cos . cos + d sin . sin is the part of <dy, y> that the window has.
    y = er.rotate(x, (cos, sin), pairing)
    inside = np.zeros(x.shape[axis], bool)
    inside[pairing.offset : pairing.offset + 2 * cos.shape[-1]] = True
    part = np.compress(inside, (dy.astype("g") * y), axis).sum()
    table = (d.cos.reshape(cos.shape) * cos + d.sin.reshape(sin.shape) * sin).sum()
    bound = 16 * x.size * definition.epsilon(x.dtype)
    assert abs(part - table) <= bound
    assert abs((d.dx.astype("g") * x).sum() - (dy.astype("g") * y).sum()) <= bound
