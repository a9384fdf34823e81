# SPDX-License-Identifier: Apache-2.0
"""The rotation as numpy computes it pair by pair, in double: what the operators are compared with.

A pair (a, b) of a row is read, turned and written as (A, B):

    y_A = c_A x_a - s_A x_b        y_B = c_B x_b + s_B x_a
"""

import numpy as np

PAIRINGS = ("split_half", "interleaved", "quarter", "interleaved_to_split_half")


def slots(pairing, k, width):
    """(a, b, A, B) of pair k."""
    pairs = width // 2
    if pairing == "split_half":
        return k, k + pairs, k, k + pairs
    if pairing == "interleaved":
        return 2 * k, 2 * k + 1, 2 * k, 2 * k + 1
    if pairing == "interleaved_to_split_half":
        return 2 * k, 2 * k + 1, k, k + pairs
    quarter = pairs // 2
    first = k if k < quarter else pairs + k - quarter
    return first, first + quarter, first, first + quarter


def matrix(cos, sin, pairing, width):
    """The matrix of a row's rotation, of a table's row of either width."""
    rotation = np.zeros((width, width))
    for k in range(width // 2):
        a, b, A, B = slots(pairing, k, width)
        at_a, at_b = (k, k) if len(cos) != width else (A, B)
        rotation[A, a] = cos[at_a]
        rotation[A, b] = -sin[at_a]
        rotation[B, b] = cos[at_b]
        rotation[B, a] = sin[at_b]
    return rotation


def rotate(x, cos, sin, pairing="split_half", direction="forward", rotary_dims=None, offset=0):
    """x [..., D] in double; cos and sin broadcast over its outer axes."""
    x, cos, sin = (np.asarray(t, dtype=np.float64) for t in (x, cos, sin))
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
    return y
