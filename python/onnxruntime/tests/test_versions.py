# SPDX-License-Identifier: Apache-2.0
"""What must hold in every version of ONNX Runtime that the library loads into; the others say which
ones it does. scripts/test_onnxruntime.sh runs this with several of them."""

import onnxruntime as ort
import pytest

import calls
import eigen_rope_onnxruntime
from definition import require
from problems import all_calls, contrib, standard

OLDEST = (1, 17)
SCALARS = [name for name in calls.SCALARS if calls.BINDS_ALL or name != "bfloat16"]


def in_the_librarys_domain():
    for scalar in SCALARS:
        for call in all_calls(scalar):
            for shapes in ("exact", "named", "unknown"):
                require(call, calls.owned(call, shapes=shapes))


def in_the_place_of_onnx_runtimes_kernels():
    """com.microsoft's in every version, ai.onnx's where there is opset 23."""
    for scalar in SCALARS:
        for call in all_calls(scalar):
            if call.domain or calls.OPSET >= 23:
                require(call, calls.replaced(call))


def an_absent_input_by_the_empty_string():
    call = next(standard("float32"))
    call.inputs["ids"] = None
    for shapes in ("exact", "named", "unknown"):
        require(call, calls.owned(call, shapes=shapes))


def several_threads():
    call = next(contrib("float32"))
    of = calls.session(call.own(), calls.options(threads=3))
    require(call, calls.run(of, call.arrays()))


def a_row_of_nodes():
    call = next(contrib("float32"))
    expected = call.arrays()
    for _ in range(4):
        again = calls.Call(call.op, expected, call.domain, call.attributes)
        expected = expected | {"x": calls.owned(again)}
    of = ort.InferenceSession(
        call.own().model(copies=4), calls.options(), providers=["CPUExecutionProvider"]
    )
    assert (of.run(None, call.arrays())[0] == expected["x"]).all()


def refusals():
    call = next(contrib("float32"))
    of = calls.session(call.own(), shapes="unknown")
    with pytest.raises(Exception, match=r"\[rope\] sin_cache must have cos_cache's shape"):
        of.run(None, call.arrays() | {"sin": call.inputs["sin"][:3]})
    call.attributes["interleaved"] = 2
    with pytest.raises(Exception, match=r"\[rope\] interleaved must be 0 or 1, got 2"):
        calls.session(call.own())
    call.attributes["interleaved"] = [1, 2]
    with pytest.raises(Exception, match="must be an integer, got a list of integers"):
        calls.session(call.own())


def too_old():
    with pytest.raises(Exception) as error:  # noqa: PT011
        eigen_rope_onnxruntime.register(ort.SessionOptions())
    sentence = f"[rope] ONNX Runtime must be 1.17 or a later 1.x, got {ort.__version__}"
    assert str(error.value).endswith(sentence)


CHECKS = [
    in_the_librarys_domain,
    in_the_place_of_onnx_runtimes_kernels,
    an_absent_input_by_the_empty_string,
    several_threads,
    a_row_of_nodes,
    refusals,
]
if calls.VERSION < OLDEST:
    CHECKS = [too_old]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_this_version(check):
    check()
