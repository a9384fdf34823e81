# SPDX-License-Identifier: Apache-2.0
"""The definition of a rotation, in numpy and in as many digits as it has.

Nothing here comes from the package: these are the formulas of the papers, one pair at a time.
"""

from __future__ import annotations

import numpy as np

PAIRINGS = ["split_half", "interleaved", "quarter", "interleaved_to_split_half"]


def slots(kind: str, pairs: int) -> list[tuple[int, int, int, int]]:
    """Return (a, b, A, B) of each pair: what it reads, and where it writes."""
    if kind == "split_half":
        return [(k, k + pairs, k, k + pairs) for k in range(pairs)]
    if kind == "interleaved":
        return [(2 * k, 2 * k + 1, 2 * k, 2 * k + 1) for k in range(pairs)]
    if kind == "interleaved_to_split_half":
        return [(2 * k, 2 * k + 1, k, k + pairs) for k in range(pairs)]
    quarter = pairs // 2
    halves = [(k, k + quarter) for k in range(quarter)]
    halves += [(k + pairs, k + pairs + quarter) for k in range(quarter)]
    return [(a, b, a, b) for a, b in halves]


def rates(dims: int, base: float = 10000.0) -> np.ndarray:
    """Return base^(-2k / dims) of each pair."""
    k = np.arange(dims // 2, dtype=np.longdouble)
    return np.longdouble(base) ** (-2 * k / dims)


def table(positions: np.ndarray, rate: np.ndarray, m: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return m cos and m sin of position times rate, [..., pairs]."""
    angle = np.asarray(positions, dtype=np.longdouble)[..., None] * rate
    return m * np.cos(angle), m * np.sin(angle)


def rotate(
    x: np.ndarray, cos: np.ndarray, sin: np.ndarray, kind: str, offset: int = 0
) -> np.ndarray:
    """Rotate the last axis of x, in long double; cos and sin broadcast against its pairs."""
    x = np.asarray(x, dtype=np.longdouble)
    y = x.copy()
    for k, (a, b, to_a, to_b) in enumerate(slots(kind, cos.shape[-1])):
        c, s = cos[..., k], sin[..., k]
        y[..., offset + to_a] = c * x[..., offset + a] - s * x[..., offset + b]
        y[..., offset + to_b] = c * x[..., offset + b] + s * x[..., offset + a]
    return y


def rotate_backward(
    dy: np.ndarray, cos: np.ndarray, sin: np.ndarray, kind: str, offset: int = 0
) -> np.ndarray:
    """Apply the transposed matrix."""
    dy = np.asarray(dy, dtype=np.longdouble)
    dx = dy.copy()
    for k, (a, b, to_a, to_b) in enumerate(slots(kind, cos.shape[-1])):
        c, s = cos[..., k], sin[..., k]
        dx[..., offset + a] = c * dy[..., offset + to_a] + s * dy[..., offset + to_b]
        dx[..., offset + b] = c * dy[..., offset + to_b] - s * dy[..., offset + to_a]
    return dx


def epsilon(dtype: np.dtype) -> float:
    """Return the distance from 1 to the next number of this type."""
    bits = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}
    return 2.0 ** -bits[np.dtype(dtype).name]


def assert_close(got: np.ndarray, expected: np.ndarray, size: float, ulps: float = 2.0) -> None:
    """Assert that all elements are within so many epsilons of `size`, the largest that were added.

    A table of the same type has entries rounded once, and so has the sum of two products.
    """
    bound = ulps * epsilon(got.dtype) * size
    difference = np.abs(got.astype(np.longdouble) - expected).max(initial=0)
    assert difference <= bound, f"off by {difference}, allowed {bound}"
