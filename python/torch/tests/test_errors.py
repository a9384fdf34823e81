# SPDX-License-Identifier: Apache-2.0
"""Whatever is refused is refused in one sentence, and nothing is written."""

import threading

import pytest
import torch

import eigen_rope_torch as er
from eigen_rope_torch import _formula

# PyTorch makes one or the other of an operator's exception, depending on its version.
REFUSED = (RuntimeError, ValueError)


def good():
    x = torch.randn(2, 3, 4, 8)
    angle = torch.randn(3, 1, 4)
    return x, angle.cos(), angle.sin()


# What is wrong, what is changed, the words of the sentence.
BAD = [
    ("integers", lambda x, c, s: (x.int(), c, s, {}), "x must be of float16"),
    ("complex numbers", lambda x, c, s: (x.to(torch.complex64), c, s, {}), "x must be of float16"),
    ("a table of 16 bits", lambda x, c, s: (x, c.half(), s.half(), {}), "f32.*f16|f16.*f32"),
    ("two scalars in a table", lambda x, c, s: (x, c.double(), s, {}), "sin must have cos's type"),
    ("two shapes in a table", lambda x, c, s: (x, c, s[:2], {}), "sin must have cos's shape"),
    ("other tokens", lambda x, c, s: (x, c[:2], s[:2], {}), "table must have 1 or 3"),
    ("another width", lambda x, c, s: (x, c[..., :3], s[..., :3], {}), "table"),
    ("more axes than x", lambda x, c, s: (x[0, 0, 0], c, s, {}), "table"),
    ("no axes", lambda x, c, s: (x[0, 0, 0, 0], c, s, {}), "axis must be in"),
    ("odd features", lambda x, c, s: (x[..., :7], c, s, {}), "rotary dims must be"),
    (
        "a window beyond the row",
        lambda x, c, s: (x, c, s, {"offset": 4, "rotary_dims": 8}),
        "rotary|window",
    ),
    ("a negative offset", lambda x, c, s: (x, c, s, {"offset": -2}), "offset"),
    ("an axis beyond x", lambda x, c, s: (x, c, s, {"axis": -5}), "axis must be in"),
    ("another pairing", lambda x, c, s: (x, c, s, {"pairing": "halves"}), "pairing.*got halves"),
    ("another direction", lambda x, c, s: (x, c, s, {"direction": "back"}), "direction.*got back"),
    (
        "a quarter of 6",
        lambda x, c, s: (x[..., :6], c[..., :3], s[..., :3], {"pairing": "quarter"}),
        "divisible by 4",
    ),
    ("nine axes", lambda x, c, s: (x[None, None, None, None, None], c, s, {}), "at most 8 axes"),
]


@pytest.mark.parametrize(("change", "words"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_refused_in_one_sentence(change, words):
    x, cos, sin, options = change(*good())
    for call in (er.rotate, er.rotate_):
        before = x.clone()
        with pytest.raises(REFUSED, match=words) as error:
            call(x, cos, sin, **options)
        assert torch.equal(x, before)
        text = str(error.value)
        assert text.startswith("[rope] ")
        assert "\n" not in text


@pytest.mark.parametrize("change", [b[1] for b in BAD[:-1]], ids=[b[0] for b in BAD[:-1]])
def test_other_devices_refuse_the_same(change):
    x, cos, sin, options = change(*good())
    options = {
        "pairing": "split_half",
        "direction": "forward",
        "rotary_dims": -1,
        "offset": 0,
        "axis": -1,
    } | options
    with pytest.raises(ValueError, match=r"^\[rope\] "):
        _formula.rotate(x, cos, sin, *options.values(), "copy")


def test_an_inverse_of_a_table_with_zeros_is_refused():
    x, cos, sin = good()
    cos[1, 0, 2] = sin[1, 0, 2] = 0
    before = x.clone()
    with pytest.raises(REFUSED, match=r"\[rope\]"):
        er.rotate_(x, cos, sin, direction="inverse")
    assert torch.equal(x, before)


def test_in_place_refuses_what_it_would_overwrite_twice():
    _, cos, sin = good()
    repeated = torch.zeros(1, 4, 8).expand(3, 4, 8)
    with pytest.raises(REFUSED, match="strid"):
        er.rotate_(repeated, cos, sin)
    assert not repeated.any()
    memory = torch.randn(48)
    windows = memory.as_strided((6, 8), (4, 1))
    before = memory.clone()
    with pytest.raises(REFUSED, match=r"\[rope\]"):
        er.rotate_(windows, cos[0], sin[0])
    assert torch.equal(memory, before)


def test_in_place_refuses_its_own_table():
    memory = torch.randn(24)
    before = memory.clone()
    with pytest.raises(REFUSED, match="overlap"):
        er.rotate_(memory[:8].view(1, 8), memory[4:8].view(1, 4), memory[8:12].view(1, 4))
    assert torch.equal(memory, before)


def test_in_place_refuses_leaves():
    x, cos, sin = good()
    leaf = x.clone().requires_grad_()
    for t in (leaf, leaf[0], leaf.view(6, 4, 8)[:3]):
        with pytest.raises(RuntimeError, match="leaf that requires grad"):
            er.rotate_(t, cos, sin)
    assert torch.equal(leaf, x)
    with torch.no_grad():
        er.rotate_(leaf, cos, sin)
    assert torch.equal(leaf, er.rotate(x, cos, sin))


def test_inference_tensors_are_not_changed_outside():
    _, cos, sin = good()
    with torch.inference_mode():
        x = torch.randn(3, 4, 8)
        before = x.clone()
        er.rotate_(x, cos, sin)
        assert not torch.equal(x, before)
        before = x.clone()
    with pytest.raises(RuntimeError, match="tensor of inference mode"):
        er.rotate_(x, cos, sin)
    assert torch.equal(x, before)


def test_positions_of_16_bits_are_refused():
    with pytest.raises(ValueError, match="positions must be of integers, float32 or float64"):
        er.table(torch.ones(1), torch.ones(1, dtype=torch.bfloat16))
    with pytest.raises(ValueError, match="rates must have one axis"):
        er.table(torch.ones(1, 1), torch.ones(1))
    with pytest.raises(REFUSED, match="dtype must be of float16"):
        er.table(torch.ones(1), torch.ones(1), dtype=torch.int32)


def test_threads_of_a_program_do_not_meet():
    calls = []
    for _ in range(4):
        x, cos, sin = good()
        calls.append((x, cos, sin, er.rotate(x, cos, sin)))
    wrong = []

    def work(x, cos, sin, expected):
        for _ in range(500):
            if not torch.equal(er.rotate(x, cos, sin), expected):
                wrong.append("another result")
            try:
                er.rotate(x, cos[:2], sin[:2])
                wrong.append("nothing refused")
            except REFUSED as error:
                if "table must have" not in str(error):
                    wrong.append(str(error))

    threads = [threading.Thread(target=work, args=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
