# SPDX-License-Identifier: Apache-2.0
"""The library's own operator Rotate: pairings, directions, windows, axes, tables of other types and
shapes, judged pair by pair in double."""

import numpy as np
import pytest

import calls
from calls import SCALARS, Call

PAIRINGS = ("split_half", "interleaved", "quarter", "interleaved_to_split_half")
# x and its table.
TYPES = [
    ("float32", "float32"),
    ("float64", "float64"),
    ("float16", "float16"),
    ("bfloat16", "bfloat16"),
    ("float16", "float32"),
    ("bfloat16", "float32"),
]
DIGITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}


def slots(pairing, k, width):
    """Which elements pair k reads, and which it writes."""
    pairs, quarter = width // 2, width // 4
    if pairing == "interleaved":
        return (2 * k, 2 * k + 1), (2 * k, 2 * k + 1)
    if pairing == "interleaved_to_split_half":
        return (2 * k, 2 * k + 1), (k, k + pairs)
    if pairing == "quarter":
        first = k if k < quarter else pairs + k - quarter
        return (first, first + quarter), (first, first + quarter)
    return (k, k + pairs), (k, k + pairs)


def definition(x, cos, sin, attributes):
    """The rotation of the last axis in double, and the sum of its terms' magnitudes."""
    x, cos, sin = (t.astype(np.float64) for t in (x, cos, sin))
    offset = attributes.get("offset", 0)
    width = attributes.get("rotary_dims", 0) or x.shape[-1] - offset
    cos, sin = (np.broadcast_to(t, (*x.shape[:-1], t.shape[-1])) for t in (cos, sin))
    y, terms = x.copy(), np.zeros_like(x)
    for k in range(width // 2):
        (a, b), (to_a, to_b) = slots(attributes.get("pairing", "split_half"), k, width)
        direction = attributes.get("direction", "forward")
        c, s = cos[..., k], sin[..., k]
        if direction == "inverse":
            c, s = c / (c * c + s * s), s / (c * c + s * s)
        if direction != "forward":
            a, b, to_a, to_b, s = to_a, to_b, a, b, -s
        p, q = x[..., offset + a], x[..., offset + b]
        y[..., offset + to_a] = c * p - s * q
        y[..., offset + to_b] = c * q + s * p
        for to in (to_a, to_b):
            terms[..., offset + to] = abs(c * p) + abs(s * q) + abs(c * q) + abs(s * p)
    return y, terms


def problem(types, x_shape, table_shape, seed=0):
    random = np.random.default_rng(seed)
    angle = random.uniform(-3, 3, table_shape)
    x = random.standard_normal(x_shape).astype(SCALARS[types[0]])
    return {
        "x": x,
        "cos": (1.25 * np.cos(angle)).astype(SCALARS[types[1]]),
        "sin": (1.25 * np.sin(angle)).astype(SCALARS[types[1]]),
    }


def turned(tensors, attributes, shapes="exact"):
    call = Call("Rotate", tensors, "eigen_rope", attributes)
    return calls.run(calls.session(call, shapes=shapes), call.arrays())


def require(y, tensors, attributes):
    expected, terms = definition(*tensors.values(), attributes)
    digits = DIGITS[y.dtype.name]
    # The inverse divides by a determinant that is a sum of two products itself.
    inner = 12 * (terms + abs(expected)) * 2.0 ** -(53 if digits == 53 else 24)
    subnormal = 2.0**-25 if y.dtype.name == "float16" else 0.0
    bound = abs(expected) * 2.0**-digits + inner + subnormal
    assert (abs(y.astype(np.float64) - expected) <= bound).all()


@pytest.mark.parametrize("types", TYPES, ids=lambda types: "-".join(types))
def test_pairings_and_directions(types):
    for pairing in PAIRINGS:
        for direction in ("forward", "backward", "inverse"):
            tensors = problem(types, (2, 5, 3, 16), (5, 1, 8))
            attributes = {"pairing": pairing, "direction": direction}
            require(turned(tensors, attributes), tensors, attributes)


def test_nothing_set_turns_split_halves_forward():
    tensors = problem(TYPES[0], (5, 16), (5, 8))
    np.testing.assert_array_equal(
        turned(tensors, {}), turned(tensors, {"pairing": "split_half", "axis": 1})
    )


@pytest.mark.parametrize("types", TYPES, ids=lambda types: "-".join(types))
def test_windows(types):
    for offset, rotary in ((0, 6), (3, 8), (16, 4), (7, 0), (0, 20), (20, 0)):
        width = rotary or 20 - offset
        if width % 2:
            continue
        tensors = problem(types, (3, 2, 20), (3, 1, width // 2))
        attributes = {"offset": offset, "rotary_dims": rotary, "pairing": "interleaved"}
        if width == 0:
            with pytest.raises(Exception, match=r"\[rope\]"):
                turned(tensors, attributes)
            continue
        y = turned(tensors, attributes)
        require(y, tensors, attributes)
        outside = np.r_[0:offset, offset + width : 20]
        bits = f"u{y.itemsize}"
        np.testing.assert_array_equal(
            y[..., outside].view(bits), tensors["x"][..., outside].view(bits)
        )


@pytest.mark.parametrize("rank", range(1, 9))
def test_ranks_and_axes(rank):
    shape = [2, 3, 2, 1, 2, 2, 3, 2][:rank]
    for axis in range(-rank, rank):
        x_shape = list(shape)
        x_shape[axis] = 8
        table_shape = list(x_shape)
        table_shape[axis] = 4
        if rank > 1:
            table_shape[(axis - 1) % rank] = 1
        tensors = problem(TYPES[0], x_shape, table_shape, rank)
        moved = {name: np.moveaxis(t, axis, -1) for name, t in tensors.items()}
        y = turned(tensors, {"axis": axis}, "unknown")
        require(np.moveaxis(y, axis, -1), moved, {})


def test_tables_of_fewer_axes():
    tensors = problem(TYPES[0], (2, 5, 3, 16), (3, 8))
    require(turned(tensors, {}), tensors, {})
    tensors = problem(TYPES[0], (2, 5, 16, 3), (8, 1))
    moved = {name: np.moveaxis(t, -2, -1) for name, t in tensors.items()}
    for axis in (-2, 2):
        require(np.moveaxis(turned(tensors, {"axis": axis}), -2, -1), moved, {})


def test_full_width_tables():
    """One entry for each element, as models that concatenate their angles have them."""
    tensors = problem(TYPES[0], (5, 3, 16), (5, 1, 8))
    wide = {
        "x": tensors["x"],
        "cos": np.concatenate([tensors["cos"]] * 2, -1),
        "sin": np.concatenate([tensors["sin"]] * 2, -1),
    }
    np.testing.assert_array_equal(turned(wide, {}), turned(tensors, {}))


BAD = [
    ({"pairing": "halves"}, "pairing.*got halves"),
    ({"direction": "back"}, "direction.*got back"),
    ({"pairing": 1}, "attribute pairing must be a string, got an integer"),
    ({"rotary_dims": -2}, "rotary_dims must not be negative, got -2"),
    ({"rotary_dims": 3}, "rotary_dims must be even, got 3"),
    ({"offset": -1}, "offset must not be negative, got -1"),
    ({"offset": 2.0}, "attribute offset must be an integer, got a float"),
    ({"axis": 8}, r"axis must be in \[-8, 7\].*got 8"),
    ({"axis": [1]}, "attribute axis must be an integer, got a list of integers"),
    ({"interleaved": 1}, "attributes must be among axis, direction.*got interleaved"),
]


@pytest.mark.parametrize(("attributes", "words"), BAD, ids=[words for _, words in BAD])
def test_attributes_are_refused_when_the_session_is_made(attributes, words):
    call = Call("Rotate", problem(TYPES[0], (5, 16), (5, 8)), "eigen_rope", attributes)
    with pytest.raises(Exception, match=rf"\[rope\] .*{words}"):
        calls.session(call)


AT_RUN = [
    ((5, 3, 16), (5, 1, 8), {"axis": 3}, r"axis must be in \[-3, 2\], got 3"),
    ((5, 3, 16), (4, 1, 8), {}, "table must have 1 or 5"),
    ((5, 3, 16), (5, 1, 7), {}, "table"),
    ((5, 3, 15), (5, 1, 7), {}, "rotary dims must be even, got 15"),
    ((5, 3, 16), (5, 1, 8), {"offset": 4, "rotary_dims": 16}, "window|rotary"),
    ((16,), (5, 8), {}, "table"),
    ((), (), {}, r"axis must be in \[0, -1\], got -1"),
    ((1,) * 8 + (16,), (8,), {}, "x must have at most 8 axes, got 9"),
    ((16,), (1,) * 8 + (8,), {}, "cos must have at most 8 axes, got 9"),
    ((6,), (3,), {"pairing": "quarter"}, "divisible by 4"),
]


@pytest.mark.parametrize(("x_shape", "table", "attributes", "words"), AT_RUN)
def test_shapes_are_refused_when_they_come(x_shape, table, attributes, words):
    tensors = problem(TYPES[0], x_shape, table)
    call = Call("Rotate", tensors, "eigen_rope", attributes)
    session = calls.session(call, shapes="unknown")
    y = calls.poisoned(np.atleast_1d(tensors["x"])).reshape(x_shape)
    with pytest.raises(Exception, match=rf"\[rope\] .*({words})") as error:
        calls.run(session, tensors, y)
    assert "\n" not in str(error.value).strip()
    assert calls.is_untouched(np.atleast_1d(y))


def test_an_inverse_of_zeros_is_refused():
    tensors = problem(TYPES[0], (5, 16), (5, 8))
    tensors["cos"][2, 3] = tensors["sin"][2, 3] = 0
    with pytest.raises(Exception, match=r"\[rope\]"):
        turned(tensors, {"direction": "inverse"})
