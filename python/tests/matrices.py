# SPDX-License-Identifier: Apache-2.0
"""The definition as a matrix for each row, in double: the judge of what frameworks run.

A pair (a, b) of a row is read, turned and written as (A, B):

    y_A = c_A x_a - s_A x_b        y_B = c_B x_b + s_B x_a
"""

import numpy as np
from definition import PAIRINGS, slots

__all__ = ["PAIRINGS", "rotate"]


def matrix(cos, sin, pairing, width):
    """The matrix of a row's rotation, of a table's row of either width."""
    rotation = np.zeros((width, width))
    for k, (a, b, to_a, to_b) in enumerate(slots(pairing, width // 2)):
        at_a, at_b = (k, k) if len(cos) != width else (to_a, to_b)
        rotation[to_a, a], rotation[to_a, b] = cos[at_a], -sin[at_a]
        rotation[to_b, b], rotation[to_b, a] = cos[at_b], sin[at_b]
    return rotation


def rotate(
    x, cos, sin, pairing="split_half", direction="forward", rotary_dims=None, offset=0, axis=-1
):
    """x of any shape in double; cos and sin broadcast over it."""
    x, cos, sin = (np.asarray(t, dtype=np.float64) for t in (x, cos, sin))
    cos, sin = (t.reshape((1,) * (x.ndim - t.ndim) + t.shape) for t in (cos, sin))
    x, cos, sin = (np.moveaxis(t, axis, -1) for t in (x, cos, sin))
    width = x.shape[-1] - offset if rotary_dims is None else rotary_dims
    cos, sin = (np.broadcast_to(t, (*x.shape[:-1], t.shape[-1])) for t in (cos, sin))
    y = x.copy()
    for row in np.ndindex(*x.shape[:-1]):
        turn = matrix(cos[row], sin[row], pairing, width)
        if direction == "backward":
            turn = turn.T
        elif direction == "inverse":
            turn = np.linalg.inv(turn)
        y[row][offset : offset + width] = turn @ x[row][offset : offset + width]
    return np.moveaxis(y, -1, axis)
