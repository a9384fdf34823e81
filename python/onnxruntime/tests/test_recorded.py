# SPDX-License-Identifier: Apache-2.0
"""Every recorded answer, from real sessions: in the place of ONNX Runtime's kernels and in the
library's own domain, with shapes that the model tells and without."""

import numpy as np
import onnx.backend.test.loader
import onnxruntime as ort
import pytest
from onnx import numpy_helper

import calls
from definition import allowed, exact, require
from recorded import cases, edge_calls

HOW = {
    "replaced": lambda call: calls.replaced(call),
    "replaced without shapes": lambda call: calls.replaced(call, shapes="unknown"),
    "own": lambda call: calls.owned(call),
    "own without shapes": lambda call: calls.owned(call, shapes="unknown"),
}


def ordered(values):
    bits = values.view(np.int16).astype(np.int32)
    return np.where(bits < 0, -(bits & 0x7FFF), bits)


@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
def test_onnx_runtimes_answers(how):
    compared = one_off = 0
    read = cases("ort")
    assert len(read) == 214
    for name, call, output, _ in read:
        with np.errstate(all="ignore"):
            of = exact(call)
        y = how(call)
        assert (np.isnan(y) == np.isnan(output)).all(), name
        finite = ~np.isnan(output)
        if y.itemsize == 2:
            distance = abs(ordered(y) - ordered(output))[finite]
            assert (distance <= 1).all(), name
            compared, one_off = compared + distance.size, one_off + int((distance == 1).sum())
        else:
            infinite = np.isinf(output)
            assert (y[infinite] == output[infinite]).all(), name
            with np.errstate(invalid="ignore"):
                apart = abs(y.astype(np.float64) - output.astype(np.float64))
            near = apart <= 2 * 2.0**-23 * of.terms + 2.0**-149
            assert near[finite & ~infinite].all(), name
    # 16 bits are computed in float32 on both sides, and rarely rounded to either side of a middle.
    assert compared > 5000
    assert one_off * 5000 <= compared


@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
def test_conformance_data(how):
    read = cases("node")
    assert len(read) == 11
    for name, call, output, _ in read:
        if "wide_cache" in name:  # an older text's, which ONNX Runtime refuses, too
            with pytest.raises(Exception, match=r"\[rope\] cos_cache must have \d columns"):
                how(call)
        else:
            assert abs(how(call) - output).max() <= 2e-7, name


@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
def test_bfloat16(how):
    read = cases("bf16")
    assert len(read) == 12
    for name, call, output, _ in read:
        y, of = how(call), exact(call)
        # Rounded once from double there and from float here.
        assert (abs(y.astype(np.float64) - of.value) <= allowed(of, y.dtype)).all(), name
        assert (y != output).mean() < 0.001, name


CONFORMANCE = [
    case
    for case in onnx.backend.test.loader.load_model_tests(kind="node")
    if "rotary_embedding" in case.name and not case.name.endswith("_expanded")
]


@pytest.mark.parametrize("case", CONFORMANCE, ids=lambda case: case.name)
def test_conformance_models(case):
    """ONNX's own models, as they are, with the library's kernel in the place of the runtime's."""
    assert len(CONFORMANCE) == 8
    model = case.model
    session = ort.InferenceSession(
        model.SerializeToString(),
        calls.options(calls.REPLACED),
        providers=["CPUExecutionProvider"],
    )
    for inputs, outputs in case.data_sets:
        names = [value.name for value in model.graph.input]
        feeds = {
            name: array if isinstance(array, np.ndarray) else numpy_helper.to_array(array)
            for name, array in zip(names, inputs, strict=True)
        }
        expected = outputs[0]
        if not isinstance(expected, np.ndarray):
            expected = numpy_helper.to_array(expected)
        np.testing.assert_allclose(
            session.run(None, feeds)[0], expected, rtol=case.rtol, atol=case.atol
        )


# What ONNX Runtime refuses by its own rules for types, before the library is asked.
REFUSED_FOR_TYPES = {
    " RotaryEmbedding: position_ids int32",
    " RotaryEmbedding: X float16, cache float32 (mixed)",
}


@pytest.mark.parametrize("domain", ["own", "replaced"])
@pytest.mark.parametrize("shapes", ["exact", "unknown"])
def test_calls_at_the_edge(domain, shapes):
    """Valid calls are right, and others are refused in one sentence with nothing written."""
    read = edge_calls()
    assert len(read) == 91
    for name, call, works in read:
        to_run = call.own() if domain == "own" else call
        options = calls.options(() if domain == "own" else calls.REPLACED)
        y = calls.poisoned(next(iter(call.inputs.values())))
        if works:
            calls.run(calls.session(to_run, options, shapes), to_run.arrays(), y)
            require(call, y)
            continue
        with pytest.raises(Exception, match=r"ONNXRuntimeError|Error in execution") as error:
            calls.run(calls.session(to_run, options, shapes), to_run.arrays(), y)
        text = str(error.value)
        assert ("[rope] " in text) == (name not in REFUSED_FOR_TYPES), (name, text)
        assert "\n" not in text.strip(), name
        assert calls.is_untouched(y), name
