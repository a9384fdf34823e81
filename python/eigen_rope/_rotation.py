# SPDX-License-Identifier: Apache-2.0
"""The rotations."""

from __future__ import annotations

from typing import Any, overload

from numpy.typing import ArrayLike, NDArray

from eigen_rope import _core
from eigen_rope._typing import Array, ArrayT, PairingLike, TableLike


@overload
def rotate(
    x: Array, table: TableLike, pairing: PairingLike, *, out: None = None, threads: int = 1
) -> NDArray[Any]: ...
@overload
def rotate(
    x: Array, table: TableLike, pairing: PairingLike, *, out: ArrayT, threads: int = 1
) -> ArrayT: ...
def rotate(
    x: Array, table: TableLike, pairing: PairingLike, *, out: Any = None, threads: int = 1
) -> Any:
    """Rotate x, and return the result.

        y_A = cos x_a - sin x_b        for each pair (a, b) -> (A, B) of each row
        y_B = cos x_b + sin x_a        everything outside the window is copied

    x is read where it lies, with the strides that it has. A rotation of 16-bit elements is computed
    in float32 and rounded once.

    >>> cache = Cache(Frequencies(Powers(128)), Positions.range(0, q.shape[1]))
    >>> q = rotate(q, cache, "split_half")  # q is [batch, tokens, heads, 128]

    Args:
        x: an array of float16, bfloat16, float32 or float64, of numpy or with `__dlpack__` and in
            the CPU's memory, of 1 to 8 axes.
        table: a Cache or another Table of x's type, or of float32 for an x of 16 bits; or a pair
            (cos, sin) of arrays that have one entry for each pair or each rotated element on their
            last axis, and on the others x's extent or 1.
        pairing: a Pairing, or the name of one.
        out: where the result is written: an array of x's shape and type. It may be x itself, and
            must not overlap x or the table otherwise.
        threads: how many threads may share the work, this one included. The result is the same.

    Returns:
        out, or without it a new array of numpy, with x's order in memory if x is numpy's.

    Raises:
        ValueError: for an argument that does not fit, in one sentence. Nothing is written then.
        TypeError: for an argument of another kind.
    """
    return _core.rotate(x, table, pairing, out, "forward", threads)


@overload
def rotate_backward(
    dy: Array, table: TableLike, pairing: PairingLike, *, out: None = None, threads: int = 1
) -> NDArray[Any]: ...
@overload
def rotate_backward(
    dy: Array, table: TableLike, pairing: PairingLike, *, out: ArrayT, threads: int = 1
) -> ArrayT: ...
def rotate_backward(
    dy: Array, table: TableLike, pairing: PairingLike, *, out: Any = None, threads: int = 1
) -> Any:
    """Return dL/dx of y = rotate(x) from dL/dy: the transposed rotation.

    With an attention factor m it is not the inverse: backward(forward(x)) is m^2 x.

    Args:
        dy: dL/dy.
        table: what the forward rotation read.
        pairing: that of the forward rotation.
        out: where the result is written, as for rotate(); it may be dy itself.
        threads: how many threads may share the work.

    Raises:
        ValueError, TypeError: in the cases of rotate().
    """
    return _core.rotate(dy, table, pairing, out, "backward", threads)


@overload
def rotate_inverse(
    y: Array, table: TableLike, pairing: PairingLike, *, out: None = None, threads: int = 1
) -> NDArray[Any]: ...
@overload
def rotate_inverse(
    y: Array, table: TableLike, pairing: PairingLike, *, out: ArrayT, threads: int = 1
) -> ArrayT: ...
def rotate_inverse(
    y: Array, table: TableLike, pairing: PairingLike, *, out: Any = None, threads: int = 1
) -> Any:
    """Return the x that rotate(x) has made y of.

    It inverts the matrix that was applied, the rounding of the table included.

    Args:
        y: what a rotation has returned.
        table: what the forward rotation read.
        pairing: that of the forward rotation.
        out: where the result is written, as for rotate(); it may be y itself.
        threads: how many threads may share the work.

    Raises:
        ValueError: in the cases of rotate(), and for a table with a magnitude of zero.
        TypeError: in the cases of rotate().
    """
    return _core.rotate(y, table, pairing, out, "inverse", threads)


def rotate_inplace(
    x: ArrayT,
    table: TableLike,
    pairing: PairingLike,
    *,
    direction: str = "forward",
    threads: int = 1,
) -> ArrayT:
    """Rotate x in place, and return it.

    >>> rotate_inplace(qkv[:, :, 0], cache, "split_half")  # the queries of a fused buffer

    Args:
        x: an array that can be written.
        table: as for rotate().
        pairing: a Pairing, or the name of one.
        direction: forward, backward or inverse.
        threads: how many threads may share the work.

    Raises:
        ValueError, TypeError: in the cases of rotate(), and for an x that is read-only.
    """
    _core.rotate(x, table, pairing, x, direction, threads)
    return x


def rotate_tokens(
    x: Array,
    table: TableLike,
    ids: ArrayLike | None,
    pairing: PairingLike,
    *,
    out: Any = None,
    slots: ArrayLike | None = None,
    direction: str = "forward",
    threads: int = 1,
) -> Any:
    """Rotate tokens by the rows of a table that a list names, into the slots that a list names.

    That is what a serving framework does with position ids and a paged cache of keys: token t of x
    is rotated by row ids[t] of the table, and written to slot slots[t] of out.

    >>> table = growing_cache.rows(0, context)
    >>> rotate_tokens(k, table, position_ids, "split_half", out=key_pages, slots=slots)

    Args:
        x: an array of shape [tokens, heads, features]; several axes may count tokens.
        table: as for rotate(). All its axes but the last count rows.
        ids: the row that each token reads, integers; None where token t reads row t, or all read
            the only one.
        pairing: a Pairing along the last axis, or the name of one.
        out: where the result is written: an array of x's type whose axes are [slots, heads,
            features]; several axes, such as pages and places, may count slots. It may be x itself.
        slots: the slot of each token, integers, -1 for a token that is not written; None where
            token t has slot t. It needs `out`.
        direction: forward, backward or inverse.
        threads: how many threads may share the work.

    Returns:
        out, or without it a new array of numpy.

    Raises:
        ValueError: in the cases of rotate(), for a row that the table does not have, for a slot
            that out does not have, and for a slot that two tokens share.
        TypeError: in the cases of rotate(), and for numbers that are not integers.
    """
    if slots is not None and out is None:
        raise ValueError("[rope] out must be given where slots are, got None")
    return _core.rotate_tokens(x, table, ids, pairing, out, slots, direction, threads)
