# SPDX-License-Identifier: Apache-2.0
"""The operators as their texts define them, in double and element by element.

    y_a = scale (cos x_a - sin x_b)        y_b = scale (cos x_b + sin x_a)

`terms` is the sum of the magnitudes of an element's two products, by which its error is judged.
"""

from dataclasses import dataclass

import numpy as np

from calls import Call


@dataclass
class Exact:
    value: np.ndarray
    terms: np.ndarray
    copied: np.ndarray


def _list_of(k: int, call: Call) -> int:
    """Which list of position ids pair k takes its position from."""
    section = call.attributes.get("mrope_section")
    if section is None:
        return 0
    if call.attributes.get("mrope_layout", 0) == 1:
        return next((i for i in (1, 2) if k % 3 == i and k < 3 * section[i]), 0)
    return 0 if k < section[0] else 1 if k < section[0] + section[1] else 2


def exact(call: Call) -> Exact:
    contrib = call.domain == "com.microsoft"
    inputs = list(call.inputs.values())
    x, cos, sin = inputs[0], *(inputs[2:4] if contrib else inputs[1:3])
    ids = inputs[1] if contrib else inputs[3] if len(inputs) > 3 else None
    x, cos, sin = (array.astype(np.float64) for array in (x, cos, sin))
    set_heads = call.attributes.get("num_heads", 0)
    four = x.ndim == 4
    if not four:
        heads = set_heads or x.shape[2] // (2 * cos.shape[-1])
        x = x.reshape(*x.shape[:2], heads, x.shape[2] // heads).transpose(0, 2, 1, 3)
    batch, heads, sequence, head = x.shape
    rotary = call.attributes.get("rotary_embedding_dim", 0) or head
    scale = call.attributes.get("scale", 1.0)
    y, terms, copied = x.copy(), np.zeros_like(x), np.ones(x.shape, bool)
    for k in range(rotary // 2):
        near = call.attributes.get("interleaved", 0) == 1
        a, b = (2 * k, 2 * k + 1) if near else (k, k + rotary // 2)
        if ids is None:
            c, s = cos[:, :, k], sin[:, :, k]
        else:
            if ids.size == 1 and ids.ndim < 2:
                rows = np.tile(int(ids.reshape(-1)[0]) + np.arange(sequence), (batch, 1))
            else:
                rows = ids[_list_of(k, call)] if ids.ndim == 3 else ids
            c, s = cos[rows, k], sin[rows, k]
        c, s = (scale * part[:, None, :] for part in (c, s))
        y[..., a] = c * x[..., a] - s * x[..., b]
        y[..., b] = c * x[..., b] + s * x[..., a]
        terms[..., a] = abs(c * x[..., a]) + abs(s * x[..., b])
        terms[..., b] = abs(c * x[..., b]) + abs(s * x[..., a])
        copied[..., [a, b]] = False
    if not four:
        y, terms, copied = (
            part.transpose(0, 2, 1, 3).reshape(batch, sequence, heads * head)
            for part in (y, terms, copied)
        )
    return Exact(y, terms, copied)


# Bits of the significand, and the distance of neighbours near zero.
DIGITS = {"float64": (53, 0.0), "float32": (24, 2.0**-149), "float16": (11, 2.0**-24)}
DIGITS["bfloat16"] = (8, 0.0)


def allowed(of: Exact, dtype: np.dtype) -> np.ndarray:
    """Half a unit in the last place of the result, and the roundings of products and sum in the
    scalar they are computed in; one unit of that for this definition's own."""
    digits, subnormal = DIGITS[dtype.name]
    inner = 3 * of.terms * 2.0 ** -(53 if digits == 53 else 24)
    return (abs(of.value) + inner) * 2.0**-digits + inner + subnormal


def require(call: Call, y: np.ndarray) -> None:
    """Raises unless y is the node's output."""
    of = exact(call)
    x = next(iter(call.inputs.values()))
    assert y.shape == x.shape
    same = y.view(f"u{y.itemsize}") == x.view(f"u{x.itemsize}")
    assert same[of.copied].all()
    error = abs(y.astype(np.float64) - of.value)
    worst = error - allowed(of, y.dtype)
    assert not (worst[~of.copied] > 0).any(), worst.max()
