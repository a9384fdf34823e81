# SPDX-License-Identifier: Apache-2.0
"""Mistakes, each with one sentence: attributes when the session is made, the rest when it runs."""

import numpy as np
import onnxruntime as ort
import pytest

import calls
import eigen_rope_onnxruntime
from problems import contrib, multi_axis, standard

ATTRIBUTES = [
    (standard, {"interleaved": 2}, "interleaved must be 0 or 1, got 2"),
    (standard, {"interleaved": 1.0}, "attribute interleaved must be an integer, got a float"),
    (standard, {"interleaved": "1"}, "attribute interleaved must be an integer, got a string"),
    (standard, {"num_heads": [3]}, "num_heads must be an integer, got a list of integers"),
    (standard, {"num_heads": [3.0]}, "num_heads must be an integer, got a list of floats"),
    (standard, {"num_heads": -1}, "num_heads must not be negative, got -1"),
    (standard, {"rotary_embedding_dim": 5}, "rotary_embedding_dim must be even, got 5"),
    (standard, {"scale": 2.0}, "attributes must be among interleaved, num_heads.*got scale"),
    (standard, {"pairing": "quarter"}, "attributes must be among .*got pairing"),
    (contrib, {"scale": 2}, "attribute scale must be a float, got an integer"),
    (contrib, {"scale": float("inf")}, "scale must be finite, got inf"),
    (contrib, {"is_packed_batching": 2}, "is_packed_batching must be 0 or 1, got 2"),
    (contrib, {"mrope_section": [1, 1, 1]}, "must be among .*got mrope_section"),
    (contrib, {"num_heads": 0, "rotary_embedding_dim": 4}, "num_heads must be set with"),
    (multi_axis, {"mrope_section": [2, 2]}, r"mrope_section must have 3 lengths, got \[2, 2\]"),
    (multi_axis, {"mrope_section": [8, -1, 1]}, "mrope_section must not have negative lengths"),
    (multi_axis, {"mrope_section": 8}, "mrope_section must be a list of integers, got an integer"),
    (multi_axis, {"mrope_section": [4.0]}, "a list of integers, got a list of floats"),
    (multi_axis, {"mrope_section": None}, "attribute mrope_section is required, got none"),
    (multi_axis, {"mrope_layout": 2}, "mrope_layout must be 0 or 1, got 2"),
]


@pytest.mark.parametrize(("problem", "change", "words"), ATTRIBUTES)
@pytest.mark.parametrize("where", ["own", "replaced"])
def test_attributes(problem, change, words, where):
    call = next(problem("float32"))
    call.attributes |= change
    call.attributes = {name: v for name, v in call.attributes.items() if v is not None}
    made = calls.options(() if where == "own" else calls.REPLACED)
    with pytest.raises(Exception, match=rf"\[rope\] .*{words}") as error:
        calls.session(call.own() if where == "own" else call, made)
    assert "\n" not in str(error.value).strip()


def test_types_that_do_not_go_together():
    """ONNX Runtime finds no operator for them, and says so itself."""
    call = next(standard("float32"))
    call.inputs["cos"] = call.inputs["cos"].astype(np.float16)
    for of, replace in ((call.own(), ()), (call, calls.REPLACED)):
        with pytest.raises(Exception, match="RotaryEmbedding"):
            calls.session(of, calls.options(replace))
    call = next(contrib("float32"))
    call.inputs["ids"] = call.inputs["ids"].astype(np.int32)
    with pytest.raises(Exception, match="RotaryEmbedding"):
        calls.session(call.own())


def test_a_session_goes_on_after_a_refusal():
    call = next(contrib("float32"))
    session = calls.session(call, calls.options(calls.REPLACED), "unknown")
    expected = session.run(None, call.arrays())[0]
    bad = call.arrays() | {"ids": np.full((2, 5), 11)}
    y = calls.poisoned(call.inputs["x"])
    for _ in range(3):
        with pytest.raises(Exception, match=r"below the caches' 11 rows, got 11 at index 0"):
            calls.run(session, bad, y)
        assert calls.is_untouched(y)
        np.testing.assert_array_equal(session.run(None, call.arrays())[0], expected)


def test_registering():
    path = eigen_rope_onnxruntime.get_library_path()
    made = ort.SessionOptions()
    made.register_custom_ops_library(path)
    with pytest.raises(Exception, match=r"\[rope\] session options must have the operators once"):
        made.register_custom_ops_library(path)
    calls.session(next(standard("float32")).own(), made)  # they are still there
    for replace in (["onnx"], ["ai.onnx", ""], ["ai.onnx com.microsoft"], "eigen_rope"):
        made = ort.SessionOptions()
        with pytest.raises(Exception, match=r"\[rope\] custom_op.eigen_rope.replace must be"):
            eigen_rope_onnxruntime.register(made, replace)
        with pytest.raises(Exception, match="eigen_rope"):
            calls.session(next(standard("float32")).own(), made)
    eigen_rope_onnxruntime.register(ort.SessionOptions(), "ai.onnx")


def test_without_the_library():
    with pytest.raises(Exception, match="eigen_rope"):
        calls.session(next(standard("float32")).own(), calls.options(None))
