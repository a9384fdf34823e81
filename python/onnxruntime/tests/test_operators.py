# SPDX-License-Identifier: Apache-2.0
"""The operators of ai.onnx and com.microsoft in all four scalars, judged by the definition in
double and by ONNX Runtime's own kernels."""

import numpy as np
import onnxruntime as ort
import pytest
from onnx import helper, load_from_string

import calls
from definition import allowed, exact, require
from problems import all_calls, contrib, multi_axis, standard


@pytest.mark.parametrize("scalar", calls.SCALARS)
def test_the_definition(scalar):
    for call in all_calls(scalar):
        y = calls.replaced(call, shapes="named")
        require(call, y)
        assert (calls.owned(call).view(np.uint8) == y.view(np.uint8)).all(), call


@pytest.mark.parametrize("scalar", ["float32", "float16"])
def test_onnx_runtimes_own_kernels(scalar):
    """Each is within its own bound of the definition, and both are so of each other."""
    for call in (*standard(scalar, 5), *contrib(scalar, 6), *multi_axis(scalar, 7)):
        ours, theirs = calls.replaced(call), calls.theirs(call)
        apart = abs(ours.astype(np.float64) - theirs.astype(np.float64))
        assert (apart <= 2 * allowed(exact(call), ours.dtype)).all(), call


@pytest.mark.parametrize("scalar", ["float64", "bfloat16"])
def test_scalars_that_onnx_runtime_leaves_out(scalar):
    """The reason that the library has them: sessions with ONNX Runtime alone refuse them."""
    for call in (next(standard(scalar)), next(contrib(scalar))):
        with pytest.raises(Exception, match=r"(?i)type|implement"):
            calls.theirs(call)
        require(call, calls.replaced(call))


def test_every_level_of_optimisation():
    levels = ort.GraphOptimizationLevel
    for call in (next(standard("float32")), next(contrib("float32"))):
        for level in (levels.ORT_DISABLE_ALL, levels.ORT_ENABLE_BASIC, levels.ORT_ENABLE_ALL):
            made = calls.options(calls.REPLACED)
            made.graph_optimization_level = level
            require(call, calls.run(calls.session(call, made), call.arrays()))


def test_which_kernels_are_replaced():
    """Only those that were asked for: the library's kernels refuse a scale that is not finite, and
    ONNX Runtime's ignore it or have no such attribute."""
    call = next(contrib("float32"))
    call.attributes["scale"] = float("nan")
    standard_call = next(standard("float32"))
    standard_call.attributes["interleaved"] = 2
    for domains in ((), ("ai.onnx",), ("com.microsoft",), ("ai.onnx", "com.microsoft")):
        for domain, of in (("ai.onnx", standard_call), ("com.microsoft", call)):
            made = calls.options(domains)
            if domain in domains:
                with pytest.raises(Exception, match=r"\[rope\] (interleaved|scale) must be"):
                    calls.session(of, made)
            else:
                calls.session(of, made)


def test_other_operators_of_the_domain_stay():
    """A graph in which a replaced node stands between others of ai.onnx."""
    call = next(standard("float32"))
    model = load_from_string(call.model())
    node = model.graph.node[0]
    node.input[0], node.output[0] = "doubled", "turned"
    model.graph.node.insert(0, helper.make_node("Add", ["x", "x"], ["doubled"]))
    model.graph.node.append(helper.make_node("Neg", ["turned"], ["y"]))
    session = ort.InferenceSession(
        model.SerializeToString(),
        calls.options(calls.REPLACED),
        providers=["CPUExecutionProvider"],
    )
    y = session.run(None, call.arrays())[0]
    np.testing.assert_array_equal(y, -2 * calls.replaced(call))


@pytest.mark.parametrize("kernel", [calls.replaced, calls.owned])
def test_absent_inputs(kernel):
    """Position ids may be left out, or named by the empty string, as exporters do."""
    call = next(standard("float32"))
    assert list(call.inputs) == ["x", "cos", "sin"]
    y = kernel(call)
    call.inputs["ids"] = None
    np.testing.assert_array_equal(kernel(call), y)
    require(call, y)
